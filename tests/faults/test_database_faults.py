"""Bits of the database flipped by chance: a command prints what it printed before, or says that the file is damaged."""

from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner, Result

from evaluation.cli.main import app

COMMANDS = (["list", "--format", "json"], ["iterations"])


def run(arguments: list[str], database: Path) -> Result:
    return CliRunner().invoke(app, [*arguments, "--db", str(database)])


@pytest.mark.parametrize("flips", [10, pytest.param(200, marks=pytest.mark.long)])
def test_flipped_bits_give_the_same_answer_or_a_clear_error(sample_database: Path, tmp_path: Path, flips: int) -> None:
    whole = sample_database.read_bytes()
    (tmp_path / "sound.duckdb").write_bytes(whole)
    wanted = [run(arguments, tmp_path / "sound.duckdb").stdout for arguments in COMMANDS]
    assert all(wanted)
    random, outcomes = Random(1), {"same": 0, "refused": 0}
    for number in range(flips):
        damaged = bytearray(whole)
        # One in five in the three headers of 4,096 bytes, which everything hangs on.
        place = random.randrange(12_288 if number % 5 == 0 else len(whole))
        damaged[place] ^= 1 << random.randrange(8)
        database = tmp_path / f"{number}.duckdb"
        database.write_bytes(damaged)
        for arguments, expected in zip(COMMANDS, wanted, strict=True):
            done = run(arguments, database)
            assert "Traceback" not in done.output, place
            if done.exit_code == 0:
                assert done.stdout == expected, f"bit in byte {place}: another answer"
                outcomes["same"] += 1
            else:
                assert isinstance(done.exception, SystemExit), (place, done.exception)
                assert str(database) in done.output, (place, done.output)
                outcomes["refused"] += 1
        database.unlink()
    assert all(outcomes.values()), outcomes
    print(f"{flips} flipped bits: {outcomes}")
