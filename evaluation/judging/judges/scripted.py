"""A judge that answers from a script: for tests, demonstrations and pipelines with planted effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.judging.answers import Answer
from evaluation.judging.model_client.calls import Usage
from evaluation.judging.protocol import (
    JudgeKind,
    Judgement,
    JudgementStatus,
    JudgeRequest,
    Report,
    judgement_from,
    unscored,
)

Script = Callable[[JudgeRequest], Answer | str | None]

SCRIPTED_MODEL = "scripted-1"
"""Stands where a model's name would in the shipped recordings; changes with any rule of the script behind them."""

NOTE = "Answers of a script, not of a model: they show whether anything changed, not whether the agent is good."
"""Told wherever that name is."""

_NAME = "scripted"


class ScriptedJudge:
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

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order, without waiting for anything."""
        judgements = []
        for position, request in enumerate(requests):
            self.asked.append(request)
            judgements.append(self._answer(request))
            if report:
                report(position, judgements[-1])
        return judgements

    def _answer(self, request: JudgeRequest) -> Judgement:
        said = self._script(request)
        if isinstance(said, Answer):
            answers = (said, said) if request.double_check else (said,)
            raw = said.model_dump_json()
            return judgement_from(
                request, answers, raw=raw, usage=Usage(calls=1), judge=JudgeKind.SCRIPTED, model=self._model
            )
        status = JudgementStatus.NOT_SCORED if said is None else JudgementStatus.ERROR
        return unscored(request, status, said or "not in the script", judge=JudgeKind.SCRIPTED, model=self._model)
