"""The reader: for every message the chance that it is strategic, answers, refers to the past, and acts."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import InputError
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader._features import (
    ActAim,
    EarlierMessage,
    aim_row,
    aims,
    candidates,
    features,
    pair_rows,
    pair_summary,
    rule_acts,
    rule_answers,
    sentence_rows,
    sentences,
)
from evaluation.rubric.reader._ngrams import BUCKETS, hashed_ngrams
from evaluation.rubric.speech import ActKind

Floats = NDArray[np.float32]
ACTS = tuple(ActKind)
TEXT_HEADS = ("strategic", "answers", "is answered", "reference", *map(str, ACTS))
"""The columns of the weights of n-grams."""
_MESSAGE_HEADS = tuple(head for head in TEXT_HEADS if head != "reference")
"""Those that are read of whole messages."""
_OF_MESSAGES = [TEXT_HEADS.index(head) for head in _MESSAGE_HEADS]
FORMAT = 1
_SHIPPED_FILE = "reader_en.npz"


@dataclass(frozen=True, slots=True)
class ReaderHead:
    """The dense part of one question: its columns' means and sizes, their weights, and the bias.

    ``threshold`` is the chance from which the answer is yes; within ``doubt`` of it the reader is unsure.
    """

    means: Floats
    sizes: Floats
    weights: Floats
    bias: float
    threshold: float
    doubt: float = 0.0

    def is_unsure(self, chance: float) -> bool:
        """Whether a chance lies too near the threshold to decide."""
        return abs(chance - self.threshold) < self.doubt

    def logits(self, dense: Floats) -> Floats:
        """The dense part of each row's logit. Shape (rows, columns) to (rows,)."""
        return np.asarray(((dense - self.means) / self.sizes) @ self.weights + self.bias, dtype=np.float32)


class ReadAct(NamedTuple):
    """A speech act with the chance of it, from 0 to 1."""

    kind: ActKind
    target: str | None
    chance: float


class ReadReference(NamedTuple):
    """A sentence that may refer to the past: its span in the message in code points, and the chance, from 0 to 1."""

    start: int
    end: int
    chance: float


class Answering(NamedTuple):
    """Whether a message answers another one; chances from 0 to 1.

    Attributes:
        chance: That it answers any message.
        fits: By position of an earlier message among the last ``LOOK_BACK`` of others: how well that one fits as the
            one that is answered.
    """

    chance: float
    fits: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """Answers of the reader to one message; chances from 0 to 1.

    Attributes:
        strategic: Chance that it shows strategic thinking.
        answers: Whether it answers another message, and which.
        references: Each sentence with the chance that it holds a reference to the past.
        acts: The acts that are likelier than not, by the threshold of each kind.
    """

    strategic: float
    answers: Answering
    references: tuple[ReadReference, ...]
    acts: tuple[ReadAct, ...]


@dataclass(frozen=True, eq=False)
class Reader:
    """A trained reader. It is plain arrays, reads a discussion in one go, and always says the same of the same.

    Attributes:
        name: What it was trained on, and a hash of its arrays; stored with every decision.
        idf: Rarity of each bucket of n-grams. Shape (BUCKETS,).
        words: Weights of n-grams. Shape (BUCKETS, len(TEXT_HEADS)).
        heads: The dense part of each of ``TEXT_HEADS``, and of "pair".
        card: Facts for its model card: numbers of labels, figures by source; JSON-compatible.
    """

    name: str
    idf: Floats
    words: Floats
    heads: Mapping[str, ReaderHead]
    card: Mapping[str, Any]

    @property
    def is_own(self) -> bool:
        """Whether a team trained it further on its own decisions."""
        return bool(self.card.get("is_own"))

    # Columns side by side are read several times faster than columns of a wide table.
    @cached_property
    def _message_words(self) -> Floats:
        return np.ascontiguousarray(self.words[:, _OF_MESSAGES] * self.idf[:, None])

    @cached_property
    def _reference_words(self) -> Floats:
        return np.ascontiguousarray(self.words[:, [TEXT_HEADS.index("reference")]] * self.idf[:, None])

    def read(self, discussion: Discussion) -> tuple[ReadMessage, ...]:
        """Answers to each message of a discussion, in order; none in another language than English."""
        if discussion.pack is None or not discussion.messages:
            return ()
        seen = features(discussion)
        strategic = _chances(self._text_logits("strategic", discussion.derive(self._sums), seen.style))
        answers = discussion.derive(self.answers)
        references = self._references(discussion)
        acts = self._acts(
            discussion, [max(one.fits, key=one.fits.__getitem__) if one.fits else None for one in answers]
        )
        return tuple(
            ReadMessage(float(strategic[at]), answers[at], tuple(references[at]), tuple(acts[at]))
            for at in range(len(discussion.messages))
        )

    def answers(self, discussion: Discussion) -> tuple[Answering, ...]:
        """The part of :meth:`read` on answers alone, which depends on the order of the messages."""
        if discussion.pack is None or not discussion.messages:
            return ()
        sums = discussion.derive(self._sums)
        pairs, logits = self._pairs(discussion)
        chances = _chances(self._text_logits("answers", sums, _answer_columns(discussion, pairs, logits)))
        fits: list[dict[int, float]] = [{} for _ in discussion.messages]
        for pair, chance in zip(pairs, _chances(logits).tolist(), strict=True):
            fits[pair.message][pair.earlier] = chance
        return tuple(map(Answering, chances.tolist(), fits))

    def message_columns(self, head: str, discussion: Discussion) -> tuple[Floats, Floats]:
        """The dense columns of each message for "strategic" or "answers", and this reader's logit of each.

        Shapes (messages, columns) and (messages,); a message is a public one with words, in order.
        """
        seen, sums = features(discussion), discussion.derive(self._sums)
        dense = seen.style if head == "strategic" else _answer_columns(discussion, *self._pairs(discussion))
        return dense, self._text_logits(head, sums, dense)

    def _sums(self, discussion: Discussion) -> Floats:
        return features(discussion).message_ngrams.sums(self._message_words, self.idf)

    def _text_logits(self, head: str, sums: Floats, dense: Floats) -> Floats:
        return sums[:, _MESSAGE_HEADS.index(head)] + self.heads[head].logits(dense)

    def _pairs(self, discussion: Discussion) -> tuple[list[EarlierMessage], Floats]:
        found = list(candidates([one.message.speaker for one in discussion.messages]))
        if not found:
            return [], np.zeros(0, dtype=np.float32)
        drawn = self._text_logits("is answered", discussion.derive(self._sums), features(discussion).style)
        rows = np.column_stack([drawn[[one.earlier for one in found]], pair_rows(discussion, found)])
        return found, self.heads["pair"].logits(rows)

    def _references(self, discussion: Discussion) -> list[list[ReadReference]]:
        every = sentences(discussion)
        found: list[list[ReadReference]] = [[] for _ in discussion.messages]
        if not every:
            return found
        sums = hashed_ngrams([one.text for one in every]).sums(self._reference_words, self.idf)
        logits = sums[:, 0] + self.heads["reference"].logits(sentence_rows(discussion))
        for sentence, chance in zip(every, _chances(logits).tolist(), strict=True):
            found[sentence.message].append(ReadReference(sentence.start, sentence.end, chance))
        return found

    def _acts(self, discussion: Discussion, answered: Sequence[int | None]) -> list[list[ReadAct]]:
        found: list[list[ReadAct]] = [[] for _ in discussion.messages]
        each, dense = aim_table(discussion, answered)
        # Only for a player who is named another text than the whole message is read.
        sums = discussion.derive(self._sums)[[aim.message for aim, _ in each]]
        named = [row for row, (aim, _) in enumerate(each) if aim.is_named]
        sums[named] = hashed_ngrams([each[row][1] for row in named]).sums(self._message_words, self.idf)
        for kind in ACTS:
            head = self.heads[str(kind)]
            chances = _chances(self._text_logits(str(kind), sums, dense))
            for row in np.flatnonzero(chances >= head.threshold).tolist():
                aim = each[row][0]
                found[aim.message].append(ReadAct(kind, aim.target, float(chances[row])))
        return found

    def word_weights(self, head: str, words: Sequence[str]) -> list[float]:
        """Weights of words, each alone, for (above 0) or against the answer to a question about whole messages."""
        sums = hashed_ngrams(words).sums(self._message_words, self.idf)
        return [float(one) for one in sums[:, _MESSAGE_HEADS.index(head)]]

    def save(self, path: Path) -> None:
        """Writes the reader as plain arrays (``.npz``, weights as half floats)."""
        path.write_bytes(self.as_bytes())

    def as_bytes(self) -> bytes:
        """The file's content; the same reader always gives the same bytes' worth of arrays."""
        arrays: dict[str, Any] = {"idf": self.idf.astype(np.float16), "words": self.words.astype(np.float16)}
        for name, head in self.heads.items():
            arrays[f"head {name}"] = np.stack([head.means, head.sizes, head.weights])
            arrays[f"bias {name}"] = np.array([head.bias, head.threshold, head.doubt], dtype=np.float32)
        told = {"format": FORMAT, "name": self.name, "card": dict(self.card)}
        arrays["about"] = np.frombuffer(json.dumps(told).encode("utf-8"), dtype=np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        return buffer.getvalue()

    @classmethod
    def load(cls, content: bytes, place: str = "") -> Reader:
        """The reader in a file's content.

        Raises:
            InputError: It is not a reader, or one of another format.
        """
        try:
            _check_arrays(content)
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                about = json.loads(bytes(arrays["about"]))
                if about["format"] != FORMAT:
                    raise ValueError(f"format {about['format']!r}")
                idf, words = arrays["idf"].astype(np.float32), arrays["words"].astype(np.float32)
                heads = {}
                for name in (*TEXT_HEADS, "pair"):
                    means, sizes, weights = arrays[f"head {name}"]
                    bias, threshold, doubt = map(float, arrays[f"bias {name}"])
                    heads[name] = ReaderHead(means, sizes, weights, bias, threshold, doubt)
        except (
            *(OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError),
            *(NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error, struct.error),
        ) as error:
            raise InputError(
                f"It is not a reader that this version can use ({error}).",
                place=place,
                remedy="Train it again with: dramaturg labels train.",
            ) from None
        return cls(str(about["name"]), idf, words, heads, about["card"])


_MOST_COLUMNS = 1_000
_MOST_ABOUT = 1_000_000


def _check_arrays(content: bytes) -> None:
    """Looks at shape and type of every array that is read before one is unpacked: a few bytes may stand for gigabytes.

    Raises:
        ValueError: An array is another than a reader has.
        zipfile.BadZipFile: It is another kind of file.
    """
    wanted = {"idf": (BUCKETS,), "words": (BUCKETS, len(TEXT_HEADS))}
    wanted |= {f"bias {name}": (3,) for name in (*TEXT_HEADS, "pair")}
    most = {f"head {name}": _MOST_COLUMNS for name in (*TEXT_HEADS, "pair")} | {"about": _MOST_ABOUT}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            with archive.open(info) as member:
                is_first = np.lib.format.read_magic(member) == (1, 0)
                read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
                shape, _, kind = read(member)
            is_number = kind.kind == "f" or (name == "about" and kind == np.uint8)
            is_as_wanted = shape == wanted.get(name) or (name in most and math.prod(shape) <= 3 * most[name])
            if not is_number or not is_as_wanted:
                raise ValueError(f"the array {name[:60]!r} has the shape {shape} and the type {kind}"[:_LONGEST])


_LONGEST = 200


def _answer_columns(discussion: Discussion, pairs: Sequence[EarlierMessage], logits: Floats) -> Floats:
    summary = pair_summary(len(discussion.messages), pairs, logits.tolist())
    return np.hstack([features(discussion).style, rule_answers(discussion), summary])


def aim_table(discussion: Discussion, answered: Sequence[int | None]) -> tuple[list[tuple[ActAim, str]], Floats]:
    """The aims of all messages with their texts, and the dense features of each."""
    each = list(aims(discussion, answered))
    named = [0] * len(discussion.messages)
    for aim, _ in each:
        named[aim.message] += aim.is_named
    by_rule = rule_acts(discussion)
    rows = [aim_row(aim, text, named[aim.message], by_rule[aim.message]) for aim, text in each]
    places = [aim.message for aim, _ in each]
    return each, np.hstack([np.array(rows, dtype=np.float32), features(discussion).style[places]])


def _chances(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), dtype=np.float32)


class _ShippedReader:
    """Stands for the reader that ships, which is loaded when it first has to read: small to send to a process."""

    def __reduce__(self) -> str:
        return "SHIPPED"

    def __getattr__(self, name: str) -> Any:
        return getattr(shipped_reader(), name)


@cache
def shipped_reader() -> Reader:
    """The reader that ships with the product, for English."""
    path = files("evaluation.rubric.reader") / _SHIPPED_FILE
    return Reader.load(path.read_bytes(), _SHIPPED_FILE)


SHIPPED = cast("Reader", _ShippedReader())
"""The reader that ships."""
