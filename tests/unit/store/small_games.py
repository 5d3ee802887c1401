"""The smallest game that a store takes."""

from __future__ import annotations

from evaluation.transcript import Message, Player, Transcript


def game(name: str) -> Transcript:
    """One message of one player, whose content depends on ``name``."""
    said = (Message(id="m0", index=0, speaker="Ann", text=f"Hello {name}"),)
    return Transcript(game_id=name, source_format="native", players=(Player(name="Ann"),), messages=said)
