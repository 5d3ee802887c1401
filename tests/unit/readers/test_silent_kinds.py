"""Kinds of files that were read wrong without a word, or refused without a way that leads on."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from evaluation.readers import Answers, ColumnMapping, Topic
from tests.unit.readers.reading import lines, read, refusal, result, results, shown, told

SAID = [
    ("Olga", "Good morning to all of you."), ("Per", "I saw Rui last night, I think."),
    ("Rui", "I was asleep all night long."), ("Olga", "So who was it then, Per?"),
    ("Per", "It was Rui, I am sure of it."), ("Rui", "Ask Olga where she was instead."),
]  # fmt: skip
TALK = [{"speaker": name, "text": text} for name, text in SAID]


def test_who_leads_by_a_role_beside_the_sender_is_asked_about() -> None:
    roles = {"Olga": "boss", "Per": "thinker", "Rui": "critic"}
    found = result(lines(*({"sender_name": n, "sender_role": roles[n], "content": {"text": t}} for n, t in SAID)))
    assert [(one.name, one.taken) for one in found.questions if one.topic is Topic.SPEAKER] == [("Olga", "player")]
    assert {player.name: player.role for player in found.transcript.players} == roles


def test_notes_of_a_judge_are_nobodys_thoughts() -> None:
    notes = [
        {"player_name": name, "message_index": n, "score": n / 2, "reasoning": f"This says {n} things of no weight."}
        for n, (name, _) in enumerate(SAID)
    ]
    found = result({"messages": TALK, "about": {"notes": notes}})
    assert Counter(one.channel for one in found.transcript.messages) == {"public": 6}
    assert found.kinds["left out"] == 6
    said = [{"player": name, "comment": f"{name} made a weak case here today."} for name, _ in SAID[:3]]
    assert {m.channel for m in shown({"messages": TALK, "evaluations": said}).messages[6:]} == {"team"}


def test_marks_of_sides_and_whispers_are_asked_about_apart() -> None:
    text = "=== DAY 1 ===\n" + "".join(f"{'🦊' if n == 'Rui' else '🙂'} {n}: {t}\n" for n, t in SAID)
    text += "=== NIGHT 1 ===\n🦊 Rui (to wolves): I take Per, he knows too much.\n"
    text += "=== Roles ===\nOlga: villager (Alive)\nPer: villager (Dead)\nRui: wolf (Alive)\n"
    found = shown(text)
    assert {m.channel for m in found.messages if m.speaker == "Rui" and m.channel_name == "to wolves"} == {"team"}
    assert {p.name: p.alignment for p in found.players} == {"Olga": "town", "Per": "town", "Rui": "mafia"}
    assert not any(one.text.startswith(("wolf (", "villager (")) for one in found.messages)


def test_beginnings_of_sentences_and_counted_parts_are_no_players() -> None:
    text = "".join(f"{n}: {t}\n" for n, t in SAID)
    text += "Here's what I see: nobody talks.\n\nSo I'm calling it now: Per.\n\nSpeaking Round 1:\n" * 2
    assert set(shown(text).player_names) == {"Olga", "Per", "Rui"}


def test_who_leads_and_who_is_out_by_the_lines_of_a_game() -> None:
    text = "Host: Ingrid\nWolves: Rui\nIngrid: Day 1. Talk, all of you.\n" + "".join(f"{n}: {t}\n" for n, t in SAID)
    text += "Ingrid: The votes are in. Per has been eliminated—right or wrong? We shall see.\n"
    text += "Ingrid: Rui is out—well done.\n🎉 TOWN WINS! 🎉\n"
    found = read(text)
    assert [one.player for one in found.eliminations] == ["Per", "Rui"]
    assert (found.winner, "Ingrid" in found.player_names) == ("town", False)
    assert {p.name: p.role for p in found.players}["Rui"] == "Wolf"


def test_a_role_shown_at_the_end_of_a_player_is_read_and_verdicts_are_counted() -> None:
    said = "".join(f"🗣️ {n}: {t}\n" for n, t in SAID)
    verdicts = "".join(f"🗣️ {n}: 👎 votes guilty\n" for n in ("Olga", "Per"))
    found = result(
        f"{said}System Rui on trial\n{verdicts}System Rui HANGED\nSystem 👺 Rui was a Mafia!\nSystem The end\n"
    )
    assert {p.name: p.role for p in (found.transcript or found.preview).players}["Rui"] == "Mafia"
    assert "2 votes on a trial or a proposal" in " ".join(found.remarks)


@pytest.mark.parametrize("key", ["night_votes", "kill_votes", "attackVotes", "wolf_votes"])
def test_what_wolves_choose_at_night_is_no_vote_by_day(key: str) -> None:
    game = {"talk": TALK, key: [{"voter": "Rui", "target": "Per"}], "votes": [{"voter": "Per", "target": "Rui"}]}
    assert [(v.voter, v.phase) for v in shown(game).votes] == [("Rui", "night"), ("Per", None)]
    rows = [*TALK, {"type": key[:-1], "speaker": "Rui", "target": "Per"}]
    rows.append({"type": "vote", "speaker": "Per", "target": "Rui"})
    for content in (rows, {"events": rows}):
        assert [(v.voter, v.phase) for v in shown(content).votes] == [("Rui", "night"), ("Per", None)]


def test_copies_of_a_list_in_snapshots_are_read_once_and_in_order() -> None:
    steps = [{"turn": n % 2, "history": TALK[: n + 1]} for n in range(6)]
    for game in ({"steps": steps}, {"history": TALK, "steps": steps}, {"steps": [*steps, steps[2]]}):
        found = result(game)
        assert [(one.speaker, one.text) for one in found.transcript.messages] == SAID
        assert "lists that copy an earlier one" in " ".join(found.remarks)
        assert {one.round for one in found.transcript.messages} == {None}


def test_copies_of_two_chats_keep_the_order_of_the_steps() -> None:
    def chat(name: str, count: int) -> list[dict[str, str]]:
        system = {"role": "system", "content": f"You are {name}, and you sell or buy one thing."}
        return [system, *({"role": "assistant", "content": f"{name} offers {n} coins for it."} for n in range(count))]

    def agents(own: int, other: int) -> list[dict[str, object]]:
        return [{"agent_name": n, "chat": chat(n, count)} for n, count in (("Olga", own), ("Per", other))]

    game = {"agents": agents(2, 2), "steps": [{"state": agents(1, 0)}, *({"state": agents(n, n)} for n in (1, 2))]}
    said = [one.text for one in shown(game).messages if one.channel != "system"]
    assert said == [f"{n} offers {c} coins for it." for c in range(2) for n in ("Olga", "Per")]


DEBATE = {
    "topic": "Shall we tax the air that we breathe?",
    "pro_opening": "Air is scarce, and so it has a price.", "con_opening": "Air is free to all who breathe.",
    "pro_rebuttal": "What is free is wasted by everybody.", "con_rebuttal": "Nobody wastes a breath on purpose.",
    "verdict": "The side against the tax was better today.",
}  # fmt: skip


def test_sides_in_keys_speak_and_each_record_is_a_debate() -> None:
    rows = [DEBATE, DEBATE | {"pro_opening": "Taxes build the roads that we use."}]
    header, *cells = [",".join(json.dumps(one) for one in held) for held in (DEBATE, *(r.values() for r in rows))]
    for content in (rows, {"debates": rows}, "\n".join([header, *cells])):
        found = results(content)
        assert [[m.speaker for m in one.transcript.messages] for one in found] == [["Pro", "Con"] * 2] * 2
        assert '"verdict" (2)' in found[0].questions[0].words
    assert "--speaker" not in refusal(rows[0], answers=Answers(speakers={"Pro, Con": "text"}))


def test_sides_are_called_by_the_names_of_who_takes_them() -> None:
    people = {"one": {"name": "Olga", "stance": "for"}, "two": {"name": "Per", "stance": "against"}}
    said = {"opening_for": "We ought to go there soon.", "opening_against": "We ought to stay at home."}
    said |= {"closing_for": "So let us go there now.", "closing_against": "So let us stay here now."}
    assert [m.speaker for m in read({"people": people, "transcript": said}).messages] == ["Olga", "Per"] * 2


def test_an_exchange_a_row_is_one_talk_and_odd_keys_are_asked_about() -> None:
    rows = [
        {"agent_a_message": f"I offer {n} coins for it.", "agent_b_message": f"No, {n} is too low."} for n in (3, 4)
    ]
    assert [m.speaker for m in read(lines(*rows)).messages] == ["Agent A", "Agent B"] * 2
    assert [m.text for m in read([*rows, {"agent_a_message": "Five?", "agent_b_message": "Yes."}]).messages][-2:] == [
        "Five?", "Yes.",
    ]  # fmt: skip
    odd = [{"original_text": f"The {n} cats sat down.", "translated_text": f"Die {n} Katzen sitzen."} for n in (3, 4)]
    found = result(odd)
    assert found.transcript is None
    assert [(one.topic, one.taken) for one in found.questions] == [(Topic.SPEAKER, None)]


def test_cells_that_hold_lists_and_a_heading_below_another() -> None:
    said = [{"sender": name, "message": text} for name, text in SAID]
    table = 'name,messages\nspring,"' + repr(said).replace('"', '""') + '"\nsummer,"[]"\n'
    assert [(m.speaker, m.text) for m in read(table).messages] == SAID
    words = refusal(f"OLGA,PER,RUI\nbot,bot,bot\n{table}")
    assert "line 3: The row has 2 cells, the heading 3." in words
    assert "cut off the lines above it" in words
    assert "--map" not in words


def test_headings_of_turns_with_pictures_and_rounds_hide_their_thinking() -> None:
    page = "# Council\n\nMembers: three\n\n---\n\n" + "".join(
        f"### 🟣 {name} - Round {number}\n**Timestamp:** 2031-05-0{number}\n\n"
        "#### My Thinking\n\nI hide this from all.\n\n"
        f"#### Key Points\n\n{name} has {number} points.\n\n"
        for number in (1, 2)
        for name in ("Olga", "Per")
    )
    found = shown(page + "## Summary\n\nOlga and Per agree.\n")
    public = [(m.round, m.speaker) for m in found.messages if m.channel == "public"]
    assert public == [(n, name) for n in (1, 2) for name in ("Olga", "Per")]
    assert [m.text for m in found.messages if m.channel == "private"] == ["I hide this from all."] * 4
    assert not any("hide this" in m.text or "agree" in m.text for m in found.discussion)


def test_headings_of_sides_and_of_counted_turns_speak() -> None:
    page = "# A debate\n\n" + "".join(
        f"## {side}{part}\n\n這是{side}的話。\n\n" for part in "申駁" for side in ("正方", "反方")
    )
    assert [m.speaker for m in read(page + "## 裁判\n\n正方勝。\n").discussion] == ["正方", "反方"] * 2
    turns = enumerate(("Host", "Olga", "Per", "Olga", "Per"), 1)
    page = "# Talk\n\n- round: 2\n\n" + "".join(
        f"### Turn {n} - {name}\n\nHere {name} speaks.\n\n" for n, name in turns
    )
    assert [(m.round, m.speaker) for m in read(page).discussion] == [(None, "Olga"), (None, "Per")] * 2


def test_lines_of_a_list_with_names_in_brackets_are_copied_by_each_player() -> None:
    said = [f"chat: Talk: [{name}]: {text}" for name, text in SAID]
    chats = [
        {"name": name, "chat": said[:1] + said[1:3][::step] + said[3:]} for name, step in (("Olga", 1), ("Per", -1))
    ]
    found = result({"players": chats, "round": 9, "phase": "end"})
    messages = (found.transcript or found.preview).messages
    assert [(m.round, m.phase, m.speaker, m.text) for m in messages] == [(None, None, *one) for one in SAID]


@pytest.mark.parametrize("key", ["conversation", "transcript", "text", "the_log"])
def test_a_talk_in_one_text_of_a_record_is_read(key: str) -> None:
    talk = "".join(f"{name}: {text}\n" for name, text in SAID)
    records = [{"n": n, "prompt": talk * 2, "topic": "Who it was, and why", key: talk} for n in (1, 2)]
    table = f"n,topic,{key}\n" + "".join(f'{n},"Who, and why at all","{talk}"\n' for n in (1, 2))
    for content in (records, table, lines(*records), {"a": {"b": records[0]}}):
        for one in results(content):
            assert one.transcript is not None, one.error
            assert [(m.speaker, m.text) for m in one.transcript.messages] == SAID
            assert '"topic"' in one.remarks[-1]


def test_a_short_talk_among_records_is_no_less_a_game() -> None:
    talk = "".join(f"{name}: {text}\n" for name, text in SAID)
    found = results([{"dialogue": talk}, {"dialogue": "Olga: Hello, Per.\nPer: Hello."}, {"dialogue": "Nothing."}])
    assert len(found) == 3
    assert [one.error is None or bool(one.error.remedy) for one in found] == [True] * 3


def test_a_list_that_a_text_holds_is_read() -> None:
    assert [(m.speaker, m.text) for m in read({"id": 3, "messages": json.dumps(TALK)}).messages] == SAID


def test_the_refusal_of_labels_says_how_to_write_the_talk() -> None:
    text = "".join(
        f"Status: {n}\nCards: {n}, {n}\n  - Olga: calm\n  - Per: bold\nOlga lays {n} cards.\n" for n in range(9)
    )
    words = refusal(text)
    assert "one row per message" in words
    assert "Olga=player" not in words


def test_numbered_talks_are_split_and_labels_without_times_are_asked_about() -> None:
    text = "".join(
        f"--- Negotiation #{n} ---\nParties: Olga vs Per\nUsed: {n > 1}\n\n"
        f"[10:0{n}] Olga (proposer):\n  I offer {n} coins.\n\n"
        f"[10:0{n}] Per ({'system' if n == 3 else 'responder'}):\n  I need {n + 1} of them.\n\n"
        f"FINAL: agreed on {n}.\n\n"
        for n in (1, 2, 3)
    )
    found = results(text)
    said = [[(m.speaker, m.channel) for m in one.preview.messages if m.speaker != "System"] for one in found]
    assert said == [[("Olga", "public"), ("Per", "public" if n < 3 else "system")] for n in (1, 2, 3)]
    assert {"Parties", "FINAL"} <= {*found[0].questions[0].name.split(", ")}
    assert not any(one.topic is Topic.AS_READ for one in found[0].questions)


def test_what_agents_and_the_program_wrote_to_each_other_is_asked_about() -> None:
    def chat(name: str) -> list[dict[str, str]]:
        asked = [{"role": "user", "content": "Solve this riddle for me, please."}]
        return [*asked, {"role": "assistant", "content": f"{name} says that it is seven."}] * 2

    found = shown({"riddle": [[chat(name) for name, _ in SAID[:2]], "7"]})
    assert {(m.speaker, m.channel_name) for m in found.messages if m.channel != "system"} == {
        ("Agent 1", "answers to the program"), ("Agent 2", "answers to the program"),
    }  # fmt: skip
    rules = "Welcome. You are playing as Olga. Your messages must be in tags."
    texts = (rules, "<strategize>\nI hide my price.\n</strategize>", "Per sent: <message>\nHi\n</message>", "No.")
    rows = [{"role": ("user", "assistant")[n % 2], "content": text, "n": n} for n, text in enumerate(texts)]
    asked = result([*rows, {"role": "system", "about": {"agents": 2}}])
    assert [(one.name, one.taken) for one in asked.questions] == [("user", None)]
    assert [m.text for m in asked.preview.messages if m.channel == "private"] == ["I hide my price."]


def test_a_state_before_the_rounds_gives_them_no_round() -> None:
    rounds = [{"talk": [{"who": name, "said": text} for name, text in SAID[at : at + 3]]} for at in (0, 3)]
    state = {"round_number": 9, "log": TALK}
    found = read({"players": [{"name": "Olga", "role": "villager", "state": state}], "rounds": rounds})
    assert [(m.round, m.speaker, m.text) for m in found.messages] == [(None, *one) for one in SAID]
    turns = {f"turn_{n}": one for n, one in enumerate(TALK, 1)}
    assert {m.round for m in read(turns).messages} == {None}


def test_keys_that_are_names_are_asked_about() -> None:
    names = {name: f"{name} holds that it was so, {{}}." for name in ("Olga", "Per", "Rui")}
    rounds = [{name: text.format(n) for name, text in names.items()} for n in (1, 2)]
    table = "Round,Olga,Per,Rui\n" + "".join(
        f"{n}," + ",".join(f'"{one}"' for one in rounds[n].values()) + "\n" for n in (0, 1)
    )
    for content in ({"topic": "What now?", "round_1": rounds[0], "round_2": rounds[1]}, {"rounds": rounds}, table):
        found = result(content)
        assert found.transcript is None
        assert found.questions[0].name == "Olga, Per, Rui"
        answered = shown(content, answers=Answers(speakers={"Olga, Per, Rui": "player"}))
        assert [m.speaker for m in answered.messages] == [*names] * 2
    short = shown({"rounds": [*rounds, {"Olga": "No.", "Rui": "Yes."}]})
    assert [m.text for m in short.messages[-2:]] == ["No.", "Yes."]
    columns = ColumnMapping(speaker="Olga", text="Per")
    assert result(table, choose_columns=lambda _: columns).format == "table"
    agents = [{"round": n, "agent_1": f"I say {n} and more.", "agent_2": f"I say {n} or less."} for n in (1, 2)]
    assert {m.speaker for m in shown(agents).messages} == {"agent_1", "agent_2"}


def test_lines_to_somebody_and_tables_without_a_heading() -> None:
    pairs = [(SAID[n][0], SAID[(n + 1) % 6][0], SAID[n][1]) for n in range(6)]
    for line in ("{} to {}: {}", "[{} -> {}] {}"):
        found = shown("".join(line.format(*one) + "\n" for one in pairs))
        assert [(m.speaker, *m.recipients, m.text) for m in found.messages] == pairs
    words = refusal("".join(f"{name}\t{text}\n" for name, text in SAID))
    assert "The first line names no columns" in words
    assert "--map" not in words


def test_headings_of_sides_with_names_are_no_speeches_of_one() -> None:
    titles = ("正方 - Olga", "正方 Summary", "反方 - Per", "反方 Summary")
    found = result("".join(f"### {title}\n我說 {n}。\n\n" for n in (1, 2) for title in titles))
    game = found.transcript or found.preview
    assert game is None or "正方" not in game.player_names


def test_the_roles_and_votes_that_a_log_tells_are_no_speech() -> None:
    told_by_log = [
        "seat_1: Werewolf", "seat_2: Seer", "seat_3: Villager", "seat_4: Villager", "night 1:",
        "seat_1 chose to kill seat_4.",
        "day 1 announcement: seat_4 was killed last night.", "day 1 discussion:",
        'seat_1 (Werewolf) said: "Let us look at seat_2 today."', 'seat_2 (Seer) said: "No: look at seat_1, who lies."',
        'seat_3 (Villager) said: "I trust seat_2."',
        "day 1 voting: seat_1 had the most votes and was eliminated. "
        "seat_2, seat_3 voted for seat_1. seat_1 chose not to vote.",
        "remaining players: seat_2 (Seer), seat_3 (Villager).", "day 2 discussion:",
        'seat_2 (Seer) said: "That was right."', 'seat_3 (Villager) said: "It was."',
    ]  # fmt: skip
    game = read("".join(f"2025-03-01 10:00:{n:02},100 INFO {line}\n" for n, line in enumerate(told_by_log)))
    assert [one[1:] for one in told(game) if one[0] == "public"] == [
        ("seat_1", '"Let us look at seat_2 today."'), ("seat_2", '"No: look at seat_1, who lies."'),
        ("seat_3", '"I trust seat_2."'), ("seat_2", '"That was right."'), ("seat_3", '"It was."'),
    ]  # fmt: skip
    assert {one.name: one.role for one in game.players} == {
        "seat_1": "Werewolf", "seat_2": "Seer", "seat_3": "Villager", "seat_4": "Villager",
    }  # fmt: skip
    assert [(one.round, one.voter, one.target) for one in game.votes] == [
        (1, "seat_2", "seat_1"), (1, "seat_3", "seat_1"), (1, "seat_1", None),
    ]  # fmt: skip
    assert [one.player for one in game.eliminations] == ["seat_4", "seat_1"]


def test_a_vote_with_its_reason_and_who_is_out_are_read_behind_signs_and_labels() -> None:
    said = "Olga: Per is quiet.\nPer: I listen, Olga.\nRui: Per, speak.\nPer: No, Rui.\nOlga: Rui?\nRui: Yes, Olga.\n"
    log = (
        "[SYSTEM] \U0001f5f3\ufe0f Olga voted for Per. Reason: Per says nothing, and I know why.\n"
        "[SYSTEM] \U0001f5f3\ufe0f Rui voted for Per. Reason: As Olga says.\n"
        "[SYSTEM] \u274c Per has been eliminated! They were a VILLAGER.\n"
    )
    out = "ELIMINATION (Round 2, Night): Rui (Role: Seer) was eliminated. Reason: x.\n"
    game = read(f"{said}{log}{out}")
    assert [(one.voter, one.target, one.justification) for one in game.votes] == [
        ("Olga", "Per", "Reason: Per says nothing, and I know why."), ("Rui", "Per", "Reason: As Olga says."),
    ]  # fmt: skip
    assert [(one.player, one.role) for one in game.eliminations] == [("Per", "VILLAGER"), ("Rui", "Seer")]


def test_what_rows_alone_did_is_asked_about_and_not_public() -> None:
    rows = [
        "speaker,message,action_type", "Olga,Who has the key to the shed?,",
        "Per,[ACTION] asked for the key,intervention",
        "Per,I have it.,", "Rui,[ACTION] opened the shed,door_use", "Rui,Then open it.,",
    ]  # fmt: skip
    game = shown("\n".join(rows))
    assert [one.text for one in game.messages if one.channel == "public"] == [
        "Who has the key to the shed?", "I have it.", "Then open it.",
    ]  # fmt: skip


def test_rooms_of_one_file_are_asked_about() -> None:
    rooms = [
        {"name": name, "messages": [{"user": who, "text": f"We of {name} begin."} for who in ("Olga", "Per", "Olga")]}
        for name in ("roof-repair", "harvest", "cellar")
    ]  # fmt: skip
    asked = {one.name for one in result({"channels": rooms}).questions if one.topic is Topic.CHANNEL}
    assert {"harvest", "cellar"} <= asked


def test_what_two_wrote_to_each_other_is_private_and_no_other_game() -> None:
    letters = "".join(
        f"=== Conversation history with {name} ===\n{name}: I am with you.\nOlga: Then let us go north.\n\n" * 2
        for name in ("Per", "Rui")
    )
    assert {one.channel for one in shown(letters).messages} == {"private"}


def test_talks_in_long_cells_are_a_game_a_row_and_votes_beside_them_are_asked_about() -> None:
    talk = "\n".join(f"{name}: {'It is so. ' * 30}\n" for name in ("Olga", "Per") * 20)
    found = results(
        f'Number,Theme,Conversation,Votes,Winner\n1,Bread,"{talk}",Olga: 1,Olga\n2,Milk,"{talk}",Per: 1,Per\n',
        as_read=False,
    )
    assert len(found) == 2
    for one in found:
        assert "Votes" in one.questions[0].words
        assert one.preview.player_names == ("Olga", "Per")


def test_equal_texts_with_ids_of_their_own_are_no_copies() -> None:
    said = [
        {"player": name, "msg": "I am not sure yet.", "mid": f"m{n}"}
        for n, name in enumerate(("Olga", "Per", "Rui") * 2)
    ]
    states = [{"step": n, "state": {"messages": said[:n]}} for n in range(1, 7)]
    assert len(shown({"log": states}).messages) == 6


def test_a_label_above_lists_that_people_say_is_asked_about() -> None:
    page = "".join(
        f"## Place {n}\n**Tema:** the fair\n\n- **Olga:** Will you come, Per?\n- **Per:** Yes, Olga, on day {n}.\n"
        f"- **Olga:** Then {n} of us go.\n- **Per:** So be it.\n\n"
        for n in range(4)
    )
    found = result(page)
    assert any("Tema" in one.words for one in found.questions)
    assert "Tema" not in found.preview.player_names


def test_players_listed_by_ids_have_their_roles() -> None:
    said = [{"sender": name, "message": f"It was not {name}, I say."} for name in ("Seat 1", "Seat 2", "Seat 1")]
    players = [{"id": "Seat 1", "role": "ai"}, {"id": "Seat 2", "role": "ai"}, {"id": "Seat 3", "role": "human"}]
    game = shown({"players": players, "chat_history": said})
    assert {one.name: one.role for one in game.players} == {"Seat 1": "ai", "Seat 2": "ai", "Seat 3": "human"}


def test_one_role_in_all_rows_is_nobodys() -> None:
    rows = [
        {"speaker": name, "utterance": f"I am {name}, and I doubt it.", "agent_seat": "Per", "agent_role": "Villager"}
        for name in ("Olga", "Per", "Rui", "Sven")
    ]
    assert {one.role for one in shown(lines(*rows)).players} == {None}


def test_a_table_in_which_all_who_speak_change_may_be_several_talks() -> None:
    rows = [
        f"{name},Number {n} is right." for pair in (("Olga", "Per"), ("Rui", "Sven")) for n, name in enumerate(pair * 4)
    ]
    assert "After 8 public messages only others speak" in refusal("\n".join(["user,text", *rows]))


def test_what_a_library_logs_of_its_requests_is_nobodys_speech() -> None:
    logged = [
        f"2025-03-01 10:00:{n:02} - INFO - {one}"
        for n, one in enumerate(
            ("Olga: I am for it, Per.", 'HTTP Request: POST http://localhost "200 OK"', "Per: I am not, Olga.") * 4
        )
    ]
    game = shown("\n".join(logged))
    assert {one.speaker for one in game.messages if one.channel == "public"} == {"Olga", "Per"}


def test_tildes_in_a_chat_are_no_block_of_code() -> None:
    said = ["Nice it is~~~", "Where was it?", "Here.", "Good.", "Yes~~~", "At the mill.", "So I do."]
    chat = "".join(f"[12:0{n}] {('Olga', 'Per')[n % 2]}: {text}\n" for n, text in enumerate(said))
    assert [message.text for message in read(chat).messages] == said


def test_a_mark_in_round_brackets_says_that_somebody_only_thinks() -> None:
    chat = (
        "[Olga] (thinking) Per is the wolf.\n[Per] I was asleep.\n[Olga] *(to herself)* I doubt it.\n"
        "[Per] (laughs) You doubt all.\n[Olga] So I do.\n"
    )
    assert [(message.channel, message.text) for message in read(chat).messages] == [
        ("private", "Per is the wolf."),
        ("public", "I was asleep."),
        ("private", "I doubt it."),
        ("public", "(laughs) You doubt all."),
        ("public", "So I do."),
    ]


def test_a_narrator_in_quotation_marks_tells_who_leaves_and_who_wins() -> None:
    log = (
        'Narrator: "olga was found dead. She was a Seer."\nper: "It was rui."\nrui: "It was per."\n'
        'Narrator: "per was sent to jail. He was a Villager."\nrui: "At last."\nGame won by: Werewolves\n'
        "olga: Seer\nper: Villager\nrui: Werewolf\n"
    )
    game = read(log)
    assert [(one.player, one.role) for one in game.eliminations] == [("olga", "Seer"), ("per", "Villager")]
    assert (game.winner, set(game.player_names)) == ("mafia", {"olga", "per", "rui"})


def test_a_section_called_private_is_heard_by_some() -> None:
    said = [
        ("Olga", "I trust nobody here."),
        ("Sven", "Nor do I."),
        ("Rui", "It is early yet."),
        ("Olga", "It is late."),
    ]
    talk = "".join(f"{name}: {text}\n\n" for name, text in said)
    hidden = "WOLF DISCUSSION (Private)\n----\nSven: Olga tonight.\n\nRui: Yes.\n\n"
    log = f"DAY DISCUSSION\n----\n{talk}{hidden}DAY 2\n{talk}"
    game = read(log)
    kept = [message.text for message in game.messages if message.channel in ("team", "private")]
    assert kept == ["Olga tonight.", "Yes."]
    assert len(game.discussion) == 8


def test_a_number_of_a_phone_in_brackets_is_a_name() -> None:
    chat = "".join(
        f"[5/{day}/20, 1:5{day % 10}:42 PM] {name}: It is day {day}.\n"
        for day in range(13, 19)
        for name in ("\u202a+1 (765) 775\u20110755\u202c", "Olga")
    )
    assert read(chat).player_names == ("+1 (765) 775\u20110755", "Olga")


def test_a_file_with_an_empty_key_is_refused_and_not_thrown_at() -> None:
    values = [f"It is text {n} of several, as long as people write them." for n in range(4)]
    assert refusal([{"": values[0], "a": values[1]}, {"": values[2], "a": values[3]}])
