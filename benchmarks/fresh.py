"""Hold rules and reader against sentences and games that were written and labelled without seeing them.

``python -m benchmarks.fresh`` prints, for ``data/labels/fresh``, how many verdicts a careful reader would give as well,
metric by metric; with ``--wrong`` every other one. Nothing is tuned on these files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.score import LedgerRow, RowVerdict
from evaluation.transcript import Elimination, Message, Player, Transcript, Vote

FOLDER = Path("data/labels/fresh")
_EVIL = frozenset({"mafia", "werewolf", "wolf", "minion", "godfather"})
_COUNTS = {RowVerdict.COUNTS: True, RowVerdict.DOES_NOT_COUNT: False, RowVerdict.EXCLUDED: None}
_FITS = {"fits": True, "does_not_fit": False, "none": None}


class Finding(NamedTuple):
    """A verdict beside the label: the kind of text, what is asked, which message, and whether both say the same."""

    kind: str
    question: str
    message: str
    is_right: bool
    words: str


def _game(game_id: str, entry: Mapping[str, Any], said: Sequence[Mapping[str, Any]]) -> Transcript:
    return Transcript(
        game_id=game_id,
        source_format="fresh",
        language="en",
        players=tuple(
            Player(name=name, role=role, alignment="mafia" if role.lower() in _EVIL else "town")
            for name, role in entry["players"].items()
        ),
        messages=tuple(
            Message(id=f"m{at}", index=at, round=one["round"], speaker=one["speaker"], text=one["text"])
            for at, one in enumerate(said)
        ),
        votes=tuple(Vote(**one) for one in entry["votes"]),
        eliminations=tuple(Elimination(**one) for one in entry["eliminations"]),
    )


def _items() -> Iterator[tuple[str, Transcript, Mapping[int, Mapping[str, Any]]]]:
    """Each text with its kind, and the labels of messages by their place."""
    for line in (FOLDER / "sentences.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        said = [*entry["context"], entry["message"]]
        yield "sentences", _game(entry["id"], entry, said), {len(said) - 1: entry["labels"]}
    for line in (FOLDER / "games.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        labels = {at: one["labels"] for at, one in enumerate(entry["messages"])}
        yield "games", _game(entry["id"], entry, entry["messages"]), labels


def findings() -> Iterator[Finding]:
    """Every verdict on a labelled message beside its label."""
    for kind, game, labels in _items():
        rows: dict[tuple[str, str | None], list[LedgerRow]] = {}
        for name, result in evaluate_transcript(game).metrics.items():
            for row in result.ledger:
                rows.setdefault((name, row.message_id), []).append(row)
        for at, label in labels.items():
            message = game.messages[at]
            for question, is_right, words in _of_message(message, label, rows):
                yield Finding(kind, question, f"{game.game_id}:{at}", is_right, words)


def _of_message(
    message: Message, label: Mapping[str, Any], rows: Mapping[tuple[str, str | None], Sequence[LedgerRow]]
) -> Iterator[tuple[str, bool, str]]:
    for name, wanted in (
        (STRATEGIC_DEPTH.name, label["is_strategic"]),
        (COHERENCE.name, bool(label["answers"])),
    ):
        for row in rows.get((name, message.id), ()):
            if row.verdict is not RowVerdict.EXCLUDED:
                yield name, _COUNTS[row.verdict] == wanted, f"{row.reason} | {message.text}"
    fits = _FITS[label["role_fit"]]
    for row in rows.get((ROLE_CONSISTENCY.name, message.id), ()):
        words = f"{row.reason} Wanted: {label['role_fit']} | {message.text}"
        yield "role consistency, all messages", _COUNTS[row.verdict] == fits, words
        if row.verdict is not RowVerdict.EXCLUDED:
            yield "role consistency, where decided", _COUNTS[row.verdict] == fits, words
    claims = rows.get((MEMORY_ACCURACY.name, message.id), ())
    yield "holds a reference", bool(claims) == bool(label["references"]), message.text
    spans = [(message.text.find(one["quote"]), len(one["quote"]), one["verdict"]) for one in label["references"]]
    for row in claims:
        if (is_accurate := _COUNTS[row.verdict]) is not None:
            claim = row.evidence[0]
            same = [
                verdict
                for start, length, verdict in spans
                if 2 * (min(claim.end, start + length) - max(claim.start, start))
                >= min(claim.end - claim.start, length)
            ]
            wanted = "accurate" if is_accurate else "inaccurate"
            yield "memory, settled", wanted in same, f"{claim.text}: {row.reason} Labelled: {same} | {message.text}"


def main() -> None:
    """Print the figures, and what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrong", action="store_true", help="print every verdict that differs from its label")
    options = parser.parse_args()
    told = list(findings())
    for kind, question in dict.fromkeys((one.kind, one.question) for one in told):
        own = [one for one in told if (one.kind, one.question) == (kind, question)]
        right = sum(one.is_right for one in own)
        print(f"{kind:<10} {question:<32} {right / len(own):.3f}  {right} of {len(own)}")
        if options.wrong:
            for one in own:
                if not one.is_right:
                    print(f"    {one.message}: {one.words}")


if __name__ == "__main__":
    main()
