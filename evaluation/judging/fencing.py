"""Separate untrusted text from a judge's instructions: fences, neutralised text, and flags for people.

A transcript cannot be trusted: a player may write to the judge instead of to the others. There are three protections.
Untrusted text stands between fences that cannot be guessed, because the client replaces ``FENCE`` by a new random
delimiter for every call. Text that looks like a fence, a role, a numbered message or a verdict is broken up without
losing its words. And ``flags`` shows people which messages tried it.

Every function takes time linear in the length of its text, whatever the text holds.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from evaluation.files.bundled import parse_yaml

# Letters of other scripts that are drawn like a Latin one, and the Latin one, in lower case.
_LOOK_ALIKES = dict(
    zip(
        "абвгеіјкмнорсѕтухԁԛԝһӏґ" + "αβγειкνορτυχωηкϲϳ" + "ɑɡɩɪɴʀʏʟᴀʙᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢıℓ",
        "abbreijkmhopcstyxdqwhlr" + "abyeiкvoptuxwnкcj" + "agiinrylabcdejkmoptuvwzil",
        strict=True,
    )
)
_LOOK_ALIKES["к"] = "k"


_OTHER_LINE_ENDS = dict.fromkeys(map(ord, "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "\n")


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
        return Skeleton(text.lower().translate(_OTHER_LINE_ENDS))
    reduced = {character: _reduced(character) for character in set(text)}
    if all(len(piece) == 1 for piece in reduced.values()):
        return Skeleton(text.translate({ord(character): piece for character, piece in reduced.items()}))
    pieces = [reduced[character] for character in text]
    places = array("L", [place for place, piece in enumerate(pieces) for _ in piece])
    return Skeleton("".join(pieces), places)


def is_drawn(character: str) -> bool:
    """Whether a reader sees the character, or it is a tab or a line feed."""
    if character in "\n\t":
        return True
    is_selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs") and not is_selector


@lru_cache(maxsize=4096)
def _reduced(character: str) -> str:
    character = character.translate(_OTHER_LINE_ENDS)
    if not is_drawn(character):
        return ""
    decomposed = unicodedata.normalize("NFKD", character.casefold()).casefold()
    letters = [letter for letter in decomposed if unicodedata.category(letter) not in ("Mn", "Me")]
    return "".join(_LOOK_ALIKES.get(letter, letter) for letter in letters)


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "order": "speaks to the judge instead of to the others",
        "ignore": "tells the judge to ignore its instructions or the rubric",
        "score_order": "asks for a score",
        "verdict": "imitates the judge's answer",
        "structure": "imitates a fence, a role or a tag of the prompt",
        "invisible": "holds invisible or direction characters",
        "look_alike": "writes words with letters of another alphabet that look alike",
        "encoded": "holds encoded text",
        "foreign": "gives orders to the judge in another language",
    }
)
"""What each kind of flag means, to be read after "This message "."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Code points ``start`` to ``end`` (exclusive) of the original text; ``kind`` is one of ``KINDS``."""

    kind: str
    start: int
    end: int


def flags(text: str) -> tuple[Flag, ...]:
    """Parts of ``text`` that look addressed to the judge, in the order of the text.

    A flag is a hint for people: it changes no score. Of one kind, overlapping places are one flag.
    """
    reduced = skeleton(text)
    found = [*_phrases(reduced), *_encoded(text)]
    if not text.isprintable() and not all(map(is_drawn, set(text))):
        found += _invisible(text)
    if not text.isascii():
        found += _look_alikes(text)
    return _merged(found)


def _merged(found: Sequence[Flag]) -> tuple[Flag, ...]:
    merged: dict[str, list[Flag]] = {}
    for flag in sorted(found, key=lambda one: (one.start, one.end)):
        held = merged.setdefault(flag.kind, [])
        if held and flag.start <= held[-1].end:
            held[-1] = Flag(flag.kind, held[-1].start, max(held[-1].end, flag.end))
        else:
            held.append(flag)
    return tuple(sorted((one for held in merged.values() for one in held), key=lambda one: (one.start, one.kind)))


# Straight quotation marks, those of typesetters and of other languages; full-width signs are straight by now.
_QUOTATION_MARK = r"[\"'`\u00b4\u00ab\u00bb\u2018-\u201f\u2032\u2033\u2039\u203a\u300c-\u300f\u301d-\u301f]"
_FIELD = r"(?:score|reason|holds|confidence|citations|verdict|label|rating)"
_STRUCTURES = (
    (
        "verdict",
        re.compile(
            rf"[{{,]\s{{0,20}}{_QUOTATION_MARK}{_FIELD}{_QUOTATION_MARK}\s{{0,20}}[:=]|\{{\s{{0,20}}{_FIELD}\s{{0,20}}[:=]"
            r"|^[ \t]{0,20}(?:score|holds|confidence|citations)[ \t]{0,20}[:=][ \t]{0,20}(?:\d|true|false|\[)",
            re.MULTILINE,
        ),
    ),
    (
        "structure",
        re.compile(
            r"<\|[^\s|<>]{1,40}\|>|</?(?:system|assistant|user|human|developer|instructions?|transcript|fence|verdict)>"
            r"|<</?sys>>|\[/?(?:inst|sys|system)\]|[\u27e6\u301a]{1,3}[^\u27e7\u301b\n]{0,40}[\u27e7\u301b]"
            r"|^[ \t#*>]{0,20}(?:system|assistant|developer|new instructions?)[ \t*]{0,20}:"
            r"|^#{1,6} {0,4}(?:system|instructions?|assistant|response|new task|evaluation|judge|rubric)\b"
            r"|(?<![-=*#])[-=*#]{3,40} {0,4}(?:begin|end|start|stop)\b[^\n]{0,40}[-=*#]{3}|\[end of [^\]\n]{1,40}\]"
            r"|```(?:json|system)\b|^[ \t]{0,20}\[m[ \t]{0,3}\d{1,6}\]",
            re.MULTILINE,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern, and sets of words of which a text must hold one each, which is cheaper to ask first."""

    kind: str
    pattern: re.Pattern[str]
    needed: tuple[frozenset[str], ...]


_WORD = re.compile(r"\w+")
_BETWEEN = r"(?:\W{1,20}\w{1,40})"


def _phrases(reduced: Skeleton) -> Iterator[Flag]:
    rules, anywhere = _rules()
    words = set(_WORD.findall(reduced.text))
    likely = [(rule.kind, rule.pattern) for rule in rules if not any(map(words.isdisjoint, rule.needed))]
    for kind, pattern in (*_STRUCTURES, *likely, *(() if reduced.text.isascii() else anywhere)):
        for found in pattern.finditer(reduced.text):
            yield Flag(kind, *reduced.original_span(*found.span()))


@cache
def _rules() -> tuple[tuple[_Rule, ...], tuple[tuple[str, re.Pattern[str]], ...]]:
    content = parse_yaml((files("evaluation.judging") / "injection.yaml").read_text("utf-8"))
    spaced = tuple(_rule(entry) for entry in content if "first" in entry)
    anywhere = tuple(
        (entry["kind"], re.compile(_either(entry["anywhere"]))) for entry in content if "anywhere" in entry
    )
    return spaced, anywhere


def _rule(entry: Mapping[str, Any]) -> _Rule:
    first = [str(phrase) for phrase in entry["first"]]
    pattern = rf"(?<!\w){_either(first)}(?!\w)"
    if "then" in entry:
        # Every repetition is bounded, so that a text full of triggers still takes linear time.
        pattern += rf"{_BETWEEN}{{0,{entry['gap']}}}?\W{{1,20}}{_either(entry['then'])}(?!\w)"
    needed = tuple(_longest_words(entry[part]) for part in ("first", "then") if part in entry)
    return _Rule(entry["kind"], re.compile(pattern), needed)


def _longest_words(phrases: Sequence[object]) -> frozenset[str]:
    return frozenset(max(_WORD.findall(skeleton(str(phrase)).text), key=len) for phrase in phrases)


def _either(phrases: Sequence[object]) -> str:
    """A pattern for any of the phrases, the longest first; their words may stand a few characters apart."""
    reduced = sorted((skeleton(str(phrase)).text for phrase in phrases), key=len, reverse=True)
    return "(?:" + "|".join(r"\s{1,5}".join(map(re.escape, phrase.split())) for phrase in reduced) + ")"


_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
# Random letters are not text; so long a run of them is not a word of a discussion either.
_SURELY_ENCODED = 80


def _encoded(text: str) -> Iterator[Flag]:
    for found in _ENCODED.finditer(text):
        if _is_encoded(found.group()):
            yield Flag("encoded", *found.span())


def _is_encoded(run: str) -> bool:
    kinds = sum(any(map(test, run)) for test in (str.isupper, str.islower, str.isdigit))
    return (kinds == 3 and len(run) >= _SURELY_ENCODED) or _decodes_to_text(run)


def _decodes_to_text(run: str) -> bool:
    body = run.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        decoded = b64decode(body + "=" * (-len(body) % 4), validate=True).decode("utf-8")
    except (NotBase64, UnicodeDecodeError):
        return False
    return sum(letter.isprintable() or letter in "\n\t" for letter in decoded) >= 0.95 * len(decoded)


# Joiners and selectors belong to emoji, and joiners to scripts whose letters change their form.
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
# Line ends of other systems, and what people's keyboards leave in recordings of games: backspaces.
_HARMLESS = "\r\b"


def _invisible(text: str) -> Iterator[Flag]:
    for place, character in enumerate(text):
        if character in _HARMLESS or is_drawn(character) or (place == 0 and character == "\ufeff"):
            continue
        before = text[place - 1] if place else ""
        # Latin, which ends at U+024F, Greek and Cyrillic do not join their letters.
        if character in _JOINERS and before and (not before.isalpha() or before > "\u04ff"):
            continue
        yield Flag("invisible", place, place + 1)


_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_STYLED = re.compile(r"[\U0001d400-\U0001d7ff\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9]{4,}")


def _look_alikes(text: str) -> Iterator[Flag]:
    for found in _LONG_WORD.finditer(text):
        if _imitates_latin(found.group()):
            yield Flag("look_alike", *found.span())
    for found in _STYLED.finditer(text):
        yield Flag("look_alike", *found.span())


def _imitates_latin(word: str) -> bool:
    others = [letter for letter in word if not letter.isascii()]
    # Models slip into another alphabet in the middle of a word; those letters are not chosen for their looks.
    return 0 < len(others) < len(word) and all(letter.casefold() in _LOOK_ALIKES for letter in others)


FENCE = "\u27e6fence\u27e7"
"""Stands where the client puts the delimiter of the call; cache keys are computed on this form."""

_QUOTE = "| "
_LONGEST_NAME = 200

# White brackets make the placeholder; nothing that looks like it may come from outside.
_BRACKETS = str.maketrans({"\u27e6": "[", "\u27e7": "]", "\u301a": "[", "\u301b": "]", "\uff3b": "[", "\uff3d": "]"})
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE_ENDS = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Every JSON object that is not empty has a quote before a colon.
_JSON_KEY = re.compile(r"([\"'])\s*:")
_CODE_FENCE = re.compile(r"`{3,}|~{3,}")
# Control tokens of chat templates, and tags that name a part of a prompt.
_CONTROL_TOKEN = re.compile(
    r"<(?=\||<sys|/?(?:s|system|assistant|user|human|developer|instructions?|transcript|fence|judge|verdict|answer)\b)"
    r"|\[(?=/?(?:inst|sys|system|end)\b)",
    re.IGNORECASE,
)
_STRUCTURAL_LINE = re.compile(
    r"""
    [^\S\n]* (?: [\#>*=_~+-] [\#>*=_~+\ \t-]{0,30} )? (?:
        (?: system | assistant | user | human | developer | judge | evaluator | grader | claim | rubric
          | (?:new\ )? instructions? ) [ \t*_]* :
      | ["'{(\[ ]{0,4} (?: score | reason | holds | confidence | citations | verdict | label | rating | answer )
        ["')\] ]{0,3} [:=]
      | (?: begin | end | start ) (?:\ of)? (?:\ the)?
        \ (?: transcript | conversation | fence | messages? | data | input | untrusted ) \b
      | fence \b
    )
    | [^\S\n]* (?: [-=\#*_~]{3,} [^\S\n]* \Z | \#{1,6}\  )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MESSAGE_NUMBER = re.compile(r"\[(?=M\s*\d)", re.IGNORECASE)


def neutralise(text: str) -> str:
    """``text`` with everything broken up that could pass for a part of the prompt or of an answer.

    Invisible and control characters go, tabs and line ends stay. The placeholder's brackets become square ones. No
    quote stands before a colon any more, so that no JSON object in an answer can be an echo of the transcript. Chat
    template tokens get a blank. A line that begins like a role, a fence, a heading or a verdict is marked as quoted
    with ``"| "``. Applying it twice changes nothing more.
    """
    plain = visible(_LINE_ENDS.sub("\n", text)).translate(_BRACKETS)
    plain = _JSON_KEY.sub(r"\1 =", _CODE_FENCE.sub("'''", plain))
    plain = _CONTROL_TOKEN.sub(lambda found: f"{found.group()} ", plain)
    return "\n".join(_QUOTE + line if _STRUCTURAL_LINE.match(line) else line for line in plain.split("\n"))


@lru_cache(maxsize=2048)
def as_message(text: str) -> str:
    """One message as it may stand behind its number ``[M12]``: neutralised, and no part of it passes for another one.

    Lines after the first are marked as quoted; a number in brackets like those of the prompt gets a blank.
    """
    first, *rest = neutralise(unnumbered(text)).split("\n")
    return "\n".join([first, *(line if line.startswith(_QUOTE) else _QUOTE + line for line in rest)])


@lru_cache(maxsize=2048)
def as_name(text: str) -> str:
    """A name, or other short untrusted text, as it may stand in a line: no line ends, at most 200 characters."""
    words = " ".join(unnumbered(text).split())
    return words.removeprefix(_QUOTE)[:_LONGEST_NAME]


def quoted(name: str) -> str:
    """An untrusted name in quotation marks, for one of our own sentences; inner quotation marks are replaced."""
    return '"' + as_name(name).replace('"', "'") + '"'


def unquoted(name: str) -> str:
    """A name as it stands inside of ``quoted``'s marks, whether a model repeats it with them or without."""
    return quoted(name.strip().removeprefix('"').removesuffix('"'))[1:-1]


def unnumbered(text: str) -> str:
    """``text``, neutralised, without anything that passes for the number of a message: for personas and the like."""
    return _MESSAGE_NUMBER.sub("[ ", neutralise(text))


# Several claims in a row are put to the same trajectory.
@lru_cache(maxsize=128)
def fenced(text: str) -> str:
    """``text``, neutralised, between two fences on lines of their own."""
    return f"{FENCE}\n{neutralise(text)}\n{FENCE}"


def visible(text: str) -> str:
    """``text`` without characters that are not drawn: zero-width, direction and control characters, tags, selectors.

    Tabs and line feeds stay.
    """
    if text.isascii():
        return _ASCII_CONTROLS.sub("", text)
    return "".join(filter(is_drawn, text))
