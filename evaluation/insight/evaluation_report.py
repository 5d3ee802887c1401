"""Everything that is known about one discussion, in one object.

Source: ADR-010, ``EvaluationReport``: metrics, validations, extractions, recommendations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from evaluation.insight._questions import PROMPT_VERSION
from evaluation.insight.collector import TalkShares, talk_shares, transcript_metrics
from evaluation.insight.extraction import (
    Extraction,
    ResultsExtractor,
    Sentiment,
)
from evaluation.insight.metrics import SimulationMetrics
from evaluation.insight.recommendations import (
    judge_of_its_own_words,
    recommendations,
)
from evaluation.insight.validator import CheckedSample, EvaluationConfig, ValidationResult, Validator
from evaluation.judging.protocol import Judge, Judgement, JudgeRequest, Report
from evaluation.text.display import picked_data
from evaluation.text.language import detect_language
from evaluation.transcript import Transcript

ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The questions for a judge; without any, the report costs nothing.

    Attributes:
        checks: Whether a sample of messages is checked.
        topic: On what opinions are wanted; ``None`` for none.
        themes: Whether recurring themes are wanted.
        criteria: What quotes should fit; ``None`` for none.
    """

    checks: bool = False
    topic: str | None = None
    themes: bool = False
    criteria: str | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether no judge is asked."""
        return not (self.checks or self.themes) and self.topic is None and self.criteria is None


@dataclass(frozen=True, slots=True)
class _ReportingJudge:
    """Passes questions on and has every judgement reported."""

    behind: Judge
    report: Report | None

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """The judgements of the judge behind it."""
        return await self.behind.judge(requests, report=report or self.report)


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """One discussion.

    Attributes:
        transcript: Which: ``id``, ``game_id``, ``source_format``, ``started_at`` (ISO 8601), ``language``.
        metrics: Its figures.
        shares: Words and turns by player.
        sentiment: By player; ``None`` where the discussion is not in English.
        sample: Checks of single messages, with how many were said and drawn; without results when none were wanted.
        extractions: By kind; those that were wanted.
        recommendations: What to look at, in sentences with names of players in them: untrusted text.
        config: The settings that applied: ``evaluation_model`` and ``max_usd`` are those of the judge that was asked.
        judge: Who was asked: ``kind`` and ``model``; ``None`` when nobody was.
    """

    transcript: Mapping[str, Any]
    metrics: SimulationMetrics
    shares: TalkShares
    sentiment: Mapping[str, Sentiment] | None
    sample: CheckedSample
    extractions: Mapping[str, Extraction[Any]]
    recommendations: tuple[str, ...]
    config: EvaluationConfig
    judge: Mapping[str, str] | None = None

    @property
    def validations(self) -> tuple[ValidationResult, ...]:
        """The results of the sample."""
        return self.sample.results

    def as_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON."""
        sentiment, sample = self.sentiment, self.sample
        return {
            "transcript": dict(self.transcript),
            "metrics": self.metrics.as_dict(),
            "shares": asdict(self.shares),
            "validations": [one.as_dict() for one in self.validations],
            "sample": picked_data(sample, "messages", "drawn", "checked"),
            "extractions": {
                "sentiment": None if sentiment is None else {name: asdict(one) for name, one in sentiment.items()},
                **{kind: one.as_dict() for kind, one in self.extractions.items()},
            },
            "recommendations": list(self.recommendations),
            "judge": None if self.judge is None else {**self.judge, "prompt_version": PROMPT_VERSION},
            "config": self.config.model_dump(mode="json"),
        }


def plain_report(transcript: Transcript, config: EvaluationConfig | None = None) -> EvaluationReport:
    """The report without a judge: figures, sentiment and recommendations.

    Args:
        transcript: The discussion.
        config: Thresholds, limits and sample.

    Raises:
        InputError: As ``transcript_metrics``.
    """
    metrics, shares = transcript_metrics(transcript), talk_shares(transcript)
    return EvaluationReport(
        transcript=_head(transcript),
        metrics=metrics,
        shares=shares,
        sentiment=_sentiment(transcript),
        sample=CheckedSample((), metrics.total_messages, 0),
        extractions={},
        recommendations=tuple(recommendations(metrics, shares=shares)),
        config=config or EvaluationConfig(),
    )


async def report_on(
    transcript: Transcript,
    judge: Judge,
    wanted: Wanted,
    *,
    judged_by: Mapping[str, str] | None = None,
    config: EvaluationConfig | None = None,
    personas: Mapping[str, str] | None = None,
    report: Report | None = None,
) -> EvaluationReport:
    """The report with what a judge says; the same transcript and answers always give the same.

    Args:
        transcript: The discussion.
        judge: Who is asked.
        wanted: What is asked.
        judged_by: The judge's ``kind`` and ``model``, for the record.
        config: Thresholds, limits and sample.
        personas: Persona texts by player.
        report: Told of every judgement.
    """
    plain = plain_report(transcript, config)
    sample, told = plain.sample, _ReportingJudge(judge, report)
    if wanted.checks:
        sample = await Validator(told, plain.config.validation()).validate_transcript(transcript, personas)
    return replace(
        plain,
        sample=sample,
        extractions=await _extracted(transcript, told, wanted, plain.config),
        recommendations=(
            *recommendations(plain.metrics, sample, shares=plain.shares),
            *judge_of_its_own_words(transcript, (judged_by or {}).get("model")),
        ),
        judge=judged_by,
    )


async def _extracted(
    transcript: Transcript, judge: Judge, wanted: Wanted, config: EvaluationConfig
) -> dict[str, Extraction[Any]]:
    extractor = ResultsExtractor(judge, max_calls=config.max_extraction_calls)
    found: dict[str, Extraction[Any]] = {}
    if wanted.topic is not None:
        found["opinions"] = await extractor.extract_opinions(transcript, wanted.topic)
    if wanted.themes:
        found["themes"] = await extractor.extract_themes(transcript)
    if wanted.criteria is not None:
        found["quotes"] = await extractor.extract_quotes(transcript, wanted.criteria)
    return found


def _sentiment(transcript: Transcript) -> dict[str, Sentiment] | None:
    language = transcript.language or detect_language(one.text for one in transcript.discussion)
    if not language.casefold().startswith(ENGLISH):
        return None
    return ResultsExtractor.extract_sentiment_scores(transcript)


def _head(transcript: Transcript) -> dict[str, Any]:
    return {
        **picked_data(transcript, "id", "game_id", "source_format", "language"),
        "started_at": None if transcript.started_at is None else transcript.started_at.isoformat(),
    }
