"""Reduce text to its visual appearance, on which attempts to address the judge are searched."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

# Letters of other scripts that are drawn like a Latin one, and the Latin one, in lower case.
_LOOK_ALIKES = dict(
    zip(
        "абвгеіјкмнорсѕтухԁԛԝһӏґ" + "αβγειкνορτυχωηкϲϳ" + "ɑɡɩɪɴʀʏʟᴀʙᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢıℓ",
        "abbreijkmhopcstyxdqwhlr" + "abyeiкvoptuxwnкcj" + "agiinrylabcdejkmoptuvwzil",
        strict=True,
    )
)
_LOOK_ALIKES["к"] = "k"


_LINE_ENDS = dict.fromkeys(map(ord, "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "\n")


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The reduced text. ``places`` holds each character's index in the original; ``None`` where none has moved."""

    text: str
    places: Sequence[int] | None = None

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The code points of the original behind ``text[start:end]``, which is not empty."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end - 1] + 1


def skeleton(text: str) -> Skeleton:
    """``text`` in lower case, without accents and invisible characters, look-alikes as the letter they imitate.

    Every kind of line end is a line feed.
    """
    if text.isascii():
        return Skeleton(text.lower().translate(_LINE_ENDS))
    reduced = {character: _reduced(character) for character in set(text)}
    if all(map(_is_one, reduced.values())):
        return Skeleton(text.translate({ord(character): piece for character, piece in reduced.items()}))
    pieces = [reduced[character] for character in text]
    places = array("L", [place for place, piece in enumerate(pieces) for _ in piece])
    return Skeleton("".join(pieces), places)


def _is_one(piece: str) -> bool:
    return len(piece) == 1


def is_drawn(character: str) -> bool:
    """Whether a reader sees the character, or it is a tab or a line feed."""
    if character in "\n\t":
        return True
    is_selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs") and not is_selector


def is_look_alike(character: str) -> bool:
    """Whether the character belongs to another script but is drawn like a Latin letter."""
    return not character.isascii() and character.casefold() in _LOOK_ALIKES


@lru_cache(maxsize=4096)
def _reduced(character: str) -> str:
    character = character.translate(_LINE_ENDS)
    if not is_drawn(character):
        return ""
    decomposed = unicodedata.normalize("NFKD", character.casefold()).casefold()
    letters = [letter for letter in decomposed if unicodedata.category(letter) not in ("Mn", "Me")]
    return "".join(_LOOK_ALIKES.get(letter, letter) for letter in letters)
