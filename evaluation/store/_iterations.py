"""Iterations in the store. Promotion and sign-off are events; every edit keeps the earlier values."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation.errors import ConflictError, InputError
from evaluation.escaping import well_formed
from evaluation.iterations.iteration import (
    Description,
    Edit,
    Fate,
    Iteration,
    RecordedDecision,
    SignOff,
    edits,
    new_iteration_name,
)
from evaluation.store._bulk_rows import (
    from_microseconds,
    maybe_from_microseconds,
    next_numbers,
    require_storable,
    require_text,
)
from evaluation.store.transactions import UnitsPart
from evaluation.store.transcripts import MOVE, require_iteration, require_transcript, unknown_iteration
from evaluation.text.normal import fold

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_Edits = list[Edit]
_SignOffs = list[SignOff]
_Decisions = list[RecordedDecision]


class Iterations(UnitsPart):
    """Creates, lists and edits iterations, and puts transcripts into them. ``Deletions`` deletes them."""

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
            ConflictError: The name is taken, or looks like one that is.
            NotFoundError: There is no iteration called ``parent``.
            InputError: The name, the parent, a text or the metric cannot be used.
        """
        wanted = Iteration(name, 0, parent, prompt_text, change, target_metric)
        require_storable(prompt_text=prompt_text, change=change)
        with self._units.unit(write=True, join=True) as cursor:
            self.require_new(name)
            _require_other(name, parent)
            require_iteration(cursor, parent)
            position = next_numbers(cursor, "iteration_numbers", 1)[0]
            cursor.execute(
                _INSERT, [position, wanted.name, wanted.parent, wanted.prompt_text, wanted.change, wanted.target_metric]
            )
            return self.get(name)

    def require_new(self, name: str, own: str | None = None) -> None:
        """Raises what :meth:`create` and :meth:`rename` raise about a new name, which ``own`` is given up for."""
        require_storable(name=Iteration(name).name)
        new_iteration_name(name)
        with self._units.unit() as cursor:
            _require_free(cursor, name, own)

    def ensure(self, name: str) -> Iteration:
        """The iteration of that name, created without any description when there is none."""
        with self._units.unit(write=True, join=True) as cursor:
            known = cursor.execute("SELECT 1 FROM iterations WHERE name = ?", [well_formed(name)]).fetchone()
            return self.get(name) if known else self.create(name)

    def get(self, name: str) -> Iteration:
        """The iteration of that name.

        Raises:
            NotFoundError: There is none.
        """
        for iteration in self.list():
            if iteration.name == name:
                return iteration
        raise unknown_iteration(name, [one.name for one in self.list()])

    def list(self) -> list[Iteration]:
        """All iterations in the order in which they were created.

        The baseline is the one promoted last, or the first of all while none was promoted.
        """
        return [_iteration(row) for row in self._units.rows(_LIST)]

    def rename(self, name: str, new_name: str, *, who: str) -> Iteration:
        """Gives an iteration another name, also where others name it as their parent.

        Raises:
            NotFoundError: There is none of that name.
            ConflictError: The new name is taken, or looks like one that is.
            InputError: The new name cannot be used, or nobody is named.
        """
        with self._units.unit(write=True, join=True) as cursor:
            held = self.get(name)
            if new_name != name:
                self.require_new(new_name, name)
                _remember(cursor, held, who)
                for statement in _RENAME:
                    cursor.execute(statement, {"old": name, "new": new_name})
            return self.get(new_name)

    def describe(self, description: Description, *, who: str) -> Iteration:
        """Corrects what is said about the iteration of that name: all but the name itself.

        Raises:
            NotFoundError: There is none of that name, or no parent of the name given.
            InputError: It would be its own ancestor, a text or the metric cannot be used, or nobody is named.
        """
        told = description
        Iteration(told.name, 0, told.parent, told.prompt_text, told.change, told.target_metric)
        require_storable(prompt_text=told.prompt_text, change=told.change)
        with self._units.unit(write=True, join=True) as cursor:
            held = self.get(told.name)
            if told.parent != held.parent:
                _require_other(told.name, told.parent)
                require_iteration(cursor, told.parent)
                self._require_no_circle(told)
            if told != _description(held):
                _remember(cursor, held, who)
                cursor.execute(_DESCRIBE, [told.parent, told.prompt_text, told.change, told.target_metric, told.name])
            return self.get(told.name)

    def history(self, name: str) -> _Edits:
        """Changes of the iteration's name and description since it was created, oldest first.

        Raises:
            NotFoundError: There is none of that name.
        """
        with self._units.unit() as cursor:
            current = _description(self.get(name))
            rows = cursor.execute(_HISTORY, [name]).fetchall()
        return list(edits([(Description(*row[:5]), row[5], from_microseconds(row[6])) for row in rows], current))

    def _require_no_circle(self, told: Description) -> None:
        parents = {one.name: one.parent for one in self.list()}
        ancestor, seen = told.parent, {told.name}
        while ancestor is not None and ancestor not in seen:
            seen.add(ancestor)
            ancestor = parents.get(ancestor)
        if ancestor == told.name:
            raise InputError(
                f"{told.parent!r} was itself changed from {told.name!r}.",
                place="parent",
                remedy="Choose an earlier iteration.",
            )

    def move(self, transcript_ids: Sequence[str], iteration: str | None) -> None:
        """Puts transcripts into an iteration, after the games it has, in the order given: all of them or none.

        One that belongs there already stays where it is. ``None`` takes them out of all iterations.

        Raises:
            NotFoundError: A transcript or the iteration is not stored.
        """
        with self._units.unit(write=True, join=True) as cursor:
            require_iteration(cursor, iteration)
            for transcript_id in transcript_ids:
                require_transcript(cursor, transcript_id)
                cursor.execute(MOVE, {"transcript": transcript_id, "iteration": iteration})

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

    def withdraw_sign_off(self, name: str, who: str, note: str = "") -> None:
        """Takes a sign-off back; the record of both stays, see :meth:`sign_offs`.

        Raises:
            NotFoundError: There is no iteration of that name.
            InputError: It is not signed off, or nobody is named.
        """
        require_text(who=who)
        require_storable(note=note)
        with self._units.unit(write=True, join=True):
            if not self.get(name).is_signed_off:
                raise InputError(f"{name!r} is not signed off.", remedy="There is nothing to withdraw.")
            self._add_event(name, "withdrawn", who, note)

    def sign_offs(self, name: str) -> _SignOffs:
        """Every sign-off of the iteration and every withdrawal, oldest first.

        Raises:
            NotFoundError: There is none of that name.
        """
        with self._units.unit() as cursor:
            rows = cursor.execute(_SIGN_OFFS, [require_iteration(cursor, name)]).fetchall()
        return [SignOff(who, note, from_microseconds(at), kind == "withdrawn") for who, note, at, kind in rows]

    def record_decision(
        self, name: str, fate: Fate, *, who: str, reason: str, note: str, reference: str | None, rule: str
    ) -> Iteration:
        """Records that a person keeps or reverts the iteration's change; an earlier decision stays on record.

        The arguments are the fields of :class:`~evaluation.iterations.iteration.RecordedDecision`.

        Raises:
            NotFoundError: There is no iteration of that name.
            InputError: Nobody or no reason is named.
        """
        require_text(who=who, reason=reason)
        require_storable(note=note)
        with self._units.unit(write=True, join=True) as cursor:
            number = require_iteration(cursor, name)
            cursor.execute(_DECIDE, [number, str(fate), who, note, reason, reference, rule])
            return self.get(name)

    def withdraw_decision(self, name: str, *, who: str, reason: str = "") -> Iteration:
        """Takes the recorded decision back; the record of both stays, see :meth:`decisions`.

        Raises:
            NotFoundError: There is no iteration of that name.
            InputError: Nothing is recorded, or nobody is named.
        """
        require_text(who=who)
        require_storable(reason=reason)
        with self._units.unit(write=True, join=True) as cursor:
            held = self.get(name).recorded
            if held is None:
                raise InputError(f"No decision on {name!r} is recorded.", remedy="There is nothing to take back.")
            number = require_iteration(cursor, name)
            cursor.execute(_DECIDE, [number, "decision_withdrawn", who, "", reason, held.reference, held.rule])
            return self.get(name)

    def decisions(self, name: str) -> _Decisions:
        """Every decision on the iteration's change and every withdrawal, oldest first.

        Raises:
            NotFoundError: There is none of that name.
        """
        with self._units.unit() as cursor:
            rows = cursor.execute(_DECISIONS, [require_iteration(cursor, name)]).fetchall()
        found: list[RecordedDecision] = []
        for kind, who, at, reason, note, reference, rule in rows:
            is_withdrawal = kind == "decision_withdrawn"
            fate = found[-1].fate if is_withdrawal else Fate(kind)
            made = from_microseconds(at)
            found.append(RecordedDecision(fate, who, made, reason, note, reference, rule, is_withdrawal))
        return found

    def _add_event(self, name: str, kind: str, who: str, note: str) -> None:
        with self._units.unit(write=True, join=True) as cursor:
            values = [require_iteration(cursor, name), kind, who, note]
            cursor.execute(
                "INSERT INTO iteration_events (iteration_number, kind, who, note) VALUES (?, ?, ?, ?)", values
            )


_INSERT = """
INSERT INTO stored_iterations (position, name, parent, prompt_text, change, target_metric) VALUES (?, ?, ?, ?, ?, ?)
"""

_RENAME = (
    "UPDATE stored_iterations SET name = $new WHERE name = $old AND deletion_id IS NULL",
    "UPDATE stored_iterations SET parent = $new WHERE parent = $old",
    "UPDATE iteration_events SET reference = $new WHERE reference = $old",
    "UPDATE rating_handovers SET iteration = $new WHERE iteration = $old",
    "UPDATE rating_handovers SET reference = $new WHERE reference = $old",
    "UPDATE spool SET iteration = $new WHERE iteration = $old",
)

_DESCRIBE = """
UPDATE stored_iterations SET parent = ?, prompt_text = ?, change = ?, target_metric = ?
WHERE name = ? AND deletion_id IS NULL
"""

_REMEMBER = """
INSERT INTO iteration_changes (iteration_number, name, parent, prompt_text, change, target_metric, who)
SELECT position, name, parent, prompt_text, change, target_metric, ? FROM iterations WHERE name = ?
"""

_HISTORY = """
SELECT c.name, c.parent, c.prompt_text, c.change, c.target_metric, c.who, epoch_us(c.changed_at)
FROM iteration_changes c JOIN iterations i ON i.position = c.iteration_number
WHERE i.name = ? ORDER BY c.change_id
"""

_DECIDE = """
INSERT INTO iteration_events (iteration_number, kind, who, note, reason, reference, rule) VALUES (?, ?, ?, ?, ?, ?, ?)
"""

_DECISIONS = """
SELECT kind, who, epoch_us(created_at), reason, note, reference, rule FROM iteration_events
WHERE iteration_number = ? AND kind IN ('kept', 'reverted', 'decision_withdrawn') ORDER BY event_id
"""

_SIGN_OFFS = """
SELECT who, note, epoch_us(created_at), kind FROM iteration_events
WHERE iteration_number = ? AND kind IN ('signed_off', 'withdrawn') ORDER BY event_id
"""

_LIST = """
WITH events AS (FROM iteration_events e SEMI JOIN iterations i ON i.position = e.iteration_number),
promoted AS (SELECT iteration_number FROM events WHERE kind = 'promoted' ORDER BY event_id DESC LIMIT 1),
signed AS (
    SELECT * FROM events WHERE kind IN ('signed_off', 'withdrawn')
    QUALIFY row_number() OVER (PARTITION BY iteration_number ORDER BY event_id DESC) = 1
),
signed_off AS (SELECT * FROM signed WHERE kind = 'signed_off'),
decided AS (
    SELECT * FROM events WHERE kind IN ('kept', 'reverted', 'decision_withdrawn')
    QUALIFY row_number() OVER (PARTITION BY iteration_number ORDER BY event_id DESC) = 1
),
recorded AS (SELECT * FROM decided WHERE kind <> 'decision_withdrawn'),
first_games AS (SELECT iteration_number, min(added_at) AS at FROM living_games GROUP BY iteration_number),
retargeted AS (
    SELECT position FROM iterations i JOIN iteration_changes c ON c.iteration_number = position
    JOIN first_games f ON f.iteration_number = position
    WHERE c.target_metric IS DISTINCT FROM i.target_metric AND c.changed_at > f.at
),
numbered AS (SELECT *, row_number() OVER (ORDER BY position) - 1 AS place FROM iterations)
SELECT name, place, parent, prompt_text, change, target_metric,
       CASE WHEN EXISTS (FROM promoted) THEN position IN (FROM promoted) ELSE place = 0 END,
       epoch_us(n.created_at), s.who, epoch_us(s.created_at), coalesce(s.note, ''),
       d.kind, d.who, epoch_us(d.created_at), d.reason, d.note, d.reference, d.rule,
       place = 0 OR position IN (SELECT iteration_number FROM events WHERE kind = 'promoted'),
       position IN (FROM retargeted)
FROM numbered n LEFT JOIN signed_off s ON s.iteration_number = position
LEFT JOIN recorded d ON d.iteration_number = position
ORDER BY place
"""


def _require_free(cursor: DuckDBPyConnection, name: str, own: str | None) -> None:
    """``own``: the name that is given up for it, which may look the same."""
    for (taken,) in cursor.execute("SELECT name FROM iterations").fetchall():
        if taken == name:
            raise ConflictError(f"There is an iteration {name!r} already.", remedy="Choose another name.")
        if taken != own and _looks(taken) == _looks(name):
            raise ConflictError(
                f"{name!r} looks like the iteration {taken!r}.",
                remedy="Choose a name that differs in more than blanks, capitals or characters that cannot be seen.",
            )


def _looks(name: str) -> str:
    """The visible part of a name."""
    seen = "".join(character for character in fold(name) if unicodedata.category(character) not in ("Cf", "Cc"))
    return " ".join(seen.split())


def _require_other(name: str, parent: str | None) -> None:
    if parent == name:
        raise InputError(
            f"{name!r} cannot have been changed from itself.",
            place="parent",
            remedy="Choose the iteration whose prompt was changed, or none.",
        )


def _remember(cursor: DuckDBPyConnection, held: Iteration, who: str) -> None:
    require_text(who=who)
    cursor.execute(_REMEMBER, [who, held.name])


def _description(held: Iteration) -> Description:
    return Description(held.name, held.parent, held.prompt_text, held.change, held.target_metric)


def _iteration(row: tuple[Any, ...]) -> Iteration:
    created_at, who, when, note, fate, decider, decided_at, *decided, was_baseline, is_late = row[7:]
    recorded = RecordedDecision(Fate(fate), decider, from_microseconds(decided_at), *decided) if fate else None
    signed_off = who, maybe_from_microseconds(when), note
    values = *row[:7], from_microseconds(created_at), *signed_off, recorded, was_baseline, is_late
    return Iteration(*values)
