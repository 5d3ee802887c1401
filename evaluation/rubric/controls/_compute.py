"""Compute the control of every metric: its score on copies in which the measured property was destroyed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from evaluation.rubric.controls import (
    _coherence,
    _diversity,
    _draws,
    _link_strength,
    _memory,
    _role,
)
from evaluation.rubric.controls import (
    _voice_distance as voice_distance,
)
from evaluation.rubric.controls._direction import Aims
from evaluation.rubric.controls._draws import DRAWS, LEAST_P, TOO_FEW, against_chance, companion, control, no_control
from evaluation.rubric.controls.spoiled_copies import deal_speakers, with_roles, without_prefixes
from evaluation.rubric.controls.words import NO_CHANCE
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
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.metrics.phrases import phrases_by_player, windowed_rate
from evaluation.rubric.reader.decisions import acts_read
from evaluation.rubric.reader.model import SHIPPED, Reader
from evaluation.rubric.speech.readings import has_grammar, read
from evaluation.score import MetricResult, Status
from evaluation.transcript import Transcript

FEWEST_MESSAGES = 12
"""Of shorter discussions no control is computed."""
Control = Mapping[str, Any]
_ORDER, _SPEAKERS, _ROLES, _NAMES = range(4)
# What is computed in about a tenth of a second; longer games get fewer draws, which ``draws`` tells.
_MOST_MOVES = 12_000
_MOST_READINGS = 4_000
# The rule alone scores the orders of longer discussions.
_MOST_READ = 100
_MOST_WORDS_READ = 6_000
_FEWEST_DRAWS = 20


def compute_controls(
    transcript: Transcript, results: Mapping[str, MetricResult], reader: Reader = SHIPPED
) -> dict[str, dict[str, Any]]:
    """The controls of a transcript's metrics. Pure, and seeded by the transcript's id.

    Args:
        transcript: The transcript.
        results: Its results by metric; one that does not apply has no control.
        reader: Who decides the rows of copies, for results whose rows a reader decided.

    Returns:
        For every metric in ``results``, in their order: ``chance``, ``difference``, ``z``, ``p``, ``draws``, ``reason``
        and ``companion`` with ``name``, ``value``, ``chance``, ``difference``, ``z``, ``p``, ``draws``. What cannot be
        computed is ``None``, and ``reason`` says why. They compare what rule and reader give, whatever judges or
        people decided: ``difference`` is that score less ``chance``. The rule alone scores the orders of a discussion
        of more than 100 messages or 6,000 words.
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

    @property
    def has_many_messages(self) -> bool:
        return len(self.discussion.messages) > _link_strength.MOST_MESSAGES

    def blocked(self, result: MetricResult) -> str:
        """Why nothing can be compared with chance; empty when it can."""
        messages = self.discussion.messages
        if result.status is Status.NOT_APPLICABLE:
            return result.reason
        if len(messages) < FEWEST_MESSAGES:
            return f"fewer than {FEWEST_MESSAGES} messages"
        if self.has_many_messages:
            return f"more than {_link_strength.MOST_MESSAGES:,} messages"
        return "one speaker" if len({prepared.message.speaker for prepared in messages}) < 2 else ""


def _coherence_control(prepared: PreparedControls, result: MetricResult) -> dict[str, Any]:
    name = "link_strength"
    if reason := prepared.blocked(result):
        return control(None, reason, companion(name, None))
    discussion = prepared.plain
    random = _draws.generator(prepared.transcript, _ORDER)
    orders = [random.permutation(len(discussion.messages)) for _ in range(DRAWS)]
    scores: _coherence.Orders | _coherence.ReadOrders = _coherence.Orders(discussion)
    draws = max(_FEWEST_DRAWS, min(DRAWS, _MOST_MOVES // len(discussion.messages)))
    if _is_read(result) and _is_quickly_read(discussion):
        scores, draws = _coherence.ReadOrders(discussion, prepared.reader), _FEWEST_DRAWS
    real = scores.score(range(len(discussion.messages)))
    few = orders[:draws]
    drawn = [scores.score(order.tolist()) for order in few]
    similar, speakers = _link_strength.similarities(discussion), _link_strength.speaker_numbers(discussion)
    strength = _link_strength.mean_strength(_link_strength.percentiles(similar, speakers))
    strengths = [_link_strength.mean_strength(one) for one in _link_strength.percentiles_in(orders, similar, speakers)]
    return control(against_chance(real, drawn), None, _beside(name, strength, strengths))


def _diversity_control(prepared: PreparedControls, result: MetricResult) -> dict[str, Any]:
    name = "voice_distance"
    if reason := prepared.blocked(result):
        return control(None, reason, companion(name, None))
    discussion = prepared.plain
    speakers = [one.message.speaker for one in discussion.messages]
    words = _diversity.words_of_messages(discussion)
    random = _draws.generator(prepared.transcript, _SPEAKERS)
    lengths = [len(one) for one in words]
    dealt = [deal_speakers(speakers, lengths, random) for _ in range(DRAWS)]
    real = _diversity.diversity_score(words, speakers)
    few = dealt[: _diversity.draws_in_time(words, speakers)]
    drawn = [score for one in few if (score := _diversity.diversity_score(words, one)) is not None]
    numbers = {speaker: number for number, speaker in enumerate(dict.fromkeys(speakers))}
    voices = voice_distance.Voices(voice_distance.similarities(discussion))
    distances = [voices.distance(np.array([numbers[one] for one in order])) for order in (speakers, *dealt)]
    found = None if real is None else against_chance(real, drawn)
    return control(
        found, None if found else "fewer than two players to compare", _beside(name, distances[0], distances[1:])
    )


def _role_control(prepared: PreparedControls, result: MetricResult) -> dict[str, Any]:
    name = "direction"
    if reason := prepared.blocked(result) or _one_side(prepared.transcript):
        return control(None, reason, companion(name, None))
    transcript = prepared.transcript
    players = transcript.players
    readings = acts_read(prepared.discussion, prepared.reader) if _is_read(result) else read(prepared.discussion)
    acts, aims = _role.JudgedActs(readings), Aims.of(transcript, readings)
    count = _role.arrangements(players)
    is_complete = count <= DRAWS
    held = {player.name: player for player in players}
    dealt = [
        {player.name: player for player in with_roles(transcript, sources).players}
        for sources in _role.deals(players, _draws.generator(transcript, _ROLES))
    ]
    real = acts.score(held)
    drawn = [score for one in dealt if (score := acts.score(one)) is not None]
    directions = [aims.direction({name: one.alignment for name, one in deal.items()}).value for deal in (held, *dealt)]
    beside = _beside(name, directions[0], directions[1:], enumerated=is_complete)
    found = None if real is None else against_chance(real, drawn, enumerated=is_complete)
    too_few = TOO_FEW if is_complete and count * LEAST_P < 1 else None
    return control(found, too_few if found else "no message carries a role signal", beside)


def _is_quickly_read(discussion: Discussion) -> bool:
    words = sum(len(prepared.tokens) for prepared in discussion.messages)
    return len(discussion.messages) <= _MOST_READ and words <= _MOST_WORDS_READ


def _is_read(result: MetricResult) -> bool:
    return "reader" in result.details


def _one_side(transcript: Transcript) -> str:
    sides = {player.alignment for player in transcript.players} - {None}
    return "" if len(sides) > 1 else "one alignment"


def _memory_control(prepared: PreparedControls, result: MetricResult) -> dict[str, Any]:
    transcript = prepared.transcript
    reason = prepared.blocked(result) or (
        "" if has_grammar(prepared.discussion.language) else prepared.discussion.unsupported_language
    )
    if reason:
        return control(None, reason, None)
    names = transcript.player_names
    claims = [reading.claims for reading in read(prepared.discussion)]
    if not any(claims):
        return control(None, "no references", None)
    record = _memory.PermutedRecord(transcript)
    accurate, settled = record.settled({name: name for name in names})
    if not settled:
        return control(None, "no settled references", None)
    random = _draws.generator(transcript, _NAMES)
    drawn = []
    for _ in range(max(_FEWEST_DRAWS, min(DRAWS, _MOST_READINGS // len(prepared.discussion.messages)))):
        fits, known = record.settled(
            dict(zip(names, (names[at] for at in random.permutation(len(names))), strict=True))
        )
        if known:
            drawn.append(100.0 * fits / known)
    return control(against_chance(100.0 * accurate / settled, drawn), None, None)


def _repetition_control(prepared: PreparedControls, _result: MetricResult) -> dict[str, Any]:
    return control(None, NO_CHANCE, companion("repetition_rate", _repetition_rate(prepared.discussion)))


def _no_control(reason: str) -> Callable[[PreparedControls, MetricResult], dict[str, Any]]:
    return lambda _prepared, _result: control(None, reason, None)


def _beside(name: str, value: float | None, drawn: list[float | None], *, enumerated: bool = False) -> dict[str, Any]:
    known = [one for one in drawn if one is not None]
    if value is None:
        return companion(name, None)
    return companion(name, value, against_chance(value, known, enumerated=enumerated))


_CONTROLS: Mapping[str, Callable[[PreparedControls, MetricResult], dict[str, Any]]] = MappingProxyType(
    {
        MEMORY_ACCURACY.name: _memory_control,
        STRATEGIC_DEPTH.name: _no_control(NO_CHANCE),
        COHERENCE.name: _coherence_control,
        ROLE_CONSISTENCY.name: _role_control,
        PERSONALITY_DIVERSITY.name: _diversity_control,
        ANTI_REPETITION.name: _repetition_control,
        ENGAGEMENT.name: _no_control(NO_CHANCE),
    }
)

WITHOUT_CHANCE: Mapping[str, dict[str, Any]] = MappingProxyType(
    {name: no_control(NO_CHANCE) for name in (STRATEGIC_DEPTH.name, ENGAGEMENT.name)}
)
"""The controls of the metrics that no rearrangement destroys: nothing has to be computed for them."""

CONTROLLED = tuple(name for name in DEFINITIONS if name != ENGAGEMENT.name)
"""The metrics whose controls are stored: those that are computed from the transcript."""


def companion_value(metric: str, transcript: Transcript) -> float | None:
    """The companion of a metric on a transcript as it is and as the shipped reader reads it, not compared with chance.

    ``None`` for a metric that has none, and where it cannot be computed. A greater value is better, but for the rate of
    repetition.
    """
    discussion = Discussion.of(transcript)
    if metric not in _COMPANIONS or discussion.without_words or len(discussion.messages) > _link_strength.MOST_MESSAGES:
        return None
    return _COMPANIONS[metric](discussion)


def _mean_link_strength(discussion: Discussion) -> float | None:
    if _link_strength.unlinked(discussion):
        return None
    speakers = _link_strength.speaker_numbers(discussion)
    return _link_strength.mean_strength(_link_strength.percentiles(_link_strength.similarities(discussion), speakers))


def _voice_distance(discussion: Discussion) -> float | None:
    voices = voice_distance.Voices(voice_distance.similarities(discussion)) if discussion.messages else None
    return None if voices is None else voices.distance(_link_strength.speaker_numbers(discussion))


def _direction(discussion: Discussion) -> float | None:
    transcript = discussion.transcript
    sides = {player.name: player.alignment for player in transcript.players}
    readings = acts_read(discussion, SHIPPED) if has_grammar(discussion.language) else ()
    return Aims.of(transcript, readings).direction(sides).value


def _repetition_rate(discussion: Discussion) -> float | None:
    return windowed_rate(discussion, phrases_by_player(discussion))[0]


_COMPANIONS: Mapping[str, Callable[[Discussion], float | None]] = MappingProxyType(
    {
        COHERENCE.name: _mean_link_strength,
        ROLE_CONSISTENCY.name: _direction,
        PERSONALITY_DIVERSITY.name: _voice_distance,
        ANTI_REPETITION.name: _repetition_rate,
    }
)
