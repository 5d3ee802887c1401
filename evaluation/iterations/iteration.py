"""Iterations: prompt versions with what people say of them, their references, and the history of their edits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from evaluation.errors import InputError
from evaluation.escaping import safe
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import picked_data

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
        """One sentence: "Ada kept it on 2026-05-01 at 10:30 UTC: reads better. The rule could not decide yet: ..."."""
        did = f"took back that it was {self.fate}" if self.is_withdrawal else f"{self.fate} it"
        said = f"{self.who} {did} on {self.at:%Y-%m-%d at %H:%M} UTC" + (f": {self.reason}" if self.reason else "")
        if not self.departs or self.is_withdrawal:
            return said
        undecided = {"not_yet": "could not decide yet", "undecidable": "could not decide", "": "had no answer"}
        rule = f"the rule {undecided.get(self.rule, f'said {self.rule}')}"
        return f"{said} ({rule}; {self.note})" if self.note not in ("", self.reason) else f"{said} ({rule})"

    @property
    def fate_words(self) -> str:
        """Words for it: "kept"; "kept, against the rule" where the rule said the opposite."""
        return f"{self.fate}{', against the rule' * (self.departs and self.rule in ('keep', 'revert'))}"

    @property
    def departs(self) -> bool:
        """Whether it differs from the rule's decision at that time."""
        return departs_from(self.fate, self.rule)

    def as_dict(self) -> dict[str, Any]:
        """The recorded decision as every JSON output shows it."""
        return {
            "choice": str(self.fate),
            "at": self.at.isoformat(),
            **picked_data(self, "who", "reason", "note", "reference"),
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
            f"The name {safe(name[:40])!r} holds a character that no screen shows.",
            place="name",
            remedy="Type it again.",
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
        is_target_late: Whether the target was named, or another one, when games of the iteration were there already.

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
    is_target_late: bool = False

    @property
    def tested_alone(self) -> str | None:
        """The target where it was named before the games: one chosen after them is no better than the other metrics."""
        return None if self.is_target_late else self.target_metric

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
    def is_reverted(self) -> bool:
        """Whether a person recorded that its change is reverted, so that nothing builds on it."""
        return self.recorded is not None and self.recorded.fate is Fate.REVERTED

    @property
    def is_signed_off(self) -> bool:
        """Whether a person found it fascinating to watch."""
        return self.signed_off_by is not None


def current_iteration(names: Sequence[str], with_games: Collection[str]) -> str | None:
    """The iteration that every page and command means by the current one: the newest that has a game, else the newest.

    Args:
        names: All iterations in their order.
        with_games: Those that have a game.
    """
    return next((name for name in reversed(names) if name in with_games), names[-1] if names else None)


def reference_of(iteration: Iteration, iterations: Sequence[Iteration]) -> Iteration | None:
    """The iteration that this one is compared with.

    Its parent where it has one; else the later of the last kept iteration and the baseline, among those before it.
    Where neither stands before it, the latest that was the baseline at some time: promoting an iteration must not take
    away what its own change was compared with. Never itself or a descendant of it. ``None`` when there is none, as for
    the first.

    Args:
        iteration: One of ``iterations``.
        iterations: All that there are, in any order. A parent that is not among them counts as none.
    """
    parent = [one for one in iterations if one.name == iteration.parent]
    if found := _not_from(iteration, parent, iterations):
        return found[0]
    before = [one for one in iterations if one.position < iteration.position]
    decided = _not_from(iteration, [one for one in before if one.is_kept or one.is_baseline], iterations)
    former = _not_from(iteration, [one for one in before if one.was_baseline], iterations)
    return max(decided or former, key=lambda one: one.position, default=None)


def baseline_before(iteration: Iteration, iterations: Sequence[Iteration]) -> Iteration | None:
    """The baseline where it stands before ``iteration``, as the second line of a comparison; else ``None``."""
    marked = [one for one in iterations if one.is_baseline and one.position < iteration.position]
    return next(iter(_not_from(iteration, marked, iterations)), None)


def _not_from(iteration: Iteration, some: Sequence[Iteration], iterations: Sequence[Iteration]) -> list[Iteration]:
    """Those of ``some`` that are neither the iteration nor a descendant of it."""
    parents = {one.name: one.parent for one in iterations}
    return [one for one in some if not _descends(one.name, iteration.name, parents)]


def _descends(name: str, ancestor: str, parents: dict[str, str | None]) -> bool:
    """Whether ``name`` is ``ancestor`` or was changed from it, directly or over others."""
    seen: set[str] = set()
    current: str | None = name
    while current is not None and current not in seen:
        if current == ancestor:
            return True
        seen.add(current)
        current = parents.get(current)
    return False


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
        for each in fields(Description):
            old, new = getattr(before, each.name) or "", getattr(after, each.name) or ""
            if old != new:
                yield Edit(each.name, old, new, who, at)
