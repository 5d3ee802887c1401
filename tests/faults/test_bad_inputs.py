"""Bad inputs, listed and changed by chance, through every way in: refused with value, place and remedy."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.cli.main import app
from evaluation.readers import ReadResult, read_path, read_upload, read_uploads
from evaluation.store import Store
from tests.faults.bad_files import GOOD_LOG, canonical
from tests.faults.bad_inputs import ALL, PLACES, BadInput, BadPlace
from tests.faults.fuzz import Finding, Target, fuzz, keep, problem_of, targets

ROOT = Path(__file__).parents[2]
SMALL = [case for case in ALL if not case.is_large]
GOOD = canonical(game_id="the good one")
LONGEST_MESSAGE = 600
PARSER_WORDS = ("Traceback", "Error(", "Exception", "NoneType", "codec", "errno", "0x7f")


def check(results: list[ReadResult], case: BadInput | BadPlace) -> None:
    refused = [result.error for result in results if result.error is not None]
    assert sum(result.error is None for result in results) == case.good
    assert bool(refused) == bool(case.names)
    said = " ".join(map(str, refused))
    assert [name for name in case.names if name not in said] == []
    assert not any(word in said for word in PARSER_WORDS)
    for error in refused:
        assert error.remedy.endswith(".")
        assert len(str(error)) <= LONGEST_MESSAGE
        assert str(error).isprintable()


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.file)
def test_each_is_refused_with_reason_and_remedy_and_the_file_beside_it_is_read(case: BadInput) -> None:
    *results, good = read_uploads([(case.file, case.make()), ("good.json", GOOD)])
    assert good.transcript is not None
    check(results, case)


@pytest.mark.parametrize("case", [case for case in ALL if case.is_large], ids=lambda case: case.file)
def test_what_is_too_large_says_how_large_it_may_be(case: BadInput) -> None:
    check(read_upload(case.file, case.make()), case)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.title)
def test_each_path_that_cannot_be_read_says_so(place: BadPlace, tmp_path: Path) -> None:
    check(read_path(place.make(tmp_path)), place)


def test_no_two_have_one_name() -> None:
    assert len({case.file for case in ALL}) == len(ALL)


def test_the_command_line_stores_the_good_ones_and_says_why_it_refuses_each_other(tmp_path: Path) -> None:
    games = tmp_path / "games"
    games.mkdir()
    for case in SMALL:
        (games / case.file).write_bytes(case.make())
    (games / "good.json").write_bytes(GOOD)
    database = tmp_path / "faults.duckdb"
    done = CliRunner().invoke(app, ["import", str(games), "--db", str(database)])
    assert done.exit_code == 2
    assert done.exception is None or isinstance(done.exception, SystemExit)
    told = [case.file for case in SMALL if f"error: games/{case.file}" in done.stderr]
    told += [case.file for case in SMALL if f"question: games/{case.file}" in done.stderr]
    assert [case.file for case in SMALL if case.names and case.file not in told] == []
    # The same good game lies in several of the zips, and is stored once.
    expected = {
        result.transcript.id
        for case in SMALL
        for result in [*read_upload(case.file, case.make()), *read_upload("good.json", GOOD)]
        if result.transcript is not None
    }
    stored = Store(database).transcripts.summaries()
    assert set(stored["transcript_id"]) == expected
    assert read_upload("good.log", GOOD_LOG)[0].transcript.id in expected
    with Store(database).unit() as cursor:
        scored = cursor.execute("SELECT count(DISTINCT transcript_id) FROM metric_results").fetchone()
        strays = cursor.execute(
            "SELECT count(*) FROM messages WHERE transcript_id NOT IN (SELECT transcript_id FROM transcripts)"
        ).fetchone()
    assert (scored, strays) == ((len(expected),), (0,))


# Run in a process of its own: what other tests leave behind is not part of the measurement.
_MEASURE = """
import gc, sys, psutil
from evaluation.readers import read_upload
from tests.faults.bad_inputs import ALL

def resident():
    gc.collect()
    return psutil.Process().memory_info().rss // 2**20

for case in ALL:
    if not case.is_large:
        read_upload(case.file, case.make())
before = resident()
for case in ALL:
    if case.is_large:
        read_upload(case.file, case.make())
print(before, resident())
"""


@pytest.mark.long
def test_the_memory_of_large_files_comes_back() -> None:
    done = subprocess.run([sys.executable, "-c", _MEASURE], capture_output=True, text=True, check=True, cwd=ROOT)
    before, after = map(int, done.stdout.split())
    # The largest of them holds 200 MiB while it is read; what the allocator keeps for later is a few of these.
    assert after < before + 80


INPUTS = 2_000


def test_every_parser_takes_or_refuses_whatever_it_is_given() -> None:
    counted = fuzz(targets(), INPUTS, seed=1)
    assert sum(counts.inputs for counts in counted.values()) > 0.95 * INPUTS
    assert [finding for counts in counted.values() for finding in counts.findings] == []


def test_every_parser_takes_what_it_is_made_for() -> None:
    for target in targets():
        target.parse(target.seeds[0])


# What a million inputs found, which ten thousand rarely do.
_ODD = {
    "endless nesting": b"[" * 100_000,
    "a nested value": b'{"a": ' * 100_000,
    "a long number": b"[a]\nb = " + b"9" * 5_000,
    "a long number of JSON": b'{"a": ' + b"9" * 5_000 + b"}",
}


@pytest.mark.parametrize("content", _ODD.values(), ids=_ODD)
def test_every_parser_takes_or_refuses_odd_inputs(content: bytes) -> None:
    assert [problem for target in targets() if (problem := problem_of(target, content))] == []


def test_a_fault_is_found_made_short_and_kept(tmp_path: Path) -> None:
    def parse(content: bytes) -> None:
        if b"NaN" in content:
            raise KeyError("NaN")

    counted = fuzz([Target("planted", parse, [b'{"a": 1, "b": [2, 3]}'])], 2_000, seed=1)
    found: list[Finding] = counted["planted"].findings
    assert len(found) == 3
    assert {finding.content for finding in found} == {b"NaN"}
    assert "KeyError" in found[0].problem
    assert keep(found[0], tmp_path).read_bytes() == b"NaN"
