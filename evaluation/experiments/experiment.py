"""Records of an experiment: its two sides, its conversations, and the scores of its agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Side(StrEnum):
    """With the corrections in question, or without any."""

    TREATMENT = "treatment"
    CONTROL = "control"


class ExperimentStatus(StrEnum):
    """``pending`` stopped before its end (a budget, a person) and can go on. A killed one is still ``running``."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation. Treatment and control of the same ``environment`` (from 0) have the same agents."""

    side: Side
    environment: int
    transcript_id: str


@dataclass(frozen=True, slots=True)
class AgentScore:
    """The scores of an agent in one conversation, or of the whole conversation where ``agent`` is empty.

    Attributes:
        score: 0 to 9, a count for ideas; ``None`` when nothing could be scored.
        items: How many judgements it is made of.
        reason: Why there is none.
    """

    side: Side
    environment: int
    agent: str
    dimension: str
    score: float | None
    items: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ExperimentRecord:
    """An experiment as it is stored.

    Attributes:
        id: A UUID made of everything that decides what is asked, so that the same experiment goes on and never doubles.
        config: All settings, as data.
        results: The report, as data; ``None`` before the end.
    """

    id: str
    name: str
    scenario: str
    seed: int
    scale: float
    config: Mapping[str, Any]
    status: ExperimentStatus = ExperimentStatus.RUNNING
    results: Mapping[str, Any] | None = None
    created_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def is_scripted(self) -> bool:
        """Whether a script took the place of the model: it shows that the pipeline works, and says nothing else."""
        return bool(self.config.get("is_scripted"))
