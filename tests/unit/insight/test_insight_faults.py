"""The faults of the ADR's own code, each mended: one test each, named after the fault.

The last one, ten percent called significant, is held in ``test_ab_runner``.
"""

from __future__ import annotations

import asyncio
from dataclasses import fields

import networkx as nx
import pytest

from evaluation.insight._questions import OpinionItem, OpinionsAnswer, QualityAnswer, QuoteItem, QuotesAnswer
from evaluation.insight.collector import MessageEvent, MetricsCollector
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.extraction import ResultsExtractor, message_sentiment
from evaluation.insight.metrics import NetworkMetrics, SimulationMetrics, network_metrics
from evaluation.insight.validator import CheckedAgent, Validator
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.protocol import JudgementStatus
from evaluation.transcript import Transcript
from tests.games import game_of

ADA = CheckedAgent("Ada", "A cheerful baker.")


def game(*texts: str) -> Transcript:
    return game_of([("Bob" if place % 2 else "Ada", text) for place, text in enumerate(texts)], ("Ada", "Bob"))


def test_the_average_length_is_that_of_all_messages() -> None:
    collector = MetricsCollector()
    for text in ("one", "three", "seventeen letters"):
        collector.add(MessageEvent("Ada", text))
    # The ADR divides the length of the last message by the number of all: 17 / 3.
    assert collector.get_metrics().avg_response_length == pytest.approx((3 + 5 + 17) / 3)


def test_a_skipped_check_is_skipped_and_has_no_score() -> None:
    config = EvaluationConfig(max_validation_calls=1, validation_sampling_rate=1.0).validation()
    validator = Validator(ScriptedJudge(lambda _: QualityAnswer(reason="fine", score=0.9)), config)
    first, second = (asyncio.run(validator.check_coherence(text)) for text in ("Hello.", "Again."))
    assert (first.status, first.score, first.passed) == (JudgementStatus.SCORED, 0.9, True)
    assert (second.status, second.score, second.passed, second.explanation) == ("skipped", None, None, "budget")


def test_a_parse_error_is_an_error_and_not_an_empty_result() -> None:
    judge = ScriptedJudge(lambda _: "What the model wrote is not the answer that was asked for.")
    opinions = asyncio.run(ResultsExtractor(judge).extract_opinions(game("Hello."), "bread"))
    assert (opinions.status, opinions.found) == ("error", ())
    assert "not the answer" in opinions.problems[0].detail
    failed = asyncio.run(Validator(judge).validate_all(ADA, "Hello.", ["Hi."]))
    assert {one.status for one in failed if one.explanation != "not in the sample"} <= {JudgementStatus.ERROR}


def test_a_float_may_be_written_as_a_whole_number() -> None:
    assert QualityAnswer.model_validate({"reason": "perfect", "score": 1}).score == 1.0


def test_a_directed_graph_has_a_diameter() -> None:
    # Nobody is addressed back, so networkx itself finds no path from C to A.
    graph: nx.DiGraph[str] = nx.DiGraph([("A", "B"), ("B", "C")])
    with pytest.raises(nx.NetworkXError):
        nx.diameter(graph)
    assert network_metrics(graph).diameter == 2


def test_sentiment_is_not_put_off_by_punctuation() -> None:
    assert message_sentiment("Great! I love it.") == 1.0
    assert message_sentiment("That's (terrible), useless...") == 0.0
    assert message_sentiment("Good; but a problem:") == 0.5
    assert message_sentiment("It is not good, not a great idea.") == 0.0
    assert message_sentiment("No problem!") == 1.0
    assert message_sentiment("No, never.") == 0.0
    assert message_sentiment("The goodness of issuers") is None


def test_no_field_is_missing_from_the_export() -> None:
    collector = MetricsCollector(["A", "B"])
    collector.add(MessageEvent("A", "B, hello", ("B",)))
    exported = collector.get_metrics().as_dict()
    given = {name for group in ("behavioral", "memory", "cost") for name in exported[group]} | set(exported["network"])
    wanted = {one.name for one in (*fields(SimulationMetrics), *fields(NetworkMetrics))} - {"network"}
    assert given == wanted


def test_nothing_is_cut_silently_at_200_characters_or_50_messages() -> None:
    judge = ScriptedJudge(lambda _: QuotesAnswer(quotes=[]))
    texts = [f"Message number {place}: {'word ' * 60}end{place}." for place in range(120)]
    found = asyncio.run(ResultsExtractor(judge, part_length=9_000).extract_quotes(game(*texts), "anything"))
    read = "\n".join(request.prompt.user for request in judge.asked)
    assert all(f"end{place}." in read for place in range(120))
    assert (found.status, found.parts) == ("done", len(judge.asked))
    huge = asyncio.run(ResultsExtractor(judge).extract_quotes(game("x" * 5_000), "anything"))
    assert huge.shortened == ("m0",)
    assert "(1,000 more characters are left out)" in judge.asked[-1].prompt.user


def test_parts_beyond_the_budget_are_listed() -> None:
    opinion = OpinionItem(agent_id="Ada", summary="Likes it.", stance="positive", confidence=1, citations=[1])
    judge = ScriptedJudge(lambda _: OpinionsAnswer(opinions=[opinion]))
    extractor = ResultsExtractor(judge, max_calls=1, part_length=30)
    found = asyncio.run(extractor.extract_opinions(game("I like this bread.", "I do not, sorry."), "bread"))
    assert (found.status, len(found.found), found.parts) == ("partial", 1, 2)
    assert [(one.place, one.status, one.detail) for one in found.problems] == [
        ("messages 2 to 2", JudgementStatus.SKIPPED, "budget")
    ]


def test_a_quote_that_nobody_said_is_refused() -> None:
    quotes = [
        QuoteItem(agent_id="Ada", content="i like  THIS bread", relevance_score=1, citations=[1]),
        QuoteItem(agent_id="Bob", content="I like this bread.", relevance_score=1, citations=[1]),
        QuoteItem(agent_id="Eve", content="bread", relevance_score=0.5),
    ]
    judge = ScriptedJudge(lambda _: QuotesAnswer(quotes=quotes))
    found = asyncio.run(ResultsExtractor(judge).extract_quotes(game("Oh, I like this bread.", "Well."), "bread"))
    assert [(one.agent_id, one.content, one.message_id) for one in found.found] == [("Ada", "I like this bread", "m0")]
    assert [one.what for one in found.refused] == ["Bob: I like this bread.", "Eve: bread"]
