"""Ratings with their drafts, and leads' decisions where raters differ. Append-only."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from evaluation.errors import ConflictError, InputError
from evaluation.escaping import well_formed
from evaluation.ratings import MAX_COMMENT_LENGTH, DeskTime, EngagementDecision, Rating, checked_score, rater_name
from evaluation.rubric.definitions import ENGAGEMENT
from evaluation.store._bulk_rows import (
    append_rows,
    from_microseconds,
    maybe_from_microseconds,
    next_numbers,
    picked,
    require_text,
)
from evaluation.store.transactions import StorePart, UnitsPart
from evaluation.store.transcripts import require_transcript, take_back

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection


_LIVING = "ratings SEMI JOIN living_games USING (transcript_id)"

RATING_COLUMNS = "transcript_id, rater, score, answers, comment, epoch_us(created_at), token, is_informed"


class Ratings(StorePart):
    """Stores and reads ratings, and the tokens of the forms that they are given in."""

    def add(self, rating: Rating, *, is_past: bool = False) -> bool:
        """Stores a rating once: false when its token was stored before, which changes nothing.

        It is what the rater thinks now, whatever the clock says: of a rater's ratings the one stored last counts.

        Args:
            rating: What the rater gave.
            is_past: Keep it beside the rating that counts, in whose place it does not come.

        Raises:
            NotFoundError: The transcript is not stored.
        """
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, rating.transcript_id)
            # Only one unit writes at a time, so looking first is safe. ON CONFLICT takes twice as long.
            known = cursor.execute("SELECT 1 FROM ratings WHERE token = ?", [rating.token]).fetchone()
            if known is None:
                append_rows(cursor, "ratings", [{**_row(rating), "is_past": is_past}])
                self._store.results.rewrite([rating.transcript_id], [ENGAGEMENT.name])
            cursor.execute("DELETE FROM drafts WHERE token = ?", [rating.token])
        return known is None

    def add_many(self, ratings: Sequence[Rating], *, as_of_now: Collection[str] = ()) -> int:
        """Stores ratings, all of them or none; returns how many were new. A token counts once, the first time.

        Of a rater's ratings of a game the one with the latest time counts. One that was given before the rating that
        counts already is kept as history.

        Args:
            ratings: Each with the time when it was given.
            as_of_now: Tokens of those that are given now: they count, even if the clock has been set back.

        Raises:
            NotFoundError: One of the transcripts is not stored.
        """
        wanted = {rating.token: rating for rating in reversed(ratings)}
        with self._store.unit(write=True, join=True) as cursor:
            for transcript_id in {rating.transcript_id for rating in ratings}:
                require_transcript(cursor, transcript_id)
            stored = self.by_token(wanted)
            fresh = [rating for token, rating in reversed(wanted.items()) if token not in stored]
            # One statement for all: a sheet of 50,000 lines would else keep everybody from saving for minutes.
            ids = next_numbers(cursor, "rating_numbers", len(fresh))
            counting = _counting(cursor, fresh, frozenset(as_of_now))
            rows = [
                {"rating_id": number, **_row(rating), "is_past": rating.token not in counting}
                for number, rating in zip(ids, fresh, strict=True)
            ]
            append_rows(cursor, "ratings", rows)
            self._store.results.rewrite(sorted({one.transcript_id for one in fresh}), [ENGAGEMENT.name])
            cursor.execute("DELETE FROM drafts WHERE token IN (SELECT unnest(?::text[]))", [list(wanted)])
        return len(fresh)

    def by_token(self, tokens: Collection[str]) -> dict[str, Rating]:
        """The stored ratings among those that have these tokens."""
        query = f"SELECT {RATING_COLUMNS} FROM ratings WHERE token IN (SELECT unnest(?::text[]))"
        found = [rating_of(row) for row in self._store.rows(query, [list(tokens)])]
        return {rating.token: rating for rating in found}

    def by_rater(self, rater: str) -> list[Rating]:
        """The rater's newest rating of each transcript, the latest first."""
        query = f"SELECT {RATING_COLUMNS} FROM current_ratings WHERE rater = ? ORDER BY rating_id DESC"
        return self._select(query, rater_name(rater))

    def current(self) -> list[Rating]:
        """Each rater's newest rating of every transcript, raters in alphabetical order."""
        return self._select(f"SELECT {RATING_COLUMNS} FROM current_ratings WHERE ? ORDER BY rater, rating_id", True)

    def latest(self, transcript_id: str) -> list[Rating]:
        """Each rater's newest rating of the transcript, raters in alphabetical order."""
        return self._select(
            f"SELECT {RATING_COLUMNS} FROM current_ratings WHERE transcript_id = ? ORDER BY rater", transcript_id
        )

    def of_transcript(self, transcript_id: str) -> tuple[list[Rating], set[str]]:
        """Every rating of the transcript, revised ones too, in the order in which they were stored.

        Returns:
            The ratings, and the tokens of those that count: each rater's newest.
        """
        rows = self._store.rows(_OF_TRANSCRIPT, [transcript_id])
        ratings = [rating_of(row[:-1]) for row in rows]
        return ratings, {rating.token for rating, row in zip(ratings, rows, strict=True) if row[-1]}

    def every(self, rater: str | None = None) -> list[Rating]:
        """Every rating ever stored, or every one of that rater, in the order in which they were stored."""
        query = f"SELECT {RATING_COLUMNS} FROM {_LIVING} WHERE coalesce(rater = ?, true) ORDER BY rating_id"
        return self._select(query, None if rater is None else rater_name(rater))

    def all(self) -> pd.DataFrame:
        """Every rating ever stored, in that order.

        Returns:
            ``transcript_id``, ``rater``, ``score`` (1 to 5), ``answer_1`` to ``answer_5`` (empty: not answered),
            ``comment``, ``created_at`` (UTC), ``is_informed`` (see :class:`Rating`), ``is_latest`` (whether it is the
            rater's newest of that transcript).
        """
        return self._store.table(_ALL, {}, times=["created_at"])

    def rater_counts(self) -> dict[str, int]:
        """Number of raters of each transcript; unrated ones are missing."""
        return dict(self._store.rows("SELECT transcript_id, raters FROM engagement"))

    def assigned(self, rater: str, token: str) -> str | None:
        """The transcript that ``rater`` was given with that token; ``None`` when nobody was, or somebody else."""
        query = """SELECT transcript_id FROM assignments SEMI JOIN living_games USING (transcript_id)
            WHERE rater = ? AND token = ?"""
        return next((str(found) for (found,) in self._store.rows(query, [rater_name(rater), well_formed(token)])), None)

    def token(self, rater: str, transcript_id: str) -> str:
        """The opaque token for the form that ``rater`` fills in for the transcript.

        It stays the same until a rating with it is stored; then the next form, a revision, gets a new one.

        Raises:
            NotFoundError: The transcript is not stored.
            InputError: The rater's name cannot be used.
        """
        name = rater_name(rater)
        # Most desks are drawn with a game that was begun: those only read, and hold up no form that is being saved.
        with self._store.unit() as cursor:
            if (known := _open_token(cursor, name, transcript_id)) is not None:
                return known
        with self._store.unit(write=True, join=True) as cursor:
            if (known := _open_token(cursor, name, transcript_id)) is not None:
                return known
            token = uuid.uuid4().hex
            cursor.execute(
                "INSERT INTO assignments (token, rater, transcript_id) VALUES (?, ?, ?)", [token, name, transcript_id]
            )
        return token

    def desk_times(self) -> dict[tuple[str, str], DeskTime]:
        """By transcript and rater: the time of the first rating at the desk; what came from a sheet is missing.

        Revisions do not count: their forms come to the desk filled in.
        """
        return {(game, rater): DeskTime(*figures) for game, rater, *figures in self._store.rows(_DESK_TIMES)}

    def _select(self, query: str, value: object) -> list[Rating]:
        return [rating_of(row) for row in self._store.rows(query, [value])]


def _open_token(cursor: DuckDBPyConnection, name: str, transcript_id: str) -> str | None:
    require_transcript(cursor, transcript_id)
    found = cursor.execute(_OPEN_TOKEN, [name, transcript_id]).fetchone()
    return None if found is None else str(found[0])


def _counting(cursor: DuckDBPyConnection, fresh: Sequence[Rating], as_of_now: frozenset[str]) -> set[str]:
    """The tokens of those of the new ratings that count: at most one of each game and rater."""
    games = sorted({rating.transcript_id for rating in fresh})
    standing = {
        (transcript_id, rater): from_microseconds(given)
        for transcript_id, rater, given in cursor.execute(_STANDING, [games]).fetchall()
    }
    latest: dict[tuple[str, str], Rating] = {}
    for rating in fresh:
        held = latest.setdefault((rating.transcript_id, rating.rater), rating)
        if (rating.token in as_of_now, rating.created_at) >= (held.token in as_of_now, held.created_at):
            latest[rating.transcript_id, rating.rater] = rating
    return {
        rating.token
        for place, rating in latest.items()
        if rating.token in as_of_now or place not in standing or rating.created_at >= standing[place]
    }


def _row(rating: Rating) -> dict[str, object]:
    return {
        **picked(rating, "token", "transcript_id", "rater", "score", "comment", "is_informed"),
        "answers": list(rating.answers),
        "created_at": rating.created_at.astimezone(UTC),
    }


_STANDING = """
SELECT transcript_id, rater, epoch_us(created_at) FROM current_ratings
WHERE transcript_id IN (SELECT unnest(?::text[]))
"""

_ALL = f"""
SELECT transcript_id, rater, score, answers[1] AS answer_1, answers[2] AS answer_2, answers[3] AS answer_3,
       answers[4] AS answer_4, answers[5] AS answer_5, comment, timezone('UTC', created_at) AS created_at,
       is_informed,
       row_number() OVER (PARTITION BY transcript_id, rater ORDER BY coalesce(is_past, false), rating_id DESC) = 1
           AS is_latest
FROM {_LIVING} ORDER BY rating_id
"""

_OF_TRANSCRIPT = f"""
SELECT {RATING_COLUMNS}, row_number() OVER (PARTITION BY rater ORDER BY coalesce(is_past, false), rating_id DESC) = 1
FROM ratings WHERE transcript_id = ? ORDER BY rating_id
"""

_DESK_TIMES = f"""
SELECT transcript_id, r.rater, epoch(r.created_at - a.created_at), coalesce(words, 0)::int
FROM (FROM {_LIVING} QUALIFY row_number() OVER (PARTITION BY transcript_id, rater ORDER BY rating_id) = 1) r
JOIN assignments a USING (token, transcript_id)
LEFT JOIN (
    SELECT transcript_id, sum(len(regexp_extract_all(text, '\\S+'))) AS words FROM messages SEMI JOIN ratings
    USING (transcript_id) WHERE channel = 'public' AND NOT is_control GROUP BY transcript_id
) USING (transcript_id)
"""

_OPEN_TOKEN = """
SELECT token FROM assignments
WHERE rater = ? AND transcript_id = ? AND token NOT IN (SELECT token FROM ratings)
ORDER BY created_at LIMIT 1
"""


def rating_of(values: tuple[Any, ...]) -> Rating:
    """The rating in a row of ``RATING_COLUMNS``."""
    transcript_id, rater, score, answers, comment, created_at, *rest = values
    return Rating(transcript_id, rater, score, tuple(answers), comment, from_microseconds(created_at), *rest)


@dataclass(frozen=True, slots=True)
class FormDraft:
    """A half-filled form. ``revision`` counts its changes, so that the newer of two is known."""

    revision: int
    body: dict[str, Any]


class Drafts(UnitsPart):
    """Keeps one draft per token."""

    def save(self, token: str, revision: int, body: dict[str, Any]) -> bool:
        """Stores a draft; false when it is refused.

        It is refused when nobody was given that token, when the form was submitted, or when a newer draft is stored.
        """
        packed = json.dumps(body, ensure_ascii=True, allow_nan=False)
        values = {"token": token, "revision": revision, "body": packed}
        return bool(self._units.write(_SAVE, values))

    def load(self, token: str) -> FormDraft | None:
        """The draft stored for the token, if there is one."""
        found = self._units.rows("SELECT revision, body FROM drafts WHERE token = ?", [token])
        return FormDraft(int(found[0][0]), json.loads(found[0][1])) if found else None

    def begun(self) -> set[tuple[str, str]]:
        """Transcript and rater of each form that was begun and not submitted."""
        query = """SELECT transcript_id, rater FROM assignments JOIN drafts USING (token)
            SEMI JOIN living_games USING (transcript_id)"""
        return {(str(game), str(rater)) for game, rater in self._units.rows(query)}


_SAVE = """
INSERT INTO drafts (token, revision, body)
SELECT $token, $revision, $body
WHERE $token IN (SELECT token FROM assignments SEMI JOIN living_games USING (transcript_id))
    AND $token NOT IN (SELECT token FROM ratings)
ON CONFLICT (token) DO UPDATE SET revision = excluded.revision, body = excluded.body, updated_at = now(),
    touched = excluded.touched
WHERE drafts.revision < excluded.revision
RETURNING token
"""


_FEWEST_SCORES = 2


class EngagementDecisions(StorePart):
    """Stores and reads the scores that count in place of ratings."""

    def add(self, transcript_id: str, score: float, *, who: str, reason: str) -> int:
        """Decides the score of a game whose raters gave different ones; returns the decision's number.

        The latest decision of a game that was not undone counts.

        Raises:
            NotFoundError: The transcript is not stored.
            InputError: The score is not on the scale, or nobody or no reason is named.
            ConflictError: The raters do not differ, or fewer than two have rated it.
        """
        name, given, said = rater_name(who), checked_score(score), reason.strip()
        require_text(reason=said)
        if len(said) > MAX_COMMENT_LENGTH:
            raise InputError(
                f"{len(said)} characters are too many.", place="reason", remedy=f"Stay within {MAX_COMMENT_LENGTH}."
            )
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            if len(cursor.execute(_SCORES, [transcript_id]).fetchall()) < _FEWEST_SCORES:
                raise ConflictError(
                    "Nothing is disputed: no two raters gave that game different scores.",
                    remedy="Have somebody else rate it, or send a rating back.",
                )
            made = cursor.execute(_INSERT_ENGAGEMENT_DECISIONS, [transcript_id, given, name, said]).fetchone()
            self._store.results.rewrite([transcript_id], [ENGAGEMENT.name])
        assert made is not None
        return int(made[0])

    def undo(self, decision_id: int, *, who: str) -> None:
        """Takes a decision back; an earlier one of the game counts again, or else the ratings. Both stay on record.

        Raises:
            NotFoundError: There is no such decision.
            ConflictError: It was undone before.
            InputError: Nobody is named.
        """
        name = rater_name(who)
        with self._store.unit(write=True, join=True) as cursor:
            given = {"who": name, "reason": ""}
            taken = take_back(cursor, "engagement_decisions", "decision", decision_id, "transcript_id", given)
            self._store.results.rewrite(taken, [ENGAGEMENT.name])

    def current(self, transcript_id: str | None = None) -> dict[str, EngagementDecision]:
        """The decision that counts of each stored transcript that has one, or of one transcript."""
        return {one.transcript_id: one for one in self.list(transcript_id) if one.undone_at is None}

    def list(self, transcript_id: str | None = None) -> list[EngagementDecision]:
        """Every decision on stored transcripts, or on one, undone ones too, in the order in which they were made."""
        rows = self._store.rows(_SELECT, {"transcript": transcript_id})
        return [
            EngagementDecision(
                number,
                game,
                checked_score(score),
                who,
                reason,
                from_microseconds(at),
                undone_by,
                maybe_from_microseconds(undone_at),
            )
            for number, game, score, who, reason, at, undone_by, undone_at in rows
        ]


_SCORES = "SELECT DISTINCT score FROM current_ratings WHERE transcript_id = ?"

_INSERT_ENGAGEMENT_DECISIONS = """
INSERT INTO engagement_decisions (transcript_id, score, who, reason) VALUES (?, ?, ?, ?) RETURNING decision_id
"""

_SELECT = """
SELECT d.decision_id, d.transcript_id, d.score, d.who, d.reason, epoch_us(d.created_at), u.who, epoch_us(u.created_at)
FROM engagement_decisions d SEMI JOIN living_games USING (transcript_id)
LEFT JOIN engagement_decisions u ON u.undoes = d.decision_id
WHERE d.undoes IS NULL AND ($transcript::text IS NULL OR d.transcript_id = $transcript) ORDER BY d.decision_id
"""
