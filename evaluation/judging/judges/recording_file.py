"""Recordings of judges' answers: JSON lines that a run in continuous integration plays back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import InputError
from evaluation.escaping import reading_fault
from evaluation.judging.answer_parsing import describe

SUFFIX = ".jsonl"
_REMEDY = "Restore the file, or record it again with `dramaturg persona record FOLDER`."


class Recording(BaseModel):
    """One recorded judgement.

    Attributes:
        key: The request's key under ``model``: a hash of model, prompt version and full prompt.
        model: Who answered.
        prompt_version: Of the prompt that was answered.
        purpose: What it was for.
        subject: What was judged, for people who read the file.
        answers: The answer; with a double check the first and the second.
        raw: What the model wrote.
        parameters: The parameters of the call; empty where none are on record.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(pattern="^[0-9a-f]{64}$")
    model: str
    prompt_version: str = ""
    purpose: str = ""
    subject: str = ""
    answers: tuple[dict[str, Any], ...] = Field(min_length=1, max_length=2)
    raw: str = ""
    parameters: dict[str, float | int] = Field(default_factory=dict)


def read_recordings(place: Path) -> dict[str, Recording]:
    """The recordings in a file, or in all ``.jsonl`` files of a folder, by key; of several the last counts.

    Raises:
        InputError: The place cannot be read, or a line is not a recording (names ``file:line``).
    """
    found: dict[str, Recording] = {}
    for path in sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else [place]:
        for number, line in enumerate(_lines(path), start=1):
            if line.strip():
                recording = _recording(line, f"{path}:{number}")
                found[recording.key] = recording
    return found


def write_recordings(path: Path, recordings: Iterable[Recording]) -> None:
    """Writes recordings in the order of their keys, so that a new recording changes only its own line.

    Raises:
        InputError: The file cannot be written.
    """
    lines = [_line(one) for one in sorted(recordings, key=lambda one: one.key)]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise InputError(f"The recording cannot be written: {error.strerror}.", place=str(path)) from None


def append_recordings(path: Path, recordings: Sequence[Recording]) -> None:
    """Adds recordings at the end, at once: what was received is not lost with the process.

    Raises:
        InputError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(map(_line, recordings)))
    except OSError as error:
        raise InputError(f"The recording cannot be written: {error.strerror}.", place=str(path)) from None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The recording cannot be read: {reading_fault(error)}.", place=str(path), remedy=_REMEDY
        ) from None


def _recording(line: str, place: str) -> Recording:
    try:
        return Recording.model_validate_json(line)
    except ValidationError as error:
        raise InputError(f"{describe(error)}.", place=place, remedy=_REMEDY) from None


def _line(recording: Recording) -> str:
    body = recording.model_dump(mode="json")
    if not recording.parameters:
        del body["parameters"]
    return json.dumps(body, ensure_ascii=True, sort_keys=True) + "\n"
