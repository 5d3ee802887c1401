"""Kinds of files that real games came in: what stands in them for some is not public, and no heading is a player."""

from __future__ import annotations

from tests.unit.readers.reading import lines, read, refusal, result, told
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
    found = result(text)
    transcript = found.transcript or found.preview
    assert transcript is not None
    assert set(transcript.player_names) == {"Olga", "Per", "Rui"}


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
    game = {
        "day_channel": [
            {"day": 1, "player": "Olga", "message": "Good morning."},
            {"day": 1, "player": "Per", "message": "Who was it?"},
        ],
        "roles": {"Olga": "wolf", "Per": "villager"},
        "wolf_channel": [{"day": 1, "wolf": "Olga", "vote": "Per", "message": "We take Per."}],
    }
    assert [(one, who) for one, who, _ in heard(game)] == [("public", "Olga"), ("public", "Per"), ("team", "Olga")]


def test_the_agent_of_a_conversation_speaks_for_the_model() -> None:
    def agent(name: str, said: str) -> dict[str, object]:
        told_it = [{"role": "system", "content": f"You are {name}."}, {"role": "user", "content": "Begin."}]
        return {"agent_name": name, "conversation": [*told_it, {"role": "assistant", "content": said}]}

    transcript = read({"players": [agent("Olga", "I offer 5."), agent("Per", "I take it.")]})
    assert [one[1:] for one in told(transcript) if one[0] == "public"] == [
        ("Olga", "I offer 5."),
        ("Per", "I take it."),
    ]
    assert set(transcript.player_names) == {"Olga", "Per"}


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
    texts = [
        "Olga: I saw Per",
        *["go on and on", "before the night"] * 8,
        "Per: I was home",
        *["all night"] * 8,
        "Olga: So?",
    ]
    cues = [f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{text}\n" for n, text in enumerate(texts, start=1)]
    transcript = read("\n".join(cues), "captions")
    assert [one.speaker for one in transcript.messages] == ["Olga", "Per", "Olga"]
    assert "before the night" in transcript.messages[0].text


def test_lines_of_irc_with_times_are_read() -> None:
    transcript = read("[18:05] <olga-> Hi: all\n[18:05] <per_> olga-: ho\n[18:06] <olga->  Depends: you\n")
    assert [one[1:] for one in told(transcript)] == [
        ("olga-", "Hi: all"),
        ("per_", "olga-: ho"),
        ("olga-", "Depends: you"),
    ]
    assert "IRC" not in refusal(
        "<in> 1 2 </in> <talk> YOU: a <eos> THEM: b </talk>\n<in> 3 4 </in> <talk> YOU: c </talk>\n"
    )


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
    found = result(text)
    transcript = found.transcript or found.preview
    assert transcript is not None
    assert {one.round for one in transcript.discussion} == {1}
