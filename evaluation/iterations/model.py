"""An iteration: one prompt version whose games are compared with those of the baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from evaluation.errors import InputError
from evaluation.rubric.definitions import DEFINITIONS

MAX_NAME_LENGTH = 200


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Iteration:
    """One prompt version (rubric 1.0, iteration strategy).

    Attributes:
        position: Its place in the sequence of iterations, from 0.
        parent: Name of the iteration whose prompt was changed; ``None`` for the first.
        change: The one change that was made, in words.
        target_metric: Name of the metric that the change is meant to raise; ``None`` when none was named.
        is_baseline: Whether the others are compared with this one.
        signed_off_by: Who found its games fascinating to watch; ``None`` while nobody has.

    Raises:
        InputError: No name, or a target that is not a metric of the rubric.
    """

    name: str
    position: int = 0
    parent: str | None = None
    prompt_text: str = ""
    change: str = ""
    target_metric: str | None = None
    is_baseline: bool = False
    created_at: datetime = field(default_factory=_now)
    signed_off_by: str | None = None
    signed_off_at: datetime | None = None
    signed_off_note: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MAX_NAME_LENGTH:
            raise InputError(
                f"{self.name[:40]!r} cannot name an iteration.",
                place="name",
                remedy=f"Give 1 to {MAX_NAME_LENGTH} characters.",
            )
        if self.target_metric is not None and self.target_metric not in DEFINITIONS:
            raise InputError(
                f"{self.target_metric[:40]!r} is not a metric.",
                place="target_metric",
                remedy=f"Choose one of {', '.join(DEFINITIONS)}.",
            )

    @property
    def is_signed_off(self) -> bool:
        """Whether a person found it fascinating to watch."""
        return self.signed_off_by is not None
