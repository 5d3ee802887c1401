"""The reader: for every message the chance that it is strategic, refers to the past, and acts."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import InputError
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader._features import (
    BUCKETS,
    OWN_STYLE,
    aim_table,
    features,
    hashed_ngrams,
    sentence_rows,
    sentences,
)
from evaluation.rubric.speech import ActKind, SpeechAct

Floats = NDArray[np.float32]
ACTS = tuple(ActKind)
TEXT_HEADS = ("strategic", "reference", *map(str, ACTS))
"""The columns of the weights of n-grams."""
FORMAT = 4
_SHIPPED_FILE = "reader_en.npz"


@dataclass(frozen=True, slots=True)
class ReaderHead:
    """The dense part of one question: its columns' means and sizes, their weights, and the bias."""

    means: Floats
    sizes: Floats
    weights: Floats
    bias: float

    def logits(self, dense: Floats) -> Floats:
        """The dense part of each row's logit. Shape (rows, columns) to (rows,)."""
        return np.asarray(((dense - self.means) / self.sizes) @ self.weights + self.bias, dtype=np.float32)


class Licence(NamedTuple):
    """From which chance on the reader's answer stands: where, on sources left out, four in five were right.

    Attributes:
        scale: Factor of the logit of the question's chance, and
        shift: what is added to it, for the logit of the chance that the answer is right.
        limit: The lowest such chance; above 1 where there is no licence.
    """

    scale: float
    shift: float
    limit: float

    def chance(self, chance: float) -> float:
        """The chance, from 0 to 1, that a yes is right where the question's chance of yes is ``chance``."""
        logit = math.log(max(chance, 1e-6) / max(1 - chance, 1e-6))
        return 1 / (1 + math.exp(-(self.scale * logit + self.shift)))


def kind_by_rule(act: SpeechAct) -> str:
    """The kind under which an act of the rule is held to account: direct questions are told from others."""
    return f"direct {act.kind}" if act.is_direct else str(act.kind)


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


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """Answers of the reader to one message; chances from 0 to 1.

    Attributes:
        strategic: Chance that it shows strategic thinking.
        references: Each sentence with the chance that it holds a reference to the past.
        acts: The acts of the kinds and beyond the chances for which the reader has a licence.
    """

    strategic: float
    references: tuple[ReadReference, ...]
    acts: tuple[ReadAct, ...]


_FEW_MESSAGES = 10


class KnownKinds(NamedTuple):
    """The look of games to a reader that has not seen their source: mean and spread of each number of :func:`kind_of`.

    Attributes:
        limit: The distance of the farthest game for which, left out with its source, the licences were found to hold.
    """

    means: tuple[float, ...]
    spreads: tuple[float, ...]
    limit: float

    def distance(self, kind: Sequence[float]) -> float:
        """The number of spreads by which messages are shorter or longer than usual, or more words unknown."""
        length, unseen = (
            (value - mean) / spread for value, mean, spread in zip(kind, self.means, self.spreads, strict=True)
        )
        return max(abs(length), unseen)


def kind_of(discussion: Discussion, vocabulary: Collection[str]) -> tuple[float, float]:
    """The kind of a game in numbers: the mean log length of its messages, and the share of words not known."""
    seen = features(discussion)
    words = [word for text in seen.texts for word in text.split()]
    unknown = len(words) - sum(map(vocabulary.__contains__, words))
    return float(seen.style[:, 0].mean()), unknown / max(1, len(words))


@dataclass(frozen=True, eq=False)
class Reader:
    """A trained reader. It is plain arrays, reads a discussion in one go, and always says the same of the same.

    Attributes:
        name: What it was trained on, and a hash of its arrays; stored with every decision.
        idf: Rarity of each bucket of n-grams. Shape (BUCKETS,).
        words: Weights of n-grams. Shape (BUCKETS, len(TEXT_HEADS)).
        heads: The dense part of each of ``TEXT_HEADS``.
        licences: By question: each kind of act, "reference", and "strategic yes" and "strategic no" for overruling the
            rule in that direction.
        vocabulary: The words that it met in several sources.
        kinds: The look of the games that it was trained on.
        rule_acts: The kinds of acts of which four in five that the rule sees were right on its labels, as
            :func:`kind_by_rule` names them.
        card: Facts for its model card: numbers of labels, figures by source; JSON-compatible.
    """

    name: str
    idf: Floats
    words: Floats
    heads: Mapping[str, ReaderHead]
    licences: Mapping[str, Licence]
    vocabulary: frozenset[str]
    kinds: KnownKinds
    rule_acts: frozenset[str]
    card: Mapping[str, Any]

    def is_far(self, discussion: Discussion) -> bool:
        """Whether a discussion is of a kind that the reader was not made for, so that rules decide all of it."""
        count = len(discussion.messages)
        # The fewer messages, the more a mean says of these few and the less of the game.
        distance = self.kinds.distance(kind_of(discussion, self.vocabulary)) * count / (count + _FEW_MESSAGES)
        return distance > self.kinds.limit

    @cached_property
    def _message_heads(self) -> tuple[str, ...]:
        """The questions that are asked of whole messages, and those of acts only with a licence."""
        return ("strategic", *(kind for kind in map(str, ACTS) if self.licences[kind].limit <= 1))

    # Columns side by side are read several times faster than columns of a wide table.
    @cached_property
    def _message_words(self) -> Floats:
        return self._words_of(self._message_heads)

    @cached_property
    def _reference_words(self) -> Floats:
        return self._words_of(["reference"])

    def _words_of(self, heads: Sequence[str]) -> Floats:
        return np.ascontiguousarray(self.words[:, [TEXT_HEADS.index(head) for head in heads]] * self.idf[:, None])

    def read(self, discussion: Discussion) -> tuple[ReadMessage, ...]:
        """Answers to each message of a discussion, in order; none in another language than English."""
        if discussion.pack is None or not discussion.messages:
            return ()
        own_style = features(discussion).style[:, :OWN_STYLE]
        strategic = _chances(self._text_logits("strategic", discussion.derive(self._sums), own_style))
        each = zip(strategic.tolist(), self._references(discussion), self._acts(discussion), strict=True)
        return tuple(ReadMessage(chance, tuple(references), tuple(acts)) for chance, references, acts in each)

    def _sums(self, discussion: Discussion) -> Floats:
        return features(discussion).message_ngrams.sums(self._message_words, self.idf)

    def _text_logits(self, head: str, sums: Floats, dense: Floats) -> Floats:
        return sums[:, self._message_heads.index(head)] + self.heads[head].logits(dense)

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

    def _acts(self, discussion: Discussion) -> list[list[ReadAct]]:
        found: list[list[ReadAct]] = [[] for _ in discussion.messages]
        each, dense = aim_table(discussion)
        # Only for a player who is named another text than the whole message is read.
        sums = discussion.derive(self._sums)[[aim.message for aim, _ in each]]
        named = [row for row, (aim, _) in enumerate(each) if aim.is_named]
        sums[named] = hashed_ngrams([each[row][1] for row in named]).sums(self._message_words, self.idf)
        for kind in map(ActKind, self._message_heads[1:]):
            chances = _chances(self._text_logits(kind, sums, dense))
            best: dict[int, ReadAct] = {}
            for row in np.flatnonzero(chances >= self.licences[kind].limit).tolist():
                aim, chance = each[row][0], float(chances[row])
                # An act is aimed at one player, not at every name.
                if aim.message not in best or chance > best[aim.message].chance:
                    best[aim.message] = ReadAct(kind, aim.target, chance)
            for message, act in best.items():
                found[message].append(act)
        return found

    def word_weights(self, head: str, words: Sequence[str]) -> list[float]:
        """Weights of words, each alone, for (above 0) or against the answer to a question about whole messages."""
        sums = hashed_ngrams(words).sums(self._message_words, self.idf)
        return [float(one) for one in sums[:, self._message_heads.index(head)]]

    @classmethod
    def load(cls, content: bytes, place: str = "") -> Reader:
        """The reader in a file's content.

        Raises:
            InputError: It is not a reader, or one of another format.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                about = json.loads(bytes(arrays["about"]))
                if about["format"] != FORMAT:
                    raise ValueError(f"format {about['format']!r}")
                idf, words = arrays["idf"].astype(np.float32), arrays["words"].astype(np.float32)
                heads = {}
                for name in TEXT_HEADS:
                    means, sizes, weights = arrays[f"head {name}"]
                    heads[name] = ReaderHead(means, sizes, weights, float(arrays[f"bias {name}"][0]))
                if idf.shape != (BUCKETS,) or words.shape != (BUCKETS, len(TEXT_HEADS)):
                    raise ValueError("arrays of another size")
                licences = {name: Licence(*map(float, one)) for name, one in about["licences"].items()}
                means, spreads, limit = about["kinds"]
                vocabulary = frozenset(bytes(arrays["vocabulary"]).decode("utf-8").split())
                kinds = KnownKinds(tuple(means), tuple(spreads), float(limit))
                rule_acts = frozenset(map(str, about["rule_acts"]))
        except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise InputError(
                f"It is not a reader that this version can use ({error}).",
                place=place,
                remedy="Train it again with: make reader.",
            ) from None
        return cls(str(about["name"]), idf, words, heads, licences, vocabulary, kinds, rule_acts, about["card"])


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
