"""What a file says of its game, and the reading has not, is asked about before anything is stored."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from evaluation.readers import Answers, guess_mapping, read_upload, transcript_of
from evaluation.readers.document import NO_PROGRAM, Topic
from tests.unit.readers.reading import lines, read, refusal, result, results

TALK = [
    {"speaker": name, "text": f"{name} thinks that nobody has told the whole story of {place} yet."}
    for place, name in enumerate(("Olga", "Per", "Rui", "Olga", "Per", "Rui"))
]


def asked(content: Any) -> str:
    """What is asked about how the only game was read, but for its form; empty where nothing is."""
    found = [one.words for one in result(content, as_read=False).questions if one.topic is Topic.AS_READ]
    return found[0].partition("Understood:")[0].removesuffix(f"{NO_PROGRAM} ") if found else ""


def test_a_form_of_no_known_program_is_stored_only_once_somebody_has_compared() -> None:
    game = {"first": TALK[:3], "second": TALK[3:]}
    found = result(game, as_read=False)
    assert (found.transcript, found.questions[-1].option) == (None, "--as-read")
    assert found.questions[-1].words == (
        f"{NO_PROGRAM} Understood: 1 game: 3 players (Olga 2, Per 2, Rui 2), 6 public messages, other messages: none "
        "seen, rounds: none seen, votes: none seen, eliminations: none seen, roles: none seen. It goes from Olga "
        f'"{TALK[0]["text"]}" to Rui "{TALK[-1]["text"]}". Is that what the file holds?'
    )
    assert len(read(game).messages) == 6


def test_who_speaks_by_the_values_of_a_file_is_asked_about() -> None:
    said = [{"n": n, "who_": one["speaker"], "wording": one["text"]} for n, one in enumerate(TALK)]
    shown_as = 'by their values "who_" who speaks, and "wording" what is said'
    for content in (
        said,
        {"talks": [{"parts": said}]},
        "n,who_,wording\n" + "".join("{n},{who_},{wording}\n".format(**one) for one in said),
    ):
        assert shown_as in refusal(content)
        assert [len(one.transcript.messages) for one in results(content)] == [6]
    # A game a record.
    assert [len(one.transcript.messages) for one in results([{"parts": said}, {"parts": said[:4]}])] == [6, 4]
    # Only one is told.
    assert results([{"parts": [{"wording": one["text"], "n": n} for n, one in enumerate(TALK)]}])[0].transcript is None


def test_a_list_of_lines_is_read_as_a_text_is() -> None:
    talk = [f"{one['speaker']}: {one['text']}" for one in TALK]
    assert "is a list of 6 items" in refusal(talk)
    assert [len(one.transcript.messages) for one in results(talk)] == [6]


@pytest.mark.parametrize(
    ("content", "is_asked"),
    [
        ("speaker,text\nOlga,I am here.\nPer,So am I.\n", False),
        ("speaker,text,latency\nOlga,I am here.,0.3\nPer,So am I.,1.2\n", False),
        ("speaker,text,mood\nOlga,I am here.,glad\nPer,So am I.,sad\n", True),
        ("The second night\n\nDay 1\nOlga: I am here.\nPer: So am I.\nOlga voted for Per\n", False),
        ("Day 1\nOlga: I am here.\nPer: So am I.\nDay 2\nThe sheriff saw it.\nOlga: Well.\nPer: No.\n", True),
        ("[12:01] Olga: I am here.\n[12:02] Per: So am I.\n[12:03] Olga: Well.\n", False),
    ],
)  # fmt: skip
def test_a_form_that_the_guide_describes_is_not_asked_about(content: str, is_asked: bool) -> None:
    found = result(content, as_read=False)
    assert (found.transcript is None) is is_asked
    assert (NO_PROGRAM in str(found.error)) is is_asked


def test_who_names_the_columns_of_a_table_knows_its_form() -> None:
    table = "speaker,text,mood\nOlga,I am here.,glad\nPer,So am I.,sad\n"
    assert result(table, as_read=False, choose_columns=guess_mapping).transcript is not None
    rows = [{"speaker": "Olga", "text": "I am here.", "mood": "glad"}, {"speaker": "Per", "text": "No.", "mood": "sad"}]
    assert len(transcript_of(rows).messages) == 2


def test_a_name_that_is_another_but_for_a_letter_is_asked_about() -> None:
    often = [{"speaker": name, "text": f"{n} is a number."} for n in range(8) for name in ("Wallace", "Player 1")]
    assert asked(often) == ""
    rare = [*often, {"speaker": "Wallcae", "text": "Thirty."}, {"speaker": "Player 2", "text": "Forty."}]
    assert 'The speakers "Wallcae" and "Wallace" may be one.' in asked(rare)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"log": ["Olga voted for Rui", "Per -> Rui"]}, '2 votes more than could be read, the first by "Olga voted'),
        ({"tally": {"ballot": [{"by": "Olga", "for": "Rui"}]}}, '1 vote more than could be read, the first by'),
        ({"log": ["Rui was banished by the others."]}, '1 elimination more than could be read, the first by "Rui was'),
        ({"summary": {"eliminated_players": ["Rui"]}}, '1 elimination more than could be read, the first by "Rui"'),
        ({"log": ["Round 1", "Round 2"]}, "tells rounds or days by number"),
    ],
)  # fmt: skip
def test_results_that_stand_in_the_file_and_are_not_read_are_asked_about(more: dict[str, Any], words: str) -> None:
    assert asked({"messages": TALK}) == ""
    assert words in asked({"messages": TALK, **more})
    assert result({"messages": TALK, **more}, as_read=False).transcript is None


def test_what_players_say_of_votes_is_no_result() -> None:
    said = [*TALK, {"speaker": "Per", "text": "Olga voted for Rui"}, {"speaker": "Rui", "text": "Per was killed."}]
    assert asked({"messages": said}) == ""


def test_who_votes_on_a_proposal_is_no_vote_for_a_player() -> None:
    assert "vote" not in asked({"messages": TALK, "votes": [{"player": "Olga", "vote": "approve"}]})


def test_a_public_message_under_a_key_of_thoughts_is_asked_about() -> None:
    assert "6 public messages stood under keys of thoughts" in asked({"strategy": TALK})
    assert asked({"discussion": TALK}) == ""


def test_a_talk_that_stands_twice_is_asked_about() -> None:
    assert "3 messages say what the message before them said" in asked(
        lines(*(one for one in TALK[:3] for _ in (1, 2)))
    )
    assert "6 of 12 long messages say again" in asked(lines(*TALK, *TALK))


def test_labels_before_what_is_said_are_asked_about() -> None:
    acts = [{"speaker": name, "text": f"quest card: {card}"} for name, card in (("Olga", 1), ("Per", 2), ("Rui", 3))]
    assert '3 public messages begin with a label and may be no speech: "quest card" (3).' in asked(lines(*TALK, *acts))
    # Who is spoken to is no label.
    to_each = [{"speaker": name, "text": f"Rui: it is {name}'s turn."} for name in ("Olga", "Per", "Olga")]
    assert asked(lines(*TALK, *to_each)) == ""


def test_a_player_of_whom_nothing_is_told_is_asked_about() -> None:
    listed = "Olga: Villager\nPer: Werewolf\nThe last word: Villager\n"
    said = "".join(f"{one['speaker']}: {one['text']}\n" for one in TALK)
    talk = f"Day 1\n{said}\nRoles:\n{listed}"
    assert "Of The last word, taken for a player, nothing but the name is told." in asked(talk)


def test_roles_under_any_key_of_roles_are_read() -> None:
    game = read({"players_and_roles": {"Olga": "Villager", "Per": "Werewolf", "Rui": "Seer"}, "utterances": TALK})
    assert {player.name: player.role for player in game.players} == {
        "Olga": "Villager",
        "Per": "Werewolf",
        "Rui": "Seer",
    }


def test_a_meeting_that_ejects_nobody_is_an_event() -> None:
    talk = "".join(f"{name}: I saw {other} at the reactor.\n" for name, other in (("Olga", "Per"), ("Per", "Olga")) * 2)
    game = read(f"{talk}** No one was ejected (Skipped) **\n")
    assert [message.text for message in game.messages if message.channel == "system"] == [
        "** No one was ejected (Skipped) **"
    ]


def test_what_is_said_below_the_name_of_a_file_is_a_message() -> None:
    chat = (
        "8/30/19, 15:23 - Olga: plan.jpg (file attached)\nThis is how it could flow.\n"
        "8/30/19, 15:24 - Per: Fine.\n8/30/19, 15:25 - Olga: other.jpg (file attached)\n"
    )
    assert [one.text for one in read(chat).messages if one.channel == "public"] == [
        "This is how it could flow.",
        "Fine.",
    ]


def test_names_in_a_script_without_capitals_are_names() -> None:
    names = ("马克·雷诺", "莉娜·沃斯", "萨姆·科尔")
    talk = "".join(
        f"[{place}] {names[place % 3]}: 我同意{names[(place + 1) % 3].split('·')[0]}的看法。\n" for place in range(9)
    )
    assert {one.speaker for one in read(talk).messages} == {*names}


def test_a_file_may_say_speech_text() -> None:
    game = read(json.dumps({"turns": [{"speakerName": one["speaker"], "speechText": one["text"]} for one in TALK]}))
    assert [one.text for one in game.messages] == [one["text"] for one in TALK]


def test_that_a_first_name_and_a_whole_one_are_two_people_is_told() -> None:
    talk = "Olga Berg: Hello, I am Olga.\nSara Lind: And I am Sara.\n" + "Olga: Shall we?\nSara: Yes.\n" * 2
    told = [one for one in result(talk).remarks if "two people" in one]
    assert told == [f'"{one}" and "{whole}" are taken for two people.' for one, whole in WHOLE]
    two = talk + "Olga Voss: I am another one.\nOlga Voss: So there are two.\n"
    assert [one for one in result(two).remarks if "two people" in one] == told[1:]


WHOLE = [("Olga", "Olga Berg"), ("Sara", "Sara Lind")]


def test_keys_that_were_not_read_are_named_and_used_ones_are_not() -> None:
    content = {
        "prompt_version": "v7",
        "usage": {"cost_usd": 0.4, "tokens": 91},
        "people": [{"label": "Olga", "role": "Seer"}],
        "said": [{"round": 1, "speaker_name": name["speaker"], "text": name["text"], "mood": "calm"} for name in TALK],
        "notes": None,
    }
    (told,) = [one for one in result(content).remarks if "not read" in one]
    assert told == "4 keys of the file not read: prompt_version, usage.cost_usd, usage.tokens, said.mood."
    rows = [one | {"votes_for": None, "phase": "day", "likes": place} for place, one in enumerate(TALK)]
    assert [one for one in result(lines(*rows)).remarks if "not read" in one] == ["1 key of the file not read: likes."]
    assert not [one for one in result(lines(*TALK)).remarks if "not read" in one]
    many = lines(*[one | {f"extra_{number}": number for number in range(9)} for one in TALK])
    assert (
        f"9 keys of the file not read: {', '.join(f'extra_{n}' for n in range(8))} and 1 more." in result(many).remarks
    )


def test_columns_that_may_be_something_else_are_asked_about() -> None:
    rows = [("w1", "w1"), ("w1", "w2"), ("w1", "w3"), ("w2", "w1"), ("w2", "w2"), ("w2", "w3")]
    chat = "speaker,player_id,text\n" + "".join(f"{a},{b},It is number {n}.\n" for n, (a, b) in enumerate(rows))
    assert '"player_id" may say who speaks in place of "speaker".' in asked(chat)
    # The id of each speaker.
    assert (
        asked(
            chat.replace("w1,w2", "w1,w1").replace("w1,w3", "w1,w1").replace("w2,w1", "w2,w2").replace("w2,w3", "w2,w2")
        )
        == ""
    )
    dates = "speaker,text,date\nOlga,I am here.,9/26/16\nPer,So am I.,9/26/16\nOlga,Well.,10/4/16\n"
    assert '"date" holds no times that are known, such as "9/26/16".' in asked(dates)
    assert len(read(dates).messages) == 3
    # One of many is a fault of the file.
    assert "expected a time" in refusal(dates.replace("9/26/16", "2016-09-26"))


def test_records_with_ids_of_their_own_are_games_and_rounds_are_not() -> None:
    talks = [{"case_id": n, "rounds": [{"n": 1, "said": TALK[:3]}, {"n": 2, "said": TALK[3:]}]} for n in range(3)]
    talks = [
        talk | {"rounds": [{"said": [{**one, "text": f"{talk['case_id']}: {one['text']}"} for one in TALK]}]}
        for talk in talks
    ]
    assert [len(one.transcript.messages) for one in results(talks)] == [6, 6, 6]
    rounds = [{"round_id": talk["case_id"], "rounds": talk["rounds"]} for talk in talks]
    assert [len(one.transcript.messages) for one in results(rounds)] == [18]


def test_a_line_without_its_colon_is_asked_about() -> None:
    chat = "Olga: I was at the mill.\nRui: So was I.\nOlga: Who saw you?\nRui I did see you.\nRui: Well.\nOlga: No.\n"
    assert '1 line below what another says may be messages: "Rui I did see you.".' in asked(chat)
    assert asked(chat.replace("Rui I did", "Rui has doubts, I did")) == ""
    assert '"Rui<chat>: From the chat."' in asked(chat.replace("Rui I did see you.", "Rui<chat>: From the chat."))


def test_a_yes_or_no_beside_each_message_is_asked_about() -> None:
    said = [{**one, "aloud": n != 5} for n, one in enumerate(TALK * 5)]
    assert '"first.aloud" is yes or no, and may say who could hear.' in asked({"first": said[:6], "second": said[24:]})
    assert "who could hear" not in asked({"first": [{**one, "aloud": True} for one in TALK]})


def test_an_answer_holds_for_files_of_its_form_and_no_other() -> None:
    games = [{"first": TALK[:n], "second": TALK[n:]} for n in (2, 3)]
    other = {"first": [{**one, "mood": "glad"} for one in TALK], "second": TALK[:1]}
    names = [result(one, as_read=False).questions[-1].name for one in (*games, other)]
    assert names[0] == names[1] != names[2]
    answers = Answers(forms=frozenset(names[:1]))
    taken = [read_upload("x", json.dumps(one), answers=answers)[0].transcript is not None for one in (*games, other)]
    assert taken == [True, True, False]


def test_keys_of_json_are_named_as_columns_of_a_table_are() -> None:
    said = [{**one, "secret": "Wolf" if one["speaker"] == "Olga" else "Villager"} for one in TALK]
    game = {"acts": [{"act_no": n, "said": said} for n in (1, 2)]}
    columns = replace(guess_mapping(["speaker", "text"]), round="act_no", role="secret")
    told = read_upload("x", json.dumps(game), choose_columns=lambda _: columns)[0]
    assert told.remarks == (), "what a person named is not listed as not read"
    read_so = read(game, choose_columns=lambda _: columns)
    assert ({one.round for one in read_so.messages}, read_so.player("Olga").role) == ({1, 2}, "Wolf")
