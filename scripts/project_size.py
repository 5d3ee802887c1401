"""Print how large the project is: code lines, modules, commands, options, tables, documents.

    python scripts/project_size.py [CHECKOUT]

Code lines are lines of Python with code on them, without blanks, comments and docstrings. Commands and options are
counted from the command line of the checkout, without the alias ``eval``; what it needs must be installed: the
environment of this one will do.
"""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from pathlib import Path

PACKAGES = ("evaluation", "dashboard")
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_COMMANDS = """
from typer.main import get_command
from evaluation.cli.main import app

def walk(command, parent):
    context = command.make_context("x", [], parent=parent, resilient_parsing=True)
    children = {name: child for name, child in dict(getattr(command, "commands", {})).items() if name != "eval"}
    # Kept alive: the same object is the same declaration.
    found = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
    yield command.callback is not None and not children, found
    for child in children.values():
        yield from walk(child, context)

found = list(walk(get_command(app), None))
options = [one for _, each in found for one in each]
print(sum(is_leaf for is_leaf, _ in found), len({id(one) for one in options}), len(options))
"""


def code_lines(path: Path) -> int:
    """Lines of a module with code on them."""
    source = path.read_text("utf-8")
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docstrings.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def _files(root: Path, *patterns: str) -> list[Path]:
    return [path for pattern in patterns for path in root.glob(pattern) if "__pycache__" not in path.parts]


def _lines(paths: list[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def commands(root: Path) -> tuple[int, int, int]:
    """Commands without sub-commands and without the alias ``eval``; their declared options; options over commands."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", _COMMANDS], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    count, declared, options = map(int, done.stdout.split())
    return count, declared, options


def main(root: Path) -> None:
    """Prints a line for each figure of the checkout."""
    modules = [path for package in PACKAGES for path in _files(root, f"{package}/**/*.py")]
    docs = _files(root, "docs/*.md")
    sql = "\n".join(
        path.read_text("utf-8") for path in _files(root, "evaluation/store/**/*.py", "evaluation/store/*.sql")
    )
    count, declared, options = commands(root)
    rows = {
        "code lines of Python in evaluation and dashboard": sum(map(code_lines, modules)),
        "modules": len(modules),
        "lines of Python in scripts": _lines(_files(root, "scripts/*.py")),
        "lines of templates": _lines(_files(root, "evaluation/**/*.j2", "evaluation/**/*.css")),
        "lines of JavaScript": _lines(_files(root, "dashboard/**/*.js")),
        "lines of tests": _lines(_files(root, "tests/**/*.py")),
        "lines of benchmarks": _lines(_files(root, "benchmarks/**/*.py")),
        "commands": count,
        "options, one that is declared for several commands once": declared,
        "options, counted at each command": options,
        "tables and views in the store": len(set(re.findall(r"CREATE (?:OR REPLACE )?(?:TABLE|VIEW) (\w+)", sql))),
        "pages of docs": len(docs),
        "words of docs": sum(len(path.read_text("utf-8").split()) for path in docs),
        "make targets": len(
            re.findall(r"^\.PHONY:(.*)", (root / "Makefile").read_text("utf-8"), re.MULTILINE)[0].split()
        ),
    }
    for name, value in rows.items():
        print(f"{value:>8,}  {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve())
