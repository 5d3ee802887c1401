"""What models wrote in simulations, by the address of the question: asked once, known for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.judging.calls import CallRecord
from evaluation.simulation.writing import Generation
from evaluation.store.checks import readable
from evaluation.store.llm_calls import LLMCalls
from evaluation.store.tables import fitting, insert_few, marks
from evaluation.store.units import Units

_BITS = 64


class Generations:
    """Keeps texts; a ``GenerationCache`` for writers."""

    def __init__(self, units: Units, calls: LLMCalls) -> None:
        self._units = units
        self._calls = calls

    def of_scope(self, scope: str) -> dict[str, str]:
        """All texts of an experiment by key."""
        with self._units.unit() as cursor:
            rows = cursor.execute("SELECT key, text FROM generations WHERE scope = ?", [scope]).fetchall()
        return dict(rows)

    def keep(self, generations: Sequence[Generation], calls: Sequence[CallRecord] = ()) -> None:
        """Stores texts, and the calls made meanwhile, in one transaction; a text that is kept already stays."""
        rows = {one.key: _row(one) for one in generations}
        with self._units.unit(write=True) as cursor:
            query = f"SELECT key FROM generations WHERE key IN ({marks(list(rows))})"
            known = {key for (key,) in cursor.execute(query, list(rows)).fetchall()}
            insert_few(cursor, "generations", [row for key, row in rows.items() if key not in known])
            self._calls.add(calls)


def _row(one: Generation) -> dict[str, Any]:
    return {
        "key": one.key,
        "scope": one.scope,
        "model": one.model,
        "purpose": one.purpose,
        "subject": readable(one.subject),
        "text": readable(one.text),
        "input_tokens": fitting(round(one.usage.input_tokens), _BITS),
        "cached_tokens": fitting(round(one.usage.cached_tokens), _BITS),
        "output_tokens": fitting(round(one.usage.output_tokens), _BITS),
        "cost_usd": one.usage.cost_usd,
    }
