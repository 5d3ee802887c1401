"""The public messages of a transcript as words and mentions, prepared once for all metrics."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, wraps
from importlib.resources import files
from operator import itemgetter
from typing import Any, TypeVar

from evaluation.files.bundled import parse_yaml
from evaluation.score import LedgerRow, decided, row_id_of
from evaluation.text.aliases import NameWords
from evaluation.text.display import counted
from evaluation.text.language import detect_language, language_code, message_language
from evaluation.text.names import Mention, NameIndex
from evaluation.text.normal import fold, word_list
from evaluation.text.tokens import Token, stem, tokenize
from evaluation.transcript import Message, Transcript

_WORD_LISTS = (
    "bare_keywords",
    "introduction_words",
    "answer_words",
    "first_person",
    "second_person",
    "question_words",
    "fillers",
)


@dataclass(frozen=True, slots=True, eq=False)
class LanguagePack:
    """The keywords of English.

    Attributes:
        strategic_forms: Every form of every strategic keyword, with the keyword it is a form of.
        bare_keywords: Those of the forms that alone say little ("vote", "think", "trust").
        signs_of_depth: Words that point to reasoning although they are not keywords, by kind.
        game_terms: Words whose repetition a game makes unavoidable.
        function_words: Words of function: the stop words, and verbs like "need" and "want".
        personality_marks: Words and phrases that mark each of the rubric's personalities, as tuples of words.
        stop_words: Words that make no topic.
        introduction_words: Words of greetings and introductions, which make no topic either.
        reply_phrases: Phrases with which an explicit reply opens, by their first word, longer ones first.
        opinion_frames: Phrases in which the first person says nothing of the speaker ("I think"), in the same way.
        answer_words: Words with which an answer opens.
        first_person: Words by which the speaker is meant.
        second_person: Words that mean the person spoken to ("you").
        question_words: Words with which a question opens.
        fillers: Words that may stand before the opening of a message.
    """

    strategic_forms: Mapping[str, str]
    bare_keywords: frozenset[str]
    signs_of_depth: Mapping[str, frozenset[str]]
    game_terms: frozenset[str]
    function_words: frozenset[str]
    personality_marks: Mapping[str, frozenset[tuple[str, ...]]]
    stop_words: frozenset[str]
    introduction_words: frozenset[str]
    reply_phrases: Mapping[str, tuple[tuple[str, ...], ...]]
    opinion_frames: Mapping[str, tuple[tuple[str, ...], ...]]
    answer_words: frozenset[str]
    first_person: frozenset[str]
    second_person: frozenset[str]
    question_words: frozenset[str]
    fillers: frozenset[str]


@cache
def english_pack() -> LanguagePack:
    """The keywords that ship: those of English."""
    content = parse_yaml((files("evaluation.rubric") / "keywords" / "en.yaml").read_text("utf-8"))
    forms = {
        form: keyword
        for keywords in content["strategic_keywords"].values()
        for keyword, inflected in keywords.items()
        for form in map(fold, inflected)
    }
    stop_words = _words(word_list(content["stop_words_file"]))
    return LanguagePack(
        strategic_forms=forms,
        signs_of_depth={kind: _words(words.split()) for kind, words in content["signs_of_depth"].items()},
        game_terms=_words(content["game_terms"]),
        stop_words=stop_words,
        function_words=stop_words | _words(content["function_words"].split()),
        personality_marks={
            name: frozenset(tuple(fold(mark).split("_")) for mark in marks.split())
            for name, marks in content["personality_marks"].items()
        },
        reply_phrases=_by_first_word(content["reply_phrases"].split()),
        opinion_frames=_by_first_word(content["opinion_frames"].split()),
        **{key: _words(str(content[key]).split()) for key in _WORD_LISTS},
    )


def _words(written: Iterable[str]) -> frozenset[str]:
    """Words as they are compared: an "ß" is "ss" then."""
    return frozenset(map(fold, written))


def _by_first_word(phrases: Sequence[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The phrases as words, by their first word, longer ones first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for words in sorted((tuple(fold(phrase).split("_")) for phrase in phrases), key=lambda words: -len(words)):
        found.setdefault(words[0], []).append(words)
    return {first: tuple(longer) for first, longer in found.items()}


Topics = dict[str, Token]
"""Stem -> the first word that has it."""

_REMEMBERED_WORDS = 65_536
_SHORTEST_KEYWORD = 5


class TopicTable(dict[str, str]):
    """Stems by which keywords are compared, empty for other words; filled as words are met.

    A plain look-up is three times as fast as a call of a cached function, and this is asked once per word.
    """

    def __init__(self, pack: LanguagePack) -> None:
        super().__init__()
        self._no_topic = pack.stop_words | pack.introduction_words

    def __missing__(self, word: str) -> str:
        bare = word.removesuffix("'s")
        is_keyword = len(bare) >= _SHORTEST_KEYWORD and self._no_topic.isdisjoint((bare, word))
        topic = stem(bare) if is_keyword else ""
        if len(self) >= _REMEMBERED_WORDS:
            self.clear()
        self[word] = topic
        return topic


class TopicWords:
    """Finds the topics of messages of one game.

    Args:
        pack: The words of its language; also an attribute.
        names: The words of its players' names. They make no topic even where no player was recognised: "Winter" the
            player shares nothing with the season. Words of names of several words ("Policy Analyst") make none with a
            capital: in small letters, policy is what they talk about.
    """

    def __init__(self, pack: LanguagePack, names: NameWords) -> None:
        self.pack = pack
        self._table = _topic_table(pack)
        self._sole, self._parts = (
            frozenset(word + ending for word in words for ending in ("", "'s")) for words in names
        )

    def of(self, text: str, tokens: tuple[Token, ...]) -> Topics:
        """The topics of ``text``, whose words outside of mentions are ``tokens``."""
        table, sole, parts = self._table, self._sole, self._parts
        topics = {
            table[token[0]]: token
            for token in reversed(tokens)
            if token[0] not in sole and not (token[0] in parts and text[token[1]].isupper())
        }
        topics.pop("", None)
        return topics


@cache
def _topic_table(pack: LanguagePack) -> TopicTable:
    """The shared table of a language."""
    return TopicTable(pack)


# Written without spaces between words.
_UNSPACED_LANGUAGES = frozenset({"ja", "zh", "th", "lo", "km", "my", "bo", "dz"})
_ONLY_ENGLISH = "only English without a model"
# Metrics of one transcript are computed one after the other; few transcripts are in work at a time.
_KEPT = 2
# What stands later opens nothing.
_OPENING_WORDS = 12
_MOST_FILLERS = 2
# "why?", "to who?", "how so?" ask back.
_SHORT_QUESTION = 2
NAME = "NAME"
"""Stands for any mention of any player, so that "I think Bravo is" repeats "I think Echo is"."""
_START, _END = itemgetter(1), itemgetter(2)

Value = TypeVar("Value")


@dataclass(eq=False)
class PreparedMessage:
    """A public message with its words and the players it names. What only some metrics need is computed when asked for.

    Attributes:
        message: The message itself.
        body_start: Where the message begins after the speaker's own name as a prefix ("Agent-E: ..."), in code points.
        tokens: The words from there on.
        mentions: The players named from there on.
        topic_words: Tells keywords from other words; ``None`` in another language than English.
        kept: By name, what follows from the words and mentions alone, for copies by other authors or in other rounds,
            which share it; ``None`` keeps nothing, for what is read only once.
    """

    message: Message
    body_start: int
    tokens: tuple[Token, ...]
    mentions: tuple[Mention, ...]
    topic_words: TopicWords | None = None
    kept: dict[Hashable, Any] | None = None

    def keep(self, name: Hashable, make: Callable[[], Value]) -> Value:
        """The answer of ``make``, or the one that is kept by that name."""
        if self.kept is None:
            return make()
        if name not in self.kept:
            self.kept[name] = make()
        found: Value = self.kept[name]
        return found

    @property
    def pack(self) -> LanguagePack | None:
        """The keywords; ``None`` in another language than English."""
        return self.topic_words.pack if self.topic_words else None

    @cached_property
    def plain_tokens(self) -> tuple[Token, ...]:
        """The words outside of mentions."""
        return _outside(self.tokens, self.mentions) if self.mentions else self.tokens

    @cached_property
    def plain_words(self) -> list[str]:
        """The normalised words outside of mentions, in order."""
        return [token[0] for token in self.plain_tokens]

    @cached_property
    def pieces(self) -> tuple[Token, ...]:
        """The words in order, every mention as one ``NAME``."""
        if not self.mentions:
            return self.tokens
        names = [Token(NAME, mention.start, mention.end) for mention in self.mentions]
        return tuple(sorted([*self.plain_tokens, *names], key=_START))

    @cached_property
    def bare_words(self) -> list[str]:
        """The words outside of mentions without their apostrophes, of which chat leaves out many."""
        return [word.replace("'", "") if "'" in word else word for word in self.plain_words]

    @cached_property
    def all_words(self) -> frozenset[str]:
        """The distinct words, those of mentions included."""
        return frozenset([token[0] for token in self.tokens]) if self.mentions else self.word_set

    @cached_property
    def word_set(self) -> frozenset[str]:
        """The distinct words outside of mentions."""
        return frozenset(self.plain_words)

    @cached_property
    def named(self) -> frozenset[str]:
        """The players named."""
        return frozenset([mention.player for mention in self.mentions])

    @cached_property
    def topics(self) -> Topics:
        """The stems of the keywords, each with the first word that has it; empty in another language than English."""
        return self.topic_words.of(self.message.text, self.plain_tokens) if self.topic_words else {}

    # The rest is asked of English alone.

    @cached_property
    def is_first_person(self) -> bool:
        """Whether the speaker speaks of themselves: "it was me", but not "I think it is Bob"."""
        pack, words = self.pack, self.bare_words
        if pack is None or pack.first_person.isdisjoint(words):
            return False
        position = 0
        while position < len(words):
            frame = _phrase_at(words, position, pack.opinion_frames)
            if not frame and words[position] in pack.first_person:
                return True
            position += max(1, len(frame))
        return False

    @cached_property
    def is_addressed(self) -> bool:
        """Whether it speaks to somebody ("you", "your")."""
        return self.pack is not None and not self.pack.second_person.isdisjoint(self.bare_words)

    @cached_property
    def opens_as_answer(self) -> bool:
        """Whether the first word is one of an answer ("yes", "because")."""
        return self.pack is not None and not self.pack.answer_words.isdisjoint(self.bare_words[:1])

    @cached_property
    def is_question(self) -> bool:
        """Whether it holds a question mark, or opens with a word of question; "Ann has been quiet" opens with Ann."""
        text, words = self.message.text, self.pack.question_words if self.pack else frozenset[str]()
        return (
            "?" in text
            or "\uff1f" in text
            or (self.tokens[:1] == self.plain_tokens[:1] and not words.isdisjoint(self.bare_words[:1]))
        )

    @cached_property
    def reply_phrase(self) -> Sequence[Token]:
        """The words of the reply phrase with which it opens, names and fillers before it left aside; or none."""
        if self.pack is None:
            return ()
        tokens, words = self.plain_tokens[:_OPENING_WORDS], self.bare_words[:_OPENING_WORDS]
        if len(words) <= _SHORT_QUESTION and self.is_question:
            return tokens
        for start in range(min(_MOST_FILLERS + 1, len(words))):
            if phrase := _phrase_at(words, start, self.pack.reply_phrases):
                return tokens[start : start + len(phrase)]
            if words[start] not in self.pack.fillers:
                break
        return ()

    @cached_property
    def is_introduction(self) -> bool:
        """Whether the speaker gives the own name ("Hi, I'm Ann"): a word of the first person stands right before it."""
        pack, speaker = self.pack, self.message.speaker
        if pack is None or speaker not in self.named:
            return False
        for mention in self.mentions:
            if mention.player == speaker:
                first = bisect_right(self.tokens, mention.start, key=_END)
                before = self.tokens[max(0, first - 3) : first]
                if any(token[0].replace("'", "") in pack.first_person for token in before):
                    return True
        return False


def _phrase_at(words: Sequence[str], start: int, phrases: Mapping[str, tuple[tuple[str, ...], ...]]) -> tuple[str, ...]:
    """The longest of ``phrases`` that stands at ``start``; empty without one."""
    for phrase in phrases.get(words[start], ()):
        if tuple(words[start : start + len(phrase)]) == phrase:
            return phrase
    return ()


@dataclass(frozen=True, eq=False)
class Discussion:
    """The public discussion of a transcript, prepared for the metrics.

    Attributes:
        transcript: Where it comes from.
        names: Finds the players' names.
        language: ISO 639-1 code: the transcript's own, or the one detected.
        pack: The keywords of English; ``None`` in another language.
        messages: What counts: public, by players, no control words, in order.
        left_out: Messages of an English discussion that would count and are in another language.
    """

    transcript: Transcript
    names: NameIndex
    language: str
    pack: LanguagePack | None
    messages: tuple[PreparedMessage, ...]
    left_out: tuple[Message, ...] = ()
    _derived: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, transcript: Transcript) -> Discussion:
        """The discussion of ``transcript``; the few asked for last are kept."""
        return _discussion(_ByIdentity(transcript))

    def derive(self, make: Callable[[Discussion], Value]) -> Value:
        """The answer of ``make`` for this discussion, kept as long as the discussion is."""
        if make not in self._derived:
            self._derived[make] = make(self)
        found: Value = self._derived[make]
        return found

    @property
    def unsupported_language(self) -> str:
        """Why the metrics that read cannot be asked of it; empty when they can."""
        return "" if self.pack else _ONLY_ENGLISH

    @property
    def without_words(self) -> str:
        """Why metrics on words cannot be asked of it; empty when they can."""
        if self.language in _UNSPACED_LANGUAGES:
            return f"the language ({self.language}) is written without spaces between words"
        return ""

    @property
    def left_out_notes(self) -> tuple[str, ...]:
        """A remark on the messages that are left out; none without such."""
        if not self.left_out:
            return ()
        return (f"Not counted: {counted(len(self.left_out), 'message')} in another language than English.",)

    def left_out_rows(self, metric: str) -> list[LedgerRow]:
        """An excluded row for each message that is left out."""
        return [
            decided(
                row_id_of(metric, message.id),
                "message",
                None,
                f"Not counted: {_ONLY_ENGLISH}.",
                message_id=message.id,
                player=message.speaker,
            )
            for message in self.left_out
        ]


def kept_with_discussion(make: Callable[[Discussion], Value]) -> Callable[[Discussion], Value]:
    """Decorator: the function is called once for each discussion."""

    @wraps(make)
    def find(discussion: Discussion) -> Value:
        return discussion.derive(make)

    return find


class _ByIdentity:
    """A cache key equal only for the very same transcript: comparing contents would cost more than preparing."""

    __slots__ = ("transcript",)

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript

    def __hash__(self) -> int:
        return id(self.transcript)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.transcript is self.transcript


@lru_cache(maxsize=_KEPT)
def _discussion(key: _ByIdentity) -> Discussion:
    transcript = key.transcript
    names = NameIndex.of(transcript.player_names)
    given = transcript.language
    language = language_code(given) if given else detect_language(message.text for message in transcript.discussion)
    pack = english_pack() if language == "en" else None
    topic_words = TopicWords(pack, names.words) if pack else None
    messages: list[PreparedMessage] = []
    left_out: list[Message] = []
    for message in transcript.discussion:
        if pack and message_language(message.text, tokenize(message.text), pack.stop_words) != "en":
            left_out.append(message)
        else:
            messages.append(prepare(message, names, topic_words))
    return Discussion(transcript, names, language, pack, tuple(messages), tuple(left_out))


def prepare(message: Message, names: NameIndex, topic_words: TopicWords | None) -> PreparedMessage:
    """A message with its words and mentions.

    Args:
        message: The message.
        names: Finds the players' names.
        topic_words: Tells keywords from other words.
    """
    text = message.text
    body_start = names.body_start(text, message.speaker)
    tokens = tokenize(text)
    if body_start:
        tokens = tuple([token for token in tokens if token.start >= body_start])
    return PreparedMessage(message, body_start, tokens, names.mentions(text, body_start), topic_words)


def _outside(tokens: tuple[Token, ...], mentions: Sequence[Mention]) -> tuple[Token, ...]:
    outside: list[Token] = []
    done = 0
    for mention in mentions:
        first = bisect_right(tokens, mention.start, key=_END)
        outside.extend(tokens[done:first])
        done = max(done, bisect_left(tokens, mention.end, key=_START))
    outside.extend(tokens[done:])
    return tuple(outside)
