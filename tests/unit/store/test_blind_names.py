"""At the desk nobody is called by a name that says what the desk withholds."""

from __future__ import annotations

from evaluation.store import Store
from evaluation.transcript import Elimination
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of


def test_names_that_tell_who_is_human_which_model_or_which_role_are_numbers() -> None:
    spoken = ("human", "gpt-4", "Speaker 1", "Seer", "human")
    players = {
        "human": {"is_human": True},
        "gpt-4": {"model": "GPT-4"},
        "Speaker 1": {"role": "villager"},
        "Seer": {"role": "seer"},
    }
    game = game_of([(who, "Hello there") for who in spoken], players, eliminations=(Elimination(player="Seer"),))
    store = Store(":memory:")
    add_evaluated(store, game, source_name="telling.json")
    blind = store.blind.get(game.id)
    # "Speaker 1" is somebody's own name, so the numbers begin with 2.
    assert [message.speaker for message in blind.messages] == [
        "Speaker 2", "Speaker 3", "Speaker 1", "Speaker 4", "Speaker 2",
    ]  # fmt: skip
    assert blind.eliminations[0].player == "Speaker 4"
    store.close()
