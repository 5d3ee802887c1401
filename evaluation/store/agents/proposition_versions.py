"""Versions of propositions that people saved: only ever added; the latest of a dimension and agent is in force."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluation.errors import InputError
from evaluation.escaping import well_formed
from evaluation.store.engine.text_checks import require_text
from evaluation.store.engine.timestamps import from_microseconds
from evaluation.store.engine.transactions import Units


@dataclass(frozen=True, slots=True)
class PropositionVersion:
    """One saved version of the propositions of a dimension, for everybody or for one agent.

    Attributes:
        number: From 1, counted over the versions of this dimension and agent.
        agent_id: ``_default`` for everybody.
        content: A whole proposition file as YAML; untrusted. ``None`` where the shipped ones were taken again.
        who: The person who saved it; untrusted.
        at: In UTC.
    """

    number: int
    dimension: str
    agent_id: str
    content: str | None
    who: str
    at: datetime


class PropositionVersions:
    """Reads and writes ``proposition_versions``."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def add(self, dimension: str, agent_id: str, content: str | None, who: str, *, after: int) -> PropositionVersion:
        """Stores a version, which is in force from now on.

        Args:
            dimension: The dimension of the propositions.
            agent_id: The agent that they apply to; ``_default`` for everybody.
            content: A whole proposition file; ``None`` for the shipped ones.
            who: The person who saves it.
            after: The number of the version that the person began with; 0 for none.

        Raises:
            InputError: Somebody else has saved a version since, or a text is blank.
        """
        require_text(dimension=dimension, agent_id=agent_id, who=who)
        with self._units.unit(write=True, join=True) as cursor:
            held = len(self.history(dimension, agent_id))
            if held != after:
                raise InputError(
                    f"Version {held} was saved since these propositions were opened.",
                    remedy="Look at it among the versions, then save again.",
                )
            text = None if content is None else well_formed(content)
            cursor.execute(_INSERT, [dimension, agent_id, text, well_formed(who)])
        return self.history(dimension, agent_id)[-1]

    def history(self, dimension: str, agent_id: str) -> list[PropositionVersion]:
        """All versions of a dimension and agent, the oldest first."""
        with self._units.unit() as cursor:
            rows = cursor.execute(f"{_SELECT} WHERE dimension = ? AND agent_id = ? ORDER BY 1", [dimension, agent_id])
            return [_version(row) for row in rows.fetchall()]

    def in_force(self) -> list[PropositionVersion]:
        """The latest version of every dimension and agent, without those that took the shipped ones again."""
        with self._units.unit() as cursor:
            rows = cursor.execute(f"SELECT * FROM ({_LATEST}) WHERE content IS NOT NULL ORDER BY 2, 3").fetchall()
        return [_version(row) for row in rows]


def _version(row: tuple[Any, ...]) -> PropositionVersion:
    number, dimension, agent_id, content, who, created = row
    return PropositionVersion(number, dimension, agent_id, content, who, from_microseconds(created))


_INSERT = "INSERT INTO proposition_versions (dimension, agent_id, content, who) VALUES (?, ?, ?, ?)"

_SELECT = """
SELECT * FROM (
    SELECT row_number() OVER (PARTITION BY dimension, agent_id ORDER BY version_id) AS number,
           dimension, agent_id, content, who, epoch_us(created_at) AS created
    FROM proposition_versions
)
"""

_LATEST = (
    f"SELECT * FROM ({_SELECT}) QUALIFY row_number() OVER (PARTITION BY dimension, agent_id ORDER BY number DESC) = 1"
)
