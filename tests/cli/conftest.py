"""Runs the command line in this process on a database of the test's own, and games that pass and fail."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from evaluation.cli.main import app
from evaluation.transcript import Cost, Transcript
from tests.games import game_of

Run = Callable[..., Result]
WriteGame = Callable[..., Path]

# Each speaker has more than 40 words of their own, a keyword in every message, no phrase said twice, and nothing about
# the past.
_GOOD_TEXT = """
Ann: I suspect a pattern at this table: if the quiet corner were town, it would ask questions, so we should start
there and compare both stories.

Ben: My trust goes with plain dealing; whoever gains from hurry should explain the reason slowly, because a villager
loses nothing by it, and then we can weigh both claims.

Cid: Evidence first, friends! If the seer claim is true, then one of you two must be lying, so let us test it tomorrow
with one more check.

Ann: Then the vote should go to whoever refuses that test, since an innocent player gains by it, whereas a wolf can
only lose.

Ben: Fine by me, although innocent people blush too; I would defend any shy player until the evidence is stronger than
a mood, because a wrong vote costs us the game.

Cid: Defend them all you like; a consistent story is worth more than a blush, so my plan is to let both talk, and to
vote for whichever claim fits the night worse.
"""
GOOD_LINES = [" ".join(paragraph.split()).split(": ", 1) for paragraph in _GOOD_TEXT.strip().split("\n\n")]
BAD_LINES = (
    tuple((name, "The weather is nice here today and my lunch was very good indeed.") for name in ("Ann", "Ben")) * 2
)


def make_game(game_id: str, *, good: bool = True, usd: float | None = 1.0) -> Transcript:
    """A game that passes memory, depth, coherence, diversity and repetition, or one that passes too few."""
    lines = GOOD_LINES if good else BAD_LINES
    said = [(who, text, {"reply_to": f"m{i - 1}" if good and i else None}) for i, (who, text) in enumerate(lines)]
    cost = None if usd is None else Cost(total_usd=usd, cache_hit_rate=0.8)
    players = ("Ann", "Ben", "Cid")
    return game_of(said, players, game_id=game_id, source_format="native", language="en", round=1, cost=cost)


@pytest.fixture
def write_game(tmp_path: Path) -> WriteGame:
    """Writes a game of :func:`make_game` to a file; returns its path."""

    def write(game_id: str = "game-1", *, good: bool = True, usd: float | None = 1.0) -> Path:
        path = tmp_path / f"{game_id}.json"
        path.write_text(make_game(game_id, good=good, usd=usd).to_json(), encoding="utf-8")
        return path

    return write


@pytest.fixture
def database(tmp_path: Path, empty_database: Path) -> Path:
    """The test's database, empty."""
    path = tmp_path / "store" / "test.duckdb"
    path.parent.mkdir()
    shutil.copyfile(empty_database, path)
    return path


@pytest.fixture
def no_database(database: Path) -> Path:
    """Where the database would be, for commands that must do without one."""
    database.unlink()
    database.parent.rmdir()
    return database


@pytest.fixture
def run(database: Path) -> Run:
    """Runs ``dramaturg`` with arguments on the test's database; returns the exit code and both outputs."""
    runner = CliRunner()

    def invoke(*arguments: object) -> Result:
        return runner.invoke(app, [str(argument) for argument in arguments], env={"DRAMATURG_DB": str(database)})

    return invoke


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    """A file that no reader recognises."""
    path = tmp_path / "notes.txt"
    path.write_text("Shopping: milk, bread.\n", encoding="utf-8")
    return path
