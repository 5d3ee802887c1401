"""Opinions and themes over several parts, and what of them the text bears out; the reducer's rules."""

from __future__ import annotations

import asyncio

import pytest

from evaluation.errors import InputError
from evaluation.insight._questions import OpinionItem, OpinionsAnswer, ThemeItem, ThemesAnswer, parts_of, spoken
from evaluation.insight.extraction import ResultsExtractor, ResultsReducer, counting_reducer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.protocol import JudgeRequest
from evaluation.transcript import Elimination, Transcript, Vote
from tests.games import game_of

SAID = (
    ("Ada", "Rye bread is the best there is."),
    ("Bob", "Bread? I can't stand it."),
    ("Host", "Round two begins.", {"channel": "system"}),
    ("Ada", "On reflection, “rye” is a little dry."),
    ("Bob", "Vote for Ada with me.", {"channel": "private", "recipients": ("Cy",)}),
)


def game() -> Transcript:
    votes = (Vote(round=1, voter="Bob", target="Ada", justification="dry"),)
    eliminations = (Elimination(round=1, player="Ada", role="baker"),)
    return game_of(SAID, ("Ada", "Bob", "Cy"), votes=votes, eliminations=eliminations)


def opinion(agent: str, stance: str, cited: int, sure: float = 0.8) -> OpinionItem:
    return OpinionItem(
        agent_id=agent,
        summary=f"Thinks {stance}.",
        key_points=["rye"],
        stance=stance,
        confidence=sure,
        citations=[cited],
    )


def test_opinions_of_two_parts_become_one() -> None:
    def script(request: JudgeRequest) -> OpinionsAnswer:
        if "[M1]" in request.prompt.user:
            return OpinionsAnswer(opinions=[opinion("ada", "positive", 1), opinion("Bob", "negative", 2)])
        return OpinionsAnswer(opinions=[opinion("Ada", "negative", 4, 0.5), opinion("Eve", "mixed", 4)])

    found = asyncio.run(ResultsExtractor(ScriptedJudge(script), part_length=70).extract_opinions(game(), "bread"))
    assert found.parts == 2
    ada, bob = found.found
    assert (ada.agent_id, ada.stance, ada.confidence, ada.message_ids) == ("Ada", "mixed", 0.5, ("m0", "m3"))
    assert (ada.summary, ada.key_points) == ("Thinks positive. Thinks negative.", ("rye",))
    assert bob.stance == "negative"
    assert [one.why for one in found.refused] == ["nobody of that name speaks in these messages"]


def test_an_opinion_needs_a_message_of_whoever_holds_it() -> None:
    judge = ScriptedJudge(
        lambda _: OpinionsAnswer(opinions=[opinion("Ada", "positive", 2), opinion("Bob", "mixed", 99)])
    )
    found = asyncio.run(ResultsExtractor(judge).extract_opinions(game(), "bread"))
    assert (found.found, len(found.refused)) == ((), 2)


def test_a_themes_frequency_is_counted_and_its_quotes_exist() -> None:
    theme = ThemeItem(
        name="Rye",
        sentiment="Mixed",
        representative_quotes=['"rye" is a little dry', "rye forever"],
        citations=[1, 4, 77],
    )
    answer = ThemesAnswer(themes=[theme, ThemeItem(name="Air", sentiment="neutral", citations=[77])])
    found = asyncio.run(ResultsExtractor(ScriptedJudge(lambda _: answer)).extract_themes(game()))
    (kept,) = found.found
    assert (kept.frequency, kept.message_ids, kept.sentiment) == (2, ("m0", "m3"), "mixed")
    assert kept.representative_quotes == ("“rye” is a little dry",), "as it stands in the message"
    assert [one.what for one in found.refused] == ["rye forever", "Air"]


def test_every_message_is_in_one_part() -> None:
    messages = spoken(game())
    assert [one.id for one in messages] == ["m0", "m1", "m3", "m4"]
    for limit in (1, 40, 70, 10_000):
        assert [one.id for part in parts_of(messages, limit=limit) for one in part.messages] == ["m0", "m1", "m3", "m4"]


def test_sentiment_by_speaker_asks_nobody() -> None:
    found = ResultsExtractor.extract_sentiment_scores(game())
    assert {name: (one.messages, one.telling) for name, one in found.items()} == {"Ada": (2, 0), "Bob": (2, 0)}


def test_rules_by_type_make_a_table() -> None:
    reducer = ResultsReducer()
    reducer.add_reduction_rule("public", lambda entry: {"who": entry.source_agent, "kind": entry.kind})
    reducer.add_reduction_rule("vote", lambda entry: {"who": entry.source_agent, "for": entry.target_agents[0]})
    reducer.add_reduction_rule("private", lambda entry: None)
    columns = ("who", "kind", "for")
    assert reducer.reduce_to_table(game(), columns, "Ada") == [
        ("Ada", "action", None),
        ("Bob", "stimulus", None),
        ("Ada", "action", None),
        ("Bob", None, "Ada"),
    ]
    assert len(reducer.reduce(game())) == 4


def test_private_words_reach_their_recipients_only() -> None:
    reducer = counting_reducer()
    reached = {name: [row["type"] for row in reducer.reduce(game(), name)] for name in ("Ada", "Cy")}
    assert "private" in reached["Cy"]
    assert "private" not in reached["Ada"]


def test_a_rule_for_no_type_and_a_second_rule_are_refused() -> None:
    reducer = ResultsReducer()
    with pytest.raises(InputError, match="no messages of type 'shout'"):
        reducer.add_reduction_rule("shout", lambda _: None)
    reducer.add_reduction_rule("public", lambda _: None)
    with pytest.raises(InputError, match="a rule already"):
        reducer.add_reduction_rule("public", lambda _: None)
