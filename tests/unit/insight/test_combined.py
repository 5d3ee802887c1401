"""Several games in one graph, counted by hand."""

from __future__ import annotations

from evaluation.insight.addressing import NO_ROLE, MessageFilter, combined_metrics, transcript_metrics
from evaluation.transcript import Message, Player, Transcript


def game(name: str, roles: dict[str, str | None], *said: tuple[str, str]) -> Transcript:
    messages = tuple(
        Message(id=f"m{at}", index=at, speaker=who, text=text, round=at + 1) for at, (who, text) in enumerate(said)
    )
    players = tuple(Player(name=one, role=role) for one, role in roles.items())
    return Transcript(game_id=name, source_format="native", players=players, messages=messages)


FIRST = game(
    "one",
    {"Ann": "mafia", "Bob": "villager", "Cy": "villager", "Di": None},
    ("Ann", "Bob and Cy, what do you say?"),
    ("Bob", "Cy, it was Ann."),
    ("Di", "Ann, no."),
)
SECOND = game("two", {"Ann": "villager", "Bob": "mafia", "Eve": "mafia"}, ("Ann", "Bob, hello."), ("Bob", "Eve, wait."))


def test_counts_of_players_with_one_name_are_summed() -> None:
    found = combined_metrics([FIRST, SECOND])
    assert dict(found.interaction_matrix) == {
        ("Ann", "Bob"): 2,
        ("Ann", "Cy"): 1,
        ("Bob", "Cy"): 1,
        ("Bob", "Ann"): 1,
        ("Di", "Ann"): 1,
        ("Bob", "Eve"): 1,
    }
    assert found.messages_per_agent == {"Ann": 2, "Bob": 2, "Di": 1}
    assert (found.total_messages, found.api_calls) == (5, None)
    assert found.network is not None
    assert list(found.network.centrality) == ["Ann", "Bob", "Cy", "Di", "Eve"]


def test_by_role_a_message_counts_once_for_each_role_that_it_addresses() -> None:
    found = combined_metrics([FIRST, SECOND], by_role=True)
    assert dict(found.interaction_matrix) == {
        ("mafia", "villager"): 1,  # Ann names two villagers in one message
        ("villager", "villager"): 1,
        ("villager", "mafia"): 2,  # Bob names Ann in the first game, Ann Bob in the second
        (NO_ROLE, "mafia"): 1,
        ("mafia", "mafia"): 1,
    }
    assert found.network is not None
    assert found.network.edges == 3, "what stays within a role is in the table only"


def test_one_game_gives_what_its_own_figures_give_and_filters_hold() -> None:
    alone = transcript_metrics(FIRST)
    assert combined_metrics([FIRST]).interaction_matrix == alone.interaction_matrix
    assert combined_metrics([FIRST]).network == alone.network
    assert dict(combined_metrics([FIRST, SECOND], MessageFilter(round=2)).interaction_matrix) == {
        ("Bob", "Cy"): 1,
        ("Bob", "Ann"): 1,
        ("Bob", "Eve"): 1,
    }
    assert combined_metrics([]).network is None
