"""Reasons and players that lose points: whose share changed most between iterations, and why messages fail.

A percent score loses a point for every part of its weight that does not count. Those losses add up over reasons, and
over players. Every game weighs the same, so the change of each is its part in the change of the mean over games.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import PERCENT
from evaluation.text.display import listed

if TYPE_CHECKING:
    import pandas as pd

_MOST = 6
_EXAMPLES, _OF_A_MOVER = 3, 100
_SMALLEST = 0.05
_MOST_NAMES = 200
_QUOTED = re.compile(r'"[^"]*"(?:(?:, | and )"[^"]*")*')
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b")
_WORDS, _ANY_NUMBER = "certain words", "N"
_MOVED_BY = f", most of all for {_WORDS}"
_ALIKE = r"Most like .+, \S+ of \S+: from \S+ on a player\'s language does not count as their own\."
_USES = rf".+ uses {_WORDS} \S+ times in"
_PLAIN_LABELS = tuple(
    (re.compile(pattern), label)
    for pattern, label in (
        (
            rf"{_ALIKE}.* Described as (.+); the text shows no mark of it\.",
            r"Sounds like another player, and no word fits its description (\1).",
        ),
        (
            rf"{_ALIKE}.* Described as (.+); the text shows it in .+\.",
            r"Sounds like another player, though its words fit its description (\1).",
        ),
        (rf"{_ALIKE}.*", "Sounds like another player."),
        (r"The record shows .+ voting for .+, not for .+\.", "The record shows another vote than the one named."),
        (rf"{_WORDS} is too vague: (.+)", r"Too vague: \1"),
        (rf"{_USES} one message; .+", "Repeats a phrase within one message; only the first use counts."),
        (
            rf"{_USES} .+, which sounds repetitive; .+",
            "Repeats a phrase until it sounds repetitive; only the first use counts.",
        ),
        (rf"{_USES} .+", "Repeats a phrase in several messages; only the first use counts."),
        (
            r"someone (.+?)(?:(?:,| and) \1)*; that (does not fit|fits) a (\w+) player\.",
            r"A \3 player \1; that \2 the side.",
        ),
        (rf"Shares only {_WORDS}(?:, no keyword,)? (with the 3 messages .+)\.", r"Shares too few keywords \1."),
    )
)
"""For reasons of the rubric's own metrics that say little once names and numbers are out: their plain label."""


@dataclass(frozen=True, slots=True)
class Example:
    """A ledger row behind a mover; ``message_id`` is ``None`` when it is about a player or phrase.

    Attributes:
        text: The message, as it was written; empty where there is none.
    """

    transcript_id: str
    game: str
    message_id: str | None
    player: str
    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mover:
    """A reason or a player with its part in a metric's change.

    Attributes:
        kind: ``reason`` or ``player``.
        label: The reason with names, quotations and differing numbers left out, or the player's name: untrusted text.
        before: Points (of 100) that the metric lost by it before.
        after: The same after.
        before_rows: How many rows lost points by it before.
        after_rows: The same after.
        examples: Rows of the side on which it cost more, at most 100.
        beside: Rows of the other side, at most 100.
    """

    metric: str
    kind: str
    label: str
    before: float
    after: float
    before_rows: int
    after_rows: int
    examples: tuple[Example, ...]
    beside: tuple[Example, ...] = ()

    @property
    def sides(self) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
        """The examples before and after."""
        return (self.beside, self.examples) if self.after > self.before else (self.examples, self.beside)

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of rows before and after."""
        return self.before_rows, self.after_rows

    @property
    def change(self) -> float:
        """The effect on the score, in points: above zero the score rose by it."""
        return self.before - self.after


def biggest_movers(rows: pd.DataFrame, scored: Mapping[str, tuple[int, int]]) -> tuple[Mover, ...]:
    """The reasons and players that changed the percent metrics most, the largest change first: six of each that raised
    and that lowered them, and the first of each metric, so that none that moved is hidden by others.

    Args:
        rows: One per ledger row with weight: ``is_after`` (bool), ``transcript_id``, ``game``, ``metric``,
            ``player``, ``message_id`` (both may be empty), ``numerator``, ``denominator``, ``reason``.
        scored: The number of games with a score before and after, by metric: some have one without a row.
    """
    keys = zip(rows["metric"], rows["is_after"], strict=True)
    kept = _with_losses(rows, [scored.get(metric, (1, 1))[is_after] for metric, is_after in keys])
    if kept.empty:
        return ()
    losing = kept[kept["lost"] > 0].copy()
    losing["pattern"] = reason_patterns(losing["reason"], kept["player"].dropna().unique())
    # Where one side has no rows at all there is nothing to compare.
    sides = kept.groupby("metric")["is_after"].nunique()
    losing = losing[losing["metric"].map(sides) == 2]
    found = _shifts(losing, "reason", "pattern"), _shifts(losing[losing["player"].notna()], "player", "player")
    largest = [one for shifts in map(list, found) for sign in (1, -1) for one in _largest(shifts, sign)]
    largest.sort(key=lambda one: -abs(one.change))
    return tuple(_with_examples(losing, one) for one in largest)


def _largest(shifts: Sequence[Mover], sign: int) -> Iterator[Mover]:
    """The largest of those that raised (1) or lowered (-1) scores, and the first of every other metric."""
    seen: set[str] = set()
    for place, one in enumerate(sorted(shifts, key=lambda one: -sign * one.change)):
        if sign * one.change >= _SMALLEST and (place < _MOST or one.metric not in seen):
            yield one
        seen.add(one.metric)


def _with_losses(rows: pd.DataFrame, games: Sequence[int]) -> pd.DataFrame:
    """The rows of percent metrics with the points of the mean that each is worth (``weight``) and loses (``lost``).

    Args:
        rows: Of the ledgers.
        games: For each row, the number of games over which its metric's mean is.
    """
    wanted = [name for name, definition in DEFINITIONS.items() if definition.scale == PERCENT]
    kept = rows.assign(games=games)[rows["metric"].isin(wanted) & (rows["denominator"] > 0)].copy()
    of_game = kept.groupby(["metric", "transcript_id"])["denominator"].transform("sum") * kept["games"]
    kept["weight"] = 100.0 * kept["denominator"] / of_game
    kept["lost"] = 100.0 * (kept["denominator"] - kept["numerator"]) / of_game
    return kept


def _shifts(losing: pd.DataFrame, kind: str, column: str) -> Iterator[Mover]:
    """Every reason or player with its part in the change, still without examples."""
    sums = losing.groupby(["metric", column, "is_after"], sort=False)["lost"].agg(["sum", "size"])
    by_side: dict[tuple[str, str], dict[bool, tuple[float, int]]] = {}
    for (metric, label, is_after), lost, count in zip(sums.index, sums["sum"], sums["size"], strict=True):
        by_side.setdefault((str(metric), str(label)), {})[bool(is_after)] = float(lost), int(count)
    for (metric, label), found in by_side.items():
        (before, before_rows), (after, after_rows) = found.get(False, (0.0, 0)), found.get(True, (0.0, 0))
        yield Mover(metric, kind, label, before, after, before_rows, after_rows, ())


def _with_examples(losing: pd.DataFrame, one: Mover) -> Mover:
    column = "pattern" if one.kind == "reason" else "player"
    rows = losing[(losing["metric"] == one.metric) & (losing[column] == one.label)]
    is_worse = rows["is_after"] == (one.after > one.before)
    worse, other = (tuple(examples_of(side, _OF_A_MOVER)) for side in (rows[is_worse], rows[~is_worse]))
    return replace(one, examples=worse, beside=other)


def examples_of(rows: pd.DataFrame, most: int = _EXAMPLES) -> Iterator[Example]:
    """The rows that lose most (by their column ``lost``), from several games where there are several."""
    ranked = rows.sort_values("lost", ascending=False, kind="stable")
    # From several games where there are several; else the next of the same.
    again = ranked["transcript_id"].duplicated()
    chosen = ranked.assign(again=again).sort_values("again", kind="stable").head(most)
    yield from (example_of(row) for row in chosen.to_dict("records"))


def example_of(row: Mapping[Hashable, Any]) -> Example:
    """A ledger row as an example, without the message's text."""
    message_id, player = row["message_id"], row["player"]
    return Example(
        str(row["transcript_id"]),
        str(row["game"]),
        message_id if isinstance(message_id, str) else None,
        player if isinstance(player, str) else "",
        str(row["reason"]),
    )


def reason_patterns(reasons: pd.Series[str], names: Iterable[str]) -> pd.Series[str]:
    """Reasons without what is particular to one row, as readable sentences, so that equal reasons become one.

    Args:
        reasons: One per row, as the ledger has it.
        names: Of the players, which become "someone". Quotations become "certain words", differing numbers "N".
    """
    known = [re.escape(each) for each in sorted(map(str, names), key=len, reverse=True)[:_MOST_NAMES] if each]
    # Looking back only behind a name lets the search skip all that no name begins with.
    name = re.compile("|".join(rf"{each}(?<!\w{each})(?!\w)" for each in known) or r"(?!)")
    without_quotes = {reason: _QUOTED.sub(_WORDS, reason).replace(_MOVED_BY, "") for reason in reasons.unique()}
    # Names are the slow part, and most reasons are equal but for what they quote.
    texts = {text: name.sub("someone", text) for text in set(without_quotes.values())}
    numbered: dict[str, set[str]] = {}
    for text in texts.values():
        numbered.setdefault(_NUMBER.sub(_ANY_NUMBER, text), set()).add(text)
    # A number that is the same in all of them is part of the reason.
    labels = {
        text: label
        for pattern, same in numbered.items()
        for label in [_plain_label(pattern if len(same) > 1 else next(iter(same)))]
        for text in same
    }
    return reasons.map({reason: labels[texts[text]] for reason, text in without_quotes.items()})


def _plain_label(text: str) -> str:
    for pattern, label in _PLAIN_LABELS:
        if found := pattern.fullmatch(text):
            return found.expand(label)
    return f"{text[:1].upper()}{text[1:]}"


_PLAYERS = 3
_SIDE_WORDS = {"mafia": "Mafia", "town": "Town"}


@dataclass(frozen=True, slots=True)
class LostShare:
    """The points that one side or player costs a metric.

    Attributes:
        name: ``mafia`` or ``town``, or the player's name: untrusted text.
        lost: Points (of 100) that the mean over games loses by it.
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
        """JSON-compatible. Points are of 100, of the mean over games."""
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


def find_losses(
    rows: pd.DataFrame, alignments: Mapping[tuple[str, str], str], scored: Mapping[str, int]
) -> dict[str, Losses]:
    """The lost points of each percent metric, by metric; metrics that lose none are left out.

    Every game weighs the same, so that the points of all players add up to what the mean lacks.

    Args:
        rows: One per ledger row with weight: ``transcript_id``, ``game``, ``metric``, ``player``, ``message_id``
            (both may be empty), ``numerator``, ``denominator``, ``reason``.
        alignments: ``mafia`` or ``town`` by (transcript id, player), where known.
        scored: The number of games with a score, by metric: some have one without a row.
    """
    kept = _with_losses(rows, [scored.get(metric, 1) for metric in rows["metric"]])
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
    sums = rows[rows[column].notna()].groupby(column, sort=False)[["lost", "weight"]].sum()
    return [
        LostShare(str(name), float(lost), 100.0 * (1.0 - float(lost) / float(weight)))
        for name, lost, weight in zip(sums.index, sums["lost"], sums["weight"], strict=True)
    ]


@dataclass(frozen=True, slots=True)
class FailureReason:
    """One reason why rows of a metric lose points. What is counted has the weight of the score: a row, or the uses of
    a phrase.

    Attributes:
        label: The reason with names, quotations and differing numbers left out: untrusted text.
        count: How much of the iteration loses points by it.
        share: The same over all that is judged of the metric, 0 to 1.
        count_before: How much of the reference lost points by it.
        share_before: The same over all that is judged there; ``None`` without a reference or anything judged.
        examples: Three rows of the iteration at most, from several games where there are several.
    """

    metric: str
    label: str
    count: int
    share: float
    count_before: int
    share_before: float | None
    examples: tuple[Example, ...]

    @property
    def change(self) -> float | None:
        """The change of the share since the reference, in points: above zero the reason became more frequent."""
        return None if self.share_before is None else 100.0 * (self.share - self.share_before)


@dataclass(frozen=True, slots=True)
class MetricFailures:
    """The reasons why rows of one metric lose points, the most frequent first.

    Attributes:
        judged: The weight of all rows of the iteration.
        failing: That of those that lose points.
    """

    metric: str
    judged: int
    failing: int
    reasons: tuple[FailureReason, ...]


@dataclass(frozen=True, slots=True)
class IterationFailures:
    """Why messages of an iteration fail.

    Attributes:
        iteration: Its name.
        reference: The name of the iteration that the trend is against; ``None`` without one.
        games: How many games the iteration has.
        metrics: Those with failing rows, in the rubric's order.
    """

    iteration: str
    reference: str | None
    games: int
    metrics: tuple[MetricFailures, ...]


def failure_reasons(rows: pd.DataFrame, *, has_reference: bool, only: str | None = None) -> tuple[MetricFailures, ...]:
    """The reasons of every percent metric of which rows lose points. The order of the rows changes only the examples.

    Args:
        rows: One per ledger row with weight: ``is_after`` (bool, false for the reference's), ``transcript_id``,
            ``game``, ``metric``, ``player``, ``message_id`` (both may be empty), ``numerator``, ``denominator``,
            ``reason``.
        has_reference: Whether there is a reference.
        only: The one metric that is asked for; all when left out.
    """
    names = player_names(rows)
    rows = rows[rows["metric"] == only] if only else rows
    counts = rows.groupby(["metric", "is_after"])["denominator"].sum().to_dict()
    found = []
    for metric, definition in DEFINITIONS.items():
        own = with_patterns(rows[rows["metric"] == metric], names)
        after = int(counts.get((metric, True), 0))
        before = int(counts.get((metric, False), 0)) if has_reference else 0
        failing = int(own.loc[own["is_after"], "denominator"].sum())
        if definition.scale == PERCENT and failing:
            reasons = sorted(_reasons(own, metric, after, before), key=lambda one: (-one.count, one.label))
            found.append(MetricFailures(metric, after, failing, tuple(reasons)))
    return tuple(found)


def player_names(rows: pd.DataFrame) -> list[str]:
    """The players of all rows: reasons of one metric also name players whom only another metric has rows of."""
    return sorted(map(str, rows["player"].dropna().unique()))


def with_patterns(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows that lose points, with what each loses (``lost``) and its reason without names (``pattern``)."""
    losing = rows[rows["numerator"] < rows["denominator"]].copy()
    losing["lost"] = losing["denominator"] - losing["numerator"]
    losing["pattern"] = reason_patterns(losing["reason"], names)
    return losing


def _reasons(losing: pd.DataFrame, metric: str, after: int, before: int) -> Iterator[FailureReason]:
    for label, group in losing.groupby("pattern", sort=True):
        here = group[group["is_after"]]
        if len(here):
            count = int(here["denominator"].sum())
            count_before = int(group["denominator"].sum()) - count
            share_before = count_before / before if before else None
            examples = tuple(examples_of(here))
            yield FailureReason(metric, str(label), count, count / after, count_before, share_before, examples)
