"""Exit codes, one by one, also of a damaged installation, and that no error reaches a person as a traceback."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer

import evaluation
from evaluation.cli.exit_codes import finish_scoring
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import Store
from tests.dashboard_server import dramaturg

# What Python makes of the bytes x\xff on a command line.
ODD = os.fsdecode(b"x\xff")


def start(*arguments: object, database: Path, **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "DRAMATURG_DB": str(database)}
    return subprocess.Popen(
        [dramaturg(), *map(str, arguments)], env=environment, text=True, stderr=subprocess.PIPE, **options
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("list",), 0),
        (("evaluate",), 2),
        (("evaluate", "GOOD", "--no-store"), 0),
        (("evaluate", "GOOD", "--no-store", "--gate", "full"), 1),
        (("evaluate", "GOOD", "--no-store", "--gate", "half"), 2),
        (("evaluate", "GOOD", "--no-store", "--jobs", "0"), 2),
        (("evaluate", "REFUSED", "--no-store"), 2),
        (("show", "nothing"), 2),
        (("rate", "add", "nothing"), 2),
        (("backup", ODD), 2),
        (("backup", "REFUSED"), 2),
        (("restore", "REFUSED"), 2),
        (("nonsense",), 2),
        (("list", "--nonsense"), 2),
        (("list", "--db", "BROKEN"), 3),
        (("evaluate", "GOOD", "--db", "BROKEN"), 3),
    ],
    ids=lambda value: ascii(" ".join(value)) if isinstance(value, tuple) else None,
)
def test_the_exit_codes(
    run: Any, write_game: Any, refused: Path, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(b"This is not a database." * 1000)
    files = {"GOOD": write_game(), "REFUSED": refused, "BROKEN": broken}
    done = run(*[files.get(argument, argument) for argument in arguments])
    assert done.exit_code == code
    assert "Traceback" not in done.output
    assert bool(done.stderr) or code == 0


def test_an_error_names_value_place_and_remedy(run: Any) -> None:
    done = run("show", "no\x1b[31mthing")
    assert done.stderr == "error: No stored transcript is called 'no\\x1b[31mthing'. See them with: dramaturg list.\n"
    run("iterations", "create", "Prompt v2")
    for command in (("compare", "v2", "v3"), ("iterations", "decide", "v2", "kept", "--reason", "x")):
        assert (
            "error: No iteration has the whole name 'v2'. Do you mean 'Prompt v2'? See them with"
            in run(*command).stderr
        )
    refused = run("iterations", "decide", "Prompt v2", "revert", "--reason", "x").stderr
    assert "Invalid value for 'fate': 'revert' is not one of 'kept', 'reverted', 'undecided'." in refused


def test_a_reader_that_closes_the_pipe_is_no_drama(data_root: Path, database: Path) -> None:
    process = start(
        "evaluate", data_root / "aiwolf", "--no-store", "--format", "json", database=database, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait() == 141
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors
    process.stderr.close()


def test_a_full_disk_is_infrastructure(write_game: Any, database: Path) -> None:
    with (
        open("/dev/full", "w") as full,
        start("evaluate", write_game(), "--no-store", database=database, stdout=full) as process,
    ):
        assert process.stderr is not None
        errors = process.stderr.read()
    assert process.returncode == 3
    assert "No space left" in errors
    assert "Traceback" not in errors


def test_an_interruption_is_told_and_keeps_what_is_stored(write_game: Any, database: Path) -> None:
    games = [write_game(f"game-{number}") for number in range(600)]
    # Whoever runs the tests in the background may have interruptions switched off, and children inherit that.
    heed = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    process = start("import", *games, database=database, stdout=subprocess.PIPE, preexec_fn=heed)
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Interrupted." in errors
    assert "Traceback" not in errors
    assert len(Store(database).transcripts.summaries()) >= 1


@pytest.mark.parametrize("asked", ["", "1"])
def test_what_nobody_foresaw_ends_with_3_and_one_line_unless_the_traceback_is_asked_for(
    tmp_path: Path, database: Path, asked: str
) -> None:
    # A dependency that is damaged in a way that nothing is prepared for.
    (tmp_path / "duckdb.py").write_text("raise ZeroDivisionError('damaged')", encoding="utf-8")
    own = {"DRAMATURG_DB": str(database), "DRAMATURG_TRACEBACK": asked, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([dramaturg(), "list"], capture_output=True, text=True, env=os.environ | own, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert ("Traceback" in done.stderr) == bool(asked)
    assert ("error: This is a fault in Dramaturg: ZeroDivisionError: damaged" in done.stderr) == (not asked)


def test_names_that_the_terminal_cannot_show_do_not_stop_a_command(
    tmp_path: Path, write_game: Any, database: Path
) -> None:
    odd = tmp_path / os.fsdecode(b"odd-\xff\xe9.json")
    odd.write_bytes(write_game().read_bytes())
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "DRAMATURG_DB": str(database)}
    done = subprocess.run([dramaturg(), "import", odd], capture_output=True, env=environment, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({"incomplete": 0, "gate_failed": 2}, 1),
        ({"incomplete": 0, "refused": 1, "gate_failed": 2}, 2),
        ({"incomplete": 1, "refused": 1, "gate_failed": 2}, 3),
    ],
)
def test_the_worst_that_happened_chooses_the_exit_code(counts: dict[str, int], code: int) -> None:
    with pytest.raises(typer.Exit) as ended:
        finish_scoring(**counts)
    assert ended.value.exit_code == code


def test_what_went_well_ends_nothing() -> None:
    finish_scoring(incomplete=0)


Dramaturg = Callable[..., "subprocess.CompletedProcess[str]"]
# Memory accuracy cannot look for claims without these keywords; no other metric reads them.
KEYWORDS = Path("rubric", "keywords", "memory_en.yaml")


@pytest.fixture
def damaged(tmp_path: Path) -> Dramaturg:
    """Runs the command line of a copy of the package that lacks memory accuracy's keywords."""
    package = tmp_path / "installation" / "evaluation"
    shutil.copytree(Path(evaluation.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / KEYWORDS).write_text("[]\n", encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": str(package.parent), "DRAMATURG_DB": str(tmp_path / "damaged.duckdb")}

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "evaluation.cli.main", *map(str, arguments)]
        return subprocess.run(
            command, env=variables, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
        )

    return run


def test_the_other_metrics_are_printed_and_the_code_is_3(damaged: Dramaturg, write_game: Any) -> None:
    done = damaged("evaluate", write_game(), "--no-store", "--format", "json")
    assert done.returncode == 3, done.stderr
    [output] = json.loads(done.stdout)
    assert output["metrics"]["memory_accuracy"]["reason"].startswith("could not be computed: ")
    assert output["metrics"]["anti_repetition"]["score"] == 100.0
    # The reader needs the same file for all that it reads.
    assert [failure["metric"] for failure in output["failures"]] == list(DEFINITIONS)[:2]
    assert "game-1.json: Memory accuracy could not be computed." in done.stderr
    assert "error: 1 game could not be scored on every metric." in done.stderr
