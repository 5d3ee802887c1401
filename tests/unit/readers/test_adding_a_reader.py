"""The guide's example works as it is printed."""

import re
from pathlib import Path

import pytest

from evaluation.errors import BrokenTranscriptError
from evaluation.readers import Limits
from evaluation.readers.document import Document, FileReader
from evaluation.transcript import Transcript

GUIDE = (
    (Path(__file__).parents[3] / "docs" / "python.md")
    .read_text(encoding="utf-8")
    .partition("## Adding a format reader")[2]
)
((CODE, SAMPLE),) = [
    (code, sample)
    for code in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    for sample in re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
]


@pytest.fixture(scope="module")
def reader() -> FileReader:
    namespace: dict[str, object] = {}
    exec(compile(CODE, "python.md", "exec"), namespace)
    found = namespace["READER"]
    assert isinstance(found, FileReader)
    return found


def test_it_reads_the_sample(reader: FileReader) -> None:
    document = Document(SAMPLE.encode(), Limits())
    assert reader.recognises(document)
    transcript = reader.read(document)
    assert isinstance(transcript, Transcript)
    assert [(m.speaker, m.channel, m.text) for m in transcript.messages] == [
        ("Ann", "public", "I vote for Bob."),
        ("Bob", "public", "Why me?"),
        ("server", "system", "Bob has left"),
    ]
    assert transcript.player_names == ("Ann", "Bob")


def test_it_refuses_a_broken_line_by_its_number(reader: FileReader) -> None:
    with pytest.raises(BrokenTranscriptError) as caught:
        reader.read(Document(b"[18:05] <Ann> Hi\n\nHo\n", Limits()))
    assert str(caught.value) == "line 3: This is no line of a chat. Expected [HH:MM] <Name> text."


def test_it_recognises_nothing_else(reader: FileReader) -> None:
    assert not reader.recognises(Document(b"[00:01:02] Ann: Hi", Limits()))


def test_every_file_that_the_guide_names_is_there() -> None:
    root = Path(__file__).parents[3]
    named = set(re.findall(r"`((?:evaluation|tests)/[\w/]+\.\w+)`", GUIDE)) - {
        "evaluation/readers/formats/irc.py",
        "tests/unit/readers/test_reader_irc.py",
    }
    named |= {f"evaluation/readers/formats/{name}" for name in re.findall(r"`(\w+\.py)`", GUIDE)}
    assert len(named) >= 7
    assert [name for name in sorted(named) if not (root / name).is_file()] == []
