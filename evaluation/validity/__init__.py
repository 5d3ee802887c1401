"""Validity of the metrics: planted faults, meaningless changes, length, and human games."""

from __future__ import annotations

from evaluation.validity._faults import DRAWS, FAULTS, Noticed, noticed, paired_auc
from evaluation.validity._invariance import CHANGES, Break, breaks
from evaluation.validity._report import TARGETS, fault_table, is_human_game, length_correlations, pass_rates

__all__ = [
    "CHANGES",
    "DRAWS",
    "FAULTS",
    "TARGETS",
    "Break",
    "Noticed",
    "breaks",
    "fault_table",
    "is_human_game",
    "length_correlations",
    "noticed",
    "paired_auc",
    "pass_rates",
]
