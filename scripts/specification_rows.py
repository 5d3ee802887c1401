"""Print which rows of the specifications tests hold: ``python scripts/specification_rows.py [CHECKOUT]``.

The rows stand in ``tests/specification_rows.csv`` of this script's checkout. For another one, such as that of 98ef06c,
a row's test is the one under ``before`` where that is filled: its name at that time, or ``-`` where there was none.
"""

from __future__ import annotations

import ast
import csv
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "tests" / "specification_rows.csv"
NO_TEST = ("", "-")


def names_in(file: Path) -> set[str]:
    """Every function of a file, and every method behind the name of its class."""
    if not file.is_file():
        return set()
    found = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {prefix + one.name for one in inner if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    return found


def main() -> int:
    """Prints them; 1 when a test that a row names is not there."""
    checkout = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    with ROWS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known: dict[str, set[str]] = {}
    total, held = Counter[str](), Counter[str]()
    untested, missing = [], []
    for row in rows:
        test = row["test"] if checkout == ROOT else row["before"] or row["test"]
        path, _, name = test.partition("::")
        words = f"{row['specification']}, {row['section']}: {row['row']}"
        total[row["specification"]] += 1
        if test in NO_TEST:
            untested.append(words)
        elif name in known.setdefault(path, names_in(checkout / path)):
            held[row["specification"]] += 1
        else:
            missing.append(f"{words}: {test}")
    for specification, count in total.items():
        print(f"{specification}: {held[specification]} of {count} rows held by a test")
    print(f"{held.total()} of {total.total()} rows held, {len(untested)} without a test, {len(missing)} missing")
    for words in untested:
        print(f"without a test: {words}")
    for words in missing:
        print(f"missing: {words}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
