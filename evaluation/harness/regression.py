"""Golden baselines, evaluations held against them, and the comparison in words."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluation.errors import InputError
from evaluation.files.yaml_files import read_model
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.prompts import PROMPT_VERSION
from evaluation.judging.proposition_scores import PropositionScore
from evaluation.judging.propositions import ENVIRONMENT_DIMENSIONS, Dimension, Proposition
from evaluation.judging.protocol import JudgementStatus
from evaluation.persona.agents import is_channel_id
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.persona.evaluation import DimensionScore, EvaluationPlan, PersonaEvaluation
from evaluation.text.display import counted, json_data

Source = Literal["transcripts", "synthetic"]
"""Whether an agent was judged on what it had said, or on answers to scenario prompts made for the purpose."""

SUFFIX = ".json"
_REMEDY = "Restore the file, or make it again with `dramaturg persona baseline`."
# Enough for any mean of whole numbers, and the same text on every machine.
_STORED_DIGITS = 6
_PLAIN_NAME = re.compile(r"[\w-]{1,60}")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PropositionBaseline(_Frozen):
    """One proposition's mean score.

    Attributes:
        score: The mean over what it was asked of.
        fingerprint: Changes with everything in the proposition that may change its score but its weight.
    """

    score: float = Field(ge=0, le=1_000_000)
    fingerprint: str = ""


class DimensionBaseline(_Frozen):
    """One dimension's score, and those of its propositions by id."""

    score: float = Field(ge=0, le=1_000_000)
    propositions: dict[str, PropositionBaseline] = Field(default_factory=dict)


class Baseline(_Frozen):
    """The accepted scores of an agent, or of a channel, with everything that shapes them but persona and messages.

    Attributes:
        agent_id: Whose it is.
        source: What was judged.
        models: Who judged; scores of other judges are not compared with these.
        note: For people who open the file.
        sample_size: At most how many messages were judged one by one.
        sampled: How many were; ``None`` where the file does not say.
        seed: Chose them.
        since: The period's beginning in ISO 8601; empty for none.
        until: The period's end.
        is_batched: Whether questions shared calls; ``None`` where the file does not say.
        has_double_check: Whether the judge was asked to reconsider; ``None`` like that.
        with_simulated: Whether conversations of experiments counted; ``None`` where the file does not say.
        dimensions: Only those that had a score.
    """

    format: Literal["dramaturg-baseline"] = "dramaturg-baseline"
    version: Literal[2] = 2
    agent_id: str = Field(min_length=1)
    agent_name: str
    source: Source = "transcripts"
    models: tuple[str, ...]
    note: str = ""
    prompt_version: str
    sample_size: int = Field(ge=1)
    sampled: int | None = Field(default=None, ge=0)
    seed: int = Field(ge=0)
    since: str = ""
    until: str = ""
    is_batched: bool | None = None
    has_double_check: bool | None = None
    with_simulated: bool | None = None
    dimensions: dict[Dimension, DimensionBaseline]

    @property
    def key(self) -> tuple[str, Source]:
        """The key that identifies it among baselines."""
        return self.agent_id, self.source

    def with_others_of(self, before: Baseline | None, judged: Collection[Dimension]) -> Baseline:
        """This baseline, with the dimensions of an earlier one that were not judged this time.

        Args:
            before: Of the same agent; what was judged otherwise does not belong in one baseline.
            judged: The dimensions that were.
        """
        if before is None or list(differences(before, self)):
            return self
        others = {key: each for key, each in before.dimensions.items() if key not in judged}
        found = others | self.dimensions
        return self.model_copy(update={"dimensions": {key: found[key] for key in Dimension if key in found}})


def differences(then: Baseline, now: Baseline) -> Iterator[str]:
    """The reasons why two baselines' scores are incomparable; none where they were made alike.

    A sample's limit and seed matter only where one of them left messages out. What a file of version 1 does not say
    counts as equal.
    """
    if then.models != now.models:
        yield f"{_listed(now.models)} judged now, {_listed(then.models)} the baseline"
    if then.prompt_version != now.prompt_version:
        yield f"prompts {now.prompt_version} now, {then.prompt_version} in the baseline"
    was_whole, is_whole = (one.sampled is not None and one.sampled < one.sample_size for one in (then, now))
    if not (was_whole and is_whole) and (then.sample_size, then.seed) != (now.sample_size, now.seed):
        yield (
            f"up to {now.sample_size} messages drawn with seed {now.seed} now, {then.sample_size} with seed "
            f"{then.seed} in the baseline"
        )
    if (then.since, then.until) != (now.since, now.until):
        yield f"messages {_period(now)} now, {_period(then)} in the baseline"
    for name, yes, no in (
        ("is_batched", "several questions a call", "one question a call"),
        ("has_double_check", "a double check", "no double check"),
        ("with_simulated", "with simulated conversations", "without simulated conversations"),
    ):
        was, is_now = getattr(then, name), getattr(now, name)
        if was is not None and is_now is not None and was is not is_now:
            yield f"{yes if is_now else no} now, {yes if was else no} in the baseline"


def _listed(models: Sequence[str]) -> str:
    return ", ".join(models) or "nobody"


def _period(baseline: Baseline) -> str:
    ends = [f"{word} {time}" for word, time in (("since", baseline.since), ("until", baseline.until)) if time]
    return " ".join(ends) or "of all times"


def fingerprint(proposition: Proposition) -> str:
    """Changes with everything in a proposition that may change its score but its weight, which is applied later."""
    parts = [
        proposition.claim,
        proposition.is_inverted,
        proposition.includes_personas,
        str(proposition.target_type),
        proposition.window.first_n,
        proposition.window.last_n,
        proposition.has_double_check,
        proposition.precondition,
    ]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:12]


def baseline_of(
    evaluation: PersonaEvaluation,
    plan: EvaluationPlan,
    *,
    source: Source = "transcripts",
    judge: str = "",
    with_simulated: bool = False,
) -> Baseline:
    """The baseline that an evaluation amounts to.

    Args:
        evaluation: What was scored; dimensions without a score are left out.
        plan: How it was asked.
        source: What was judged.
        judge: The model that was to judge, where nothing has a score.
        with_simulated: Whether conversations of experiments counted.
    """
    return Baseline(
        agent_id=evaluation.agent.id,
        agent_name=evaluation.agent.display_name,
        source=source,
        models=models_of(evaluation) or ((judge,) if judge else ()),
        prompt_version=PROMPT_VERSION,
        sample_size=plan.sample_size,
        sampled=evaluation.sample_size,
        seed=evaluation.seed,
        since=plan.period.since.isoformat() if plan.period.since else "",
        until=plan.period.until.isoformat() if plan.period.until else "",
        is_batched=plan.options.is_batched,
        has_double_check=plan.options.has_double_check,
        with_simulated=with_simulated,
        dimensions={key: _dimension(each) for key, each in evaluation.dimensions.items() if each.score is not None},
    )


def _dimension(score: DimensionScore) -> DimensionBaseline:
    return DimensionBaseline(
        score=round(score.score or 0.0, _STORED_DIGITS),
        propositions=proposition_baselines(score.items),
    )


def models_of(evaluation: PersonaEvaluation) -> tuple[str, ...]:
    """The models that judged, sorted; live, recorded or scripted makes no difference."""
    return tuple(sorted({model for _, model in evaluation.judges}))


def proposition_baselines(items: Iterable[PropositionScore]) -> dict[str, PropositionBaseline]:
    """Every scored proposition by id: its mean over what it was asked of."""
    by_id: dict[str, list[PropositionScore]] = {}
    for item in items:
        by_id.setdefault(item.proposition.id, []).append(item)
    found = {}
    for key, own in by_id.items():
        scores = [item.score for item in own if item.score is not None]
        if scores:
            found[key] = PropositionBaseline(
                score=round(fmean(scores), _STORED_DIGITS),
                fingerprint=fingerprint(own[0].proposition),
            )
    return found


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

PROPOSITION_FACTOR = 3.0
"""A single proposition may fall by so many times as much: it rests on few judgements."""

# Far below what a score can differ by, and far above what adding floats in another order does.
_DIGITS = 4
_MOST_BEHIND = 3
_UNFINISHED = frozenset({JudgementStatus.ERROR, JudgementStatus.SKIPPED})


class RegressionOutcome(StrEnum):
    """The outcome of comparing a dimension with its baseline.

    ``regression``: the dimension fell, or one of its propositions did. ``lost``: the baseline has a score and now there
    is none. ``new``: there is no baseline. ``incomparable``: the baseline was made otherwise. ``not_scored``: neither
    has a score. ``error``: the judge failed on part of it, so that the score, if any, tells nothing.
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
class ScoreChange:
    """A score beside its baseline.

    Attributes:
        name: A proposition's id; empty for the whole dimension.
        score: Now.
        baseline: Then.
    """

    name: str
    score: float
    baseline: float

    @property
    def change(self) -> float:
        """The score less the baseline, to four digits."""
        return round(self.score - self.baseline, _DIGITS)

    def is_regression(self, max_drop: float) -> bool:
        """Whether it fell by more than ``max_drop``; a proposition, by more than three times as much."""
        return -self.change > max_drop * (PROPOSITION_FACTOR if self.name else 1.0)


@dataclass(frozen=True, slots=True)
class Behind:
    """A proposition behind a score, with the message that scored lowest. Texts are untrusted.

    Attributes:
        score: Its mean now; ``None`` when it has none.
        baseline: Its mean then; ``None`` when it is new.
        message: Transcript and id of that message; empty for a whole trajectory.
        mark_words: The judge's mark of that message, its meaning and the score; empty for a count.
    """

    proposition_id: str
    claim: str
    score: float | None
    baseline: float | None
    message: str
    snippet: str
    reason: str
    recommendation: str
    mark_words: str = ""

    @property
    def change(self) -> float | None:
        """The score less the baseline."""
        return None if self.score is None or self.baseline is None else self.score - self.baseline


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """One dimension of one agent beside its baseline.

    Attributes:
        score: Now, over the propositions that were compared.
        baseline: Then, over the same propositions.
        detail: Why there is no score or no comparison, or over which propositions it was made; empty otherwise.
        behind: The propositions that weigh most in a fall, the worst first.
        new_propositions: Ids that the baseline does not know.
        gone_propositions: Ids that only the baseline knows.
        changed_propositions: Ids of those that ask otherwise than in the baseline, and are not compared.
        whole: The dimension's change; ``None`` where nothing was compared.
        fallen: The propositions that fell by more than they may.
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
    changed_propositions: tuple[str, ...] = ()
    whole: ScoreChange | None = None
    fallen: tuple[ScoreChange, ...] = ()

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
        if not any(row.whole for row in self.rows):
            return "No score was compared with a baseline."
        return (
            f"A dimension fails when it falls by more than {self.max_drop:g}, a proposition by more than "
            f"{self.max_drop * PROPOSITION_FACTOR:g}."
        )

    def as_dict(self) -> dict[str, Any]:
        """The comparison as the JSON output shows it."""
        rows = [json_data(row) | {"label": LABELS[row.dimension], "change": row.change} for row in self.rows]
        about = {"format": "dramaturg-comparison", "version": 1, "verdict": self.verdict, "rule": self.rule}
        return {**about, **json_data(self), "has_failed": self.has_failed, "rows": rows}


def compare(
    evaluations: Sequence[PersonaEvaluation],
    baselines: Mapping[tuple[str, Source], Baseline],
    plan: EvaluationPlan,
    *,
    source: Source = "transcripts",
    expects_all: bool = False,
    max_drop: float = MAX_DROP,
    judge: str = "",
    requires_baseline: bool = False,
    with_simulated: bool = False,
) -> BaselineComparison:
    """Every dimension, and every proposition in it, beside its baseline.

    A drop of exactly ``max_drop`` is fine, any more is a regression; a proposition may fall by three times as much.
    Ideas are compared by the same rule, although they are counted. Scores that were made otherwise are not compared
    (:func:`evaluation.harness.regression.differences`), and of a dimension only the propositions that ask the same.

    Args:
        evaluations: What was scored now.
        baselines: From :func:`evaluation.harness.regression.read_baselines`.
        plan: How it was asked; baselines of dimensions that were not asked for are left alone.
        source: What was judged; only baselines of the same kind count.
        expects_all: Whether an agent that has a baseline and was not evaluated counts as lost.
        max_drop: By how much a score may fall.
        judge: The model that was to judge: what it cannot score is not lost where another made the baseline.
        requires_baseline: Whether it fails when nothing can be compared.
        with_simulated: Whether conversations of experiments counted.
    """
    rows: list[BaselineRow] = []
    for evaluation in evaluations:
        then = baselines.get((evaluation.agent.id, source))
        now = baseline_of(evaluation, plan, source=source, judge=judge, with_simulated=with_simulated)
        rows += _rows(evaluation, now, then, plan.dimensions, max_drop)
    if expects_all:
        seen = {evaluation.agent.id for evaluation in evaluations}
        absent = [each for each in baselines.values() if each.source == source and each.agent_id not in seen]
        rows += [row for each in absent for row in _absent(each, plan.dimensions)]
    models = sorted({model for evaluation in evaluations for model in models_of(evaluation)})
    return BaselineComparison(tuple(rows), max_drop, tuple(models), requires_baseline)


def _rows(
    evaluation: PersonaEvaluation,
    now: Baseline,
    then: Baseline | None,
    dimensions: Collection[Dimension],
    max_drop: float,
) -> Iterator[BaselineRow]:
    known = then.dimensions if then else {}
    for dimension in DIMENSIONS:
        if dimension in evaluation.dimensions:
            yield _row(evaluation, dimension, now, then, max_drop)
        elif dimension in known and dimension in dimensions:
            yield BaselineRow(
                evaluation.agent.id,
                evaluation.agent.display_name,
                dimension,
                RegressionOutcome.LOST,
                baseline=known[dimension].score,
                detail="it was not judged any more",
            )


def _row(
    evaluation: PersonaEvaluation, dimension: Dimension, now: Baseline, then: Baseline | None, max_drop: float
) -> BaselineRow:
    score = evaluation.dimensions[dimension]
    before = then.dimensions.get(dimension) if then else None
    after = now.dimensions.get(dimension)
    known = before.propositions if before else {}
    asked = {item.proposition.id: item.proposition for item in score.items}
    changed = [
        key for key, each in asked.items() if key in known and known[key].fingerprint not in ("", fingerprint(each))
    ]
    row = BaselineRow(
        agent_id=evaluation.agent.id,
        agent_name=evaluation.agent.display_name,
        dimension=dimension,
        outcome=RegressionOutcome.FINE,
        score=score.score,
        baseline=before.score if before else None,
        new_propositions=tuple([each for each in asked if each not in known]) if before else (),
        gone_propositions=tuple([each for each in known if each not in asked]),
        changed_propositions=tuple(changed),
    )
    if (ended := _ended(row, score, then, before, now)) is not None or before is None or after is None:
        return ended or row
    shared = [key for key in after.propositions if key in known and key not in changed]
    weights = {key: asked[key].weight for key in shared}
    if set(asked) == set(known) == set(after.propositions) and not changed:
        whole = ScoreChange("", after.score, before.score)
    elif sum(weights.values()) > 0:
        whole = ScoreChange("", _over(after, weights), _over(before, weights))
        number = f"{len(shared)} of {counted(len(asked), 'proposition')}"
        detail = f"compared over {number}: the others are new, changed or without a score"
        row = replace(row, score=whole.score, baseline=whole.baseline, detail=detail)
    else:
        detail = "the baseline asks no proposition that is asked now"
        return replace(row, outcome=RegressionOutcome.INCOMPARABLE, detail=detail)
    parts = [ScoreChange(key, after.propositions[key].score, known[key].score) for key in shared]
    fallen = tuple([part for part in parts if part.is_regression(max_drop)])
    row = replace(row, whole=whole, fallen=fallen)
    if not fallen and not whole.is_regression(max_drop):
        return row
    scores = {key: each.score for key, each in known.items() if key not in changed}
    return replace(row, outcome=RegressionOutcome.REGRESSION, behind=tuple(behind(score.items, scores)))


def _over(side: DimensionBaseline, weights: Mapping[str, float]) -> float:
    """The dimension's score over some of its propositions, with the weights of today."""
    return sum(weight * side.propositions[key].score for key, weight in weights.items()) / sum(weights.values())


def _ended(
    row: BaselineRow, score: DimensionScore, then: Baseline | None, before: DimensionBaseline | None, now: Baseline
) -> BaselineRow | None:
    """The row where no scores can be held against each other, with the reason; ``None`` where they can."""
    broken = [item for item in score.items if item.status in _UNFINISHED]
    if broken:
        detail = f"{len(broken)} of {len(score.items)} were not judged: {broken[0].detail}"
        return replace(row, outcome=RegressionOutcome.ERROR, detail=detail)
    if then is None or before is None:
        if score.score is None:
            return replace(row, outcome=RegressionOutcome.NOT_SCORED, detail=score.reason)
        missing = "the agent has no baseline" if then is None else "the agent's baseline lacks this dimension"
        return replace(row, outcome=RegressionOutcome.NEW, detail=missing)
    if unlike := list(differences(then, now)):
        return replace(row, outcome=RegressionOutcome.INCOMPARABLE, detail="; ".join(unlike))
    if score.score is None:
        return replace(row, outcome=RegressionOutcome.LOST, detail=score.reason)
    return None


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
    means = {key: each.score for key, each in proposition_baselines(items).items()}
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
        mark_words=lowest.mark_words,
    )


_MOST_LISTED = 3
NOTHING_COMPARED = "No score was compared with a baseline, and --require-baseline asks for one."


def row_words(row: BaselineRow, max_drop: float) -> str:
    """A row in one sentence: agent, dimension, score, baseline, and what that means."""
    who = f"{row.agent_name}, {LABELS[row.dimension]}"
    now, then = (_score(each) for each in (row.score, row.baseline))
    meanings = {
        RegressionOutcome.FINE: f"{now}, baseline {then}",
        RegressionOutcome.REGRESSION: f"{now}, baseline {then}: {_fall_words(row, max_drop)}",
        RegressionOutcome.LOST: f"no score, baseline {then}: {row.detail}",
        RegressionOutcome.NEW: f"{now}, nothing to compare it with: {row.detail}",
        RegressionOutcome.INCOMPARABLE: f"{now}, baseline {then}, not comparable: {row.detail}",
        RegressionOutcome.NOT_SCORED: f"not scored: {row.detail}",
        RegressionOutcome.ERROR: f"the judge failed: {row.detail}",
    }
    return f"{who}: {meanings[row.outcome]}"


def _fall_words(row: BaselineRow, max_drop: float) -> str:
    found = []
    if row.whole is None or row.whole.is_regression(max_drop):
        found.append(f"it fell by {-(row.change or 0.0):.2f}, which is more than {max_drop:g}")
    if row.fallen:
        listed = ", ".join(f"{one.name} {one.baseline:.2f} -> {one.score:.2f}" for one in row.fallen[:_MOST_LISTED])
        more = f" and {len(row.fallen) - _MOST_LISTED} more" if len(row.fallen) > _MOST_LISTED else ""
        found.append(f"{counted(len(row.fallen), 'proposition')} fell too far: {listed}{more}")
    return "; ".join(found)


def _score(score: float | None) -> str:
    return "no score" if score is None else f"{score:.2f}"
