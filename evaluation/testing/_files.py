"""Load the discussions that a test names: transcripts, files, or folders of files."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from evaluation.errors import InputError
from evaluation.readers import read_path
from evaluation.transcript import Transcript

Place = str | PathLike[str]


def transcripts_in(place: Iterable[Transcript] | Place) -> list[Transcript]:
    """The transcripts that a test names.

    Raises:
        InputError: A file cannot be read, or holds none.
    """
    if not isinstance(place, str | PathLike):
        return list(place)
    found = []
    for result in read_path(Path(place)):
        if result.error is not None:
            raise result.error
        if result.transcript is not None:
            found.append(result.transcript)
    return found


def the_transcript(place: Transcript | Place) -> Transcript:
    """The one transcript that a test names.

    Raises:
        InputError: There are several, or it cannot be read.
    """
    if isinstance(place, Transcript):
        return place
    found = transcripts_in(place)
    if len(found) > 1:
        raise InputError(f"There are {len(found)} discussions.", place=str(place), remedy="Read them, and assert each.")
    return found[0]
