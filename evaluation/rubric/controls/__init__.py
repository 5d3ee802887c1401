"""Controls and companions: whether a score means anything on this transcript."""

from __future__ import annotations

from evaluation.rubric.controls._compute import FEWEST_MESSAGES, compute_controls
from evaluation.rubric.controls._draws import DRAWS
from evaluation.rubric.controls.link_strength import Link, link_strengths
from evaluation.rubric.controls.words import COMPANION_LABELS, control_words

PENDING = {"status": "pending"}
"""Stands for a control that is not computed yet."""

__all__ = [
    "COMPANION_LABELS",
    "DRAWS",
    "FEWEST_MESSAGES",
    "PENDING",
    "Link",
    "compute_controls",
    "control_words",
    "link_strengths",
]
