"""Captions of meetings, WebVTT and SRT."""

from __future__ import annotations

import pytest

from tests.unit.readers.reading import read, refusal

VTT = """WEBVTT

NOTE made by hand

1
00:00:01.000 --> 00:00:04.000
Olga Lind: Per, where were you?

2
00:00:04.500 --> 00:00:07.000 align:start
Per Ek: At home. I suspect Rui,

3
00:00:07.000 --> 00:00:09.000
because he was silent.

4
01:00:09.500 --> 01:00:12.000
Rui Ros: That is no evidence, Per.
"""
SRT = VTT.partition("by hand\n\n")[2].replace(".000", ",000").replace(".500", ",500")
VOICES = (
    "WEBVTT\n\n"
    "00:01.000 --> 00:04.000\n<v Olga Lind>Per, where were you?</v>\n\n"
    "00:04.000 --> 00:07.000\n<v.loud Per Ek>At home. I suspect Rui,\n\n"
    "00:07.000 --> 00:09.000\nbecause he was <i>silent</i>.\n\n"
    "1:00:09.500 --> 1:00:12.000\n<v Rui Ros>That is no evidence, Per.\n"
)


@pytest.mark.parametrize("text", [VTT, SRT, VOICES], ids=["webvtt", "srt", "voices"])
def test_captions_are_messages_with_times(text: str) -> None:
    transcript = read(text, "captions")
    assert [(m.speaker, m.text, m.sent_at and str(m.sent_at.time())) for m in transcript.messages] == [
        ("Olga Lind", "Per, where were you?", "00:00:01"),
        ("Per Ek", "At home. I suspect Rui,\nbecause he was silent.", "00:00:04"),
        ("Rui Ros", "That is no evidence, Per.", "01:00:09"),
    ]


def test_captions_without_speakers_are_refused() -> None:
    assert "do not say who speaks" in refusal("WEBVTT\n\n00:01.000 --> 00:04.000\nGood morning\n")


def test_a_time_that_is_nearly_one_is_named() -> None:
    cue = "00:00:01.000 --> 00:00:02.000\nOlga: Good morning.\n\n"
    assert refusal(f"WEBVTT\n\n{cue}00:00:03 -> 00:00:04\nPer: Good morning.\n\n{cue}") == (
        'line 6: "00:00:03 -> 00:00:04" is not the time of a cue. Expected 00:01:02.000 --> 00:01:04.500.'
    )
