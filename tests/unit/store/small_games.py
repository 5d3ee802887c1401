"""The smallest game that a store takes."""

from evaluation.transcript import Transcript
from tests.games import game_of


def game(name: str) -> Transcript:
    """One message of one player, whose content depends on ``name``."""
    return game_of([("Ann", f"Hello {name}")], game_id=name)
