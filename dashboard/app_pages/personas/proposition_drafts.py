"""Drafts of propositions: typed into the form and not saved yet; they outlive a change of page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from evaluation.judging.propositions.proposition import ENVIRONMENT_DIMENSIONS, Dimension, Proposition, TargetType
from evaluation.workflows.propositions.saved import proposition_text

_DRAFTS = "proposition_drafts"

FIELDS = ("id", "claim", "weight", "is_inverted", "has_double_check", "precondition", "recommendations_for_improvement")
"""The fields of a proposition that the form has."""


@dataclass
class Draft:
    """The propositions of a dimension and an agent as they stand in the form.

    Attributes:
        begun_at: The number of the version that the form was filled from; 0 for the shipped ones.
        head: The fields that all propositions of a file share.
        rows: The fields of each proposition, by a number that never changes.
        serial: Tells this filling of the form from earlier ones, in the keys of its widgets.
    """

    dimension: Dimension
    agent_id: str
    begun_at: int
    head: dict[str, Any]
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    serial: int = 0

    @property
    def propositions(self) -> tuple[Proposition, ...]:
        """The propositions that the form holds, not checked."""
        return tuple(Proposition(**self.head, **row) for row in self.rows.values())

    @property
    def text(self) -> str:
        """The text of the form as a proposition file."""
        return proposition_text(self.dimension, self.agent_id, self.propositions)

    def key(self, row: int, name: str) -> str:
        """The key of the widget of a field."""
        return f"proposition_{self.dimension}_{self.serial}_{row}_{name}"

    def add(self) -> None:
        """Adds an empty proposition."""
        empty = {name: getattr(Proposition("", "", self.dimension), name) for name in FIELDS}
        self.rows[max(self.rows, default=-1) + 1] = empty

    def remove(self, row: int) -> None:
        """Leaves a proposition out."""
        del self.rows[row]


def draft_of(dimension: Dimension, agent_id: str, held: tuple[Proposition, ...], begun_at: int) -> Draft:
    """The draft of this session, filled from ``held`` where there is none yet."""
    drafts: dict[tuple[str, str], Draft] = st.session_state.setdefault(_DRAFTS, {})
    key = (str(dimension), agent_id)
    if key not in drafts:
        drafts[key] = _filled(dimension, agent_id, held, begun_at, serial=st.session_state.setdefault(_SERIAL, 0))
        st.session_state[_SERIAL] += 1
    return drafts[key]


_SERIAL = "proposition_serial"


def forget_draft(dimension: Dimension, agent_id: str) -> None:
    """Fills the form anew at its next run."""
    drafts: Mapping[tuple[str, str], Draft] = st.session_state.get(_DRAFTS, {})
    st.session_state[_DRAFTS] = {key: one for key, one in drafts.items() if key != (str(dimension), agent_id)}


def _filled(dimension: Dimension, agent_id: str, held: tuple[Proposition, ...], begun_at: int, *, serial: int) -> Draft:
    first = held[0] if held else Proposition("", "", dimension, agent_id, target_type=_target(dimension))
    first = replace(first, agent_id=agent_id)
    head = {name: getattr(first, name) for name in _HEAD}
    rows = {number: {name: getattr(each, name) for name in FIELDS} for number, each in enumerate(held)}
    return Draft(dimension, agent_id, begun_at, head, rows, serial)


_HEAD = ("dimension", "agent_id", "includes_personas", "target_type", "first_n", "last_n")


def _target(dimension: Dimension) -> TargetType:
    return TargetType.ENVIRONMENT if dimension in ENVIRONMENT_DIMENSIONS else TargetType.AGENT
