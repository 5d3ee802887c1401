"""Two iterations side by side: paired games, tests, decision, coverage and movers, and their prompts line by line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, zip_longest
from typing import Any

import numpy as np

from evaluation.comparison.movers import Mover
from evaluation.escaping import cut
from evaluation.iterations.board import Board, IterationSummary, measure_games
from evaluation.iterations.checklist import COST_GOAL_USD
from evaluation.iterations.game_tests import (
    LONGEST_NAME,
    Game,
    KnownMean,
    game_coverage,
    known_mean,
    reserve_words,
    score_controls,
)
from evaluation.iterations.keep_or_revert import Decision, IterationSide
from evaluation.rubric.at_chance import (
    COMPANION_LABELS,
    REPETITION_RATE,
    ControlSummary,
    companion_change,
    not_compared_words,
)
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.verdict import shown_status
from evaluation.score import AT_CHANCE, Status
from evaluation.statistics.comparison import Comparison, Difference, Measure, Outcome, compare
from evaluation.statistics.intervals import difference_interval
from evaluation.statistics.significance import LEVEL
from evaluation.statistics.words import (
    difference_data,
    evidence_words,
    more_games,
    more_words,
    needed_words,
    needs_many,
    value_words,
)
from evaluation.text.display import cost_text, fixed, json_data, listed
from evaluation.validity import trust_words


@dataclass(frozen=True)
class IterationComparison:
    """The changes from one iteration to another.

    Attributes:
        subject: Name of the one that the decision is about.
        comparison: Every metric's difference, in the rubric's order. Against its reference, the target of a change is
            the primary one where it was named; the others are adjusted together.
        decision: Keep or revert of ``subject``: of the one that is decided against the other, else of the later of the
            two against *its* reference; ``None`` when it has none.
        other_pair: Says so when that reference is not the other one of the two; else empty.
        decision_words: What stands beside the decision, see :meth:`~evaluation.iterations.board.Board.decision_words`.
        pairs: Ids of games that share a scenario or seed.
        movers: What moved the scores most, the largest first.
    """

    before: IterationSide
    after: IterationSide
    subject: str
    comparison: Comparison
    decision: Decision | None
    other_pair: str
    decision_words: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    movers: tuple[Mover, ...]

    def without(self, metric: str) -> IterationComparison:
        """The comparison for somebody who must not see a metric: neither its difference nor what is said of it.

        The reasons of the rule count the metrics that passed, so they tell of it, too.
        """
        return replace(
            self,
            comparison={name: one for name, one in self.comparison.items() if name != metric},
            decision_words=(),
            movers=tuple(one for one in self.movers if one.metric != metric),
        )

    @property
    def regressions(self) -> tuple[str, ...]:
        """The reasons why a gate on the change fails, one sentence each; empty where it passes.

        A game of the later side that failed critically; the named target, or a metric that passed before, that fell
        beyond luck. What could be luck fails nothing.
        """
        critical = [failure.words for failure in self.after.failures if failure.is_critical]
        fell = [
            f"{DEFINITIONS[one.name].label}{', the target,' * one.is_primary} fell beyond luck: "
            f"{value_words(one.before.mean, one.unit)} to {value_words(one.after.mean, one.unit)}."
            for one in self.comparison.values()
            if one.outcome is Outcome.WORSE and (one.is_primary or shown_status(self.before.means[one.name]) in _PASSES)
        ]
        return (*critical, *fell)

    @property
    def reserve(self) -> str:
        """The games that repeat others or are not alike, see ``reserve_words``; empty where there are none."""
        return reserve_words(self.before.games, self.after.games)

    @property
    def at_chance_words(self) -> str:
        """The metrics that a gate on the change cannot tell anything of; empty where there are none."""
        names = [DEFINITIONS[one.name].label for one in self.comparison.values() if one.outcome is Outcome.AT_CHANCE]
        return f"{AT_CHANCE.capitalize()}: {listed(names)}." if names else ""

    @property
    def prices(self) -> tuple[KnownMean, KnownMean]:
        """The mean cost of a game before and after, each over its games with a known cost."""
        before, after = (known_mean(side.games, lambda game: game.total_usd) for side in (self.before, self.after))
        return before, after

    @property
    def price_words(self) -> str:
        """Costs of a game: "1.75 USD a game of Prompt v4 and 1.42 USD a game of Prompt v5 (recorded for 1 of 3
        games)"."""
        sides = zip((self.before, self.after), self.prices, strict=True)
        return " and ".join(
            f"{cost_text(price.mean)} a game of {cut(side.name, LONGEST_NAME)}{price.partly}" for side, price in sides
        )

    @property
    def cost_words(self) -> str:
        """The mean cost of a game before and after: "1.75 to 2.15 USD a game, above the goal of 2 USD".

        Says so where the difference could be luck. Empty where no cost of a side is known.
        """
        before, after = self.prices
        if before.mean is None or after.mean is None:
            return ""
        old, new = (
            [game.total_usd for game in side.games if game.total_usd is not None] for side in (self.before, self.after)
        )
        outcome = compare({"cost": Measure(old, new)}, primary="cost")["cost"].outcome
        first, last = cost_text(before.mean), cost_text(after.mean)
        rise = f"{first.removesuffix(' USD')} to " if first != last else ""
        luck = ", could be luck" if rise and not outcome.is_beyond_luck else ""
        goal = f", above the goal of {COST_GOAL_USD:g} USD" if self.is_dear else ""
        return f"{rise}{last} a game{luck}{goal}"

    @property
    def is_dear(self) -> bool:
        """Whether a game of the later side costs as much as the goal, or more."""
        return (self.prices[1].mean or 0.0) >= COST_GOAL_USD

    def more_usd(self, one: Difference) -> float | None:
        """Price of the further games, each side at its own mean; ``None`` while that of one is unknown."""
        sides = [(more, price.mean) for more, price in zip(more_games(one), self.prices, strict=True) if more]
        known = [more * price for more, price in sides if price is not None]
        return sum(known) if sides and len(known) == len(sides) else None

    @property
    def games_needed(self) -> tuple[str, ...]:
        """The games that would show each difference that could be luck, if it is as large as seen, and their price.

        Such as "Strategic depth: 5 more on each side, 8 in all, about 17.55 USD".
        """
        told = []
        for one in self.comparison.values():
            if one.outcome is Outcome.NO_EVIDENCE and (needed := needed_words(one)):
                usd = None if needs_many(one) else self.more_usd(one)
                more = f"{needed} on each side" if needs_many(one) else f"{more_words(one)}, {needed} in all"
                price = "" if usd is None else f", about {cost_text(usd)}"
                told.append(f"{DEFINITIONS[one.name].label}: {more}{price}")
        return tuple(told)

    @property
    def evidence(self) -> str:
        """Whether the later side is shown to be better, see ``evidence_words``: untrusted text.

        Games whose scores are not compared with chance yet are counted behind it.
        """
        labels = {name: definition.label for name, definition in DEFINITIONS.items()}
        words = evidence_words(self.comparison.values(), labels, cut(self.before.iteration.name, LONGEST_NAME))
        pending = sum(max(side.pending for side in sides) for sides in zip(*self.controls.values(), strict=True))
        return f"{words}." + (f" {not_compared_words(pending)}" if pending else "")

    @property
    def names(self) -> tuple[str, str]:
        """The names of both sides, the reference first, cut for tables; their roles where that makes them alike."""
        before, after = (cut(side.iteration.name, _SHORT_NAME) for side in (self.before, self.after))
        return (before, after) if before != after else ("reference", "iteration")

    @cached_property
    def controls(self) -> dict[str, tuple[ControlSummary, ControlSummary]]:
        """The controls of every metric, before and after."""
        sides = self.before.games, self.after.games
        return {name: (score_controls(name, sides[0]), score_controls(name, sides[1])) for name in DEFINITIONS}

    def companion_words(self, metric: str) -> str:
        """The mean companion of both sides: "voice distance 0.5 to 0.8"; empty where a side has none.

        Where it fell, and the 95 % interval of the change lies below 0: "▼ voice distance fell beyond luck, 6.4 to
        0.8". Of repetition within 500 words less is better, and the test of its metric looks at it.
        """
        before, after = self.controls[metric]
        words = companion_change(before, after)
        high = difference_interval(after.values, before.values).high
        if not words or after.companion == REPETITION_RATE or high is None or high >= 0:
            return words
        name = COMPANION_LABELS[str(after.companion)]
        return words.replace(name, f"{_FELL}{name} fell beyond luck,", 1)

    @property
    def primary(self) -> str | None:
        """The metric that is tested alone, if any."""
        return next((name for name, one in self.comparison.items() if one.is_primary), None)

    @cached_property
    def fallen_companions(self) -> dict[str, str]:
        """By metric the words of the companions that fell beyond luck where the scores beside them do not show it."""
        unseen = [name for name, one in self.comparison.items() if one.outcome is not Outcome.WORSE]
        return {name: words for name in unseen if (words := self.companion_words(name)).startswith(_FELL)}

    @property
    def trust_rows(self) -> list[dict[str, str]]:
        """Rows ``Metric``, ``Trust``, ``Before``, ``After``: trust in the metric, coverage of the scores, chance."""
        rows: list[dict[str, str]] = []
        for name, controls in self.controls.items():
            coverage = (game_coverage(name, side.games) for side in (self.before, self.after))
            before, after = (
                "; ".join(filter(None, (rests.words if rests else "", control.words)))
                for rests, control in zip(coverage, controls, strict=True)
            )
            if before or after:
                label, trust = DEFINITIONS[name].label, trust_words(name)
                rows.append({"Metric": label, "Trust": trust, "Before": before, "After": after})
        return rows


_FELL = "▼ "
_SHORT_NAME = 24
_PASSES = (Status.PASSED, f"{Status.PASSED}_low_evidence")


def _later(one: IterationSummary, other: IterationSummary) -> IterationSummary:
    """The one that is decided against the other, else the one that stands later."""
    for subject, against in ((one, other), (other, one)):
        if subject.decision is not None and subject.decision.reference == against.iteration.name:
            return subject
    return max(one, other, key=lambda summary: summary.iteration.position)


def compare_iterations(
    board: Board,
    before: str,
    after: str,
    pairs: Sequence[tuple[str, str]] = (),
    movers: Sequence[Mover] = (),
) -> IterationComparison:
    """Compares two iterations of a board; a game is the unit of sampling.

    Args:
        board: Both are on it; the decision is the board's.
        before: Name of the control.
        after: Name of the treatment.
        pairs: Ids of games that share a scenario or seed, before and after.
        movers: What moved the scores, see :func:`~evaluation.comparison.movers.biggest_movers`.
    """
    control, treatment = board[before], board[after]
    first, second = (
        IterationSide(one.iteration, one.games, {name: mean.threshold for name, mean in one.means.items()})
        for one in (control, treatment)
    )
    later = _later(control, treatment)
    measures = {name: measure_games(name, first.games, second.games, pairs) for name in DEFINITIONS}
    decision, later_name = later.decision, later.iteration.name
    # What a change is to raise was named for the step from its reference, not for any other.
    is_other_step = decision is not None and (before, after) != (decision.reference, later_name)
    comparison = compare(measures, primary=None if is_other_step else later.iteration.tested_alone)
    if decision is None:
        return IterationComparison(first, second, later_name, comparison, None, "", (), tuple(pairs), tuple(movers))
    other = f"It is about {later_name} against its reference, {decision.reference}." if is_other_step else ""
    words = board.decision_words(later_name)
    return IterationComparison(
        first, second, later_name, comparison, decision, other, words, tuple(pairs), tuple(movers)
    )


_MUCH = 1.5


def length_words(one: Difference) -> str:
    """The mean words a message of both sides: "Words a message: 25.8 to 3.1, beyond luck."; empty without messages.

    Where one side has half as many again, it says that the length alone can move scores.
    """
    if not (one.before.n and one.after.n):
        return ""
    luck = "beyond luck" if one.outcome.is_beyond_luck else one.words
    words = f"Words a message: {fixed(one.before.mean)} to {fixed(one.after.mean)}, {luck}."
    return f"{words} Length alone can move scores." if changed_much(one) else words


def changed_much(one: Difference) -> bool:
    """Whether messages of one side have half as many words again as those of the other."""
    low, high = sorted((one.before.mean, one.after.mean))
    return high > _MUCH * low


PairKey = tuple[str | None, str | None]
"""Scenario and seed; ``None`` where a game's metadata do not say."""


def pair_key(metadata: Mapping[str, Any]) -> PairKey | None:
    """Scenario and seed of a game, as its metadata say; ``None`` when they say neither.

    Only plain values are keys: text, whole numbers and the like, compared as text.
    """
    key = _text(metadata.get("scenario")), _text(metadata.get("seed"))
    return key if any(part is not None for part in key) else None


def paired_games(before: Mapping[str, PairKey | None], after: Mapping[str, PairKey | None]) -> list[tuple[str, str]]:
    """Ids of games that share a scenario or seed, in the order of ``before``; each game is in one pair at most.

    Games that share both find each other first, then those of one scenario, whatever their seeds: they meet the same
    situation. Last come those of one seed, but never of two different scenarios: there the seed draws other things, and
    the games have nothing in common. What is not known is like nothing. Within each of the three, the first of one side
    goes with the first of the other.
    """
    pairs: dict[str, str] = {}
    for part in _PARTS:
        taken = set(pairs.values())
        waiting: dict[str | PairKey, list[tuple[str, PairKey]]] = {}
        for other, key in after.items():
            if key is not None and other not in taken and (shared := part(key)) is not None:
                waiting.setdefault(shared, []).append((other, key))
        for one, key in before.items():
            if key is None or one in pairs or (shared := part(key)) is None:
                continue
            found = next((held for held in waiting.get(shared, ()) if not _differ(key, held[1])), None)
            if found is not None:
                pairs[one] = found[0]
                waiting[shared].remove(found)
    return [(one, pairs[one]) for one in before if one in pairs]


_PARTS: tuple[Callable[[PairKey], str | PairKey | None], ...] = (
    lambda key: None if None in key else key,
    lambda key: key[0],
    lambda key: key[1],
)


def _differ(one: PairKey, other: PairKey) -> bool:
    """Whether the scenarios of both are known, and not the same."""
    return one[0] is not None and other[0] is not None and one[0] != other[0]


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int | float) and value != "" else None


def typical_pair(
    before: Sequence[Game], after: Sequence[Game], alike: Sequence[tuple[str, str]] = ()
) -> tuple[str, str] | None:
    """The ids of a game of each side, those whose scores differ most nearly as the means of the two sides do.

    How far a pair is from that counts as a share of each metric's scale, over the metrics that both games have. The
    first of equal pairs is taken.

    Args:
        before: The games of the earlier side.
        after: Those of the later one.
        alike: Pairs of one scenario or seed, before and after; where there are any, one of these is taken.

    Returns:
        ``None`` when no two games share a metric with a score.
    """
    apart = _distances(before, after)
    if alike:
        is_alike = np.zeros(apart.shape, dtype=bool)
        old, new = ({game.transcript_id: place for place, game in enumerate(side)} for side in (before, after))
        for one, other in alike:
            is_alike[old[one], new[other]] = True
        apart = np.where(is_alike, apart, np.nan)
    if np.isnan(apart).all():
        return None
    row, column = np.unravel_index(np.nanargmin(apart), apart.shape)
    return before[int(row)].transcript_id, after[int(column)].transcript_id


def _distances(before: Sequence[Game], after: Sequence[Game]) -> np.ndarray:
    """The distance of each pair's differences from those of the sides' means; NaN where two share no metric."""
    total = np.zeros((len(before), len(after)))
    shared = np.zeros((len(before), len(after)))
    for name, definition in DEFINITIONS.items():
        old, new = (np.array([game.score(name) for game in side], dtype=float) for side in (before, after))
        known = ~np.isnan(old)[:, None] & ~np.isnan(new)[None, :]
        if known.any():
            mean = np.nanmean(new) - np.nanmean(old)
            total += np.where(known, np.abs(new[None, :] - old[:, None] - mean) / definition.scale.width, 0.0)
            shared += known
    apart: np.ndarray = np.divide(total, shared, out=np.full(total.shape, np.nan), where=shared > 0)
    return apart


def comparison_data(found: IterationComparison) -> dict[str, Any]:
    """Both sides, the decision on the later one, every metric's difference with its words, and its causes."""
    controls, (first, last) = found.controls, found.prices
    return {
        "before": _side(found.before, first),
        "after": _side(found.after, last),
        "decision": found.decision and found.decision.as_dict(),
        "decision_is_about": found.other_pair,
        "decision_words": list(found.decision_words),
        "evidence": found.evidence,
        "reserve": found.reserve,
        "regressions": list(found.regressions),
        "trust": found.trust_rows,
        "level": LEVEL,
        "metrics": [
            difference_data(one)
            | {"label": DEFINITIONS[one.name].label}
            | {"control": dict(zip(("before", "after"), (side.as_dict() for side in controls[one.name]), strict=True))}
            for one in found.comparison.values()
        ],
        "pairs": [{"before": one, "after": other} for one, other in found.pairs],
        "movers": [json_data(one) | {"change": one.change} for one in found.movers],
    }


def _side(side: IterationSide, price: KnownMean) -> dict[str, Any]:
    games = [game.transcript_id for game in side.games]
    return {"iteration": side.iteration.name, "games": games, "mean_cost_usd": price.mean}


MOST_LINES = 1000
"""Matching lines takes time that grows with their square; longer prompts are compared up to here."""

_CONTEXT = 2
_LONGEST_LINE = 5000
_WORD = re.compile(r"\w+|\W")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference.

    Attributes:
        text: The line behind "- " where it went, "+ " where it came, two blanks where it stayed; "..." for a gap.
        marks: Begin and end in ``text`` of what is not in the line that stands in its place.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def prompt_diff(before: str, after: str) -> list[DiffLine]:
    """The changed lines, those that went before those that came, with two lines around them.

    Empty when both are the same. Between distant changes stands a line of three dots.
    """
    old, new = before.splitlines()[:MOST_LINES], after.splitlines()[:MOST_LINES]
    # The first two lines of a unified diff name the files.
    changed = list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT))[2:]
    lines: list[DiffLine] = []
    for is_change, group in groupby(changed[1:] if changed else [], key=lambda line: line[:1] in "+-"):
        if is_change:
            held = list(group)
            lines += _changes(
                [line[1:] for line in held if line[0] == "-"], [line[1:] for line in held if line[0] == "+"]
            )
        else:
            lines += [DiffLine("..." if line.startswith("@@") else f"  {line[1:]}") for line in group]
    return lines


def _changes(gone: Sequence[str], come: Sequence[str]) -> list[DiffLine]:
    """Lines that went and came in one place; the first of each stand for one another, and so on."""
    pairs = list(zip_longest(gone, come))
    marked = [_marks(old, new) if old is not None and new is not None else ((), ()) for old, new in pairs]
    before = [DiffLine(f"- {old}", marks[0]) for (old, _), marks in zip(pairs, marked, strict=True) if old is not None]
    after = [DiffLine(f"+ {new}", marks[1]) for (_, new), marks in zip(pairs, marked, strict=True) if new is not None]
    return [*before, *after]


def _marks(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    if max(len(old), len(new)) > _LONGEST_LINE:
        return (), ()
    words = [_WORD.findall(line) for line in (old, new)]
    matcher = difflib.SequenceMatcher(None, words[0], words[1], autojunk=False)
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return tuple(_spans(words[0], [code[1:3] for code in codes])), tuple(
        _spans(words[1], [code[3:5] for code in codes])
    )


def _spans(words: Sequence[str], ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Begin and end in a line, behind its two signs, of each range of words."""
    for first, last in ranges:
        if first < last:
            begin = 2 + sum(map(len, words[:first]))
            yield begin, begin + sum(map(len, words[first:last]))


def is_cut(before: str, after: str) -> bool:
    """Whether one of the two has more lines than are compared."""
    return max(len(before.splitlines()), len(after.splitlines())) > MOST_LINES
