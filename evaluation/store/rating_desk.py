"""The rating desk: games in their order, without what could sway a rater; who is to rate which; games put aside."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from evaluation.errors import InputError
from evaluation.escaping import well_formed
from evaluation.rating_desk.assignments import MAX_NOTE_LENGTH, Assignment, Discard, DiscardReason, Pair
from evaluation.rating_desk.style_check import StyleAnswer
from evaluation.ratings import rater_name
from evaluation.store._bulk_rows import (
    append_rows,
    from_microseconds,
    maybe_from_microseconds,
    next_numbers,
    require_storable,
)
from evaluation.store.transactions import UnitsPart
from evaluation.store.transcripts import require_transcript, take_back
from evaluation.transcript import SIMULATED_FORMAT, Elimination, Message, Player, Transcript


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """Progress of a rater, without anything about a transcript.

    Attributes:
        rated: Transcripts that the rater has rated.
        discarded: Those that the rater put aside for good without rating them.
        total: All that are stored.
        assigned: Those that the rater is to rate by assignment.
        waiting: Assigned ones that the rater has neither rated nor put aside.
        skipped: Those that the rater has skipped and neither rated nor put aside for good.
    """

    rated: int
    discarded: int
    total: int
    assigned: int = 0
    waiting: int = 0
    skipped: int = 0

    @property
    def left(self) -> int:
        """Number of transcripts that wait for this rater."""
        return self.total - self.rated - self.discarded


class RatingQueue(UnitsPart):
    """Hands out the rating desk's next transcript."""

    def progress(self, rater: str) -> QueueProgress:
        """The rater's progress."""
        name = rater_name(rater)
        return self.progress_of([name])[name]

    def progress_of(self, raters: Collection[str]) -> dict[str, QueueProgress]:
        """The progress of several raters, by their names, in one query."""
        names = {rater_name(one) for one in raters}
        rows = self._units.rows(_PROGRESS, {"raters": sorted(names)})
        return {rater: QueueProgress(*counts) for rater, *counts in rows}

    def next_unrated(
        self,
        rater: str,
        *,
        is_assigned_only: bool = False,
        is_handed_over_only: bool = False,
    ) -> str | None:
        """The transcript to rate next: one of those with the fewest raters, in an order of this rater's own.

        What the rater has begun comes first, or a reload would find another game because somebody else was quicker.
        Then come the games that were handed over to this rater (see :meth:`hand_over`), then those assigned. What an
        experiment simulated is handed out only once it is assigned or belongs to an iteration.

        Args:
            rater: Who is to rate; transcripts that this person has rated, discarded or skipped are left out.
            is_assigned_only: Nothing beyond what was begun, assigned or handed over, where the rater has an assignment.
            is_handed_over_only: Only games that were handed over.

        Returns:
            Its id and nothing else, so that the desk stays blind; ``None`` when none is left.
        """
        values = {
            "rater": rater_name(rater),
            "assigned_only": is_assigned_only,
            "handed_over_only": is_handed_over_only,
        }
        return next((str(found) for (found,) in self._units.rows(_NEXT, values)), None)

    def skip(self, rater: str, transcript_id: str) -> None:
        """Puts a game aside for this rater, in every session, until the rater goes through the skipped ones."""
        self._units.write(_SKIP, {"rater": rater_name(rater), "game": well_formed(transcript_id)})

    def skipped(self) -> set[Pair]:
        """The games that are put aside, with the rater whom they come to again at the end."""
        return {*self._units.rows("SELECT transcript_id, rater FROM skipped_games")}

    def take_back_skips(self, rater: str) -> None:
        """Hands out again what the rater has skipped."""
        self._units.write("DELETE FROM skipped_games WHERE rater = ?", [rater_name(rater)])

    def handed_over_left(self, rater: str) -> int:
        """Number of games that were handed over to the rater and are neither rated nor put aside."""
        return int(self._units.rows(_HANDED_OVER_LEFT, {"rater": rater_name(rater)})[0][0])

    def hand_over(self, rater: str, iteration: str, reference: str | None) -> None:
        """Has the rater rate the games that hold up a decision first; nothing of it reaches the desk.

        These are the games of the iteration and of its reference that nobody has rated, mixed with one decoy: a game of
        the reference that others rated before and this rater did not, where there is one. It holds until another one
        follows. Names of iterations that are gone change nothing.

        Raises:
            InputError: The rater's name cannot be used.
        """
        self._units.write(
            "INSERT INTO rating_handovers (rater, iteration, reference) VALUES (?, ?, ?)",
            [rater_name(rater), well_formed(iteration), reference and well_formed(reference)],
        )


_SKIP = """
INSERT INTO skipped_games (rater, transcript_id) SELECT $rater, $game
WHERE NOT EXISTS (FROM skipped_games WHERE rater = $rater AND transcript_id = $game)
"""

# What an experiment simulated is judged by the experiment, and hundreds of such conversations would bury the games that
# wait for people; in an iteration it is a game like others.
_FOR_PEOPLE = f"(source_format <> '{SIMULATED_FORMAT}' OR iteration IS NOT NULL)"

_ASSIGNMENTS = "SELECT transcript_id FROM current_rating_assignments WHERE rater = $rater"

# Written for speed, as every saved form waits for it: no view that ranks all ratings there are.
_OPEN = f"""
WITH counted AS (
    SELECT transcript_id, count(DISTINCT rater) AS raters, bool_or(rater = $rater) AS is_rated
    FROM ratings GROUP BY transcript_id
), begun AS (
    SELECT transcript_id, max(drafts.touched) AS touched
    FROM assignments JOIN drafts USING (token) WHERE rater = $rater GROUP BY transcript_id
), assigned AS ({_ASSIGNMENTS}), handed_over AS (
    SELECT iteration, reference, created_at FROM rating_handovers WHERE rater = $rater
    ORDER BY handover_id DESC LIMIT 1
), decoy AS (
    -- Only ratings from before count, so that the decoy stays the same when it is rated, and none follows it.
    SELECT transcript_id FROM transcripts t, handed_over h
    WHERE t.iteration = h.reference
        AND transcript_id IN (SELECT r.transcript_id FROM ratings r WHERE r.created_at < h.created_at)
        AND transcript_id NOT IN (
            SELECT r.transcript_id FROM ratings r WHERE r.created_at < h.created_at AND r.rater = $rater)
    ORDER BY md5(concat($rater, ' ', transcript_id)) LIMIT 1
), open AS (
    SELECT transcript_id, touched, coalesce(raters, 0) AS raters, transcript_id IN (FROM assigned) AS is_assigned,
        transcript_id IN (FROM decoy) OR (raters IS NULL AND EXISTS (
            FROM handed_over h WHERE transcripts.iteration IN (h.iteration, h.reference))) AS is_handed_over
    FROM transcripts LEFT JOIN counted USING (transcript_id) LEFT JOIN begun USING (transcript_id)
    WHERE ({_FOR_PEOPLE} OR transcript_id IN (FROM assigned))
        AND NOT coalesce(is_rated, false)
        AND transcript_id NOT IN (SELECT transcript_id FROM current_discards WHERE rater = $rater)
)
"""

_HANDED_OVER_LEFT = f"{_OPEN} SELECT count(*) FROM open WHERE is_handed_over"

_NEXT = f"""{_OPEN}
SELECT transcript_id FROM open
WHERE transcript_id NOT IN (SELECT transcript_id FROM skipped_games WHERE rater = $rater)
    AND (NOT $assigned_only OR (SELECT count(*) = 0 FROM assigned) OR is_assigned
         OR touched IS NOT NULL OR is_handed_over)
    AND (NOT $handed_over_only OR is_handed_over)
ORDER BY touched DESC NULLS LAST, NOT is_handed_over, NOT is_assigned,
    CASE WHEN is_handed_over THEN 0 ELSE raters END, md5(concat($rater, ' ', transcript_id))
LIMIT 1
"""

_PROGRESS = f"""
WITH people AS (SELECT unnest($raters::text[]) AS rater),
assigned AS (SELECT DISTINCT rater, transcript_id FROM current_rating_assignments WHERE rater IN (FROM people)),
rated AS (
    SELECT DISTINCT rater, transcript_id FROM ratings SEMI JOIN living_games USING (transcript_id)
    WHERE rater IN (FROM people)
),
aside AS (SELECT DISTINCT rater, transcript_id FROM current_discards WHERE rater IN (FROM people)),
waiting AS (FROM assigned EXCEPT (FROM rated UNION FROM aside)
), skipped AS (
    SELECT rater, transcript_id FROM skipped_games SEMI JOIN living_games USING (transcript_id)
    EXCEPT (FROM rated UNION FROM aside)
), beside AS (
    -- What an experiment simulated counts for who has rated it or is to rate it.
    SELECT rater, transcript_id FROM (FROM rated UNION FROM assigned) JOIN transcripts USING (transcript_id)
    WHERE NOT {_FOR_PEOPLE}
), counted AS (
    SELECT rater, 'rated' AS what FROM rated UNION ALL
    SELECT rater, 'discarded' FROM (FROM aside EXCEPT FROM rated) UNION ALL
    SELECT rater, 'beside' FROM beside UNION ALL
    SELECT rater, 'assigned' FROM assigned UNION ALL
    SELECT rater, 'waiting' FROM waiting UNION ALL
    SELECT rater, 'skipped' FROM skipped
)
SELECT rater, count(*) FILTER (what = 'rated'), count(*) FILTER (what = 'discarded'),
    (SELECT count(*) FROM transcripts WHERE {_FOR_PEOPLE}) + count(*) FILTER (what = 'beside'),
    count(*) FILTER (what = 'assigned'), count(*) FILTER (what = 'waiting'), count(*) FILTER (what = 'skipped')
FROM people LEFT JOIN counted USING (rater) GROUP BY rater
"""


class RatingAssignments(UnitsPart):
    """Stores who is to rate which game."""

    def add(self, pairs: Sequence[Pair], *, who: str) -> int:
        """Stores assignments, all of them or none; returns how many were new.

        A pair that holds already changes nothing.

        Args:
            pairs: Transcript and rater of each.
            who: The lead who assigns them.

        Raises:
            NotFoundError: One of the transcripts is not stored.
            InputError: A name cannot be used.
        """
        lead, wanted = rater_name(who), dict.fromkeys((game, rater_name(rater)) for game, rater in pairs)
        with self._units.unit(write=True, join=True) as cursor:
            for transcript_id in {game for game, _ in wanted}:
                require_transcript(cursor, transcript_id)
            known = set(cursor.execute("SELECT transcript_id, rater FROM current_rating_assignments").fetchall())
            fresh = [pair for pair in wanted if pair not in known]
            ids = next_numbers(cursor, "rating_assignment_numbers", len(fresh))
            rows = [
                {"assignment_id": number, "transcript_id": game, "rater": rater, "who": lead}
                for number, (game, rater) in zip(ids, fresh, strict=True)
            ]
            append_rows(cursor, "rating_assignments", rows)
        return len(fresh)

    def withdraw(self, pairs: Collection[Pair], *, who: str) -> int:
        """Withdraws the assignments of these pairs; returns how many held. What was rated stays rated."""
        lead = rater_name(who)
        with self._units.unit(write=True, join=True):
            return sum(len(self._units.write(_WITHDRAW, [lead, *pair])) for pair in pairs)

    def current(self) -> list[Assignment]:
        """The assignments that hold, of stored transcripts, in the order in which they were made."""
        return [one for one in self.list() if one.withdrawn_at is None]

    def list(self) -> list[Assignment]:
        """Every assignment of stored transcripts, withdrawn ones too, in the order in which they were made."""
        rows = self._units.rows(_SELECT)
        return [
            Assignment(number, game, rater, who, from_microseconds(at), undone_by, maybe_from_microseconds(undone_at))
            for number, game, rater, who, at, undone_by, undone_at in rows
        ]


_SELECT = """
SELECT a.assignment_id, a.transcript_id, a.rater, a.who, epoch_us(a.created_at), u.who, epoch_us(u.created_at)
FROM rating_assignments a SEMI JOIN living_games USING (transcript_id)
LEFT JOIN rating_assignments u ON u.undoes = a.assignment_id
WHERE a.undoes IS NULL ORDER BY a.assignment_id
"""

_WITHDRAW = """
INSERT INTO rating_assignments (transcript_id, rater, who, undoes)
SELECT transcript_id, rater, $1, assignment_id FROM current_rating_assignments
WHERE transcript_id = $2 AND rater = $3
RETURNING assignment_id
"""


_Discards = list[Discard]


class Discards(UnitsPart):
    """Takes games out of one rater's queue, with the reason, and gives them back."""

    def add(self, transcript_id: str, rater: str, reason: DiscardReason, note: str = "") -> bool:
        """Takes the transcript out of the rater's queue; false when it is out already, which changes nothing.

        Raises:
            NotFoundError: The transcript is not stored.
            InputError: The note is too long, or missing where the reason is ``other``.
        """
        name, said = rater_name(rater), _checked_note(reason, note)
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            return bool(cursor.execute(_INSERT, [transcript_id, name, reason, said, name]).fetchall())

    def undo(self, discard_id: int, *, who: str) -> None:
        """Gives the transcript back to the rater's queue; both acts stay on record.

        Raises:
            NotFoundError: There is no such discard.
            ConflictError: It was taken back before.
            InputError: Nobody is named.
        """
        name = rater_name(who)
        with self._units.unit(write=True, join=True) as cursor:
            given = {"note": "", "who": name}
            take_back(cursor, "discards", "discard", discard_id, "transcript_id, rater, reason", given)

    def of(self, rater: str) -> _Discards:
        """The rater's discards that still hold, the latest first."""
        return self._select("AND d.rater = ? AND u.who IS NULL", [rater_name(rater)])

    def list(self) -> _Discards:
        """Every discard of transcripts that are stored, those taken back too, the latest first."""
        return self._select("", [])

    def _select(self, condition: str, values: Sequence[object]) -> _Discards:
        return [_discard(row) for row in self._units.rows(_SELECT_DISCARDS.format(condition), list(values))]


def _checked_note(reason: DiscardReason, note: str) -> str:
    said = note.strip()
    if len(said) > MAX_NOTE_LENGTH:
        raise InputError(
            f"{len(said)} characters are too many.", place="note", remedy=f"Stay within {MAX_NOTE_LENGTH}."
        )
    if reason is DiscardReason.OTHER and not said:
        raise InputError("The reason is missing.", place="note", remedy="Say in a few words why it cannot be rated.")
    require_storable(note=said)
    return said


def _discard(row: tuple[Any, ...]) -> Discard:
    number, transcript_id, rater, reason, note, created_at, undone_by, undone_at = row
    made = from_microseconds(created_at)
    undone = maybe_from_microseconds(undone_at)
    return Discard(number, transcript_id, rater, DiscardReason(reason), note, made, undone_by, undone)


_INSERT = """
INSERT INTO discards (transcript_id, rater, reason, note, who)
SELECT $1, $2, $3, $4, $5
WHERE NOT EXISTS (SELECT 1 FROM current_discards WHERE transcript_id = $1 AND rater = $2)
RETURNING discard_id
"""

_SELECT_DISCARDS = """
SELECT d.discard_id, d.transcript_id, d.rater, d.reason, d.note, epoch_us(d.created_at), u.who, epoch_us(u.created_at)
FROM discards d SEMI JOIN living_games USING (transcript_id)
LEFT JOIN discards u ON u.undoes = d.discard_id
WHERE d.undoes IS NULL {} ORDER BY d.discard_id DESC
"""


class StyleAnswers(UnitsPart):
    """Stores and reads what raters chose, with what they had to choose from."""

    def add(self, answer: StyleAnswer) -> bool:
        """Stores an answer; false when the rater answered for that player before, which changes nothing.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        values = [answer.transcript_id, rater_name(answer.rater), answer.player, answer.kind, list(answer.candidates)]
        with self._units.unit(write=True, join=True) as cursor:
            require_transcript(cursor, answer.transcript_id)
            added = cursor.execute(
                _INSERT_STYLE_ANSWERS, [*values, list(answer.message_ids), answer.truth, answer.chosen]
            )
            return bool(added.fetchall())

    def list(self, rater: str | None = None) -> list[StyleAnswer]:
        """Every answer, or every one of that rater, in the order in which they were given."""
        name = None if rater is None else rater_name(rater)
        rows = self._units.rows(_SELECT_STYLE_ANSWERS, {"rater": name})
        return [
            StyleAnswer(transcript_id, who, player, kind, tuple(candidates), tuple(message_ids), truth, chosen)
            for transcript_id, who, player, kind, candidates, message_ids, truth, chosen in rows
        ]


_INSERT_STYLE_ANSWERS = """
INSERT INTO style_answers (transcript_id, rater, player, kind, candidates, message_ids, truth, chosen)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING player
"""

_SELECT_STYLE_ANSWERS = """
SELECT transcript_id, rater, player, kind, candidates, message_ids, truth, chosen
FROM style_answers s SEMI JOIN living_games USING (transcript_id)
WHERE $rater::text IS NULL OR rater = $rater ORDER BY s.rowid
"""


_NAMELESS = "game"


_NOBODY = "-"


class BlindGames(UnitsPart):
    """Reads public messages and who left the game, and nothing else about a transcript."""

    def get(self, transcript_id: str) -> Transcript:
        """The transcript without anything that could sway a rater.

        Messages that the rater may not see are empty system messages: their rounds say where eliminations belong.
        Players stand in the order in which they first speak, for a roster may be sorted by role; message ids are new.
        A speaker whose name says what the desk withholds (``human``, ``assistant``, the model, the role) is called
        "Speaker 1" and so on. What the messages themselves say stays as it is.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        key = well_formed(transcript_id)
        with self._units.unit() as cursor:
            require_transcript(cursor, key)
            spoken = cursor.execute(_MESSAGES, [key]).fetchall()
            left = cursor.execute(_ELIMINATIONS, [key]).fetchall()
            telling = {name for (name,) in cursor.execute(_TELLING_NAMES, [key]).fetchall()}
        speakers = [speaker for speaker, _, _, _, is_open in spoken if is_open]
        names = list(dict.fromkeys([*speakers, *(player for player, _, _ in left)])) or [_NOBODY]
        called = _called(names, telling)
        return Transcript(
            game_id=_NAMELESS,
            source_format=_NAMELESS,
            players=tuple(Player(name=called[name]) for name in names),
            messages=tuple(_message(index, called.get(row[0], _NOBODY), *row[1:]) for index, row in enumerate(spoken)),
            eliminations=tuple(
                Elimination(player=called[who], round=round_, phase=phase) for who, round_, phase in left
            ),
        )


def _called(names: Sequence[str], telling: Collection[str]) -> dict[str, str]:
    """The names at the desk: numbers for telling names; a player with a neutral name keeps it."""
    kept = {name for name in names if name not in telling}
    numbered = (f"Speaker {number}" for number in count(1) if f"Speaker {number}" not in kept)
    return {name: name if name in kept else next(numbered) for name in names}


def _message(index: int, speaker: str, text: str, round_: int | None, phase: str | None, is_open: bool) -> Message:
    return Message(
        id=f"m{index}",
        index=index,
        round=round_,
        phase=phase,
        channel="public" if is_open else "system",
        speaker=speaker if is_open else _NOBODY,
        text=text if is_open else "",
    )


_MESSAGES = """
SELECT CASE WHEN is_open THEN speaker END, CASE WHEN is_open THEN text END, round, phase, is_open
FROM (SELECT *, channel = 'public' AND NOT is_control AS is_open FROM messages WHERE transcript_id = ?)
ORDER BY position
"""


_TELLING_NAMES = """
SELECT name FROM players
WHERE transcript_id = ?
    AND lower(name) IN ('human', 'user', 'assistant', 'ai', 'bot', 'gpt', 'chatgpt', 'llm', 'model', lower(model),
                        lower(role), lower(alignment))
"""


_ELIMINATIONS = "SELECT player, round, phase FROM eliminations WHERE transcript_id = ? ORDER BY position"
