"""Reads captions of a meeting, WebVTT and SRT: times, and names by ``<v Name>`` or ``Name:``.

The cues are written as lines with a time in front, which :mod:`plain_text` reads; a cue without a name goes on with
what the speaker above says. Cue numbers, settings and styles are left out.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers.document import Document, FileReader, ReadResult
from evaluation.readers.formats import plain_text
from evaluation.text.display import counted

FORMAT = "captions"

# Where nearly all lines have a name, one without may be anybody's.
_FEW = 0.2

_CLOCK = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_CUE = re.compile(
    rf"^[ \t]*(?P<start>{_CLOCK})[ \t]+-->[ \t]+{_CLOCK}[^\n]*\n(?P<text>(?:[ \t]*\S[^\n]*\n?)*)", re.MULTILINE
)
_TIMES = re.compile(rf"[ \t]*{_CLOCK}[ \t]+-->[ \t]+{_CLOCK}")
_NEARLY = re.compile(r"[ \t]*\d{1,3}:\d{1,2}[\d:.,]*[ \t]*-{1,2}>[ \t]*\d")
_FIRST = re.compile(rf"\s*(?:WEBVTT\b|(?:\d+\s*\n)?\s*{_CLOCK}[ \t]+-->)")
_VOICE = re.compile(r"<v(?:\.[\w.-]{1,40})?[ \t]+(?P<name>[^>\n]{1,80})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>|<\d[^<>\n]{0,20}>|\{\\[^{}\n]{0,40}\}")


def _recognises(document: Document) -> bool:
    return _FIRST.match(document.text) is not None and _CUE.search(document.text) is not None


def _read(document: Document) -> ReadResult:
    for number, line in enumerate(document.text.split("\n"), start=1):
        if _NEARLY.match(line) and not _TIMES.match(line):
            message = f'"{shorten(line)}" is not the time of a cue.'
            raise BrokenTranscriptError(
                message, place=f"line {number}", remedy="Expected 00:01:02.000 --> 00:01:04.500."
            )
    lines: list[str] = []
    named = nameless = 0
    for cue in _CUE.finditer(document.text):
        start = re.split("[.,]", cue["start"])[0]
        stamp = f"[{start if start.count(':') == 2 else f'0:{start}'}]"
        for written in cue["text"].splitlines():
            text = html.unescape(_TAG.sub("", _VOICE.sub(r"\n\g<name>: ", written))).strip()
            for one in filter(None, text.split("\n")):
                begins = plain_text.names_speaker(one)
                lines.append(f"{stamp} {one}" if begins else one)
                named, nameless = named + begins, nameless + (not begins)
    inner = Document("\n".join(lines).encode() or b" ", document.limits, document.answers)
    # A name may stand only where the speaker changes, so that few of the lines have one.
    if not lines or not plain_text.several_speak(inner):
        raise BrokenTranscriptError(
            "The captions do not say who speaks.", remedy="Export them with speakers: <v Name> or Name: before a text."
        )
    found = plain_text.read_text(inner)
    transcript = found.transcript
    assert transcript is not None
    about = {"source_format": FORMAT, "game_id": document.game_id(FORMAT)}
    is_odd = 0 < nameless < _FEW * named
    left = f"{counted(nameless, 'line')} of captions without a name left to who spoke before."
    remarks = (*found.remarks, left) if is_odd else found.remarks
    return replace(found, transcript=transcript.model_copy(update=about), remarks=remarks)


READER = FileReader(FORMAT, _recognises, _read)
