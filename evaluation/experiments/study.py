"""A study as it is stored: an experiment or an A/B test with how far it is and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.experiment import ExperimentPlan
from evaluation.experiments.results import StudyResult

StudyPlan = ExperimentPlan | ABConfig


class StudyStatus(StrEnum):
    """``pending`` stopped before its end (a budget, a person) and can go on. A killed one is still ``running``."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Study:
    """An experiment or an A/B test as it is stored.

    Attributes:
        id: That of its plan.
    """

    id: str
    plan: StudyPlan
    status: StudyStatus = StudyStatus.RUNNING
    result: StudyResult = field(default_factory=StudyResult)
    created_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def experiment(self) -> ExperimentPlan:
        """The plan of an experiment.

        Raises:
            TypeError: It is an A/B test.
        """
        if not isinstance(self.plan, ExperimentPlan):
            raise TypeError(f"{self.id} is an A/B test")
        return self.plan
