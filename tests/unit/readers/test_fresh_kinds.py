"""Kinds of files that real games came in: what stands in them for some is not public, and no heading is a player."""

from __future__ import annotations

import json

import pytest

from evaluation.readers import Answers, ColumnMapping, Topic
from evaluation.readers._draft import alignment_of
from tests.unit.readers.reading import lines, read, refusal, result, results, shown, told
from tests.unit.readers.test_who_could_hear import heard


def test_one_recipient_is_private_where_others_write_to_all() -> None:
    said = [
        {"sender": "OLGA", "recipient": "PER", "message": "You and I, Per?"},
        {"sender": "PER", "recipient": "OLGA", "message": "Fine with me."},
        {"sender": "OLGA", "recipient": "ALL", "message": "Good luck, all of you."},
    ]
    assert [(one, who) for one, who, _ in heard({"phases": [{"messages": said}]})] == [
        ("private", "OLGA"), ("private", "PER"), ("public", "OLGA"),
    ]  # fmt: skip


def test_elements_beside_a_message_are_private() -> None:
    text = (
        "<my goals> Pay at most <Gold> 7 </my goals>\n<reason> He may yield </reason>\n<message> I offer 5. </message>"
    )
    transcript = read(lines({"speaker": "Olga", "text": text}, {"speaker": "Per", "text": "<b>No</b>, 8."}))
    assert told(transcript) == [
        ("private", "Olga", "my goals:  Pay at most <Gold> 7"), ("private", "Olga", "He may yield"),
        ("public", "Olga", "I offer 5."), ("public", "Per", "<b>No</b>, 8."),
    ]  # fmt: skip


def test_headings_of_a_speaker_and_sentences_are_no_players() -> None:
    text = (
        "Players: Olga, Per, Rui\nOlga: Good morning, all of you.\nPer: I saw Rui last night, I think.\n"
        "[LAST WORDS] Rui's final statement:\nRui: I am no wolf, Olga.\n"
        "The vote failed. Turn counter: 1\nPer: We go on, then.\nThe vote failed. Turn counter: 2\n"
    )
    assert set(shown(text).player_names) == {"Olga", "Per", "Rui"}


def test_a_number_in_front_is_no_part_of_a_name() -> None:
    text = (
        "0 OLGA -> INGRID: You and I, against all the others?\n1 INGRID -> OLGA: Yes, that would suit me well.\n"
        "2 OLGA -> INGRID: Good, then we go north.\n3 INGRID -> RUI: Hello RUI, will you join us?\n"
    )
    assert {speaker for _, speaker, _ in heard(text)} == {"OLGA", "INGRID"}


def test_all_chats_of_a_telegram_export() -> None:
    def said(*texts: str) -> list[dict[str, str]]:
        people = ("Olga", "Per")
        return [
            {"type": "message", "date_unixtime": f"15440063{place}0", "from": people[place % 2], "text": text}
            for place, text in enumerate(texts)
        ]

    content = {"chats": {"list": [{"name": "Evening", "messages": said("Hello", "Hello, Olga")}]}}
    assert told(read(content, "telegram")) == [("public", "Olga", "Hello"), ("public", "Per", "Hello, Olga")]


def test_every_row_of_other_types_is_counted() -> None:
    def row(kind: str, text: str, **data: str) -> dict[str, object]:
        return {"level": "INFO", "message": text, "type": kind, "data": data}

    rows = [
        row("system", "--- Round 1 ---", message="--- Round 1 ---"),
        row("speech", "Olga: Hello", player="Olga", speech="Hello, all"),
        row("speech", "Per: Hello", player="Per", speech="Hello, Olga"),
        row("action", "Per: Voted - Yes", player="Per", action="Voted", details="Yes"),
        row("note", "Nobody knows what this is", about="x"),
    ]
    found = result(lines(*rows))
    assert found.kinds == {"event": 2, "message": 2, "left out": 1}


def test_a_hidden_channel_names_its_speaker_by_the_side() -> None:
    said = (("Olga", "Good morning."), ("Per", "Who was it?"))
    game = {
        "day_channel": [{"day": 1, "player": name, "message": text} for name, text in said],
        "roles": {"Olga": "wolf", "Per": "villager"},
        "wolf_channel": [{"day": 1, "wolf": "Olga", "vote": "Per", "message": "We take Per."}],
    }
    assert [(one, who) for one, who, _ in heard(game)] == [("public", "Olga"), ("public", "Per"), ("team", "Olga")]


def test_answers_in_a_set_form_are_asked_about() -> None:
    def asked(question: str, name: str, text: str) -> dict[str, object]:
        return {"Host": question, name: text, "form": {"type": "bool"}}

    game = {
        "round 1": [
            asked("Olga, speak please.", "Olga(Seer)", "I trust Per, he was calm."),
            asked("Per, speak please.", "Per(Wolf)", "I trust Olga as well."),
            asked("Do you want the quest to fail?", "Per(Wolf)", "yes"),
        ]
    }
    assert [(one, who) for one, who, _ in heard(game) if who != "Host"] == [
        ("public", "Olga"), ("public", "Per"), ("team", "Per"),
    ]  # fmt: skip
    assert "answers in a set form" in str(result(game).questions)


def test_captions_with_names_only_where_the_speaker_changes() -> None:
    texts = ["Olga: I saw Per", *["go on and on", "before the night"] * 8]
    texts += ["Per: I was home", *["all night"] * 8, "Olga: So?"]
    cues = [f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{text}\n" for n, text in enumerate(texts, start=1)]
    transcript = read("\n".join(cues), "captions")
    assert [one.speaker for one in transcript.messages] == ["Olga", "Per", "Olga"]
    assert "before the night" in transcript.messages[0].text


def test_lines_of_irc_with_times_are_read() -> None:
    transcript = read("[18:05] <olga-> Hi: all\n[18:05] <per_> olga-: ho\n[18:06] <olga->  Depends: you\n")
    said = [("olga-", "Hi: all"), ("per_", "olga-: ho"), ("olga-", "Depends: you")]
    assert [one[1:] for one in told(transcript)] == said
    tags = "<in> 1 2 </in> <talk> YOU: a <eos> THEM: b </talk>\n<in> 3 4 </in> <talk> YOU: c </talk>\n"
    assert "IRC" not in refusal(tags)


def test_a_log_with_colours_and_levels_is_read() -> None:
    stamp = "2025-01-02 10:00:0{},494 - INFO - \x1b[3{}m[{}]\x1b[0m {}\n"
    said = [
        ("SYSTEM", "Roles: {'Olga': 'Wolf'}"), ("THOUGHT", "Olga: I hide.\nRole: Wolf\nPlan: wait\nPlan: lie"),
        ("SPEECH", "Olga: Good morning."), ("ACTION", "Per: Voted - Yes"), ("SPEECH", "Per: Who was it, Olga?"),
    ]  # fmt: skip
    transcript = read("".join(stamp.format(place, place, *one) for place, one in enumerate(said)))
    assert [one[:2] for one in told(transcript)] == [
        ("system", "System"), ("private", "Olga"), ("public", "Olga"), ("system", "System"), ("public", "Per"),
    ]  # fmt: skip
    assert set(transcript.player_names) == {"Olga", "Per"}


def test_labels_of_a_dump_and_headings_of_sections_are_not_public() -> None:
    dump = "".join(
        f"Turn: {place}\nOlga: I offer {place}, Per.\nPer: No, Olga, {place} more.\n"
        f"my goals: Sell for {place} and more\n"
        for place in range(3)
    )
    page = "# Player Roster\n\nOlga is the wolf.\n\n" + "## Olga\n\nHello, Per.\n\n## Per\n\nNo.\n\n" * 2
    for text in (dump, page):
        found = result(text)
        transcript = found.transcript or found.preview
        assert found.transcript is None
        assert transcript is None or {one.speaker for one in transcript.discussion} == {"Olga", "Per"}


def test_a_list_of_players_in_a_briefing_is_no_speech() -> None:
    text = "Here are all three players: Olga, Per, Rui.\nYou are Rui, a wolf.\nOlga: Hello.\nPer: Hello, Olga.\n"
    assert [(one, who) for one, who, _ in heard(text) if one != "system"] == [("public", "Olga"), ("public", "Per")]


def test_a_counted_round_holds_its_night_and_its_day() -> None:
    text = "ROUND 1\n[NIGHT PHASE]\n[DAY PHASE]\nOlga: Good morning, Per.\nPer: Hello, Olga.\nOlga: Who was it?\n"
    assert {one.round for one in shown(text).discussion} == {1}


def test_a_number_that_every_line_has_is_no_round() -> None:
    said = ["Olga: Olga says: Hello, Per.", "Per: Per says: Hello.", "Rui: Rui remains silent.", "The vote fails."]
    numbered = "".join(f"Round {place} - {line}\n" for place, line in enumerate([*said, *said], start=7))
    found = read(numbered)
    assert {one.round for one in found.messages} == {None}
    first = [(one.speaker, one.text) for one in found.discussion][:2]
    assert first == [("Olga", "Hello, Per."), ("Per", "Hello.")]
    said = "Olga: Good morning, all.\nRui: Good morning, Olga.\n"
    played = read(f"Round 1\n{said}Round 2\n{said}")
    assert [one.round for one in played.discussion] == [1, 1, 2, 2]


def test_a_vote_names_its_ground() -> None:
    text = "- Olga said: Hello.\n- Per said: No.\n- Olga voted Per of being a wolf.\n- Per voted Olga as the wolf.\n"
    assert [(one.voter, one.target) for one in shown(text).votes] == [("Olga", "Per"), ("Per", "Olga")]


def test_the_way_of_a_death_is_no_role_and_a_tag_names_the_winner() -> None:
    text = (
        "Players: Olga, Per, Rui\nOlga: Hello, all.\nPer: Hello.\nRui: Hello.\n"
        "[DEAD] Rui died during the night (wolf_kill)\n"
        "Per: I am next, Olga.\n[WINNER] WEREWOLVES\n"
    )
    found = shown(text)
    assert [(one.player, one.role) for one in found.eliminations] == [("Rui", None)]
    assert found.winner == "mafia"


def test_an_addressee_who_does_not_play_is_no_role() -> None:
    text = "Olga (to hub): Hello, Per.\n\nPer (to hub): Hello, Olga.\n\nOlga (to hub): Who is the wolf, Per?\n"
    found = shown(text)
    said = [("public", who) for who in ("Olga", "Per", "Olga")]
    assert [(one.channel, one.speaker) for one in found.messages] == said
    assert {one.role for one in found.players} == {None}
    some = "Olga: Hello, Per.\nPer: Hello.\nOlga (to Ines): I do not trust Per.\nPer: Who is it, Olga?\n"
    assert heard(some)[2] == ("private", "Olga", ("Ines",))


def test_initials_that_stand_behind_a_name_are_that_person() -> None:
    text = "Olga de Wit (OdW): Hello, Per.\nPer Lind (PL): Hello.\nOdW: Who was it, Per?\nPL: Not me.\nOdW: I see.\n"
    found = read(text)
    assert found.player_names == ("Olga de Wit", "Per Lind")
    assert len(found.discussion) == 5


def test_front_matter_and_links_are_no_speech() -> None:
    page = "---\ntitle: An evening\nspeakers:\n  - Olga\ntags: talk\n---\nNotes 8: https://example.org/8\n\n"
    found = result(page + "Olga: Hello, Per.\n\nPer: Hello.\n\nOlga: Who was it?\n")
    assert {one.speaker for one in (found.transcript or found.preview).discussion} == {"Olga", "Per"}
    assert found.kinds["left out"] == 6
    assert found.left_out[0].reason == "front matter of the page"


def test_headings_of_turns_name_who_speaks() -> None:
    page = "# A debate\n\n" + "".join(
        f"## Turn {place}: {title}\n\n- words: 12\n- claim_ids: [{place}]\n\n[{place}.1] This is so.\n\n"
        for place, title in enumerate(("PRO Opening", "CON Opening", "PRO Reply", "CON Reply"), 1)
    )
    found = read(page)
    assert [(one.round, one.speaker) for one in found.discussion] == [(None, "PRO"), (None, "CON")] * 2
    assert "words" not in " ".join(one.text for one in found.discussion)


def test_numbered_talks_of_one_file_are_games() -> None:
    talk = "0 {0} -> {1}: You and I, {1}?\n1 {1} -> {0}: Yes.\n2 {0} -> {1}: Good.\n"
    found = results("1\n" + talk.format("OLGA", "PER") + "\n2\n" + talk.format("RUI", "INES"))
    assert [one.transcript and one.transcript.player_names for one in found] == [("OLGA", "PER"), ("RUI", "INES")]


def test_a_day_that_holds_rounds_is_the_round() -> None:
    def said(day: int, turn: int, name: str) -> dict[str, object]:
        return {"day": day, "round": turn, "player": name, "message": f"Hello, I am {name}."}

    talk = [said(day, turn, name) for day in (1, 2) for turn in (1, 2) for name in ("Olga", "Per")]
    assert [one.round for one in read({"talk": talk}).messages] == [1, 1, 1, 1, 2, 2, 2, 2]
    counted = [said(1, turn, name) for turn in (1, 2) for name in ("Olga", "Per")]
    assert [one.round for one in read({"talk": counted}).messages] == [1, 1, 2, 2]


def test_a_moderator_of_a_table_tells_votes_deaths_rounds_and_the_winner() -> None:
    def said(name: str, text: str) -> dict[str, object]:
        return {"player": name, "message": text}

    rows = [
        said("game_master", "--- Round 2 ---"),
        said("Olga", "Who was it?"), said("Per", "Rui, I think."), said("Rui", "No."),
        said("game_master", "The votes of the day:\n  Olga voted for Rui\n  Per voted for Rui\n  Rui voted for Per\n"
                            "Rui was voted out and was a wolf."),
        said("game_master", "Game over! The villagers have won!"),
    ]  # fmt: skip
    for content in ({"talk": rows}, lines(*rows)):
        found = read(content)
        votes = [(2, "Olga", "Rui"), (2, "Per", "Rui"), (2, "Rui", "Per")]
        assert [(one.round, one.voter, one.target) for one in found.votes] == votes
        assert [(one.round, one.player, one.role) for one in found.eliminations] == [(2, "Rui", "wolf")]
        assert found.winner == "town"
        assert {one.round for one in found.discussion} == {2}


def test_roles_in_keys_and_lists_of_a_role_for_each() -> None:
    game = {"round 1": [{"Host": "Speak.", f"{name}({role})": "I trust you all here."} for name, role in
                        (("Olga", "Seer"), ("Per", "Wolf"), ("Olga", "Seer"), ("Per", "Wolf"))]}  # fmt: skip
    assert {one.name: one.role for one in shown(game).players} == {"Olga": "Seer", "Per": "Wolf"}
    text = "Roles (SECRET): {'Olga': 'Seer', 'Per': 'Wolf'}\nOlga: Hello, Per.\nPer: Hello, Olga.\n"
    assert {one.name: one.role for one in shown(text).players} == {"Olga": "Seer", "Per": "Wolf"}


def test_a_list_inside_of_what_somebody_thinks_is_no_list_of_players() -> None:
    said = (
        "[10:00] Olga: Hello, Per.\n[10:01] Per: I think.\nRoles:\n- Olga (Me): fine\n- Per (Me)\n[10:02] Olga: Good.\n"
    )
    assert {one.role for one in shown(said).players} == {None}


def test_texts_that_begin_with_a_name_in_a_list_of_json() -> None:
    items = [{"text": f"{name}: {said}", "marks": []} for name, said in
             (("Olga", "who was it"), ("Per", "not me"), ("Olga", "hm"))]  # fmt: skip
    assert [one[1:] for one in told(read(items))] == [("Olga", "who was it"), ("Per", "not me"), ("Olga", "hm")]


def test_lists_side_by_side_are_rows() -> None:
    game = [{"dialogue": ["Good evening, all.", "Good evening, Olga."], "speaking_order": ["Olga", "Per"],
             "private_informations": ["You are the seer.", "You are the wolf."]}]  # fmt: skip
    assert [(one.channel, one.speaker) for one in read(game).messages if one.channel != "private"] == [
        ("public", "Olga"), ("public", "Per"),
    ]  # fmt: skip
    numbered = [{"dialogue": ["Good evening, all.", "Good evening, you."], "speaking_order": [0, 1]}]
    assert [one.speaker for one in read(numbered).messages] == ["Player 0", "Player 1"]


def test_what_agents_answered_their_program_is_asked_about() -> None:
    def agent(name: str, said: str) -> dict[str, object]:
        told_it = [{"role": "system", "content": f"You are {name}."}, {"role": "user", "content": "Begin."}]
        return {"agent_name": name, "conversation": [*told_it, {"role": "assistant", "content": said}]}

    agents = {"players": [agent("Olga", "I offer 5."), agent("Per", "I take it.")]}
    found = result(agents)
    assert "answers to the program" in str(found.error)
    public = Answers(channels={"answers to the program": "public"})
    assert [one[1] for one in told(read(agents, answers=public)) if one[0] == "public"] == ["Olga", "Per"]


def test_yaml_is_read_as_the_same_in_json() -> None:
    text = "talk:\n- speaker: Olga\n  text: Good evening, Per.\n- speaker: Per\n  text: 'Good evening: Olga'\n"
    assert [one[1:] for one in told(read(text))] == [("Olga", "Good evening, Per."), ("Per", "Good evening: Olga")]


def test_records_of_a_log_that_give_nothing_are_counted() -> None:
    rows = [
        {"type": "init", "settings": {"players": 2}},
        {"type": "said", "who": {"id": 1}, "player": "Olga", "message": "Hello"},
        {"type": "said", "player": "Per", "message": "Hello"},
        {"type": "paid", "player": "Per", "amount": 7, "more": {}},
    ]  # fmt: skip
    assert result(lines(*rows)).kinds == {"message": 2, "left out": 2}


def test_a_refusal_says_what_stands_there() -> None:
    log = "2025-01-02 10:00:00 - DEBUG: asked for input, player: Olga\n" * 3
    assert "debug log" in refusal(log)
    assert "tags" in refusal("<talk> YOU: Hello there <eos> THEM: Hello </talk>\n<talk> YOU: So </talk>\n")
    assert '"1.content"' in refusal(
        "1:\n  content: Hello everyone, I am here.\n2:\n  content: Let us begin, then, all.\n"
    )
    assert '"talk[].text"' in refusal({"talk": [{"text": "A sentence that nobody here says.", "n": 1}]})
    assert '"steps[].prompt"' in refusal({"steps": [{"prompt": "You are Olga.", "response": "I wait for the others."}]})
    labels = "Turn: 1\nprice told: 3\nTurn: 2\nprice told: 4\nTurn: 3\nprice told: 5\n"
    assert '"price told"' in refusal(labels)


def test_numbers_and_actors_are_speakers_of_texts_and_voters() -> None:
    game = {
        "statements": [{"player_id": 1, "content": "I grow hot in the sun."}, {"player_id": 2, "content": "So do I."}],
        "votes": [{"voter_id": 1, "voted_for": 2}],
    }
    transcript = read(game)
    assert [message.speaker for message in transcript.messages] == ["Player 1", "Player 2"]
    assert [(vote.voter, vote.target) for vote in transcript.votes] == [("Player 1", "Player 2")]
    events = [
        {"type": "statement", "day": 1, "actor": "SAGE", "text": "I watch RICO."},
        {"type": "statement", "day": 1, "actor": "RICO", "text": "I watch SAGE."},
        {"type": "vote", "day": 1, "actor": "SAGE", "target": "RICO"},
    ]
    events += [
        {"type": "elimination", "day": 1, "target": "RICO", "role": "Villager"},
        {"type": "night_kill", "day": 1, "target": "SAGE", "saved": True},
        {"type": "night_kill", "day": 2, "target": "SAGE", "saved": False},
    ]
    transcript = read({"events": events})
    assert [(vote.voter, vote.target, vote.round) for vote in transcript.votes] == [("SAGE", "RICO", 1)]
    assert [(gone.player, gone.round) for gone in transcript.eliminations] == [("RICO", 1), ("SAGE", 2)]


def test_what_is_public_goes_before_the_whole_answer() -> None:
    rounds = [
        {"agent": "Mayor", "prompt": "You rule.", "full_answer": "I lie. We agree.", "public_answer": "We agree."},
        {"agent": "Union", "prompt": "You work.", "full_answer": "I lie. We do not.", "public_answer": "We do not."},
    ]
    assert [message.text for message in read({"rounds": rounds}).discussion] == ["We agree.", "We do not."]


def test_a_turn_that_is_no_number_is_no_round() -> None:
    turns = [
        {"turn": "opening", "agent": "A", "response": "We must."},
        {"turn": "opening", "agent": "B", "response": "We must not."},
    ]
    assert [message.round for message in read({"transcript": turns}).messages] == [None, None]


def test_lines_of_one_name_are_one_message() -> None:
    lists = [
        {"NAMES": ["MATT"], "UTTERANCES": ["Welcome to the table.", "We begin."]},
        {"NAMES": ["LAURA"], "UTTERANCES": ["Hello."]},
    ]
    assert [(m.speaker, m.text) for m in read({"TURNS": lists}).messages] == [
        ("MATT", "Welcome to the table.\nWe begin."), ("LAURA", "Hello."),
    ]  # fmt: skip


def test_the_chat_that_a_conference_saves_tells_who_was_written_to() -> None:
    text = (
        "10:14:36\t From Olga Berg : Where can we buy these?\n10:17:08\t From Per (Acme) : In the shop, I think.\n"
        "10:17:51\t From Olga Berg to Per (Acme) (Privately) : You look happy.\n"
        "10:18:53\t From Rui to Everyone : Hello all.\n"
    )
    said = [(channel, speaker) for channel, speaker, _ in heard(text)]
    assert said == [("public", "Olga Berg"), ("public", "Per (Acme)"), ("private", "Olga Berg"), ("public", "Rui")]


def test_a_time_inside_the_emphasis_of_a_name_is_its_time() -> None:
    text = (
        "**[00:01] SPEAKER_01:** So, hello.\n\n**[00:31] SPEAKER_00:** Thank you.\n\n**[01:02] SPEAKER_01:** Go on.\n"
    )
    assert told(read(text)) == [
        ("public", "SPEAKER_01", "So, hello."),
        ("public", "SPEAKER_00", "Thank you."),
        ("public", "SPEAKER_01", "Go on."),
    ]


def test_the_list_of_who_is_alive_is_no_player() -> None:
    text = (
        "[22:29:06] Player 2: Said word: grain\n[22:29:08] Player 0: Said word: bread\n"
        "[22:29:11] Players Alive: [0, 2]\n[22:29:25] Player 0: Grain seems too broad.\n[22:29:26] Player 2: Does it?\n"
    )
    assert {speaker for channel, speaker, _ in heard(text) if channel == "public"} == {"Player 0", "Player 2"}


def test_the_end_of_a_round_and_the_players_left_are_no_speech() -> None:
    text = (
        "[10:00:00] Circle Game Starting...\nImposters are Players: {1}\n"
        "[10:00:01] Starting round 1 (duration: 1.5 minutes)\n[10:00:01] Round 1 has started! It will end at 10:01:35\n"
        "[10:00:02] Player 0: Good morning.\n[10:00:04] Player 1: It was Player 0.\n"
        "Round 2 started! Duration: 1.5 minutes\nPlayers alive: [0, 1]\n[10:02:00] Player 0: And now?\n"
        "[10:03:00] Circle Game Starting...\n🕵️ Imposter is Player: 0\n"
        "[10:03:02] Player 1: Again.\n[10:03:04] Player 0: Yes, again.\n"
        "Mafia 0 has been eliminated by vote!\n"
    )
    first, second = results(text)
    assert first.preview is not None
    assert second.transcript is not None
    assert told(first.preview)[-1] == ("public", "Player 0", "And now?")
    assert [one.round for one in first.preview.discussion] == [1, 1, 2]
    assert [(one.name, one.role) for one in first.preview.players] == [("Player 0", None), ("Player 1", "Imposter")]
    assert {one.name: one.role for one in second.transcript.players} == {"Player 0": "Imposter", "Player 1": None}


def test_what_the_system_tells_without_a_colon() -> None:
    text = (
        "System Mafia are: Olga, Per\n☀️ System Day 1\n💭 Olga Thinking: I wait.\n🗣️ 1. Olga Rui is too calm.\n"
        "💭 Rui Thinking: It is Olga.\n🗣️ 2. Rui It was Olga, I say.\n💭 Per Thinking: Hm.\n🗣️ 3. Per No.\n"
        "System Mafia killed Rui\n🗣️ 3. Per: [👍 Innocent]\n"
    )
    found = result(text)
    transcript = found.transcript or found.preview
    assert transcript is not None
    assert told(transcript)[1:3] == [("private", "Olga", "I wait."), ("public", "Olga", "Rui is too calm.")]
    assert {one.name: one.role for one in transcript.players} == {"Olga": "Mafia", "Per": "Mafia", "Rui": None}
    assert [(one.player, one.round) for one in transcript.eliminations] == [("Rui", 1)]
    assert found.left_out[0].reason == "a vote for no player of the game"


def test_a_scribe_writes_down_what_others_say() -> None:
    text = (
        "10:00:01 <zakim> olga, you wanted to speak\n10:00:02 <olga> scribe: olga\n10:00:03 <per> present+\n"
        "10:00:04 <olga> per: I have read it all.\n10:00:05 <olga> ... twice\n10:00:06 <olga> next: the rest\n"
        "10:00:07 <per> https://example.org/\n10:00:08 <rui> http://example.org/\n"
    )
    found = result(text)
    assert found.transcript is not None
    assert [one[1:] for one in told(found.transcript) if one[0] == "public"][1:5] == [
        ("per", "present+"), ("per", "I have read it all."), ("per", "twice"), ("olga", "next: the rest"),
    ]  # fmt: skip
    assert set(found.transcript.player_names) == {"olga", "per", "rui"}
    assert "others' begin with a name" in str(found.questions)


def test_asides_and_places_behind_names_are_neither_speech_nor_roles() -> None:
    text = (
        "Olga (Oslo): I am here.\n[nobody else came]\nI wait.\nPer (Bergen): So am I.\n"
        "Olga (Oslo): Good.\nPer (Bergen): Yes.\n"
    )
    found = result(text)
    assert found.transcript is not None
    assert found.transcript.messages[0].text == "I am here.\nI wait."
    assert [(one.role, found.questions) for one in found.transcript.players] == [(None, ())] * 2


def test_what_json_tells_of_votes_and_ends() -> None:
    def said(player: str, **more: object) -> dict[str, object]:
        return {"player_id": player, **more}

    game = {
        "winner_role": "civilian",
        "players": [said(name, role=role) for name, role in (("P1", "don"), ("P2", "detective"), ("P3", "civilian"))],
        "log": [
            {
                "night": 1,
                "mafia_kill": "P3",
                "mafia_reasons": [said("P1", vote="P3", reason="He knows too much of us.")],
            },
            {
                "day": 1,
                "events": [
                    said("P1", statement="It was P2."),
                    said("P2", statement="It was P1."),
                    said("P1", vote="P2", reason="He was loud."),
                    said("P2", vote="approve", comment="I like that team."),
                    said("P2", vote="neither", reason="I hide what I know."),
                    {"event_type": "exclusion", "player": "P2"},
                ],
                "final_words": said("P2", words="I told you so."),
                "eliminated": [said("P1", role="don")],
            },
        ],
    }
    found = result(game)
    transcript = found.transcript
    assert transcript is not None
    assert [(one.voter, one.target, one.round, one.justification) for one in transcript.votes] == [
        ("P1", "P2", 1, "He was loud.")
    ]
    assert [(one.player, one.round) for one in transcript.eliminations] == [("P3", 1), ("P2", 1), ("P1", 1)]
    assert [one.text for one in transcript.discussion] == ["It was P2.", "It was P1.", "I told you so."]
    assert (transcript.players[0].alignment, transcript.winner) == ("mafia", "town")
    assert [one.text for one in transcript.messages if one.channel == "team"] == [
        "I like that team.", "I hide what I know.",
    ]  # fmt: skip
    assert {one.reason for one in found.left_out} == {
        "a vote for no player of the game", "its key is not known to hold what somebody says",
    }  # fmt: skip


def test_blocks_of_one_turn_are_one_message_and_labels_in_lists_no_players() -> None:
    def turn(name: str, *texts: str) -> dict[str, object]:
        return {"speaker": {"name": name}, "text_blocks": [{"text": text} for text in texts]}

    talk = read({"turns": [turn("Olga", "Good morning.", "I begin."), turn("Per", "Go on.")]})
    assert told(talk) == [("public", "Olga", "Good morning.\nI begin."), ("public", "Per", "Go on.")]
    review = {"suggestions": ["Optional: say less of it.", "Optional enhancement: say more of it."]}
    assert "known to say who speaks" in refusal({"reviews": [review, review]})


@pytest.mark.parametrize(
    ("night", "gone"),
    [
        ({"mafia_kill": "Per", "doctor_save": None}, ["Per"]),
        ({"mafia_kill": "Per", "doctor_save": "Olga"}, ["Per"]),
        ({"mafia_kill": "Per", "doctor_save": "Per"}, []),
        ({"kill": "Per", "saved": True}, []),
        ({"mafia_kill": "none", "doctor_save": None}, []),
        ({"skill": "Deception"}, []),
        ({"player": "Olga", "action": "execute"}, []),
        ({"player": "Per", "event": "executed"}, ["Per"]),
    ],
)
def test_a_key_or_row_of_json_ends_a_game_for_somebody_only_where_it_says_so(night: object, gone: list[str]) -> None:
    said = [{"speaker": name, "text": text} for name, text in (("Olga", "Hello, Per."), ("Per", "Hello."))]
    transcript = read({"day 1": said, "night 1": night})
    assert [one.player for one in transcript.eliminations] == gone
    assert set(transcript.player_names) == {"Olga", "Per"}


def test_what_is_said_beside_a_vote_in_json_stays_and_is_asked_about() -> None:
    rows = [{"player": "Olga", "message": "I saw Per run.", "vote": "Per"}, {"player": "Per", "message": "No, Olga."}]
    found = result({"log": [*rows, {"player": "Olga", "message": "So?"}, {"player": "Per", "message": "So what?"}]})
    assert "reasons" in str(found.questions)
    assert found.transcript is None or "I saw Per run." in [one.text for one in found.transcript.messages]


@pytest.mark.parametrize(
    "vote", ["I vote Per", "voted Per", "I voted for Per.", "vote against Per", "votes to eliminate Per"]
)
def test_a_row_of_votes_is_read_in_many_words(vote: str) -> None:
    rows = [("Olga", "message", "Hello, Per."), ("Per", "message", "Hello, Olga."), ("Olga", "vote", vote)]
    text = "speaker,type,text\n" + "".join(f'{name},{kind},"{said}"\n' for name, kind, said in rows)
    assert [(one.voter, one.target) for one in read(text).votes] == [("Olga", "Per")]


@pytest.mark.parametrize(
    ("role", "side"),
    [("GodFather", "mafia"), ("BodyGuard", "town"), ("FortuneTeller", "town"), ("Don", "mafia"), ("don't know", None)],
)
def test_roles_in_one_word_and_in_two(role: str, side: str | None) -> None:
    assert alignment_of(role) == side


def test_a_text_by_each_player_under_an_unknown_key_is_not_public_until_somebody_says_so() -> None:
    said = [{"author": name, "message": "Hello, all."} for name in ("Olga", "Per", "Olga", "Per")]
    game = {"rounds": [{"messages": said, "impressions": {"Olga": "Per is too quiet.", "Per": "Olga lies."}}]}
    found = result(game)
    assert [question.name for question in found.questions] == ["impressions"]
    assert {one.channel for one in found.transcript.messages if one.text == "Olga lies."} == {"team"}
    said_aloud = result({"rounds": [{"messages": said, "statements": {"Olga": "Per is too quiet.", "Per": "No."}}]})
    assert said_aloud.questions == ()


def test_a_vote_in_a_column_of_its_own_and_a_second_column_for_whom() -> None:
    text = "round,speaker,text,vote\n1,Olga,Good morning.,\n1,Per,I trust you.,Olga\n1,Olga,So?,per\n1,Rui,No.,nobody\n"
    found = result(text)
    assert [(one.voter, one.target) for one in found.transcript.votes] == [
        ("Per", "Olga"), ("Olga", "Per"), ("Rui", None),
    ]  # fmt: skip
    assert len(found.transcript.messages) == 4
    rows = [{"type": "bid", "target": "P1"}, {"type": "talk", "player_id": "Olga", "message": "Hello, Per."}]
    rows += [{"type": "talk", "player_id": "Per", "message": "Hello."}]
    rows += [{"type": "private_vote_reason", "voter_id": "Per", "target_id": "Olga", "reason": "She lies."}]
    rows += [{"type": "vote", "voter_id": "Per", "target_id": "Olga"}]
    assert [(one.voter, one.target) for one in read(lines(*rows)).votes] == [("Per", "Olga")]


def test_votes_that_cannot_be_read_are_asked_about_before_anything_is_stored() -> None:
    text = "speaker,type,text\nOlga,talk,Hello.\nPer,talk,Hello.\nOlga,vote,the tall one\nPer,vote,\n"
    found = result(text, as_read=False)
    assert found.transcript is None
    assert found.questions[-1].option == "--as-read"
    assert "1 row of votes could not be read" in found.questions[-1].words
    assert result(text, as_read=True).transcript is not None


def test_a_game_of_which_most_was_not_understood_is_asked_about() -> None:
    said = [{"speaker": name, "text": "Hello, all."} for name in ("Olga", "Per")]
    log = [{"what": "note", "described": f"Olga goes to the mill and Per waits at the gate, {n}."} for n in range(9)]
    assert 'keys of no known meaning and is left out: "described" (9)' in refusal({"a": said, "b": log})
    assert result({"a": said, "b": [{"plan": one["described"]} for one in log]}).questions == ()
    long = "I was at the mill, and the gate was shut, as it has been since the fair at the river"
    strange = "".join(f"[0{n}:02:03] R1 day  Olga   [talk]  {long}, {n}.\n" for n in range(9))
    odd = "".join(f"OLGA TALK — 2026-03-0{n} 06:25:44\n=\n" for n in range(1, 9))
    assert "Most of the text" in refusal(strange + odd)


def test_lines_that_a_tag_marks_as_the_game_s_are_nobody_s_speech() -> None:
    text = (
        "Roles: Olga - Villager, Per - Mafia, Rui - Seer\n\n=== NIGHT 1 ===\n[system] Rui looked at Per: Mafia.\n\n"
        "=== DAY 1 ===\nOlga: Nobody died.\nPer: I am bored.\n*Rui laughs.*\nRui: Per only asked.\n"
        "[vote] Olga -> Per\n[vote] Rui -> Per\n[system] Per was eliminated. Per was Mafia.\n\n=== NIGHT 2 ===\n"
        "[system] Rui killed Olga.\n"
    )
    found = read(text)
    assert [(one.speaker, one.text) for one in found.discussion] == [
        ("Olga", "Nobody died."), ("Per", "I am bored."), ("Rui", "Per only asked."),
    ]  # fmt: skip
    assert [(one.voter, one.target) for one in found.votes] == [("Olga", "Per"), ("Rui", "Per")]
    assert [(one.player, one.role) for one in found.eliminations] == [("Per", "Mafia"), ("Olga", None)]
    assert found.player_names == ("Olga", "Per", "Rui")


def test_lists_of_players_and_messages_under_other_keys_are_no_native_file() -> None:
    said = [{"speaker": name, "text": "Hello, all.", "round": 1} for name in ("Olga", "Per")]
    found = read({"game_id": "a", "players": [{"name": "Olga", "role": "Seer"}, {"name": "Per"}], "messages": said})
    assert [(one.round, one.speaker, one.text) for one in found.messages] == [
        (1, "Olga", "Hello, all."), (1, "Per", "Hello, all."),
    ]  # fmt: skip


def test_pairs_of_name_and_text_are_messages() -> None:
    found = read([["OLGA", "Good morning."], ["PER", "Hello."], ["OLGA", "So?"]])
    assert [one.speaker for one in found.messages] == ["OLGA", "PER", "OLGA"]


def test_a_chat_of_a_conference_with_its_texts_below() -> None:
    text = "19:06:03 From  Olga Ek  to  Everyone:\n\tHello\n19:06:19 From  Per  to  Everyone:\n\t#mill\n\tor not\n"
    found = read(text + "19:07:00 From  Olga Ek  to  Per(Direct Message):\n\tNo.\n")
    assert [(one.channel, one.speaker, one.text.strip()) for one in found.messages] == [
        ("public", "Olga Ek", "Hello"), ("public", "Per", "#mill\n\tor not"), ("private", "Olga Ek", "No."),
    ]  # fmt: skip


def test_a_messenger_that_writes_times_in_korean() -> None:
    text = "2016년 11월 11일 오후 10:07, 민준 : 안녕\n2016년 11월 11일 오후 10:08, Per : Hello\n"
    found = read(text + "2016년 11월 12일 오전 9:00, 민준 : 네\n")
    assert [one.speaker for one in found.messages] == ["민준", "Per", "민준"]
    assert [one.sent_at.hour for one in found.messages] == [22, 22, 9]


def test_lines_of_a_library_s_log_are_left_out() -> None:
    log = "2025-04-27 17:33:07 | WARNING  | pack.message:__init__:103 - The content should be text: it is not.\n"
    found = result(f"{log}Olga: Hello, Per.\n{log}{log}Per: Hello, Olga.\nOlga: So?\n")
    assert found.transcript.player_names == ("Olga", "Per")
    assert found.kinds["left out"] == 3


def test_a_talk_in_a_block_of_code_or_in_coloured_tags_is_read() -> None:
    said = "Olga: Good morning, Per.\nPer: Hello, Olga.\nOlga: So?\nPer: No.\n"
    assert len(read(f"# A game\n\n```\n{said}```\n").discussion) == 4
    tag = '<span style="color: #2E8B57"><strong>{}:</strong></span> {}\n'
    coloured = "# A jury\n" + "".join(tag.format(*line.split(": ")) for line in said.splitlines())
    assert [one.text for one in read(coloured).discussion] == ["Good morning, Per.", "Hello, Olga.", "So?", "No."]


def test_a_name_that_nobody_has_is_none() -> None:
    text = "speaker,text\nOlga,Hello.\n?,Who is this?\nPer,Hello.\n"
    found = result(text)
    assert found.transcript.player_names == ("Olga", "Per")
    assert found.left_out[0].reason == "no speaker"


def test_a_place_in_a_recording_is_no_moment() -> None:
    found = read("Timestamp,Text,speaker\n0:08,Hello.,Olga\n1:14:51,Hello.,Per\n")
    assert [one.sent_at for one in found.messages] == [None, None]
    assert [one.metadata["Timestamp"] for one in found.messages] == ["0:08", "1:14:51"]


def test_speakers_in_brackets_under_one_role_of_a_chat_are_asked_about() -> None:
    turns = [("user", "It is the turn of the mill."), ("assistant", "[Olga Ek]: I am for it.")]
    turns += [("user", "Next."), ("assistant", "[Per]: I am not.")]
    found = result([{"role": role, "content": text} for role, text in turns])
    assert [question.choices for question in found.questions] == [("player", "text")]
    assert [(one.speaker, one.text) for one in found.transcript.discussion] == [
        ("Olga Ek", "I am for it."), ("Per", "I am not."),
    ]  # fmt: skip


def test_columns_of_a_list_inside_json_can_be_chosen() -> None:
    posts = [{"qui": "Olga", "texte": "Bonjour à tous."}, {"qui": "Per", "texte": "Bonjour, Olga, et alors ?"}]
    held = {"titre": "Un", "fils": [{"sujet": "Le moulin", "posts": posts}]}
    assert result(held).head.columns == ("titre", "sujet", "qui", "texte")
    found = read(held, choose_columns=lambda _: ColumnMapping(speaker="qui", text="texte"))
    assert [(one.speaker, one.metadata["sujet"]) for one in found.messages] == [
        ("Olga", "Le moulin"),
        ("Per", "Le moulin"),
    ]


def test_no_control_character_of_a_name_reaches_the_terminal() -> None:
    found = result("2. Wren:\n\x13a:\n6. Ida:Wren")
    assert '"?a' in str(found.error)
    assert "\x13" not in str(found.error)


def test_what_services_tell_in_a_chat_of_the_net_is_no_speech() -> None:
    text = (
        "[09:00:01] <olga> Who broke the build?\n[09:00:20] -git-spam- [app] rui closed pull request #7: mend it\n"
        "[09:00:30] <per> Not me.\n[09:00:41] -git-spam- app/main 1f9b7b1 rui: mend it\n[09:00:50] <olga> It was Rui.\n"
    )
    assert set(shown(text).player_names) == {"olga", "per"}


def test_a_raw_log_of_a_client_has_the_nick_between_tabs() -> None:
    rows = [
        ("olga", "Shall we begin?"),
        ("⚡", "per is now known as per_"),
        ("per", "Yes, all are here."),
        ("olga", "Good."),
    ]
    text = "".join(f"2024-06-01 10:00:{place:02d}\t{nick}\t{said}\n" for place, (nick, said) in enumerate(rows))
    assert told(read(text)) == [
        ("public", "olga", "Shall we begin?"), ("system", "System", "per is now known as per_"),
        ("public", "per", "Yes, all are here."), ("public", "olga", "Good."),
    ]  # fmt: skip


def test_reactions_and_greetings_in_the_chat_of_a_conference() -> None:
    text = (
        "10:00:01\tOlga Berg:\tgm\n10:00:05\tPer Lund:\tgm\n10:01:00\tOlga Berg:\tIs the room open?\n"
        '10:01:30\tPer Lund:\tReplying to "Is the room..."\n\nYes, it is.\n'
        '10:01:40\tRui Sato:\tReacted to "Yes, it is." with 👍\n'
    )
    transcript = read(text)
    assert {one.name: one.role for one in transcript.players} == {"Olga Berg": None, "Per Lund": None}
    assert told(transcript)[3:] == [
        ("public", "Per Lund", "Yes, it is."), ("system", "Rui Sato", 'Reacted to "Yes, it is." with 👍'),
    ]  # fmt: skip


def test_a_name_of_an_account_that_ends_with_a_full_stop() -> None:
    text = "[2024-06-01T10:00:00] olga (id=1)\n    Hello\n[2024-06-01T10:01:00] perl. (id=2)\n    Good morning\n"
    assert [speaker for _, speaker, _ in told(read(text))] == ["olga", "perl."]


def test_names_in_capitals_inside_a_line_are_asked_about() -> None:
    text = (
        "HOLM: Good evening to both of you.\nBERG: Good evening. LUND: Good evening to all.\n"
        "HOLM: Who begins?\nLUND: I do.\nBERG: Please.\nFirst Berg and Lund Debate: Notes\n"
    )
    asked = result(text, as_read=False)
    assert [one.topic for one in asked.questions] == ["as-read"]
    assert "1 time a speaker's name stands in the middle of a line of another (LUND:)" in asked.questions[0].words
    assert set(shown(text).player_names) == {"HOLM", "BERG", "LUND"}


@pytest.mark.parametrize(
    "text",
    [
        "Olga Berg action: I get up.\nPer Lund action: I sleep.\nOlga Berg action: I eat.\nPer Lund action: I go.\n",
        "正方需要补强：对反方的攻势缺乏回应。\n反方需要补强：没有证据。\n正方需要补强：成本问题。\n反方需要补强：过于简单。\n",
    ],
)
def test_labels_that_nothing_shows_to_be_speakers(text: str) -> None:
    assert "nothing shows that these are speakers" in str(refusal(text))


def test_a_talk_below_a_long_text_is_asked_about() -> None:
    story = "".join(f"The story goes on for another day, and nothing happens in it ({day}).\n" for day in range(60))
    said = "Debater A: It is Victor.\nDebater B: It is Tom.\nDebater A: Victor says so himself.\nDebater B: He lies.\n"
    asked = result(story + said, as_read=False)
    assert [one.topic for one in asked.questions] == ["as-read"]
    assert set(shown(story + said).player_names) == {"Debater A", "Debater B"}


def test_times_in_nanoseconds() -> None:
    row = {"agent_name": "Olga", "content": "Hello", "timestamp": "1714734100102881939"}
    transcript = read(lines(row, row | {"agent_name": "Per"}))
    assert transcript.messages[0].sent_at.isoformat()[:16] == "2024-05-03T11:01"


def test_captions_without_a_name_among_captions_with_names_are_told() -> None:
    cues = [
        "Olga: Hello",
        "Per: Hello",
        "Olga: All here?",
        "Per: Yes",
        "And Rui",
        "Olga: Good",
        "Per: Then go",
        "Olga: I do",
    ]
    text = "WEBVTT\n\n" + "".join(
        f"00:00:{at:02d}.000 --> 00:00:{at:02d}.900\n{cue}\n\n" for at, cue in enumerate(cues)
    )
    assert "1 line of captions without a name left to who spoke before." in result(text, "call.vtt").remarks


def test_what_a_model_answered_in_fences_is_asked_about() -> None:
    def answer(name: str, **held: str) -> str:
        return f"{name}: ```json\n{json.dumps(held, indent=1)}\n```\n"

    text = (
        "2031-05-01 10:00:00 | WARNING  | pkg.module:call:12 - slow\nModerator: Olga, whom do you fear?\n"
        + answer("Olga", thought="I fear Per, and say nothing of it.")
        + answer("Per", thought="Olga is the seer.", speak="I trust all of you.")
        + "Moderator: Speak.\n"
        + answer("Olga", thought="He lies.", speak="Per, who told you so?")
        + answer("Per", thought="She knows.", speak="Nobody, Olga.")
        + "2031-05-01 10:00:09 | WARNING  | pkg.module:call:12 - slow\n"
    )
    found = result(text)
    (question,) = found.questions
    assert question.topic is Topic.CHANNEL
    assert "answers to the program" in question.words
    said = read(text, answers=Answers(channels={"answers to the program": "public"}))
    public = [(one.speaker, one.text) for one in said.messages if one.channel == "public"]
    assert public == [
        ("Per", "I trust all of you."), ("Olga", "Per, who told you so?"), ("Per", "Nobody, Olga."),
    ]  # fmt: skip


def test_a_log_tells_who_speaks_and_what_kind_of_text_it_is() -> None:
    text = "2031-05-01 10:00:00,100 - INFO - Starting the system...\n" + "".join(
        f"2031-05-01 10:00:0{place},123 - INFO - === {name.upper()} NODE ===\n"
        f"2031-05-01 10:00:0{place},456 - INFO - {name} argument: {said}\n"
        for place, (name, said) in enumerate(
            [("Poet", "Verse is older."), ("Baker", "Bread is older."), ("Poet", "Not to me."), ("Baker", "To all.")]
        )
    )
    assert [one for one in told(shown(text)) if one[0] == "public"] == [
        ("public", "Poet", "Verse is older."), ("public", "Baker", "Bread is older."),
        ("public", "Poet", "Not to me."), ("public", "Baker", "To all."),
    ]  # fmt: skip


def test_the_remedy_for_unknown_labels_helps() -> None:
    said = "Note taken: all are here\nPlan made: we go north\nNote taken: none stays\nPlan made: we go at once\n"
    text = f"What was said\n{said}"
    assert "--speaker NAME=player" in refusal(text)
    assert "Note taken=player" not in refusal(text)
    answered = result(text, answers=Answers(speakers={"Note taken": "player", "Plan made": "player"}))
    assert answered.transcript is not None


def test_two_documents_and_a_stray_bracket_are_two_games() -> None:
    def game(name: str) -> dict[str, object]:
        acts = [
            {"agent": "Olga", "private_thought": "Per it is.", "public_speech": "I suspect Per.", "vote": "Per"},
            {"agent": "Per", "private_thought": "She knows.", "public_speech": "I suspect Olga.", "vote": "Olga"},
        ]
        return {"game_id": name, "day_1": {"agent_actions": acts}}

    lost = {"game_id": "third", "roles": {"P1": "Seer", "P2": "Wolf"}, "vote_answer": {"vote": "P1", "reason": "Why?"}}
    text = "\n\n".join(json.dumps(one, indent=1) for one in (game("first"), game("second"), lost)) + "\n}\n"
    first, second, third = results(text)
    for one, name in ((first, "first"), (second, "second")):
        assert one.transcript is not None
        assert one.transcript.game_id == name
        assert [m.text for m in one.transcript.messages if m.channel == "public"] == [
            "I suspect Per.", "I suspect Olga.",
        ]  # fmt: skip
        assert [(vote.voter, vote.target) for vote in one.transcript.votes] == [("Olga", "Per"), ("Per", "Olga")]
        assert one.transcript.player_names == ("Olga", "Per")
    assert third.error is not None
    assert "columns speaker and text" in third.error.remedy


def test_the_table_that_refusals_ask_for_holds_a_whole_game() -> None:
    asked = refusal({"steps": [{"prompt": "Who is it, and why do you think so?"}]})
    head = "game,round,phase,channel,speaker,role,text,type,target"
    assert all(column in asked for column in head.split(","))
    rows = [
        "north,1,night,team,Olga,Werewolf,Rui goes first.,,",
        "north,1,day,public,Olga,Werewolf,I slept well.,,",
        "north,1,day,public,Per,Seer,Olga lies.,,",
        "north,1,day,system,Clock,,Now vote.,,",
        "north,1,day,,Per,,She lies.,vote,Olga",
        "north,1,day,,,,,elimination,Olga",
        "south,2,day,private,Sven,Seer,I saw Tea.,,",
        "south,2,day,public,Tea,Villager,Good day.,,",
        "south,2,day,public,Sven,Seer,Good day to you.,,",
    ]
    north, south = (one.transcript for one in results("\n".join([head, *rows])))
    assert told(north) == [
        ("team", "Olga", "Rui goes first."), ("public", "Olga", "I slept well."), ("public", "Per", "Olga lies."),
        ("system", "Clock", "Now vote."),
    ]  # fmt: skip
    assert [(one.round, one.phase, one.voter, one.target, one.justification) for one in north.votes] == [
        (1, "day", "Per", "Olga", "She lies.")
    ]
    assert [(one.round, one.player) for one in north.eliminations] == [(1, "Olga")]
    assert [(one.name, one.role) for one in north.players] == [("Olga", "Werewolf"), ("Per", "Seer")]
    assert told(south)[0] == ("private", "Sven", "I saw Tea.")
    assert south.messages[1].round == 2


SAID = [(name, f"{name} says number {place}.") for place, name in enumerate(("Olga", "Per", "Rui") * 2)]


@pytest.mark.parametrize("nested", [True, False])
def test_a_turn_that_counts_messages_is_no_round(nested: bool) -> None:
    said = [{"turn": place, "speaker": name, "text": text} for place, (name, text) in enumerate(SAID)]
    found = read({"talk": said} if nested else lines(*said))
    assert {message.round for message in found.messages} == {None}
    assert [message.metadata["turn"] for message in found.messages] == list(range(6))
    shared = [one | {"turn": place // 3} for place, one in enumerate(said)]
    assert [one.round for one in read({"talk": shared} if nested else lines(*shared)).messages] == [0, 0, 0, 1, 1, 1]


def test_dates_in_the_column_of_days_are_no_rounds() -> None:
    said = [{"day": f"2031-05-0{place + 1}", "speaker": name, "text": text} for place, (name, text) in enumerate(SAID)]
    assert [one.metadata["day"] for one in read(lines(*said)).messages][:2] == ["2031-05-01", "2031-05-02"]


def test_text_and_author_as_objects_beside_ids() -> None:
    rows = [{"sender": str(len(name)), "sender_name": name, "content": {"text": text}} for name, text in SAID]
    assert [(one.speaker, one.text) for one in read(lines(*rows)).messages] == SAID
    comments = [
        {
            "commenter": {"display_name": name},
            "message": {"body": text, "parts": [{"text": text[:4]}, {"text": text[4:]}]},
        }
        for name, text in SAID
    ]
    assert [(one.speaker, one.text) for one in read({"video": 7, "comments": comments}).messages] == SAID


def test_a_time_behind_a_name_in_brackets_is_no_text() -> None:
    text = "".join(f"[{name}] [00:0{place}] {said}\n" for place, (name, said) in enumerate(SAID))
    found = read(text)
    assert [(one.speaker, one.text) for one in found.messages] == SAID
    assert [one.sent_at.second if one.sent_at else None for one in found.messages][:1] != [None]


def test_what_a_log_tells_once_in_ordinary_words_is_asked_about() -> None:
    said = "".join(
        f"2031-05-01 10:00:0{place},123 - INFO - {('Poet', 'Baker')[place % 2]}: It is older than {place}.\n"
        for place in range(4)
    )
    found = result(f"{said}2031-05-01 10:00:09,123 - INFO - Totals: all are well and here\n")
    assert "Totals" in found.questions[0].name
    assert found.preview is not None
    assert set(found.preview.player_names) == {"Poet", "Baker"}


def test_a_host_whom_an_event_names_has_not_left() -> None:
    events = [{"speaker": name, "text": text} for name, text in SAID]
    gone = [{"type": "death", "player": "Storyteller"}, {"type": "death", "player": "Rui"}]
    found = shown({"talk": events, "events": gone})
    assert [one.player for one in found.eliminations] == ["Rui"]


def test_yaml_with_an_ampersand_and_data_in_a_script_are_read() -> None:
    yaml = "talk:\n" + "".join(f"- speaker: {name}\n  text: Bread & butter, {text}\n" for name, text in SAID)
    assert len(read(yaml).messages) == 6
    held = json.dumps({"talk": [{"speaker": name, "text": text} for name, text in SAID]})
    assert [(one.speaker, one.text) for one in read(f"window.__GAME__({held});\n").messages] == SAID
    assert len(read(f"window.part0 = {held};").messages) == 6


def test_refusals_name_the_columns_and_a_log_of_calls() -> None:
    rows = [{"state": {"n": place, "who_acts": name, "summary": text}} for place, (name, text) in enumerate(SAID)]
    assert 'by their values "who_acts" who speaks, and "summary" what is said' in refusal({"steps": rows})
    columns = ColumnMapping(speaker="who_acts", text="summary")
    answered = result({"steps": rows}, choose_columns=lambda _: columns)
    assert [(one.speaker, one.text) for one in (answered.transcript or answered.preview).messages] == SAID
    text = "".join(f"Country: {name}\nPrompt: Say it, please\nResponse: {said}\n" for name, said in SAID)
    assert "log of calls to a model" in refusal(text)


def test_sentences_that_tell_who_said_what_are_read() -> None:
    told = [
        'Olga said: "Good morning to all of you."', 'Per messaged Olga: "You and I against Rui?"',
        'Per said: "I have my doubts about Rui."', 'Rui said: "And I about you, Per, as ever."',
        "Olga voted to eliminate Rui", "Per voted to eliminate Rui", "Rui voted to eliminate Per",
    ]  # fmt: skip
    items = [{"seen_by": {"n": place}, "data": {"display": text}} for place, text in enumerate(told)]
    prompts = [{"prompt": f"Context so far: {told[0]} What do you say, number {place}?"} for place in range(3)]
    found = read({"buffer": [*items, *prompts]})
    assert [(one.channel, one.speaker, one.text) for one in found.messages][:4] == [
        ("public", "Olga", "Good morning to all of you."), ("private", "Per", "You and I against Rui?"),
        ("public", "Per", "I have my doubts about Rui."), ("public", "Rui", "And I about you, Per, as ever."),
    ]  # fmt: skip
    assert [(vote.voter, vote.target) for vote in found.votes] == [("Olga", "Rui"), ("Per", "Rui"), ("Rui", "Per")]
    assert "--map" not in refusal({"buffer": prompts})


def test_a_name_with_the_word_moderator_in_it_is_asked_about() -> None:
    said = [(name.replace("Rui", "Panel_Moderator"), text) for name, text in SAID]
    found = result(lines(*({"speaker": name, "text": text} for name, text in said)))
    assert [(one.name, one.taken) for one in found.questions] == [("Panel_Moderator", "player")]
    answers = Answers(speakers={"Panel_Moderator": "moderator"})
    answered = read(lines(*({"speaker": name, "text": text} for name, text in said)), answers=answers)
    assert set(answered.player_names) == {"Olga", "Per"}
