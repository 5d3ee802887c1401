"""Numbers, statuses and verdicts as the words on screen. Independent of Streamlit."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from evaluation.iterations.board import IterationSummary
from evaluation.iterations.keep_or_revert import Choice
from evaluation.rubric.at_chance import WAITING
from evaluation.rubric.definitions import DEFINITIONS, SHORT_LABELS
from evaluation.score import AT_CHANCE, LOW_EVIDENCE, PERCENT, MetricDefinition, Scale, status_of
from evaluation.text.display import cost_text, counted, fixed, grouped, half_up

_NBSP = "\u00a0"
"""Keeps a number and its unit on one line."""


PICKER = 400
"""Pixels of a list of names: two stand side by side, on a telephone one below the other, where names would be cut."""

CHANCE = "at chance"
"""The name of ``AT_CHANCE`` on labels and in tables, where sentences say it whole."""

SIGNS = {
    "✓": "passes, or counts",
    "✗": "fails, or counts against",
    "…": "waits for a rating, a model or a comparison",
    "≈": f"{CHANCE}: {AT_CHANCE}",
    "–": "does not apply",
    "○": "not counted",
    "▲": "better than its reference, beyond luck",
    "▼": "worse, beyond luck",
    "✎": "people changed verdicts",
    "?": "not known",
}
"""The meaning of each sign before a verdict or a number, everywhere; the Guide lists them."""


def legend(signs: Iterable[str]) -> str:
    """The meaning of some of ``SIGNS``, for below a picture or a table."""
    return " · ".join(f"{sign} {SIGNS[sign]}" for sign in signs)


Color = Literal["red", "orange", "yellow", "blue", "green", "violet", "gray"]


COLORS: Mapping[str, Color] = {"✓": "green", "✗": "red", "…": "blue", "▲": "green", "▼": "red"}
"""The colour of a verdict by its sign; one that is held with care is amber, and every other one gray."""


def verdict_color(label: str) -> Color:
    """The colour of a verdict that is written like this: "✗ failed"; ``makeVerdict`` in the browser does the same."""
    return "orange" if LOW_EVIDENCE in label else COLORS.get(label[:1], "gray")


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a status: a symbol and a word, so that the colour is never the only sign."""

    symbol: str
    word: str

    @property
    def label(self) -> str:
        return f"{self.symbol} {self.word}"

    @property
    def color(self) -> Color:
        return verdict_color(self.label)


_LOOKS = {
    "passed": Look("✓", "passed"),
    "failed": Look("✗", "failed"),
    AT_CHANCE: Look("≈", CHANCE),
    "passed_not_compared": Look("…", f"passed, {WAITING}"),
    "passed_low_evidence": Look("✓", "passed, low evidence"),
    "failed_at_chance": Look("✗", f"failed, {CHANCE}"),
    "failed_low_evidence": Look("✗", "failed, low evidence"),
    "pending": Look("…", "pending"),
    "not_applicable": Look("–", "not applicable"),
    "inapplicable": Look("–", "too few metrics"),
    "not_computed": Look("?", "not computed"),
    "hidden": Look("○", "hidden"),
    "met": Look("✓", "met"),
    "not_met": Look("✗", "not met"),
    "counts": Look("✓", "counts"),
    "does_not_count": Look("✗", "counts against"),
    "excluded": Look("○", "not counted"),
    "keep": Look("✓", "keep"),
    "revert": Look("✗", "revert"),
    "kept": Look("✓", "kept"),
    "reverted": Look("✗", "reverted"),
    "not_yet": Look("…", "cannot be decided yet"),
    "undecidable": Look("–", "cannot be decided"),
}


def look(status: object) -> Look:
    """The appearance of a status, row verdict, test verdict or decision; unknown words stay visible."""
    name = str(status)
    return _LOOKS.get(name, Look("?", name.replace("_", " ")))


def score_text(score: float | None, scale: Scale, threshold: float | None = None) -> str:
    """A score with its unit, "82.4 %" or "3.5 of 5"; "no score" when there is none.

    A failed score that would round up to its threshold gets the digits that show why it failed (79.97, not 80.0).
    """
    if score is None or math.isnan(score):
        return "no score"
    if scale.name == USD:
        return usd_text(score)
    if scale.name in (WORDS, TIMES):
        return f"{score:,.0f} {WORDS}" if scale.name == WORDS else f"{fixed(score)} {TIMES}"
    digits = 1
    while threshold is not None and score < threshold - 1e-9 and half_up(score, digits) >= threshold and digits < 6:
        digits += 1
    number = fixed(score, digits)
    return f"{number}{_NBSP}%" if scale == PERCENT else f"{number} of {scale.high:g}"


def rules_text(alone: float | None, score: float | None, threshold: float) -> str:
    """The score of the rules alone, where these and who read the games stand on two sides of the threshold; else ""."""
    if alone is None or score is None or status_of(alone, threshold) is status_of(score, threshold):
        return ""
    return f"by rules {fixed(alone)}{_NBSP}%"


def label_with_unit(metric: str, labels: Mapping[str, str] = SHORT_LABELS) -> str:
    """The name of a metric with its unit, beside numbers that have none: "Depth, %"."""
    scale = DEFINITIONS[metric].scale
    return f"{labels[metric]}, {'%' if scale == PERCENT else f'of {scale.high:g}'}"


def without_unit(score: str) -> str:
    """A score as it stands below :func:`label_with_unit`: "✓ 84.0" of "✓ 84.0 %"."""
    return re.sub(rf"{_NBSP}%| of \d", "", score)


USD = "usd"
"""The name of the scale of US dollars."""
WORDS, TIMES = "words", "times"
"""The names of scales of counted words, and of multiples of an average."""


def threshold_text(threshold: float, scale: Scale) -> str:
    """A threshold in words: "at least 80 %", "at least 3 of 5"; for a cost, the limit that it must not pass."""
    if scale.name == USD:
        return f"at most {usd_text(threshold)}"
    return f"at least {threshold:g}{_NBSP}%" if scale == PERCENT else f"at least {threshold:g} of {scale.high:g}"


def fraction_text(numerator: float, denominator: float, definition: MetricDefinition) -> str:
    """The two numbers behind a score, in the unit that the metric counts: "17 of 20 references"."""
    if definition.scale != PERCENT:
        return f"mean of {counted(denominator, 'rating')}"
    return f"{grouped(numerator)} of {counted(denominator, UNITS.get(definition.name, 'item'))}"


UNITS = {
    "memory_accuracy": "reference",
    "strategic_depth": "message",
    "coherence": "message",
    "role_consistency": "message",
    "personality_diversity": "player",
    "anti_repetition": "phrase use",
}


def spread_text(values: list[float], scale: Scale) -> str:
    """The range of the values behind a mean: "71.0 to 88.2", "all 100.0"; empty for fewer than two."""
    if len(values) < 2:
        return ""
    unit = f"{_NBSP}%" if scale == PERCENT else ""
    low, high = fixed(min(values)), fixed(max(values))
    return f"all {low}{unit}" if low == high else f"{low} to {high}{unit}"


def told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Labels of a choice by key; one that occurs twice gets its number, as only one of two equal ones can be chosen."""
    seen: Counter[str] = Counter()
    found = {}
    for key, name in names.items():
        seen[name] += 1
        found[key] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return found


def usd_text(amount: float | None) -> str:
    """US dollars in significant digits, as ``cost_text`` writes them; "unknown" when nothing was recorded."""
    if amount is None or math.isnan(amount):
        return "unknown"
    # No dollar sign: Markdown would read two of them as mathematics.
    return cost_text(amount).replace(" ", _NBSP)


def share_text(share: float | None) -> str:
    """A share from 0 to 1 in percent; "unknown" when nothing was recorded."""
    return "unknown" if share is None or math.isnan(share) else f"{100 * share:.0f}{_NBSP}%"


def duration_text(seconds: float) -> str:
    """A waiting time in the unit that a person would use: "8 s", "3 min"."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def decided_words(one: IterationSummary) -> str:
    """A person's decision, else what the rule says, which decides nothing alone; with the baseline's mark."""
    rule = one.decision.words if one.decision else ""
    if one.decision and one.decision.choice in (Choice.KEEP, Choice.REVERT):
        rule = f"rule: {rule}"
    recorded = one.iteration.recorded
    words = f"{look(recorded.fate).symbol} {recorded.fate_words}" if recorded else rule
    return ", ".join(filter(None, (words, "baseline" * one.iteration.is_baseline)))
