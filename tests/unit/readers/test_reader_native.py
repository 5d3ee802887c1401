from datetime import UTC, datetime
from typing import Any

import pytest

from evaluation.transcript import Cost
from tests.unit.readers.reading import read, refusal


def game(**changes: Any) -> dict[str, Any]:
    """Three players, four messages and one vote in the native shape; ``changes`` replace top-level keys."""
    tokens = {"totalInputTokens": 1000, "totalCachedTokens": 750, "totalOutputTokens": 200}
    cost = {"totalCost": 1.25, "cacheHitRate": 0.75, "avgCostPerTurn": 0.139} | tokens
    body = {
        "gameId": "g-7",
        "timestamp": "2025-03-01T12:30:00.000Z",
        "metadata": {"playerCount": 3, "totalTurns": 9, "cost": cost},
        "players": [
            {"name": "Agent-A", "role": "MAFIA", "personality": "cautious", "isAlive": True, "position": 0},
            {"name": "Agent-B", "role": "VILLAGER", "personality": "social", "isAlive": False, "position": 1},
            {"name": "Agent-C", "role": "VILLAGER", "personality": "analytical", "isAlive": True, "position": 2},
        ],
        "messages": [
            message("Agent-A", "Agent-A: Hello.", turn=1),
            message("Agent-B", "Who starts?", turn=4),
            message("Agent-A", "I do.", turn=5, inReplyToId="q1", inReplyToPlayer="Agent-B"),
            message("Agent-C", "Fine.", turn=9, inReplyToId=None, inReplyToPlayer="Agent-A"),
        ],
        "votes": [vote("Agent-B", "Agent-A")],
    }
    return body | changes


def message(player: str, text: str, **more: Any) -> dict[str, Any]:
    return {"roundNumber": 1, "playerName": player, "message": text, "timestamp": "2025-03-01T12:00:00Z"} | more


def vote(voter: str, target: str | None, **more: Any) -> dict[str, Any]:
    return {"roundNumber": 1, "voterName": voter, "targetName": target, "justification": "Too quiet."} | more


def test_everything_in_the_file_arrives() -> None:
    transcript = read(game())

    assert transcript.game_id == "g-7"
    assert transcript.exported_at == datetime(2025, 3, 1, 12, 30, tzinfo=UTC)
    assert transcript.started_at == datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
    assert [(p.role, p.alignment, p.personality, p.is_alive) for p in transcript.players] == [
        ("MAFIA", "mafia", "cautious", True),
        ("VILLAGER", "town", "social", False),
        ("VILLAGER", "town", "analytical", True),
    ]
    assert transcript.players[2].metadata == {"position": 2}
    assert transcript.messages[0].text == "Agent-A: Hello."
    assert [m.id for m in transcript.messages] == ["m1", "m2", "m3", "m4"]
    assert [m.round for m in transcript.messages] == [1, 1, 1, 1]
    assert transcript.votes[0].justification == "Too quiet."
    assert transcript.cost == Cost(
        total_usd=1.25, input_tokens=1000, cached_tokens=750, output_tokens=200, cache_hit_rate=0.75
    )
    assert transcript.metadata == {"playerCount": 3, "totalTurns": 9, "cost": {"avgCostPerTurn": 0.139}}


def test_a_reply_means_the_named_players_latest_earlier_message() -> None:
    replies = [m.reply_to for m in read(game()).messages]
    # The third answers Agent-B's only message; the fourth answers Agent-A's second one, not the first.
    assert replies == [None, None, "m2", "m3"]
    # Turns may have gaps, and a reply id that matches nothing is kept beside the player.
    about = [m.metadata for m in read(game()).messages]
    assert about == [{"turn": 1}, {"turn": 4}, {"turn": 5, "inReplyToId": "q1"}, {"turn": 9}]


def test_a_reply_id_alone_that_matches_nothing_stays_the_reply() -> None:
    messages = [message("Agent-A", "Hi."), message("Agent-B", "Yes.", inReplyToId="m1")]
    transcript = read(game(messages=messages))
    # "m1" is the file's own word for something unknown, so no message may be given that id.
    assert transcript.messages[1].reply_to == "m1"
    assert [m.id for m in transcript.messages] == ["mm1", "mm2"]


def test_ids_in_the_file_are_used_and_win_over_the_player() -> None:
    messages = [
        message("Agent-A", "One.", id="x1"),
        message("Agent-A", "Two.", id="x2"),
        message("Agent-B", "To the first.", id=3, inReplyToId="x1", inReplyToPlayer="Agent-A"),
    ]
    transcript = read(game(messages=messages))
    assert [m.id for m in transcript.messages] == ["x1", "x2", "3"]
    assert transcript.messages[2].reply_to == "x1"
    assert transcript.messages[2].metadata == {}


def test_a_reply_to_somebody_who_has_not_spoken_is_kept_as_written() -> None:
    transcript = read(game(messages=[message("Agent-A", "Hi.", inReplyToPlayer="Agent-C")]))
    assert transcript.messages[0].reply_to is None
    assert transcript.messages[0].metadata == {"inReplyToPlayer": "Agent-C"}


def test_missing_keys_are_null() -> None:
    body = {"players": [{"name": "Ann"}], "messages": [{"playerName": "Ann", "message": "Hi."}]}
    transcript = read(body)
    assert transcript.game_id.startswith("native-")
    assert transcript.players[0].alignment is None
    assert transcript.messages[0].round is None
    assert transcript.votes == ()
    assert transcript.cost is None


@pytest.mark.parametrize("cost", [None, {}, {"totalCost": 0, "totalInputTokens": 0, "cacheHitRate": 0}])
def test_a_cost_of_zero_is_unknown(cost: object) -> None:
    assert read(game(metadata={"cost": cost})).cost is None


def test_unknown_keys_are_kept_where_they_belong() -> None:
    body = game(seed=42, votes=[vote("Agent-A", "Agent-B"), vote("Agent-B", "Agent-A", weight=2)])
    body["messages"][0]["temperature"] = 0.5
    transcript = read(body)
    assert transcript.metadata["extra"] == {"seed": 42}
    assert transcript.metadata["votes"] == [{"vote": 1, "weight": 2}]
    assert transcript.messages[0].metadata["temperature"] == 0.5


def test_the_moderator_speaks_on_the_system_channel() -> None:
    messages = [message("Game Master", "Night falls."), message("Agent-A", "Hm.")]
    transcript = read(game(messages=messages))
    assert [m.channel for m in transcript.messages] == ["system", "public"]
    assert len(transcript.discussion) == 1


def test_a_player_called_like_a_moderator_is_a_player() -> None:
    transcript = read(game(players=[{"name": "Host"}], messages=[message("Host", "Hi.")], votes=[]))
    assert transcript.messages[0].channel == "public"


def test_case_and_space_around_names_do_not_matter() -> None:
    transcript = read(game(messages=[message(" agent-a ", "Hi.")], votes=[vote("AGENT-B", "agent-c ")]))
    assert transcript.messages[0].speaker == "Agent-A"
    assert (transcript.votes[0].voter, transcript.votes[0].target) == ("Agent-B", "Agent-C")


@pytest.mark.parametrize("target", [None, "", "  ", "abstain", "No one", "-"])
def test_an_abstention_has_no_target(target: str | None) -> None:
    assert read(game(votes=[vote("Agent-A", target)])).votes[0].target is None


def test_a_time_without_offset_is_utc_and_milliseconds_are_understood() -> None:
    # 1,740,830,400,000 ms = 2025-03-01T12:00:00Z
    messages = [
        message("Agent-A", "a", timestamp="2025-03-01T12:00:00"),
        message("Agent-A", "b", timestamp=1_740_830_400_000),
        message("Agent-A", "c", timestamp="2025-03-01T14:00:00+02:00"),
    ]
    assert {m.sent_at for m in read(game(messages=messages)).messages} == {datetime(2025, 3, 1, 12, tzinfo=UTC)}


def test_the_time_of_export_does_not_make_another_game() -> None:
    assert read(game()).id == read(game(timestamp="2026-01-01T00:00:00Z")).id


REFUSALS = [
    (game(messages={"a": 1}), "$.messages: Found an object, expected a list."),
    (
        game(votes=[vote("Moderator", "Agent-A")]),
        '$.votes[0].voterName: Found the text "Moderator", expected one of the players (Agent-A, Agent-B, Agent-C).',
    ),
    (
        game(players=[{"name": "Agent-A", "isAlive": "yes"}]),
        '$.players[0].isAlive: Found the text "yes", expected true',
    ),
]


@pytest.mark.parametrize(("body", "expected"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_broken_file_is_refused_with_its_place(body: dict[str, Any], expected: str) -> None:
    assert refusal(body).startswith(expected)
