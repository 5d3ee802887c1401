"""Store the answers that ``dramaturg persona record`` receives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.errors import InputError
from evaluation.harness.regression import file_stem
from evaluation.judging.answers import HIGHEST_SCORE, Answer, Idea, IdeasAnswer, ScoreAnswer
from evaluation.judging.fencing import FENCE
from evaluation.judging.judges_without_model import (
    SCRIPTED_MODEL,
    SUFFIX,
    Measured,
    RecordingJudge,
    Script,
    ScriptedJudge,
    consistency,
    convergence,
    fluency,
    read_recordings,
    write_recordings,
)
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.judging.protocol import Judge, JudgeRequest
from evaluation.judging.questions import proposition_id_of
from evaluation.persona.agents import Agent
from evaluation.text.tokens import STOP_WORDS, tokenize

_SAID = re.compile(r"^\[M(\d+)\] [^\n:]* acts: ([^\n]*\n?(?:\| [^\n]*\n?)*)", re.MULTILINE)
_PERSONA = re.compile(rf"^Persona of [^\n]*\n{FENCE}\n(.*?)\n{FENCE}", re.MULTILINE | re.DOTALL)
_PROPOSAL = re.compile(r"\b(?:let's|let us|we (?:could|should|will)|what if|how about|i propose|idea)\b", re.IGNORECASE)
_LONGEST_IDEA = 120
_CONFIDENCE = 0.5
_USUAL = 6
# So many words of the persona in what was said are as good as any more.
_ENOUGH_WORDS = 6
_LOWEST = 2

_Rule = Callable[[Sequence[Sequence[str]]], Measured]
_COUNTED: Mapping[str, _Rule] = {"fluency": fluency, "convergence": convergence, "consistency": consistency}


def scripted_answers(library: PropositionLibrary) -> Script:
    """The script, for :class:`evaluation.judging.judges_without_model.ScriptedJudge`.

    Args:
        library: Tells which propositions name what is bad: of these a low mark is good.
    """
    inverted = {each.id for own in library.by_file.values() for each in own if each.is_inverted}

    def answer(request: JudgeRequest) -> Answer:
        said = {int(number): text.replace("| ", "") for number, text in _SAID.findall(request.prompt.user)}
        if request.answer is IdeasAnswer:
            return IdeasAnswer(ideas=_ideas(said))
        goodness, why = _goodness(request, said)
        is_inverted = proposition_id_of(request.subject) in inverted
        return ScoreAnswer(
            reason=f"A script's answer, no model's: {why}",
            score=HIGHEST_SCORE - goodness if is_inverted else goodness,
            confidence=_CONFIDENCE,
            citations=[max(said)] if said else [],
        )

    return answer


def _ideas(said: Mapping[int, str]) -> list[Idea]:
    return [
        Idea(text=" ".join(text.split())[:_LONGEST_IDEA], citations=[number])
        for number, text in said.items()
        if _PROPOSAL.search(text)
    ]


def _goodness(request: JudgeRequest, said: Mapping[int, str]) -> tuple[int, str]:
    """The agent's score, 0 to 9, and its reason."""
    given = request.offline
    if given is not None and given.dimension in _COUNTED:
        measured = _COUNTED[given.dimension](given.groups)
        if measured.share is not None:
            return round(HIGHEST_SCORE * measured.share), measured.reason
    persona = _words("\n".join(_PERSONA.findall(request.prompt.user)))
    if not persona:
        return _USUAL, "nothing to count here."
    shared = sorted(persona & _words("\n".join(said.values())))
    goodness = _LOWEST + round((HIGHEST_SCORE - 1 - _LOWEST) * min(1.0, len(shared) / _ENOUGH_WORDS))
    return goodness, f"{len(shared)} words of the persona recur in what was said."


def _words(text: str) -> set[str]:
    return {token.text for token in tokenize(text)} - STOP_WORDS


_UNFINISHED = ".new"


def recording_place(to: Path | None) -> Path:
    """The file or folder of recordings.

    Raises:
        InputError: None was named: the shipped ones are written over only where somebody names them; or a file is
            where a folder is needed, or the other way round.
    """
    if to is None:
        raise InputError(
            "Recordings need a place.", remedy="Name a file or folder: dramaturg persona record recordings."
        )
    found = to
    if found.suffix == SUFFIX and found.is_dir():
        raise InputError("This is a folder.", place=str(found), remedy=f"Only files may be called *{SUFFIX}.")
    folder = found.parent if found.suffix == SUFFIX else found
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir():
        raise InputError(
            "This is not a folder.", place=str(there), remedy=f"Name a folder, or a file called *{SUFFIX}."
        )
    return found


@dataclass(frozen=True, slots=True)
class AnswerFiles:
    """Files that answers are recorded into: one that grows, or a folder with a file per agent that is written anew.

    Attributes:
        to: The file (``.jsonl``) or the folder.
        is_scripted: Whether the script answers in place of a model.
        library: The propositions that are asked about.
    """

    to: Path
    is_scripted: bool
    library: PropositionLibrary
    _unfinished: list[Path] = field(default_factory=list)

    def record(self, judge: Judge, agent: Agent) -> Judge:
        """The judge, with everything it says about the agent written down at once."""
        if self.is_scripted:
            judge = ScriptedJudge(scripted_answers(self.library), model=SCRIPTED_MODEL)
        return RecordingJudge(judge, self._file_of(agent))

    def _file_of(self, agent: Agent) -> Path:
        if self.to.suffix == SUFFIX:
            return self.to
        # Beside the old one until all is recorded, so that a run that is broken off loses neither.
        path = self.to / f"{file_stem(agent.id)}{SUFFIX}{_UNFINISHED}"
        path.unlink(missing_ok=True)
        self._unfinished.append(path)
        return path

    def close(self, *, keeps_old: bool) -> list[Path]:
        """Puts what was recorded into its place, sorted by key; returns where.

        Args:
            keeps_old: Whether what a file held before stays: some answers failed, and old ones are better than none.
        """
        if not self._unfinished:
            return [self.to]
        paths = []
        for unfinished in self._unfinished:
            path = unfinished.with_suffix("")
            if not unfinished.exists():
                continue
            old = read_recordings(path) if keeps_old and path.exists() else {}
            heard = read_recordings(unfinished)
            # What no model wrote need not be kept word for word.
            kept = [each.model_copy(update={"raw": ""}) if self.is_scripted else each for each in heard.values()]
            write_recordings(path, [*(old[key] for key in old.keys() - heard.keys()), *kept])
            unfinished.unlink()
            paths.append(path)
        return paths
