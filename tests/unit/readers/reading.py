"""Hand a file to the readers and look at what became of it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.readers import Answers, ReadResult, read_path, read_upload
from evaluation.transcript import Transcript

DATA = Path(__file__).parents[2] / "data"
LOG = (DATA / "aiwolf" / "game9.log").read_bytes()


def results(content: Any, name: str = "file", *, as_read: bool = True, **about: Any) -> list[ReadResult]:
    """What is read at a path, or in an upload of bytes, of text, or of a value as JSON.

    A form of no known program is taken as it was read; without ``as_read`` it is asked about.
    """
    about["answers"] = replace(about.get("answers", Answers()), as_read=as_read)
    if isinstance(content, Path):
        return read_path(content, **about)
    text = content if isinstance(content, (bytes, str)) else json.dumps(content)
    return read_upload(name, text.encode() if isinstance(text, str) else text, **about)


def result(content: Any, name: str = "file", **about: Any) -> ReadResult:
    """The only result."""
    (found,) = results(content, name, **about)
    return found


def read(content: Any, source_format: str | None = None, **about: Any) -> Transcript:
    """The only game, which was read, in this format where one is given."""
    found = result(content, **about)
    assert found.error is None, str(found.error)
    assert found.transcript is not None
    assert source_format in (None, found.format)
    return found.transcript


def shown(content: Any, **about: Any) -> Transcript:
    """The only game, also one that waits for an answer."""
    found = result(content, **about)
    assert found.transcript or found.preview, str(found.error)
    return found.transcript or found.preview


def refusal(content: Any, **about: Any) -> str:
    """Why the only game was refused, as a form of no known program is."""
    about.setdefault("as_read", False)
    found = result(content, **about)
    assert found.transcript is None
    assert found.error.remedy
    return str(found.error)


def told(transcript: Transcript) -> list[tuple[str, str, str]]:
    """Channel, speaker and text of each message."""
    return [(message.channel, message.speaker, message.text) for message in transcript.messages]


def lines(*values: object) -> bytes:
    """JSON Lines."""
    return "\n".join(map(json.dumps, values)).encode()
