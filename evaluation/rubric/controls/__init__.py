"""Controls and companions: whether a score is meaningful on this transcript."""

from __future__ import annotations

from evaluation.rubric.controls._attach import attach_controls, without_control
from evaluation.rubric.controls._compute import (
    CONTROLLED,
    FEWEST_MESSAGES,
    WITHOUT_CHANCE,
    PreparedControls,
    companion_value,
    compute_controls,
)
from evaluation.rubric.controls._draws import COMPANION_KEYS, CONTROL_KEYS, DRAWS, no_control
from evaluation.rubric.controls._link_strength import Link, link_strengths
from evaluation.rubric.controls._summary import ControlSummary, metrics_above_chance, summarise_controls
from evaluation.rubric.controls.words import COMPANION_LABELS, COMPANION_NAMES, control_words

__all__ = [
    "COMPANION_KEYS",
    "COMPANION_LABELS",
    "COMPANION_NAMES",
    "CONTROLLED",
    "CONTROL_KEYS",
    "DRAWS",
    "FEWEST_MESSAGES",
    "WITHOUT_CHANCE",
    "ControlSummary",
    "Link",
    "PreparedControls",
    "attach_controls",
    "companion_value",
    "compute_controls",
    "control_words",
    "link_strengths",
    "metrics_above_chance",
    "no_control",
    "summarise_controls",
    "without_control",
]
