"""Calls to models with their cost, and what they answered by the hash of the question; each question is asked once."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from evaluation.escaping import well_formed
from evaluation.judging.cached_judge import KeepAnswers, KeptAnswer
from evaluation.judging.model_client.calls import CallRecord, Usage
from evaluation.judging.protocol import Prompt
from evaluation.simulation.model_texts import Generation
from evaluation.store._bulk_rows import append_rows, fitting, from_json, marks, microseconds, packed, picked, to_utc
from evaluation.store.transactions import StorePart, Units, UnitsPart

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from evaluation.store.answer_journal import JournalEntry


_MOST_KEYS = 1_000
_BITS = 64


class Judgements(StorePart):
    """Keeps answers; a ``JudgementCache`` for judges.

    Long texts, which many judgements share (a context, the answer to a batch), are stored once each.
    """

    def lookup(self, keys: Sequence[str]) -> dict[str, KeptAnswer]:
        """The answers kept under ``keys``; keys without one are left out."""
        with self._store.unit() as cursor:
            rows = _found(cursor, _FIND, keys)
            described = [(key, model, from_json(prompt), from_json(answer)) for key, model, prompt, answer in rows]
            wanted = {sha for _, _, prompt, answer in described for sha in _text_keys(prompt, answer)}
            texts = dict(_found(cursor, _TEXTS, sorted(wanted)))
        return {key: _kept(key, model, prompt, answer, texts) for key, model, prompt, answer in described}

    def keys(self, model: str) -> set[str]:
        """The keys of all answers that a model gave: for whoever asks so much that looking up each would take long."""
        rows = self._store.rows("SELECT key FROM judgements WHERE model = ?", [model])
        return {key for (key,) in rows}

    def keep(self, answers: Sequence[KeptAnswer], calls: Sequence[CallRecord] = ()) -> None:
        """Stores answers, and the calls made meanwhile, in one transaction; an answer that is kept already stays."""
        texts = {_sha(text): text for one in answers for text in (one.prompt.system, one.prompt.user, one.raw)}
        with self._store.unit(write=True, join=True) as cursor:
            rows = [{"sha256": sha, "text": text} for sha, text in texts.items()]
            insert_new(cursor, "judge_texts", "sha256", rows)
            insert_new(cursor, "judgements", "key", [_row(one) for one in {one.key: one for one in answers}.values()])
            self._store.llm_calls.add(calls)

    @asynccontextmanager
    async def journal(self) -> AsyncIterator[KeepAnswers]:
        """Keeps answers in a file as they come, and stores them once per second and when the block ends.

        What a killed run left is stored on entering.

        Raises:
            StoreError: They cannot be kept or stored.
        """
        from evaluation.store.answer_journal import AnswerJournal, JournalEntry

        path = self._store.path
        # Beside the database, if that is a file.
        place = None if path is None else path.with_name(f".{path.name}.judge")
        async with AnswerJournal(self.keep_entries, self._store.llm_calls.have, None, place) as journal:
            yield lambda answers, calls: journal.add(JournalEntry(answers=answers, calls=calls))

    def keep_entries(self, entries: Sequence[JournalEntry]) -> None:
        """Stores all texts, answers and calls of a moment in one transaction."""
        with self._store.unit(write=True, join=True):
            self._store.generations.keep([one for entry in entries for one in entry.generations])
            answers = [one for entry in entries for one in entry.answers]
            self.keep(answers, [one for entry in entries for one in entry.calls])


def _row(one: KeptAnswer) -> dict[str, Any]:
    prompt = {
        "system": _sha(one.prompt.system),
        "user": _sha(one.prompt.user),
        "question": one.prompt.question,
        "version": one.prompt_version,
        "purpose": one.purpose,
        "subject": one.subject,
    }
    return {
        "key": one.key,
        "model": one.model,
        "prompt": packed(prompt).decode("utf-8"),
        "answer": packed({"answers": one.answers, "raw": _sha(one.raw), "parameters": one.parameters}).decode("utf-8"),
        **usage_values(one.usage),
    }


def usage_values(usage: Usage) -> dict[str, Any]:
    """Tokens and cost as columns; a number that the column cannot hold is left out."""
    tokens = {name: getattr(usage, name) for name in ("input_tokens", "cached_tokens", "output_tokens")}
    return {name: fitting(round(count), _BITS) for name, count in tokens.items()} | {"cost_usd": usage.known_usd}


def insert_new(cursor: DuckDBPyConnection, table: str, key: str, rows: list[dict[str, Any]]) -> None:
    """Adds the rows whose key is not there yet; nobody else writes meanwhile."""
    query = f"SELECT {key} FROM {table} WHERE {key} IN ({{}})"
    known = {found for (found,) in _found(cursor, query, [row[key] for row in rows])}
    append_rows(cursor, table, [row for row in rows if row[key] not in known])


def _text_keys(prompt: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, str, str]:
    return prompt["system"], prompt["user"], answer["raw"]


def _kept(
    key: str, model: str, prompt: Mapping[str, Any], answer: Mapping[str, Any], texts: Mapping[str, str]
) -> KeptAnswer:
    system, user, raw = (texts[sha] for sha in _text_keys(prompt, answer))
    return KeptAnswer(
        key=key,
        model=model,
        answers=tuple(answer["answers"]),
        prompt=Prompt(system, user, prompt["question"]),
        prompt_version=prompt["version"],
        purpose=prompt["purpose"],
        subject=prompt["subject"],
        raw=raw,
        parameters=answer.get("parameters", {}),
    )


def _found(cursor: DuckDBPyConnection, query: str, keys: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a query for keys, of which it takes a thousand at a time."""
    for start in range(0, len(keys), _MOST_KEYS):
        some = list(keys[start : start + _MOST_KEYS])
        yield from cursor.execute(query.format(marks(some)), some).fetchall()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


_FIND = "SELECT key, model, prompt, answer FROM judgements WHERE key IN ({})"
_TEXTS = "SELECT sha256, text FROM judge_texts WHERE sha256 IN ({})"


_OF_SCOPE = """
SELECT key, model, purpose, subject, text, coalesce(input_tokens, 0), coalesce(cached_tokens, 0),
    coalesce(output_tokens, 0), coalesce(cost_usd, 0), 1, (cost_usd IS NULL)::integer FROM generations WHERE scope = ?
"""


class Generations(StorePart):
    """Keeps texts; a ``GenerationCache`` for writers."""

    def of_scope(self, scope: str) -> dict[str, Generation]:
        """All texts of an experiment by key; failed tries before them are not stored, so each counts as one call."""
        rows = self._store.rows(_OF_SCOPE, [scope])
        return {
            key: Generation(key, scope, model, purpose, subject, text, Usage(*usage))
            for key, model, purpose, subject, text, *usage in rows
        }

    def keep(self, generations: Sequence[Generation], calls: Sequence[CallRecord] = ()) -> None:
        """Stores texts, and the calls made meanwhile, in one transaction; a text that is kept already stays."""
        rows = {one.key: _generation_row(one) for one in generations}
        with self._store.unit(write=True, join=True) as cursor:
            insert_new(cursor, "generations", "key", list(rows.values()))
            self._store.llm_calls.add(calls)


def _generation_row(one: Generation) -> dict[str, Any]:
    return {
        **picked(one, "key", "scope", "model", "purpose"),
        "subject": well_formed(one.subject),
        "text": well_formed(one.text),
        **usage_values(one.usage),
    }


class LLMCalls(UnitsPart):
    """Adds calls, and adds them up."""

    def add(self, records: Sequence[CallRecord]) -> None:
        """Stores calls as they were; nothing is ever changed."""
        with self._units.unit(write=True, join=True) as cursor:
            append_rows(cursor, "llm_calls", [_call_row(record) for record in records])

    def have(self, record: CallRecord) -> bool:
        """Whether a call is stored, told by model, time, attempt and first judgement."""
        told = record.model, microseconds(record.started_at), record.attempt, record.judgement_key
        return told in self._units.rows(_SINCE, [record.started_at])


def _call_row(record: CallRecord) -> dict[str, Any]:
    tokens = picked(record, "input_tokens", "cached_tokens", "output_tokens")
    return {
        **picked(record, "run_id", "purpose", "model", "judgement_key", "cost_usd", "seconds"),
        **picked(record, "attempt", "outcome", "judgements"),
        **{name: fitting(count, _BITS) for name, count in tokens.items()},
        "error": record.error or None,
        "created_at": to_utc(record.started_at),
    }


_SINCE = """
SELECT model, epoch_us(created_at), attempt, judgement_key FROM llm_calls WHERE created_at >= ?
"""


def spending_by_model(units: Units) -> pd.DataFrame:
    """All calls by model and purpose, the dearest first.

    Returns:
        ``model``, ``purpose``, ``calls`` (failed ones included), ``failed``, ``judgements`` (asked for in them),
        ``input_tokens``, ``cached_tokens`` (of these, those that the provider had in its cache), ``output_tokens``,
        ``cost_usd`` (of the calls with a known price; empty when there is none), ``unpriced`` (answered calls without
        one), ``median_seconds`` and ``slow_seconds`` (95th percentile), of answered calls.
    """
    return units.table(_BY_MODEL, {})


_BY_MODEL = """
SELECT model, purpose, count(*) AS calls,
    count(*) FILTER (WHERE outcome <> 'answered') AS failed,
    coalesce(sum(judgements), 0)::bigint AS judgements,
    coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
    coalesce(sum(cached_tokens), 0)::bigint AS cached_tokens,
    coalesce(sum(output_tokens), 0)::bigint AS output_tokens,
    sum(cost_usd) AS cost_usd,
    count(*) FILTER (WHERE cost_usd IS NULL AND outcome = 'answered') AS unpriced,
    median(seconds) FILTER (WHERE outcome = 'answered') AS median_seconds,
    quantile_cont(seconds, 0.95) FILTER (WHERE outcome = 'answered') AS slow_seconds
FROM llm_calls GROUP BY model, purpose ORDER BY cost_usd DESC NULLS LAST, calls DESC, model, purpose
"""
