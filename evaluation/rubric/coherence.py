"""Metric 3, conversation coherence: how many messages answer what was said just before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from evaluation.rubric.definitions import COHERENCE
from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.rubric.language_pack import LanguagePack, language_pack
from evaluation.rubric.wording import quoted
from evaluation.score import Evidence, LedgerRow, MetricResult, decided, summarise
from evaluation.text.aliases import NameWords
from evaluation.text.stems import stem
from evaluation.text.tokens import Token
from evaluation.transcript import Transcript

# The rubric looks back this far, and calls a word of more letters than this a keyword.
WINDOW = 3
_KEYWORD_IS_LONGER_THAN = 4
_SHARED_KEYWORDS = 2
_REMEMBERED_WORDS = 65_536

_Topics = dict[str, Token]


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of messages after the first that respond to the discussion (rubric 1.0, metric 3).

    A message counts when its reply id is set, unless it replies to its own speaker; or when it names a player who wrote
    one of the 3 messages before; or when it shares two keywords with those 3 taken together. Keywords have more than 4
    letters as written, are compared by stem, and are neither stop words nor a name's words. The speaker's own messages
    among the 3 are left aside: a monologue answers nobody. A reply id that resolves to nothing earlier counts, with
    that remark.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 70 when left out.

    Returns:
        A percent result with one row per public message, the first one excluded. ``refers_to`` is the message answered.
        ``not_applicable`` for fewer than two messages or in a language without a pack.
    """
    discussion = Discussion.of(transcript)
    if discussion.pack is None:
        return summarise(COHERENCE, (), threshold=threshold, not_applicable=discussion.unsupported_language)
    messages = discussion.messages
    table = topic_table(discussion.language)
    of_names = _words_of_names(discussion)
    topics = [topics_of(prepared, table, of_names) for prepared in messages]
    rows = [_first_row(prepared) for prepared in messages[:1]]
    for position in range(1, len(messages)):
        start = max(0, position - WINDOW)
        window = list(zip(messages[start:position], topics[start:position], strict=True))
        rows.append(_row(transcript, messages[position], topics[position], window))
    return summarise(
        COHERENCE, rows, threshold=threshold, not_applicable="" if len(messages) > 1 else "fewer than two messages"
    )


class TopicTable(dict[str, str]):
    """The stem by which a keyword is compared, empty for a word that is none; fills itself as words are met.

    A plain look-up is three times as fast as a call of a cached function, and this is asked once per word.
    """

    def __init__(self, pack: LanguagePack) -> None:
        super().__init__()
        self._pack = pack

    def __missing__(self, word: str) -> str:
        bare = word.removesuffix("'s")
        is_keyword = len(bare) > _KEYWORD_IS_LONGER_THAN and self._pack.stop_words.isdisjoint((bare, word))
        topic = stem(bare, self._pack.stemmer) if is_keyword else ""
        if len(self) >= _REMEMBERED_WORDS:
            self.clear()
        self[word] = topic
        return topic


@cache
def topic_table(language: str) -> TopicTable:
    """The shared table of a language that has a pack."""
    pack = language_pack(language)
    assert pack is not None
    return TopicTable(pack)


def topics_of(prepared: PreparedMessage, table: TopicTable, of_names: NameWords) -> dict[str, Token]:
    """The stems of a message's keywords, each with the first word that has it."""
    text = prepared.message.text
    topics = {
        table[token[0]]: token
        for token in reversed(prepared.plain_tokens)
        if token[0] not in of_names.sole and not (token[0] in of_names.parts and text[token[1]].isupper())
    }
    topics.pop("", None)
    return topics


def _words_of_names(discussion: Discussion) -> NameWords:
    """What makes no topic even where no player was recognised: "Winter" the player shares nothing with the season.

    Of names of several words ("Policy Analyst"), only with a capital: in small letters, policy is what they talk about.
    """
    both = [frozenset(word + ending for word in words for ending in ("", "'s")) for words in discussion.names.words]
    return NameWords(*both)


def _first_row(prepared: PreparedMessage) -> LedgerRow:
    return _decided(prepared, None, "The first message has nothing to answer.")


def _row(
    transcript: Transcript,
    prepared: PreparedMessage,
    topics: _Topics,
    window: Sequence[tuple[PreparedMessage, _Topics]],
) -> LedgerRow:
    speaker = prepared.message.speaker
    others = [(other, of_other) for other, of_other in window if other.message.speaker != speaker]
    return (
        _by_reply(transcript, prepared)
        or _by_name(prepared, [other for other, _ in others])
        or _by_topic(prepared, topics, others)
    )


def _by_reply(transcript: Transcript, prepared: PreparedMessage) -> LedgerRow | None:
    message = prepared.message
    if message.reply_to is None:
        return None
    answered = transcript.message(message.reply_to)
    if answered is None or answered.index > message.index:
        reason = "Is marked as a reply, to a message that is not in the transcript before it."
        return _decided(prepared, True, reason, details={"by": "reply", "remark": "reply id resolves to nothing"})
    if answered.speaker == message.speaker:
        return None
    reason = f"Is marked as a reply to {answered.speaker}."
    return _decided(prepared, True, reason, refers_to=answered.id, details={"by": "reply"})


def _by_name(prepared: PreparedMessage, others: Sequence[PreparedMessage]) -> LedgerRow | None:
    if not prepared.mentions or not others:
        return None
    latest = {other.message.speaker: other.message for other in others}
    for mention in prepared.mentions:
        named = latest.get(mention.player)
        if named is not None:
            text = prepared.message.text[mention.start : mention.end]
            back = _how_far(named.id, others)
            return _decided(
                prepared,
                True,
                f'Names {mention.player} ("{text}"), who spoke {back}.',
                evidence=(Evidence(mention.start, mention.end, text),),
                refers_to=named.id,
                details={"by": "name"},
            )
    return None


def _how_far(message_id: str, others: Sequence[PreparedMessage]) -> str:
    return "just before" if others[-1].message.id == message_id else "shortly before"


def _by_topic(
    prepared: PreparedMessage, topics: _Topics, others: Sequence[tuple[PreparedMessage, _Topics]]
) -> LedgerRow:
    if not others:
        return _decided(
            prepared, False, "Only its own speaker spoke in the 3 messages before: a monologue answers nobody."
        )
    said: set[str] = set().union(*(of_other for _, of_other in others))
    shared = sorted([topic for topic in topics if topic in said], key=lambda topic: topics[topic].start)
    found = [topics[topic] for topic in shared]
    text = prepared.message.text
    evidence = tuple([Evidence(token.start, token.end, text[token.start : token.end]) for token in found])
    words = quoted(list(dict.fromkeys(item.text for item in evidence)))
    if len(shared) < _SHARED_KEYWORDS:
        only = f"shares only {words} with them" if shared else "shares no keyword with them"
        reason = f"Names nobody who wrote the 3 messages before and {only}."
        return _decided(prepared, False, reason, evidence=evidence)
    closest, _ = max(reversed(others), key=lambda other: len(topics.keys() & other[1].keys()))
    reason = f"Takes up {words} from the messages before, most of it from {closest.message.speaker}."
    return _decided(
        prepared,
        True,
        reason,
        evidence=evidence,
        refers_to=closest.message.id,
        details={"by": "topic", "stems": shared},
    )


def _decided(prepared: PreparedMessage, counts: bool | None, reason: str, **fields: Any) -> LedgerRow:
    message = prepared.message
    row_id = f"{COHERENCE.name}:{message.id}"
    return decided(row_id, "message", counts, reason, message_id=message.id, player=message.speaker, **fields)
