"""Parts of a treatment: how often each took effect, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.corrections.attempts import GateOutcome, GateResult
from evaluation.corrections.builtin_interventions import ANTI_CONVERGENCE, VARIETY
from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.interventions import Execution
from evaluation.corrections.statistics import SIMILARITY
from evaluation.experiments.experiment import ExperimentRecord, Side
from evaluation.experiments.plan import GroupLayout
from evaluation.text.display import counted

REPETITION = "repetition suppression"

_CORRECTED = frozenset({GateOutcome.CORRECTED, GateOutcome.PASSED_AFTER_RETRY})


def parts_of(config: CorrectionConfig) -> tuple[str, ...]:
    """The names of everything that a configuration turns on."""
    return (
        *config.thresholds,
        *([SIMILARITY] if config.gate_similarity_enabled else []),
        *([ANTI_CONVERGENCE] if config.anti_convergence_enabled else []),
        *([VARIETY] if config.variety_intervention_enabled else []),
        *([REPETITION] if config.repetition_suppression_enabled else []),
    )


@dataclass(slots=True)
class Activity:
    """Counts of what corrections did on one side, or in one conversation.

    Attributes:
        messages: Messages by agents.
        checked: Those that the gate looked at.
        sent_back: Those whose first text did not pass.
        corrected: Those of which a rewritten text was sent.
        looked: By part, how often it was looked whether it should take effect.
        fired: By part, how often it did: a check that sent a text back, an intervention that was applied.
        calls: Calls to the model, failed ones included.
        cost_usd: What they cost, as far as it is known.
        unpriced_calls: Those whose price is not known.
    """

    messages: int = 0
    checked: int = 0
    sent_back: int = 0
    corrected: int = 0
    looked: dict[str, int] = field(default_factory=dict)
    fired: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0

    def note_check(self, result: GateResult) -> None:
        """Counts a message that the gate looked at."""
        self.checked += 1
        self.sent_back += not result.attempts[0].is_passed
        self.corrected += result.outcome in _CORRECTED
        for attempt in result.attempts:
            for check in attempt.checks:
                self._note(check.dimension, has_fired=not check.is_passed)
            if attempt.similarity is not None:
                self._note(SIMILARITY, has_fired=attempt.is_similar)

    def note_interventions(self, executions: Iterable[Execution]) -> None:
        """Counts the interventions of a step."""
        for each in executions:
            self._note(each.name, has_fired=each.is_applied)

    def note_suppression(self, *, has_fired: bool) -> None:
        """Counts a prompt that repetition suppression looked at."""
        self._note(REPETITION, has_fired=has_fired)

    def _note(self, part: str, *, has_fired: bool) -> None:
        self.looked[part] = self.looked.get(part, 0) + 1
        self.fired[part] = self.fired.get(part, 0) + has_fired

    def settle(self, cost_usd: float | None) -> None:
        """Counts a call that ended; ``None`` is one whose price is not known."""
        self.calls += 1
        self.cost_usd += cost_usd or 0.0
        self.unpriced_calls += cost_usd is None

    def add(self, other: Mapping[str, Any]) -> None:
        """Adds the counts of another, as data."""
        for name in ("messages", "checked", "sent_back", "corrected", "calls", "cost_usd", "unpriced_calls"):
            setattr(self, name, getattr(self, name) + other.get(name, 0))
        for name in ("looked", "fired"):
            mine = getattr(self, name)
            for part, count in other.get(name, {}).items():
                mine[part] = mine.get(part, 0) + count

    @property
    def known_usd(self) -> float | None:
        """``cost_usd``, or ``None`` when the price of a call is not known."""
        return None if self.unpriced_calls else round(self.cost_usd, 6)

    def as_dict(self) -> dict[str, Any]:
        """The counts as JSON-compatible data."""
        return {
            "messages": self.messages,
            "checked": self.checked,
            "sent_back": self.sent_back,
            "corrected": self.corrected,
            "looked": dict(sorted(self.looked.items())),
            "fired": dict(sorted(self.fired.items())),
            "calls": self.calls,
            "cost_usd": round(self.cost_usd, 6),
            "unpriced_calls": self.unpriced_calls,
        }


def activity_rows(config: CorrectionConfig, sides: Mapping[Side, Activity]) -> list[tuple[str, str, str]]:
    """Label, treatment and control of everything that the report says about activity and cost."""
    treatment, control = (sides.get(side, Activity()) for side in (Side.TREATMENT, Side.CONTROL))
    return [
        ("Messages by agents", f"{treatment.messages:,}", f"{control.messages:,}"),
        ("Checked by the gate", f"{treatment.checked:,}", f"{control.checked:,}"),
        ("Sent back at first", f"{treatment.sent_back:,}", f"{control.sent_back:,}"),
        ("Corrected", f"{treatment.corrected:,}", f"{control.corrected:,}"),
        *((f"Stepped in: {part}", _fired(treatment, part), _fired(control, part)) for part in parts_of(config)),
        ("Calls to the model", f"{treatment.calls:,}", f"{control.calls:,}"),
        ("Cost in US dollars", _usd(treatment), _usd(control)),
    ]


def _fired(activity: Activity, part: str) -> str:
    return f"{activity.fired.get(part, 0):,} of {counted(activity.looked.get(part, 0), 'check')}"


def _usd(activity: Activity) -> str:
    return "not known" if activity.known_usd is None else f"{activity.known_usd:.4f}"


def activity_of(rows: Iterable[tuple[Side, Mapping[str, Any]]]) -> dict[Side, Activity]:
    """The counts of each side, summed up over its conversations."""
    found = {side: Activity() for side in Side}
    for side, counts in rows:
        found[side].add(counts)
    return found


def stored_activity(record: ExperimentRecord) -> list[tuple[str, str, str]]:
    """Rows as of ``activity_rows`` for a stored experiment; none for one of an older version."""
    stored = (record.results or {}).get("activity")
    if not stored:
        return []
    scenario = record.config["scenario"]
    is_paper = record.config.get("layout") == GroupLayout.PAPER and scenario.get("paper")
    treatment = (scenario["paper"] if is_paper else scenario)["treatment"]
    sides = activity_of((side, stored.get(str(side), {})) for side in Side)
    return activity_rows(CorrectionConfig.model_validate(treatment), sides)


def is_idle(record: ExperimentRecord) -> bool:
    """Whether no part of the treatment of a stored experiment ever took effect, as when its steps are too few."""
    stored = (record.results or {}).get("activity") or {}
    return bool(stored) and not any(stored.get(str(Side.TREATMENT), {}).get("fired", {}).values())
