"""The judge that plays back recorded answers, and the one that records them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from evaluation.judging.judges._judgements import Received, judgement_from, unscored
from evaluation.judging.judges.recording_file import Recording, append_recordings, read_recordings
from evaluation.judging.judges.scripted import SCRIPTED_MODEL
from evaluation.judging.protocol import Judge, JudgeKind, Judgement, JudgementStatus, JudgeRequest, Report

RECORD_COMMAND = "dramaturg persona record recordings"
PLAY_COMMAND = "dramaturg persona run --mode mock --recordings recordings"


class RecordedJudge:
    """Answers from recordings: always the same, without network and without cost.

    What was not recorded is an error that names what was to be judged and the command that records it.

    Args:
        recordings: By key, as ``read_recordings`` gives them.
        model: The model whose answers are wanted.
    """

    def __init__(self, recordings: Mapping[str, Recording], *, model: str) -> None:
        self._recordings = recordings
        self._model = model

    @classmethod
    def from_path(cls, place: Path, *, model: str) -> RecordedJudge:
        """Plays the recordings in a file or folder.

        Raises:
            InputError: They cannot be read.
        """
        return cls(read_recordings(place), model=model)

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order."""
        judgements = []
        for position, request in enumerate(requests):
            judgements.append(self._played(request))
            if report:
                report(position, judgements[-1])
        return judgements

    def _played(self, request: JudgeRequest) -> Judgement:
        recording = self._recordings.get(request.key(self._model))
        if recording is None:
            return self._missing(request, "nothing is recorded")
        try:
            answers = tuple([request.answer.model_validate(body) for body in recording.answers])
        except ValidationError:
            return self._missing(request, "what is recorded does not answer the question")
        received = Received(answers, recording.raw, parameters=recording.parameters)
        return judgement_from(request, received, judge=JudgeKind.RECORDED, model=self._model)

    def _missing(self, request: JudgeRequest, what: str) -> Judgement:
        command = f"{RECORD_COMMAND} --mode scripted" if self._model == SCRIPTED_MODEL else RECORD_COMMAND
        detail = (
            f"{request.subject or request.purpose}: {what} for this prompt ({request.prompt_version}) and the model "
            f"{self._model}. Record it with `{command}` and play it with `{PLAY_COMMAND}`, with the same agents and "
            "options."
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
                append_recordings(self._path, [recording_of(requests[position], judgement)])
            if report:
                report(position, judgement)

        return await self._judge.judge(requests, report=keep)


def recording_of(request: JudgeRequest, judgement: Judgement) -> Recording:
    """The recording that plays ``judgement`` back; it must be scored."""
    answers = [answer for answer in (judgement.first_answer, judgement.answer) if answer is not None]
    return Recording(
        key=request.key(judgement.model),
        model=judgement.model,
        prompt_version=request.prompt_version,
        purpose=request.purpose,
        subject=request.subject,
        answers=tuple([answer.model_dump(mode="json") for answer in answers]),
        raw=judgement.raw,
        parameters=dict(judgement.parameters),
    )
