"""Shares of words and turns with figures by hand, filters for channel and round, ties and single speakers in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from evaluation.insight.addressing import MessageFilter, talk_shares, transcript_metrics
from evaluation.insight.evaluation_report import plain_report
from evaluation.insight.recommendations import activity_lines, network_lines, share_lines
from evaluation.report import discussion_page, document
from evaluation.transcript import Message, Player, Transcript


def game(*said: tuple[str, str, str, int], players: str = "ABC", **more: Any) -> Transcript:
    messages = tuple(
        Message(id=f"m{at}", index=at, speaker=who, text=text, channel=channel, round=number)
        for at, (who, text, channel, number) in enumerate(said)
    )
    own = tuple(Player(name=name) for name in players)
    return Transcript(game_id="g", source_format="native", language="en", players=own, messages=messages, **more)


TALK = game(
    ("A", "one two three", "public", 1),
    ("A", "four", "public", 1),
    ("B", "B, C: five six", "team", 1),
    ("A", "B, seven", "public", 2),
)


def test_words_and_turns_by_hand() -> None:
    found = talk_shares(TALK)
    # A says 3 + 1 + 2 words in two turns, B 4 in one, C nothing.
    assert (found.words, found.turns) == ({"A": 6, "B": 4, "C": 0}, {"A": 2, "B": 1, "C": 0})
    assert found.share_of_words("A") == 0.6
    assert found.domination("A") == pytest.approx(1.8)


def test_filters_keep_what_answers_and_addresses() -> None:
    public = transcript_metrics(TALK, only=MessageFilter("public"))
    assert (public.messages_per_agent, public.interaction_matrix) == ({"A": 3}, {("A", "B"): 1})
    assert transcript_metrics(TALK, only=MessageFilter(round=1)).messages_per_agent == {"A": 2, "B": 1}
    team = plain_report(TALK, only=MessageFilter("team"))
    assert (team.metrics.total_messages, team.shares.words["B"]) == (1, 4)
    assert [row["agent"] for row in team.activity] == ["B"]
    nothing = plain_report(TALK, only=MessageFilter("private"))
    assert (nothing.metrics.total_messages, nothing.activity, nothing.metrics.network) == (0, (), None)


def talks_most(transcript: Transcript, only: MessageFilter | None = None) -> str:
    metrics = transcript_metrics(transcript, only=only or MessageFilter())
    return dict(activity_lines(metrics))["Most messages"]


def test_ties_single_speakers_and_silence_are_said_in_words() -> None:
    tie = game(("A", "x", "public", 1), ("B", "y", "public", 1), ("C", "z", "public", 1), ("A", "x", "public", 1))
    assert talks_most(tie) == "A, 2 of 4 messages"
    two = game(*(((name, "x", "public", 1)) for name in "ABCAB"))
    assert talks_most(two) == "A and B, 2 of 5 messages each"
    assert talks_most(game(*((name, "x", "public", 1) for name in "ABC"))) == "all 3 speakers alike, 1 message each"
    assert talks_most(game(("A", "x", "public", 1))) == "only A says anything"
    assert talks_most(tie, MessageFilter("team")) == "nobody says anything"


def test_mutual_pairs_are_told_from_one_way_ones() -> None:
    said = game(("A", "B, hello", "public", 1), ("B", "A, hello", "public", 1), ("C", "A, hello", "public", 1))
    metrics = transcript_metrics(said)
    assert dict(network_lines(metrics.network))["Pairs"] == "1 mutual, 1 one-way"


def test_twice_an_even_share_is_domination_in_larger_groups() -> None:
    others = tuple((name, "w w w", "public", 1) for name in "BCDE")
    quiet = game(("A", "one two three four five", "public", 1), *others, players="ABCDE")
    assert not any("even share" in str(one) for one in plain_report(quiet).recommendations)
    loud = game(("A", "w " * 11, "public", 1), *others, players="ABCDE")
    # 11 of 23 words, five players: 2.4 times an even share.
    advice = [str(one) for one in plain_report(loud).recommendations]
    assert "A says 48% of the words, 2.4 times an even share: let the others have their turn." in advice
    assert dict(share_lines(talk_shares(loud)))["Largest share of words"] == "A, 2.4 times an even share"


def test_reports_begin_with_advice_and_name_date_and_source() -> None:
    started = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    report = plain_report(game(("A", "x", "public", 1), started_at=started))
    assert document(report)[0].heading == "What to look at"
    made = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
    text = discussion_page(report, made)
    assert "Made with Dramaturg on 2026-02-03 at 04:05 UTC." in text
    assert "2026-01-02 03:04 UTC" in text
    assert "native" in text
    assert text.index("What to look at") < text.index("Activity")
