"""Compare evaluations with golden baselines: fallen, lost and new scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any

from evaluation.harness.baselines import Baseline, DimensionBaseline, Source, models_of, proposition_means
from evaluation.judging.propositions.proposition import ENVIRONMENT_DIMENSIONS, HIGHEST_SCORE, Dimension
from evaluation.judging.propositions.weighted_scores import PropositionScore
from evaluation.judging.protocol import JudgementStatus
from evaluation.persona.agents import is_channel_id
from evaluation.persona.results import DIMENSIONS, LABELS, DimensionScore, PersonaEvaluation

MAX_DROP = 1.0
"""A score may fall by so much; more is a regression."""

# Far below what a score can differ by, and far above what adding floats in another order does.
_DIGITS = 4
_MOST_BEHIND = 3
_UNFINISHED = frozenset({JudgementStatus.ERROR, JudgementStatus.SKIPPED})


class RegressionOutcome(StrEnum):
    """The outcome of comparing a dimension with its baseline.

    ``lost``: the baseline has a score and now there is none. ``new``: there is no baseline. ``incomparable``: another
    judge made the baseline. ``not_scored``: neither has a score. ``error``: the judge failed on part of it, so that
    the score, if any, tells nothing.
    """

    FINE = "fine"
    REGRESSION = "regression"
    LOST = "lost"
    NEW = "new"
    INCOMPARABLE = "incomparable"
    NOT_SCORED = "not_scored"
    ERROR = "error"


FAILURES = frozenset({RegressionOutcome.REGRESSION, RegressionOutcome.LOST})
"""What fails a build."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A proposition behind a score, with the message that scored lowest. Texts are untrusted.

    Attributes:
        score: Its mean now; ``None`` when it has none.
        baseline: Its mean then; ``None`` when it is new.
        message: Transcript and id of that message; empty for a whole trajectory.
    """

    proposition_id: str
    claim: str
    score: float | None
    baseline: float | None
    message: str
    snippet: str
    reason: str
    recommendation: str

    @property
    def change(self) -> float | None:
        """The score less the baseline."""
        return None if self.score is None or self.baseline is None else self.score - self.baseline


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """One dimension of one agent beside its baseline.

    Attributes:
        detail: Why there is no score, or no comparison; empty otherwise.
        behind: The propositions that weigh most in a fall, the worst first.
        new_propositions: Ids that the baseline does not know.
        gone_propositions: Ids that only the baseline knows.
    """

    agent_id: str
    agent_name: str
    dimension: Dimension
    outcome: RegressionOutcome
    score: float | None = None
    baseline: float | None = None
    detail: str = ""
    behind: tuple[Behind, ...] = ()
    new_propositions: tuple[str, ...] = ()
    gone_propositions: tuple[str, ...] = ()

    @property
    def change(self) -> float | None:
        """The score less the baseline, to four digits."""
        return None if self.score is None or self.baseline is None else round(self.score - self.baseline, _DIGITS)


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """All dimensions of all agents beside their baselines.

    Attributes:
        max_drop: By how much a score may fall.
        models: Who judged now.
    """

    rows: tuple[BaselineRow, ...]
    max_drop: float = MAX_DROP
    models: tuple[str, ...] = ()

    def having(self, outcomes: Collection[RegressionOutcome]) -> list[BaselineRow]:
        """The rows with one of these outcomes."""
        return [row for row in self.rows if row.outcome in outcomes]

    @property
    def verdict(self) -> str:
        """``error`` before ``regression`` before ``fine``: of a broken judge nothing can be learned."""
        if self.having({RegressionOutcome.ERROR}):
            return "error"
        return "regression" if self.having(FAILURES) else "fine"

    def as_dict(self) -> dict[str, Any]:
        """The comparison as the JSON output shows it."""
        return {
            "format": "dramaturg-comparison",
            "version": 1,
            "verdict": self.verdict,
            "max_drop": self.max_drop,
            "models": list(self.models),
            "rows": [_row_dict(row) for row in self.rows],
        }


def _row_dict(row: BaselineRow) -> dict[str, Any]:
    return {
        "agent_id": row.agent_id,
        "agent_name": row.agent_name,
        "dimension": str(row.dimension),
        "label": LABELS[row.dimension],
        "outcome": str(row.outcome),
        "score": row.score,
        "baseline": row.baseline,
        "change": row.change,
        "detail": row.detail,
        "new_propositions": list(row.new_propositions),
        "gone_propositions": list(row.gone_propositions),
        "behind": [
            {
                "proposition_id": each.proposition_id,
                "claim": each.claim,
                "score": each.score,
                "baseline": each.baseline,
                "message": each.message,
                "snippet": each.snippet,
                "reason": each.reason,
                "recommendation": each.recommendation,
            }
            for each in row.behind
        ],
    }


def compare(
    evaluations: Sequence[PersonaEvaluation],
    baselines: Mapping[tuple[str, Source], Baseline],
    dimensions: Collection[Dimension] = DIMENSIONS,
    *,
    source: Source = "transcripts",
    expects_all: bool = False,
    max_drop: float = MAX_DROP,
    judge: str = "",
) -> BaselineComparison:
    """Every dimension beside its baseline. A drop of exactly ``max_drop`` is fine, any more is a regression.

    Ideas are compared by the same rule, although they are counted. Scores of another judge are not compared.

    Args:
        evaluations: What was scored now.
        baselines: From :func:`evaluation.harness.baselines.read_baselines`.
        dimensions: Those that were asked for; baselines of others are left alone.
        source: What was judged; only baselines of the same kind count.
        expects_all: Whether an agent that has a baseline and was not evaluated counts as lost.
        max_drop: By how much a score may fall.
        judge: The model that was to judge: what it cannot score is not lost where another made the baseline.
    """
    rows: list[BaselineRow] = []
    for evaluation in evaluations:
        baseline = baselines.get((evaluation.agent.id, source))
        rows += _rows(evaluation, baseline, dimensions, _Rule(max_drop, judge))
    if expects_all:
        seen = {evaluation.agent.id for evaluation in evaluations}
        absent = [each for each in baselines.values() if each.source == source and each.agent_id not in seen]
        rows += [row for each in absent for row in _absent(each, dimensions)]
    models = sorted({model for evaluation in evaluations for model in models_of(evaluation)})
    return BaselineComparison(tuple(rows), max_drop, tuple(models))


@dataclass(frozen=True, slots=True)
class _Rule:
    max_drop: float
    judge: str

    def models(self, evaluation: PersonaEvaluation) -> tuple[str, ...]:
        return models_of(evaluation) or ((self.judge,) if self.judge else ())


def _rows(
    evaluation: PersonaEvaluation, baseline: Baseline | None, dimensions: Collection[Dimension], rule: _Rule
) -> Iterator[BaselineRow]:
    then = baseline.dimensions if baseline else {}
    for dimension in DIMENSIONS:
        if dimension in evaluation.dimensions:
            yield _row(evaluation, dimension, baseline, rule)
        elif dimension in then and dimension in dimensions:
            yield BaselineRow(
                evaluation.agent.id,
                evaluation.agent.display_name,
                dimension,
                RegressionOutcome.LOST,
                baseline=then[dimension].score,
                detail="it was not judged any more",
            )


def _row(evaluation: PersonaEvaluation, dimension: Dimension, baseline: Baseline | None, rule: _Rule) -> BaselineRow:
    now = evaluation.dimensions[dimension]
    then = baseline.dimensions.get(dimension) if baseline else None
    outcome, detail = _outcome(now, then, baseline, rule.models(evaluation), rule.max_drop)
    known = then.propositions if then else {}
    asked = dict.fromkeys(item.proposition.id for item in now.items)
    return BaselineRow(
        agent_id=evaluation.agent.id,
        agent_name=evaluation.agent.display_name,
        dimension=dimension,
        outcome=outcome,
        score=now.score,
        baseline=then.score if then else None,
        detail=detail,
        behind=tuple(behind(now.items, known)) if outcome is RegressionOutcome.REGRESSION else (),
        new_propositions=tuple([each for each in asked if each not in known]) if then else (),
        gone_propositions=tuple([each for each in known if each not in asked]),
    )


def _outcome(
    now: DimensionScore,
    then: DimensionBaseline | None,
    baseline: Baseline | None,
    models: tuple[str, ...],
    max_drop: float,
) -> tuple[RegressionOutcome, str]:
    broken = [item for item in now.items if item.status in _UNFINISHED]
    if broken:
        return RegressionOutcome.ERROR, f"{len(broken)} of {len(now.items)} were not judged: {broken[0].detail}"
    if baseline is None or then is None:
        missing = "the agent has no baseline" if baseline is None else "the agent's baseline lacks this dimension"
        return (RegressionOutcome.NOT_SCORED, now.reason) if now.score is None else (RegressionOutcome.NEW, missing)
    if models and models != baseline.models:
        return RegressionOutcome.INCOMPARABLE, f"{_listed(models)} judged now, {_listed(baseline.models)} the baseline"
    if now.score is None:
        return RegressionOutcome.LOST, now.reason
    drop = round(then.score - now.score, _DIGITS)
    return (RegressionOutcome.REGRESSION if drop > max_drop else RegressionOutcome.FINE), ""


def _listed(models: Iterable[str]) -> str:
    return ", ".join(models) or "nobody"


def _absent(baseline: Baseline, dimensions: Collection[Dimension]) -> Iterator[BaselineRow]:
    is_channel = is_channel_id(baseline.agent_id)
    for dimension, then in baseline.dimensions.items():
        if dimension in dimensions and (dimension in ENVIRONMENT_DIMENSIONS) is is_channel:
            yield BaselineRow(
                baseline.agent_id,
                baseline.agent_name,
                dimension,
                RegressionOutcome.LOST,
                baseline=then.score,
                detail="nobody of that name says anything any more",
            )


def behind(items: Sequence[PropositionScore], known: Mapping[str, float]) -> list[Behind]:
    """The propositions that weigh most in a fall, or score lowest where nothing is known of before; at most three.

    Args:
        items: Of one dimension.
        known: Mean scores before, by proposition.
    """
    means = proposition_means(items)
    weights = {item.proposition.id: item.proposition.weight for item in items}
    # A new proposition is held against what the others had.
    usual = fmean(known.values()) if known else HIGHEST_SCORE

    def harm(proposition_id: str) -> float:
        return weights[proposition_id] * (means[proposition_id] - known.get(proposition_id, usual))

    worst = sorted(means, key=lambda each: (harm(each), each))
    fallen = [each for each in worst if harm(each) < 0][:_MOST_BEHIND]
    return [_behind(each, items, means, known) for each in fallen]


def _behind(
    proposition_id: str, items: Sequence[PropositionScore], means: Mapping[str, float], known: Mapping[str, float]
) -> Behind:
    own = [item for item in items if item.proposition.id == proposition_id and item.score is not None]
    lowest = min(own, key=lambda item: item.score or 0.0)
    return Behind(
        proposition_id=proposition_id,
        claim=lowest.claim,
        score=means[proposition_id],
        baseline=known.get(proposition_id),
        message=lowest.reference or next(iter(lowest.citations), ""),
        snippet=lowest.snippet,
        reason=lowest.reason,
        recommendation=lowest.proposition.recommendations_for_improvement,
    )
