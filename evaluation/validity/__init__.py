"""Validity of the metrics: planted faults, meaningless changes, length, and human games."""

from __future__ import annotations

from evaluation.validity._faults import (
    CHANGES,
    DRAWS,
    FAULTS,
    TARGETS,
    Break,
    Noticed,
    breaks,
    fault_table,
    is_human_game,
    length_correlations,
    noticed,
    paired_auc,
    pass_rates,
)
from evaluation.validity._trust import MetricTrust, Trust, metric_trust

__all__ = [
    "CHANGES",
    "DRAWS",
    "FAULTS",
    "TARGETS",
    "Break",
    "MetricTrust",
    "Noticed",
    "Trust",
    "breaks",
    "fault_table",
    "is_human_game",
    "length_correlations",
    "metric_trust",
    "noticed",
    "paired_auc",
    "pass_rates",
]
