"""Controls and companions: whether a score means anything on this transcript."""

from __future__ import annotations

from evaluation.rubric.controls._attach import attach_controls, without_control
from evaluation.rubric.controls._compute import (
    CONTROLLED,
    FEWEST_MESSAGES,
    PreparedControls,
    companion_value,
    compute_controls,
)
from evaluation.rubric.controls._draws import DRAWS, no_control
from evaluation.rubric.controls.link_strength import Link, link_strengths
from evaluation.rubric.controls.words import COMPANION_LABELS, COMPANION_NAMES, control_words, controls_words

__all__ = [
    "COMPANION_LABELS",
    "COMPANION_NAMES",
    "CONTROLLED",
    "DRAWS",
    "FEWEST_MESSAGES",
    "Link",
    "PreparedControls",
    "attach_controls",
    "companion_value",
    "compute_controls",
    "control_words",
    "controls_words",
    "link_strengths",
    "no_control",
    "without_control",
]
