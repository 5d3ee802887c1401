"""Hold rules and reader against the readers' labels: ``python -m benchmarks.labels``.

Prints how far two readers agree, and the figures of the games that rules and reader were made on (the reader's by fits
that had not seen the source). ``--final`` opens the kept half and the two kept sources, and writes date, commit and
figures into ``data/labels/openings.csv``: labels that were looked at while something was tuned show nothing.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.labelled_games import LABELS, Half, Key, LabelledSet
from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader.model import Reader, shipped_reader
from evaluation.rubric.speech.readings import read
from evaluation.score import LedgerRow, MetricResult, RowVerdict
from evaluation.transcript import Transcript

OPENINGS = LABELS / "openings.csv"
FEWEST_EXAMPLES = 15
"""An act with fewer labels does not enter the macro average."""
_SETTLED = frozenset({"accurate", "inaccurate"})
_IMPLY_ACCUSE = frozenset({"accuse_aggressively", "build_case"})
_Act = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the output: a name, a value (``None``: not defined), and what stands beside it in words."""

    name: str
    value: float | None
    words: str = ""


class _Reference(NamedTuple):
    """A reference with its characters in the message and a verdict: accurate, inaccurate or another word."""

    start: int
    end: int
    verdict: str

    def is_same(self, other: _Reference) -> bool:
        """Whether they share half of the characters of the shorter one."""
        shared = min(self.end, other.end) - max(self.start, other.start)
        return shared >= 0.5 * min(self.end - self.start, other.end - other.start)


def balanced_accuracy(name: str, pairs: Sequence[tuple[bool, bool]]) -> Figure:
    """The mean of the shares of yes and of no that were told apart.

    Args:
        name: What is measured.
        pairs: The label and what was said, for each message.
    """
    yes = [said for label, said in pairs if label]
    no = [said for label, said in pairs if not label]
    value = (sum(yes) / len(yes) + sum(not said for said in no) / len(no)) / 2 if yes and no else None
    return Figure(name, value, f"{sum(yes)} of {len(yes)} yes, {sum(not said for said in no)} of {len(no)} no")


def f1(name: str, right: int, labelled: int, said: int) -> Figure:
    """The harmonic mean of precision and recall."""
    value = 2 * right / (labelled + said) if labelled + said else None
    return Figure(name, value, f"{right} right of {said} said, {labelled} labelled")


def measure(labelled: LabelledSet, reader: Reader | None) -> Iterator[Figure]:
    """The figures of the rule alone or of rule and reader on labelled games.

    Answers: whether a message counts as coherent against whether the readers say that it answers anything. Acts: over
    message, act and target; ``build_case`` and ``accuse_aggressively`` imply ``accuse``, on both sides. A settled
    verdict on a reference is right when the readers gave the same one to a quote that shares half of its characters.
    """
    found = {game_id: _results(game, reader) for game_id, game in labelled.games.items()}
    rows = {name: dict(_by_message(labelled, found, name)) for name in (STRATEGIC_DEPTH.name, COHERENCE.name)}
    for name, metric, question in (
        ("strategic depth", STRATEGIC_DEPTH.name, "is_strategic"),
        ("answers", COHERENCE.name, "answers"),
    ):
        pairs = [(bool(row[question]), rows[metric].get(key, False)) for key, row in labelled.rows.items()]
        yield balanced_accuracy(f"{name}: balanced accuracy", pairs)
    yield from _references(labelled, found)
    yield from _acts(labelled, reader)


def _results(game: Transcript, reader: Reader | None) -> Mapping[str, MetricResult]:
    return evaluate_transcript(game, reader=reader).metrics


def _by_message(
    labelled: LabelledSet, found: Mapping[str, Mapping[str, MetricResult]], metric: str
) -> Iterator[tuple[Key, bool]]:
    for game_id, game in labelled.games.items():
        for row in found[game_id][metric].ledger:
            if (message := game.message(row.message_id or "")) is not None:
                yield (game_id, message.index), row.verdict is RowVerdict.COUNTS


def _references(labelled: LabelledSet, found: Mapping[str, Mapping[str, MetricResult]]) -> Iterator[Figure]:
    said: dict[Key, list[_Reference]] = {}
    for game_id, game in labelled.games.items():
        for row in found[game_id][MEMORY_ACCURACY.name].ledger:
            if (message := game.message(row.message_id or "")) is not None:
                said.setdefault((game_id, message.index), []).append(_said(row))
    truth = {
        key: [_located(labelled.games, key, one) for one in row["references"]] for key, row in labelled.rows.items()
    }
    both = sum(bool(truth[key]) and bool(said.get(key)) for key in truth)
    holding = sum(map(bool, truth.values()))
    yield f1("holds a reference: F1", both, holding, sum(bool(said.get(key)) for key in truth))
    settled = [(key, one) for key in truth for one in said.get(key, ()) if one.verdict in _SETTLED]
    right = sum(
        any(one.is_same(other) and one.verdict == other.verdict for other in truth[key]) for key, one in settled
    )
    value = right / len(settled) if settled else None
    yield Figure("settled references: right", value, f"{right} of {len(settled)}")
    total = sum(map(len, truth.values()))
    reached = sum(
        any(one.is_same(other) and one.verdict in _SETTLED for one in said.get(key, ()))
        for key, references in truth.items()
        for other in references
    )
    yield Figure("labelled references settled", reached / total if total else None, f"{reached} of {total}")


def _said(row: LedgerRow) -> _Reference:
    verdict = {RowVerdict.COUNTS: "accurate", RowVerdict.DOES_NOT_COUNT: "inaccurate"}.get(row.verdict, "open")
    return _Reference(row.evidence[0].start, row.evidence[0].end, verdict)


def _located(games: Mapping[str, Transcript], key: Key, label: Mapping[str, str]) -> _Reference:
    """A labelled quote in the message's text; readers saw every run of white space as one blank."""
    text = games[key[0]].messages[key[1]].text
    pattern = r"\s+".join(re.escape(word) for word in label["quote"].split())
    found = re.search(pattern, text, re.IGNORECASE)
    start, end = found.span() if found else (0, len(text))
    return _Reference(start, end, label["verdict"])


def _acts(labelled: LabelledSet, reader: Reader | None) -> Iterator[Figure]:
    truth = {key: _implied({(one["act"], one["target"]) for one in row["acts"]}) for key, row in labelled.rows.items()}
    said = {
        (game_id, index): _implied(acts)
        for game_id, game in labelled.games.items()
        for index, acts in acts_said(game, reader)
    }
    wanted = Counter(act for acts in truth.values() for act, _ in acts)
    given = Counter(act for key, acts in said.items() if key in truth for act, _ in acts)
    right = Counter(act for key, acts in truth.items() for act, _ in acts & said.get(key, frozenset()))
    figures = {act: f1(f"act {act}: F1", right[act], wanted[act], given[act]) for act in sorted(wanted | given)}
    common = [figure.value or 0.0 for act, figure in figures.items() if wanted[act] >= FEWEST_EXAMPLES]
    words = f"{len(common)} acts with {FEWEST_EXAMPLES} labels or more"
    yield Figure("acts with target: macro F1", sum(common) / len(common) if common else None, words)
    yield from figures.values()


def acts_said(game: Transcript, reader: Reader | None) -> Iterator[tuple[int, set[_Act]]]:
    """The acts of each message with their targets, by its index: those of the rule, or of a reader."""
    discussion = Discussion.of(game)
    if reader is None:
        for reading in read(discussion):
            yield reading.message.index, {(str(act.kind), act.target) for act in reading.acts}
    else:
        for prepared, one in zip(discussion.messages, reader.read(discussion), strict=True):
            yield prepared.message.index, {(str(act.kind), act.target) for act in one.acts}


def _implied(acts: Iterable[_Act]) -> frozenset[_Act]:
    acts = frozenset(acts)
    return acts | {("accuse", target) for act, target in acts if act in _IMPLY_ACCUSE}


def agreement(first: Mapping[Key, Mapping[str, Any]], second: Mapping[Key, Mapping[str, Any]]) -> Iterator[Figure]:
    """How far two readers agree on the messages that both read, label by label."""
    keys = [key for key in first if key in second]
    questions: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
        "strategic depth": lambda row: bool(row["is_strategic"]),
        "answers": lambda row: bool(row["answers"]),
        "holds a reference": lambda row: bool(row["references"]),
    }
    for name, answer in questions.items():
        same = sum(answer(first[key]) == answer(second[key]) for key in keys)
        yield Figure(
            f"two readers, {name}: equal answers", same / len(keys) if keys else None, f"{same} of {len(keys)}"
        )
    sides = [[{(one["act"], one["target"]) for one in rows[key]["acts"]} for key in keys] for rows in (first, second)]
    right = sum(len(one & other) for one, other in zip(*sides, strict=True))
    yield f1("two readers, acts with target: F1", right, sum(map(len, sides[0])), sum(map(len, sides[1])))


def agreement_with_earlier(labelled: LabelledSet) -> Iterator[Figure]:
    """How often the labels say the same as those of an earlier day, whose instructions were wider."""
    for question, key_of in (("depth", "is_strategic"), ("coherence", "answers"), ("references", "references")):
        old = labelled.earlier_readings(question)
        pairs = [
            (bool(row[key_of]), bool(labelled.rows[key][key_of])) for key, row in old.items() if key in labelled.rows
        ]
        same = sum(one == other for one, other in pairs)
        words = (
            f"{same} of {len(pairs)}; yes {sum(one for one, _ in pairs)} then, {sum(other for _, other in pairs)} now"
        )
        yield Figure(
            f"labels of an earlier day, {question}: equal answers", same / len(pairs) if pairs else None, words
        )


def log_opening(set_name: str, figures: Iterable[Figure], path: Path = OPENINGS) -> None:
    """Appends one line per figure of kept labels to the log of openings: date, commit, set, figure and value."""
    is_new = not path.exists()
    now, commit = datetime.now(UTC).isoformat(timespec="seconds"), _commit()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(("opened_at", "commit", "set", "figure", "value", "words"))
        for one in figures:
            writer.writerow((now, commit, set_name, one.name, "" if one.value is None else one.value, one.words))


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
    changed = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True)
    return done.stdout.strip() + ("+changes" if changed.stdout.strip() else "")


def _print(title: str, figures: Sequence[Figure]) -> None:
    print(title)
    for one in figures:
        value = "-" if one.value is None else f"{one.value:.3f}"
        print(f"  {one.name:<52} {value:>7}  {one.words}".rstrip())


def print_labels(*, is_final: bool) -> None:
    """Prints how far readers agree, and the figures of rule and reader; those of kept games are logged."""
    every = LabelledSet.of("tuning", "kept", "kept source", "synthetic")
    readers = [*agreement(every.rows, every.second_reading()), *agreement_with_earlier(every)]
    _print(f"{len(every.rows)} messages of {len(every.games)} games", readers)
    halves: tuple[Half, ...] = ("kept", "kept source") if is_final else ("tuning",)
    for half in halves:
        labelled = LabelledSet.of(half)
        for name, reader in (("rule alone", None), ("reader", shipped_reader())):
            figures = list(measure(labelled, reader))
            told = ", which it was trained on" if half == "tuning" and reader else ""
            _print(f"{half}, {len(labelled.rows)} messages of {len(labelled.games)} games: {name}{told}", figures)
            if is_final:
                log_opening(f"{half}, {name}", figures)


def main() -> None:
    """Measure, print, and log when kept labels were opened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--final", action="store_true", help="open the kept games; date, commit and figures are logged")
    print_labels(is_final=parser.parse_args().final)


if __name__ == "__main__":
    main()
