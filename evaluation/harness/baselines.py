"""Golden baselines: accepted scores of agents, as JSON files in a repository."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluation.errors import InputError
from evaluation.files.yaml_models import read_model
from evaluation.judging.prompts import PROMPT_VERSION
from evaluation.judging.propositions.proposition import Dimension
from evaluation.judging.propositions.weighted_scores import PropositionScore
from evaluation.persona.results import DimensionScore, PersonaEvaluation

Source = Literal["transcripts", "synthetic"]
"""Whether an agent was judged on what it had said, or on answers to scenario prompts made for the purpose."""

SUFFIX = ".json"
_REMEDY = "Restore the file, or make it again with `dramaturg persona baseline`."
# Enough for any mean of whole numbers, and the same text on every machine.
_DIGITS = 6
_PLAIN_NAME = re.compile(r"[\w-]{1,60}")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DimensionBaseline(_Frozen):
    """One dimension's score, and the mean score of each of its propositions by id."""

    score: float = Field(ge=0)
    propositions: dict[str, float] = Field(default_factory=dict)


class Baseline(_Frozen):
    """The accepted scores of an agent, or of a channel.

    Attributes:
        agent_id: Whose it is.
        source: What was judged.
        models: Who judged; scores of other judges are not compared with these.
        note: For people who open the file.
        sample_size: At most how many messages were judged one by one.
        seed: Chose them.
        dimensions: Only those that had a score.
    """

    format: Literal["dramaturg-baseline"] = "dramaturg-baseline"
    version: Literal[1] = 1
    agent_id: str = Field(min_length=1)
    agent_name: str
    source: Source = "transcripts"
    models: tuple[str, ...]
    note: str = ""
    prompt_version: str
    sample_size: int = Field(ge=1)
    seed: int = Field(ge=0)
    dimensions: dict[Dimension, DimensionBaseline]

    @property
    def key(self) -> tuple[str, Source]:
        """The key that identifies it among baselines."""
        return self.agent_id, self.source

    def with_others_of(self, before: Baseline | None, judged: Collection[Dimension]) -> Baseline:
        """This baseline, with the dimensions of an earlier one that were not judged this time.

        Args:
            before: Of the same agent; what other models judged does not belong in one baseline.
            judged: The dimensions that were.
        """
        if before is None or before.models != self.models:
            return self
        others = {key: each for key, each in before.dimensions.items() if key not in judged}
        found = others | self.dimensions
        return self.model_copy(update={"dimensions": {key: found[key] for key in Dimension if key in found}})


def baseline_of(
    evaluation: PersonaEvaluation, *, sample_size: int, source: Source = "transcripts", note: str = ""
) -> Baseline:
    """The baseline that an evaluation amounts to.

    Args:
        evaluation: What was scored; dimensions without a score are left out.
        sample_size: The limit that the sample was drawn with.
        source: What was judged.
        note: For people who open the file.
    """
    return Baseline(
        agent_id=evaluation.agent.id,
        agent_name=evaluation.agent.display_name,
        source=source,
        models=models_of(evaluation),
        note=note,
        prompt_version=PROMPT_VERSION,
        sample_size=sample_size,
        seed=evaluation.seed,
        dimensions={key: _dimension(each) for key, each in evaluation.dimensions.items() if each.score is not None},
    )


def _dimension(score: DimensionScore) -> DimensionBaseline:
    means = {key: round(mean, _DIGITS) for key, mean in proposition_means(score.items).items()}
    return DimensionBaseline(score=round(score.score or 0.0, _DIGITS), propositions=means)


def models_of(evaluation: PersonaEvaluation) -> tuple[str, ...]:
    """The models that judged, sorted; live, recorded or scripted makes no difference."""
    return tuple(sorted({model for _, model in evaluation.judges}))


def proposition_means(items: Iterable[PropositionScore]) -> dict[str, float]:
    """The mean score of every scored proposition over what it was asked of, by id."""
    scores: dict[str, list[float]] = {}
    for item in items:
        if item.score is not None:
            scores.setdefault(item.proposition.id, []).append(item.score)
    return {key: fmean(each) for key, each in scores.items()}


def read_baselines(folder: Path) -> dict[tuple[str, Source], Baseline]:
    """The baselines in a folder, by agent and source; none when there is no such folder.

    Raises:
        InputError: A file is no baseline, or two are of the same agent; names the file.
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
