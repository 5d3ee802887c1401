"""What the words of a log say about the game: labels, votes, deaths, titles, silence, runs, tracebacks, times."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.readers import Answers
from evaluation.transcript import Transcript
from tests.unit.readers.reading import read, refusal, result, results, shown


def public(transcript: Transcript) -> list[tuple[str, str]]:
    return [(m.speaker, m.text) for m in transcript.messages if m.channel == "public"]


def votes(transcript: Transcript) -> list[tuple[str, str | None]]:
    return [(vote.voter, vote.target) for vote in transcript.votes]


def test_labels_that_only_repeat_are_one_question() -> None:
    text = (
        "Turn order: Olga, Per, Rui\nOlga: Per, where were you?\nScore: 3\nPer: At home, because I was ill.\n"
        "Score: 5\n"
        "Rui: I trust Per.\nTurn order: Per, Rui, Olga\nScore: 4\n"
    )
    found = result(text)
    assert [question.name for question in found.questions] == ["Turn order, Score"]
    assert shown(text).player_names == ("Olga", "Per", "Rui")
    answers = Answers(speakers={"Turn order, Score": "text"})
    assert read(text, answers=answers).player_names == ("Olga", "Per", "Rui")


def test_status_lines_and_votes_with_times() -> None:
    text = (
        "[10:00:00] Players alive: Olga, Per, Rui\n[10:00:05] Olga: Per, where were you?\n[10:00:10] Per: At home.\n"
        "[10:00:15] Rui: I suspect Per.\n[10:00:20] Olga: Voted for Per\n[10:00:21] Per: Voted for Rui\n"
        "[10:00:22] Rui: Voted for Per\n[10:00:30] Game: Per has been eliminated!\n"
        "[10:01:00] Players alive: Olga, Rui\n"
        "[10:01:05] Rui: We lost Per.\n"
    )
    found = result(text)
    transcript = shown(text)
    assert transcript.player_names == ("Olga", "Per", "Rui")
    assert votes(transcript) == [("Olga", "Per"), ("Per", "Rui"), ("Rui", "Per")]
    assert [one.player for one in transcript.eliminations] == ["Per"]
    assert [speaker for speaker, _ in public(transcript)] == ["Olga", "Per", "Rui", "Rui"]
    assert found.kinds == {"role": 2, "message": 4, "vote": 3, "elimination": 1}


def test_a_paragraph_about_a_death_is_its_speakers() -> None:
    text = (
        "[10:00:05] Olga: We voted for Per in a hurry.\n\n"
        "Per was killed by the Mafia, and that raises questions. He had "
        "pointed at Rui.\n\nI would like to hear Rui.\n[10:00:30] Rui: I had no reason, Olga.\n"
        "[10:00:40] Olga: Who had?\n"
    )
    transcript = shown(text)
    assert [speaker for speaker, _ in public(transcript)] == ["Olga", "Rui", "Olga"]
    assert public(transcript)[0][1].endswith("I would like to hear Rui.")
    assert transcript.eliminations == ()


def test_a_title_with_a_full_stop_ends_no_name_and_no_sentence() -> None:
    text = (
        "Roles: Dr. Holm - mafia, Mrs. Berg - villager, Olga - doctor\n\nDay 1\nOlga: Dr. Holm, I suspect you.\n"
        "Dr. Holm: Mrs. Berg is quiet.\nMrs. Berg: I trust Olga.\nOlga voted for Dr. Holm\n"
        "Moderator: Dr. Holm was voted out. Dr. Holm was mafia.\nDay 2\nOlga: He is gone.\n"
    )
    transcript = shown(text)
    assert transcript.player_names == ("Dr. Holm", "Mrs. Berg", "Olga")
    assert [(one.player, one.role) for one in transcript.eliminations] == [("Dr. Holm", "mafia")]


def test_ways_to_vote() -> None:
    text = (
        "## Day 1\nOlga: Per is quiet.\nPer: I was at work.\nRui: I do not trust Per.\nSara: Me neither.\n"
        "Olga: VOTE: Per\n"
        "Rui: ##vote Per\nSara: /vote Per\nPer: I vote for Olga.\nOlga votes for: Rui\nPer was lynched. He was Mafia.\n"
        "[DEAD] Rui died during the night\nPer was eliminated.\nCivilians win!\n"
    )
    transcript = shown(text)
    assert votes(transcript) == [("Olga", "Per"), ("Rui", "Per"), ("Sara", "Per"), ("Per", "Olga"), ("Olga", "Rui")]
    # Told twice: once.
    assert [(one.player, one.role) for one in transcript.eliminations] == [("Per", "Mafia"), ("Rui", None)]
    assert transcript.winner == "town"
    assert ("Per", "I vote for Olga.") in public(transcript)


def test_votes_said_in_speech_stand_where_no_other_is_recorded() -> None:
    text = (
        "Day 1\nOlga: Per is quiet.\nPer: I vote Olga.\nRui: I trust Olga. Then my vote is Per.\n"
        "Sara: I'm voting Per, he lied.\nOlga: ##vote Rui\nOlga: I vote Per.\nPer: No, I vote Sara!\n"
        "Day 2\nOlga: I'm voting with Per.\nPer: If I vote Rui, what then?\nRui: I vote Per, unless he talks.\n"
    )
    found = result(text)
    assert votes(shown(text)) == [("Olga", "Rui"), ("Per", "Sara"), ("Rui", "Per"), ("Sara", "Per")]
    assert ("Rui", "I trust Olga. Then my vote is Per.") in public(shown(text))
    told = '3 votes taken from speech ("No, I vote Sara!"): their voters have no recorded vote in that round.'
    assert told in found.remarks


@pytest.mark.parametrize("line", ["[private] Per to Olga: We push Rui.", "Per to Olga: We push Rui."])
def test_who_is_spoken_to_stands_beside_the_name(line: str) -> None:
    game = shown(f"Olga: Hello, Per.\nRui: Who is it?\nPer: Hello.\n{line}\nRui: So?\n")
    assert [(m.speaker, m.recipients, m.text) for m in game.messages if m.channel == "private"] == [
        ("Per", ("Olga",), "We push Rui.")
    ]
    assert ("Rui", "Who is it?") in public(game)


def test_roles_by_list_rounds_and_silence() -> None:
    text = (
        "P1: Role.FASCIST\nP2: Role.LIBERAL\nP3: Role.HITLER\n\nRound 1 has started!\nP1: I trust P2.\n"
        "P2 remains silent.\n"
        "P3: I trust P1.\nRound 2 has started!\nP1: Who is it?\n"
    )
    transcript = shown(text)
    assert [(p.name, p.alignment) for p in transcript.players] == [("P1", "mafia"), ("P2", "town"), ("P3", "mafia")]
    assert [(m.round, m.speaker) for m in transcript.discussion] == [(1, "P1"), (1, "P3"), (2, "P1")]
    assert [m.text for m in transcript.messages if m.speaker == "System"][-1] == "P2 remains silent."


RUN = "Olga: Hello, Per.\nPer: Hello, Olga.\nOlga: Where were you?\n"


def test_a_second_run_is_another_game_and_the_first_was_broken_off() -> None:
    first, second = results(f"Starting new game\n{RUN}Starting new game\n{RUN}Villagers win!\n")
    assert "broken off by the start of another run" in str(first.error)
    assert (len(second.transcript.discussion), second.transcript.winner) == (3, "town")


def test_a_traceback_is_left_out_and_a_run_that_ends_by_one_was_broken_off() -> None:
    trace = 'Traceback (most recent call last):\n  File "x.py", line 1, in play\n    Per: Hm.\nValueError: no: key\n'
    found = result(f"{RUN}{trace}{RUN}")
    assert found.kinds == {"message": 6, "left out": 4}
    assert found.left_out[0][1:] == ("Traceback (most recent call last):", "the traceback of a program")
    assert "broken off by an error of the program" in str(result(f"{RUN}{trace}").error)


def test_names_in_brackets() -> None:
    transcript = shown(
        "[Judge] Olga has to begin.\n[Olga] I suspect Per, because he was silent.\n[Per] Why me, Olga?\n"
    )
    assert public(transcript) == [("Olga", "I suspect Per, because he was silent."), ("Per", "Why me, Olga?")]


def test_a_name_as_a_heading_over_paragraphs() -> None:
    said = [("Olga", "I begin.\n\nNote: nobody asked."), ("Per", "I answer."), ("Olga", "Well."), ("Per", "Well?")]
    text = "".join(f"## {name}\n\n{words}\n\n" for name, words in said)
    transcript = shown(text)
    assert [speaker for speaker, _ in public(transcript)] == ["Olga", "Per", "Olga", "Per"]
    assert "nobody asked" in public(transcript)[0][1]


@pytest.mark.parametrize(
    "stamp",
    ["14/3/24, 1:55 p. m. - ", "14/3/24, 1:55\u202fp.\u00a0m. - ", "14/03/2024 à 13:55 - ", "14.3.2024 klo 13.55 - "],
)
def test_times_of_phones_in_any_language(stamp: str) -> None:
    transcript = shown(f"{stamp}Lea: I think Ivo is the wolf.\n{stamp}Ivo: Not me, Lea.\n{stamp}Ada: Hm.\n")
    first = transcript.messages[0]
    assert (first.speaker, str(first.sent_at)) == ("Lea", "2024-03-14 13:55:00+00:00")
    assert len(public(transcript)) == 3


def test_what_a_terminal_showed_is_refused() -> None:
    frame = "╭──────────╮\n│ Olga: Hi │\n╰──────────╯\n│ Per: Ho │\n│ Olga: Hm │\n"
    assert "what a terminal showed" in refusal(frame)


def test_a_bot_beside_people_does_not_play() -> None:
    def said(number: int, name: str, text: str, is_bot: bool) -> dict[str, Any]:
        author = {"id": name, "name": name, "isBot": is_bot}
        about = {"id": str(number), "type": "Default", "timestamp": "2024-03-05T10:00:00+00:00"}
        return about | {"content": text, "author": author}

    posts = [said(1, "olga", "Per?", False), said(2, "per", "Home.", False), said(3, "VoteBot", "Votes: 1", True)]
    transcript = shown({"guild": {}, "channel": {"id": "2", "name": "day"}, "messages": posts})
    assert transcript.player_names == ("olga", "per")
    assert [m.channel for m in transcript.messages] == ["public", "public", "system"]
