"""Metric 3, conversation coherence: how many messages answer what was said just before."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluation.rubric.definitions import COHERENCE
from evaluation.rubric.discussion import NAME, Discussion, PreparedMessage, Topics
from evaluation.rubric.rows_in_doubt import UNSURE
from evaluation.score import (
    DISMISSED,
    PROOF,
    Evidence,
    LedgerRow,
    MetricResult,
    RowVerdict,
    decided,
    redecided,
    row_id_of,
    summarise,
)
from evaluation.text.display import listed, quoted
from evaluation.text.names import Mention
from evaluation.text.tokens import Token
from evaluation.transcript import Message, Transcript

# A message of fewer words is easily said twice.
_FEWEST_REPEATED_WORDS = 5
_REPEATED_SHARE = 0.7


def repeats(prepared: PreparedMessage, earlier: Sequence[PreparedMessage]) -> bool:
    """Whether it repeats one of the ``earlier`` messages nearly word for word."""
    words = prepared.all_words
    if len(words) < _FEWEST_REPEATED_WORDS:
        return False
    for one in earlier:
        other = one.all_words
        # Sets of very different sizes cannot share so much.
        if len(other) >= _REPEATED_SHARE * len(words) and len(words) >= _REPEATED_SHARE * len(other):
            common = len(words & other)
            if common >= _REPEATED_SHARE * (len(words) + len(other) - common):
                return True
    return False


# What is done with somebody's words beside the name (A; other players are B): proof that they are answered.
_TAKES_UP = re.compile(
    r"\b(?:agree|agreed|disagree|support|second|endorse|echo)(?: \w+){0,3}? A\b"
    r"|\b(?:thanks|thank you|thx|ty)(?: \w+){0,2}? A\b"
    r"|^(?:hi|hey|hello|welcome|greetings|good morning)(?: \w+){0,2}? A\b"
    r"|\bA's(?: \w+){0,2}? (?:proposal|suspicion|claim|point|question|accusation|charge|plan|reasoning|theory"
    r"|concern|idea|argument|logic|call|suggestion|story|defen[cs]e|words|case|answer)s?\b"
    r"|\bA (?:is|was|has|makes|made)(?: (?:an?|so|very|absolutely|quite|also|completely))*"
    r" (?:right|wrong|(?:good |fair )?point)\b"
    r"|\b(?:as|like|what|when) A (?:just |already |also )?"
    r"(?:said|says|asked|mentioned|suggested|proposed|pointed|noted|wrote)\b"
    r"|\b(?:fair|good|great|nice|excellent|interesting) (?:point|question|call|idea|one|catch)(?: \w+)? A\b"
    r"|\bA(?: \w+){0,2}? you (?:just )?(?:said|say|asked|ask|mentioned|claim|claimed|accuse|accused|suggested"
    r"|keep|call|called)\b"
    r"|^(?:no|yes|yeah|yep|nope|nah|why|sure|ok|okay|true|exactly|haha|lol|but) A\b"
)
# The same without a name, of the message directly before.
_AGREES = re.compile(
    r"^(?:\w+ ){0,2}?(?:i )?(?:also |too |fully |completely |totally |strongly )?(?:agree|disagree|support|second)\b"
)
# How one of two turns on the other's point without a shared keyword.
_CONCEDES = re.compile(
    r"^(?:while|although|though|beyond|but|however|yet|still|despite|granted|even if|that said|true|no|yes"
    r"|instead|rather|on the contrary|exactly)\b"
)
# In a crowd they begin a thought more often than they answer one of the last three.
_OPENERS = frozenset({"ok", "okay", "alright", "maybe"})
_MOST_WHO_ACKNOWLEDGE = 3
_SHORTEST_SHARED = 4
# "I think" stands in messages about anything.
_OPINIONS = frozenset({"think", "believe"})
# "Let's look at the evidence" calls on all, whatever was asked.
_CALLS = (["let's"], ["lets"], ["let"])
_DEBATE_WORDS = 6
"""Fewer words make no point of a debate."""
_OPPOSITE_RIGHT = 0.65
"""How often labels say the opposite of the rule in rows that are left open; those kept for figures left out."""

WINDOW = 3
"""How many messages of other players the rubric looks back."""
SHARED_KEYWORDS = 2
"""How many keywords a message shares with what it answers by topic."""
_NOBODY_BEFORE = "Nobody else spoke before it in this round: there is nothing to answer."
_SAID_AGAIN = "Says nearly word for word what its speaker said before: a monologue answers nobody."


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of messages with something to answer that respond to the discussion (rubric 1.0, metric 3).

    The context of a message is the 3 public messages of other players before it, in the same round. It counts in one
    of six ways, the first that holds:

    - *reply*: its reply id is set, not to an own message; one that resolves to nothing counts, with a remark;
    - *author*: it names who wrote a context message;
    - *subject*: it names a player whom a context message names;
    - *answer*: a context message names its speaker, or the last one asks a question that may be meant for them, and it
      speaks of themselves in the first person or opens as an answer;
    - *phrase*: it opens with a phrase of reply, and the message directly before is somebody else's; where more than
      three speak, "maybe" and "ok" are none;
    - *topic*: it shares two keywords with the context. Keywords have more than 4 letters as written, are compared by
      stem, and are neither stop words nor a name's words nor words of greeting, nor stand in a sentence that is copied.
      Where only two play, one word that is none of function or a concession ("while that is so, ...") takes up the
      other's point.

    A row is *proven* (``details["proof"]``) by a reply id, by a context author's name with what is taken up ("I agree
    with Ann", "Ann's claim", "no Ann"), by a plain "I agree", by an answer to a question that named the speaker, and by
    the other's point in a debate of two. No reader or judge overrules it.

    Where nobody can tell, the row is *left open*, ``details["rule"]`` has what the rubric's letter would say, and
    ``details["review"]`` offers it to people: a message in none of the six ways that shares a single keyword or
    another word of content with the context, follows a question or is one of two players'; and one that goes on after
    a message of its own speaker and is not proven.

    An introduction of oneself answers by the first three ways only, and a message that says nearly word for word what
    its speaker said before by the first. Rounds divide a discussion where they hold more than 3 messages on average.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 70 when left out.

    Returns:
        A percent result with one row per public message. Excluded are the first one and, unless it carries a reply id,
        one before which nobody else spoke in its round. ``details["by"]`` is the way,
        ``details["answers"]`` lists the ids of the messages answered, the most direct first, and ``refers_to`` is that
        one. ``not_applicable`` for fewer than two messages or in another language than English. Messages in such
        a language among others are excluded, also from the context, and counted in a note.
    """
    discussion = Discussion.of(transcript)
    if discussion.pack is None:
        return summarise(COHERENCE, (), threshold=threshold, not_applicable=discussion.unsupported_language)
    turns = enumerate(_turns(discussion, range(len(discussion.messages))))
    rows = [_row(transcript, turn, is_first=not position) for position, turn in turns]
    reason = "" if len(rows) > 1 else "fewer than two messages"
    rows += discussion.left_out_rows(COHERENCE.name)
    return summarise(COHERENCE, rows, threshold=threshold, not_applicable=reason, notes=discussion.left_out_notes)


@dataclass(slots=True)
class _Turn:
    """A message with what stands before it.

    Attributes:
        prepared: The message.
        context: The last messages of other players before it, the latest first.
        own: The speaker's own last messages before it.
        place: Where it stands.
        is_debate: Whether two play, and both speak.
        is_crowd: Whether more than three speak.
    """

    prepared: PreparedMessage
    context: list[PreparedMessage]
    own: list[PreparedMessage]
    place: Place
    is_debate: bool
    is_crowd: bool

    @property
    def speaker(self) -> str:
        return self.prepared.message.speaker

    @property
    def others_named(self) -> list[Mention]:
        return [mention for mention in self.prepared.mentions if mention.player != self.speaker]

    @property
    def words(self) -> str:
        """The words of the message; "A" for a name of an author of the context, "B" for that of another player."""
        authors = {other.message.speaker for other in self.context}
        named = {mention.start: mention.player for mention in self.prepared.mentions}
        pieces = self.prepared.pieces
        return " ".join(
            [
                one.text if one.text != NAME else ("A" if named[one.start] in authors else "B") + self._ending(one.end)
                for one in pieces
            ]
        )

    def _ending(self, end: int) -> str:
        """The possessive ending of a name that ends at ``end``, wherever the name's span ends."""
        text = self.prepared.message.text
        return (
            "'s"
            if text[end - 2 : end].casefold() in _POSSESSIVE or text[end : end + 2].casefold() in _POSSESSIVE
            else ""
        )


_POSSESSIVE = ("'s", "\u2019s")


class Place(NamedTuple):
    """Positions of the messages before one place of a discussion.

    Attributes:
        context: The last messages of other players before it, the latest first.
        own: The speaker's own last messages before it.
        is_run: Whether the speaker wrote the message directly before it as well.
        is_same_round: Whether the latest message of the context stands in the same round.
    """

    context: list[int]
    own: list[int]
    is_run: bool
    is_same_round: bool


def places(speakers: Sequence[str], numbers: Sequence[int | None]) -> Iterator[Place]:
    """The messages before each place. Time is linear, however long one speaker goes on.

    Args:
        speakers: The author of the message at each place.
        numbers: The round of each place.
    """
    # Rounds may be too short to be days of discussion.
    rounds = numbers if len(numbers) > WINDOW * len(set(numbers)) else [None] * len(numbers)
    # For each message the last one before it that somebody else wrote: a run of messages is left in one step.
    before_run: list[int] = []
    own: dict[str, deque[int]] = {}
    for position, speaker in enumerate(speakers):
        continues = position > 0 and speakers[position - 1] == speaker
        before_run.append(before_run[-1] if continues else position - 1)
        context: list[int] = []
        back = before_run[position]
        while back >= 0 and len(context) < WINDOW and rounds[back] == rounds[position]:
            if speakers[back] == speaker:
                back = before_run[back]
            else:
                context.append(back)
                back -= 1
        before = own.setdefault(speaker, deque(maxlen=WINDOW))
        is_same_round = bool(context) and numbers[context[0]] == numbers[position]
        yield Place(context, list(before), continues, is_same_round)
        before.append(position)


class _Link(NamedTuple):
    """The way in which a message takes up others, not yet in words.

    Attributes:
        way: One of the six, as ``details["by"]`` names it.
        answered: The messages taken up, the most direct first.
        shown: The words of the message that show it.
    """

    way: str
    answered: list[PreparedMessage]
    shown: Sequence[Token | Mention] = ()


def score_of_order(discussion: Discussion, order: Sequence[int]) -> float:
    """Coherence by rule, in percent, of the messages in another order; rounds stay where they were.

    0 where none has to answer.

    Args:
        discussion: Of at least two messages without reply ids, in a language that has a pack.
        order: For each place, which message stands there.
    """
    turns = [turn for turn in _turns(discussion, order) if turn.context]
    counted = left_open = 0
    for turn in turns:
        if not repeats(turn.prepared, turn.own):
            link = _link(turn)
            is_open = bool(_doubt(turn, link))
            counted += link is not None and not is_open
            left_open += is_open
    return 100.0 * counted / (len(turns) - left_open) if len(turns) > left_open else 0.0


def _turns(discussion: Discussion, order: Sequence[int]) -> Iterator[_Turn]:
    rounds = [prepared.message.round for prepared in discussion.messages]
    messages = [discussion.messages[one] for one in order]
    speakers = [prepared.message.speaker for prepared in messages]
    count = len(set(speakers))
    is_debate, is_crowd = count == len(discussion.transcript.players) == 2, count > _MOST_WHO_ACKNOWLEDGE
    for prepared, place in zip(messages, places(speakers, rounds), strict=True):
        context, own = [messages[one] for one in place.context], [messages[one] for one in place.own]
        yield _Turn(prepared, context, own, place, is_debate, is_crowd)


def _row(transcript: Transcript, turn: _Turn, *, is_first: bool) -> LedgerRow:
    message = turn.prepared.message
    if is_first:
        return _decided(message, None, "The first message has nothing to answer.", details={DISMISSED: True})
    found = answered_row(transcript, message)
    if found is not None:
        return found
    if not turn.context:
        # An opener is left out, as the first message is; one that is marked as a reply claims to answer somebody.
        if message.reply_to is not None:
            return _decided(message, False, _NOBODY_BEFORE)
        return _decided(message, None, _NOBODY_BEFORE, details={DISMISSED: True})
    if repeats(turn.prepared, turn.own):
        return _decided(message, False, _SAID_AGAIN)
    link = _link(turn)
    row = _missing_row(turn) if link is None else _WORDED[link.way](turn, link)
    return _left_open(row, doubt) if (doubt := _doubt(turn, link)) else row


def _left_open(row: LedgerRow, doubt: str) -> LedgerRow:
    # What it perhaps answers is not known.
    details = {
        **{name: value for name, value in row.details.items() if name not in ("by", "answers")},
        "review": {"kind": UNSURE, "likelihood": _OPPOSITE_RIGHT},
        "rule": {"verdict": str(row.verdict), "reason": row.reason},
    }
    found = f"{row.reason[:-1]}, {doubt}" if row.verdict is RowVerdict.COUNTS else doubt
    reason = f"{found}: left open."
    return redecided(row, RowVerdict.EXCLUDED, reason=reason, refers_to=None, details=details)


def answered_row(transcript: Transcript, message: Message) -> LedgerRow | None:
    """The row of a message that answers another player by its reply id; ``None`` for any other message."""
    if message.reply_to is None:
        return None
    answered = transcript.message(message.reply_to)
    if answered is None or answered.index > message.index:
        reason = "Is marked as a reply, to a message that is not in the transcript before it."
        return _decided(
            message, True, reason, details={"by": "reply", "remark": "reply id resolves to nothing", PROOF: True}
        )
    if answered.speaker == message.speaker:
        return None
    reason = f"Is marked as a reply to {answered.speaker}."
    details = {"by": "reply", "answers": [answered.id], PROOF: True}
    return _decided(message, True, reason, refers_to=answered.id, details=details)


def _link(turn: _Turn) -> _Link | None:
    return _by_author(turn) or _by_subject(turn) or _by_answer(turn) or _by_phrase(turn) or _by_topic(turn)


def _is_proven(turn: _Turn, link: _Link) -> bool:
    if link.way == "author":
        return bool(_TAKES_UP.search(turn.words))
    if link.way == "answer":
        return any(other.is_question and other.named == {turn.speaker} for other in link.answered)
    if link.way == "phrase":
        return bool(_AGREES.match(turn.words))
    return link.way == "topic" and len(link.shown) < SHARED_KEYWORDS


def _doubt(turn: _Turn, link: _Link | None) -> str:
    """Why nobody can tell whether a message answers; empty where the rule decides.

    ``python -m benchmarks.labels`` prints how often the rule was right in the rows that these leave open.
    """
    place, prepared = turn.place, turn.prepared
    if link is not None:
        return "but goes on after a message of its own speaker" if place.is_run and not _is_proven(turn, link) else ""
    if place.is_run or prepared.is_introduction:
        return ""
    forms = prepared.pack.strategic_forms if prepared.pack else {}
    held = _words_in_common(turn)
    if any(forms.get(word.casefold()) not in _OPINIONS for word in held):
        return f"{_shared_in_words(turn, held)}, which may be an answer or chance"
    if turn.context[0].is_question and prepared.plain_words[:1] not in _CALLS:
        return f"Follows a question of {turn.context[0].message.speaker}, and nothing else tells whether it answers"
    is_point = turn.is_debate and len(prepared.tokens) >= _DEBATE_WORDS
    return "Only two speak, and nothing else tells whether it answers" if is_point else ""


def _by_author(turn: _Turn) -> _Link | None:
    for mention in turn.others_named:
        if found := [other for other in turn.context if other.message.speaker == mention.player]:
            return _Link("author", found, [mention])
    return None


def _author_row(turn: _Turn, link: _Link) -> LedgerRow:
    back = "just before" if link.answered[0] is turn.context[0] else "shortly before"
    evidence = _evidence(turn.prepared, link.shown)
    reason = f'Names {link.answered[0].message.speaker} ("{evidence[0].text}"), who spoke {back}.'
    return _counts(turn, link, reason, evidence)


def _by_subject(turn: _Turn) -> _Link | None:
    for mention in turn.others_named:
        if found := [other for other in turn.context if mention.player in other.named]:
            return _Link("subject", found, [mention])
    return None


def _subject_row(turn: _Turn, link: _Link) -> LedgerRow:
    evidence = _evidence(turn.prepared, link.shown)
    subject = next(mention.player for mention in turn.others_named if mention in link.shown)
    reason = f'Speaks of {subject} ("{evidence[0].text}"), as {_authors(link.answered)} just did.'
    return _counts(turn, link, reason, evidence)


def _by_answer(turn: _Turn) -> _Link | None:
    prepared = turn.prepared
    if prepared.is_introduction or not (prepared.opens_as_answer or prepared.is_first_person):
        return None
    if named := [other for other in turn.context if turn.speaker in other.named]:
        return _Link("answer", named)
    latest = turn.context[0]
    asks_another = latest.named and latest.is_addressed
    return None if turn.place.is_run or asks_another or not latest.is_question else _Link("answer", [latest])


def _answer_row(turn: _Turn, link: _Link) -> LedgerRow:
    if turn.speaker not in link.answered[0].named:
        return _counts(turn, link, f"Answers the question of {link.answered[0].message.speaker}.")
    return _counts(turn, link, f"Answers for itself: {_authors(link.answered)} named {turn.speaker}.")


def _by_phrase(turn: _Turn) -> _Link | None:
    place, prepared = turn.place, turn.prepared
    if not prepared.reply_phrase or place.is_run or not place.is_same_round or prepared.is_introduction:
        return None
    if turn.is_crowd and all(token.text in _OPENERS for token in prepared.reply_phrase):
        return None
    return _Link("phrase", turn.context[:1], prepared.reply_phrase)


def _phrase_row(turn: _Turn, link: _Link) -> LedgerRow:
    start, end = link.shown[0].start, link.shown[-1].end
    evidence = (Evidence(start, end, turn.prepared.message.text[start:end]),)
    reason = f'Opens as a reply ("{evidence[0].text}"), after {link.answered[0].message.speaker}.'
    return _counts(turn, link, reason, evidence)


def _by_topic(turn: _Turn) -> _Link | None:
    prepared = turn.prepared
    if prepared.is_introduction:
        return None
    shared = _shared_topics(turn)
    if len(shared) >= SHARED_KEYWORDS:
        # The one with most of it stands first; of equal ones the later.
        found = sorted(turn.context, key=lambda other: -len(shared.keys() & other.topics.keys()))
        found = [other for other in found if shared.keys() & other.topics.keys()]
        return _Link("topic", found, list(shared.values()))
    is_point = turn.is_debate and not turn.place.is_run and len(prepared.tokens) >= _DEBATE_WORDS
    if is_point and (_shares_a_word(turn) or _CONCEDES.match(turn.words)):
        return _Link("topic", turn.context[:1], list(shared.values()))
    return None


def _topic_row(turn: _Turn, link: _Link) -> LedgerRow:
    evidence = _evidence(turn.prepared, link.shown)
    author = link.answered[0].message.speaker
    if len(link.shown) < SHARED_KEYWORDS:
        reason = f"Takes up the point of {author}, the only other one who speaks."
        return _counts(turn, link, reason, evidence)
    reason = f"Takes up {_words(evidence)} from the messages before, most of it from {author}."
    return _counts(turn, link, reason, evidence, stems=list(_shared_topics(turn)))


def _missing_row(turn: _Turn) -> LedgerRow:
    evidence = _evidence(turn.prepared, _shared_topics(turn).values())
    held = _words_in_common(turn)
    phrase, text = turn.prepared.reply_phrase, turn.prepared.message.text
    opens = f'with "{text[phrase[0].start : phrase[-1].end]}", here no sure reply' if phrase else "with no reply"
    reason = f"{_shared_in_words(turn, held)}, takes up no player of theirs and opens {opens}."
    if turn.prepared.is_introduction and held:
        reason = (
            f"Introduces its speaker, which answers nobody though it shares {quoted(held)} with the messages before."
        )
    return _decided(turn.prepared.message, False, reason, evidence=evidence)


def _shared_in_words(turn: _Turn, held: Sequence[str]) -> str:
    only = f"only {quoted(held)}{'' if _shared_topics(turn) else ', no keyword,'}" if held else "no keyword"
    return f"Shares {only} with the 3 messages of others before it"


_WORDED: Mapping[str, Callable[[_Turn, _Link], LedgerRow]] = {
    "author": _author_row,
    "subject": _subject_row,
    "answer": _answer_row,
    "phrase": _phrase_row,
    "topic": _topic_row,
}


def _shared_topics(turn: _Turn) -> Topics:
    """The keywords that the context holds as well, in the order of the message, those of copied sentences left out."""
    said: set[str] = set().union(*(other.topics for other in turn.context))
    prepared, topics = turn.prepared, turn.prepared.topics
    if len(topics.keys() & said) >= SHARED_KEYWORDS:
        copied = _copied(turn)
        if copied and prepared.topic_words:
            own_words = tuple(one for one in prepared.plain_tokens if not any(one.start in span for span in copied))
            topics = prepared.topic_words.of(prepared.message.text, own_words)
    return {
        one: topics[one] for one in sorted((one for one in topics if one in said), key=lambda one: topics[one].start)
    }


def _words_in_common(turn: _Turn) -> list[str]:
    """The keywords that the context holds as well, else its other words there, as written.

    None of function or of greeting, none in a copied sentence.
    """
    prepared, text = turn.prepared, turn.prepared.message.text
    shared: Collection[Token] = _shared_topics(turn).values()
    if not shared and prepared.pack is not None:
        said: set[str] = set().union(*(other.word_set for other in turn.context))
        held = (prepared.word_set & said) - prepared.pack.function_words - prepared.pack.introduction_words
        copied = _copied(turn) if held else []
        shared = [
            one
            for one in prepared.plain_tokens
            if one.text in held and len(one.text) >= _SHORTEST_SHARED and not any(one.start in span for span in copied)
        ]
    return list(dict.fromkeys(text[one.start : one.end] for one in shared))[:_MOST_SHOWN]


_MOST_SHOWN = 3


def _copied(turn: _Turn) -> list[range]:
    """The places of the sentences that stand word for word in the context."""
    own = _long_sentences(turn.prepared)
    return [own[one] for one in own.keys() & set().union(*map(_long_sentences, turn.context))]


def _long_sentences(prepared: PreparedMessage) -> Mapping[str, range]:
    """The sentences that nobody says again by chance, with their place."""
    return prepared.keep(
        "long sentences",
        lambda: {
            found[0].strip().casefold(): range(*found.span())
            for found in _SENTENCE.finditer(prepared.message.text, prepared.body_start)
            if len(found[0].split()) >= _FEWEST_REPEATED_WORDS
        },
    )


_SENTENCE = re.compile(r"[^.!?\n]+")


def _words(evidence: Sequence[Evidence]) -> str:
    return quoted(list(dict.fromkeys(item.text for item in evidence)))


def _shares_a_word(turn: _Turn) -> bool:
    """Whether one of two takes up any word of the other's last message, words of function aside."""
    pack = turn.prepared.pack
    common = turn.prepared.word_set & turn.context[0].word_set - (pack.function_words if pack else frozenset())
    return any(len(word) >= _SHORTEST_SHARED for word in common)


def _counts(
    turn: _Turn,
    link: _Link,
    reason: str,
    evidence: tuple[Evidence, ...] = (),
    **details: Any,
) -> LedgerRow:
    answers = [other.message.id for other in link.answered]
    if _is_proven(turn, link):
        details[PROOF] = True
    details = {"by": link.way, "answers": answers, **details}
    return _decided(turn.prepared.message, True, reason, evidence=evidence, refers_to=answers[0], details=details)


def _authors(found: Sequence[PreparedMessage]) -> str:
    return listed(list(dict.fromkeys(other.message.speaker for other in found)))


def _evidence(prepared: PreparedMessage, spans: Iterable[Token | Mention]) -> tuple[Evidence, ...]:
    text = prepared.message.text
    return tuple([Evidence(span.start, span.end, text[span.start : span.end]) for span in spans])


def _decided(message: Message, counts: bool | None, reason: str, **fields: Any) -> LedgerRow:
    row_id = row_id_of(COHERENCE.name, message.id)
    return decided(row_id, "message", counts, reason, message_id=message.id, player=message.speaker, **fields)
