"""Print how this project's code is laid out, beside that of four libraries it learns from where they are installed.

Usage: ``python scripts/structure.py [FOLDER ...]``. A folder replaces this checkout's ``evaluation`` and ``dashboard``,
so that two states can be compared.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODELS = ("inspect_ai.scorer", "pydantic_evals", "sqlite_utils", "httpx")
SIMILAR_LINES = 6
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.comprehension, ast.match_case)
_HEADINGS = (
    "code",
    "files",
    "lines",
    "median lines of a file",
    "functions",
    "median lines of a function",
    "branches per function",
    "most modules in a folder",
    "private modules",
    "similar blocks of six lines",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Figures of some folders of Python code.

    Attributes:
        lines: All lines, with comments and docstrings.
        branches: Conditions, loops, handlers and cases for each function, on average.
        fullest: Modules in the folder that holds most.
        similar: Blocks of six lines or more that stand in two files, data and imports left out.
    """

    files: int
    lines: int
    median_file: float
    functions: int
    median_function: float
    branches: float
    fullest: int
    private: int
    similar: int


def sources(folders: Sequence[Path]) -> Iterator[Path]:
    """The Python files below ``folders``."""
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def layout(folders: Sequence[Path]) -> Layout:
    """Measures the code below ``folders``."""
    paths = list(sources(folders))
    texts = [path.read_text("utf-8") for path in paths]
    trees = [ast.parse(text) for text in texts]
    functions = [
        node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    modules = [path for path in paths if path.name != "__init__.py"]
    folders_of = Counter(path.parent for path in modules if not re.match(r"m\d{4}_", path.name))
    return Layout(
        files=len(paths),
        lines=sum(text.count("\n") for text in texts),
        median_file=statistics.median(text.count("\n") for text in texts),
        functions=len(functions),
        median_function=statistics.median((node.end_lineno or 0) - node.lineno + 1 for node in functions),
        branches=sum(isinstance(node, BRANCHES) for tree in trees for node in ast.walk(tree)) / len(functions),
        fullest=max(folders_of.values()),
        private=sum(path.name.startswith("_") for path in modules),
        similar=len(similar_blocks(paths)),
    )


def similar_blocks(paths: Sequence[Path]) -> list[str]:
    """What pylint says of blocks that stand in two files; imports, signatures, comments and docstrings do not count."""
    options = (
        "--disable=all",
        "--enable=duplicate-code",
        f"--min-similarity-lines={SIMILAR_LINES}",
        "--ignore-imports=yes",
        "--ignore-signatures=yes",
        "--output-format=json",
        "--score=no",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pylint", *options, *map(str, paths)], capture_output=True, text=True, check=False
    )
    return [message["message"] for message in json.loads(done.stdout or "[]")]


def installed(name: str) -> Path | None:
    """The folder of an installed package, without importing it; ``None`` where it is not installed."""
    try:
        spec = importlib.util.find_spec(name.split(".")[0])
    except ModuleNotFoundError:
        return None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent.joinpath(*name.split(".")[1:])
    return folder if folder.is_dir() else None


def row(name: str, figures: Layout) -> str:
    """A line of the table."""
    cells = (
        name,
        figures.files,
        figures.lines,
        f"{figures.median_file:g}",
        figures.functions,
        f"{figures.median_function:g}",
        f"{figures.branches:.2f}",
        figures.fullest,
        figures.private,
        figures.similar,
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def main(arguments: Sequence[str]) -> None:
    """Prints the table in Markdown."""
    folders = [Path(argument) for argument in arguments] or [ROOT / "evaluation", ROOT / "dashboard"]
    print("| " + " | ".join(_HEADINGS) + " |")
    print("|" + " --- |" * len(_HEADINGS))
    print(row("Dramaturg", layout(folders)))
    for name in MODELS:
        folder = installed(name)
        if folder is not None:
            print(row(name, layout([folder])))


if __name__ == "__main__":
    main(sys.argv[1:])
