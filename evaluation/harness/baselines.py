"""Golden baselines: accepted scores of agents, as JSON files in a repository."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluation.errors import InputError
from evaluation.files.yaml_models import read_model
from evaluation.judging.prompts import PROMPT_VERSION
from evaluation.judging.propositions import Dimension, Proposition
from evaluation.judging.questions import PropositionScore
from evaluation.persona.evaluation import DimensionScore, EvaluationPlan, PersonaEvaluation

Source = Literal["transcripts", "synthetic"]
"""Whether an agent was judged on what it had said, or on answers to scenario prompts made for the purpose."""

SUFFIX = ".json"
_REMEDY = "Restore the file, or make it again with `dramaturg persona baseline`."
# Enough for any mean of whole numbers, and the same text on every machine.
_DIGITS = 6
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
    note: str = "",
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
        note: For people who open the file.
    """
    return Baseline(
        agent_id=evaluation.agent.id,
        agent_name=evaluation.agent.display_name,
        source=source,
        models=models_of(evaluation) or ((judge,) if judge else ()),
        note=note,
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
        score=round(score.score or 0.0, _DIGITS),
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
                score=round(fmean(scores), _DIGITS),
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
    """A name that every file system takes: "michael.json", "channel--sales-floor.json", "michael.synthetic.json"."""
    return f"{file_stem(agent_id)}{'' if source == 'transcripts' else f'.{source}'}{SUFFIX}"


def file_stem(agent_id: str) -> str:
    """An agent's id as part of a file's name; of one that is long or odd the beginning of a hash."""
    stem = agent_id.replace(":", "--")
    if _PLAIN_NAME.fullmatch(stem):
        return stem
    return f"agent-{hashlib.sha256(agent_id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
