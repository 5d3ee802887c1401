"""Train the reader that ships: ``make reader``.

Reads the labels of ``data/labels`` that may be trained on, never the kept half or the kept sources. Prints how well
each question is answered for sources that the fit had not seen, and writes ``reader_en.npz`` beside the reader's code
and the model card ``docs/reader.md``.
"""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.labelled_games import LabelledSet
from evaluation.rubric.reader import model
from evaluation.rubric.reader.training import train

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
    main()
