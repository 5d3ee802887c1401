"""Controls and companions: whether a score is meaningful on this transcript.

The control of a metric is its score on copies in which the measured property was destroyed. A companion is a second
number that is compared with chance in the same way: link strength, voice distance, direction.

Direction tells whom votes and accusations are aimed at, by side: the share of the town's that hits Mafia players less
the share of the Mafia's that does, in points. Above 0, town looks for Mafia and Mafia spare their own. Votes and
messages are two parts, since votes are not messages; the value is their mean, or the one that there is.

Voice distance tells how much more alike two messages by one player are than two by different players. Messages are
tf-idf vectors of words (players' names removed) and marks of style: how the message opens, which punctuation it holds
and ends with, whether it begins in small letters, how long it is. The distance is 100 times the mean similarity of
pairs by one player less that of pairs by two; only pairs more than 3 places apart count, because what is close in time
is alike in topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.rubric import link_strength
from evaluation.rubric._claim_checks import findings_on
from evaluation.rubric._passage import SCENE, Asked, Scene
from evaluation.rubric.at_chance import NO_CHANCE, TOO_FEW
from evaluation.rubric.definitions import (
    ANTI_REPETITION,
    COHERENCE,
    DEFINITIONS,
    ENGAGEMENT,
    MEMORY_ACCURACY,
    PERSONALITY_DIVERSITY,
    ROLE_CONSISTENCY,
    STRATEGIC_DEPTH,
)
from evaluation.rubric.discussion import Discussion, PreparedMessage, prepare
from evaluation.rubric.game_record import Record
from evaluation.rubric.link_strength import Link, Matrix, tf_idf
from evaluation.rubric.metrics.coherence import score_of_order
from evaluation.rubric.metrics.personality_diversity import (
    ALIKE_FROM,
    FEWEST_WORDS,
    LONGEST_WINDOW,
    MOST_WINDOWS,
    similarities,
)
from evaluation.rubric.metrics.phrases import WINDOW_TOKENS, phrases_by_player, windowed_rate
from evaluation.rubric.metrics.role_consistency import judged_acts, supported_acts
from evaluation.rubric.reader.decisions import acts_read
from evaluation.rubric.reader.model import SHIPPED, Reader
from evaluation.rubric.speech import ACCUSATIONS, Reading, read, read_message
from evaluation.score import LedgerRow, MetricResult, Status
from evaluation.transcript import Alignment, Message, Player, Transcript

FEWEST_MESSAGES = 12
"""Of shorter discussions no control is computed."""
DRAWS = 200
"""How many copies are drawn; up to so many arrangements are enumerated instead."""
LEAST_P = 0.05
"""Where even the best arrangement cannot reach this, nothing can be told."""
NEAR = 3
"""Voice distance: messages at most so many places apart are not compared."""

_KEYS = ("value", "chance", "difference", "z", "p", "draws")
CONTROL_KEYS = (*_KEYS, "reason")
"""What every control holds besides its companion."""
COMPANION_KEYS = ("name", *_KEYS)
"""What every companion holds."""
# What differs by less is the same number, computed in another order.
_SAME = 1e-9
_ORDER, _SPEAKERS, _ROLES, _NAMES = range(4)
# What is computed in a fraction of a second; longer games get fewer draws, which ``draws`` tells.
_MOST_MOVES = 12_000
_MOST_READINGS = 4_000
_MOST_RATIOS = 5_000
_FEWEST_DRAWS = 20
_NIGHT = "night"
_MARKS = ".,!?'\u2026-:;"
_LINK_KEYS = ("link_strength", "link_words")

Aim = tuple[str, str]
"""Who aims at whom."""
Words = Sequence[Sequence[str]]
"""The words of each message."""


def generator(transcript: Transcript, purpose: int) -> np.random.Generator:
    """The random numbers of one purpose, the same for the same transcript."""
    return np.random.default_rng([int(transcript.id, 16), purpose])


def against_chance(real: float, draws: Sequence[float], *, enumerated: bool = False) -> dict[str, Any]:
    """The place of ``real`` among the numbers that chance gives.

    Args:
        real: The number of the transcript as it is.
        draws: The numbers of its copies; those equal to the original stay in.
        enumerated: Whether ``draws`` are all arrangements there are, the original included.

    Returns:
        ``value`` (``real``), ``chance`` (the mean of ``draws``), ``difference`` (value - chance), ``z`` (in standard
        deviations, ``ddof`` 0; ``None`` without spread), ``p`` (one-sided: the share of arrangements at least as good
        where all were enumerated, else (1 + draws at least as good) / (draws + 1)) and ``draws``. All ``None`` without
        any draw.
    """
    if not len(draws):
        return dict.fromkeys(_KEYS)
    values = np.asarray(draws, dtype=float)
    chance, spread = float(values.mean()), float(values.std())
    as_good = int((values >= real - _SAME).sum())
    p = as_good / len(values) if enumerated else (1 + as_good) / (len(values) + 1)
    z = (real - chance) / spread if spread > _SAME else None
    return {"value": real, "chance": chance, "difference": real - chance, "z": z, "p": p, "draws": len(values)}


def no_control(reason: str) -> dict[str, Any]:
    """A control with all its keys that could not be computed."""
    return _control(None, reason, None)


def _control(
    found: Mapping[str, Any] | None, reason: str | None, companion: Mapping[str, Any] | None
) -> dict[str, Any]:
    """A control with all its keys; those that could not be computed are ``None``."""
    return {**dict.fromkeys(_KEYS), **(found or {}), "reason": reason, "companion": companion}


def _companion(
    name: str, value: float | None = None, drawn: Sequence[float | None] = (), *, enumerated: bool = False
) -> dict[str, Any]:
    """A companion with all its keys, compared with those of copies; what could not be computed is ``None``."""
    known = [one for one in drawn if one is not None]
    found = {} if value is None else against_chance(value, known, enumerated=enumerated)
    return {"name": name, **dict.fromkeys(_KEYS), **found, "value": value}


def compute_controls(
    transcript: Transcript, results: Mapping[str, MetricResult], reader: Reader = SHIPPED
) -> dict[str, dict[str, Any]]:
    """The controls of a transcript's metrics. Pure, and seeded by the transcript's id.

    Args:
        transcript: The transcript.
        results: Its results by metric; one that does not apply has no control.
        reader: Who decides the rows of copies, for results whose rows a reader decided.

    Returns:
        For every metric in ``results``, in their order: ``value``, ``chance``, ``difference``, ``z``, ``p``, ``draws``,
        ``reason`` and ``companion`` with ``name`` and the same keys but ``reason``. What cannot be computed is
        ``None``, and ``reason`` says why. ``value`` is what is compared, not the score: what rule and reader give,
        whatever judges or people decided, and of coherence what the rule gives without reply ids.
    """
    prepared = PreparedControls(transcript, reader)
    return {name: prepared.control(results[name]) for name in DEFINITIONS if name in results}


@dataclass(frozen=True)
class PreparedControls:
    """A transcript with what several controls need, each computed once."""

    transcript: Transcript
    reader: Reader = SHIPPED

    def control(self, result: MetricResult) -> dict[str, Any]:
        """The control of one metric, as :func:`compute_controls` returns it."""
        return _CONTROLS[result.name](self, result)

    @cached_property
    def discussion(self) -> Discussion:
        return Discussion.of(self.transcript)

    @cached_property
    def plain(self) -> Discussion:
        """The discussion without reply ids and own names before messages: what is shuffled."""
        return Discussion.of(without_prefixes(self.transcript))

    def blocked(self, result: MetricResult) -> str:
        """Why nothing can be compared with chance; empty when it can."""
        messages = self.discussion.messages
        if result.status is Status.NOT_APPLICABLE:
            return result.reason
        if len(messages) < FEWEST_MESSAGES:
            return f"fewer than {FEWEST_MESSAGES} messages"
        return link_strength.unlinked(self.discussion)


def _coherence_control(prepared: PreparedControls, result: MetricResult) -> dict[str, Any]:
    name = "link_strength"
    if reason := prepared.blocked(result):
        return _control(None, reason, _companion(name))
    discussion = prepared.plain
    random = generator(prepared.transcript, _ORDER)
    orders = [random.permutation(len(discussion.messages)) for _ in range(DRAWS)]
    draws = max(_FEWEST_DRAWS, min(DRAWS, _MOST_MOVES // len(discussion.messages)))
    real = score_of_order(discussion, range(len(discussion.messages)))
    drawn = [score_of_order(discussion, order.tolist()) for order in orders[:draws]]
    similar, speakers = link_strength.similarities(discussion), link_strength.speaker_numbers(discussion)
    strength = link_strength.mean_strength(link_strength.percentiles(similar, speakers))
    strengths = [link_strength.mean_strength(one) for one in link_strength.percentiles_in(orders, similar, speakers)]
    return _control(against_chance(real, drawn), None, _companion(name, strength, strengths))


def _diversity_control(prepared: PreparedControls, result: MetricResult) -> dict[str, Any]:
    name = "voice_distance"
    if reason := prepared.blocked(result):
        return _control(None, reason, _companion(name))
    discussion = prepared.plain
    speakers = [one.message.speaker for one in discussion.messages]
    words = [one.plain_words for one in discussion.messages]
    random = generator(prepared.transcript, _SPEAKERS)
    dealt = [deal_speakers(speakers, [len(one) for one in words], random) for _ in range(DRAWS)]
    real = score_of_speakers(words, speakers)
    few = dealt[: _draws_in_time(words, speakers)]
    drawn = [score for one in few if (score := score_of_speakers(words, one)) is not None]
    numbers = {speaker: number for number, speaker in enumerate(dict.fromkeys(speakers))}
    voices = Voices(style_similarities(discussion))
    distances = [voices.distance(np.array([numbers[one] for one in order])) for order in (speakers, *dealt)]
    found = None if real is None else against_chance(real, drawn)
    too_few = None if found else "fewer than two players to compare"
    return _control(found, too_few, _companion(name, distances[0], distances[1:]))


def score_of_speakers(messages: Words, speakers: Sequence[str]) -> float | None:
    """Personality diversity in percent of messages by other authors; ``None`` where fewer than two said enough.

    Args:
        messages: The words of each message, players' names left out.
        speakers: Its author.
    """
    of_player: dict[str, list[str]] = {}
    for words, speaker in zip(messages, speakers, strict=True):
        of_player.setdefault(speaker, []).extend(words)
    compared = [words for words in of_player.values() if len(words) >= FEWEST_WORDS]
    if len(compared) < 2:
        return None
    matrix = similarities(compared)
    np.fill_diagonal(matrix, -1.0)
    return float(100.0 * (matrix.max(axis=1) < ALIKE_FROM).mean())


def _draws_in_time(messages: Words, speakers: Sequence[str]) -> int:
    """The number of copies that can be scored in a fraction of a second; fewer where players say more."""
    lengths: dict[str, int] = {}
    for words, speaker in zip(messages, speakers, strict=True):
        lengths[speaker] = lengths.get(speaker, 0) + len(words)
    windows = [min(MOST_WINDOWS, round(length / LONGEST_WINDOW) or 1) for length in lengths.values()]
    ratios = sum(one * other for place, one in enumerate(windows) for other in windows[:place])
    return max(_FEWEST_DRAWS, min(DRAWS, _MOST_RATIOS // max(1, ratios)))


class Voices:
    """The pairs of messages that count for voice distance, ready to be asked under any assignment of authors.

    Args:
        similar: The similarity of the style of every two public messages; NaN for those that do not count.
    """

    def __init__(self, similar: Matrix) -> None:
        self._first, self._second = np.nonzero(np.triu(~np.isnan(similar), k=1))
        self._similar = similar[self._first, self._second]
        self._sum = float(self._similar.sum())

    def distance(self, speakers: NDArray[np.int64]) -> float | None:
        """The voice distance, -100 to 100; ``None`` without pairs of both kinds.

        Args:
            speakers: The author of each message as a number.
        """
        same = speakers[self._first] == speakers[self._second]
        count = int(np.count_nonzero(same))
        if not count or count == len(same):
            return None
        within = float(self._similar[same].sum())
        return 100.0 * (within / count - (self._sum - within) / (len(same) - count))


def style_similarities(discussion: Discussion) -> Matrix:
    """The similarity of the style of every two public messages; NaN for those too near to each other to count."""
    similar = tf_idf([_style_terms(prepared) for prepared in discussion.messages]).similarities()
    places = np.arange(len(similar))
    similar[np.abs(places[:, None] - places) <= NEAR] = np.nan
    return similar


def _style_terms(prepared: PreparedMessage) -> list[str]:
    words = prepared.plain_words
    text = prepared.message.text[prepared.body_start :].strip()
    style = [f"mark {mark}" for mark in _MARKS if mark in text]
    style += [f"opens {' '.join(words[:2])}", f"opens {' '.join(words[:1])}"]
    style += ["small" if text[:1].islower() else "capital" if text[:1].isupper() else "other"]
    style += [f"length {int(np.log2(len(words) + 1))}", f"ends {text[-1:]}", f"apostrophe {chr(39) in text}"]
    # No word holds a blank at its end, so that marks never meet words.
    return words + [f"{mark} " for mark in style]


def _role_control(prepared: PreparedControls, result: MetricResult) -> dict[str, Any]:
    name = "direction"
    transcript = prepared.transcript
    sides = {player.alignment for player in transcript.players} - {None}
    if reason := prepared.blocked(result) or ("" if len(sides) > 1 else "one alignment"):
        return _control(None, reason, _companion(name))
    players = transcript.players
    discussion = prepared.discussion
    by_reader = "reader" in result.details
    readings = supported_acts(acts_read(discussion, prepared.reader) if by_reader else read(discussion), discussion)
    count = arrangements(players)
    is_complete = count <= DRAWS
    held = {player.name: player for player in players}
    dealt = [
        {player.name: player for player in with_roles(transcript, sources).players}
        for sources in deals(players, generator(transcript, _ROLES))
    ]
    real = score_of_roles(readings, held)
    drawn = [score for one in dealt if (score := score_of_roles(readings, one)) is not None]
    aims = Aims.of(transcript, readings)
    directions = [aims.direction({name: one.alignment for name, one in deal.items()}) for deal in (held, *dealt)]
    beside = _companion(name, directions[0], directions[1:], enumerated=is_complete)
    found = None if real is None else against_chance(real, drawn, enumerated=is_complete)
    too_few = TOO_FEW if is_complete and count * LEAST_P < 1 else None
    return _control(found, too_few if found else "no message carries a role signal", beside)


def score_of_roles(readings: Sequence[Reading], players: Mapping[str, Player]) -> float | None:
    """Role consistency in percent with each player's role; ``None`` without any signal."""
    fitting = [all(one.rule.consistent for one in judged) for _, judged in judged_acts(readings, players) if judged]
    return 100.0 * sum(fitting) / len(fitting) if fitting else None


def arrangements(players: Sequence[Player]) -> int:
    """In how many ways the sides can be dealt to the players whose side is known."""
    known = [player for player in players if player.alignment is not None]
    return comb(len(known), sum(player.alignment == "mafia" for player in known))


def deals(players: Sequence[Player], random: np.random.Generator) -> Iterator[list[int]]:
    """Ways to deal the roles: for each player, at which position the player stands whose role they get.

    All ways there are where these are 200 or fewer, else 200 random ones. Players of unknown side keep theirs.
    """
    known = [place for place, player in enumerate(players) if player.alignment is not None]
    evil = [place for place in known if players[place].alignment == "mafia"]
    town = [place for place in known if players[place].alignment == "town"]
    if arrangements(players) <= DRAWS:
        ways = (
            ([*chosen, *(place for place in known if place not in chosen)], [*evil, *town])
            for chosen in combinations(known, len(evil))
        )
    else:
        ways = ((known, random.permutation(known).tolist()) for _ in range(DRAWS))
    for places, cards in ways:
        sources = list(range(len(players)))
        for place, card in zip(places, cards, strict=True):
            sources[place] = card
        yield sources


class Aims(NamedTuple):
    """Public votes and accusations, each as who aims at whom."""

    votes: tuple[Aim, ...]
    messages: tuple[Aim, ...]

    @classmethod
    def of(cls, transcript: Transcript, readings: Sequence[Reading]) -> Aims:
        """The aims of a transcript; votes cast at night are not public, votes for oneself aim at nobody."""
        votes = [
            (vote.voter, vote.target)
            for vote in transcript.valid_votes
            if vote.target and vote.target != vote.voter and _NIGHT not in (vote.phase or "").casefold()
        ]
        messages = [
            (reading.message.speaker, act.target)
            for reading in readings
            for act in reading.acts
            if act.kind in ACCUSATIONS and act.target and act.target != reading.message.speaker
        ]
        return cls(tuple(votes), tuple(messages))

    def direction(self, sides: Mapping[str, Alignment | None]) -> float | None:
        """The direction in points, -100 to 100, with each player's side; ``None`` where one side aimed at nobody."""
        parts = [part for aims in self if (part := _part(aims, sides)) is not None]
        return sum(parts) / len(parts) if parts else None


def _part(aims: Sequence[Aim], sides: Mapping[str, Alignment | None]) -> float | None:
    hits = {"town": 0, "mafia": 0}
    totals = {"town": 0, "mafia": 0}
    for source, target in aims:
        side, aimed = sides[source], sides[target]
        if side is not None and aimed is not None:
            totals[side] += 1
            hits[side] += aimed == "mafia"
    if not (totals["town"] and totals["mafia"]):
        return None
    return 100.0 * (hits["town"] / totals["town"] - hits["mafia"] / totals["mafia"])


def _memory_control(prepared: PreparedControls, result: MetricResult) -> dict[str, Any]:
    transcript, discussion = prepared.transcript, prepared.discussion
    if reason := prepared.blocked(result) or discussion.unsupported_language:
        return no_control(reason)
    names = transcript.player_names
    record = PermutedRecord(transcript)
    accurate, settled = record.settled({name: name for name in names})
    if not settled:
        return no_control("no settled references")
    random = generator(transcript, _NAMES)
    drawn = []
    for _ in range(max(_FEWEST_DRAWS, min(DRAWS, _MOST_READINGS // len(discussion.messages)))):
        permuted = [names[at] for at in random.permutation(len(names))]
        fits, known = record.settled(dict(zip(names, permuted, strict=True)))
        if known:
            drawn.append(100.0 * fits / known)
    return _control(against_chance(100.0 * accurate / settled, drawn), None, None)


class PermutedRecord:
    """A transcript whose claims are checked under permutations of the names; a message is parsed once a reading."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._discussion = Discussion.of(transcript)
        self._known: dict[tuple[int, str, str | None], list[tuple[Asked, Reading]]] = {}
        messages = [prepared.message for prepared in self._discussion.messages]
        self._speakers = [message.speaker for message in messages]
        self._answered = [
            None if message.reply_to is None else transcript.message(message.reply_to) for message in messages
        ]
        self._prepared: dict[tuple[int, str], PreparedMessage] = {}
        self._kept: list[dict[Hashable, Any]] = [{} for _ in self._speakers]

    def settled(self, names: Mapping[str, str]) -> tuple[int, int]:
        """Numbers of claims that the record confirms and settles under a permutation of the names."""
        readings = self._readings(names)
        # The record asks for times and authors, which readings carry; the messages may keep their old authors.
        record = Record(with_names(self._transcript, names), readings)
        accurate = inaccurate = 0
        for reading in readings:
            for _, finding in findings_on(reading.claims, reading.message, record):
                accurate += finding.verdict == "accurate"
                inaccurate += finding.verdict == "inaccurate"
        return accurate, accurate + inaccurate

    def _readings(self, names: Mapping[str, str]) -> list[Reading]:
        messages = [self._by_author(place, names[speaker]) for place, speaker in enumerate(self._speakers)]
        found = []
        for place, prepared in enumerate(messages):
            message, answered = prepared.message, self._answered[place]
            whom = None if answered is None or answered.channel == "system" else names[answered.speaker]
            scene = Scene(message.speaker, message.round, messages[max(0, place - SCENE) : place])
            known = self._known.setdefault((place, message.speaker, whom), [])
            reading = next((reading for asked, reading in known if scene.gives(asked)), None)
            if reading is None:
                scene = Scene(message.speaker, message.round, messages[max(0, place - SCENE) : place])
                reading = read_message(prepared, whom, scene)
                known.append((scene.asked, reading))
            found.append(reading)
        return found

    def _by_author(self, place: int, author: str) -> PreparedMessage:
        """A message as another player would have sent it: their name before it would be no part of it."""
        if (place, author) not in self._prepared:
            prepared = by_author(self._discussion, place, author)
            if prepared.tokens is self._discussion.messages[place].tokens:
                prepared.kept = self._kept[place]
            self._prepared[place, author] = prepared
        return self._prepared[place, author]


def _repetition_control(prepared: PreparedControls, _result: MetricResult) -> dict[str, Any]:
    discussion = prepared.discussion
    # The less is said, the less repeats: a game that fills no window has no rate that could be compared.
    is_long = sum(len(one.pieces) for one in discussion.messages) >= WINDOW_TOKENS
    rate = windowed_rate(discussion, phrases_by_player(discussion))[0] if is_long else None
    return _control(None, NO_CHANCE, _companion("repetition_rate", rate))


def _without_chance(_prepared: PreparedControls, _result: MetricResult) -> dict[str, Any]:
    return no_control(NO_CHANCE)


_CONTROLS: Mapping[str, Callable[[PreparedControls, MetricResult], dict[str, Any]]] = {
    MEMORY_ACCURACY.name: _memory_control,
    STRATEGIC_DEPTH.name: _without_chance,
    COHERENCE.name: _coherence_control,
    ROLE_CONSISTENCY.name: _role_control,
    PERSONALITY_DIVERSITY.name: _diversity_control,
    ANTI_REPETITION.name: _repetition_control,
    ENGAGEMENT.name: _without_chance,
}

WITHOUT_CHANCE: Mapping[str, dict[str, Any]] = {
    name: no_control(NO_CHANCE) for name in (STRATEGIC_DEPTH.name, ENGAGEMENT.name)
}
"""The controls of the metrics that no rearrangement destroys: nothing has to be computed for them."""

CONTROLLED = tuple(name for name in DEFINITIONS if name != ENGAGEMENT.name)
"""The metrics whose controls are stored: those that are computed from the transcript."""


def attach_controls(
    results: Mapping[str, MetricResult], controls: Mapping[str, Mapping[str, Any]], links: Sequence[Link]
) -> dict[str, MetricResult]:
    """The results with their controls, and coherence's rows with link strengths.

    Args:
        results: By metric.
        controls: By metric; a result without one is left as it is.
        links: The link strength of every public message, for coherence.
    """
    attached = {
        name: replace(result, control=controls[name]) if name in controls else result
        for name, result in results.items()
    }
    if COHERENCE.name in controls:
        of_message = {link.message_id: link for link in links}
        coherence = attached[COHERENCE.name]
        rows = [_linked(row, of_message.get(row.message_id or "")) for row in coherence.ledger]
        attached[COHERENCE.name] = replace(coherence, ledger=tuple(rows))
    return attached


def without_control(result: MetricResult) -> MetricResult:
    """The result as its metric gave it."""
    if result.control is None:
        return result
    return replace(result, control=None, ledger=tuple(_unlinked(row) for row in result.ledger))


def _unlinked(row: LedgerRow) -> LedgerRow:
    if "link_strength" not in row.details:
        return row
    return replace(row, details={key: value for key, value in row.details.items() if key not in _LINK_KEYS})


def _linked(row: LedgerRow, link: Link | None) -> LedgerRow:
    if link is None or link.strength is None:
        return row
    return replace(row, details={**row.details, "link_strength": link.strength, "link_words": list(link.words)})


def without_prefixes(transcript: Transcript) -> Transcript:
    """The transcript with the own names cut that stand before public messages, and without reply ids."""
    starts = {prepared.message.index: prepared.body_start for prepared in Discussion.of(transcript).messages}
    messages = [
        changed(message, text=message.text[starts.get(message.index, 0) :] or message.text, reply_to=None)
        for message in transcript.messages
    ]
    return rebuilt(transcript, messages=tuple(messages))


def by_author(discussion: Discussion, place: int, author: str) -> PreparedMessage:
    """The public message at ``place`` by another author; its words are cut again only where a name stands before it."""
    prepared = discussion.messages[place]
    message = changed(prepared.message, speaker=author)
    if discussion.names.body_start(message.text, author) == prepared.body_start:
        return replace(prepared, message=message)
    return prepare(message, discussion.names, prepared.topic_words)


def deal_speakers(speakers: Sequence[str], lengths: Sequence[int], random: np.random.Generator) -> list[str]:
    """Other authors for messages, each player keeping about the number of words.

    Args:
        speakers: The author of each message.
        lengths: Its number of words.
        random: Decides the order in which messages are dealt, each to the player who lacks most words then.
    """
    lacking: Counter[str] = Counter()
    for speaker, length in zip(speakers, lengths, strict=True):
        lacking[speaker] += length
    dealt = list(speakers)
    for place in random.permutation(len(dealt)):
        chosen = max(lacking, key=lacking.__getitem__)
        dealt[place] = chosen
        lacking[chosen] -= lengths[place]
    return dealt


def with_roles(transcript: Transcript, sources: Sequence[int]) -> Transcript:
    """Roles and alignments dealt again: each player gets those of the player at that position."""
    players = transcript.players
    dealt = [
        player.model_copy(update={"role": players[source].role, "alignment": players[source].alignment})
        for player, source in zip(players, sources, strict=True)
    ]
    return rebuilt(transcript, players=tuple(dealt))


def with_names(transcript: Transcript, names: Mapping[str, str]) -> Transcript:
    """Players' names permuted in votes, eliminations and roles; messages keep their authors and texts.

    Args:
        transcript: The transcript.
        names: Each player's name -> the name that takes its place.
    """
    owners = {names[player.name]: player for player in transcript.players}
    votes = [
        vote.model_copy(update={"voter": names[vote.voter], "target": vote.target and names[vote.target]})
        for vote in transcript.votes
    ]
    eliminations = [one.model_copy(update={"player": names[one.player]}) for one in transcript.eliminations]
    return rebuilt(
        transcript,
        players=tuple(owners[player.name].model_copy(update={"name": player.name}) for player in transcript.players),
        votes=tuple(votes),
        eliminations=tuple(eliminations),
    )


def changed(message: Message, **fields: Any) -> Message:
    """The message with other fields."""
    # A plain copy would keep what the message remembers of its old text.
    return Message.model_construct(**{name: getattr(message, name) for name in Message.model_fields} | fields)


def rebuilt(transcript: Transcript, **fields: Any) -> Transcript:
    """The transcript with other fields, which the caller has checked."""
    return Transcript.model_construct(**{name: getattr(transcript, name) for name in Transcript.model_fields} | fields)
