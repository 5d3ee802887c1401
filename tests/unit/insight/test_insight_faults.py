"""Faults of the ADR's own code, each mended: one test each, named after the fault.

Others are held where the feature is: figures and their export, sentiment, and ten percent called significant.
"""

from __future__ import annotations

import asyncio

from evaluation.insight._questions import OpinionItem, OpinionsAnswer, QualityAnswer, QuoteItem, QuotesAnswer
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.extraction import ResultsExtractor
from evaluation.insight.validator import CheckedAgent, Validator
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.protocol import JudgementStatus
from evaluation.transcript import Transcript
from tests.games import game_of

ADA = CheckedAgent("Ada", "A cheerful baker.")


def game(*texts: str) -> Transcript:
    return game_of([("Bob" if place % 2 else "Ada", text) for place, text in enumerate(texts)], ("Ada", "Bob"))


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
