"""A control as a sentence, beside the score that it qualifies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CLEAR = 0.05
NO_CHANCE = "no chance level"
"""The reason of a control of a metric that no rearrangement destroys."""
COMPANION_LABELS = {
    "link_strength": "link strength",
    "voice_distance": "voice distance",
    "direction": "direction",
    "repetition_rate": "% repeated within 500 words",
}
COMPANION_NAMES = {
    "coherence": "link_strength",
    "personality_diversity": "voice_distance",
    "role_consistency": "direction",
    "anti_repetition": "repetition_rate",
}
"""The companion of each metric that has one."""
_DESTROYED = {
    "memory_accuracy": "with the players' names permuted in the record",
    "coherence": "with the same messages in random order",
    "role_consistency": "with the roles dealt at random",
    "personality_diversity": "with the same messages by random players",
}


def control_words(metric: str, score: float | None, control: Mapping[str, Any] | None) -> str:
    """The control's statement about a score in a few words; empty where there is no score.

    Examples: "clearly better than scrambled copies (link strength 66, scrambled 50)"; "but with the same messages in
    random order it is 99 %"; "no better than scrambled copies"; "not compared with scrambled copies yet".
    """
    if score is None:
        return ""
    if control is None or control.get("status") == "pending":
        return "not compared with scrambled copies yet"
    beside = control.get("companion") or {}
    if beside.get("p") is not None and beside["p"] <= _CLEAR:
        return f"clearly better than scrambled copies ({_companion(beside)})"
    if control["p"] is not None and control["p"] <= _CLEAR:
        return f"clearly better than scrambled copies ({_chance(metric, control)})"
    if control["p"] is None or control["reason"]:
        shown = _companion(beside) if beside.get("value") is not None else ""
        reason = (
            "" if control["reason"] in (None, NO_CHANCE) else f"not compared with scrambled copies: {control['reason']}"
        )
        return "; ".join(filter(None, (reason, shown)))
    if beside.get("value") is None and control["difference"] <= 0:
        return f"but {_chance(metric, control)}"
    return f"no better than scrambled copies ({_chance(metric, control)})"


def is_above_chance(control: Mapping[str, Any]) -> bool:
    """Whether the companion, or the score itself, lies clearly above chance."""
    return any(one.get("p") is not None and one["p"] <= _CLEAR for one in (control.get("companion") or {}, control))


def companion_words(name: str, value: float) -> str:
    """A companion with its value: "link strength 66", "4.2 % repeated within 500 words"."""
    label = COMPANION_LABELS.get(name, name)
    return f"{number_words(value)} {label}" if label.startswith("%") else f"{label} {number_words(value)}"


def _companion(beside: Mapping[str, Any]) -> str:
    chance = "" if beside["chance"] is None else f", scrambled {number_words(beside['chance'])}"
    return f"{companion_words(beside['name'], beside['value'])}{chance}"


def _chance(metric: str, control: Mapping[str, Any]) -> str:
    return f"{_DESTROYED.get(metric, 'by chance')} it is {number_words(control['chance'])} %"


def number_words(value: float) -> str:
    """A whole number, or one digit more below 10; never "-0"."""
    digits = 0 if abs(value) >= 10 else 1
    text = f"{value:.{digits}f}".removesuffix(".0")
    return "0" if text == "-0" else text
