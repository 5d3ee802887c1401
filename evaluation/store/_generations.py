"""Texts that models wrote in simulations, by the hash of the request; each is requested once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.escaping import well_formed
from evaluation.insight.collector import LLMCallEvent
from evaluation.judging.model_client.calls import CallRecord, Usage
from evaluation.simulation.model_texts import Generation, speaker_in, speech_prefix
from evaluation.store._judgement_cache import insert_new, usage_values
from evaluation.store.engine.transactions import Units
from evaluation.store.llm_calls import LLMCalls
from evaluation.transcript import SIMULATED_FORMAT, Transcript

_OF_SCOPE = """
SELECT key, model, purpose, subject, text, coalesce(input_tokens, 0), coalesce(cached_tokens, 0),
    coalesce(output_tokens, 0), coalesce(cost_usd, 0), 1, (cost_usd IS NULL)::integer FROM generations WHERE scope = ?
"""
_CALLS = """
SELECT subject, input_tokens + output_tokens, cost_usd FROM generations
WHERE scope = ? AND starts_with(subject, ?) ORDER BY subject, key
"""


class Generations:
    """Keeps texts; a ``GenerationCache`` for writers."""

    def __init__(self, units: Units, calls: LLMCalls) -> None:
        self._units = units
        self._calls = calls

    def of_scope(self, scope: str) -> dict[str, Generation]:
        """All texts of an experiment by key; failed tries before them are not stored, so each counts as one call."""
        with self._units.unit() as cursor:
            rows = cursor.execute(_OF_SCOPE, [scope]).fetchall()
        return {
            key: Generation(key, scope, model, purpose, subject, text, Usage(*usage))
            for key, model, purpose, subject, text, *usage in rows
        }

    def calls_for(self, transcript: Transcript) -> list[LLMCallEvent]:
        """The calls that wrote the messages of a conversation that an experiment simulated; empty for others.

        What judges were asked meanwhile is not among them. Where nobody knew the model's price, theirs is ``None``.
        """
        scope = transcript.metadata.get("experiment")
        if transcript.source_format != SIMULATED_FORMAT or not isinstance(scope, str):
            return []
        room = well_formed(transcript.game_id)
        with self._units.unit() as cursor:
            rows = cursor.execute(_CALLS, [well_formed(scope), speech_prefix(room)]).fetchall()
        return [
            # A price that nobody knew was stored as nothing; no model is free.
            LLMCallEvent(tokens, cost or None, speaker_in(str(subject), room))
            for subject, tokens, cost in rows
        ]

    def keep(self, generations: Sequence[Generation], calls: Sequence[CallRecord] = ()) -> None:
        """Stores texts, and the calls made meanwhile, in one transaction; a text that is kept already stays."""
        rows = {one.key: _row(one) for one in generations}
        with self._units.unit(write=True, join=True) as cursor:
            insert_new(cursor, "generations", "key", list(rows.values()))
            self._calls.add(calls)


def _row(one: Generation) -> dict[str, Any]:
    return {
        "key": one.key,
        "scope": one.scope,
        "model": one.model,
        "purpose": one.purpose,
        "subject": well_formed(one.subject),
        "text": well_formed(one.text),
        **usage_values(one.usage),
    }
