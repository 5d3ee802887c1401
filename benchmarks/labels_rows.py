"""Hold the rows of coherence and strategic depth against the readers' labels: ``python -m benchmarks.labels_rows``.

Prints the figures of the tuning half of ``data/labels``; ``--misses`` prints the messages on which rule and readers
differ. ``--final`` opens the half that no rule was tuned on: its figures are then written into ``openings.csv``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.label_drawing import DRAWN, load_games
from benchmarks.labels import Figure as LoggedFigure
from benchmarks.labels import log_opening
from evaluation.engines.scoring import SCORERS
from evaluation.rubric.definitions import COHERENCE, STRATEGIC_DEPTH
from evaluation.score import LedgerRow, RowVerdict
from evaluation.statistics.resampling import bootstrap_interval
from evaluation.statistics.words import interval_words
from evaluation.transcript import Transcript

LABELS = Path("data/labels")
OPENINGS = LABELS / "openings.csv"
TUNING, KEPT = "tuning", "kept"
SETS = {COHERENCE.name: "coherence", STRATEGIC_DEPTH.name: "depth"}
_NO_ANSWER: frozenset[int] = frozenset()


class LabelledRow(NamedTuple):
    """A drawn message beside the row of the rule.

    Attributes:
        label: What the first reader says: it answers something, or it is strategic.
        second: What the second reader says; ``None`` where nobody read it twice.
        answers: Indexes of the messages that the first reader says it answers.
        answered: Indexes of the messages that the row says it answers.
    """

    game: Transcript
    message: int
    label: bool
    second: bool | None
    answers: frozenset[int]
    answered: frozenset[int]
    row: LedgerRow

    @property
    def rule(self) -> bool:
        """Whether the row counts."""
        return self.row.verdict is RowVerdict.COUNTS


class Figure(NamedTuple):
    """A figure by name, and in words what stands beside it."""

    name: str
    value: float
    beside: str = ""


def tuning_figures() -> dict[str, list[Figure]]:
    """Metric -> its figures on the half that rules are tuned on."""
    return {metric: _figures(_read_half(metric, TUNING)) for metric in SETS}


def kept_figures() -> dict[str, list[Figure]]:
    """Metric -> its figures on the half that is kept; every call is logged by :func:`open_kept`."""
    figures = {metric: _figures(_read_half(metric, KEPT)) for metric in SETS}
    open_kept({f"{metric}: {one.name}": one.value for metric, found in figures.items() for one in found})
    return figures


def open_kept(figures: Mapping[str, float], path: Path = OPENINGS) -> None:
    """Append an opening of the kept half to the log of openings, a line per figure ("coherence: balanced accuracy")."""
    by_set: dict[str, list[LoggedFigure]] = {}
    for name, value in figures.items():
        set_name, _, figure = name.rpartition(": ")
        by_set.setdefault(set_name or "rows", []).append(LoggedFigure(figure, round(value, 4)))
    for set_name, found in by_set.items():
        log_opening(set_name, found, path)


def _read_half(metric: str, half: str) -> list[LabelledRow]:
    set_name = SETS[metric]
    drawn = [row for row in _lines(DRAWN) if row["set_name"] == set_name and row["half"] == half]
    keys = {(row["game"], row["message"]) for row in drawn}
    first, second = (_labels(reading, set_name, keys) for reading in ("first", "second"))
    games = {game.game_id: game for _, game in load_games() if any(game.game_id == key[0] for key in keys)}
    ledgers = {game_id: _ledger(metric, game) for game_id, game in games.items()}
    found = []
    for key, label in sorted(first.items()):
        row = ledgers[key[0]][key[1]]
        again = second.get(key)
        of_second = None if again is None else _is_yes(again)
        answers = frozenset(label.get("answers", _NO_ANSWER))
        answered = _answered(games[key[0]], row)
        found.append(LabelledRow(games[key[0]], key[1], _is_yes(label), of_second, answers, answered, row))
    return found


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, path.read_text("utf-8").splitlines())


def _labels(reading: str, set_name: str, keys: set[tuple[str, int]]) -> dict[tuple[str, int], dict[str, Any]]:
    """The labels of ``keys``; those of the other half are dropped unseen."""
    rows = _lines(LABELS / reading / f"{set_name}.jsonl")
    return {key: row for row in rows if (key := (row["game"], row["message"])) in keys}


def _is_yes(label: Mapping[str, Any]) -> bool:
    return bool(label.get("answers") or label.get("is_strategic"))


def _ledger(metric: str, game: Transcript) -> dict[int, LedgerRow]:
    index = {message.id: message.index for message in game.messages}
    return {index[row.message_id]: row for row in SCORERS[metric](game).ledger if row.message_id}


def _answered(game: Transcript, row: LedgerRow) -> frozenset[int]:
    ids = row.details.get("answers") or ([row.refers_to] if row.refers_to else [])
    return frozenset(message.index for one in ids if (message := game.message(one)) is not None)


def _figures(rows: Sequence[LabelledRow]) -> list[Figure]:
    labels, rules = [row.label for row in rows], [row.rule for row in rows]
    hits = sum(label and rule for label, rule in zip(labels, rules, strict=True))
    recall, precision = _share(hits, sum(labels)), _share(hits, sum(rules))
    rejected = _share(sum(not (label or rule) for label, rule in zip(labels, rules, strict=True)), labels.count(False))
    twice = [(row.game.game_id, row.label, row.second) for row in rows if row.second is not None]
    readers, between = _kappa(twice)
    kappa, interval = _kappa([(row.game.game_id, row.label, row.rule) for row in rows])
    share = max(labels.count(True), labels.count(False)) / len(labels)
    equal = sum(label == rule for label, rule in zip(labels, rules, strict=True)) / len(labels)
    found = [
        Figure("balanced accuracy", (recall + rejected) / 2, f"{len(rows)} messages, {labels.count(True)} of them yes"),
        Figure("precision", precision, f"{hits} of {sum(rules)}"),
        Figure("recall", recall, f"{hits} of {sum(labels)}"),
        Figure("specificity", rejected),
        Figure("accuracy", equal),
        Figure("floor, always the commonest answer", share, "its balanced accuracy is 0.5, its kappa 0"),
        Figure("kappa, rule and first reading", kappa, interval),
        Figure("kappa, both readings", readers, f"{between}, {len(twice)} messages"),
        Figure("agreement of both readings", _share(sum(one == other for _, one, other in twice), len(twice))),
    ]
    named = [row for row in rows if row.label and row.rule and row.answered]
    if named and named[0].answers:
        right = sum(bool(row.answers & row.answered) for row in named)
        found.append(Figure("names a message that is labelled", _share(right, len(named)), f"{right} of {len(named)}"))
    return found


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _kappa(pairs: Sequence[tuple[str, bool, bool]]) -> tuple[float, str]:
    """Cohen's kappa with its 95 % bootstrap interval over games, in words."""
    games = sorted({game for game, _, _ in pairs})
    counts = np.zeros((len(games), 2, 2))
    for game, one, other in pairs:
        counts[games.index(game), int(one), int(other)] += 1

    def of(weights: Any) -> Any:
        table = np.tensordot(weights, counts, axes=1)
        total = table.sum(axis=(-1, -2))
        seen = np.trace(table, axis1=-2, axis2=-1) / total
        expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / total**2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected < 1, (seen - expected) / (1 - expected), np.nan)

    interval = bootstrap_interval(of, len(games))
    words = interval_words(interval, digits=2) if interval.low is not None else interval.note
    return float(of(np.ones((1, len(games))))[0]), words


def _print_misses(metric: str) -> None:
    for row in _read_half(metric, TUNING):
        if row.label == row.rule:
            continue
        before = [one for one in row.game.discussion if one.index < row.message][-6:]
        print(f"\n{row.game.game_id} {row.message}: readers {row.label} {row.second} {sorted(row.answers)}")
        for message in [*before, *(one for one in row.game.discussion if one.index == row.message)]:
            print(f"  [{message.index}] {message.speaker}: {' '.join(message.text.split())[:300]}")
        print(f"  RULE: {row.row.reason}")


def main() -> None:
    """Print the figures of a half."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labels_rows", description=__doc__)
    parser.add_argument("--misses", choices=list(SETS), help="print the misses of a metric on the tuning half")
    parser.add_argument(
        "--final", dest="kept", action="store_true", help="open the kept half, and log that it was opened"
    )
    options = parser.parse_args()
    if options.misses:
        _print_misses(options.misses)
        return
    for metric, figures in (kept_figures() if options.kept else tuning_figures()).items():
        print(f"{metric}, {KEPT if options.kept else TUNING} half")
        for one in figures:
            print(f"  {one.name:38} {one.value:5.2f}  {one.beside}".rstrip())


if __name__ == "__main__":
    main()
