"""Labels for the settings of ``agent_evaluation_config``, the outcomes of the gate and its statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evaluation.corrections.attempts import GateOutcome
from evaluation.corrections.config import DIMENSIONS, CorrectionConfig
from evaluation.corrections.statistics import GateStatistics

MARK = "0 to 9"
SHARE = "0 to 1"
COUNT = "count"
SWITCH = "on or off"

_DIMENSION = {
    "adherence": "the message fits the persona",
    "consistency": "the message fits what the agent said before",
    "fluency": "the message does not repeat itself or fall back on formulas",
    "suitability": "the message suits the situation and moves it on",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One column of the table.

    Attributes:
        part: Which mechanism it belongs to.
        label: What it is called.
        meaning: What it does.
        kind: ``MARK``, ``SHARE``, ``COUNT`` or ``SWITCH``: which values it takes.
        switch: The setting that must be on for this one to matter; empty when it always does.
    """

    part: str
    label: str
    meaning: str
    kind: str
    switch: str = ""

    def shown(self, value: bool | float) -> str:
        """A value in words: "on", "7", "0.6"."""
        return ("on" if value else "off") if self.kind == SWITCH else f"{value:g}"


def default_of(name: str) -> bool | float:
    """The default of a setting, which holds for an agent that has no configuration."""
    value: bool | float = CorrectionConfig.model_fields[name].default
    return value


def _dimensions() -> dict[str, Setting]:
    gate = "Gate: what is judged"
    found = {}
    for name in DIMENSIONS:
        switched = Setting(gate, f"Judge {name}", f"A judge says whether {_DIMENSION[name]}.", SWITCH)
        found[f"gate_{name}_enabled"] = switched
        passes = f"A message passes at this mark for {name} or above."
        found[f"gate_{name}_threshold"] = Setting(
            gate, f"{name.capitalize()} at least", passes, MARK, f"gate_{name}_enabled"
        )
    return found


_GATE = "Gate: similarity and retries"
_NUDGES = "Interventions"
_REPEATS = "Repetition suppression"

SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        **_dimensions(),
        "gate_similarity_enabled": Setting(
            _GATE, "Compare with the last messages", "By words, with the agent's last five; no judge is asked.", SWITCH
        ),
        "max_action_similarity": Setting(
            _GATE,
            "Alike at most",
            "The share of words that a message may share with one of the last five.",
            SHARE,
            "gate_similarity_enabled",
        ),
        "max_correction_attempts": Setting(_GATE, "Retries", "How often a message is written again at most.", COUNT),
        "continue_on_failure": Setting(
            _GATE, "Send the best when none passes", "Off: nothing is sent then, and the program is told.", SWITCH
        ),
        "minimum_required_qty_of_actions": Setting(
            _GATE, "Messages before the gate wakes up", "So many messages of the agent go unchecked first.", COUNT
        ),
        "anti_convergence_enabled": Setting(
            _NUDGES, "Against voices that grow alike", "Reminds agents of their own voice when all agree.", SWITCH
        ),
        "convergence_threshold": Setting(
            _NUDGES,
            "Alike from",
            "Mean share of common words among recent messages from which a judge is asked.",
            SHARE,
            "anti_convergence_enabled",
        ),
        "variety_intervention_enabled": Setting(
            _NUDGES, "Against talking in circles", "Asks for something new when no new idea comes.", SWITCH
        ),
        "variety_message_threshold": Setting(
            _NUDGES,
            "Messages before that",
            "How often an agent speaks before it may be asked for something new.",
            COUNT,
            "variety_intervention_enabled",
        ),
        "repetition_suppression_enabled": Setting(
            _REPEATS, "Name worn phrases", "Tells an agent which of its phrases to leave out.", SWITCH
        ),
        "repetition_threshold": Setting(
            _REPEATS,
            "Repeated more than",
            "Share of repeated three-word phrases above which it is told.",
            SHARE,
            "repetition_suppression_enabled",
        ),
    }
)
"""By the name of the column, in the order in which a form shows them."""

OUTCOMES: Mapping[GateOutcome, str] = MappingProxyType(
    {
        GateOutcome.PASSED: "passed at once",
        GateOutcome.PASSED_AFTER_RETRY: "passed after a retry",
        GateOutcome.CORRECTED: "a better retry sent",
        GateOutcome.FORCED_THROUGH: "original sent after all",
        GateOutcome.TIMEOUT_PASS_THROUGH: "no judge answered",
    }
)
"""What each outcome means, short enough for a legend."""

OUTCOME_MEANINGS: Mapping[GateOutcome, str] = MappingProxyType(
    {
        GateOutcome.PASSED: "The first text met every threshold.",
        GateOutcome.PASSED_AFTER_RETRY: "A rewritten text met every threshold.",
        GateOutcome.CORRECTED: "None met them; a rewritten text scored best.",
        GateOutcome.FORCED_THROUGH: "None met them; the first text scored best.",
        GateOutcome.TIMEOUT_PASS_THROUGH: "Every judge failed or was late, so the message went out unjudged.",
    }
)


def statistics_words(found: GateStatistics) -> list[tuple[str, str]]:
    """Labels and values of the gate's statistics beyond outcomes and checks, in the order in which they are shown."""
    calls, usd = found.calls_per_message, found.usd_per_message
    return [
        ("First texts that passed", _share(found.original_success_rate)),
        ("Texts written again", f"{found.retries:,}"),
        ("Regeneration failures", _share(found.regeneration_failure_rate)),
        ("Mean total of what was sent", _NONE if found.mean_total is None else f"{found.mean_total:.1f}"),
        ("Calls per message", _UNKNOWN if calls is None else f"{calls:.1f}"),
        ("Cost per message", _UNKNOWN if usd is None else f"${usd:.4f}"),
        ("Messages with the breaker open", f"{found.breaker_open:,}"),
    ]


_NONE = "none"
_UNKNOWN = "not known"


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.0%}"
