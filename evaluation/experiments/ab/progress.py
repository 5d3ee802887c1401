"""Progress file of an A/B test: one line for each finished run, written before the next begins."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.errors import InputError
from evaluation.experiments.ab.results import RunResult

_REMEDY = "Restore the file, or name another one with --state to start again."


class FinishedRuns:
    """The runs that are done, by key; they are kept in memory only without a file.

    Args:
        path: The file; made by the first run.
        known: Runs that are done besides those in the file.

    Raises:
        InputError: The file holds something else.
    """

    def __init__(self, path: Path | None = None, known: Mapping[str, RunResult] | None = None) -> None:
        self._path = path
        self._done = {**(known or {}), **({} if path is None else _read(path))}

    def find(self, key: str) -> RunResult | None:
        """The run under that key, if it is done."""
        return self._done.get(key)

    def in_memory(self) -> FinishedRuns:
        """A copy that keeps further runs in memory only."""
        return FinishedRuns(known=self._done)

    def keep(self, key: str, run: RunResult) -> None:
        """Stores a run; it is safe when this returns.

        Raises:
            InputError: The file cannot be written.
        """
        self._done[key] = run
        if self._path is None:
            return
        line = run_line(key, run)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a+b") as file:
                file.write(_separator(file) + line.encode("ascii") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"Runs cannot be kept: {error.strerror}.", place=str(self._path)) from None


def run_line(key: str, run: RunResult) -> str:
    """A run under its key as JSON in one line."""
    return json.dumps({"key": key, **run.as_dict()}, ensure_ascii=True)


def _separator(file: Any) -> bytes:
    """A line end where a killed run left half a line."""
    if not file.seek(0, os.SEEK_END):
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def _read(path: Path) -> dict[str, RunResult]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The runs so far cannot be read: {error}.", place=str(path), remedy=_REMEDY) from None
    found = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            parsed = parsed_run(line)
            if parsed is not None:
                found[parsed[0]] = parsed[1]
            elif not _is_half(line):
                raise InputError("This is not a run of an A/B test.", place=f"{path}:{number}", remedy=_REMEDY)
    return found


def _is_half(line: str) -> bool:
    """Whether a line begins like one of ``run_line`` and lacks its end, as a killed process leaves it."""
    return line.startswith('{"key": "') and not line.endswith("}")


def parsed_run(line: str) -> tuple[str, RunResult] | None:
    """The key and the run in a line of ``run_line``; ``None`` when it is none."""
    try:
        body = json.loads(line)
        return str(body["key"]), _run(body)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _run(body: Mapping[str, Any]) -> RunResult:
    metrics = {str(name): None if value is None else float(value) for name, value in body["metrics"].items()}
    return RunResult(
        variant=str(body["variant"]),
        run_index=int(body["run_index"]),
        seed=int(body["seed"]),
        status="done",
        metrics=metrics,
        validations=tuple([dict(one) for one in body["validations"]]),
        reference=str(body["reference"]),
        is_resumed=True,
    )
