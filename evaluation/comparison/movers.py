"""What moved a score between two iterations: reasons and players whose share of lost points changed most.

A percent score loses a point for every part of its weight that does not count. Those losses add up over reasons, and
over players, so each one's change is its part in the change of the score over all messages taken together (which is
close to, but not, the change of the mean over games).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT

if TYPE_CHECKING:
    import pandas as pd

MOST = 12
_EXAMPLES = 3
_SMALLEST = 0.05
_MOST_NAMES = 200
_QUOTED = re.compile(r'"[^"]*"(?:(?:, | and )"[^"]*")*')
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b")


@dataclass(frozen=True, slots=True)
class Example:
    """A ledger row behind a mover; ``message_id`` is ``None`` when it is about a player or phrase.

    Attributes:
        text: The message, as it was written; empty where there is none.
    """

    transcript_id: str
    game_id: str
    message_id: str | None
    player: str
    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mover:
    """A reason or a player with its part in a metric's change.

    Attributes:
        kind: ``reason`` or ``player``.
        label: The reason with names, quotations and numbers left out, or the player's name: text of strangers.
        before: Points (of 100) that the metric lost by it before.
        after: The same after.
        before_rows: How many rows lost points by it before.
        after_rows: The same after.
        examples: Rows of the side on which it cost more.
    """

    metric: str
    kind: str
    label: str
    before: float
    after: float
    before_rows: int
    after_rows: int
    examples: tuple[Example, ...]

    @property
    def change(self) -> float:
        """What it did to the score, in points: above zero the score rose by it."""
        return self.before - self.after


def biggest_movers(rows: pd.DataFrame, *, most: int = MOST) -> tuple[Mover, ...]:
    """The reasons and players that changed the percent metrics most, the largest change first.

    Args:
        rows: One per ledger row with weight: ``is_after`` (bool), ``transcript_id``, ``game_id``, ``metric``,
            ``player``, ``message_id`` (both may be empty), ``numerator``, ``denominator``, ``reason``.
        most: How many of reasons and of players together.
    """
    wanted = [name for name, definition in DEFINITIONS.items() if definition.scale == PERCENT]
    kept = rows[rows["metric"].isin(wanted) & (rows["denominator"] > 0)].copy()
    if kept.empty:
        return ()
    totals = kept.groupby(["metric", "is_after"])["denominator"].transform("sum")
    kept["lost"] = 100.0 * (kept["denominator"] - kept["numerator"]) / totals
    losing = kept[kept["lost"] > 0].copy()
    losing["pattern"] = _patterns(losing["reason"], losing["player"].dropna().unique())
    found = [*_movers(losing, "reason", "pattern"), *_movers(losing[losing["player"].notna()], "player", "player")]
    sides = kept.groupby("metric")["is_after"].nunique()
    # Where one side has no rows at all there is nothing to compare.
    real = [one for one in found if sides[one.metric] == 2 and abs(one.change) >= _SMALLEST]
    return tuple(sorted(real, key=lambda one: -abs(one.change))[:most])


def _movers(losing: pd.DataFrame, kind: str, column: str) -> Iterator[Mover]:
    for (metric, label), group in losing.groupby(["metric", column], sort=False):
        after, before = group[group["is_after"]], group[~group["is_after"]]
        lost_after, lost_before = float(after["lost"].sum()), float(before["lost"].sum())
        worse = after if lost_after > lost_before else before
        yield Mover(
            str(metric),
            kind,
            str(label),
            lost_before,
            lost_after,
            len(before),
            len(after),
            tuple(_examples(worse)),
        )


def _examples(rows: pd.DataFrame) -> Iterator[Example]:
    ranked = rows.sort_values("lost", ascending=False, kind="stable")
    # From several games where there are several; else the next of the same.
    again = ranked["transcript_id"].duplicated()
    chosen = ranked.assign(again=again).sort_values("again", kind="stable").head(_EXAMPLES)
    for row in chosen.to_dict("records"):
        message_id, player = row["message_id"], row["player"]
        yield Example(
            str(row["transcript_id"]),
            str(row["game_id"]),
            message_id if isinstance(message_id, str) else None,
            player if isinstance(player, str) else "",
            str(row["reason"]),
        )


def _patterns(reasons: pd.Series[str], names: Iterable[str]) -> pd.Series[str]:
    """Reasons without what is particular to one row, so that equal reasons become one."""
    known = sorted(map(str, names), key=len, reverse=True)[:_MOST_NAMES]
    name = re.compile("|".join(rf"(?<!\w){re.escape(each)}(?!\w)" for each in known if each) or r"(?!)")
    unique = {reason: _pattern(reason, name) for reason in reasons.unique()}
    return reasons.map(unique)


def _pattern(reason: str, name: re.Pattern[str]) -> str:
    without_quotes = _QUOTED.sub("“…”", reason)
    return _NUMBER.sub("N", name.sub("someone", without_quotes))
