"""The history of an iteration's description and sign-offs: time, author, old and new values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Description:
    """A person's description of an iteration. ``parent`` and ``target_metric`` are ``None`` if not given."""

    name: str
    parent: str | None = None
    prompt_text: str = ""
    change: str = ""
    target_metric: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """One changed field of a description: ``name``, ``parent``, ``prompt_text``, ``change`` or ``target_metric``."""

    field: str
    before: str
    after: str
    who: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SignOff:
    """A person's sign-off of an iteration, or its withdrawal: who, when (UTC) and why."""

    who: str
    note: str
    at: datetime
    is_withdrawal: bool = False

    @property
    def words(self) -> str:
        """ "Grace signed off on 2026-05-01 at 10:30 UTC: gripping"."""
        did = "withdrew the sign-off" if self.is_withdrawal else "signed off"
        return f"{self.who} {did} on {self.at:%Y-%m-%d at %H:%M} UTC" + (f": {self.note}" if self.note else "")


def edits(states: Sequence[tuple[Description, str, datetime]], current: Description) -> Iterator[Edit]:
    """The fields that each change altered, oldest first.

    Args:
        states: The descriptions that were replaced, oldest first, each with who replaced it and when.
        current: The one that stands.
    """
    described = [*(description for description, _, _ in states), current]
    for (before, who, at), after in zip(states, described[1:], strict=True):
        for field in fields(Description):
            old, new = getattr(before, field.name) or "", getattr(after, field.name) or ""
            if old != new:
                yield Edit(field.name, old, new, who, at)
