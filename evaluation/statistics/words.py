"""A difference as sentences: the values, whether they show anything, and the number of games needed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluation.statistics.comparison import DOUBTED, Difference, Outcome, Paired, Summary
from evaluation.statistics.intervals import ALL_EQUAL, NO_SPREAD, Interval
from evaluation.statistics.significance import LEVEL, smallest_p
from evaluation.text.display import counted, fixed, half_up, json_data, listed


def evidence_words(differences: Iterable[Difference], labels: Mapping[str, str], against: str) -> str:
    """Tell whether a side is shown to be better: "Better than v2 on Depth (+7.5 points), beyond luck".

    Where the measure that is tested alone shows no such change, its own words follow: "Not shown to be better or worse
    than v2. Depth +7.5 points, could be luck". All outcomes stand beside their measures.

    Args:
        differences: What was tested.
        labels: What each measure is called.
        against: The name of the other side, untrusted text.
    """
    tested = list(differences)
    moved = {
        word: listed([f"{labels[one.name]} ({change_of(one)})" for one in tested if one.outcome is outcome])
        for word, outcome in (("better", Outcome.BETTER), ("worse", Outcome.WORSE))
    }
    told = [
        f"{word}{f' than {against}' if word == 'better' or not moved['better'] else ''} on {names}"
        for word, names in moved.items()
        if names
    ]
    shown = f"{', '.join(told)}, beyond luck" if told else f"not shown to be better or worse than {against}"
    alone = next((one for one in tested if one.is_primary and not math.isnan(one.difference)), None)
    is_told = alone is None or alone.outcome.is_beyond_luck
    beside = "" if alone is None or is_told else f"{labels[alone.name]} {change_of(alone)}, {alone.words}"
    return ". ".join(filter(None, (f"{shown[0].upper()}{shown[1:]}", beside)))


def outcome_counts(told: Sequence[str], outcomes: Iterable[str]) -> str:
    """Words on some differences, then the outcomes of the others, counted: "6 could be luck, 2 cannot be tested"."""
    others = Counter(outcomes)
    said = ", ".join(f"{count} {words}" for words, count in others.items())
    if len(others) == 1 and told:
        said = f"the other {said.removeprefix('1 ')}"
    elif len(others) == 1 < others.total():
        said = f"all {said}"
    elif others and told:
        said = f"of the other {others.total()}, {said}"
    return "; ".join(filter(None, (*told, said)))


def sizes_words(after: int, before: int) -> str:
    """Number of games on each side of a comparison: "3 games against 2"."""
    return f"{counted(after, 'game')} against {before}"


def direction_of(one: Difference) -> int:
    """1 for a mean that is shown as higher than before, -1 for a lower one, 0 for the same or none."""
    if math.isnan(one.difference):
        return 0
    before, after = half_up(one.before.mean, 1), half_up(one.after.mean, 1)
    return (after > before) - (after < before)


def directions_words(differences: Iterable[Difference], after: int, before: int) -> str:
    """Number of games, and of means that rose and fell: "3 games against 3: 4 higher, 1 lower, 1 beyond luck".

    What is no better than scrambled copies is neither: "; 2 at chance".
    """
    tested = list(differences)
    directions = Counter(direction_of(one) for one in tested if one.outcome is not Outcome.AT_CHANCE)
    chance = sum(one.outcome is Outcome.AT_CHANCE for one in tested)
    beyond = sum(one.outcome.is_beyond_luck for one in tested) or "none"
    higher = f"{directions[1]} higher, {directions[-1]} lower"
    told = f"{sizes_words(after, before)}: {higher}, {beyond} beyond luck"
    return f"{told}; {chance} at chance" if chance else told


def difference_sentences(difference: Difference) -> list[str]:
    """Sentences on one metric's difference, the most important first."""
    return [
        *_seen(difference),
        *_verdict(difference),
        *_by_length(difference),
        *_equal_side(difference),
        *_power(difference),
        *_pairs(difference.paired, difference.unit),
    ]


def difference_data(one: Difference) -> dict[str, Any]:
    """A difference for JSON: everything by the names of its fields, the outcome, and the sentences about it."""
    return {**json_data(one), "words": difference_sentences(one)}


def stricter_words(alone: str) -> str:
    """The reason why sides that lie apart may differ by luck, for a page that draws their games.

    Of all ways to put six games into two sides of three, 2 of 20 keep the three lowest together.

    Args:
        alone: The measure that is tested by itself, the beginning of a sentence; empty for none.
    """
    others = f"{alone} is tested alone; the others" if alone else "Each of them"
    return (
        "Sides that do not overlap prove little: 3 games against 3 lie apart by luck one time in ten; what is beyond "
        f"luck must be rarer than one in twenty. {others} must differ more, because one of several may look good by "
        "chance."
    )


def value_words(value: float, unit: str) -> str:
    """A value with its unit: "61.2 %", "3.5", or "no score"."""
    return "no score" if math.isnan(value) else fixed(value) + (f" {unit}" if unit else "")


def change_words(before: float, after: float, unit: str) -> str:
    """A difference with its sign, "+5.9 points", "\u22120.4", of both as they are shown: 93.9 to 3.4 is \u221290.5."""
    value = half_up(after, 1) - half_up(before, 1)
    return "no difference known" if math.isnan(value) else fixed(value, signed=True) + _points(unit)


def change_of(one: Difference, unit: str | None = None) -> str:
    """:func:`change_words` of the means of a difference, in its own unit unless another is given."""
    after = math.nan if math.isnan(one.difference) else one.after.mean
    return change_words(one.before.mean, after, one.unit if unit is None else unit)


def interval_words(interval: Interval, digits: int = 1, *, signed: bool = False) -> str:
    """An interval, "\u22128.1 to +19.9", or the reason why there is none."""
    if interval.low is None or interval.high is None:
        return interval.note or "no interval"
    low, high = (fixed(end, digits, signed=signed) for end in (interval.low, interval.high))
    return f"{low} to {high}"


def _level(interval: Interval) -> str:
    return f"{100 * interval.level:.1f}".removesuffix(".0") + " %"


def percent_interval(interval: Interval) -> str:
    """An interval of a share in percent, "7 to 59 %", or the reason why there is none."""
    if interval.low is None or interval.high is None:
        return interval.note
    return f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %"


def p_words(p: float) -> str:
    """A p-value to three digits: "0.049", "<0.001", or "none"."""
    if math.isnan(p):
        return "none"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def paired_p_words(paired: Paired | None) -> str:
    """The sign-flip p of a table's cell: "0.250", "0.012 (drawn)" where it is not exact, empty without pairs."""
    if paired is None:
        return ""
    return p_words(paired.sign_flip.p) + ("" if paired.is_exact else " (drawn)")


def _points(unit: str) -> str:
    return " points" if unit == "%" else f" {unit}" if unit else ""


def _seen(one: Difference) -> Iterator[str]:
    before, after = (
        f"{value_words(side.mean, one.unit)} ({counted(side.n, 'game')})" for side in (one.before, one.after)
    )
    if math.isnan(one.difference):
        yield f"From {before} to {after}."
    else:
        # At the level that decided, so that it agrees with the verdict.
        decided = one.deciding_interval
        interval = f", {_level(decided)} interval {interval_words(decided, signed=True)}" if decided.is_known else ""
        yield f"From {before} to {after}: {change_of(one)}{interval}."


def _verdict(one: Difference) -> Iterator[str]:
    words = f"rests {one.words}" if one.outcome in (Outcome.LOW_EVIDENCE, Outcome.ON_REPEATS) else one.words
    verdict = f"{words.capitalize()}{', so nothing is concluded' * (one.outcome in DOUBTED)}."
    if one.outcome is Outcome.AT_CHANCE:
        yield verdict
    elif one.outcome is not Outcome.UNTESTABLE and one.is_primary:
        yield f"{verdict} Welch p {p_words(one.welch.p)}, tested alone as the target of the change."
    elif one.outcome is not Outcome.UNTESTABLE:
        yield f"{verdict} Welch p {p_words(one.welch.p)}, {p_words(one.p_holm)} after Holm's adjustment."
    elif one.welch.reason == NO_SPREAD:
        yield "No test is possible: no spread was seen on either side, so nobody knows how far games differ by chance."
    else:
        yield f"No test is possible: {one.welch.reason}."


def _by_length(one: Difference) -> Iterator[str]:
    if one.outcome is Outcome.AT_EQUAL_LENGTH:
        yield "Longer games score lower by themselves; a measure that their length does not move could differ by luck."


def _equal_side(one: Difference) -> Iterator[str]:
    """A sentence where a side is without spread, so that the other one alone decided the test."""
    if one.outcome is not Outcome.UNTESTABLE and ALL_EQUAL in (one.before.interval.note, one.after.interval.note):
        yield "All games of one side score the same, so the test knows no spread but that of the other."


def _power(one: Difference) -> Iterator[str]:
    if one.outcome not in (Outcome.NO_EVIDENCE, Outcome.UNTESTABLE) or math.isnan(one.detectable):
        return
    if one.detectable > one.most:
        yield f"With {_sizes(one.before, one.after)}, no difference that this scale allows could be detected."
    else:
        yield (
            f"With {_sizes(one.before, one.after)}, only a true difference of {one.detectable:.1f}{_points(one.unit)} "
            "or more would show in 8 of 10 comparisons."
        )
    if one.games_needed is not None:
        extra = f" ({more_words(one)})" if any(more_games(one)) and not needs_many(one) else ""
        games = "game" if one.games_needed == 1 else "games"
        yield f"If the difference is as large as seen, {needed_words(one)} {games} on each side would show it{extra}."


def detectable_words(one: Difference) -> str:
    """For a cell: the smallest true difference that so many games would show; "none" where the scale is too short."""
    if math.isnan(one.detectable):
        return ""
    return f"{one.detectable:.1f}" if one.detectable <= one.most else "none"


MOST_GAMES_SAID = 100
"""Beyond so many games on each side, the number says nothing but "far more": it rests on a spread seen in a few."""


def needs_many(one: Difference) -> bool:
    """Whether more games are needed on each side than anybody should count on, or so many that none is known."""
    return one.games_needed is None or one.games_needed > MOST_GAMES_SAID


def needed_words(one: Difference) -> str:
    """Games on each side that would show a difference as large as seen: "37", "more than 100"; empty when unknown."""
    if one.games_needed is None:
        return ""
    return f"more than {MOST_GAMES_SAID}" if needs_many(one) else str(one.games_needed)


def more_games(one: Difference) -> tuple[int, int]:
    """Further games before and after that would show a difference as large as seen; zeros when unknown.

    A game that only waits for its value is there already.
    """
    before, after = (max(0, (one.games_needed or 0) - side.n - side.waiting) for side in (one.before, one.after))
    return before, after


def more_words(one: Difference) -> str:
    """:func:`more_games` in words: "34 more on each side", "34 more of the reference and 31 of the other"."""
    before, after = more_games(one)
    return (
        f"{before} more on each side" if before == after else f"{before} more of the reference and {after} of the other"
    )


def _sizes(before: Summary, after: Summary) -> str:
    return (
        f"{counted(before.n, 'game')} on each side"
        if before.n == after.n
        else f"{before.n} and {counted(after.n, 'game')}"
    )


def _pairs(paired: Paired | None, unit: str) -> Iterator[str]:
    if paired is None or not paired.n:
        return
    subject = "1 pair of games shares" if paired.n == 1 else f"{paired.n} pairs of games share"
    p = p_words(paired.sign_flip.p)
    tested = f"exact p {p}" if paired.is_exact else f"sign-flip p {p}, from patterns drawn at random"
    yield f"{subject} a scenario or seed: {change_words(0.0, paired.difference, unit)} on average, {tested}."
    if paired.smallest_p > LEVEL:
        so_many, them = ("1 pair", "it") if paired.n == 1 else (f"{paired.n} pairs", "them")
        enough = next(pairs for pairs in range(paired.n, 64) if smallest_p(pairs) <= LEVEL)
        yield (
            f"With {so_many} an exact p cannot be below {paired.smallest_p:g}, whatever happened in {them}; "
            f"{enough} pairs could reach {smallest_p(enough):.3f}."
        )
