"""Golden baselines, evaluations held against them, and the comparison in words."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluation.errors import InputError
from evaluation.files.yaml_files import read_model
from evaluation.judging.prompts import PROMPT_VERSION
from evaluation.judging.proposition_scores import PropositionScore
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension
from evaluation.judging.protocol import JudgementStatus
from evaluation.persona.agents import is_channel_id
from evaluation.persona.dimensions import LABELS
from evaluation.persona.evaluation import DimensionScore, EvaluationPlan, PersonaEvaluation
from evaluation.persona.subjects import ALWAYS
from evaluation.text.display import json_data

Source = Literal["transcripts", "synthetic"]
"""Whether an agent was judged on what it had said, or on answers to scenario prompts made for the purpose."""

SUFFIX = ".json"
_REMEDY = "Restore the file, or make it again with `dramaturg persona baseline`."
# Enough for any mean of whole numbers, and the same text on every machine.
_STORED_DIGITS = 6
_PLAIN_NAME = re.compile(r"[\w-]{1,60}")


# What a proposition holds for people only.
_NOT_ASKED = {"source": "", "recommendations_for_improvement": ""}


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DimensionBaseline(_Frozen):
    """One dimension's score.

    Attributes:
        score: 0 to 9; of ideas their number.
        fingerprint: Changes with the claims, the version of the prompts, the model, and how messages were sampled.
    """

    score: float = Field(ge=0, le=1_000_000)
    fingerprint: str


class Baseline(_Frozen):
    """The accepted scores of an agent, or of a channel.

    Attributes:
        agent_id: Whose it is.
        source: What was judged.
        models: Who judged, for people who open the file.
        note: For them, too.
        dimensions: Only those that had a score.
    """

    format: Literal["dramaturg-baseline"] = "dramaturg-baseline"
    version: Literal[3] = 3
    agent_id: str = Field(min_length=1)
    agent_name: str
    source: Source = "transcripts"
    models: tuple[str, ...]
    note: str = ""
    dimensions: dict[Dimension, DimensionBaseline]

    @property
    def key(self) -> tuple[str, Source]:
        """The key that identifies it among baselines."""
        return self.agent_id, self.source

    def with_others_of(self, before: Baseline | None, judged: Collection[Dimension]) -> Baseline:
        """This baseline, with the dimensions of an earlier one that were not judged this time.

        Args:
            before: Of the same agent.
            judged: The dimensions that were.
        """
        kept = {key: score for key, score in before.dimensions.items() if key not in judged} if before else {}
        merged = kept | self.dimensions
        return self.model_copy(update={"dimensions": {key: merged[key] for key in Dimension if key in merged}})


@dataclass(frozen=True, slots=True)
class Conditions:
    """The source and judge that shape scores beside the plan.

    Attributes:
        source: What was judged; only baselines of the same kind count.
        judge: The model that was to judge, where nothing has a score.
        with_simulated: Whether conversations of experiments counted.
    """

    source: Source = "transcripts"
    judge: str = ""
    with_simulated: bool = False


def _fingerprint(
    evaluation: PersonaEvaluation, items: Sequence[PropositionScore], plan: EvaluationPlan, conditions: Conditions
) -> str:
    """The hash over everything that shapes a dimension's score but the persona and the messages.

    A sample's limit and seed matter only where they may have left messages out.
    """
    asked = {item.proposition.id: item.proposition for item in items}
    has_all = evaluation.sample_size < plan.sample_size
    parts = [
        [asdict(asked[key]) | _NOT_ASKED for key in sorted(asked)],
        PROMPT_VERSION,
        models_of(evaluation) or (conditions.judge,),
        None if has_all else [plan.sample_size, evaluation.seed],
        [plan.period.since, plan.period.until, plan.options.is_batched, plan.options.has_double_check],
        conditions.with_simulated,
    ]
    return hashlib.sha256(json.dumps(parts, default=str).encode("ascii")).hexdigest()[:16]


def baseline_of(evaluation: PersonaEvaluation, plan: EvaluationPlan, conditions: Conditions) -> Baseline:
    """The baseline that an evaluation amounts to; dimensions without a score are left out."""
    return Baseline(
        agent_id=evaluation.agent.id,
        agent_name=evaluation.agent.display_name,
        source=conditions.source,
        models=models_of(evaluation),
        dimensions={
            key: DimensionBaseline(
                score=round(dimension.score, _STORED_DIGITS),
                fingerprint=_fingerprint(evaluation, dimension.items, plan, conditions),
            )
            for key, dimension in evaluation.dimensions.items()
            if dimension.score is not None
        },
    )


def models_of(evaluation: PersonaEvaluation) -> tuple[str, ...]:
    """The models that judged, sorted; live, recorded or scripted makes no difference."""
    return tuple(sorted({model for _, model in evaluation.judges}))


def read_baselines(folder: Path) -> dict[tuple[str, Source], Baseline]:
    """The baselines in a folder, by agent and source; none when there is no such folder.

    Raises:
        InputError: A file is not a baseline, or two are of the same agent; names the file.
    """
    found: dict[tuple[str, Source], Baseline] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        baseline = read_model(path, Baseline, remedy=_REMEDY)
        if baseline.key in found:
            raise InputError(
                f"A second baseline of {baseline.agent_id!r}.", place=str(path), remedy="Delete one of the two files."
            )
        found[baseline.key] = baseline
    return found


def write_baseline(folder: Path, baseline: Baseline) -> Path:
    """Writes a baseline under the name of its agent, in place of an earlier one; returns where.

    Raises:
        InputError: The folder cannot be written to.
    """
    path = folder / file_name(baseline.agent_id, baseline.source)
    body = baseline.model_dump(mode="json")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The baseline cannot be written: {error.strerror}.", place=str(path), remedy="Name another folder."
        ) from None
    return path


def file_name(agent_id: str, source: Source = "transcripts") -> str:
    """A name that every file system takes: "michael.json", "channel--sales-floor.json", "michael.synthetic.json".

    Of an id that is long or odd, the beginning of a hash stands in its place.
    """
    stem = agent_id.replace(":", "--")
    if not _PLAIN_NAME.fullmatch(stem):
        stem = f"agent-{hashlib.sha256(agent_id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return f"{stem}{'' if source == 'transcripts' else f'.{source}'}{SUFFIX}"


MAX_DROP = 1.0
"""A score may fall by so much; more is a regression."""

# Far below what a score can differ by, and far above what adding floats in another order does.
_DIGITS = 4
_UNFINISHED = frozenset({JudgementStatus.ERROR, JudgementStatus.SKIPPED})


class RegressionOutcome(StrEnum):
    """The outcome of comparing a dimension with its baseline.

    ``lost``: the baseline has a score and now there is none. ``new``: there is no baseline. ``incomparable``: the
    baseline was made otherwise. ``not_scored``: neither has a score. ``error``: the judge failed on part of it, so
    that the score, if any, tells nothing.
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

COMPARED = FAILURES | {RegressionOutcome.FINE}
"""Outcomes of scores that were held against a baseline."""

Verdict = Literal["fine", "regression", "nothing_compared", "error"]


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """One dimension of one agent beside its baseline.

    Attributes:
        detail: Why there is no score or no comparison; empty otherwise.
        lowest: The claim that scored lowest, where the dimension fell too far.
    """

    agent_id: str
    agent_name: str
    dimension: Dimension
    outcome: RegressionOutcome
    score: float | None = None
    baseline: float | None = None
    detail: str = ""
    lowest: PropositionScore | None = None

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
        requires_baseline: Whether it fails when nothing was compared.
    """

    rows: tuple[BaselineRow, ...]
    max_drop: float = MAX_DROP
    models: tuple[str, ...] = ()
    requires_baseline: bool = False

    def having(self, outcomes: Collection[RegressionOutcome]) -> list[BaselineRow]:
        """The rows with one of these outcomes."""
        return [row for row in self.rows if row.outcome in outcomes]

    @property
    def verdict(self) -> Verdict:
        """``error`` before ``regression`` before ``fine``: of a broken judge nothing can be learned.

        ``nothing_compared``: no score was held against a baseline, so that nothing could have fallen.
        """
        if self.having({RegressionOutcome.ERROR}):
            return "error"
        if self.having(FAILURES):
            return "regression"
        return "fine" if self.having(COMPARED) else "nothing_compared"

    @property
    def has_failed(self) -> bool:
        """Whether a build has to fail, for every command and report; a judge's error is told apart from this."""
        return self.verdict == "regression" or (self.verdict == "nothing_compared" and self.requires_baseline)

    @property
    def rule(self) -> str:
        """The rule that was applied, in a sentence."""
        if not any(row.outcome in COMPARED for row in self.rows):
            return "No score was compared with a baseline."
        return f"A dimension fails when it falls by more than {self.max_drop:g}."

    def as_dict(self) -> dict[str, Any]:
        """The comparison as the JSON output shows it."""
        rows = [
            json_data(replace(row, lowest=None))
            | {"label": LABELS[row.dimension], "change": row.change, "lowest": row.lowest and row.lowest.as_dict()}
            for row in self.rows
        ]
        about = {"format": "dramaturg-comparison", "version": 2, "verdict": self.verdict, "rule": self.rule}
        return {**about, **json_data(replace(self, rows=())), "has_failed": self.has_failed, "rows": rows}


def compare(
    evaluations: Sequence[PersonaEvaluation],
    baselines: Mapping[tuple[str, Source], Baseline],
    plan: EvaluationPlan,
    conditions: Conditions,
    *,
    expects_all: bool = False,
    max_drop: float = MAX_DROP,
    requires_baseline: bool = False,
) -> BaselineComparison:
    """Every dimension beside its baseline.

    A drop of exactly ``max_drop`` is fine, any more is a regression. Ideas are compared by the same rule, although
    they are counted. Scores that were made otherwise, by the fingerprint, are not compared.

    Args:
        evaluations: What was scored now.
        baselines: From :func:`evaluation.harness.regression.read_baselines`.
        plan: How it was asked; baselines of dimensions that were not asked for are left alone.
        conditions: What shaped the scores beside the plan.
        expects_all: Whether an agent that has a baseline and was not evaluated counts as lost.
        max_drop: By how much a score may fall.
        requires_baseline: Whether it fails when nothing can be compared.
    """
    rows: list[BaselineRow] = []
    for evaluation in evaluations:
        then = baselines.get((evaluation.agent.id, conditions.source))
        for key, dimension in evaluation.dimensions.items():
            row = BaselineRow(evaluation.agent.id, evaluation.agent.display_name, key, RegressionOutcome.FINE)
            before = then.dimensions.get(key) if then else None
            fingerprint = _fingerprint(evaluation, dimension.items, plan, conditions)
            rows.append(_compared(row, dimension, before, fingerprint, plan, max_drop))
        rows += _lost(then, [key for key in plan.dimensions if key not in evaluation.dimensions], "was not judged")
    if expects_all:
        seen = {evaluation.agent.id for evaluation in evaluations}
        for then in baselines.values():
            if then.source == conditions.source and then.agent_id not in seen:
                rows += _lost(then, plan.dimensions, "belongs to nobody who says anything")
    models = sorted({model for evaluation in evaluations for model in models_of(evaluation)})
    return BaselineComparison(tuple(rows), max_drop, tuple(models), requires_baseline)


def _compared(
    row: BaselineRow,
    dimension: DimensionScore,
    before: DimensionBaseline | None,
    fingerprint: str,
    plan: EvaluationPlan,
    max_drop: float,
) -> BaselineRow:
    row = replace(row, score=dimension.score, baseline=before.score if before else None)
    if unfinished := [item for item in dimension.items if item.status in _UNFINISHED]:
        detail = f"{len(unfinished)} of {len(dimension.items)} were not judged: {unfinished[0].detail}"
        return replace(row, outcome=RegressionOutcome.ERROR, detail=detail)
    if before is None:
        if dimension.score is None:
            return replace(row, outcome=RegressionOutcome.NOT_SCORED, detail=dimension.reason)
        return replace(row, outcome=RegressionOutcome.NEW, detail="the agent has no baseline of this dimension")
    # Without a question there are no claims to compare: whoever asks about a period knows that it may hold nothing.
    if not dimension.items and plan.period != ALWAYS:
        return replace(row, outcome=RegressionOutcome.NOT_SCORED, detail=dimension.reason)
    if dimension.items and fingerprint != before.fingerprint:
        return replace(row, outcome=RegressionOutcome.INCOMPARABLE, detail=_MADE_OTHERWISE)
    if dimension.score is None:
        return replace(row, outcome=RegressionOutcome.LOST, detail=dimension.reason)
    if -(row.change or 0.0) <= max_drop:
        return row
    return replace(row, outcome=RegressionOutcome.REGRESSION, lowest=_lowest_claim(dimension))


_MADE_OTHERWISE = (
    "claims, prompts, judge or sample are not those of the baseline; once the new ones are wanted, make it again"
)


def _lost(then: Baseline | None, dimensions: Collection[Dimension], how: str) -> Iterator[BaselineRow]:
    """The dimensions of a baseline, among these, that apply to such an agent and are not judged any more."""
    if then is None:
        return
    for key, before in then.dimensions.items():
        if key in dimensions and (key in ENVIRONMENT_DIMENSIONS) is is_channel_id(then.agent_id):
            yield BaselineRow(
                then.agent_id,
                then.agent_name,
                key,
                RegressionOutcome.LOST,
                baseline=before.score,
                detail=f"it {how} any more",
            )


def _lowest_claim(dimension: DimensionScore) -> PropositionScore | None:
    scored = [(item.score, item) for item in dimension.items if item.score is not None and item.proposition.weight > 0]
    lowest = min(scored, key=lambda pair: (pair[0], -pair[1].proposition.weight, pair[1].proposition.id), default=None)
    return lowest and lowest[1]


def row_words(row: BaselineRow, max_drop: float) -> str:
    """A row in one sentence: agent, dimension, score, baseline, and what that means."""
    now, then = ("no score" if score is None else f"{score:.2f}" for score in (row.score, row.baseline))
    meanings = {
        RegressionOutcome.FINE: f"{now}, baseline {then}",
        RegressionOutcome.REGRESSION: (
            f"{now}, baseline {then}: it fell by {-(row.change or 0.0):.2f}, which is more than {max_drop:g}"
        ),
        RegressionOutcome.LOST: f"no score, baseline {then}: {row.detail}",
        RegressionOutcome.NEW: f"{now}, nothing to compare it with: {row.detail}",
        RegressionOutcome.INCOMPARABLE: f"{now}, baseline {then}, not comparable: {row.detail}",
        RegressionOutcome.NOT_SCORED: f"not scored: {row.detail}",
        RegressionOutcome.ERROR: f"the judge failed: {row.detail}",
    }
    return f"{row.agent_name}, {LABELS[row.dimension]}: {meanings[row.outcome]}"
