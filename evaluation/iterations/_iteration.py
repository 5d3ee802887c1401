"""An iteration: one prompt version, its reference, and the decision that a person recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from evaluation.errors import InputError
from evaluation.escaping import safe
from evaluation.rubric.definitions import DEFINITIONS

MAX_NAME_LENGTH = 200


def _now() -> datetime:
    return datetime.now(UTC)


class Fate(StrEnum):
    """A person's decision on the change of an iteration."""

    KEPT = "kept"
    REVERTED = "reverted"


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A person's decision to keep or revert an iteration's change, or its withdrawal.

    Attributes:
        fate: What was decided, also where this entry takes it back.
        who: Who decided.
        at: When (UTC).
        reason: Why, in that person's words.
        note: Why it departs from the rule; empty where it does not.
        reference: Name of the iteration that it was compared with at that time; ``None`` without one.
        rule: The rule's answer at that time (a ``keep_or_revert.Choice``); empty without one.
        is_withdrawal: Whether this entry takes the decision back.
    """

    fate: Fate
    who: str
    at: datetime
    reason: str = ""
    note: str = ""
    reference: str | None = None
    rule: str = ""
    is_withdrawal: bool = False

    @property
    def words(self) -> str:
        """One sentence: "Ada kept it on 2026-05-01 at 10:30 UTC: reads better. The rule said not yet: ..."."""
        did = f"took back that it was {self.fate}" if self.is_withdrawal else f"{self.fate} it"
        said = f"{self.who} {did} on {self.at:%Y-%m-%d at %H:%M} UTC" + (f": {self.reason}" if self.reason else "")
        if not self.departs or self.is_withdrawal:
            return said
        rule = self.rule.replace("_", " ") or "nothing"
        return f"{said} (the rule said {rule}; {self.note})" if self.note else f"{said} (the rule said {rule})"

    @property
    def departs(self) -> bool:
        """Whether it differs from the rule's decision at that time."""
        return departs_from(self.fate, self.rule)

    def as_dict(self) -> dict[str, Any]:
        """The recorded decision as every JSON output shows it."""
        return {
            "choice": str(self.fate),
            "who": self.who,
            "at": self.at.isoformat(),
            "reason": self.reason,
            "note": self.note,
            "reference": self.reference,
            "rule": self.rule or None,
            "departs_from_rule": self.departs,
        }


def departs_from(fate: Fate, rule: str) -> bool:
    """Whether a decision is something else than the rule's answer ("keep", "revert", "not_yet", "undecidable", "")."""
    return {Fate.KEPT: "keep", Fate.REVERTED: "revert"}[fate] != rule


def new_iteration_name(name: str) -> str:
    """The name of an iteration that gets it now. Names that are stored are still read.

    Raises:
        InputError: It holds a control character or another that is not drawn, so that nobody could type it.
    """
    if safe(name) != name:
        raise InputError(
            f"The name {name[:40]!a} holds a character that no screen shows.", place="name", remedy="Type it again."
        )
    return name


@dataclass(frozen=True, slots=True)
class Iteration:
    """One prompt version (rubric 1.0, iteration strategy).

    Attributes:
        position: Its place in the sequence of iterations, from 0.
        parent: Name of the iteration whose prompt was changed; ``None`` for the first.
        change: The one change that was made, in words.
        target_metric: Name of the metric that the change is meant to raise; ``None`` when none was named.
        is_baseline: Whether it is marked as the baseline.
        signed_off_by: Who found its games fascinating to watch; ``None`` while nobody has.
        was_baseline: Whether it is the baseline or was at some time, also by default as the first of all.
        recorded: What a person decided about its change; ``None`` while nobody has, and once it was taken back.

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
    recorded: RecordedDecision | None = None
    was_baseline: bool = False

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
    def is_kept(self) -> bool:
        """Whether a person recorded that its change is kept."""
        return self.recorded is not None and self.recorded.fate is Fate.KEPT

    @property
    def is_signed_off(self) -> bool:
        """Whether a person found it fascinating to watch."""
        return self.signed_off_by is not None
