"""Summarise the controls of one metric over several games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.rubric.controls.words import companion_words, is_above_chance, number_words
from evaluation.text.display import counted

Control = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ControlSummary:
    """The controls of one metric over the games that have a score.

    Attributes:
        games: How many have a score.
        pending: How many of them have no control yet.
        compared: How many of them were compared with chance, by their score or by their companion.
        above: How many of those lie clearly above chance (p at most 0.05).
        chance: The mean score by chance over the games where it is known; ``None`` without any.
        difference: The mean of the rule's score less chance over the same games.
        companion: Name of the companion; ``None`` where no game has one.
        value: The mean companion over the games that have one.
        companion_chance: The mean companion by chance over the games where that is known.
    """

    games: int
    pending: int
    compared: int
    above: int
    chance: float | None
    difference: float | None
    companion: str | None
    value: float | None
    companion_chance: float | None

    @property
    def words(self) -> str:
        """The text beside a mean; empty where nothing can be said.

        Example: "better than scrambled copies in 3 of 4 games, mean link strength 62 (scrambled 50)".
        """
        parts = (
            [f"better than scrambled copies in {self.above} of {counted(self.compared, 'game')}"]
            if self.compared
            else []
        )
        if self.companion is not None and self.value is not None:
            chance = "" if self.companion_chance is None else f" (scrambled {number_words(self.companion_chance)})"
            parts.append(f"mean {companion_words(self.companion, self.value)}{chance}")
        if self.pending:
            parts.append(f"{counted(self.pending, 'game')} not compared with scrambled copies yet")
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
            "games": self.games,
            "pending": self.pending,
            "compared": self.compared,
            "above_chance": self.above,
            "chance": self.chance,
            "difference": self.difference,
            "companion": companion if self.companion else None,
            "words": self.words,
        }


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
        value=_mean(valued, "value"),
        companion_chance=_mean([beside for beside in valued if beside["chance"] is not None], "chance"),
    )


def metrics_above_chance(controls: Iterable[Control | None]) -> str:
    """The number of metrics of one game clearly above chance, of those compared: "2 of 4".

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
    beside = control.get("companion") or {}
    return beside.get("p") is not None or (control["p"] is not None and not control["reason"])


def _mean(sides: Sequence[Control], key: str) -> float | None:
    return float(sum(beside[key] for beside in sides) / len(sides)) if sides else None
