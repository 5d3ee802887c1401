"""Write transcripts as canonical JSON, one file each, in a zip that can be imported again without loss."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from evaluation.transcript import Transcript

_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 60


def write_canonical(transcripts: Iterable[Transcript], target: IO[bytes]) -> int:
    """Writes a zip with one file per transcript, and returns how many are in it.

    A file's name begins with the game's id, as far as any system takes it, and ends with the transcript's.
    """
    count = 0
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for transcript in transcripts:
            count += 1
            archive.writestr(_file_name(transcript), transcript.to_json(indent=2) + "\n")
    return count


def _file_name(transcript: Transcript) -> str:
    # No leading dot: hidden files are passed over when the zip is read.
    name = _NOT_FOR_NAMES.sub("-", transcript.game_id)[:_LONGEST_NAME].strip("-.")
    return f"{name or 'game'}-{transcript.id}.json"
