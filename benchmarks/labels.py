"""Hold rules and reader against the readers' labels: ``python -m benchmarks.labels``.

Prints how far two readers agree, and the figures of the games that rules were made on. ``--final`` opens the kept half
and the kept sources, and writes date, commit and figures into ``data/labels/openings.csv``: labels that were looked at
while something was tuned show nothing. The reader that ships learned from all labels, so there it is one that is
trained in the same way without these games.

``--model-prompts FOLDER --half tuning --messages 200 --seed 1`` writes the prompts that a model gets about whole
windows of that half, one ``.txt`` each; ``--model-answers FOLDER --half tuning`` measures the ``.json`` answers that
stand beside them under the same names. Answers about kept games are logged as ``--final`` is.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.labelled_games import EVERY, LABELS, Half, Key, LabelledSet
from benchmarks.reader import train
from evaluation.engines.scoring import evaluate_transcript
from evaluation.judging.answers import answer_format
from evaluation.judging.fencing import FENCE
from evaluation.judging.protocol import (
    JudgeKind,
    Judgement,
    JudgementStatus,
    JudgeRequest,
    Report,
    judgement_from,
    unscored,
)
from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, STRATEGIC_DEPTH
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.metrics.coherence import places
from evaluation.rubric.reader.decisions import acts_read, is_left_open
from evaluation.rubric.reader.model import Reader, shipped_reader
from evaluation.rubric.speech import read
from evaluation.rubric_judge.game_reading import read_game
from evaluation.rubric_judge.window_prompt import JudgedMessage, MessageWindow, windows
from evaluation.score import LedgerRow, Method, MetricResult, RowVerdict
from evaluation.statistics.words import percent_interval
from evaluation.transcript import Message, Transcript
from evaluation.workflows.reader_check import Seen, shipped_labels, with_accusations
from evaluation.workflows.reader_check import agreement as agreement_of

OPENINGS = LABELS / "openings.csv"
FEWEST_EXAMPLES = 15
"""An act with fewer labels does not enter the macro average."""
_SETTLED = frozenset({"accurate", "inaccurate"})
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


@dataclass(frozen=True, slots=True)
class _Said:
    """What rule, reader or model say of messages; a message that is missing is one of which nothing is said."""

    strategic: Mapping[Key, bool]
    answers: Mapping[Key, bool]
    references: Mapping[Key, Sequence[_Reference]]
    acts: Mapping[Key, Iterable[_Act]]


def measure(labelled: LabelledSet, reader: Reader | None) -> Iterator[Figure]:
    """The figures of the rule alone or of rule and reader on labelled games.

    Answers: whether a message counts as coherent against whether the readers say that it answers anything. Acts: over
    message, act and target; ``build_case`` and ``accuse_aggressively`` imply ``accuse``, on both sides. A settled
    verdict on a reference is right when the readers gave the same one to a quote that shares half of its characters.
    Settled rows, of depth and coherence: how many are right, and how far a game's score lies from the labelled share,
    with what is left open left out and as the rule would have it. There a message answers only if it answers one of
    the three messages of others before it, which is what coherence asks.
    """
    said, found = _said_by(labelled, reader)
    yield from _compared(labelled, said)
    for name, question, answers in (
        (STRATEGIC_DEPTH.name, "is_strategic", said.strategic),
        (COHERENCE.name, "answers", said.answers),
    ):
        for source in sorted(set(labelled.sources.values())):
            own = {key: row for key, row in labelled.rows.items() if labelled.sources[key[0]] == source}
            pairs = [(bool(row[question]), answers.get(key, False)) for key, row in own.items()]
            yield balanced_accuracy(f"{name}, {source}: balanced accuracy", pairs)
        yield from _settled(labelled, found, name)
        if reader is not None:
            yield from _overruled(labelled, found, name, question)


def _said_by(labelled: LabelledSet, reader: Reader | None) -> tuple[_Said, Mapping[str, Mapping[str, MetricResult]]]:
    """What the rule alone, or rule and reader, say of labelled games; and the results that they say it in."""
    found = {game_id: _results(game, reader) for game_id, game in labelled.games.items()}
    references: dict[Key, list[_Reference]] = {}
    for game_id, game in labelled.games.items():
        for row in found[game_id][MEMORY_ACCURACY.name].ledger:
            if (message := game.message(row.message_id or "")) is not None:
                references.setdefault((game_id, message.index), []).append(_said(row))
    acts = {
        (game_id, index): acts for game_id, game in labelled.games.items() for index, acts in acts_said(game, reader)
    }
    strategic = dict(_by_message(labelled, found, STRATEGIC_DEPTH.name))
    answers = dict(_by_message(labelled, found, COHERENCE.name))
    return _Said(strategic, answers, references, acts), found


def check_figures(reader: Reader | None) -> Iterator[Figure]:
    """How far a reader, or with ``None`` the rule alone, agrees with the labels of ``dramaturg judge --check``."""
    pairs: list[tuple[Seen, Seen]] = []
    labelled = LabelledSet.of("tuning")
    rows = shipped_labels()
    said, _ = _said_by(replace(labelled, games={row["game"]: labelled.games[row["game"]] for row in rows}), reader)
    for row in rows:
        key = (row["game"], row["message"])
        acts = with_accusations(said.acts.get(key, ()))
        holds = bool(said.references.get(key))
        seen = Seen(said.strategic.get(key, False), said.answers.get(key, False), holds, acts)
        pairs.append((Seen.of_label(row), seen))
    for question, (share, interval) in agreement_of(pairs).items():
        yield Figure(question, share, percent_interval(interval))


def _settled(labelled: LabelledSet, found: Mapping[str, Mapping[str, MetricResult]], metric: str) -> Iterator[Figure]:
    """How often settled rows are right, and the rule in those left open; how far a game's score is from its labels."""
    right: dict[bool, list[bool]] = {False: [], True: []}
    distances: dict[str, list[float]] = {"settled": [], "by the rule": []}
    for game_id, game in labelled.games.items():
        labels = {
            message.id: bool(row["is_strategic"] if metric == STRATEGIC_DEPTH.name else recent & {*row["answers"]})
            for message, recent in _with_context(game)
            if (row := labelled.rows.get((game_id, message.index)))
        }
        rows = [
            (labels[row.message_id or ""], row)
            for row in found[game_id][metric].ledger
            if row.message_id in labels and (row.denominator or is_left_open(row))
        ]
        for label, row in rows:
            right[is_left_open(row)].append(label == (_by_rule_if_open(row) == RowVerdict.COUNTS))
        settled = [row.verdict == RowVerdict.COUNTS for _, row in rows if row.denominator]
        if len(rows) >= _FEWEST_ROWS and settled:
            share = sum(label for label, _ in rows) / len(rows)
            by_rule = [_by_rule_if_open(row) == RowVerdict.COUNTS for _, row in rows]
            for name, said in (("settled", settled), ("by the rule", by_rule)):
                distances[name].append(100 * abs(sum(said) / len(said) - share))
    for is_open, name in ((False, "right where settled"), (True, "the rule right where left open")):
        if rights := right[is_open]:
            yield Figure(f"{metric}: {name}", sum(rights) / len(rights), f"{sum(rights)} of {len(rights)}")
    for name, each in distances.items():
        if each:
            yield Figure(f"{metric}: points from the labels, {name}", sum(each) / len(each), f"{len(each)} games")


def _with_context(game: Transcript) -> Iterator[tuple[Message, set[int]]]:
    """The public messages with the indices of the messages of others that coherence looks back to."""
    said = game.discussion
    for message, place in zip(said, places([one.speaker for one in said], [one.round for one in said]), strict=True):
        yield message, {said[one].index for one in place.context}


def _by_rule_if_open(row: LedgerRow) -> str:
    return str(row.details["rule"]["verdict"] if is_left_open(row) else row.verdict)


_FEWEST_ROWS = 10
"""A game with fewer rows has no share worth a comparison."""


def _overruled(
    labelled: LabelledSet, found: Mapping[str, Mapping[str, MetricResult]], metric: str, question: str
) -> Iterator[Figure]:
    """How many of the rows that the reader decided against the rule are right, in all and by the chance it gave."""
    right: dict[str, list[bool]] = {"": []}
    for game_id, game in labelled.games.items():
        for row in found[game_id][metric].ledger:
            message = game.message(row.message_id or "")
            if message is None or (game_id, message.index) not in labelled.rows:
                continue
            label = bool(labelled.rows[game_id, message.index][question])
            if row.method is not Method.READER:
                continue
            is_right = label == (row.verdict is RowVerdict.COUNTS)
            tenth = min(9, int(10 * row.details["chance"]))
            for name in ("", f", {labelled.sources[game_id]}", f", chance 0.{tenth} to 0.{tenth}9"):
                right.setdefault(name, []).append(is_right)
    for name, rows in sorted(right.items()):
        share = sum(rows) / len(rows) if rows else None
        yield Figure(f"{metric}{name}: right where the reader overrules", share, f"{sum(rows)} of {len(rows)}")


def _compared(labelled: LabelledSet, said: _Said) -> Iterator[Figure]:
    for name, question, answers in (
        ("strategic depth", "is_strategic", said.strategic),
        ("answers", "answers", said.answers),
    ):
        pairs = [(bool(row[question]), answers.get(key, False)) for key, row in labelled.rows.items()]
        yield balanced_accuracy(f"{name}: balanced accuracy", pairs)
    yield from _references(labelled, said.references)
    yield from _acts(labelled, said.acts)


def _results(game: Transcript, reader: Reader | None) -> Mapping[str, MetricResult]:
    return evaluate_transcript(game, reader=reader).metrics


def _by_message(
    labelled: LabelledSet, found: Mapping[str, Mapping[str, MetricResult]], metric: str
) -> Iterator[tuple[Key, bool]]:
    for game_id, game in labelled.games.items():
        for row in found[game_id][metric].ledger:
            if (message := game.message(row.message_id or "")) is not None:
                yield (game_id, message.index), _by_rule_if_open(row) == RowVerdict.COUNTS


def _references(labelled: LabelledSet, said: Mapping[Key, Sequence[_Reference]]) -> Iterator[Figure]:
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


def _acts(labelled: LabelledSet, acts_by_message: Mapping[Key, Iterable[_Act]]) -> Iterator[Figure]:
    truth = {
        key: with_accusations({(one["act"], one["target"]) for one in row["acts"]})
        for key, row in labelled.rows.items()
    }
    said = {key: with_accusations(acts) for key, acts in acts_by_message.items()}
    wanted = Counter(act for acts in truth.values() for act, _ in acts)
    given = Counter(act for key, acts in said.items() if key in truth for act, _ in acts)
    right = Counter(act for key, acts in truth.items() for act, _ in acts & said.get(key, frozenset()))
    figures = {act: f1(f"act {act}: F1", right[act], wanted[act], given[act]) for act in sorted(wanted | given)}
    common = [figure.value or 0.0 for act, figure in figures.items() if wanted[act] >= FEWEST_EXAMPLES]
    words = f"{len(common)} acts with {FEWEST_EXAMPLES} labels or more"
    yield f1("acts with target: micro F1", right.total(), wanted.total(), given.total())
    yield Figure("acts with target: macro F1", sum(common) / len(common) if common else None, words)
    yield from figures.values()


def acts_said(game: Transcript, reader: Reader | None) -> Iterator[tuple[int, set[_Act]]]:
    """The acts of each message with their targets, by its index: those of the rule, or of a reader."""
    discussion = Discussion.of(game)
    if reader is None:
        for reading in read(discussion):
            yield reading.message.index, {(str(act.kind), act.target) for act in reading.acts}
    else:
        for reading in acts_read(discussion, reader):
            yield reading.message.index, {(str(act.kind), act.target) for act in reading.acts}


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
        print(f"  {one.name:<66} {value:>7}  {one.words}".rstrip())


def print_labels(*, is_final: bool) -> None:
    """Prints how far readers agree, and the figures of rule and reader; those of kept games are logged."""
    every = LabelledSet.of(*EVERY)
    readers = list(agreement(every.rows, every.second_reading()))
    _print(f"{len(every.rows)} messages of {len(every.games)} games", readers)
    halves: tuple[Half, ...] = ("kept", "kept source") if is_final else ("tuning",)
    fitted = train(LabelledSet.of("tuning", "synthetic").as_training(), "en") if is_final else shipped_reader()
    told = "reader fitted without them" if is_final else "reader, which learned from them"
    for half in halves:
        labelled = LabelledSet.of(half)
        for name, reader in (("rule alone", None), (told, fitted)):
            figures = list(measure(labelled, reader))
            _print(f"{half}, {len(labelled.rows)} messages of {len(labelled.games)} games: {name}", figures)
            if is_final:
                log_opening(f"{half}, {name}", figures)


_HALVES: Mapping[str, tuple[Half, ...]] = {"tuning": ("tuning",), "kept": ("kept", "kept source")}


def _file_name(request: JudgeRequest) -> str:
    return request.subject.replace(" ", "_")


def write_prompts(folder: Path, half: str, messages: int = 200) -> int:
    """Writes the prompts about windows of a half's games, sources and games in turn; the number of their messages."""
    games, sources = LabelledSet.games_of(*_HALVES[half])
    chance = random.Random(1)
    by_source: dict[str, list[list[MessageWindow]]] = {}
    for game_id, game in sorted(games.items()):
        found = windows(game)
        by_source.setdefault(sources[game_id], []).append(chance.sample(found, len(found)))
    rows = [chance.sample(each, len(each)) for _, each in sorted(by_source.items())]
    # The first window of every game of a source, then the second of each, ...
    queues = [[one for some in zip_longest(*row) for one in some if one is not None] for row in rows]
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for window in (one for some in zip_longest(*queues) for one in some if one is not None):
        if written >= messages:
            break
        request = window.request()
        user = f"{request.prompt.text}\n\n{answer_format(request.answer)}".replace(FENCE, "<<5f0c1d9e7a3b2846>>")
        text = f"SYSTEM\n\n{request.prompt.system}\n\nUSER\n\n{user}\n"
        (folder / f"{_file_name(request)}.txt").write_text(text, encoding="utf-8")
        written += len(window.messages)
    return written


class FolderJudge:
    """Answers with what stands in a folder, one file for each window; of other windows it says nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:  # noqa: ARG002
        """One judgement per request, in order."""
        return [self._judgement(request) for request in requests]

    def _judgement(self, request: JudgeRequest) -> Judgement:
        kind, path = JudgeKind.RECORDED, self._folder / f"{_file_name(request)}.json"
        if not path.exists():
            return unscored(request, JudgementStatus.NOT_SCORED, "no file", judge=kind, model="folder")
        answer = request.answer.parse(path.read_text(encoding="utf-8"))
        return judgement_from(request, [answer], judge=kind, model="folder")


def measure_answers(folder: Path, half: str) -> Iterator[Figure]:
    """The figures of answers to the prompts in a folder, over all messages of windows that have an answer.

    Answers here: whether the answer names any message that is answered, however far back.
    """
    labelled = LabelledSet.of(*_HALVES[half])
    said: dict[Key, JudgedMessage] = {}
    asked: set[Key] = set()
    left_out: Counter[str] = Counter()
    for game_id, game in labelled.games.items():
        read = asyncio.run(read_game(game, {}, FolderJudge(folder)))
        said |= {(game_id, one.message.index): one for one in read.said.values()}
        left_out.update(read.left_out)
        for window in windows(game):
            if (folder / f"{_file_name(window.request())}.json").exists():
                asked |= {(game_id, message.index) for message in window.messages}
    shown = replace(labelled, rows={key: row for key, row in labelled.rows.items() if key in asked})
    yield Figure("messages with an entry", len(said) / len(asked) if asked else None, f"{len(said)} of {len(asked)}")
    for what, count in left_out.items():
        yield Figure(f"left out: {what}", None, str(count))
    references = {
        key: [_Reference(each.start, each.end, each.verdict) for each in one.references] for key, one in said.items()
    }
    acts = {key: [(str(kind), target) for kind, target in one.acts] for key, one in said.items()}
    strategic = {key: one.is_strategic for key, one in said.items()}
    yield from _compared(
        shown, _Said(strategic, {key: bool(one.answers) for key, one in said.items()}, references, acts)
    )


def main() -> None:
    """Measure, print, and log when kept labels were opened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--final", action="store_true", help="open the kept games; date, commit and figures are logged")
    parser.add_argument(
        "--check", action="store_true", help="rule and reader on the labels of `dramaturg judge --check`"
    )
    parser.add_argument("--model-prompts", type=Path, metavar="FOLDER", help="write prompts about whole windows")
    parser.add_argument("--model-answers", type=Path, metavar="FOLDER", help="measure answers to such prompts")
    parser.add_argument("--half", choices=sorted(_HALVES), default="tuning", help="the games of prompts and answers")
    options = parser.parse_args()
    if options.check:
        _print("the rule on the labels of `judge --check`", list(check_figures(None)))
        labelled = LabelledSet.of(*EVERY)
        asked = {labelled.sources[row["game"]] for row in shipped_labels()}
        reader = train([one for one in labelled.as_training() if one.source not in asked], "en")
        _print("the reader, fitted without their sources", list(check_figures(reader)))
    elif options.model_prompts is not None:
        count = write_prompts(options.model_prompts, options.half)
        print(f"Prompts about {count} messages of the half {options.half!r} are in {options.model_prompts}.")
    elif options.model_answers is not None:
        figures = list(measure_answers(options.model_answers, options.half))
        _print(f"a model's answers, {options.half}", figures)
        if options.half == "kept":
            log_opening(f"kept, a model's answers in {options.model_answers.name}", figures)
    else:
        print_labels(is_final=options.final)


if __name__ == "__main__":
    main()
