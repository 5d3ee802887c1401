"""The name that some agents write before each of their messages ("Agent-E: ...")."""

from __future__ import annotations

from evaluation.text.aliases import aliases, words_of
from evaluation.text.normal import fold, normalise

_WIDE_COLON = "\uff1a"
# Markdown, quotes and brackets in which the name may be wrapped.
_OPENERS = " \t\r\n*_[(<\"'`~#>-\u201c"
_CLOSERS = " \t*_])>\"'`~\u201d"
_LONGEST_WRAPPING = 40


def prefix_end(text: str, spellings: tuple[str, ...]) -> int:
    """The start of the message after one or more prefixes of these ``spellings``; 0 without one."""
    head = text[: len(spellings[0]) * 2 + _LONGEST_WRAPPING] if spellings else ""
    if ":" not in head and _WIDE_COLON not in head:
        return 0
    copy = normalise(text)
    position = 0
    while (end := _after_prefix(copy.text, position, spellings)) is not None:
        position = end
    if position >= len(copy.text):
        return len(text)
    return copy.original_span(position, position)[0] if position else 0


def prefix_spellings(name: str) -> tuple[str, ...]:
    """Spellings of the speaker's own name before a message, longest first."""
    folded = fold(name).strip()
    words = words_of(name)
    parts = [alias.words for alias in aliases([name]) if not alias.is_full]
    spellings = {folded, " ".join(words), "".join(words), *(" ".join(part) for part in parts)}
    return tuple(sorted(filter(None, spellings), key=len, reverse=True))


def _after_prefix(text: str, position: int, spellings: tuple[str, ...]) -> int | None:
    start = position
    # A name may itself begin with what else only opens: "[Bot]", "(a)".
    while (spelling := _spelling_at(text, start, spellings)) is None:
        if start >= len(text) or text[start] not in _OPENERS:
            return None
        start += 1
    end = _skip_closers(text, start + len(spelling))
    return _skip_closers(text, end + 1) if text[end : end + 1] == ":" else None


def _spelling_at(text: str, start: int, spellings: tuple[str, ...]) -> str | None:
    return next((spelling for spelling in spellings if text.startswith(spelling, start)), None)


def _skip_closers(text: str, position: int) -> int:
    while position < len(text) and text[position] in _CLOSERS:
        position += 1
    return position
