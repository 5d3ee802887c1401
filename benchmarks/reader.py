"""Train the reader that ships: ``make reader``.

Reads the labels of ``data/labels`` that may be trained on, never the kept half or the kept sources. Prints how well
each question is answered for sources that the fit had not seen, and writes ``reader_en.npz`` beside the reader's code
and the model card ``docs/reader.md``. With ``--tune`` it writes nothing: it trains without one source, tunes on that
source's labels as ``dramaturg labels train`` does, and prints what that gains (six minutes).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.labelled_games import LabelledSet
from evaluation.rubric.reader import model
from evaluation.rubric.reader.training import train, tune

SHIPPED = Path(model.__file__).parent / "reader_en.npz"
CARD = Path("docs/reader.md")
_TABLE = "<!-- The table below is written by make reader. -->\n"


def card_table(reader: model.Reader) -> str:
    """The figures of a reader as a Markdown table, one line for each question."""
    lines = ["| question | measure | all | by source left out (yes of messages) |", "|---|---|---|---|"]
    for question, told in reader.card["left out"].items():
        sources = ", ".join(
            f"{name} {value:.2f} ({yes} of {count})" for name, (value, count, yes) in told["sources"].items()
        )
        lines.append(f"| {question} | {told['measure']} | {told['all']:.2f} | {sources} |")
    counts = ", ".join(f"{name} {count}" for name, count in reader.card["messages"].items())
    return (
        f"`{reader.name}`, trained on {sum(reader.card['messages'].values()):,} messages: {counts}.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def print_tuning() -> None:
    """Print balanced accuracy on games left out, before and after tuning on other games of their source."""
    games = LabelledSet.of("tuning", "synthetic").as_training()
    for source in ("aiwolf", "llmafia", "synthetic 1"):
        general = train([one for one in games if one.source != source], "en")
        for one in tune(general, [one for one in games if one.source == source], "own")[1]:
            print(f"{source}, {one.question}: {one.labels} labels, {one.before:.3f} -> {one.after:.3f}", flush=True)


def main() -> None:
    """Train, print and write."""
    began = time.perf_counter()
    reader = train(LabelledSet.of("tuning", "synthetic").as_training(), "en")
    reader.save(SHIPPED)
    table = card_table(reader)
    text = CARD.read_text(encoding="utf-8")
    CARD.write_text(text[: text.index(_TABLE) + len(_TABLE)] + "\n" + table, encoding="utf-8")
    print(table)
    print(f"{SHIPPED.stat().st_size / 1e6:.2f} MB, trained in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    print_tuning() if "--tune" in sys.argv else main()
