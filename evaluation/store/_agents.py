"""Agents and channels, their personas, and the map from speakers to agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from evaluation.errors import InputError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.judging.propositions import TargetType
from evaluation.persona.agents import SYNTHETIC_FORMAT, Agent, SpeakerMap, find_agent, shipped_cast
from evaluation.store._bulk_rows import from_json, packed, require_storable, require_text
from evaluation.store.transactions import UnitsPart
from evaluation.text.agent_names import agent_name, slug_of
from evaluation.transcript import SIMULATED_FORMAT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LARGEST_PERSONA = 1_000_000


class Agents(UnitsPart):
    """Reads and writes ``agents`` and ``agent_speakers``."""

    def all(self) -> dict[str, Agent]:
        """Every agent that is known, by id, in the order in which they became so."""
        rows = self._units.rows(_ALL)
        return {key: Agent(key, name, TargetType(kind), from_json(persona)) for key, name, kind, persona in rows}

    def get(self, agent_id: str) -> Agent:
        """The agent with that id.

        Raises:
            NotFoundError: There is none.
        """
        found = self.all().get(agent_id)
        if found is None:
            raise NotFoundError(
                f"There is no agent {agent_id!r}.", remedy="Agents become known when they are evaluated."
            )
        return found

    def resolve(self, reference: str) -> Agent | None:
        """The agent that somebody means by an id or a name: stored, shipped or speaking; ``None`` for nobody known.

        An agent that is not stored has the name that it is shipped or speaks under.

        Raises:
            InputError: Several agents have that name, or UTF-8 cannot hold it.
        """
        require_storable(agent=reference)
        with self._units.unit():
            stored, chosen = self.all(), self.speakers()
            cast = shipped_cast()
            people = [agent for agent in stored.values() if agent.kind is TargetType.AGENT]
            names = [(agent.id, agent.display_name) for agent in people]
            names += [(key, name) for key, member in cast.members.items() for name in member.speakers]
            names += [(key, speaker) for speaker, key in chosen.items()]
            found = reference if reference in stored else find_agent(reference, names)
            if found is None:
                # Reading who speaks takes a look at every message.
                speakers = SpeakerMap(chosen, {slug_of(name): key for key, name in names})
                names = [(speakers.agent_id(speaker), speaker) for _, speaker in self.players()]
                found = find_agent(reference, names)
        if found is None:
            return None
        shipped = [cast.members[found].agent] if found in cast.members else []
        spoken = [Agent(key, name) for key, name in names if key == found]
        return stored.get(found) or next(iter([*shipped, *spoken]))

    def ensure(self, agents: Iterable[Agent]) -> None:
        """Makes agents known; those that are stay as they are, but one that has no name besides its id gets it."""
        with self._units.unit(write=True, join=True) as cursor:
            for agent in agents:
                _insert(
                    cursor,
                    agent,
                    "(id) DO UPDATE SET display_name = excluded.display_name WHERE agents.display_name = agents.id",
                )

    def save(self, agent: Agent) -> None:
        """Stores name and persona of an agent, in place of those before.

        Raises:
            InputError: It cannot have that name, or the persona is larger than a million characters.
        """
        require_text(id=agent.id, name=agent.display_name)
        if agent.kind is TargetType.AGENT:
            agent_name(agent.id)
            agent_name(agent.display_name)
        if agent.persona is not None and len(packed(agent.persona)) > _LARGEST_PERSONA:
            raise InputError(
                f"The persona has more than {_LARGEST_PERSONA:,} characters.",
                place=agent.id,
                remedy="Shorten it; a judge reads the first 20,000.",
            )
        with self._units.unit(write=True, join=True) as cursor:
            _insert(
                cursor, agent, "(id) DO UPDATE SET display_name = excluded.display_name, persona = excluded.persona"
            )

    def speakers(self) -> dict[str, str]:
        """The agents of speakers, as people decided; a speaker that is not here is an agent by name."""
        return dict(self._units.rows("SELECT speaker, agent_id FROM agent_speakers ORDER BY speaker"))

    def speaker_map(self) -> SpeakerMap:
        """The agent of any speaker: as people decided, else by the names of the shipped cast and of stored agents."""
        with self._units.unit():
            people = [agent for agent in self.all().values() if agent.kind is TargetType.AGENT]
            names = {slug_of(agent.display_name): agent.id for agent in people}
            return SpeakerMap(self.speakers(), {**shipped_cast().by_slug, **names})

    def players(self, *, with_simulated: bool = True) -> list[tuple[str, str]]:
        """Transcript id and name of everybody who says something in a stored transcript, in the order of these.

        Synthetic transcripts are left out: they are evaluated where they are made.

        Args:
            with_simulated: Whether the conversations of experiments count.
        """
        left_out = [SYNTHETIC_FORMAT] if with_simulated else [SYNTHETIC_FORMAT, SIMULATED_FORMAT]
        return self._units.rows(_PLAYERS, [left_out])

    def map_speaker(self, speaker: str, agent_id: str | None, *, who: str = "") -> None:
        """Decides which agent a speaker is, in all transcripts; ``None`` returns to the name.

        Raises:
            InputError: The speaker or the id is blank.
        """
        require_text(speaker=speaker)
        with self._units.unit(write=True, join=True) as cursor:
            if agent_id is None:
                cursor.execute("DELETE FROM agent_speakers WHERE speaker = ?", [speaker])
                return
            require_text(agent=agent_id)
            cursor.execute(
                "INSERT OR REPLACE INTO agent_speakers (speaker, agent_id, who) VALUES (?, ?, ?)",
                [speaker, agent_id, well_formed(who)],
            )

    def set_speakers(self, agent_id: str, speakers: Sequence[str], *, who: str = "") -> None:
        """Decides which speakers an agent is; others that it was until now are agents by name again."""
        with self._units.unit(write=True, join=True):
            for speaker, known in self.speakers().items():
                if known == agent_id and speaker not in speakers:
                    self.map_speaker(speaker, None)
            for speaker in speakers:
                self.map_speaker(speaker, agent_id, who=who)

    def delete(self, agent_id: str) -> None:
        """Removes an agent with its evaluations, corrections, config and speakers.

        Its messages stay in their transcripts; they make it known again when it is evaluated.

        Raises:
            NotFoundError: There is no such agent.
        """
        self.get(agent_id)
        self._units.execute_in_turn(
            agent_id,
            f"DELETE FROM evaluation_scores WHERE evaluation_run_id IN ({_RUNS})",
            f"DELETE FROM score_failures WHERE evaluation_run_id IN ({_RUNS})",
            "DELETE FROM evaluation_runs WHERE agent_id = ?",
            "DELETE FROM correction_logs WHERE agent_id = ?",
            "DELETE FROM agent_evaluation_config WHERE agent_id = ?",
            "DELETE FROM agent_speakers WHERE agent_id = ?",
            "DELETE FROM agents WHERE id = ?",
        )


def _insert(cursor: DuckDBPyConnection, agent: Agent, on_conflict: str) -> None:
    persona = None if agent.persona is None else packed(agent.persona).decode("utf-8")
    cursor.execute(
        f"INSERT INTO agents (id, display_name, kind, persona) VALUES (?, ?, ?, ?) ON CONFLICT {on_conflict}",
        [well_formed(agent.id), well_formed(agent.display_name), str(agent.kind), persona],
    )


_PLAYERS = """
SELECT t.transcript_id, m.speaker FROM transcripts t JOIN messages m USING (transcript_id)
WHERE m.channel <> 'system' AND NOT m.is_control AND NOT list_contains(?, t.source_format)
GROUP BY t.transcript_id, t.position, m.speaker
ORDER BY t.position, min(m.position)
"""

_RUNS = "SELECT id FROM evaluation_runs WHERE agent_id = ?"
_ALL = "SELECT id, display_name, kind, persona::text FROM agents ORDER BY created_at, id"
