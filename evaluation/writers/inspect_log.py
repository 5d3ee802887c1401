"""Writes transcripts as a log of Inspect: a sample a game, with its messages, its scores and its cost.

Inspect knows the roles of a chat and no speakers: players are ``assistant``, whoever is in the system channel is
``system``. The speaker stands in ``name``, which Inspect passes over, and in the message's metadata, which it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from evaluation.score import MetricResult, Status
from evaluation.transcript import Message, Transcript

_TASK = "dramaturg"
_VERSION = 2


def inspect_log(
    games: Iterable[tuple[Transcript, Mapping[str, MetricResult]]], *, created: datetime | None = None
) -> dict[str, Any]:
    """The log as plain data for JSON.

    Args:
        games: Transcripts with their results by metric; a metric that is pending has no score in the log.
        created: The time that the log states; now where left out.
    """
    when = (created or datetime.now(UTC)).isoformat()
    scores: dict[str, list[tuple[float, bool]]] = {}
    samples = []
    for transcript, results in games:
        samples.append(_sample(transcript, results))
        for name, result in results.items():
            if result.score is not None:
                scores.setdefault(name, []).append((result.score, result.status is Status.PASSED))
    run = {"run_id": _TASK, "created": when, "task": _TASK, "task_id": _TASK, "model": "none/none", "config": {}}
    return {
        "version": _VERSION,
        "status": "success",
        "eval": run | {"dataset": {"name": "games", "samples": len(samples)}},
        "plan": {"name": "plan", "steps": []},
        "results": {"total_samples": len(samples), "completed_samples": len(samples), "scores": _figures(scores)},
        "stats": {"started_at": when, "completed_at": when, "model_usage": {}},
        "samples": samples,
    }


def _figures(scores: Mapping[str, list[tuple[float, bool]]]) -> list[dict[str, Any]]:
    """Figures that Inspect shows above the samples: mean, share that passed and number of games of each metric."""
    figures = []
    for name, held in scores.items():
        values = {
            "mean": sum(score for score, _ in held) / len(held),
            "passed": sum(passed for _, passed in held) / len(held),
            "games": len(held),
        }
        metrics = {key: {"name": key, "value": value} for key, value in values.items()}
        counts = {"scored_samples": len(held), "unscored_samples": 0}
        figures.append({"name": name, "scorer": name, "params": {}, "metrics": metrics, **counts})
    return figures


def _sample(transcript: Transcript, results: Mapping[str, MetricResult]) -> dict[str, Any]:
    return {
        "id": transcript.game_id,
        "epoch": 1,
        "input": transcript.messages[0].text,
        "target": transcript.winner or "",
        "messages": [_message(message) for message in transcript.messages],
        "scores": {
            name: {"value": result.score, "explanation": f"{result.definition.label}: {result.status}"}
            for name, result in results.items()
            if result.score is not None
        },
        "metadata": {
            "transcript_id": transcript.id,
            "source_format": transcript.source_format,
            "players": [player.model_dump(mode="json", exclude_none=True) for player in transcript.players],
        },
        "model_usage": _usage(transcript),
    }


def _message(message: Message) -> dict[str, Any]:
    told = {
        "speaker": message.speaker,
        "channel": message.channel,
        "round": message.round,
        "phase": message.phase,
        "recipients": list(message.recipients),
    }
    return {
        "id": message.id,
        "role": "system" if message.channel == "system" else "assistant",
        "name": message.speaker,
        "content": message.text,
        "metadata": {key: value for key, value in told.items() if value not in (None, [])},
    }


def _usage(transcript: Transcript) -> dict[str, Any]:
    cost = transcript.cost
    if cost is None or not cost.is_known:
        return {}
    given, made = cost.input_tokens or 0, cost.output_tokens or 0
    usage = {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}
    if cost.cached_tokens is not None:
        usage["input_tokens_cache_read"] = cost.cached_tokens
    return {"all": usage | ({"total_cost": cost.total_usd} if cost.total_usd is not None else {})}
