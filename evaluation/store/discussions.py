"""What is needed to report on a stored discussion: the game, and what its players are said to be like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.persona.agents import Agent, SpeakerMap, slug_of
from evaluation.persona.cast import shipped_cast
from evaluation.persona.subjects import Sources, subject_of
from evaluation.transcript import Transcript

if TYPE_CHECKING:
    from evaluation.store.database import Store


def player_personas(store: Store, transcript: Transcript) -> dict[str, str]:
    """Persona texts by player: what people gave before what the transcript says before what is shipped.

    Players without one are left out.
    """
    cast = shipped_cast()
    with store.unit():
        agents, chosen = store.agents.all(), store.agents.speakers()
    names = {slug_of(agent.display_name): agent.id for agent in agents.values()}
    sources = Sources([transcript], SpeakerMap(chosen, {**cast.by_slug, **names}), cast, agents)
    found: dict[str, str] = {}
    for player in transcript.player_names:
        agent = sources.agent(sources.speakers.agent_id(player), player)
        if persona := _persona(agent, sources):
            found[player] = persona
    return found


def _persona(agent: Agent, sources: Sources) -> str:
    texts = [text for each in subject_of(agent, sources).portrayals for text in each.target.personas.values()]
    return texts[0] if texts else ""
