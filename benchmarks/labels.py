"""Hold the rules against the readers' labels: ``python -m benchmarks.labels``.

Prints the figures of the tuning half of ``data/labels``. ``--final`` opens the kept half, and writes date, commit and
figures into ``data/labels/openings.csv``: a figure on labels that were looked at while rules were tuned shows nothing.

A set is measured by a function from :class:`Opened` to :class:`Figure` objects; ``measures`` lists them.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.label_drawing import DRAWN, Drawn, load_games
from evaluation.statistics.intervals import Interval, bootstrap_interval
from evaluation.statistics.words import interval_words
from evaluation.transcript import Transcript

LABELS = Path("data/labels")
OPENINGS = LABELS / "openings.csv"
Half = Literal["tuning", "kept"]
Reading = Literal["first", "second"]
Key = tuple[str, int]
"""A message: the id of its game, and its index."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the output: a name, a value (``None``: not defined), and what stands beside it in words."""

    name: str
    value: float | None
    words: str = ""


@dataclass(frozen=True)
class Opened:
    """The labels of one half of the games. Labels of the other half are dropped while they are read.

    Attributes:
        half: Which half.
        games: Its games by id.
        drawn: Its drawn messages.
    """

    half: Half
    games: Mapping[str, Transcript]
    drawn: tuple[Drawn, ...]

    @classmethod
    def of(cls, half: Half) -> Opened:
        """The labels of ``half``."""
        drawn = tuple(one for one in (Drawn(**row) for row in _rows(DRAWN)) if one.half == half)
        wanted = {one.game for one in drawn}
        return cls(half, {game.game_id: game for _, game in load_games() if game.game_id in wanted}, drawn)

    def labels(self, set_name: str, reading: Reading = "first") -> dict[Key, dict[str, Any]]:
        """What a reading says of the messages drawn for a set; the second one read some of them."""
        keys = {(one.game, one.message) for one in self.drawn if one.set_name == set_name}
        rows = _rows(LABELS / reading / f"{set_name}.jsonl")
        return {key: row for row in rows if (key := (row["game"], row["message"])) in keys}

    @cached_property
    def order(self) -> Mapping[str, int]:
        """Game -> its place, for the bootstrap over games."""
        return {game: place for place, game in enumerate(sorted(self.games))}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def kappa(pairs: Sequence[tuple[str, Hashable, Hashable]], opened: Opened) -> tuple[float, Interval]:
    """Cohen's kappa of two answers to the same questions, with the 95 % bootstrap interval over games.

    Args:
        pairs: Game, one answer, the other answer; one for each question.
        opened: The half that the games belong to.

    Returns:
        Kappa (NaN where both always give the same one answer), and its interval.
    """
    values = {value: place for place, value in enumerate(dict.fromkeys(v for pair in pairs for v in pair[1:]))}
    counts = np.zeros((len(opened.order), len(values), len(values)))
    for game, first, second in pairs:
        counts[opened.order[game], values[first], values[second]] += 1
    counts = counts[counts.sum(axis=(1, 2)) > 0]

    def of(weights: Any) -> Any:
        table = np.tensordot(weights, counts, axes=1)
        total = table.sum(axis=(-1, -2))
        seen = np.trace(table, axis1=-2, axis2=-1) / total
        expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / total**2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected < 1, (seen - expected) / (1 - expected), np.nan)

    return float(of(np.ones((1, len(counts))))[0]), bootstrap_interval(of, len(counts))


def agreement(name: str, pairs: Sequence[tuple[str, Hashable, Hashable]], opened: Opened) -> list[Figure]:
    """Kappa with its interval, the share of equal answers, and the floor: always giving the commonest first answer."""
    if not pairs:
        return [Figure(f"{name}: kappa", None, "no question was answered twice")]
    value, interval = kappa(pairs, opened)
    answers = [pair[1] for pair in pairs]
    floor = max(answers.count(answer) for answer in set(answers)) / len(answers)
    share = sum(first == second for _, first, second in pairs) / len(pairs)
    words = interval_words(interval, digits=2) if interval.low is not None else interval.note
    return [
        Figure(f"{name}: kappa", value, f"{words}, {len(pairs)} questions"),
        Figure(f"{name}: share of equal answers", share),
        Figure(f"{name}: floor, always the commonest answer", floor),
    ]


def ratio(name: str, part: int, whole: int) -> Figure:
    """A share with the counts behind it."""
    return Figure(name, part / whole if whole else None, f"{part} of {whole}")


def measures() -> Mapping[str, Callable[[Opened], Iterable[Figure]]]:
    """Set -> the function that measures it."""
    from benchmarks import labelled_acts, labelled_references, labelled_rows

    return {
        "references": labelled_references.measure,
        "acts": labelled_acts.measure,
        "coherence": labelled_rows.coherence,
        "depth": labelled_rows.depth,
    }


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
    changed = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True)
    return done.stdout.strip() + ("+changes" if changed.stdout.strip() else "")


def log_opening(set_name: str, figures: Iterable[Figure], path: Path = OPENINGS) -> None:
    """Appends one line per figure of the kept half to the log of openings: date, commit, set, figure and value."""
    is_new = not path.exists()
    now, commit = datetime.now(UTC).isoformat(timespec="seconds"), _commit()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(("opened_at", "commit", "set", "figure", "value", "words"))
        for one in figures:
            writer.writerow((now, commit, set_name, one.name, "" if one.value is None else one.value, one.words))


def print_sets(*, is_final: bool, only: str | None = None) -> None:
    """Prints the figures of a half, and logs them when it is the kept one."""
    half: Half = "kept" if is_final else "tuning"
    opened = Opened.of(half)
    for set_name, measure in measures().items():
        if only in (None, set_name):
            figures = list(measure(opened))
            print(f"{set_name}, {half} half, {len(opened.labels(set_name))} messages")
            for one in figures:
                value = "-" if one.value is None else f"{one.value:.3f}"
                print(f"  {one.name:<52} {value:>7}  {one.words}".rstrip())
            if is_final:
                log_opening(set_name, figures)


def main() -> None:
    """Measure, print, and log when the kept half was opened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--final", action="store_true", help="open the kept half; date, commit and figures are logged")
    parser.add_argument("--set", choices=sorted(measures()), help="this set only")
    options = parser.parse_args()
    print_sets(is_final=options.final, only=options.set)


if __name__ == "__main__":
    main()
