"""Find the side, the players and the messages that cost a metric the most points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evaluation.comparison.movers import Example, examples_of
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT
from evaluation.text.display import listed

if TYPE_CHECKING:
    import pandas as pd

_PLAYERS = 3
_SIDE_WORDS = {"mafia": "Mafia", "town": "Town"}


@dataclass(frozen=True, slots=True)
class LostShare:
    """The points that one side or player costs a metric.

    Attributes:
        name: ``mafia`` or ``town``, or the player's name: untrusted text.
        lost: Points (of 100) that the metric loses by it, over all rows taken together.
        score: What the metric would be on its rows alone, 0 to 100.
    """

    name: str
    lost: float
    score: float


@dataclass(frozen=True, slots=True)
class Losses:
    """The lost points of one metric, over several games.

    Attributes:
        side: The side that scores lower; ``None`` where sides are unknown, or only one of them has rows.
        players: Those who lose most, the most first; at most three.
        examples: Three ledger rows that lose most, from several games where there are several.
    """

    metric: str
    side: LostShare | None
    players: tuple[LostShare, ...]
    examples: tuple[Example, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible. Points are of 100, over all rows of the games."""
        return {
            "side": self.side and asdict(self.side),
            "players": [asdict(one) for one in self.players],
            "examples": [asdict(one) for one in self.examples],
        }

    @property
    def words(self) -> str:
        """One sentence: "Most is lost by Mafia (42 %; 12.3 points), by Ann (8.0 points) and Ben (4.3 points)."."""
        side = f"by {_SIDE_WORDS[self.side.name]}, which reaches {self.side.score:.0f} %," if self.side else ""
        who = listed([f"{one.name} ({one.lost:.1f} points)" for one in self.players])
        parts = [part for part in (side, f"by {who}" if who else "") if part]
        return f"Most is lost {' and '.join(parts).rstrip(',')}." if parts else ""


def find_losses(rows: pd.DataFrame, alignments: Mapping[tuple[str, str], str]) -> dict[str, Losses]:
    """The lost points of each percent metric, by metric; metrics that lose none are left out.

    Args:
        rows: One per ledger row with weight: ``transcript_id``, ``game_id``, ``metric``, ``player``, ``message_id``
            (both may be empty), ``numerator``, ``denominator``, ``reason``.
        alignments: ``mafia`` or ``town`` by (transcript id, player), where known.
    """
    wanted = [name for name, definition in DEFINITIONS.items() if definition.scale == PERCENT]
    kept = rows[rows["metric"].isin(wanted) & (rows["denominator"] > 0)].copy()
    kept["lost"] = kept["denominator"] - kept["numerator"]
    kept["side"] = [
        alignments.get((str(key), str(player)))
        for key, player in zip(kept["transcript_id"], kept["player"], strict=True)
    ]
    found = {str(metric): _losses(str(metric), group) for metric, group in kept.groupby("metric", sort=False)}
    return {metric: losses for metric, losses in found.items() if losses.examples}


def _losses(metric: str, rows: pd.DataFrame) -> Losses:
    sides = _parts(rows, "side")
    side = min(sides, key=lambda one: one.score) if len(sides) > 1 else None
    players = sorted((one for one in _parts(rows, "player") if one.lost > 0), key=lambda one: -one.lost)
    return Losses(metric, side, tuple(players[:_PLAYERS]), tuple(examples_of(rows[rows["lost"] > 0])))


def _parts(rows: pd.DataFrame, column: str) -> list[LostShare]:
    total = rows["denominator"].sum()
    sums = rows[rows[column].notna()].groupby(column, sort=False)[["lost", "denominator"]].sum()
    return [
        LostShare(str(name), 100.0 * float(lost) / total, 100.0 * (1.0 - float(lost) / float(weight)))
        for name, lost, weight in zip(sums.index, sums["lost"], sums["denominator"], strict=True)
    ]
