"""Print which rows of the specifications a test holds: ``python scripts/specification_rows.py``.

The rows stand in ``tests/specification_rows.csv``, each with its test.
"""

from __future__ import annotations

import ast
import csv
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def names_in(file: Path) -> set[str]:
    """Every function of a file."""
    body = ast.parse(file.read_text("utf-8")).body if file.is_file() else []
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def main() -> int:
    """Prints them; 1 when a row has no test."""
    with (ROOT / "tests" / "specification_rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = {path: names_in(ROOT / path) for path in {row["test"].partition("::")[0] for row in rows} if path}
    missing = [
        row for row in rows if row["test"].partition("::")[2] not in known.get(row["test"].partition("::")[0], ())
    ]
    for specification, count in Counter(row["specification"] for row in rows).items():
        held = count - sum(row["specification"] == specification for row in missing)
        print(f"{specification}: {held} of {count} rows held by a test")
    for row in missing:
        print(f"{row['specification']}, {row['section']}: {row['row']}: no test {row['test']!r}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
