"""Import a sheet of ratings: all of its rows or none, and no rating twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from evaluation.files.strict_json import parse_json
from evaluation.rating_desk.annotation_tools import is_annotation_export, sheet_of_annotations
from evaluation.rating_desk.sheet_format import Sheet, SheetProblem, read_sheet, revision_token, write_sheet
from evaluation.ratings import Rating
from evaluation.readers.base.document import decode
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

    The same file again adds nothing. A row whose token is stored, but otherwise, is a problem and no revision. A row
    without token and time says what the rater thinks now: said before and revised since, it is a revision again.

    Args:
        store: Where to.
        data: The file.
        rater: Whose ratings they are where the sheet does not say.
        is_own: Refuse rows of anybody but ``rater``.
        is_dry: Only say what would become of it.
    """
    if is_annotation_export(data):
        data = sheet_of_annotations(parse_json(decode(data), store.settings.limits()))
    # Raters may write ratings, and nothing else is written here.
    with store.unguarded().unit(write=not is_dry):
        sheet = read_sheet(data, store.transcripts.game_names(), now=datetime.now(UTC), rater=rater, is_own=is_own)
        stored = store.ratings.by_token([rating.token for _, rating in sheet.ratings])
        sheet = _with_returns(store, sheet, stored)
        stored |= store.ratings.by_token([rating.token for _, rating in sheet.ratings])
        problems = [*sheet.problems, *_contradictions(sheet, stored), *_rivals(sheet, stored)]
        if problems:
            return SheetImport(blank=sheet.blank, problems=tuple(sorted(problems, key=lambda one: one.line)))
        fresh = {rating.token: rating for _, rating in sheet.ratings if rating.token not in stored}
        if not is_dry:
            store.ratings.add_many(list(fresh.values()), as_of_now=_said_now(sheet))
    flagged = sum(rating.breaks_one_way_rule for rating in fresh.values())
    return SheetImport(len(fresh), len(sheet.ratings) - len(fresh), sheet.blank, flagged)


def export_ratings(store: Store, *, rater: str | None = None) -> str:
    """Every rating of stored games as CSV, revised ones included; of one rater only, where one is named."""
    with store.unit():
        names = store.transcripts.game_names()
        ratings = store.ratings.every(rater)
    return write_sheet([rating for rating in ratings if rating.transcript_id in names], names)


def _with_returns(store: Store, sheet: Sheet, stored: Mapping[str, Rating]) -> Sheet:
    """The sheet with a fresh token for what raters said before and say again, having said otherwise in between.

    Of a rater and a game that is the last row that says what holds now; none where a row of the sheet is what counts
    once all of it is stored, so that the same sheet adds nothing when it comes again.
    """
    returning = {
        _place(rating): line
        for line, rating in sheet.ratings
        # Somebody may have typed the token into a row about another game; that is told as a contradiction.
        if line in sheet.undated and rating.token in stored and _content(stored[rating.token]) == _content(rating)
    }
    if not returning:
        return sheet
    latest, said_now = _latest(store, returning), _said_now(sheet)
    of_place: dict[Place, list[Rating]] = {place: [] for place in returning}
    for _, rating in sheet.ratings:
        of_place.get(_place(rating), []).append(rating)
    fresh = {}
    for place, line in returning.items():
        added = [rating for rating in of_place[place] if rating.token not in stored]
        counting = max(
            [*added, latest[place]], key=lambda rating: (rating.token in said_now - {*stored}, rating.created_at)
        )
        if all(_content(rating) != _content(counting) for rating in of_place[place]):
            fresh[line] = counting
    return replace(
        sheet,
        ratings=tuple(
            (line, replace(rating, token=revision_token(rating, fresh[line])) if line in fresh else rating)
            for line, rating in sheet.ratings
        ),
    )


def _said_now(sheet: Sheet) -> frozenset[str]:
    """The tokens of rows that say what the rater thinks now."""
    return frozenset(rating.token for line, rating in sheet.ratings if line in sheet.undated)


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


def _contradictions(sheet: Sheet, stored: dict[str, Rating]) -> list[SheetProblem]:
    found = []
    seen: dict[str, Rating] = {}
    for line, rating in sheet.ratings:
        held = stored.get(rating.token) or seen.setdefault(rating.token, rating)
        if _content(held) != _content(rating):
            found.append(
                SheetProblem(
                    line,
                    "token",
                    rating.token,
                    f"belongs to a rating that says otherwise (score {held.score}).",
                    "To revise a rating, empty its token and its time; to import it unchanged, restore the row.",
                )
            )
    return found


def _rivals(sheet: Sheet, stored: dict[str, Rating]) -> list[SheetProblem]:
    """New rows of one rater about one game at one time: nobody could say which of them counts."""
    found = []
    first: dict[tuple[object, ...], tuple[int, str]] = {}
    for line, rating in sheet.ratings:
        if rating.token in stored:
            continue
        place = rating.transcript_id, rating.rater, rating.created_at
        earlier, token = first.setdefault(place, (line, rating.token))
        if token != rating.token:
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
