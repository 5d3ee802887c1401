"""Kinds of foreign files: what a program notes for one agent, votes told beside the talk, and tables of other tools."""

from __future__ import annotations

from collections import Counter

from tests.unit.readers.reading import lines, read, result, results, told
from tests.unit.readers.test_who_could_hear import heard


def test_what_one_agent_remembers_is_no_public_speech() -> None:
    def agent(name: str) -> dict[str, object]:
        noted = [
            {"content": f"Recent events seen by {name}: an offer of {sum_}"} for sum_ in ("ten coins", "six coins")
        ]
        return {"name": name, "role": "Buyer", "temp_memory": noted}

    said = [
        {"from": "Olga", "to": ["Per (Buyer (of the house))", "Rui"], "content": "Good morning to both of you."},
        {"from": "Per", "to": ["Olga"], "content": "Between us, I would pay more than that."},
        {"from": "Rui", "to": ["Olga", "Per"], "content": "I am listening to you both."},
    ]
    content = {"agents": [agent("Olga"), agent("Per"), agent("Rui")], "conversation_log": said}
    assert [(channel, who) for channel, who, _ in heard(content)] == [
        ("public", "Olga"), ("private", "Per"), ("public", "Rui"),
    ]  # fmt: skip


def test_a_voter_with_a_role_in_brackets_is_who_speaks() -> None:
    said = [{"speaker": name, "thought": "I lie to them.", "utterance": "I am a villager."} for name in ("Olga", "Per")]
    votes = [{"voter": "Olga [Seer]", "vote": "Per."}, {"voter": "Per [Wolf]", "vote": "Olga"}]
    transcript = read({"utterances": said, "votes": votes})
    assert [(vote.voter, vote.target) for vote in transcript.votes] == [("Olga", "Per"), ("Per", "Olga")]
    assert [player.name for player in transcript.players] == ["Olga", "Per"]


def test_votes_of_a_hidden_channel_are_none_and_those_listed_stand_beside_those_told() -> None:
    said = [{"day": 1, "player": name, "message": "Who was it, what do you think?"} for name in ("p_1", "p_2", "p_3")]
    told_by = {"day": 1, "player": "game_master", "message": "The result:\n  p_1 voted for p_2\n  p_2 voted for p_1"}
    wolves = [{"day": 1, "wolf": "p_1", "message": "Let us take p_3 tonight.", "vote": "p_3"}]
    ballots = [{"voter": "p_3", "votee": "p_2"}]
    transcript = read({"day_channel": [*said, told_by], "wolf_channel": wolves, "day_votes": ballots})
    assert [(one.voter, one.target) for one in transcript.votes] == [("p_1", "p_2"), ("p_2", "p_1"), ("p_3", "p_2")]


def test_texts_and_votes_by_player_that_begin_with_the_name() -> None:
    texts = {name: f"{name}: It is round and quite sweet." for name in ("Player 1", "Player 2")}
    votes = {
        "Player 1": "Host: Player 1 votes for Player 2. Reason: Host: I vote for Player 2, as I said before.",
        "Player 2": "Host: Player 2 votes for Player 1. Reason: Host: I vote for Player 1, as I said before.",
    }
    thoughts = {name: f"{name}: The other one may hold another word." for name in texts}
    found = result({"win": "villager", "rounds": {"round-1": {"describe": texts, "cot": thoughts, "vote": votes}}})
    assert [question.name for question in found.questions] == ["describe", "cot"]
    assert found.preview is not None
    assert [(vote.voter, vote.target) for vote in found.preview.votes] == [
        ("Player 1", "Player 2"), ("Player 2", "Player 1"),
    ]  # fmt: skip


def test_records_with_a_winner_each_are_games_whatever_their_number() -> None:
    def game(number: int, winner: str) -> dict[str, object]:
        said = [{"player": name, "message": "I pass the pile on to you."} for name in ("red", "blue")]
        return {"game": number, "winner": winner, "chatHistory": said}

    found = results([game(0, "red"), game(0, "blue"), game(2, "blue")])
    assert [len(one.transcript.messages) for one in found if one.transcript] == [2, 2, 2]


def test_a_speaker_who_is_an_object_beside_one_text() -> None:
    said = [
        {"creator": {"name": name, "user_type": "Human"}, "text": text}
        for name, text in (
            ("Olga", "Updated room membership."), ("Per", "Is this the chat of our group?"), ("Olga", "It is."),
        )
    ]  # fmt: skip
    assert [(channel, who) for channel, who, _ in told(read({"messages": said}))] == [
        ("system", "Olga"), ("public", "Per"), ("public", "Olga"),
    ]  # fmt: skip


def test_a_row_for_each_reaction_tells_its_message_once() -> None:
    table = (
        "Message ID,Author,Content,Reacted by\n7,Olga,Good morning,Per\n7,Olga,Good morning,Rui\n8,Per,Hello Olga,\n"
    )
    found = result(table)
    assert (found.kinds, [one.reason for one in found.left_out]) == (
        {"message": 2, "left out": 1}, ["the same message again"],
    )  # fmt: skip


def test_a_separator_behind_the_last_column_and_months_in_letters() -> None:
    table = 'Author;Date;Content;\n"Olga";"06-Dec-19 05:16 AM";"Hello; all";\n"Per";"06-Dec-19 05:17 PM";"Hello";\n'
    moments = [message.sent_at for message in read(table).messages]
    assert [moment and moment.isoformat() for moment in moments] == [
        "2019-12-06T05:16:00+00:00", "2019-12-06T17:17:00+00:00",
    ]  # fmt: skip


def test_codes_of_people_go_before_one_word_for_all() -> None:
    rows = [
        {"participant__id": number, "participant__code": code, "nickname": "Worker", "body": "Shall we say ten?"}
        for number, code in ((1, "x1p"), (2, "q7k"), (1, "x1p"), (2, "q7k"))
    ]
    assert Counter(message.speaker for message in read(lines(*rows)).messages) == {"x1p": 2, "q7k": 2}


def test_who_writes_for_a_team_is_the_speaker() -> None:
    rows = [
        {"sender": "team north", "sentOnBehalfOf": name, "content": "We are ready to begin."} for name in ("n1", "n2")
    ]
    assert [message.speaker for message in read(lines(*rows)).messages] == ["n1", "n2"]
