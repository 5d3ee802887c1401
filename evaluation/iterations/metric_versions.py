"""Find scores that cannot be compared because different versions of a metric computed them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.text.display import counted, listed

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class VersionMix:
    """A metric whose results among some games are of several versions, or of one that is not today's.

    Attributes:
        metric: Its name.
        games: How many games each version scored, oldest version first.
        today: The version of the definition that would score a game now.
    """

    metric: str
    games: Mapping[str, int]
    today: str

    @property
    def is_mixed(self) -> bool:
        """Whether several versions meet; else all results are of one, which is not today's."""
        return len(self.games) > 1

    @property
    def words(self) -> str:
        """The fault in a sentence or two; the remedy is to evaluate the games again."""
        label = DEFINITIONS[self.metric].label
        by_version = [f"by version {version} in {counted(count, 'game')}" for version, count in self.games.items()]
        said = f"{label} was computed {listed(by_version)}"
        if self.is_mixed:
            return f"{said}: these scores do not compare."
        return f"{said}; today's definition is version {self.today}."


def version_mixes(
    scores: pandas.DataFrame, today: Mapping[str, str], among: Collection[str] | None = None
) -> tuple[VersionMix, ...]:
    """The metrics that need to be evaluated again before their scores can be compared, in the rubric's order.

    Engagement comes from raters, so it is never among them.

    Args:
        scores: One row per transcript and metric: ``transcript_id``, ``metric``, ``version``.
        today: The version under which each metric's results are stored now.
        among: Ids of the transcripts that are compared; ``None`` for all.
    """
    chosen = scores if among is None else scores[scores["transcript_id"].isin(list(among))]
    found: dict[str, dict[str, int]] = {}
    for (metric, version), count in Counter(zip(chosen["metric"], chosen["version"], strict=True)).items():
        found.setdefault(metric, {})[version] = count
    return tuple(
        VersionMix(name, dict(sorted(found[name].items(), key=_age)), today[name])
        for name in DEFINITIONS
        if name in found and name != ENGAGEMENT.name and found[name].keys() != {today[name]}
    )


def _age(version: tuple[str, int]) -> tuple[int, str]:
    # "10" is newer than "9".
    return len(version[0]), version[0]
