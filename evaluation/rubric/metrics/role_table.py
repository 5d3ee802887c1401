"""The rubric's table of acts that fit a role, read from its data file (rubric 1.0, metric 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from evaluation.rubric.claims.role_knowledge import knows_ally
from evaluation.rubric.clauses.grammar import read_data
from evaluation.rubric.speech.act_types import ActKind, SpeechAct
from evaluation.transcript import Alignment, Player

Aim = Literal["ally", "stranger", "other", "unknown"]
"""A player of the own evil side whom the role knows, one whom it does not know, another player, or nobody known."""


@dataclass(frozen=True, slots=True)
class RoleRule:
    """One line of the table. ``None`` in a condition means that it does not matter.

    Attributes:
        side: Whose line it is.
        acts: The speech acts that it covers.
        at: At whom they are aimed: a fellow Mafia player whom the role knows, one whom it does not, or somebody else.
        grounds: Whether grounds are given.
        role: Which side a revealed role belongs to.
        consistent: Whether the act fits the role.
        line: The rubric's line.
        reason: What the speaker does, for people; ``{target}`` stands for the player aimed at.
    """

    side: Alignment
    acts: frozenset[ActKind]
    at: Aim | None
    grounds: bool | None
    role: Literal["evil", "town"] | None
    consistent: bool
    line: str
    reason: str

    def fits(self, act: SpeechAct, at: Aim, *, grounded: bool) -> bool:
        """Whether the rule covers ``act``, one of its ``acts`` by a speaker of its side.

        Args:
            act: The act.
            at: At whom it is aimed, seen from the speaker.
            grounded: Whether grounds are given for it.
        """
        role = "evil" if act.role == "evil" else "town"
        return self.at in (None, at) and self.grounds in (None, grounded) and self.role in (None, role)


def aim_of(speaker: Player, target: Player | None) -> Aim:
    """At whom an act of ``speaker`` is aimed."""
    if target is None:
        return "unknown"
    if speaker.alignment != "mafia" or target.alignment != "mafia":
        return "other"
    return "ally" if knows_ally(speaker, target) else "stranger"


def rule_for(act: SpeechAct, side: Alignment, at: Aim, *, grounded: bool) -> RoleRule | None:
    """The first rule that covers ``act`` by a speaker of ``side``; ``None`` when the act carries no signal."""
    rules = _rules_by_act().get((side, act.kind), ())
    return next((rule for rule in rules if rule.fits(act, at, grounded=grounded)), None)


@cache
def _rules_by_act() -> Mapping[tuple[Alignment, ActKind], Sequence[RoleRule]]:
    found: dict[tuple[Alignment, ActKind], list[RoleRule]] = {}
    for rule in role_rules():
        for act in rule.acts:
            found.setdefault((rule.side, act), []).append(rule)
    return found


@cache
def role_rules() -> tuple[RoleRule, ...]:
    """The table, in the order in which its rules are tried."""
    return tuple(
        RoleRule(
            entry["side"],
            frozenset(ActKind(act) for act in entry["acts"]),
            entry.get("at"),
            entry.get("grounds"),
            entry.get("role"),
            entry["consistent"],
            entry["line"],
            entry["reason"],
        )
        for entry in read_data("role_table.yaml")["rules"]
    )
