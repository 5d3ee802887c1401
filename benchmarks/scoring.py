"""Messages per second of the six automatic metrics without controls: ``python -m benchmarks.scoring``.

With ``--against CHECKOUT`` (another commit, say from ``git worktree add``) both are run in turn, in pairs: what else
the machine does in the meantime slows both down, so that the ratio of a pair says more than either figure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import Row, print_table

_CHECKOUT = Path(__file__).parents[1]
_TEST_DATA = _CHECKOUT / "tests" / "data"
REAL_GAMES = tuple(_TEST_DATA / name for name in ("aiwolf", "llm_werewolf", "llmafia", "werewolf_gpt"))
WANTED_RATIO = 2.5
_PASSES = 5
_PAIRS = 7


@dataclass(frozen=True, slots=True)
class Measurement:
    """The fastest of several passes over the real games in one fresh process.

    Attributes:
        games: How many games.
        messages: How many public messages they hold.
        seconds: Wall time.
        cpu_seconds: Processor time of that process alone, without those that it starts.
        package: The file of the package that was measured.
    """

    games: int
    messages: int
    seconds: float
    cpu_seconds: float
    package: str

    @property
    def rate(self) -> float:
        """Messages per second of wall time."""
        return self.messages / self.seconds

    @property
    def cpu_rate(self) -> float:
        """Messages per second of processor time."""
        return self.messages / self.cpu_seconds


def measure(checkout: Path = _CHECKOUT, *, jobs: int = 1, passes: int = _PASSES) -> Measurement:
    """Scores the real games of this checkout with the package of ``checkout``.

    Args:
        checkout: The folder that holds the package ``evaluation``.
        jobs: How many processes compute, 1 or 2.
        passes: How often the games are scored.

    Raises:
        RuntimeError: The run failed, or another package than that of ``checkout`` was measured.
    """
    script = Path(__file__).with_name("scoring_run.py")
    # -P: the folder of the script, which belongs to this checkout, must not be searched for packages.
    command = [sys.executable, "-P", str(script), str(jobs), str(passes), *map(str, REAL_GAMES)]
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve())}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    found = Measurement(**json.loads(done.stdout))
    if not Path(found.package).is_relative_to(checkout.resolve()):
        raise RuntimeError(f"{checkout} was to be measured, but Python found {found.package}.")
    return found


def rates() -> Iterator[Row]:
    """Messages per second of this checkout, in one process and in two."""
    for jobs, words in ((1, "one process"), (2, "two processes, their start included")):
        found = measure(jobs=jobs)
        measured = f"{found.rate:,.0f} messages a second"
        if jobs == 1:
            measured += f" ({found.cpu_rate:,.0f} a second of processor time)"
        yield Row(f"six metrics of {found.games} games, {words}, best of {_PASSES}", measured)


def compare(checkout: Path, pairs: int, *, passes: int = _PASSES) -> Iterator[Row]:
    """The ratio of this checkout's messages per second to those of another, measured in pairs.

    Every other pair runs in the opposite order.
    """
    own: list[Measurement] = []
    other: list[Measurement] = []
    for number in range(pairs):
        turns = [(_CHECKOUT, own), (checkout, other)]
        for where, found in turns if number % 2 else reversed(turns):
            found.append(measure(where, passes=passes))
        print(f"pair {number + 1}: {own[-1].cpu_rate:,.0f} and {other[-1].cpu_rate:,.0f}", file=sys.stderr, flush=True)
    for name, found in (("this checkout", own), (str(checkout), other)):
        rate = statistics.median(one.cpu_rate for one in found)
        yield Row(f"messages a second of processor time, {name}, median of {pairs}", f"{rate:,.0f}")
    both = list(zip(own, other, strict=True))
    for what, ratios in (
        ("processor time", [one.cpu_rate / another.cpu_rate for one, another in both]),
        ("wall time", [one.rate / another.rate for one, another in both]),
    ):
        median = statistics.median(ratios)
        measured = f"{median:.2f} times ({min(ratios):.2f} to {max(ratios):.2f})"
        met = "yes" if median >= WANTED_RATIO else "NO"
        yield Row(f"ratio by {what}, median of {pairs} pairs", measured, f">= {WANTED_RATIO:g} times", met)


def main(arguments: list[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoring", description="Prints the speed of scoring.")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with the package in that folder")
    parser.add_argument("--pairs", type=int, default=_PAIRS, help=f"how many pairs of runs, {_PAIRS} if left out")
    given = parser.parse_args(arguments)
    if given.pairs < 1:
        parser.error("--pairs must be at least 1")
    print_table([*(compare(given.against, given.pairs) if given.against else rates())])


if __name__ == "__main__":
    main(sys.argv[1:])
