"""Rows of tables: each ends as a message, a vote, an elimination, an event, or is left out with the reason."""

from __future__ import annotations

import json
from typing import Any

from evaluation.readers import Answers, ColumnMapping
from tests.unit.readers.reading import lines, read, result, results, told

VOTES = """day,type,speaker,target,text
1,speech,Olga,,"Per, where were you?"
1,speech,Per,,"At home. I suspect Rui."
1,speech,Rui,,"Olga asked first."
1,vote,Olga,Per,
1,vote,Per,Rui,
1,vote,Rui,Per,
1,vote,Sara,Per,
1,elimination,,Per,
2,speech,Olga,,"Per is gone."
2,speech,Sara,,"I voted for Per."
"""


def test_rows_of_votes_and_eliminations() -> None:
    found = result(VOTES)
    transcript = found.transcript
    assert len(transcript.discussion) == 5
    assert set(transcript.player_names) == {"Olga", "Per", "Rui", "Sara"}
    assert [(v.round, v.voter, v.target) for v in transcript.votes] == [
        (1, "Olga", "Per"), (1, "Per", "Rui"), (1, "Rui", "Per"), (1, "Sara", "Per"),
    ]  # fmt: skip
    assert [(e.round, e.player) for e in transcript.eliminations] == [(1, "Per")]
    assert found.kinds == {"message": 5, "vote": 4, "elimination": 1}


def test_the_column_of_a_target_can_be_mapped() -> None:
    rows = VOTES.replace("target", "aim").replace("type", "was")
    mapping = ColumnMapping(speaker="speaker", text="text", round="day", kind="was", target="aim")
    assert len(read(rows, choose_columns=lambda _: mapping).votes) == 4


def test_votes_with_a_text_keep_their_reason() -> None:
    rows = "type,player,vote_target,content\nspeech,Olga,,Hi\nspeech,Per,,Ho\nvote,Olga,Per,He is quiet\n"
    transcript = read(rows)
    assert [(v.voter, v.target, v.justification) for v in transcript.votes] == [("Olga", "Per", "He is quiet")]


def test_rows_left_out_say_why() -> None:
    rows = [
        {"name": "Olga", "text": "Hi"},
        {"name": "Per", "text": ""},
        {"text": "Who said this"},
        {"name": "Per", "text": "Ho"},
    ]
    found = result(lines(*rows))
    assert found.kinds == {"message": 2, "left out": 2}
    assert [(one.place, one.text, one.reason) for one in found.left_out] == [
        ("line 2: $", "Per", "no text"),
        ("line 3: $", "Who said this", "no speaker"),
    ]


def test_merged_cells_carry_the_speaker_on_and_ask() -> None:
    rows = "speaker,text,round\nOlga,Hello Per,1\n,I suspect you.,1\nPer,Not me,1\n,Vote Olga,1\n"
    found = result(rows)
    transcript = found.transcript or found.preview
    assert [m.speaker for m in transcript.messages] == ["Olga", "Olga", "Per", "Per"]
    assert [str(q.topic) for q in found.questions] == ["merged-cells"]


def test_an_author_who_is_an_object() -> None:
    times = [f"2024-03-05T10:0{minute}:00Z" for minute in range(3)]
    rows = [
        {"id": "1", "author": {"username": "olga", "global_name": "Olga"}, "content": "Per?", "timestamp": times[0]},
        {"id": "2", "author": {"username": "per"}, "content": "Home.", "timestamp": times[1]},
        {"id": "3", "author": {"username": "VoteBot", "bot": True}, "content": "Votes: 1", "timestamp": times[2]},
    ]
    rows[1]["message_reference"] = {"message_id": "1"}
    transcript = read(rows)
    assert transcript.player_names == ("Olga", "per")
    assert [m.channel for m in transcript.messages] == ["public", "public", "system"]
    assert transcript.messages[1].reply_to == "1"


def test_json_lines_pretty_printed() -> None:
    rows = [{"speaker": name, "text": "Hello"} for name in ("Olga", "Per")]
    data = "\n".join(json.dumps(row, indent=2) for row in rows)
    assert [m.speaker for m in read(data).messages] == ["Olga", "Per"]
    assert [m.speaker for m in read("".join(map(json.dumps, rows))).messages] == ["Olga", "Per"]


def test_several_people_under_one_role_are_asked_about() -> None:
    said = ["You play.", "Olga: Per, where were you?", "Per: At home.", "Rui: No evidence."]
    roles = ("system", "user", "assistant", "user")
    chat = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    found = result({"messages": chat})
    transcript = found.transcript or found.preview
    assert transcript.player_names == ("Olga", "Per", "Rui")
    assert [one for one in told(transcript) if one[0] == "public"] == [
        ("public", "Olga", "Per, where were you?"),
        ("public", "Per", "At home."),
        ("public", "Rui", "No evidence."),
    ]


def test_unknown_roles_are_asked_about_once() -> None:
    rows = "speaker,role,text\nOlga,Gardener,Hi\nPer,Gardener,Ho\nRui,Villager,Hm\nSara,Plumber,Hm\n"
    found = result(rows)
    assert [(str(q.topic), q.name) for q in found.questions] == [("role", "Gardener, Plumber")]
    answered = read(rows, answers=Answers(roles={"Gardener": "town", "Plumber": "mafia"}))
    assert [p.alignment for p in answered.players] == ["town", "town", "town", "mafia"]


SAID = [{"player": "Olga", "message": "Per, why so quiet?"}, {"player": "Per", "message": "I listen."}]
SAID.append({"player": "Rui", "message": "Per is a wolf.", "thought": "I saw him."})
NIGHT = {"werewolf_discussion": [{"player": "Per", "message": "I take Sara."}], "killed": "Sara"}
DAY = {"discussion": SAID, "votes": {"Olga": "Per", "Per": "Olga", "Rui": "Per"}, "eliminated": "Per"}
ROLES = (("Olga", "villager"), ("Per", "werewolf"), ("Rui", "seer"))
NESTED: dict[str, Any] = {
    "game_id": "g7",
    "players": [{"name": name, "role": role} for name, role in ROLES],
    "rounds": [{"round": 1, "night": NIGHT, "day": DAY}],
    "winner": "villagers",
}


def test_a_game_nested_in_json() -> None:
    found = result(NESTED)
    transcript = found.transcript
    assert transcript is not None, str(found.error)
    assert [(m.round, m.channel, m.speaker, m.text) for m in transcript.messages] == [
        (1, "team", "Per", "I take Sara."),
        (1, "public", "Olga", "Per, why so quiet?"),
        (1, "public", "Per", "I listen."),
        (1, "private", "Rui", "I saw him."),
        (1, "public", "Rui", "Per is a wolf."),
    ]
    assert [(v.round, v.voter, v.target) for v in transcript.votes] == [
        (1, "Olga", "Per"), (1, "Per", "Olga"), (1, "Rui", "Per"),
    ]  # fmt: skip
    assert ("Per", "werewolf") in [(p.name, p.role) for p in transcript.players]
    assert "Per" in [e.player for e in transcript.eliminations]
    assert transcript.winner == "town"


def test_values_one_after_another_of_which_one_names_its_game() -> None:
    first = {"a": [{"player": "Olga", "message": "Hello, Per."}, {"player": "Per", "message": "Hello."}]}
    second = {"gameId": "g", "b": [{"player": "Rui", "message": "Hello."}, {"player": "Olga", "message": "Ho."}]}
    found = results(json.dumps(first) + json.dumps(second))
    assert [one.transcript and len(one.transcript.messages) for one in found] == [2, 2]


def test_ids_and_keys_that_name_who_speaks() -> None:
    by_id = {"chat_logs": [{"text": f"Offer {number}", "id": f"agent_{number % 2}"} for number in range(6)]}
    assert read(by_id).player_names == ("agent_0", "agent_1")
    by_key = {"round 2 starts:": [{"Olga": "I take Per."}, {"Per": "Why me, Olga?"}, {"Olga": "You are quiet."}]}
    assert [(m.round, m.speaker) for m in read(by_key).messages] == [(2, "Olga"), (2, "Per"), (2, "Olga")]
    fields = {
        "log": [{"Olga": "Hello, Per."}, {"Per": "Hi, Olga."}],
        "faq": [{"query": "Who is it?", "answer": "No one."}] * 3,
    }
    assert "query" not in str(result(fields).transcript)


def test_a_vote_on_a_proposal_is_no_vote_for_a_player() -> None:
    rows = "type,speaker,target,text\nspeech,Olga,,Hi all\nspeech,Per,,Hi you\nvote,Olga,approve,I like it\n"
    transcript = read(rows)
    assert transcript.votes == ()
    assert transcript.player_names == ("Olga", "Per")
