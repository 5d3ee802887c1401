"""Iterations in the store: created once; promotion and sign-off are events added later."""

from __future__ import annotations

from typing import Any

from evaluation.errors import ConflictError, NotFoundError
from evaluation.iterations import Iteration
from evaluation.store.checks import readable, require_storable, require_text
from evaluation.store.tables import next_numbers
from evaluation.store.times import from_microseconds, maybe_from_microseconds
from evaluation.store.transcripts import require_iteration, require_transcript
from evaluation.store.units import Units


class Iterations:
    """Creates and lists iterations, and puts transcripts into them."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def create(
        self,
        name: str,
        *,
        parent: str | None = None,
        prompt_text: str = "",
        change: str = "",
        target_metric: str | None = None,
    ) -> Iteration:
        """Adds an iteration after all others.

        Raises:
            ConflictError: The name is taken.
            NotFoundError: There is no iteration called ``parent``.
            InputError: The name, a text or the metric cannot be used.
        """
        wanted = Iteration(name, 0, parent, prompt_text, change, target_metric)
        require_storable(name=name, prompt_text=prompt_text, change=change)
        with self._units.unit(write=True) as cursor:
            if cursor.execute("SELECT 1 FROM iterations WHERE name = ?", [name]).fetchone():
                raise ConflictError(f"There is an iteration {name!r} already.", remedy="Choose another name.")
            require_iteration(cursor, parent)
            position = next_numbers(cursor, "iteration_numbers", 1)[0]
            cursor.execute(
                _INSERT, [position, wanted.name, wanted.parent, wanted.prompt_text, wanted.change, wanted.target_metric]
            )
            return self.get(name)

    def ensure(self, name: str) -> Iteration:
        """The iteration of that name, created without any description when there is none."""
        with self._units.unit(write=True) as cursor:
            known = cursor.execute("SELECT 1 FROM iterations WHERE name = ?", [readable(name)]).fetchone()
            return self.get(name) if known else self.create(name)

    def get(self, name: str) -> Iteration:
        """The iteration of that name.

        Raises:
            NotFoundError: There is none.
        """
        for iteration in self.list():
            if iteration.name == name:
                return iteration
        raise NotFoundError(f"There is no iteration {name!r}.", remedy="See them with: dramaturg iterations.")

    def list(self) -> list[Iteration]:
        """All iterations in the order in which they were created.

        The baseline is the one promoted last, or the first of all while none was promoted.
        """
        with self._units.unit() as cursor:
            return [_iteration(row) for row in cursor.execute(_LIST).fetchall()]

    def assign(self, transcript_id: str, iteration: str | None) -> None:
        """Puts a transcript into an iteration, after the games it has; ``None`` takes it out of all.

        Nothing changes when it belongs there already.

        Raises:
            NotFoundError: The transcript or the iteration is not stored.
        """
        with self._units.unit(write=True) as cursor:
            require_transcript(cursor, transcript_id)
            require_iteration(cursor, iteration)
            cursor.execute(_ASSIGN, {"transcript": transcript_id, "iteration": iteration})

    def promote(self, name: str) -> None:
        """Makes an iteration the baseline that the others are compared with.

        Raises:
            NotFoundError: There is none of that name.
        """
        self._add_event(name, "promoted", "", "")

    def sign_off(self, name: str, who: str, note: str = "") -> None:
        """Records that a person found the iteration's games fascinating to watch.

        Raises:
            NotFoundError: There is no iteration of that name.
            InputError: Nobody is named.
        """
        require_text(who=who)
        require_storable(note=note)
        self._add_event(name, "signed_off", who, note)

    def _add_event(self, name: str, kind: str, who: str, note: str) -> None:
        with self._units.unit(write=True) as cursor:
            require_iteration(cursor, name)
            cursor.execute(
                "INSERT INTO iteration_events (iteration, kind, who, note) VALUES (?, ?, ?, ?)", [name, kind, who, note]
            )


_INSERT = """
INSERT INTO iterations (position, name, parent, prompt_text, change, target_metric) VALUES (?, ?, ?, ?, ?, ?)
"""

_ASSIGN = """
UPDATE transcripts SET iteration = $iteration, position = nextval('transcript_numbers')
WHERE transcript_id = $transcript AND iteration IS DISTINCT FROM $iteration
"""

_LIST = """
WITH promoted AS (SELECT iteration FROM iteration_events WHERE kind = 'promoted' ORDER BY event_id DESC LIMIT 1),
signed_off AS (
    SELECT * FROM iteration_events WHERE kind = 'signed_off'
    QUALIFY row_number() OVER (PARTITION BY iteration ORDER BY event_id DESC) = 1
),
numbered AS (SELECT *, row_number() OVER (ORDER BY position) - 1 AS place FROM iterations)
SELECT name, place, parent, prompt_text, change, target_metric,
       CASE WHEN EXISTS (FROM promoted) THEN name IN (FROM promoted) ELSE place = 0 END,
       epoch_us(n.created_at), s.who, epoch_us(s.created_at), coalesce(s.note, '')
FROM numbered n LEFT JOIN signed_off s ON s.iteration = n.name
ORDER BY place
"""


def _iteration(row: tuple[Any, ...]) -> Iteration:
    name, place, parent, prompt_text, change, target_metric, is_baseline, created_at, who, when, note = row
    return Iteration(
        name,
        place,
        parent,
        prompt_text,
        change,
        target_metric,
        is_baseline,
        from_microseconds(created_at),
        who,
        maybe_from_microseconds(when),
        note,
    )
