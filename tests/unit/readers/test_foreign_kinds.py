"""Kinds of foreign files: what a program notes for one agent, votes told beside the talk, and tables of other tools."""

from __future__ import annotations

import re
from collections import Counter

from evaluation.readers import Answers
from tests.unit.readers.reading import lines, read, refusal, result, results, shown, told
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


def test_points_of_a_list_inside_what_people_say_are_no_players() -> None:
    def said(name: str) -> str:
        points = "".join(f"{place}. **{point}**: It helps us all a lot.\n" for place, point in enumerate(_POINTS, 1))
        return f"{name}: There are several reasons.\n{points}So much for this.\n"

    transcript = shown("".join(map(said, ("Debater_X", "Debater_Y", "Debater_X", "Debater_Y"))))
    assert transcript.player_names == ("Debater_X", "Debater_Y")
    assert "4. **Safety and Trust**" in transcript.messages[0].text


_POINTS = ("Better Health", "Cheaper Energy", "New Jobs", "Safety and Trust")


def test_lines_of_a_program_among_names_of_people_are_asked_about() -> None:
    text = "".join(
        f"EVENT: The {period} begins for everybody here.\nPRIVATE INFO for Olga: You saw that Per is a wolf.\n"
        f"Your Action: Go to the cellar at once.\nOther Players in Kitchen: Per\n"
        f"Olga: I saw nothing at all, Per.\nPer: Nor did I, Olga, believe me.\nProposal: A new rule\nSF: 13\n"
        for period in ("first hour", "second hour")
    )
    asked = {"EVENT", "PRIVATE INFO for Olga", "Your Action", "Other Players in Kitchen", "Proposal", "SF"}
    found = result(text)
    assert {name for question in found.questions for name in question.name.split(", ")} == asked
    assert found.preview is not None
    assert found.preview.player_names == ("Olga", "Per")


def test_titles_and_given_names_before_ordinary_words_are_people() -> None:
    text = "MAGDA: Who is there?\nINSPECTOR HALE: The police.\nOSKAR: At last!\n" * 2
    assert read(text + "Mike Bishop: I come as well.\n" * 2).player_names == (
        "MAGDA", "INSPECTOR HALE", "OSKAR", "Mike Bishop",
    )  # fmt: skip


def test_what_a_program_writes_between_times_is_asked_about() -> None:
    log = "".join(
        f"2025-06-28 18:5{place}:52,884 - INFO - {line}\n"
        for place, line in enumerate(
            ("Olga: We should wait.", "Memory updated: The talk is about waiting.", "Per: I agree with you, Olga.",
             "Olga: Good.", "Memory updated: They agree.", "Per: Fine.", "Talk complete - Winner: Olga"),
        )
    )  # fmt: skip
    found = result(log)
    assert [question.name for question in found.questions] == ["Memory updated, Talk complete - Winner"]
    chat = "[22:13:06] Game Scene: Ruins of a city.\n[22:14:32] Olga: Hello.\n[22:14:38] Per: Hello.\n"
    assert [question.name for question in result(chat).questions] == ["Game Scene"]


def test_thoughts_below_their_heading_are_asked_about_and_a_game_log_is_a_game() -> None:
    def game(number: int, wolf: str) -> str:
        sides = {name: "Mafia" if name == wolf else "Civilian" for name in ("Olga", "Per", "Rui")}
        spoken = "".join(f"- {name} said: I have watched all of you.\n" for name in sides)
        votes = "".join(f"- {name} voted {wolf} of being a Mafia.\n" for name in sides)
        thoughts = "".join(f"- {name} as {side}: I must be careful now.\n" for name, side in sides.items())
        out = f"- {wolf} was voted out, and {wolf} was a Mafia.\n"
        return f"### Example game log {number}:\n{spoken}{votes}{out}\nThinkings:\n{thoughts}\n"

    found = results(game(1, "Per") + game(2, "Rui"))
    for one, wolf in zip(found, ("Per", "Rui"), strict=True):
        assert ("channel", "Thinkings") in [(question.topic.value, question.name) for question in one.questions]
        game_read = one.transcript or one.preview
        assert game_read is not None
        assert Counter(message.channel for message in game_read.messages if message.channel != "system") == {
            "public": 3, "team": 3,
        }  # fmt: skip
        assert [(gone.player, gone.role) for gone in game_read.eliminations] == [(wolf, "Mafia")]
        assert {player.name for player in game_read.players if player.alignment == "mafia"} == {wolf}


def test_a_ballot_as_json_is_a_vote() -> None:
    text = (
        "[22:14:32] Olga: Hello to all of you.\n[22:14:38] Per: Hello, Olga.\n"
        '[22:26:10] Olga: {"player_to_eliminate": "Per", "reason": "He says too little."}\n'
        '[22:26:19] Per: {"player_to_eliminate": "Olga", "reason": "She looks at me."}\n'
    )
    transcript = read(text)
    assert [(vote.voter, vote.target) for vote in transcript.votes] == [("Olga", "Per"), ("Per", "Olga")]
    assert [message.text for message in transcript.messages if message.channel == "public"] == [
        "Hello to all of you.", "Hello, Olga.",
    ]  # fmt: skip


def test_counts_of_votes_are_no_speech() -> None:
    text = "Olga: I am for Per.\nPer: I am for Olga.\n" * 2 + "Vote tally\nOlga: 1 vote(s)\nPer: 3 votes\n"
    assert result(text).kinds == {"message": 4, "left out": 2}


def test_roles_before_the_talk_are_no_other_run() -> None:
    text = (
        "Player Roles:\n  Olga: villager\n  Per: werewolf\n====\nWEREWOLF GAME STARTING\n====\n"
        "Olga: Who was it?\nPer: Not me, Olga.\nOlga: I see, Per.\n"
    )
    assert len(results(text)) == 1


def test_what_a_bridge_passes_on_is_said_by_those_it_names() -> None:
    chat = "".join(
        f"[{place}:53] <{name}> {text}\n"
        for place, (name, text) in enumerate(
            (("rui", "Hello"), ("bridge", "[dsc] <Olga> Hello there"), ("bridge", "[dsc] <Per> Hi <b>you</b>")), 10
        )
    )
    found = result(chat)
    assert found.transcript is not None
    assert [message.speaker for message in found.transcript.messages] == ["rui", "Olga", "Per"]
    assert [question.name for question in found.questions] == ["Olga, Per"]
    page = re.sub(r"(\[\S+\]) <(\w+)> (.*)", r'<span class="d">\1</span> <span>&lt;\2&gt; \3</span><br />', chat)
    assert [
        message.speaker for message in shown(f"---\nlayout: post\n---\n{page}").messages if message.channel != "system"
    ] == ["rui", "Olga", "Per"]


def test_greetings_with_times_are_no_roles_and_a_time_is_no_whisper() -> None:
    text = "[0:01:02] Olga: Good morning\n[0:01:04] Per: Good\n[0:01:06] Olga: [1:40:27 pm] was the time.\n"
    transcript = read(text)
    assert [message.channel for message in transcript.messages] == ["public"] * 3
    assert [player.role for player in transcript.players] == [None, None]


def test_an_account_named_by_a_sign_speaks() -> None:
    text = "[01/02/24, 10:00:00] ~ .: Hello\n[01/02/24, 10:00:05] Olga: Hello\n[13/02/24, 10:00:09] ~ .: Bye\n"
    assert [message.speaker for message in read(text).messages] == [".", "Olga", "."]


def test_a_refusal_names_first_who_may_speak_and_their_answer_leads_on() -> None:
    essay = "".join(f"Paragraph {place} says a lot about the reasons, as we all know.\n" for place in range(60))
    said = "".join(f"{essay}{name}: Nothing.\n" for name in ("Olga_1", "Per_2", "Olga_1", "Per_2"))
    text = f"Aim: x\nAim: y\nAim: z\n{said}"
    assert '"Olga_1"' in refusal(text)
    assert shown(text, answers=Answers(speakers={"Olga_1": "player"})).player_names == ("Olga_1", "Per_2")


def test_rows_beside_those_of_speech_are_asked_about() -> None:
    rows = [
        {"type": kind, "player": name, "text": "I think that it was Per."}
        for kind, name in (("speech", "Olga"), ("speech", "Per"), ("speech", "Rui"), ("notetaking", "Olga"))
    ]
    found = result(lines(*rows))
    assert [question.name for question in found.questions] == ["notetaking"]
    game = found.transcript or found.preview
    assert game is not None
    assert [message.channel for message in game.messages] == ["public"] * 3 + ["private"]


def test_the_first_line_of_a_log_begins_each_run() -> None:
    def run(winner: str) -> str:
        spoken = ("=== The Debate ===", "Olga: We should wait.", "Per: We should not.", "Olga: Why not?", winner)
        return "".join(f"2025-11-02 08:50:5{place},545 - INFO - {line}\n" for place, line in enumerate(spoken))

    found = results(run("The end") + run("The end"))
    assert [
        sum(one.channel == "public" for one in game.messages)
        for each in found
        if (game := each.transcript or each.preview)
    ] == [3, 3]


def test_rounds_are_told_in_chinese() -> None:
    text = "🔄 第 1 轮对话\nHolmes: 我们开始吧。\nMarple: 好的。\n🔄 第 2 轮对话\nHolmes: 结束了。\nMarple: 是的。\n"
    assert [message.round for message in shown(text).messages] == [1, 1, 2, 2]


def test_cells_that_hold_objects_hide_no_table() -> None:
    rows = [
        {"speaker": name, "text": "Hello to you.", "data": {"place": 1}, "user_data": {"a": 1}}
        for name in ("Olga", "Per")
    ]
    assert read(lines(*rows)).player_names == ("Olga", "Per")


def test_a_vote_beside_what_is_said_counts_once() -> None:
    said = [
        {"step": 1, "agent": name, "content": "Who was at the window, I ask you?"} for name in ("Olga", "Per", "Rui")
    ]
    votes = [
        {"step": 2, "agent": "Olga", "content": "I think that it was him.", "vote": "Per"},
        {"step": 2, "agent": "Per", "content": "It was her, of course it was.", "vote": "Rui"},
    ]
    found = result({"steps": [*said, *votes]})
    assert found.preview is not None or found.transcript is not None
    transcript = found.transcript or found.preview
    assert transcript is not None
    assert [(vote.voter, vote.target) for vote in transcript.votes] == [("Olga", "Per"), ("Per", "Rui")]
