"""A control as a sentence, beside the score that it qualifies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.score import AT_CHANCE
from evaluation.text.display import counted, picked_data

_CLEAR = 0.05
_SMALLEST_LEAD = 1.0
NO_CHANCE = "no chance level"
"""The reason of a control of a metric that no rearrangement destroys."""
TOO_FEW = "too few arrangements to tell"
"""The reason of a control whose best arrangement would not lie beyond luck."""
BETTER, COULD_BE_LUCK = "better than scrambled copies, beyond luck", "ahead of scrambled copies, but that could be luck"
TOO_ALIKE, WAITING = f"{TOO_FEW} it from scrambled copies", "not compared with scrambled copies yet"
"""With ``AT_CHANCE`` the words for a game beside its scrambled copies; there are no others."""
COMPANION_LABELS = {
    "link_strength": "link strength",
    "voice_distance": "voice distance",
    "direction": "aim at rivals",
    "repetition_rate": "% repeated within 500 words",
}
REPETITION_RATE = "repetition_rate"
_DESTROYED = {
    "memory_accuracy": "with the players' names permuted in the record",
    "coherence": "with the same messages in random order",
    "role_consistency": "with the roles dealt at random",
    "personality_diversity": "with the same messages by random players",
}


def is_at_chance(controls: Iterable[Control | None]) -> bool:
    """Whether the scores of some games are no better than those of their scrambled copies.

    So they are where they lie less than a point above them in the mean, and where most of several games that were
    compared do not lie above them beyond luck. One game that does not proves no chance: its words say that it could be
    luck, and it keeps its status.

    Args:
        controls: Each game's; ``None`` where none is computed.

    Returns:
        False where no game was compared.
    """
    known = [control for control in controls if control is not None and control.get("difference") is not None]
    if known and sum(control["difference"] for control in known) / len(known) < _SMALLEST_LEAD:
        return True
    compared = [control for control in known if _is_compared(control)]
    return len(compared) > 1 and 2 * sum(map(is_above_chance, compared)) <= len(compared)


def control_words(metric: str, score: float | None, control: Mapping[str, Any] | None) -> str:
    """The control's statement about a score in a few words; empty where there is no score.

    Examples: "better than scrambled copies, beyond luck (link strength 66, scrambled 50)"; "but with the same
    messages in random order it is 99 %"; "no better than scrambled copies"; "not compared with scrambled copies yet".
    """
    if score is None:
        return ""
    if control is None or control.get("status") == "pending":
        return WAITING
    beside = control.get("companion") or {}
    shown = _companion(beside) if beside.get("value") is not None else ""
    compared = "" if control["chance"] is None else _chance(metric, control) + _compared_words(metric, score, control)
    is_too_few = control["reason"] == TOO_FEW
    if is_at_chance([control]):
        return "; ".join(filter(None, (f"{AT_CHANCE}{f', {TOO_FEW} more' * is_too_few}: {compared}", shown)))
    if _is_compared(control):
        # The companion speaks where it tells the game from chance, or where the score alone cannot.
        by_companion = _is_clear(beside) or not _is_score_compared(control)
        verdict = BETTER if is_above_chance(control) else TOO_ALIKE if is_too_few else COULD_BE_LUCK
        return f"{verdict} ({'; '.join(filter(None, (shown, compared))) if by_companion else compared})"
    reason = (
        "" if control["reason"] in (None, NO_CHANCE) else f"not compared with scrambled copies: {control['reason']}"
    )
    return "; ".join(filter(None, (reason, shown)))


_COMPARED_WITHOUT = {"coherence": "by the rule without reply ids"}


def _compared_words(metric: str, score: float, control: Mapping[str, Any]) -> str:
    """The value that is compared, where it is another than the score: the difference is between these two."""
    value = control.get("value")
    if value is None or number_words(value) == number_words(score):
        return ""
    return f", compared with {number_words(value)} % {_COMPARED_WITHOUT.get(metric, 'by rule and reader')}"


def is_above_chance(control: Mapping[str, Any]) -> bool:
    """Whether the companion, or the score itself, lies above chance beyond luck; never where the score does not."""
    return not is_at_chance([control]) and any(map(_is_clear, (control.get("companion") or {}, control)))


def _is_clear(beside: Mapping[str, Any]) -> bool:
    return beside.get("p") is not None and beside["p"] <= _CLEAR


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
    return "0" if text == "-0" else text.replace("-", "\u2212")


Control = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ControlSummary:
    """The controls of one metric over the games that have a score.

    Attributes:
        games: How many have a score.
        pending: How many of them have no control yet.
        compared: How many of them were compared with chance, by their score or by their companion.
        above: How many of those lie above chance beyond luck (p at most 0.05).
        chance: The mean score by chance over the games where it is known; ``None`` without any.
        difference: The mean of the rule's score less chance over the same games.
        companion: Name of the companion; ``None`` where no game has one.
        values: The companion of every game that has one.
        companion_chance: The mean companion by chance over the games where that is known.
        is_at_chance: As :func:`is_at_chance` says of all of them.
    """

    games: int
    pending: int
    compared: int
    above: int
    chance: float | None
    difference: float | None
    companion: str | None
    values: tuple[float, ...]
    companion_chance: float | None
    is_at_chance: bool

    @property
    def value(self) -> float | None:
        """The mean companion over the games that have one."""
        return sum(self.values) / len(self.values) if self.values else None

    @property
    def words(self) -> str:
        """The text beside a mean; empty where nothing can be said, or no game was compared yet.

        Examples: "better than scrambled copies in 3 of 4 games, mean link strength 62 (scrambled 50)"; "no better than
        scrambled copies, which reach 99 %"; "no better than scrambled copies: above them beyond luck in 1 of 3 games".
        """
        parts = []
        if self.chance is not None and self.difference is not None and self.difference < _SMALLEST_LEAD:
            parts = [f"{AT_CHANCE}, which reach {number_words(self.chance)} %"]
        elif self.is_at_chance:
            parts = [f"{AT_CHANCE}: above them beyond luck in {self.above} of {counted(self.compared, 'game')}"]
        elif self.compared:
            parts = [f"better than scrambled copies in {self.above} of {counted(self.compared, 'game')}"]
        if self.companion is not None and self.value is not None:
            chance = "" if self.companion_chance is None else f" (scrambled {number_words(self.companion_chance)})"
            parts.append(f"mean {companion_words(self.companion, self.value)}{chance}")
        if self.pending and self.compared:
            parts.append(f"{counted(self.pending, 'game')} {WAITING}")
        return ", ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible, with the keys that one game's control has where a mean of them exists."""
        companion = {
            "name": self.companion,
            "value": self.value,
            "chance": self.companion_chance,
            "difference": None
            if self.value is None or self.companion_chance is None
            else self.value - self.companion_chance,
        }
        return {
            "above_chance": self.above,
            **picked_data(self, "games", "pending", "compared", "chance", "difference", "is_at_chance", "words"),
            "companion": companion if self.companion else None,
        }


def not_compared_words(games: int) -> str:
    """The warning beside a conclusion that rests on ``games`` without controls, and what to do."""
    words = f"{counted(games, 'game')} {WAITING}, so what passes or rises may yet mean nothing."
    return f"{words} For imported games: dramaturg reevaluate --controls."


def above_chance_change(before: ControlSummary, after: ControlSummary) -> str:
    """Both sides beside chance: "it is better than scrambled copies in 0 of 3 games before, 3 of 3 after".

    Empty where a side was not compared.
    """
    if not (before.compared and after.compared):
        return ""
    games = counted(before.compared, "game")
    both = f"{before.above} of {games} before, {after.above} of {after.compared} after"
    return f"it is better than scrambled copies in {both}"


def companion_change(before: ControlSummary, after: ControlSummary) -> str:
    """The mean companion of both sides: "voice distance 0.5 to 0.8"; empty where a side has none.

    It may differ where the score itself has come to its end.
    """
    if after.companion is None or before.value is None or after.value is None:
        return ""
    return f"{companion_words(after.companion, before.value)} to {number_words(after.value)}"


def summarise_controls(controls: Iterable[Control | None]) -> ControlSummary:
    """The controls of one metric over games, one for each game that has a score; ``None`` is one not computed yet."""
    given = list(controls)
    known = [control for control in given if control is not None and control.get("status") != "pending"]
    sides = [control["companion"] for control in known if control.get("companion")]
    valued = [beside for beside in sides if beside["value"] is not None]
    compared = [control for control in known if _is_compared(control)]
    by_chance = [control for control in known if control["chance"] is not None]
    return ControlSummary(
        games=len(given),
        pending=len(given) - len(known),
        compared=len(compared),
        above=sum(is_above_chance(control) for control in compared),
        chance=_mean(by_chance, "chance"),
        difference=_mean(by_chance, "difference"),
        companion=valued[0]["name"] if valued else None,
        values=tuple(float(beside["value"]) for beside in valued),
        companion_chance=_mean([beside for beside in valued if beside["chance"] is not None], "chance"),
        is_at_chance=is_at_chance(known),
    )


def metrics_above_chance(controls: Iterable[Control | None]) -> str:
    """The number of metrics of one game above chance beyond luck, of those compared: "2 of 4".

    Args:
        controls: Of the metrics of the game that have a score; ``None`` where none is computed yet.

    Returns:
        "pending" where a comparison that exists for the metric is not made yet; empty where none can be made.
    """
    known = list(controls)
    compared = [control for control in known if control is not None and _is_compared(control)]
    if compared:
        return f"{sum(is_above_chance(control) for control in compared)} of {len(compared)}"
    return "pending" if None in known else ""


def _is_compared(control: Control) -> bool:
    return (control.get("companion") or {}).get("p") is not None or _is_score_compared(control)


def _is_score_compared(control: Control) -> bool:
    return control["p"] is not None and not control["reason"]


def _mean(sides: Sequence[Control], key: str) -> float | None:
    return float(sum(beside[key] for beside in sides) / len(sides)) if sides else None
