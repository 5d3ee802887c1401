"""Aliases of a player: the full name, a first or last name, a suffix, a short form ("Jeff"), a seat ("P1", "#3")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from evaluation.text.normal import english_words, fold, normalise, word_groups
from evaluation.text.tokens import tokenize

# A part of a name stands for the player from this length on ("A" of "Agent-A" and "1" of "Player 1" never do).
SHORTEST_PART = 3
_SHORT_FORM = 4
_LONG_NAME = 6
_JOINED = re.compile(r"[-_./]+")
# "Player1_g7_model-a", "Seat 4", "P2": what stands before the number is a word for a place at the table.
_SEAT = re.compile(r"(?P<label>player|agent|seat|speaker|participant|p)[ _#.-]{0,2}(?P<number>\d{1,3})(?![a-z\d])")
_PLACES = ("player", "seat", "p")
_SIMPLE = re.compile(r"[\w\s'.-]+")
# Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, ideographs.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff]")


class Alias(NamedTuple):
    """A sequence of normalised words that names a player.

    ``separator`` is what stands between the first two words. ``is_code_name`` is true for a part that serves only to
    tell apart names that share the rest: "Alpha" of "Agent-Alpha" or "Player Alpha", never "Winter" of "Winter Lee".
    """

    words: tuple[str, ...]
    player: str
    is_full: bool
    separator: str = ""
    is_code_name: bool = False


def words_of(name: str) -> tuple[str, ...]:
    """The normalised words of a name."""
    return tuple(token.text for token in tokenize(name))


def needs_literal_search(name: str) -> bool:
    """Whether its words alone do not tell this name: symbols, emoji, or a script without spaces between words."""
    folded = fold(name)
    return not words_of(name) or not _SIMPLE.fullmatch(folded) or UNSPACED.search(folded) is not None


def aliases(names: Sequence[str]) -> Iterator[Alias]:
    """All aliases that belong to exactly one of ``names``; full names first."""
    full: dict[tuple[str, ...], str] = {}
    shared = {words for words, count in Counter(words_of(name) for name in names).items() if count > 1}
    for name in names:
        words = words_of(name)
        if words and words not in shared and not needs_literal_search(name):
            full[words] = name
            yield Alias(words, name, True, _first_separator(name))
    for words, player in _only_one(_respelt(names), shared | full.keys()):
        yield Alias(words, player, True, " ")
    for words, player in _only_one(_seats(names), shared | full.keys()):
        yield Alias(words, player, False, " ")
    parts = dict(_only_one(_parts(names), shared | full.keys()))
    for words, player in parts.items():
        yield Alias(words, player, False, is_code_name=_is_code_name(words, player))
    said = {(word,) for name in names for word in words_of(name)}
    for words, player in _only_one(_short_forms(names), shared | full.keys() | parts.keys() | said):
        yield Alias(words, player, False)


def _only_one(
    found: Iterator[tuple[tuple[str, ...], str]], taken: set[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], str]]:
    owners: dict[tuple[str, ...], set[str]] = {}
    for words, player in found:
        owners.setdefault(words, set()).add(player)
    for words, players in owners.items():
        if len(players) == 1 and words not in taken:
            yield words, next(iter(players))


def _respelt(names: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """ "player1" for "Player 1", "adrian morgan" for "AdrianMorgan"."""
    for name in names:
        words = words_of(name)
        if len(words) > 1:
            yield ("".join(words),), name
        humps = words_of(" ".join(_humps(name)))
        if len(humps) > len(words):
            yield humps, name


def seat_numbers(names: Sequence[str]) -> dict[str, str]:
    """Player by the number of their seat, where a name begins with one and nobody else sits there: "1", "2"."""
    found = [(match["number"], name) for name in names if (match := _SEAT.match(fold(name)))]
    taken = Counter(number for number, _ in found)
    return {number: name for number, name in found if taken[number] == 1}


def seat_of(name: str) -> str:
    """The number in "P3", "#3", "Player 3" and "3", the folded name itself where it is none of these."""
    return re.sub(r"^(?:player|seat|p|#)[ _#.-]{0,2}(?=\d{1,3}$)", "", fold(name).strip())


def _seats(names: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """ "p1", "player1" and "player 1" for "Player1_g7_model-a"."""
    for number, name in seat_numbers(names).items():
        match = _SEAT.match(fold(name))
        assert match is not None
        labels = _PLACES if match["label"] in _PLACES else (match["label"],)
        for label in labels:
            yield (f"{label}{number}",), name
            yield (label, number), name


def _parts(names: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    labels = _labels()
    for name in names:
        outer = name.split()
        for part in {*_ends(outer), *(piece for word in _ends(outer) for piece in _ends(_pieces(word)))}:
            words = words_of(part)
            if words and words != words_of(name) and _can_stand_alone(words, labels):
                yield words, name


def _short_forms(names: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """ "jeff" for "Jefferson": the first four letters of a longer first name, unless they are a word of their own."""
    for name in names:
        first = words_of(name)[:1]
        short = first[0][:_SHORT_FORM] if first else ""
        is_long = bool(first) and len(first[0]) >= _LONG_NAME and first[0].isalpha()
        if is_long and english_words().isdisjoint((short, *first)) and first[0] not in _labels():
            yield (short,), name


def _ends(items: Sequence[str]) -> tuple[str, ...]:
    return (items[0], items[-1]) if items else ()


def _pieces(word: str) -> list[str]:
    """The parts of "Agent-Alpha" and of "AdrianMorgan"."""
    return [hump for piece in _JOINED.split(word) for hump in _humps(piece)]


def _humps(word: str) -> list[str]:
    """ "AdrianMorgan2" as Adrian, Morgan, 2."""
    cuts = [0]
    for position in range(1, len(word)):
        before, after = word[position - 1], word[position]
        if (before.islower() and after.isupper()) or (before.isalpha() and after.isdigit()):
            cuts.append(position)
    return [word[start:end] for start, end in pairwise([*cuts, len(word)]) if start < end]


def _labels() -> frozenset[str]:
    groups = word_groups("name_contexts.yaml")
    return groups["labels"] | groups["titles"]


class NameWords(NamedTuple):
    """The words of some names, normalised, labels like "Agent" left out.

    Attributes:
        sole: Those that are all there is to a name: "winter", "alpha" of "Agent-Alpha".
        parts: Those of names of several words: "policy" and "analyst" of "Policy Analyst".
    """

    sole: frozenset[str]
    parts: frozenset[str]


def name_words(names: Sequence[str]) -> NameWords:
    """Every word that belongs to a name of somebody, also where several share it."""
    labels = _labels()
    sole: set[str] = set()
    parts: set[str] = set()
    for name in names:
        words = {word for text in (name, " ".join(_name_pieces(name))) for word in words_of(text)}
        telling = {word for word in words if _can_stand_alone((word,), labels)}
        (sole if len(telling) == 1 else parts).update(telling)
    return NameWords(frozenset(sole), frozenset(parts - sole))


def _name_pieces(name: str) -> list[str]:
    return [piece for word in name.split() for piece in _pieces(word)]


def _is_code_name(words: tuple[str, ...], name: str) -> bool:
    """Whether it ends a name joined by hyphens or the like, or everything else in the name is a label."""
    joined = [piece for piece in _JOINED.split(name.split()[-1]) if piece]
    if len(joined) > 1 and words_of(joined[-1]) == words:
        return True
    others = [word for piece in _name_pieces(name) for word in words_of(piece) if word not in words]
    return bool(others) and word_groups("name_contexts.yaml")["labels"].issuperset(others)


def _can_stand_alone(words: tuple[str, ...], labels: frozenset[str]) -> bool:
    joined = "".join(words)
    return len(joined) >= SHORTEST_PART and not joined.isdigit() and joined not in labels


def _first_separator(name: str) -> str:
    tokens = tokenize(name)
    return normalise(name[tokens[0].end : tokens[1].start]).text if len(tokens) > 1 else ""
