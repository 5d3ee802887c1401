"""Opinions, themes and quotes that a judge reads from a discussion, traced back to the text; rules that make tables.

Source: ADR-010, ``ResultsExtractor``, ``ResultsReducer``. Unlike there, nothing is cut silently: a long discussion is
read in parts, what could not be read is listed, and an answer that cannot be used is an error and not an empty result.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from evaluation.errors import InputError
from evaluation.insight import _questions
from evaluation.insight._questions import (
    LONGEST_PART,
    OpinionsAnswer,
    QuotesAnswer,
    TextPart,
    ThemesAnswer,
    parts_of,
    spoken,
)
from evaluation.insight.validator import EvaluationConfig
from evaluation.judging.answers import Answer
from evaluation.judging.fencing import as_name, fenced, unquoted
from evaluation.judging.protocol import Judge, JudgementStatus, JudgeRequest, Prompt
from evaluation.text.normal import normalise
from evaluation.text.tokens import find_quote, tokenize
from evaluation.transcript import Elimination, Message, Transcript, Vote

POSITIVE = frozenset(
    ("good", "great", "love", "excellent", "amazing", "helpful", "useful", "agree", "yes", "definitely")
)
NEGATIVE = frozenset(("bad", "terrible", "hate", "awful", "useless", "disagree", "no", "never", "problem", "issue"))
NEUTRAL = 0.5

_NEGATIONS = frozenset({"no", "not", "never", "hardly", "without", "cannot"})
_ANSWERS = frozenset({"yes", "no"})
_BREAK = re.compile(r"[,.;:!?()\[\]\n\u2026\u2013\u2014]")
_REACH = 2
"""Words between a negation and what it turns round: "not a good", "don't really agree"."""


@dataclass(frozen=True, slots=True)
class Sentiment:
    """The sentiment of one speaker.

    Attributes:
        score: Mean over their messages, 0 (negative) to 1 (positive); a message without any of the words counts 0.5.
        messages: How many messages.
        telling: How many of them hold any of the words. With none the score says nothing.
    """

    score: float
    messages: int
    telling: int


def message_sentiment(text: str) -> float | None:
    """The share of positive words among the telling ones, 0 to 1; ``None`` when there are none.

    Each word counts once, and once more when it also occurs negated. A "no" or "never" that turns another word round
    does not count itself: "no problem" is positive. A negation holds up to the next punctuation mark. A "yes" or "no"
    that stands alone counts only where no other word tells: "No, I agree." is positive, "No." negative.
    """
    found: dict[tuple[str, bool], bool] = {}
    answers: dict[str, bool] = {}
    for words in _clauses(text):
        if len(words) == 1 and words[0] in _ANSWERS:
            answers[words[0]] = words[0] in POSITIVE
            continue
        for place, word in enumerate(words):
            if not _is_telling(word) or (_negates(word) and any(map(_turns, words[place + 1 : place + 1 + _REACH]))):
                continue
            is_negated = _turns(word) and any(map(_negates, words[max(0, place - _REACH) : place]))
            found[word, is_negated] = (word in POSITIVE) != is_negated
    counted = [*found.values()] or [*answers.values()]
    return sum(counted) / len(counted) if counted else None


def _clauses(text: str) -> Iterator[list[str]]:
    """The words between two marks of punctuation, in order; a negation does not reach beyond its clause."""
    words: list[str] = []
    end = 0
    for token in tokenize(text):
        if words and _BREAK.search(text, end, token.start):
            yield words
            words = []
        words.append(token.text)
        end = token.end
    if words:
        yield words


def _is_telling(word: str) -> bool:
    return word in POSITIVE or word in NEGATIVE


def _turns(word: str) -> bool:
    """Whether a negation before it turns the word round."""
    return _is_telling(word) and not _negates(word) and word != "yes"


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def sentiments(messages: Sequence[Message]) -> dict[str, Sentiment]:
    """Every speaker's sentiment, in the order of their first message."""
    by_speaker: defaultdict[str, list[float | None]] = defaultdict(list)
    for message in messages:
        by_speaker[message.speaker].append(message_sentiment(message.text))
    return {speaker: _mean(scores) for speaker, scores in by_speaker.items()}


def _mean(scores: Sequence[float | None]) -> Sentiment:
    total = sum(NEUTRAL if score is None else score for score in scores)
    return Sentiment(total / len(scores), len(scores), sum(score is not None for score in scores))


@dataclass(frozen=True, slots=True)
class Opinion:
    """One speaker's opinion.

    Attributes:
        agent_id: The speaker.
        stance: "positive", "negative", "neutral" or "mixed".
        summary: One sentence; untrusted text, as are the points.
        key_points: What it consists of.
        confidence: The judge's own, 0 to 1; the lowest where several parts were read.
        message_ids: The messages that voice it.
    """

    agent_id: str
    stance: str
    summary: str
    key_points: tuple[str, ...]
    confidence: float
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """A recurring theme.

    Attributes:
        name: A few words; untrusted text.
        frequency: In how many messages it comes up: those cited that exist, counted and not claimed.
        representative_quotes: Words that stand in messages.
        sentiment: "positive", "negative", "neutral" or "mixed".
        message_ids: The messages that touch on it.
    """

    name: str
    frequency: int
    representative_quotes: tuple[str, ...]
    sentiment: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a message.

    Attributes:
        agent_id: Who said them.
        content: The words as they stand in the message.
        relevance_score: The judge's own, 0 to 1.
        context: What they answer; untrusted text.
        message_id: The message that they stand in.
    """

    agent_id: str
    content: str
    relevance_score: float
    context: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A finding of the judge that the text does not support; untrusted text."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part that gave nothing.

    Attributes:
        place: Which messages.
        status: ``error``, ``skipped`` or ``not_scored``.
        detail: Why.
    """

    place: str
    status: JudgementStatus
    detail: str


Item = TypeVar("Item", Opinion, Theme, Quote)


@dataclass(frozen=True, slots=True)
class Extraction(Generic[Item]):
    """The result of one question about a discussion.

    Attributes:
        kind: "opinions", "themes" or "quotes".
        found: What the text bears out.
        refused: What it does not.
        problems: Parts that could not be read, with the reason.
        parts: How many parts the discussion has.
        shortened: Messages of which a judge saw the beginning only.
        model: Who read; empty when nobody was asked.
    """

    kind: str
    found: tuple[Item, ...]
    refused: tuple[Refused, ...] = ()
    problems: tuple[UnreadPart, ...] = ()
    parts: int = 0
    shortened: tuple[str, ...] = ()
    model: str = ""

    @property
    def status(self) -> str:
        """ "done", "partial" (some parts could not be read), or why no part could: "error", "skipped", "not_scored"."""
        if not self.problems:
            return "done"
        if len(self.problems) < self.parts:
            return "partial"
        return str(self.problems[0].status)

    def as_dict(self) -> Mapping[str, Any]:
        """Every field, ready for JSON."""
        fields = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {"status": self.status} | {name: value for name, value in fields.items() if name != "kind"}


_FEWEST_CHARACTERS = 3


def opinions_in(answer: Answer, part: TextPart) -> Iterator[Opinion | Refused]:
    """The opinions of speakers who are there, with messages of their own that are there."""
    for item in answer.opinions if isinstance(answer, OpinionsAnswer) else ():
        speaker = _speaker(item.agent_id, part)
        own = tuple([one.id for one in _cited(item.citations, part) if one.speaker == speaker])
        if speaker is None:
            yield Refused(item.agent_id, "nobody of that name speaks in these messages")
        elif not own:
            yield Refused(f"{speaker}: {item.summary}", "no message of theirs is cited for it")
        else:
            yield Opinion(speaker, item.stance, item.summary, tuple(item.key_points), item.confidence, own)


def themes_in(answer: Answer, part: TextPart) -> Iterator[Theme | Refused]:
    """The themes with citations that exist; of their quotes those that stand somewhere in the text.

    A theme may be cited once in each of several parts, so how often it comes up is judged after they are merged.
    """
    for item in answer.themes if isinstance(answer, ThemesAnswer) else ():
        cited = tuple([one.id for one in _cited(item.citations, part)])
        places = [(quote, _place(quote, part.messages)) for quote in item.representative_quotes]
        yield from (Refused(quote, "nobody said this") for quote, found in places if found is None)
        if cited:
            quotes = tuple([found[1] for _, found in places if found])
            yield Theme(item.name, len(cited), quotes, item.sentiment, cited)
        else:
            yield Refused(item.name, "no message that exists is cited for it")


def quotes_in(answer: Answer, part: TextPart) -> Iterator[Quote | Refused]:
    """The quotes that stand in a message of their speaker."""
    for item in answer.quotes if isinstance(answer, QuotesAnswer) else ():
        speaker = _speaker(item.agent_id, part)
        cited = {one.id for one in _cited(item.citations, part)}
        own = [one for one in part.messages if one.speaker == speaker]
        # Of several messages that hold the words, the cited one is meant.
        found = _place(item.content, sorted(own, key=lambda one: one.id not in cited))
        if speaker is None or found is None:
            yield Refused(f"{item.agent_id}: {item.content}", "nobody of that name said this")
        else:
            yield Quote(speaker, found[1], item.relevance_score, item.context, found[0].id)


def _cited(numbers: Sequence[int], part: TextPart) -> list[Message]:
    by_number = {message.index + 1: message for message in part.messages}
    return [by_number[number] for number in sorted(set(numbers)) if number in by_number]


def _speaker(name: str, part: TextPart) -> str | None:
    """The speaker of that name: as the transcript spells it, or as the judge saw it."""
    speakers = dict.fromkeys(message.speaker for message in part.messages)
    if name in speakers:
        return name
    wanted = {_folded(name), _folded(unquoted(name))}
    alike = [one for one in speakers if not wanted.isdisjoint((_folded(one), _folded(unquoted(one))))]
    return alike[0] if len(alike) == 1 else None


def _place(quote: str, messages: Sequence[Message]) -> tuple[Message, str] | None:
    """The first message that holds the quote, with the words as they stand there; needs three characters."""
    for message in messages if len(quote.strip()) >= _FEWEST_CHARACTERS else ():
        if found := find_quote(quote, message.text):
            return message, message.text[slice(*found)]
    return None


def _folded(name: str) -> str:
    return " ".join(normalise(name).text.split())


MIXED = "mixed"


def merge_opinions(opinions: Sequence[Opinion]) -> list[Opinion]:
    """One opinion per speaker: points and messages of all parts, the lowest confidence."""
    groups: dict[str, list[Opinion]] = {}
    for one in opinions:
        groups.setdefault(one.agent_id, []).append(one)
    return [
        Opinion(
            agent,
            _common(one.stance for one in group),
            " ".join(dict.fromkeys(one.summary for one in group)),
            _each_once(point for one in group for point in one.key_points),
            min(one.confidence for one in group),
            _each_once(message for one in group for message in one.message_ids),
        )
        for agent, group in groups.items()
    ]


def merge_themes(themes: Sequence[Theme]) -> list[Theme]:
    """One theme per name, whatever its case; the most frequent first."""
    groups: dict[str, list[Theme]] = {}
    for one in themes:
        groups.setdefault(" ".join(one.name.casefold().split()), []).append(one)
    merged = [_theme(group) for group in groups.values()]
    return sorted(merged, key=lambda one: -one.frequency)


def _theme(group: Sequence[Theme]) -> Theme:
    messages = _each_once(message for one in group for message in one.message_ids)
    quotes = _each_once(quote for one in group for quote in one.representative_quotes)
    return Theme(group[0].name, len(messages), quotes, _common(one.sentiment for one in group), messages)


def merge_quotes(quotes: Sequence[Quote]) -> list[Quote]:
    """Each quote once, the most relevant first."""
    by_relevance = sorted(quotes, key=lambda one: -one.relevance_score)
    return list({(one.message_id, one.content): one for one in reversed(by_relevance)}.values())[::-1]


def _common(words: Iterable[str]) -> str:
    said = set(words)
    return said.pop() if len(said) == 1 else MIXED


def _each_once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


BUDGET = "budget"
_FEWEST_MESSAGES = 2
"""A theme comes up in at least so many messages."""


class ResultsExtractor:
    """Asks a judge what a discussion holds.

    Args:
        judge: Who reads; the offline judge answers that it cannot.
        max_calls: Parts that may be asked about until ``reset_budget``; the ADR's 50 when left out.
        part_length: Characters that are read at once.
    """

    def __init__(self, judge: Judge, *, max_calls: int | None = None, part_length: int = LONGEST_PART) -> None:
        self._judge = judge
        self._max_calls = EvaluationConfig().max_extraction_calls if max_calls is None else max_calls
        self._part_length = part_length
        self._asked = 0

    def reset_budget(self) -> None:
        """Allows as many questions again, for the next run."""
        self._asked = 0

    async def extract_opinions(self, transcript: Transcript, topic: str) -> Extraction[Opinion]:
        """Each speaker's opinion on a topic. Speakers who are not in the game are refused."""
        ask = _asker(_questions.OPINIONS_SYSTEM, _questions.OPINIONS_QUESTION, OpinionsAnswer, "Topic", topic)
        return await self._extract(transcript, "opinions", ask, opinions_in, merge_opinions)

    async def extract_themes(self, transcript: Transcript) -> Extraction[Theme]:
        """Recurring themes. How frequent one is, is counted: the messages cited that exist.

        One that only one message of the whole discussion touches on is refused: it does not recur.
        """
        ask = _asker(_questions.THEMES_SYSTEM, _questions.THEMES_QUESTION, ThemesAnswer)
        all_themes = await self._extract(transcript, "themes", ask, themes_in, merge_themes)
        once = [one for one in all_themes.found if one.frequency < _FEWEST_MESSAGES]
        return replace(
            all_themes,
            found=tuple([one for one in all_themes.found if one.frequency >= _FEWEST_MESSAGES]),
            refused=(*all_themes.refused, *(Refused(one.name, "only one message touches on it") for one in once)),
        )

    async def extract_quotes(self, transcript: Transcript, criteria: str) -> Extraction[Quote]:
        """Quotes that fit a criterion, word for word; a quote that is not in the text is refused."""
        ask = _asker(_questions.QUOTES_SYSTEM, _questions.QUOTES_QUESTION, QuotesAnswer, "Criterion", criteria)
        return await self._extract(transcript, "quotes", ask, quotes_in, merge_quotes)

    @staticmethod
    def extract_sentiment_scores(transcript: Transcript) -> dict[str, Sentiment]:
        """Every speaker's sentiment by counting words, without a judge."""
        return sentiments(spoken(transcript))

    async def _extract(
        self,
        transcript: Transcript,
        kind: str,
        ask: Callable[[TextPart, str], JudgeRequest],
        trace: Callable[[Answer, TextPart], Iterator[Item | Refused]],
        merge: Callable[[Sequence[Item]], list[Item]],
    ) -> Extraction[Item]:
        parts = parts_of(spoken(transcript), limit=self._part_length)
        room = max(0, self._max_calls - self._asked)
        read, unread = parts[:room], parts[room:]
        self._asked += len(read)
        requests = [ask(part, f"{kind} in {part.place} of game {as_name(transcript.game_id)}") for part in read]
        judgements = await self._judge.judge(requests) if requests else []
        found: list[Item] = []
        refused: list[Refused] = []
        problems = [UnreadPart(part.place, JudgementStatus.SKIPPED, BUDGET) for part in unread]
        for part, judgement in zip(read, judgements, strict=True):
            if judgement.answer is None:
                problems.append(UnreadPart(part.place, judgement.status, judgement.detail))
                continue
            for one in trace(judgement.answer, part):
                if isinstance(one, Refused):
                    refused.append(one)
                else:
                    found.append(one)
        return Extraction(
            kind=kind,
            found=tuple(merge(found)),
            refused=tuple(refused),
            problems=tuple(problems),
            parts=len(parts),
            shortened=tuple([message_id for part in read for message_id in part.shortened]),
            model=judgements[0].model if judgements else "",
        )


def _asker(
    system: str, question: str, answer: type[Answer], label: str = "", wanted: str = ""
) -> Callable[[TextPart, str], JudgeRequest]:
    """Makes the question about a part. What is wanted may come from a stranger, so it stands between fences too."""

    def ask(part: TextPart, subject: str) -> JudgeRequest:
        about = f"{label}, as somebody worded it:\n{fenced(as_name(wanted))}\n\n" if label else ""
        return JudgeRequest(
            purpose="extraction",
            subject=subject,
            prompt=Prompt(system, f"{about}What was said:\n{fenced(part.text)}", question),
            answer=answer,
            prompt_version=_questions.PROMPT_VERSION,
            messages=part.numbers,
        )

    return ask


VOTE = "vote"
ELIMINATION = "elimination"
THOUGHT = "thought"
MESSAGE_TYPES = ("public", "team", "private", "system", THOUGHT, VOTE, ELIMINATION)
"""What rules are for: the four channels, private thoughts that reach nobody, votes and eliminations."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReducedEvent:
    """One thing that happened.

    Attributes:
        type: One of ``MESSAGE_TYPES``.
        kind: "action" when the focus agent did it, "stimulus" when it reached them; "action" without a focus.
        source_agent: Who did it; for an elimination who left.
        target_agents: Whom it is for; empty for everybody.
        content: The words, or the reason of a vote; untrusted text.
        timestamp: When, where that is known.
        round: In which round, where that is known.
        message_id: The message; ``None`` for votes and eliminations.
    """

    type: str
    kind: str
    source_agent: str
    target_agents: tuple[str, ...]
    content: str
    timestamp: datetime | None
    round: int | None
    message_id: str | None


Rule = Callable[[ReducedEvent], Mapping[str, Any] | None]
"""Makes a row of an entry, or ``None`` to leave it out."""


class ResultsReducer:
    """Applies rules; what has no rule is left out."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}

    def add_reduction_rule(self, message_type: str, rule: Rule) -> None:
        """Makes ``rule`` the one for a type of message.

        Raises:
            InputError: There is no such type, or it has a rule already.
        """
        if message_type not in MESSAGE_TYPES:
            remedy = f"Take one of {', '.join(MESSAGE_TYPES)}."
            raise InputError(f"There are no messages of type {message_type!r}.", remedy=remedy)
        if message_type in self._rules:
            raise InputError(f"The type {message_type!r} has a rule already.", remedy="Give one rule for each type.")
        self._rules[message_type] = rule

    def reduce(self, transcript: Transcript, focus_agent: str | None = None) -> list[Row]:
        """One row for each entry whose rule gives one: messages in order, then votes, then eliminations.

        Args:
            transcript: What to reduce.
            focus_agent: Only what this player did or what reached them; everything when left out.

        Raises:
            InputError: Nobody of the name ``focus_agent`` plays or speaks.
        """
        if focus_agent is not None and focus_agent not in (
            known := dict.fromkeys([*transcript.player_names, *(one.speaker for one in transcript.messages)])
        ):
            remedy = f"Take one of {', '.join(known)}."
            raise InputError(f"Nobody is called {focus_agent!r} in game {transcript.game_id}.", remedy=remedy)
        made = (self._rules[entry.type](entry) for entry in _seen(transcript, focus_agent) if entry.type in self._rules)
        return [dict(row) for row in made if row is not None]

    def reduce_to_table(
        self, transcript: Transcript, columns: Sequence[str], focus_agent: str | None = None
    ) -> list[tuple[Any, ...]]:
        """The same as tuples of these columns; ``None`` where a row has no such value."""
        return [tuple(row.get(column) for column in columns) for row in self.reduce(transcript, focus_agent)]


def _seen(transcript: Transcript, focus: str | None) -> Iterator[ReducedEvent]:
    for entry in _entries(transcript):
        if focus is None or entry.source_agent == focus:
            yield entry
        elif _reaches(entry, focus):
            yield replace(entry, kind="stimulus")


def _reaches(entry: ReducedEvent, focus: str) -> bool:
    if entry.type in ("private", "team"):
        return focus in entry.target_agents
    return entry.type in ("public", "system", ELIMINATION) or focus in entry.target_agents


def _entries(transcript: Transcript) -> Iterator[ReducedEvent]:
    yield from map(_message, transcript.messages)
    yield from map(_vote, transcript.valid_votes)
    yield from map(_elimination, transcript.eliminations)


def _message(one: Message) -> ReducedEvent:
    kind = THOUGHT if one.is_thought else one.channel
    return ReducedEvent(kind, "action", one.speaker, one.recipients, one.text, one.sent_at, one.round, one.id)


def _vote(one: Vote) -> ReducedEvent:
    targets = () if one.target is None else (one.target,)
    return ReducedEvent(VOTE, "action", one.voter, targets, one.justification or "", one.sent_at, one.round, None)


def _elimination(one: Elimination) -> ReducedEvent:
    return ReducedEvent(ELIMINATION, "action", one.player, (), one.role or "", one.sent_at, one.round, None)
