"""Judges that need no model: recordings that are made and played back, scripts, and rules that count."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from evaluation.errors import InputError
from evaluation.escaping import reading_fault
from evaluation.judging.answers import HIGHEST_SCORE, Answer, ScoreAnswer, describe
from evaluation.judging.cached_judge import KeptAnswer, judgement_of_kept, kept_answer
from evaluation.judging.model_client.calls import Usage
from evaluation.judging.protocol import (
    ImmediateJudge,
    Judge,
    JudgeKind,
    Judgement,
    JudgementStatus,
    JudgeRequest,
    OfflineInput,
    Report,
    judgement_from,
    unscored,
)
from evaluation.text.tokens import tokenize

Script = Callable[[JudgeRequest], Answer | str | None]

_NAME = "scripted"


class ScriptedJudge(ImmediateJudge):
    """Answers every request with what ``script`` makes of it, and remembers what it was asked.

    Args:
        script: Gives an answer; a text, which becomes an error with that detail; or ``None`` for "not scored".
        model: The name under which it answers.

    Attributes:
        asked: All requests so far, in order.
    """

    def __init__(self, script: Script, *, model: str = _NAME) -> None:
        self._script = script
        self._model = model
        self.asked: list[JudgeRequest] = []

    def _answer(self, request: JudgeRequest) -> Judgement:
        self.asked.append(request)
        said = self._script(request)
        if isinstance(said, Answer):
            answers = (said, said) if request.double_check else (said,)
            raw = said.model_dump_json()
            return judgement_from(
                request, answers, raw=raw, usage=Usage(calls=1), judge=JudgeKind.SCRIPTED, model=self._model
            )
        status = JudgementStatus.NOT_SCORED if said is None else JudgementStatus.ERROR
        return unscored(request, status, said or "not in the script", judge=JudgeKind.SCRIPTED, model=self._model)


SUFFIX = ".jsonl"
_REMEDY = "Restore the file, or record it again with `dramaturg persona record FILE`."


def read_recordings(place: Path) -> dict[str, KeptAnswer]:
    """The recordings in a file, or in all ``.jsonl`` files of a folder, by key; of several the last counts.

    Raises:
        InputError: The place cannot be read, or a line is not a recording (names ``file:line``).
    """
    found: dict[str, KeptAnswer] = {}
    for path in sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else [place]:
        for number, line in enumerate(_lines(path), start=1):
            if line.strip():
                recording = _recording(line, f"{path}:{number}")
                found[recording.key] = recording
    return found


def append_recordings(path: Path, recordings: Sequence[KeptAnswer]) -> None:
    """Adds recordings at the end, at once: what was received is not lost with the process.

    Raises:
        InputError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(map(_line, recordings)))
    except OSError as error:
        raise InputError(f"The recording cannot be written: {error.strerror}.", place=str(path)) from None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The recording cannot be read: {reading_fault(error)}.", place=str(path), remedy=_REMEDY
        ) from None


_RECORDING = TypeAdapter(KeptAnswer)


def _recording(line: str, place: str) -> KeptAnswer:
    try:
        return _RECORDING.validate_json(line)
    except ValidationError as error:
        raise InputError(f"{describe(error)}.", place=place, remedy=_REMEDY) from None


def _line(recording: KeptAnswer) -> str:
    """One recording without its prompt and cost; without the parameters of the call where none are on record."""
    left_out = {"prompt", "usage"} | (set() if recording.parameters else {"parameters"})
    body = _RECORDING.dump_python(recording, mode="json", exclude=left_out)
    return json.dumps(body, ensure_ascii=True, sort_keys=True) + "\n"


RECORD_COMMAND = "dramaturg persona record answers.jsonl"
PLAY_COMMAND = "dramaturg persona run --mode mock --recordings answers.jsonl"


class RecordedJudge(ImmediateJudge):
    """Answers from recordings: always the same, without network and without cost.

    What was not recorded is an error that names what was to be judged and the command that records it.

    Args:
        recordings: By key, as ``read_recordings`` gives them.
        model: The model whose answers are wanted.
    """

    def __init__(self, recordings: Mapping[str, KeptAnswer], *, model: str) -> None:
        self._recordings = recordings
        self._model = model

    def _answer(self, request: JudgeRequest) -> Judgement:
        recording = self._recordings.get(request.key(self._model))
        known = judgement_of_kept(request, recording, judge=JudgeKind.RECORDED, is_cached=False)
        if known is not None:
            return known
        what = "nothing is recorded" if recording is None else "what is recorded does not answer the question"
        detail = (
            f"{request.subject or request.purpose}: {what} for this prompt ({request.prompt_version}) and the model "
            f"{self._model}. Record it with `{RECORD_COMMAND}` and play it with `{PLAY_COMMAND}`, with the same agents "
            "and options."
        )
        return unscored(request, JudgementStatus.ERROR, detail, judge=JudgeKind.RECORDED, model=self._model)


class RecordingJudge:
    """Passes everything to another judge and adds its answers to a recording as they come.

    Args:
        judge: Who answers.
        path: The file; made when it is not there.
    """

    def __init__(self, judge: Judge, path: Path) -> None:
        self._judge = judge
        self._path = path

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """The other judge's judgements, unchanged.

        Raises:
            InputError: The file cannot be written.
        """

        def keep(position: int, judgement: Judgement) -> None:
            if judgement.is_scored:
                request = requests[position]
                # Played back wherever the model answered.
                key = request.key(judgement.model)
                append_recordings(self._path, [replace(kept_answer(request, judgement), key=key)])
            if report:
                report(position, judgement)

        return await self._judge.judge(requests, report=keep)


OFFLINE_MODEL = "rules-2"
"""Stands where a model's name would; changes with any rule below."""

NEEDS_A_MODEL = "needs an LLM judge"

_FEWEST_PHRASES = 10
_FEWEST_WORDS = 20
_FEWEST_CHARACTERS = 100
# A hostile text costs no more than a long one.
_MOST_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Measured:
    """A rule's measurement: a share from 0 (bad) to 1 (good), ``None`` when there is too little text, and a reason."""

    share: float | None
    reason: str


class OfflineJudge(ImmediateJudge):
    """Scores fluency, convergence and consistency by counting; the rest is "not scored: needs an LLM judge"."""

    def _answer(self, request: JudgeRequest) -> Judgement:
        if request.offline is None or request.offline.dimension not in _RULES or request.answer is not ScoreAnswer:
            return _not_scored(request, NEEDS_A_MODEL)
        measured = _RULES[request.offline.dimension](_shortened(request.offline))
        if measured.share is None:
            return _not_scored(request, measured.reason)
        score = math.floor(HIGHEST_SCORE * measured.share + 0.5)
        return Judgement(
            key=request.key(OFFLINE_MODEL),
            status=JudgementStatus.SCORED,
            judge=JudgeKind.OFFLINE,
            model=OFFLINE_MODEL,
            reason=f"Counted, not judged by a model: {measured.reason}",
            score=HIGHEST_SCORE - score if request.offline.is_inverted else score,
            asked=request.prompt,
        )


def _not_scored(request: JudgeRequest, detail: str) -> Judgement:
    return unscored(request, JudgementStatus.NOT_SCORED, detail, judge=JudgeKind.OFFLINE, model=OFFLINE_MODEL)


def _shortened(given: OfflineInput) -> tuple[tuple[str, ...], ...]:
    return tuple([tuple([text[:_MOST_CHARACTERS] for text in group]) for group in given.groups])


def fluency(groups: Sequence[Sequence[str]]) -> Measured:
    """The share of three-word phrases that are used for the first time, over all messages of the first group."""
    phrases: Counter[tuple[str, ...]] = Counter()
    for text in groups[0] if groups else ():
        words = _words(text)
        phrases.update(zip(words, words[1:], words[2:], strict=False))
    uses = phrases.total()
    if uses < _FEWEST_PHRASES:
        return Measured(None, f"{uses} phrases of three words are too few to count; {_FEWEST_PHRASES} are needed")
    again = uses - len(phrases)
    return Measured(len(phrases) / uses, f"{again} of {uses} three-word phrases were used before.")


def convergence(groups: Sequence[Sequence[str]]) -> Measured:
    """Difference of the speakers' vocabularies: 1 less the mean share of words that two speakers have in common.

    Of two speakers the longer is cut to the length of the shorter, as longer texts share more words. Speakers with
    fewer than 20 words are left out.
    """
    said = [[word for text in group for word in _words(text)] for group in groups]
    speakers = [words for words in said if len(words) >= _FEWEST_WORDS]
    if len(speakers) < 2:
        return Measured(None, f"fewer than two speakers say {_FEWEST_WORDS} words")
    shares = [_in_common(one, other) for one, other in combinations(speakers, 2)]
    mean = sum(shares) / len(shares)
    return Measured(1 - mean, f"two of the {len(speakers)} speakers share {mean:.0%} of their words on average.")


def consistency(groups: Sequence[Sequence[str]]) -> Measured:
    """Similarity in style of earlier and later messages: the cosine of their counts of character triples.

    Triples of characters catch endings, punctuation and small words, whatever the language. A short message is joined
    by the ones before it, the latest of the earlier ones first, until both sides hold 100 characters.
    """
    if len(groups) < 2:
        return Measured(None, "there are no earlier messages to compare with")
    before, judged = list(groups[0]), list(groups[1])
    while before and len(_one_line(judged)) < _FEWEST_CHARACTERS:
        judged.insert(0, before.pop())
    earlier, later = _one_line(before), _one_line(judged)
    if min(len(earlier), len(later)) < _FEWEST_CHARACTERS:
        return Measured(None, f"the earlier or the later messages hold fewer than {_FEWEST_CHARACTERS} characters")
    alike = _cosine(_triples(earlier), _triples(later))
    return Measured(alike, f"the style of the earlier and the later messages is alike by {alike:.0%}.")


def _one_line(texts: Sequence[str]) -> str:
    return " ".join("\n".join(texts).lower().split())


_RULES: Mapping[str, Callable[[Sequence[Sequence[str]]], Measured]] = {
    "fluency": fluency,
    "convergence": convergence,
    "consistency": consistency,
}


def _words(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


def _in_common(one: Sequence[str], other: Sequence[str]) -> float:
    length = min(len(one), len(other))
    first, second = set(one[:length]), set(other[:length])
    return len(first & second) / len(first | second)


def _triples(text: str) -> Counter[str]:
    return Counter([text[start : start + 3] for start in range(len(text) - 2)])


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    product = sum(count * other[triple] for triple, count in one.items())
    return min(1.0, product / math.sqrt(_square(one) * _square(other)))


def _square(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())
