"""Opinions, themes and quotes of a discussion, read by a judge; what it cites must exist.

Source: ADR-010, ``ResultsExtractor``. Unlike there, nothing is cut silently: a long discussion is read in parts,
what could not be read is listed, and an answer that cannot be used is an error and not an empty result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from evaluation.insight import _questions
from evaluation.insight._judge_text import LONGEST_PART, TextPart, parts_of, spoken
from evaluation.insight._questions import OpinionsAnswer, QuotesAnswer, ThemesAnswer
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.extraction.findings import (
    Extraction,
    Opinion,
    Quote,
    Refused,
    Theme,
    Traced,
    UnreadPart,
    opinions_in,
    quotes_in,
    themes_in,
)
from evaluation.insight.figures.sentiment import Sentiment, sentiments
from evaluation.judging.answers import Answer
from evaluation.judging.guard.fencing import as_name, fenced
from evaluation.judging.model_client.calls import total
from evaluation.judging.protocol import Judge, Judgement, JudgementStatus, JudgeRequest, Prompt
from evaluation.transcript import Transcript

MIXED = "mixed"


def merge_opinions(opinions: Sequence[Opinion]) -> list[Opinion]:
    """One opinion per speaker: points and messages of all parts, the lowest confidence."""
    groups: dict[str, list[Opinion]] = {}
    for one in opinions:
        groups.setdefault(one.agent_id, []).append(one)
    return [
        Opinion(
            agent,
            _common(one.stance for one in group),
            " ".join(dict.fromkeys(one.summary for one in group)),
            _each_once(point for one in group for point in one.key_points),
            min(one.confidence for one in group),
            _each_once(message for one in group for message in one.message_ids),
        )
        for agent, group in groups.items()
    ]


def merge_themes(themes: Sequence[Theme]) -> list[Theme]:
    """One theme per name, whatever its case; the most frequent first."""
    groups: dict[str, list[Theme]] = {}
    for one in themes:
        groups.setdefault(" ".join(one.name.casefold().split()), []).append(one)
    merged = [_theme(group) for group in groups.values()]
    return sorted(merged, key=lambda one: -one.frequency)


def _theme(group: Sequence[Theme]) -> Theme:
    messages = _each_once(message for one in group for message in one.message_ids)
    quotes = _each_once(quote for one in group for quote in one.representative_quotes)
    return Theme(group[0].name, len(messages), quotes, _common(one.sentiment for one in group), messages)


def merge_quotes(quotes: Sequence[Quote]) -> list[Quote]:
    """Each quote once, the most relevant first."""
    by_relevance = sorted(quotes, key=lambda one: -one.relevance_score)
    return list({(one.message_id, one.content): one for one in reversed(by_relevance)}.values())[::-1]


def _common(words: Iterable[str]) -> str:
    said = set(words)
    return said.pop() if len(said) == 1 else MIXED


def _each_once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


Found = TypeVar("Found", Opinion, Theme, Quote)
BUDGET = "budget"
_FEWEST_MESSAGES = 2
"""A theme comes up in at least so many messages."""


class ResultsExtractor:
    """Asks a judge what a discussion holds.

    Args:
        judge: Who reads; the offline judge answers that it cannot.
        max_calls: Parts that may be asked about until ``reset_budget``; the ADR's 50 when left out.
        part_length: Characters that are read at once.
    """

    def __init__(self, judge: Judge, *, max_calls: int | None = None, part_length: int = LONGEST_PART) -> None:
        self._judge = judge
        self._max_calls = EvaluationConfig().max_extraction_calls if max_calls is None else max_calls
        self._part_length = part_length
        self._asked = 0

    def reset_budget(self) -> None:
        """Allows as many questions again, for the next run."""
        self._asked = 0

    async def extract_opinions(self, transcript: Transcript, topic: str) -> Extraction[Opinion]:
        """Each speaker's opinion on a topic. Speakers who are not in the game are refused."""
        ask = _asker(_questions.OPINIONS_SYSTEM, _questions.OPINIONS_QUESTION, OpinionsAnswer, "Topic", topic)
        return await self._extract(transcript, "opinions", ask, opinions_in, merge_opinions)

    async def extract_themes(self, transcript: Transcript) -> Extraction[Theme]:
        """Recurring themes. How frequent one is, is counted: the messages cited that exist.

        One that only one message of the whole discussion touches on is refused: it does not recur.
        """
        ask = _asker(_questions.THEMES_SYSTEM, _questions.THEMES_QUESTION, ThemesAnswer)
        all_themes = await self._extract(transcript, "themes", ask, themes_in, merge_themes)
        once = [one for one in all_themes.found if one.frequency < _FEWEST_MESSAGES]
        return replace(
            all_themes,
            found=tuple([one for one in all_themes.found if one.frequency >= _FEWEST_MESSAGES]),
            refused=(*all_themes.refused, *(Refused(one.name, "only one message touches on it") for one in once)),
        )

    async def extract_quotes(self, transcript: Transcript, criteria: str) -> Extraction[Quote]:
        """Quotes that fit a criterion, word for word; a quote that is not in the text is refused."""
        ask = _asker(_questions.QUOTES_SYSTEM, _questions.QUOTES_QUESTION, QuotesAnswer, "Criterion", criteria)
        return await self._extract(transcript, "quotes", ask, quotes_in, merge_quotes)

    @staticmethod
    def extract_sentiment_scores(transcript: Transcript) -> dict[str, Sentiment]:
        """Every speaker's sentiment by counting words, without a judge."""
        return sentiments(spoken(transcript))

    async def _extract(
        self,
        transcript: Transcript,
        kind: str,
        ask: Callable[[TextPart, str], JudgeRequest],
        trace: Callable[[Answer, TextPart], Traced[Found]],
        merge: Callable[[Sequence[Found]], list[Found]],
    ) -> Extraction[Found]:
        parts = parts_of(spoken(transcript), limit=self._part_length)
        room = max(0, self._max_calls - self._asked)
        read, unread = parts[:room], parts[room:]
        self._asked += len(read)
        requests = [ask(part, f"{kind} in {part.place} of game {as_name(transcript.game_id)}") for part in read]
        judgements = await self._judge.judge(requests) if requests else []
        found: list[Found] = []
        refused: list[Refused] = []
        problems = [UnreadPart(part.place, JudgementStatus.SKIPPED, BUDGET) for part in unread]
        for part, judgement in zip(read, judgements, strict=True):
            if judgement.answer is None:
                problems.append(UnreadPart(part.place, judgement.status, judgement.detail))
                continue
            traced = trace(judgement.answer, part)
            found += traced.found
            refused += traced.refused
        return Extraction(
            kind=kind,
            found=tuple(merge(found)),
            refused=tuple(refused),
            problems=tuple(problems),
            parts=len(parts),
            shortened=tuple([one for part in read for one in part.shortened]),
            usage_usd=total(judgement.usage for judgement in judgements).known_usd,
            model=_model(judgements),
        )


def _model(judgements: Sequence[Judgement]) -> str:
    return judgements[0].model if judgements else ""


def _asker(
    system: str, question: str, answer: type[Answer], label: str = "", wanted: str = ""
) -> Callable[[TextPart, str], JudgeRequest]:
    """Makes the question about a part. What is wanted may come from a stranger, so it stands between fences too."""

    def ask(part: TextPart, subject: str) -> JudgeRequest:
        about = f"{label}, as somebody worded it:\n{fenced(as_name(wanted))}\n\n" if label else ""
        return JudgeRequest(
            purpose="extraction",
            subject=subject,
            prompt=Prompt(system, f"{about}What was said:\n{fenced(part.text)}", question),
            answer=answer,
            prompt_version=_questions.PROMPT_VERSION,
            messages=part.numbers,
        )

    return ask
