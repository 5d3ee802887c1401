"""A comparison as tables: in words for the screen, as numbers for files. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.shared.formatting import CHANCE
from evaluation.comparison.iterations import IterationComparison
from evaluation.iterations.game_tests import game_coverage
from evaluation.persona.dimensions import LABELS
from evaluation.rubric.at_chance import WAITING
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import AT_CHANCE, LOW_EVIDENCE
from evaluation.statistics.comparison import Comparison, Outcome
from evaluation.statistics.intervals import Interval
from evaluation.statistics.words import (
    change_of,
    detectable_words,
    interval_words,
    needed_words,
    p_words,
    paired_p_words,
    value_words,
)
from evaluation.text.display import fixed

_SIGNS = {Outcome.BETTER: "▲ ", Outcome.WORSE: "▼ ", Outcome.AT_CHANCE: "≈ "}


def signed(outcome: Outcome, words: str = "") -> str:
    """``words`` about a difference, else its verdict, behind the sign of the outcome; what could be luck has none."""
    return f"{_SIGNS.get(outcome, '')}{words or outcome.words}".replace(AT_CHANCE, CHANCE)


TEST_COLUMNS = ("Games", "Effect size d", "p", "p after Holm", "Paired p", "Would show from")
"""What each test rests on, in a table of its own."""
METRIC_LABELS: Mapping[str, str] = {name: definition.label for name, definition in DEFINITIONS.items()}
DIMENSION_LABELS: Mapping[str, str] = {str(dimension): label for dimension, label in LABELS.items()}


def difference_rows(
    found: Comparison, labels: Mapping[str, str], names: Sequence[str], heading: str = "Metric"
) -> list[dict[str, object]]:
    """One row per measure: verdict in words, means, difference, interval, games needed, then what the test rests on.

    Args:
        found: What is compared.
        labels: What each measure is called.
        names: Of the two sides, untrusted text.
        heading: Of the first column.
    """
    return [
        {
            heading: labels[one.name],
            "Verdict": signed(one.outcome, one.words),
            **{
                f"{name}, mean": value_words(side.mean, "")
                for name, side in zip(names, (one.before, one.after), strict=True)
            },
            "Change": change_of(one, ""),
            "Interval": _interval_cell(one.deciding_interval),
            "Games needed": needed_words(one),
            "Games": f"{one.before.n} and {one.after.n}",
            "Effect size d": "none" if one.effect.reason else fixed(one.effect.value, 2, signed=True),
            "p": p_words(one.welch.p),
            "p after Holm": "target" if one.is_primary else p_words(one.p_holm),
            "Paired p": paired_p_words(one.paired),
            "Would show from": detectable_words(one),
        }
        for one in found.values()
    ]


def _interval_cell(one: Interval) -> str:
    """Such as "−0.4 to +19.2 (99 %)": where several are tested at once, each interval is wider than at 95 %."""
    return f"{interval_words(one, signed=True)}{f' ({fixed(100 * one.level)} %)' * one.is_known}"


def limit_rows(found: IterationComparison) -> list[dict[str, str]]:
    """One row per metric: what limits its scores, what they rest on, and the games ahead of scrambled copies.

    Metrics of which nothing is known but their scores are left out.
    """
    rows, names = [], found.names
    for name, controls in found.controls.items():
        if name not in found.comparison:
            continue
        coverages = [game_coverage(name, side.games) for side in (found.before, found.after)]
        limits = {
            LOW_EVIDENCE: [coverage is not None and coverage.is_low for coverage in coverages],
            CHANCE: [control.is_at_chance for control in controls],
            WAITING: [control.pending > 0 for control in controls],
        }
        cells = {
            "Metric": METRIC_LABELS[name],
            "What limits it": "; ".join(
                filter(None, (_side_words(limit, is_of, names) for limit, is_of in limits.items()))
            ),
        }
        for side, coverage in zip(names, coverages, strict=True):
            counts = (coverage.settled, coverage.considered) if coverage and coverage.considered else ()
            cells[f"Counted, {side}"] = " of ".join(map(str, counts))
        for side, control in zip(names, controls, strict=True):
            cells[f"Ahead, {side}"] = f"{control.above} of {control.compared}" if control.compared else ""
        cells["Beside it"] = found.companion_words(name)
        if any(cell for head, cell in cells.items() if head != "Metric"):
            rows.append(cells)
    heads = [head for head in (rows[0] if rows else ()) if any(row[head] for row in rows)]
    return [{head: row[head] for head in heads} for row in rows]


def _side_words(limit: str, is_of: Sequence[bool], names: Sequence[str]) -> str:
    """A limit with the side that it is of: "low evidence (Prompt v2)"; empty where it is of none."""
    sides = [name for name, is_side in zip(names, is_of, strict=True) if is_side]
    return f"{limit} ({sides[0]})" if len(sides) == 1 else limit * bool(sides)
