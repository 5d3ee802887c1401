"""Inspect and DeepEval on the same server, in an environment of their own that ``make bench-peers`` makes."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import own_environments
from benchmarks.table import Row

_HERE = Path(__file__).parent / "peers"
_ENVIRONMENT = Path(__file__).parents[1] / "build" / "bench-peers"
_PYTHON = _ENVIRONMENT / "bin" / "python"
PEERS = ("inspect", "deepeval")
WANTED = {"deepeval": 1.3}


def install() -> None:
    """Makes the environment, unless it is there with the same requirements.

    Raises:
        CalledProcessError: It cannot be made.
    """
    own_environments.install(_HERE / "requirements.txt", "bench-peers")


def judgements_a_second(peer: str, url: str, count: int, concurrency: int) -> float:
    """What the peer reaches in one run.

    Raises:
        RuntimeError: The run failed; holds the end of what it wrote to standard error.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [str(_PYTHON), str(_HERE / f"{peer}_run.py"), url, str(count), str(concurrency)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"{peer} failed:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def rows(url: str, ours: Callable[[], float], count: int, concurrency: int, runs: int) -> Iterator[Row]:
    """Our speed and theirs as medians, with the median of how often theirs goes into ours in the same round.

    Each of ``runs`` rounds measures everybody once: what else the machine does hits all of them. Individual calls.
    """
    rounds = []
    for _ in range(runs):
        theirs = {peer: judgements_a_second(peer, url, count, concurrency) for peer in PEERS}
        rounds.append({"Dramaturg": ours(), **theirs})
    for name in ("Dramaturg", *PEERS):
        yield Row(f"{name}, judgements a second", f"{statistics.median(one[name] for one in rounds):.0f}")
    for peer in PEERS:
        ratios = sorted(one["Dramaturg"] / one[peer] for one in rounds)
        wanted = WANTED.get(peer)
        yield Row(
            f"Dramaturg against {peer} ({ratios[0]:.2f} to {ratios[-1]:.2f})",
            f"{statistics.median(ratios):.2f} times",
            "" if wanted is None else f">= {wanted:g}",
            "" if wanted is None else ("yes" if statistics.median(ratios) >= wanted else "NO"),
        )
