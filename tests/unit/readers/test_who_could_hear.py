"""Who could hear a message: the kinds of evidence, none of which may make a private text public in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.readers import Answers
from tests.unit.readers.reading import lines, read, result, shown, told


def heard(content: Any, **about: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    """Channel, speaker and recipients of each message, also of a game that waits for an answer."""
    return [(m.channel, m.speaker, m.recipients) for m in shown(content, **about).messages]


TWO_COLUMNS = lines(
    {"type": "conversation", "round": 1, "player_id": "S1", "message": "Good evening, S1 speaking."},
    {"type": "conversation", "round": 1, "player_id": "S2", "message": "Good evening, S1."},
    {"type": "private", "round": 1, "speaker_id": "S1", "target_id": "S2", "message": "S2, we two against S3?"},
    {"type": "private", "round": 1, "speaker_id": "S2", "target_id": "S1", "message": "Yes, S3 is too strong."},
    {"type": "private", "round": 1, "speaker_id": "S3", "target_id": "S1", "message": "S1, an alliance?"},
    {"type": "vote", "round": 1, "voter_id": "S1", "target_id": "S3"},
    {"type": "elimination", "round": 1, "eliminated_player": "S3"},
)


def test_a_second_pair_of_speaker_columns_holds_letters() -> None:
    assert heard(TWO_COLUMNS) == [
        ("public", "S1", ()), ("public", "S2", ()),
        ("private", "S1", ("S2",)), ("private", "S2", ("S1",)), ("private", "S3", ("S1",)),
    ]  # fmt: skip
    found = result(TWO_COLUMNS)
    transcript = found.transcript
    assert [(v.round, v.voter, v.target) for v in transcript.votes] == [(1, "S1", "S3")]
    assert [(e.round, e.player) for e in transcript.eliminations] == [(1, "S3")]
    assert found.kinds == {"message": 5, "vote": 1, "elimination": 1}


def test_a_type_says_that_a_row_is_private_and_to_whom() -> None:
    rows = lines(
        {"type": "public", "player": "Olga", "message": "Morning, Per."},
        {"type": "whisper", "player": "Per", "target": "Rui", "message": "We take Olga tonight."},
        {"type": "private_chat", "player": "Rui", "target": "Per", "message": "Fine."},
        {"type": "public", "player": "Sara", "message": "Morning."},
    )
    assert heard(rows) == [
        ("public", "Olga", ()), ("private", "Per", ("Rui",)), ("private", "Rui", ("Per",)), ("public", "Sara", ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "hidden", "channel"),
    [
        ("visibility", "team", "team"),
        ("is_private", True, "private"),
        ("private", "true", "private"),
        ("public", False, "private"),
        ("message_type", "inner_thought", "private"),
        ("event_type", "werewolf_discussion", "team"),
    ],
)
def test_flags_and_kinds_of_a_row(column: str, hidden: object, channel: str) -> None:
    rows = [{"speaker": name, "text": "Hello all", column: None} for name in ("Olga", "Per", "Rui")]
    rows.append({"speaker": "Per", "text": "Olga dies", column: hidden})
    assert [one[0] for one in heard(lines(*rows))] == ["public", "public", "public", channel]


def test_an_addressee_makes_nothing_private() -> None:
    rows = "speaker,target,text\nOlga,Per,Where were you?\nPer,Olga,At home.\nRui,,Hm.\n"
    assert [one[0] for one in heard(rows)] == ["public"] * 3


def test_thoughts_are_private_however_many() -> None:
    rows = "speaker,channel,text\n" + "".join(
        f"{name},thought,I keep quiet {number}\n{name},thought,Nobody knows\n{name},public,Hello\n"
        for number, name in enumerate(("Olga", "Per", "Rui"))
    )
    found = result(rows)
    assert [m.channel for m in found.transcript.messages] == ["private", "private", "public"] * 3
    assert found.questions == ()


@pytest.mark.parametrize("name", ["room 7", "night chat"])
def test_beside_a_public_channel_no_other_is_made_public(name: str) -> None:
    rows = f"speaker,channel,text\nOlga,public,Hello\nPer,public,Hello\nRui,public,Ho\nPer,{name},Olga dies\n"
    found = result(rows)
    assert [m.channel == "public" for m in found.transcript.messages] == [True, True, True, False]
    assert [q.name for q in found.questions] == ([] if "night" in name else [name])


def test_a_file_that_is_private_as_a_whole_waits_for_an_answer() -> None:
    rows = "speaker,channel,text\nOlga,wolf-den,a\nPer,wolf-den,b\n"
    found = result(rows)
    assert found.transcript is None
    assert '--channel "wolf-den=' in str(found.error)
    assert [one[0] for one in heard(rows)] == ["team", "team"]
    assert [one[0] for one in heard(rows, answers=Answers(channels={"wolf-den": "public"}))] == ["public"] * 2
    assert result(rows, answers=Answers(channels={"wolf-den": "team"})).transcript is not None


def test_an_assumption_that_leaves_out_more_than_half_stores_nothing() -> None:
    rows = "speaker,channel,text\nOlga,public,a\nPer,lounge,b\nRui,lounge,c\n"
    found = result(rows)
    assert found.transcript is None
    assert [(q.name, q.taken) for q in found.questions] == [("lounge", None)]
    assert [one[0] for one in heard(rows)] == ["public", "team", "team"]


def test_json_as_text_is_speech_and_thought() -> None:
    texts = [("Per", "I am the wolf.", "Morning."), ("Olga", "Per looks pale.", "Per, where were you?")]
    rows = lines(*({"speaker": n, "text": json.dumps({"thought": t, "speech": s})} for n, t, s in texts))
    assert told(read(rows)) == [
        ("private", "Per", "I am the wolf."),
        ("public", "Per", "Morning."),
        ("private", "Olga", "Per looks pale."),
        ("public", "Olga", "Per, where were you?"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[PRIVATE] I am the wolf. [PUBLIC] Good morning.",
        "THINK: I am the wolf.\nSAYS: Good morning.",
        "Thought: I am the wolf.\nSpeech: Good morning.",
        "Inner thoughts: I am the wolf.\nAction: waves\nPublic statement: Good morning.",
        '```json\n{"reasoning": "I am the wolf.", "message": "Good morning."}\n```',
        "<private>I am the wolf.</private> Good morning.",
    ],
)
def test_marks_and_labels_inside_a_text(text: str) -> None:
    rows = lines({"speaker": "Per", "text": text}, {"speaker": "Olga", "text": "Hello, Per."})
    said = told(read(rows))
    assert [one for one in said if one[0] == "public"] == [
        ("public", "Per", "Good morning."),
        ("public", "Olga", "Hello, Per."),
    ]
    assert ("private", "Per", "I am the wolf.") in said


@pytest.mark.parametrize(
    "text",
    ['He said "Thought: none" to me.', "I thought: why not?", "Action speaks louder: vote Per.", '{"a": 1}'],
)
def test_talk_about_thoughts_is_talk(text: str) -> None:
    rows = lines({"speaker": "Per", "text": text}, {"speaker": "Olga", "text": "Hello, Per."})
    assert told(read(rows))[0] == ("public", "Per", text)


def test_a_phase_in_which_one_hidden_side_speaks_is_asked_about() -> None:
    roles = ("villager", "werewolf", "werewolf", "seer")
    rows = "phase,role,speaker,text\n" + "".join(
        f"{phase},{role},{name},{text}\n"
        for phase, role, name, text in (
            *(("day", role, name, "Hello") for name, role in zip(("Olga", "Per", "Rui", "Sara"), roles, strict=True)),
            ("kill", "werewolf", "Per", "Olga"),
            ("kill", "werewolf", "Rui", "Agreed"),
        )
    )
    found = result(rows)
    assert [m.channel for m in found.transcript.messages] == ["public"] * 4 + ["team"] * 2
    assert [(q.name, q.taken) for q in found.questions] == [("kill", "team")]
    answered = read(rows, answers=Answers(channels={"kill": "public"}))
    assert {m.channel for m in answered.messages} == {"public"}


BOLD = """**NARRATOR (to: Olga, Per, Rui, Sara) - NARRATOR**: Night falls.

**NARRATOR (to: Per) - NARRATOR**: Per, whom do you take?

**Per (to: Per, Rui)**: We take Olga.

**Rui (to: Per, Rui)**: Yes.

**NARRATOR (to: Per, Rui, Sara) - NARRATOR**: Olga was killed.

**Sara (to: Per, Rui, Sara)**: I suspect Per.

**Per (to: Per, Rui, Sara)**: Sara, why me?
"""


def test_recipients_beside_a_name_in_bold() -> None:
    found = read(BOLD)
    assert set(found.player_names) >= {"Per", "Rui", "Sara"}
    assert "NARRATOR" not in found.player_names
    narrated = ("system", "NARRATOR")
    assert [(m.channel, m.speaker) for m in found.messages] == [
        narrated, narrated, ("private", "Per"), ("private", "Rui"), narrated, ("public", "Sara"), ("public", "Per"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "Per -> Rui: We take Olga.",
        "Per (to Rui): We take Olga.",
        "Per (whispering to Rui): We take Olga.",
        "Per [to: Rui]: We take Olga.",
        "[PRIVATE] Per -> Rui: We take Olga.",
    ],
)
def test_recipients_beside_a_name(line: str) -> None:
    text = f"Olga: Hello, Per.\nPer: Hello.\nRui: Hello, Olga.\n{line}\nOlga: Rui?\n"
    assert ("private", "Per", ("Rui",)) in heard(text)
    assert sum(one[0] != "public" for one in heard(text)) == 1


@pytest.mark.parametrize("heading", ["[WEREWOLVES ONLY]", "## Night 1", "=== Wolf chat ==="])
def test_what_stands_under_a_hidden_heading_is_not_public(heading: str) -> None:
    text = f"## Day 1\nOlga: Hello, Per.\nPer: Hello.\nRui: Hello, Olga.\nOlga: Hm.\n{heading}\nPer: Olga?\nRui: Yes.\n"
    assert [one[0] for one in heard(text)] == ["public"] * 4 + ["team"] * 2


def test_pictures_before_names_say_who_hears_and_make_no_players() -> None:
    text = (
        "💭 🐺 Olga Strategy: I play the calm one.\n🗣️ 🐺 1. Olga: Good morning, all of you.\n"
        "💭 Per Strategy: I watch Olga.\n🗣️ 2. Per: Good morning, Olga.\n🌚 🐺 1. Olga: We take Per tonight.\n"
        "🗣️ 🐺 1. Olga: I slept well, Per.\n🗣️ 2. Per: So did I, Olga.\n"
    )
    assert [(channel, speaker) for channel, speaker, _ in heard(text)] == [
        ("private", "Olga"), ("public", "Olga"), ("private", "Per"), ("public", "Per"),
        ("team", "Olga"), ("public", "Olga"), ("public", "Per"),
    ]  # fmt: skip
    assert [question.name for question in result(text).questions] == ["#🌚"]


def test_the_longest_name_thinks_and_a_dash_inside_a_name_stays() -> None:
    text = (
        "💭 Ann Strategy: I wait.\n🗣️ 1. Ann: Good morning.\n💭 Ann Lee Thoughts: I watch Ann.\n"
        "🗣️ 2. Ann Lee: Good morning, Ann.\n🗣️ 3. Per Oslo-Berg: Hello.\n🗣️ 1. Ann: Hello, Per Oslo-Berg.\n"
    )
    assert [(channel, speaker) for channel, speaker, _ in heard(text)] == [
        ("private", "Ann"), ("public", "Ann"), ("private", "Ann Lee"), ("public", "Ann Lee"),
        ("public", "Per Oslo-Berg"), ("public", "Ann"),
    ]  # fmt: skip


def test_a_reason_given_with_a_vote_is_asked_about() -> None:
    game = {
        "discussion": [
            {"player": name, "message": f"{name} is on the team."} for name in ("Olga", "Per", "Rui", "Sara")
        ],
        "votes": [{"player": "Olga", "vote": "approve", "comment": "It keeps me hidden, as the wolf."}],
        "reflections": [{"player": "Per", "comment": "I should have seen that Olga lied."}],
    }
    assert [channel for channel, _, _ in heard(game)] == ["public"] * 4 + ["team", "private"]
    assert [question.name for question in result(game).questions] == ["reasons of votes"]


def test_recipients_in_a_list_beside_speakers_are_read() -> None:
    def both(one: str, other: str, *texts: str) -> dict[str, list[str]]:
        return {"messages": [*texts], "speakers": [one, other], "receivers": [other, one]}

    talk = both("Olga", "Per", "Hello Per, shall we?", "Yes, Olga, let us go.")
    third = both("Rui", "Olga", "Rui here, Olga.", "And so?")
    assert heard(lines(talk, third)) == [
        ("private", "Olga", ("Per",)), ("private", "Per", ("Olga",)),
        ("private", "Rui", ("Olga",)), ("private", "Olga", ("Rui",)),
    ]  # fmt: skip
    assert result(lines(talk, third)).transcript is None


def test_what_a_program_and_each_agent_wrote_to_each_other_is_asked_about() -> None:
    def chat(*answers: str) -> list[dict[str, str]]:
        asked = [{"role": "system", "content": "You debate."}]
        return asked + [{"role": role, "content": text} for text in answers for role in ("user", "assistant")]

    game = {"players": {"For": chat("We should.", "Still, we should."), "Against": chat("We should not.")}}
    said = [(channel, speaker) for channel, speaker, _ in heard(game) if channel != "system"]
    assert said == [("team", "For"), ("team", "For"), ("team", "Against")]
    assert result(game).transcript is None


def test_texts_of_json_under_unknown_keys_are_counted_as_left_out() -> None:
    game = {
        "talk": [{"player": "Olga", "text": "Good morning to you all."}, {"player": "Per", "text": "Morning, Olga."}],
        "last": [{"player": "Per", "final_words": "I was only ever a villager, believe me."}],
    }
    found = result(game)
    assert found.kinds["left out"] == 1
    assert found.left_out[0].text.startswith("I was only ever")
