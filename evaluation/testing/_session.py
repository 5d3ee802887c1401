"""The judge that all tests of a run share, with its cache and budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.errors import InputError
from evaluation.judging.judge_config import JudgeConfig, build_judge, judge_config
from evaluation.judging.judges.recorded import RecordingJudge
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.protocol import Judge, Judgement, JudgeRequest, Report
from evaluation.persona.results import LABELS, PersonaEvaluation
from evaluation.store import Store
from evaluation.testing._personas import recorded_judge


class _SharedJudge:
    """Makes a judge for every batch of questions: connections belong to an event loop, and each test has its own.

    Args:
        config: Of the judge.
        cache: Holds the answers of all tests.
        budget: Of all tests.
    """

    def __init__(self, config: JudgeConfig, cache: Store, budget: Budget) -> None:
        self._config = config
        self._cache = cache
        self._budget = budget

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order."""
        judge = build_judge(self._config, cache=self._cache.judgements, budget=self._budget)
        return await judge.judge(requests, report=report)


@dataclass(frozen=True, slots=True)
class JudgingSession:
    """Judge, cache and budget that the tests of a run share.

    Attributes:
        judge: Answers all of them.
        budget: What they may spend together.
        store: Holds the answers; they outlive the run where pytest has a cache folder.
    """

    judge: Judge
    budget: Budget
    store: Store

    @classmethod
    def of(
        cls,
        *,
        record: Path | None,
        recordings: Path | None,
        usd: float | None,
        calls: int | None,
        folder: Path | None,
    ) -> JudgingSession:
        """The session that pytest's options describe.

        Args:
            record: Where the answers of a model are written to.
            recordings: Answers that are played back; not while others are recorded.
            usd: Limit in US dollars of all tests.
            calls: Limit of calls of all tests.
            folder: Where answers are kept from run to run.

        Raises:
            InputError: There is no model to record, or the recordings are of several models.
        """
        config = judge_config({"max_usd": usd, "max_calls": calls})
        budget = Budget(usd=config.max_usd, calls=config.max_calls)
        store = Store(":memory:" if folder is None else folder / "judgements.duckdb")
        if record is None and recordings is not None:
            return cls(recorded_judge(recordings), budget, store)
        shared = _SharedJudge(config, store, budget)
        if record is None:
            return cls(shared, budget, store)
        if config.mode != "live":
            remedy = "Set OPENAI_API_KEY or OPENAI_BASE_URL."
            raise InputError("There is no model whose answers could be recorded.", place=str(record), remedy=remedy)
        record.parent.mkdir(parents=True, exist_ok=True)
        return cls(RecordingJudge(shared, record), budget, store)

    def summary(self, evaluation: PersonaEvaluation) -> dict[str, Any]:
        """An evaluation as the report shows it."""
        return {
            "agent": evaluation.agent.display_name,
            "scores": {LABELS[key]: each.score for key, each in evaluation.dimensions.items()},
            "overall_score": evaluation.overall_score,
            "judged_by": ", ".join(model for _, model in evaluation.judges),
        }

    @contextmanager
    def noted(self, properties: list[tuple[str, object]], name: str) -> Iterator[None]:
        """Notes beside a test what all of them have spent so far, however it ends."""
        try:
            yield
        finally:
            properties.append((name, spent_words(self.budget)))

    def close(self) -> None:
        """Ends the use of the cache."""
        self.store.close()
