"""Import a sheet of ratings: all of its rows or none, and no rating twice."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from evaluation.files.strict_json import parse_json
from evaluation.rating_desk.annotation_tools import is_annotation_export, sheet_of_annotations
from evaluation.rating_desk.sheet_format import Sheet, SheetProblem, read_sheet, write_sheet
from evaluation.ratings import Rating
from evaluation.readers.document import decode
from evaluation.store import Store

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SheetImport:
    """Outcome of importing a sheet.

    Attributes:
        added: How many ratings were new and are stored; 0 with any problem.
        known: How many were stored before, unchanged.
        blank: How many rows have no score.
        flagged: How many of the new ones say yes four times or more and yet score below 3.
    """

    added: int = 0
    known: int = 0
    blank: int = 0
    flagged: int = 0
    problems: tuple[SheetProblem, ...] = ()


def import_ratings(
    store: Store, data: bytes, *, rater: str | None = None, is_own: bool = False, is_dry: bool = False
) -> SheetImport:
    """Stores the ratings of a CSV file in one transaction: all of them, or none where a line cannot be used.

    Exports of Label Studio and Argilla as JSON are read too, as a sheet with a row for each answer of a person: a
    problem's line counts these rows, from 2.

    The same file again adds nothing. A row without a time says what the rater thinks now, and is a revision where what
    counts says otherwise; one with a time is history unless it is the latest.

    Args:
        store: Where to.
        data: The file.
        rater: Whose ratings they are where the sheet does not say.
        is_own: Refuse rows of anybody but ``rater``.
        is_dry: Only say what would become of it.
    """
    if is_annotation_export(data):
        data = sheet_of_annotations(parse_json(decode(data), store.settings.limits()))
    # The file is read before the database is taken: everybody else would wait for it.
    sheet = read_sheet(data, store.transcripts.game_ids(), now=datetime.now(UTC), rater=rater, is_own=is_own)
    if problems := [*sheet.problems, *_rivals(sheet)]:
        return SheetImport(blank=sheet.blank, problems=tuple(sorted(problems, key=lambda one: one.line)))
    # Raters may write ratings, and nothing else is written here.
    with store.unguarded().unit(write=not is_dry):
        fresh = _fresh(store, sheet)
        if not is_dry:
            said_now = [rating.token for rating in fresh if rating.created_at == sheet.read_at]
            store.ratings.add_many(fresh, as_of_now=said_now)
    flagged = sum(rating.breaks_one_way_rule for rating in fresh)
    return SheetImport(len(fresh), len(sheet.ratings) - len(fresh), sheet.blank, flagged)


def export_ratings(store: Store, *, rater: str | None = None) -> str:
    """Every rating of stored games as CSV, revised ones included; of one rater only, where one is named."""
    with store.unit():
        names = store.transcripts.game_ids()
        ratings = store.ratings.every(rater)
    return write_sheet([rating for rating in ratings if rating.transcript_id in names], names)


def _fresh(store: Store, sheet: Sheet) -> list[Rating]:
    """The ratings that say something new.

    One with a time is known when the rater said the same then; one without when what counts already says the same.
    """
    places = {_place(rating) for _, rating in sheet.ratings}
    known = {(rating.created_at, *_content(rating)) for rating in _stored(store, places)}
    counting = _latest(store, places)
    fresh = []
    # Those with a time first: the latest of them may be what counts.
    for _, rating in sorted(sheet.ratings, key=lambda row: row[1].created_at == sheet.read_at):
        said, current = (rating.created_at, *_content(rating)), counting.get(_place(rating))
        is_known = said in known or (
            rating.created_at == sheet.read_at and current is not None and _content(current) == _content(rating)
        )
        if not is_known:
            known.add(said)
            fresh.append(rating)
            if current is None or rating.created_at > current.created_at:
                counting[_place(rating)] = rating
    return fresh


def _stored(store: Store, places: Collection[Place]) -> list[Rating]:
    """Every rating by the raters of these places."""
    raters = {rater for _, rater in places}
    return store.ratings.every(next(iter(raters))) if len(raters) == 1 else store.ratings.every()


def _latest(store: Store, places: Collection[Place]) -> dict[Place, Rating]:
    """The rating that counts of each game and rater, asked for by game or by rater, whichever are fewer."""
    games, raters = {game for game, _ in places}, {rater for _, rater in places}
    if len(games) < len(raters):
        found = [rating for game in games for rating in store.ratings.latest(game)]
    else:
        found = [rating for rater in raters for rating in store.ratings.by_rater(rater)]
    return {_place(rating): rating for rating in found}


def _place(rating: Rating) -> Place:
    return rating.transcript_id, rating.rater


def _rivals(sheet: Sheet) -> list[SheetProblem]:
    """Rows of one rater about one game at one time: nobody could say which of them counts."""
    found = []
    first: dict[tuple[object, ...], tuple[int, Rating]] = {}
    for line, rating in sheet.ratings:
        earlier, held = first.setdefault((*_place(rating), rating.created_at), (line, rating))
        if _content(held) != _content(rating):
            found.append(
                SheetProblem(
                    line,
                    "",
                    rating.rater,
                    f"has rated this game otherwise on line {earlier}.",
                    "Keep one of the two lines, or fill in when each was given: the later one counts.",
                )
            )
    return found


def _content(rating: Rating) -> tuple[object, ...]:
    return rating.transcript_id, rating.rater, rating.score, rating.answers, rating.comment
