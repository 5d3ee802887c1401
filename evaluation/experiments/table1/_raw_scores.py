"""The raw scores of an experiment, as TinyTroupe's experiment runner writes them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError, UnreadableFileError
from evaluation.files.strict_json import parse_json, shorten, step
from evaluation.readers.base.limits import Limits

CONTROL, TREATMENT = "Control", "Treatment"

_EXPORT_AGAIN = "Take the file as the experiment wrote it."


def read_scores(path: Path) -> dict[str, dict[str, list[float]]]:
    """The scores in a raw file: by side (``Control``, ``Treatment``), by dimension, NaN for null.

    Raises:
        UnreadableFileError: It is missing or no UTF-8.
        LimitError: It is too large or nested too deep.
        BrokenTranscriptError: It is not JSON, or not what the experiment runner writes; with the JSON path.
    """
    limits = Limits()
    try:
        limits.check_size(path.stat().st_size)
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise UnreadableFileError(
            "There is no such file.", place=str(path), remedy="Name the folder that holds all four raw files."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFileError(f"The file cannot be read: {error}.", place=str(path)) from None
    try:
        content = parse_json(text, limits, nan_is_null=True)
    except InputError as error:
        raise type(error)(error.message, place=f"{path}: {error.place}", remedy=error.remedy) from None
    return {side: _side(content, side, path) for side in (CONTROL, TREATMENT)}


def _side(content: Any, side: str, path: Path) -> dict[str, list[float]]:
    place, value = "$", content
    for key in ("experiments", side, "results"):
        place = step(place, key)
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        raise BrokenTranscriptError("There are no results.", place=f"{path}: {place}", remedy=_EXPORT_AGAIN)
    return {key: _scores(given, step(place, key), path) for key, given in value.items()}


def _scores(given: Any, place: str, path: Path) -> list[float]:
    if not isinstance(given, list):
        raise BrokenTranscriptError(
            f"{shorten(given)!r} is not a list of scores.", place=f"{path}: {place}", remedy=_EXPORT_AGAIN
        )
    return [_score(value, step(place, index), path) for index, value in enumerate(given)]


def _score(value: Any, place: str, path: Path) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BrokenTranscriptError(
            f"{shorten(value)!r} is not a score.", place=f"{path}: {place}", remedy=_EXPORT_AGAIN
        )
    return float(value)
