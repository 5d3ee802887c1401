"""Ratings as CSV: nothing lost on the way out and back, every fault named by line, all of a sheet stored or nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.rating_desk.sheet_format import COLUMNS, read_sheet, sheet_rows, write_sheet
from evaluation.ratings import SCORES, Rating
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.ratings import export_ratings, import_ratings, rating_rows
from tests.games import game_of

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
NAMES = {"aaaa": "game one", "bbbb": "twins", "cccc": "twins"}


def game(name: str) -> Transcript:
    return game_of([("Ann", f"Hello {name}")], game_id=name)


def two_games() -> Store:
    store = Store(":memory:")
    store.transcripts.add_many([(game("one"), "one.json"), (game("two"), "two.json")])
    return store


@pytest.fixture
def store() -> Store:
    return two_games()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
formulas = st.sampled_from(["=1+1", "'=1+1", "''@x", " =x", "'  +x", "-", "'", 'a,b;c\t"d"\r\ne\rf\n', "\r", "＝x"])
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)
ratings = st.builds(
    Rating,
    transcript_id=st.sampled_from(sorted(NAMES)),
    rater=names | st.sampled_from(["=Ada", "'+Ada", "@Ada"]),
    score=st.sampled_from(SCORES),
    answers=st.tuples(*[st.sampled_from([True, False, None])] * 5),
    comment=texts | formulas,
    created_at=st.datetimes(datetime(2020, 1, 1), datetime(2026, 5, 1)).map(lambda time: time.replace(tzinfo=UTC)),
    token=st.uuids().map(lambda token: token.hex),
)


def said(ratings: Iterable[Rating]) -> list[Rating]:
    """The same without what tells one form from another."""
    return [replace(one, token="t") for one in ratings]


@given(st.lists(ratings, max_size=5))
def test_what_is_written_is_read_again_unchanged(given_: list[Rating]) -> None:
    sheet = read_sheet(write_sheet(sheet_rows(given_, NAMES)).encode(), NAMES, now=NOW)
    assert sheet.problems == ()
    assert said(rating for _, rating in sheet.ratings) == said(given_)


def sheet_of(*lines: str, **options: object):
    return read_sheet("\n".join(lines).encode("utf-8-sig"), NAMES, now=NOW, **options)


def test_a_sheet_that_people_made_is_read() -> None:
    # Semicolons and 4,0 as a German spreadsheet writes them; the second row is not filled in.
    sheet = sheet_of("Game;Score;Question_1;question_2;comment", "game one;4,0;Y;no;Fine", "game one;;;;", rater="Ada")
    assert sheet.problems == ()
    ((line, rating),) = sheet.ratings
    assert (line, rating.transcript_id, rating.rater, rating.score) == (2, "aaaa", "Ada", 4)
    assert rating.answers == (True, False, None, None, None)
    assert (rating.comment, rating.created_at, sheet.blank) == ("Fine", NOW, 1)


@pytest.mark.parametrize(
    ("cells", "column", "message", "remedy"),
    [
        ("nothing,,Ada,3,,,", "transcript_id", "not a stored game", "import it first"),
        (",nothing,Ada,3,,,", "game", "not a stored game", "or its id"),
        (",twins,Ada,3,,,", "game", "several games", "or its id"),
        ("aaaa,,,3,,,", "rater", "Nobody is named", "rater"),
        ("aaaa,,Ada,6,,,", "score", "not on the scale", "from 1 to 5"),
        ("aaaa,,Ada,3.2,,,", "score", "not on the scale", "from 1 to 5"),
        ("aaaa,,Ada,3,maybe,,", "question_1", "neither yes nor no", "yes or no"),
        ("aaaa,,Ada,3,,yesterday,", "rated_at", "not a time", "2026-01-31"),
        ("aaaa,,Ada,3,,2026-01-01T10:00:00,", "rated_at", "no time zone", "+00:00"),
        ("aaaa,,Ada,3,,2999-01-01T10:00:00+00:00,", "rated_at", "cannot be when", "Correct the time"),
        ("aaaa,,Ada,3,,,,surplus", "", "more cells than the header", "quotation marks"),
        (f"aaaa,,{'x' * 300},3,,,", "rater", "too many", "Stay within"),
    ],
)
def test_a_fault_is_named_by_line_column_and_remedy(cells: str, column: str, message: str, remedy: str) -> None:
    header = "transcript_id,game,rater,score,question_1,rated_at,other"
    sheet = sheet_of(header, "aaaa,,Ada,3,,,", cells)
    (problem,) = sheet.problems
    assert (problem.line, problem.column) == (3, column)
    assert message in problem.message
    assert remedy in problem.remedy


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "must name the columns"),
        (b"rater,score\nAda,3\n", "must name the columns"),
        (b"game,score,score\nx,1,2\n", "Two columns"),
        (b"game,score" + b",x" * 200_000, "200,002 columns"),
        ("game,score\nZoë,3\n".encode("latin-1"), "not in UTF-8"),
        (b'game,score\n"half,3\n', "cannot be read"),
    ],
)
def test_a_file_that_is_no_sheet_says_so(data: bytes, message: str) -> None:
    sheet = read_sheet(data, NAMES, now=NOW, rater="Ada")
    assert message in sheet.problems[-1].message
    assert sheet.problems[-1].remedy
    assert sheet.ratings == ()


@pytest.mark.parametrize("column", ["game", "transcript_id"])
def test_the_first_digits_of_an_id_stand_for_the_game_in_either_column(column: str) -> None:
    names = {"abcd12": "one", "abce34": "two", "abcd56": "abce"}
    for given_, games, faults in (("abcd1", ["abcd12"], 0), ("abcd", [], 1), ("abc", [], 1)):
        sheet = read_sheet(f"{column},score\n{given_},3\n".encode(), names, now=NOW, rater="Ada")
        assert ([one.transcript_id for _, one in sheet.ratings], len(sheet.problems)) == (games, faults)
    # A name is one before it is the beginning of an id.
    sheet = read_sheet(b"game,score\nabce,3\n", names, now=NOW, rater="Ada")
    assert [one.transcript_id for _, one in sheet.ratings] == ["abcd56"]


def test_somebody_elses_rows_are_refused_where_only_ones_own_may_be_imported() -> None:
    sheet = sheet_of("game,rater,score", "game one,Ada,3", "game one,Bob,3", rater="Ada", is_own=True)
    assert [(one.line, one.column, one.value) for one in sheet.problems] == [(3, "rater", "Bob")]


def filled_in(store: Store) -> None:
    store.ratings.add(Rating(game("one").id, "Ada", 2, (True, None, False, True, True), "=SUM(A1)", NOW))
    store.ratings.add(Rating(game("one").id, "Ada", 4, created_at=NOW + timedelta(microseconds=1)))
    store.ratings.add(Rating(game("two").id, "Bob", 5, created_at=NOW))


def test_a_round_trip_into_another_store_loses_nothing(store: Store) -> None:
    filled_in(store)
    other = two_games()
    # The sheet's times lie ahead of this machine's clock only if that is wrong.
    done = import_ratings(other, export_ratings(store).encode("utf-8-sig"))
    assert (done.added, done.problems) == (3, ())
    assert said(other.ratings.every()) == said(store.ratings.every())
    assert said(other.ratings.latest(game("one").id)) == said(store.ratings.latest(game("one").id))


def test_an_export_says_which_rows_count_and_what_a_lead_decided(store: Store) -> None:
    for rater, score in (("Ada", 1), ("Ada", 2), ("Bob", 5)):
        store.ratings.add(Rating(game("one").id, rater, score))
    store.ratings.add(Rating(game("two").id, "Ada", 3))
    another = "no: another rating by the same person counts"

    def told(**of: str) -> list[tuple[str, str]]:
        rows = csv.DictReader(io.StringIO(export_ratings(store, **of)))
        return [(row["counts"], row["decision"]) for row in rows]

    assert [counts for counts, _ in told()] == [another, "yes", "yes", "yes"]
    store.engagement_decisions.add(game("one").id, 3.5, who="Lea", reason="=1+1")
    decided = "no: a lead decided the score"
    assert [counts for counts, _ in told()] == [another, decided, decided, "yes"]
    assert told()[1][1].startswith("3.5 by Lea on 20")
    assert told()[1][1].endswith(": =1+1")
    rows = rating_rows(store)
    shown = {row["shown_as"] for row in csv.DictReader(io.StringIO(export_ratings(store)))}
    # A program gets the columns of the sheet, with values of their kind.
    assert list(rows[0]) == next(csv.reader(io.StringIO(export_ratings(store))))
    assert (rows[0]["game"], rows[0]["score"], rows[0]["question_1"]) == ("one", 1, None)
    assert shown == set(store.transcripts.game_names().values())
    # A rater's own sheet holds nothing of others.
    assert told(rater="Ada") == [(another, ""), (decided, ""), ("yes", "")]


@pytest.mark.parametrize("is_export", [True, False])
def test_the_same_file_twice_adds_nothing(store: Store, is_export: bool) -> None:
    filled_in(store)
    data = export_ratings(store).encode()
    if not is_export:
        data = f"game,score,comment\n{game('two').game_id},3,Fine\n".encode()
        assert import_ratings(store, data, rater="Cleo").added == 1
    before = store.ratings.every()
    again = import_ratings(store, data, rater="Cleo")
    assert (again.added, again.known) == (0, 3 if is_export else 1)
    assert store.ratings.every() == before


def test_a_row_that_was_changed_is_a_revision_without_its_time_and_refused_with_it(store: Store) -> None:
    store.ratings.add(Rating(game("one").id, "Ada", 2, created_at=NOW))
    row = dict.fromkeys(COLUMNS, "") | {"transcript_id": game("one").id, "rater": "Ada", "score": "5"}
    revised = f"{','.join(row)}\n{','.join(row.values())}\n".encode()
    assert import_ratings(store, revised).added == 1
    assert [one.score for one in store.ratings.latest(game("one").id)] == [5]
    assert len(store.ratings.every()) == 2


def test_nothing_tells_a_rater_what_another_one_entered(store: Store) -> None:
    """Whatever a rater makes up: the same answer as if nobody else had rated, and nobody is kept from rating."""
    store.ratings.add(Rating(game("one").id, "Bob", 5, comment="Secret", created_at=NOW, token="guessed"))
    empty = two_games()
    timed = f"one,Ada,5,,Secret,{NOW.isoformat()}"
    for row in ("one,Ada,4,guessed,", "one,Ada,5,guessed,Secret", timed, "one,Bob,4,,"):
        data = f"game,rater,score,token,comment,rated_at\n{row}\n".encode()
        for is_dry in (True, False):
            seen = import_ratings(store, data, rater="Ada", is_own=True, is_dry=is_dry)
            assert seen == import_ratings(empty, data, rater="Ada", is_own=True, is_dry=is_dry)
    assert [one.score for one in store.ratings.every("Bob")] == [5]


def test_a_dry_run_stores_nothing_and_flags_the_answers_that_do_not_fit(store: Store) -> None:
    data = b"game,score,question_1,question_2,question_3,question_4\none,2,y,y,y,y\n"
    dry = import_ratings(store, data, rater="Ada", is_dry=True)
    assert (dry.added, dry.flagged) == (1, 1)
    assert store.ratings.every() == []


def test_two_answers_about_one_game_are_refused_and_revisions_with_their_times_are_not(store: Store) -> None:
    done = import_ratings(store, b"game,rater,score\none,Ada,4\ntwo,Ada,4\none,Ada,2\n")
    assert [str(one) for one in done.problems] == [
        "line 4: 'Ada' has rated this game otherwise on line 2. "
        "Keep one of the two lines, or fill in when each was given: the later one counts."
    ]
    assert store.ratings.every() == []
    # The same line twice is one rating.
    assert import_ratings(store, b"game,rater,score\none,Ada,4\none,Ada,4\n").added == 1
    timed = "game,rater,score,rated_at\none,Bo,4,2026-01-02T10:00:00+02:00\none,Bo,2,2026-01-02T08:30:00+00:00\n"
    assert import_ratings(store, timed.encode()).added == 2
    # Half past eight in London is after ten in Helsinki.
    assert [(one.rater, one.score) for one in store.ratings.latest(game("one").id)] == [("Ada", 4), ("Bo", 2)]


def test_a_time_that_a_wrong_clock_puts_ahead_counts_as_now_and_blocks_no_revision(store: Store) -> None:
    row = "game,rater,score,rated_at\ngame one,Ada,3,"
    # Up to a day ahead is a clock that goes wrong; a second more is refused.
    ((_, ahead),) = sheet_of(*f"{row}2026-06-02T12:00:00+00:00".split("\n")).ratings
    assert ahead.created_at == NOW
    ((_, earlier),) = sheet_of(*f"{row}2026-06-01T11:59:59+00:00".split("\n")).ratings
    assert earlier.created_at == NOW - timedelta(seconds=1)
    assert sheet_of(*f"{row}2026-06-02T12:00:01+00:00".split("\n")).problems[0].column == "rated_at"
    soon = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
    assert import_ratings(store, f"game,rater,score,rated_at\none,Ada,3,{soon}\n".encode()).added == 1
    assert import_ratings(store, b"game,rater,score\none,Ada,5\n").added == 1
    assert [one.score for one in store.ratings.latest(game("one").id)] == [5]


def scores_after(store: Store, *sheets: str) -> list[int]:
    """Ada's ratings of "one", in the order of storing, after sheets of scores ("3", "3 4"), each imported twice."""
    for scores in sheets:
        data = "\n".join(["game,rater,score", *(f"one,Ada,{score}" for score in scores.split())]).encode()
        import_ratings(store, data)
        again = import_ratings(store, data)
        assert (again.added, again.problems) == (0, ())
    return [one.score for one in store.ratings.every("Ada")]


@pytest.mark.parametrize("scores", ["343", "34343"])
def test_a_score_that_is_changed_back_counts_and_the_same_sheet_twice_adds_nothing(store: Store, scores: str) -> None:
    assert scores_after(store, *scores) == [int(score) for score in scores]
    assert [one.score for one in store.ratings.latest(game("one").id)] == [3]


def test_a_row_with_its_time_is_history_and_revises_nothing(store: Store) -> None:
    timed = "game,rater,score,rated_at\none,Ada,3,2026-01-02T10:00:00+00:00\none,Ada,4,2026-01-03T10:00:00+00:00\n"
    assert import_ratings(store, timed.encode()).added == 2
    assert scores_after(store, "5") == [3, 4, 5]
    assert import_ratings(store, timed.encode()).added == 0
    # Two months later the rater comes back from 5 to 3, beside a row of the past that is new: it does not count.
    late = "game,rater,score,rated_at\none,Ada,1,2026-01-01T10:00:00+00:00\none,Ada,5,\n"
    assert scores_after(store, "2") == [3, 4, 5, 2]
    assert import_ratings(store, late.encode()).added == 2
    assert import_ratings(store, late.encode()).added == 0
    assert [one.score for one in store.ratings.latest(game("one").id)] == [5]


@pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\r\n', "\ufeffsep=;\n"])
def test_a_first_line_that_names_the_delimiter_is_no_heading(first: str) -> None:
    rows = "transcript_id;rater;score;comment\naaaa;Ann;4;good, calm\naaaa;Ann;9;\n"
    sheet = read_sheet((first + rows).encode(), NAMES, now=NOW)
    assert [(line, rating.score, rating.comment) for line, rating in sheet.ratings] == [(3, 4, "good, calm")]
    assert [problem.line for problem in sheet.problems] == [4]


def test_a_game_is_known_by_the_name_that_the_pages_show() -> None:
    store = two_games()
    shown = store.transcripts.game_names()[game("two").id]
    done = import_ratings(store, f"game,rater,score\n{shown},Ada,4\n".encode())
    assert (done.problems, [one.transcript_id for one in store.ratings.current()]) == ((), [game("two").id])
    store.iterations.create("First")
    store.iterations.move([game("one").id], "First")
    shown = store.transcripts.game_names()[game("one").id]
    assert shown == "Game 1 · First"
    assert import_ratings(store, f"game,rater,score\n{shown},Ada,4\n".encode()).problems == ()
