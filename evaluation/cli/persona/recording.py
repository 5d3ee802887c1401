"""Store the answers that ``dramaturg persona record`` receives."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from evaluation.errors import InputError
from evaluation.harness.baselines import file_stem
from evaluation.harness.recording_script import scripted_answers
from evaluation.judging.judges.recorded import SUFFIX, RecordingJudge, read_recordings, write_recordings
from evaluation.judging.judges.scripted import SCRIPTED_MODEL, ScriptedJudge
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.protocol import Judge
from evaluation.persona.agents import Agent

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
