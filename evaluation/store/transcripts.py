"""Transcripts in the store: each is added whole, in one transaction, and is read back unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from evaluation.errors import ConflictError, InputError, NotFoundError
from evaluation.escaping import well_formed
from evaluation.store._bulk_rows import append_rows, marks, next_numbers, require_text
from evaluation.store.transactions import StorePart, UnitsPart
from evaluation.store.transcript_rows import TranscriptRows, metadata_of, unpack
from evaluation.text.tokens import pattern, phrases
from evaluation.transcript import SIMULATED_FORMAT, Transcript

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from evaluation.engines.scoring import ScoreFailure


SHORTEST_PREFIX = 4
LONGEST_GAME_NAME = 200

_ITERATIONS = "See them with: dramaturg iterations; make one with: dramaturg iterations create NAME."


def simulated(summaries: pd.DataFrame) -> pd.Series[bool]:
    """Whether each game is a simulated conversation of no iteration: it counts nowhere but in its own views.

    Args:
        summaries: As ``Transcripts.summaries`` returns them; its ``iteration`` is empty for none.
    """
    is_loose = summaries["iteration"].isna() | (summaries["iteration"] == "")
    return (summaries["source_format"] == SIMULATED_FORMAT) & is_loose


@dataclass(frozen=True, slots=True)
class Added:
    """Outcome of storing a transcript.

    Attributes:
        is_new: False when the same content was stored before; nothing was changed then, unless ``is_restored``.
        iteration: The iteration that it belongs to now, ``None`` for none.
        is_restored: True when it had been deleted: it is back, with its results, ratings and overrides.
        failures: The metrics of a new one that could not be computed, where it was scored as well.
    """

    transcript_id: str
    is_new: bool
    iteration: str | None = None
    is_restored: bool = False
    failures: tuple[ScoreFailure, ...] = ()


class Transcripts(StorePart):
    """Adds, finds, lists and renames transcripts. ``Deletions`` deletes them."""

    def add(self, transcript: Transcript, *, source_name: str, iteration: str | None = None) -> Added:
        """Stores one transcript.

        Args:
            transcript: What to store.
            source_name: The file or folder as the person knows it.
            iteration: Name of an iteration that exists; ``None`` leaves the transcript outside all of them.

        Raises:
            NotFoundError: There is no such iteration.
        """
        return self.add_many([(transcript, source_name)], iteration=iteration)[0]

    def add_many(
        self, items: Iterable[tuple[Transcript | TranscriptRows, str]], *, iteration: str | None = None
    ) -> list[Added]:
        """Stores transcripts, packed or not, with their source names in one transaction: all of them or none.

        One that was deleted comes back as it was, into ``iteration`` where one is named, else to where it was.

        Returns:
            One ``Added`` per item, in the order given. The second of two with the same content is not new.

        Raises:
            NotFoundError: There is no such iteration.
        """
        given = list(items)
        ids = [transcript.id for transcript, _ in given]
        with self._store.unit(write=True, join=True) as cursor:
            number = require_iteration(cursor, iteration)
            restored = _restore(cursor, ids, iteration)
            known = iterations_of(cursor, ids)
            fresh: dict[str, TranscriptRows] = {}
            for transcript, source_name in given:
                if transcript.id not in known and transcript.id not in fresh:
                    rows = TranscriptRows.of(transcript) if isinstance(transcript, Transcript) else transcript
                    source = {"source_name": well_formed(source_name), "iteration_number": number}
                    fresh[transcript.id] = replace(rows, own=rows.own | source)
            _insert(cursor, list(fresh.values()))
            self._store.results.begin(list(fresh))
        return [
            Added(key, fresh.pop(key, None) is not None, known.get(key, iteration), restored.pop(key, False))
            for key in ids
        ]

    def get(self, transcript_id: str) -> Transcript:
        """The transcript with that full id, equal to the one that was added.

        Raises:
            NotFoundError: There is none.
        """
        return self.get_many([transcript_id])[0]

    def get_many(self, transcript_ids: Iterable[str]) -> list[Transcript]:
        """The transcripts with these full ids, in their order, each equal to the one that was added.

        Raises:
            NotFoundError: One of them is not there.
        """
        ids = [well_formed(each) for each in transcript_ids]
        query = f"SELECT transcript_id, document FROM transcripts WHERE transcript_id IN ({marks(ids)})"
        documents = dict(self._store.rows(query, ids))
        for each in ids:
            if each not in documents:
                raise unknown_transcript(each)
        # Building messages takes many times as long as reading them, and other processes wait for the file meanwhile.
        return [unpack(documents[each]) for each in ids]

    def name(self, transcript_id: str) -> str:
        """The name by which people know the game, as :meth:`game_names` gives it.

        Raises:
            NotFoundError: There is no transcript of that full id.
        """
        with self._store.unit() as cursor:
            require_transcript(cursor, transcript_id)
            return str(_value(cursor, "game", transcript_id, f"({GAME_NAMES})"))

    def introductions(self) -> dict[str, tuple[str, str]]:
        """The names of each transcript's players, one a line, and the beginning of its first public message.

        By transcript; untrusted text. The message comes with its speaker, and is empty where there is none.
        """
        query = "SELECT transcript_id, array_to_string(player_names, chr(10)), opening FROM transcripts"
        return {str(key): (names, opening) for key, names, opening in self._store.rows(query)}

    def alignments(self, transcript_ids: Collection[str]) -> dict[tuple[str, str], str]:
        """The side of every player of these games whose side is known, by transcript and name."""
        query = """SELECT transcript_id, name, alignment FROM players
            WHERE alignment IS NOT NULL AND transcript_id IN (SELECT unnest(?::text[]))"""
        found = self._store.rows(query, [list(transcript_ids)])
        return {(key, who): side for key, who, side in found}

    def metadata(self, transcript_ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """The metadata of these games, without building their messages."""
        ids = list(transcript_ids)
        query = f"SELECT transcript_id, document FROM transcripts WHERE transcript_id IN ({marks(ids)})"
        documents = self._store.rows(query, ids)
        return {key: metadata_of(document) for key, document in documents}

    def ids(self, iteration: str | None = None) -> list[str]:
        """The ids of the stored transcripts, in the order in which they were put into their iteration.

        Args:
            iteration: Only its transcripts; ``None`` for all.

        Raises:
            NotFoundError: There is no iteration of that name.
        """
        return list(self.game_ids(iteration))

    def added_since(self, moment: datetime) -> list[str]:
        """The ids of transcripts that were added at that moment or later, in order."""
        query = "SELECT transcript_id FROM transcripts WHERE added_at >= ? ORDER BY position"
        return [str(found) for (found,) in self._store.rows(query, [moment])]

    def count(self) -> int:
        """Number of stored transcripts."""
        return int(self._store.rows("SELECT count(*) FROM transcripts")[0][0])

    def game_names(self, iteration: str | None = None) -> dict[str, str]:
        """The names by which people know the games, by transcript id; order, arguments and errors as for ``ids``.

        "Game 2 · Prompt v1" is the second that was put into its iteration. Outside all iterations it is the title that
        the file or a person gave; where that only holds an id, the file's name, else "Game 3" or
        "Simulated conversation 1". Untrusted text.
        """
        return self._by_id("game", iteration)

    def game_ids(self, iteration: str | None = None) -> dict[str, str]:
        """The title that its file or a person gave each game; otherwise as :meth:`game_names`."""
        return self._by_id("game_id", iteration)

    def _by_id(self, column: str, iteration: str | None) -> dict[str, str]:
        query = f"""SELECT transcript_id, {column} FROM transcripts JOIN ({GAME_NAMES}) USING (transcript_id)
            WHERE $iteration::text IS NULL OR iteration = $iteration ORDER BY position"""
        with self._store.unit() as cursor:
            require_iteration(cursor, iteration)
            return dict(cursor.execute(query, {"iteration": iteration and well_formed(iteration)}).fetchall())

    def resolve(self, reference: str) -> str:
        """The id of the transcript that a person means by its id, its game id, its name, its file, or the first 4 or
        more digits of its id.

        Raises:
            NotFoundError: No transcript answers to it.
            ConflictError: Several do.
        """
        query = f"""
            SELECT transcript_id, transcript_id = $ref, game_id = $ref OR game = $ref OR source_name = $ref
            FROM transcripts JOIN ({GAME_NAMES}) USING (transcript_id)
            WHERE game_id = $ref OR game = $ref OR source_name = $ref
                OR (len($ref) >= $shortest AND starts_with(transcript_id, $ref))"""
        found = self._store.rows(query, {"ref": well_formed(reference), "shortest": SHORTEST_PREFIX})
        for candidates in ([i for i, is_id, _ in found if is_id], [i for i, _, is_game in found if is_game]):
            if len(candidates) == 1:
                return str(candidates[0])
        if len(found) == 1:
            return str(found[0][0])
        if found:
            raise _ambiguous(reference, sorted(str(row[0]) for row in found))
        alike = self._store.rows(f"{_ALIKE} ({GAME_NAMES}) {_NEAREST}", {"ref": well_formed(reference)})
        raise unknown_transcript(reference, [str(name) for (name,) in alike])

    def summaries(self, iteration: str | None = None) -> pd.DataFrame:
        """The stored transcripts without their text, in the order in which they were put into their iteration.

        Returns:
            One row per transcript: ``transcript_id``, ``game`` (its name, see :meth:`game_names`), ``game_id``,
            ``source_format``, ``source_name``, ``iteration`` (empty for none), ``position`` (within the iteration,
            from 0), ``players`` and ``messages`` (counts), ``total_usd`` and ``cache_hit_rate`` (0 to 1; empty where
            nothing was recorded), ``added_at`` (UTC).
        """
        values = {"iteration": iteration and well_formed(iteration)}
        return self._store.table(_SUMMARIES, values, times=["added_at"])

    def originals(self, among: Sequence[str] = (), *, beside: Sequence[Transcript] = ()) -> dict[str, str]:
        """The earliest game of the iterations that a later one of the same players repeats, by the later one's id.

        The games ``among`` which to look, by id, need no iteration. Those ``beside`` are not stored: they are looked at
        after all stored ones.

        A game repeats another where four fifths of its messages of at least 20 bytes, and 5 or more, are there as well.
        """
        said = [(game.id, one.speaker, one.text) for game in beside for one in game.messages if not one.is_control]
        given = [(game.id, [player.name for player in game.players]) for game in beside]
        values = {"among": list(among), "ids": [key for key, _ in given], "names": [names for _, names in given]}
        columns = ("lines", "speakers", "texts")
        values |= {name: [line[place] for line in said] for place, name in enumerate(columns)}
        first: dict[str, str] = {}
        for ((earlier, later),) in self._store.rows(_REPEATS, values):
            first.setdefault(later, first.get(earlier, earlier))
        return first

    def rename(self, transcript_id: str, name: str | None) -> str:
        """Changes the title of a game; returns the new one.

        People find it by its title, and see it by that outside iterations (see :meth:`game_names`). What was read
        stays as it was read, in exports too, so that the same file is recognised again.

        Args:
            transcript_id: The full id.
            name: The new name; ``None`` returns to the one that the file gave.

        Raises:
            NotFoundError: There is no such transcript.
            InputError: The name is blank, too long, or not valid UTF-8.
        """
        chosen = self.get(transcript_id).game_id if name is None else _game_name(name)
        with self._store.unit(write=True, join=True) as cursor:
            require_transcript(cursor, transcript_id)
            cursor.execute("UPDATE stored_transcripts SET game_id = ? WHERE transcript_id = ?", [chosen, transcript_id])
        return chosen


def _game_name(name: str) -> str:
    require_text(name=name)
    if len(name) > LONGEST_GAME_NAME:
        raise InputError(
            f"The name has {len(name)} characters.", place="name", remedy=f"Give at most {LONGEST_GAME_NAME}."
        )
    return name.strip()


MOVE = """
UPDATE stored_transcripts SET position = nextval('transcript_numbers'),
    iteration_number = (SELECT position FROM iterations WHERE name = $iteration)
WHERE transcript_id IN (
    SELECT transcript_id FROM transcripts WHERE transcript_id = $transcript AND iteration IS DISTINCT FROM $iteration)
"""
"""Puts a transcript into an iteration, after the games it has; leaves it alone where it is there already."""

_BY_ADDING = "added again"

_DELETED = """
SELECT transcript_id FROM stored_transcripts WHERE deletion_id IS NOT NULL AND list_contains(?::text[], transcript_id)
"""
_RESTORE = "UPDATE stored_transcripts SET deletion_id = NULL WHERE list_contains(?::text[], transcript_id)"
_END_EMPTY = """
UPDATE deletions SET ended = 'undone', ended_by = ?, ended_at = now()
WHERE kind = 'games' AND ended IS NULL AND deletion_id NOT IN (
    SELECT deletion_id FROM stored_transcripts WHERE deletion_id IS NOT NULL)
"""

GAME_NAMES = r"""
SELECT transcript_id, CASE
    WHEN iteration IS NOT NULL THEN concat('Game ', number, ' · ', iteration)
    WHEN trim(game_id) <> '' AND NOT regexp_matches(game_id, raw_id) THEN game_id
    WHEN trim(stem) <> '' AND NOT regexp_matches(stem, raw_id) THEN stem
    WHEN source_format = 'simulation' THEN concat('Simulated conversation ', among_its_format)
    ELSE concat('Game ', number) END AS game
FROM (
    SELECT transcript_id, iteration, game_id, parse_filename(source_name, true) AS stem,
        row_number() OVER (PARTITION BY iteration ORDER BY position) AS number, source_format,
        row_number() OVER (PARTITION BY iteration, source_format ORDER BY position) AS among_its_format,
        '(?i)[0-9a-f]{8,}|\d{6,}' AS raw_id
    FROM transcripts)
"""
"""Each transcript's id and ``game``, the name by which people know it; see :meth:`Transcripts.game_names`."""

_SUMMARIES = f"""
SELECT transcript_id, game, game_id, source_format, source_name, iteration,
       (row_number() OVER (PARTITION BY iteration ORDER BY position) - 1)::integer AS position,
       players, messages, total_usd, cache_hit_rate, timezone('UTC', added_at) AS added_at
FROM transcripts JOIN ({GAME_NAMES}) USING (transcript_id)
WHERE $iteration::text IS NULL OR iteration = $iteration
ORDER BY transcripts.position
"""


# A game is looked at beside one other: of those that were the first to hold its messages, the one with most of them.
_REPEATS = """
WITH played AS (
    SELECT transcript_id, position FROM (
        SELECT transcript_id, position, player_names FROM transcripts
        WHERE iteration IS NOT NULL OR len($ids) > 0 OR list_contains($among::text[], transcript_id)
        UNION ALL
        SELECT unnest($ids::text[]), 1e15::bigint + unnest(range(len($ids))), unnest($names::text[][]))
    QUALIFY count(*) OVER (PARTITION BY list_sort(player_names)) > 1
), said AS MATERIALIZED (
    SELECT DISTINCT transcript_id, played.position, hash(speaker, text) AS line
    FROM (
        SELECT transcript_id, speaker, text FROM messages WHERE NOT is_control
        UNION ALL
        SELECT unnest($lines::text[]), unnest($speakers::text[]), unnest($texts::text[])
    ) JOIN played USING (transcript_id) WHERE strlen(text) >= 20
), shared AS (
    SELECT line, arg_min(transcript_id, position, 2) AS games FROM said GROUP BY line HAVING count(*) > 1
), likely AS (
    SELECT transcript_id, count(*) AS lines, mode(games[if(games[1] = transcript_id, 2, 1)]) AS other
    FROM said LEFT JOIN shared USING (line) GROUP BY transcript_id
    HAVING lines >= 5 AND count(games) >= 0.8 * lines
)
SELECT if(a.position < b.position, [transcript_id, other], [other, transcript_id]) AS pair
FROM likely JOIN said a USING (transcript_id) JOIN said b ON b.line = a.line AND b.transcript_id = other
GROUP BY transcript_id, other, lines, a.position, b.position HAVING count(*) >= 0.8 * lines
ORDER BY greatest(a.position, b.position), pair
"""


def require_transcript(cursor: DuckDBPyConnection, transcript_id: str) -> None:
    """Raises ``NotFoundError`` unless the transcript is stored."""
    _value(cursor, "1", transcript_id, "living_games")


def take_back(
    cursor: DuckDBPyConnection, table: str, what: str, number: int, copied: str, given: Mapping[str, str]
) -> tuple[Any, ...]:
    """Adds the row that takes another one back to an append-only table; returns the columns that both have.

    Args:
        cursor: Of a writing unit.
        table: Where.
        what: What its rows are called; with ``_id`` the column with their numbers.
        number: Of the row.
        copied: The columns that are the same in both.
        given: The other columns: who takes it back.

    Raises:
        NotFoundError: There is no such row.
        ConflictError: It was taken back before.
    """
    found = cursor.execute(
        f"""SELECT {copied}, EXISTS (FROM {table} u WHERE u.undoes = o.{what}_id)
            FROM {table} o SEMI JOIN living_games USING (transcript_id) WHERE {what}_id = ? AND undoes IS NULL""",
        [number],
    ).fetchone()
    if found is None:
        raise NotFoundError(f"There is no {what} {number}.")
    *columns, is_undone = found
    if is_undone:
        raise ConflictError(f"The {what} {number} was undone before.")
    cursor.execute(
        f"""INSERT INTO {table} ({copied}, {", ".join(given)}, undoes)
            SELECT {copied}, {marks([*given])}, {what}_id FROM {table} WHERE {what}_id = ?""",
        [*given.values(), number],
    )
    return tuple(columns)


def _value(cursor: DuckDBPyConnection, column: str, transcript_id: str, table: str = "transcripts") -> Any:
    query = f"SELECT {column} FROM {table} WHERE transcript_id = ?"
    found = cursor.execute(query, [well_formed(transcript_id)]).fetchone()
    if found is None:
        raise unknown_transcript(transcript_id)
    return found[0]


def require_iteration(cursor: DuckDBPyConnection, name: str | None) -> int | None:
    """The number of the iteration; ``None`` stands for no iteration.

    Raises:
        NotFoundError: There is none of that name.
    """
    if name is None:
        return None
    found = cursor.execute("SELECT position FROM iterations WHERE name = ?", [well_formed(name)]).fetchone()
    if found is None:
        raise unknown_iteration(name, [one for (one,) in cursor.execute("SELECT name FROM iterations").fetchall()])
    return int(found[0])


def unknown_iteration(name: str, known: Sequence[str]) -> NotFoundError:
    """The error for a name that no iteration has."""
    from evaluation.files.yaml_files import did_you_mean  # reads YAML, which few commands need

    return NotFoundError(f"No iteration has the whole name {name!r}.{did_you_mean(name, known)}", remedy=_ITERATIONS)


def deleted_ones(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> set[str]:
    """The deleted ones among the transcripts: adding them again brings them back."""
    return {str(key) for (key,) in cursor.execute(_DELETED, [list(transcript_ids)]).fetchall()}


def restore(cursor: DuckDBPyConnection, transcript_ids: Collection[str], who: str) -> None:
    """Brings deleted transcripts back to where they were.

    One whose iteration is deleted stays outside all of them until that comes back. A deletion of games of which none
    is left counts as undone.
    """
    cursor.execute(_RESTORE, [list(transcript_ids)])
    cursor.execute(_END_EMPTY, [who])


def _restore(cursor: DuckDBPyConnection, transcript_ids: Sequence[str], iteration: str | None) -> dict[str, bool]:
    found = deleted_ones(cursor, transcript_ids)
    if found:
        restore(cursor, found, _BY_ADDING)
    for transcript_id in found if iteration is not None else ():
        cursor.execute(MOVE, {"transcript": transcript_id, "iteration": iteration})
    return dict.fromkeys(found, True)


def _insert(cursor: DuckDBPyConnection, transcripts: Sequence[TranscriptRows]) -> None:
    numbers = next_numbers(cursor, "transcript_numbers", len(transcripts))
    own = [rows.own | {"position": number} for rows, number in zip(transcripts, numbers, strict=True)]
    append_rows(cursor, "stored_transcripts", own)
    for table in transcripts[0].children if transcripts else ():
        append_rows(cursor, table, (row for rows in transcripts for row in rows.children[table]))


def iterations_of(cursor: DuckDBPyConnection, transcript_ids: Sequence[str]) -> dict[str, str | None]:
    """The stored ones among the transcripts, with their iterations."""
    query = f"SELECT transcript_id, iteration FROM transcripts WHERE transcript_id IN ({marks(transcript_ids)})"
    return dict(cursor.execute(query, list(transcript_ids)).fetchall())


def unknown_transcript(reference: str, alike: Sequence[str] = ()) -> NotFoundError:
    """The error for a ``reference`` that no stored transcript has, with the nearest of those that are ``alike``."""
    from evaluation.files.yaml_files import did_you_mean  # reads YAML, which few commands need

    message = f"No stored transcript is called {reference!r}.{did_you_mean(reference, alike)}"
    return NotFoundError(message, remedy="See them with: dramaturg list.")


_ALIKE = """
SELECT name FROM (SELECT unnest([game_id, game, source_name, transcript_id]) AS name FROM transcripts JOIN
"""
_NEAREST = "USING (transcript_id)) ORDER BY jaro_winkler_similarity(name, $ref) DESC, name LIMIT 20"


def _ambiguous(reference: str, candidates: Sequence[str]) -> ConflictError:
    return ConflictError(
        f"{reference!r} could be any of {len(candidates)} transcripts: {', '.join(candidates[:5])}.",
        remedy="Give more of the id.",
    )


MOST_FOUND = 200


@dataclass(frozen=True, slots=True)
class FoundMessages:
    """The answer to a search.

    Attributes:
        phrases: What every message found holds, in any case.
        total: How many messages do.
        games: In how many transcripts.
        table: The first of them, in the order of the transcripts and within each as they were said:
            ``transcript_id``, ``message_id``, ``game`` (its name), ``iteration`` (empty for none), ``number`` (place of
            the message in its transcript, from 1), ``round`` (empty where unknown), ``speaker``, ``text``.
    """

    phrases: tuple[str, ...]
    total: int
    games: int
    table: pd.DataFrame


class MessageSearch(UnitsPart):
    """Searches messages. Words to the game engine ("Skip") are not found: nobody reads them."""

    def search(
        self,
        query: str,
        *,
        iteration: str | None = None,
        within: Sequence[str] | None = None,
        limit: int = MOST_FOUND,
    ) -> FoundMessages:
        """The messages that hold every word of ``query``, and every phrase that stands in it in double quotes.

        Upper and lower case are the same. A word is found inside longer ones, too: "vote" finds "voted".

        Args:
            query: Such as ``doctor "voted for"``.
            iteration: Only in its transcripts; ``None`` for all.
            within: Only in the transcripts of these ids; ``None`` for all.
            limit: How many messages the table holds at most.

        Raises:
            InputError: The query holds no word, or more than 20.
            NotFoundError: There is no such iteration.
        """
        wanted = phrases(well_formed(query))
        values: dict[str, object] = {f"pattern_{place}": pattern(phrase) for place, phrase in enumerate(wanted)}
        values |= {
            "iteration": None if iteration is None else well_formed(iteration),
            "within": None if within is None else list(within),
            "limit": limit,
        }
        matches = " AND ".join(f"regexp_matches(text, $pattern_{place})" for place in range(len(wanted)))
        with self._units.unit() as cursor:
            require_iteration(cursor, iteration)
            table = self._units.table(_SEARCH.format(matches=matches, names=GAME_NAMES), values)
        total, games = (int(table[name].iloc[0]) if len(table) else 0 for name in ("total", "games"))
        return FoundMessages(wanted, total, games, table.drop(columns=["total", "games"]).astype({"round": "Int64"}))

    def mean_words(self, iteration: str) -> dict[str, float]:
        """The mean number of words of a public message of a player, by game of an iteration that has any."""
        return {str(key): float(mean) for key, mean in self._units.rows(_MEAN_WORDS, [iteration])}

    def texts(self, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The texts of messages, by transcript and message; those that are not stored are left out."""
        columns = [[place[0] for place in places], [place[1] for place in places]]
        return {(key, message): text for key, message, text in self._units.rows(_TEXTS, columns)}


_MEAN_WORDS = """
SELECT transcript_id, avg(len(regexp_extract_all(text, '\\S+')))
FROM messages JOIN transcripts USING (transcript_id)
WHERE iteration = ? AND channel = 'public' AND NOT is_control AND trim(text) <> ''
GROUP BY transcript_id ORDER BY transcript_id
"""

_TEXTS = """
SELECT transcript_id, message_id, text FROM messages
WHERE (transcript_id, message_id) IN (SELECT unnest(?::text[]), unnest(?::text[]))
"""

# The texts are read once to find out which match, and only those that are shown are read again.
_SEARCH = """
WITH found AS MATERIALIZED (
    SELECT messages.rowid AS place, transcripts.position AS added, messages.position, transcript_id, iteration
    FROM messages JOIN transcripts USING (transcript_id)
    WHERE ($iteration::text IS NULL OR iteration = $iteration)
      AND ($within::text[] IS NULL OR list_contains($within, transcript_id))
      AND NOT is_control AND {matches}
), shown AS (SELECT * FROM found ORDER BY added, position LIMIT $limit)
SELECT shown.transcript_id, message_id, game, iteration, shown.position + 1 AS number, round, speaker, text,
       (SELECT count(*) FROM found) AS total, (SELECT count(DISTINCT transcript_id) FROM found) AS games
FROM shown JOIN messages ON messages.rowid = shown.place
JOIN ({names}) names ON names.transcript_id = shown.transcript_id
ORDER BY added, shown.position
"""
