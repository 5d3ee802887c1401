"""A control in words, beside the score that it qualifies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.text.display import counted

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
    """What the control says about a score, in a few words; empty where there is no score.

    Examples: "clearly above chance (link strength 66, chance 50)"; "but with the same messages in random order it is
    99 %"; "cannot be told from chance"; "not compared with chance yet".
    """
    if score is None:
        return ""
    if control is None or control.get("status") == "pending":
        return "not compared with chance yet"
    beside = control.get("companion") or {}
    if beside.get("p") is not None and beside["p"] <= _CLEAR:
        return f"clearly above chance ({_companion(beside)})"
    if control["p"] is not None and control["p"] <= _CLEAR:
        return f"clearly above chance ({_chance(metric, control)})"
    if control["p"] is None or control["reason"]:
        shown = _companion(beside) if beside.get("value") is not None else ""
        reason = "" if control["reason"] in (None, NO_CHANCE) else f"not compared with chance: {control['reason']}"
        return "; ".join(filter(None, (reason, shown)))
    if beside.get("value") is None and control["difference"] <= 0:
        return f"but {_chance(metric, control)}"
    return f"cannot be told from chance ({_chance(metric, control)})"


def controls_words(controls: Sequence[Mapping[str, Any]]) -> str:
    """What the controls of one metric say in several games; empty where none could be compared.

    Example: "above chance in 3 of 4 games, mean link strength 62 (chance 50)".
    """
    sides = [control.get("companion") or {} for control in controls]
    compared = [
        (control, beside)
        for control, beside in zip(controls, sides, strict=True)
        if beside.get("p") is not None or (control["p"] is not None and not control["reason"])
    ]
    above = sum(_is_clear(control, beside) for control, beside in compared)
    parts = [f"above chance in {above} of {counted(len(compared), 'game')}"] if compared else []
    known = [beside for beside in sides if beside.get("value") is not None]
    if known:
        mean = {"name": known[0]["name"], "value": _mean(known, "value"), "chance": None}
        chances = [beside for beside in known if beside["chance"] is not None]
        chance = f" (chance {_number(_mean(chances, 'chance'))})" if chances else ""
        parts.append(f"mean {_companion(mean)}{chance}")
    return ", ".join(parts)


def _is_clear(control: Mapping[str, Any], beside: Mapping[str, Any]) -> bool:
    """Whether the companion, or the score itself, lies clearly above chance."""
    return any(one.get("p") is not None and one["p"] <= _CLEAR for one in (beside, control))


def _mean(sides: Sequence[Mapping[str, Any]], key: str) -> float:
    return float(sum(beside[key] for beside in sides) / len(sides))


def _companion(beside: Mapping[str, Any]) -> str:
    label = COMPANION_LABELS.get(beside["name"], beside["name"])
    chance = "" if beside["chance"] is None else f", chance {_number(beside['chance'])}"
    return f"{label} {_number(beside['value'])}{chance}"


def _chance(metric: str, control: Mapping[str, Any]) -> str:
    return f"{_DESTROYED.get(metric, 'by chance')} it is {_number(control['chance'])} %"


def _number(value: float) -> str:
    """A whole number, or one digit more below 10; never "-0"."""
    digits = 0 if abs(value) >= 10 else 1
    text = f"{value:.{digits}f}".removesuffix(".0")
    return "0" if text == "-0" else text
