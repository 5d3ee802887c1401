"""Companions of a transcript as it is, not compared with chance: what planted faults and dialogues are measured by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from evaluation.rubric import link_strength
from evaluation.rubric.controls import Aims, Voices, style_similarities
from evaluation.rubric.definitions import ANTI_REPETITION, COHERENCE, PERSONALITY_DIVERSITY, ROLE_CONSISTENCY
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.metrics.phrases import phrases_by_player, windowed_rate
from evaluation.rubric.reader.decisions import acts_read
from evaluation.rubric.reader.model import SHIPPED
from evaluation.transcript import Transcript

COMPANION_NAMES = {
    "coherence": "link_strength",
    "personality_diversity": "voice_distance",
    "role_consistency": "direction",
    "anti_repetition": "repetition_rate",
}
"""The companion of each metric that has one."""


def companion_value(metric: str, transcript: Transcript) -> float | None:
    """The companion of a metric on a transcript as it is and as the shipped reader reads it, not compared with chance.

    ``None`` for a metric that has none, and where it cannot be computed. A greater value is better, but for the rate of
    repetition.
    """
    discussion = Discussion.of(transcript)
    if metric not in _COMPANIONS or discussion.without_words or len(discussion.messages) > link_strength.MOST_MESSAGES:
        return None
    return _COMPANIONS[metric](discussion)


def _mean_link_strength(discussion: Discussion) -> float | None:
    if link_strength.unlinked(discussion):
        return None
    speakers = link_strength.speaker_numbers(discussion)
    return link_strength.mean_strength(link_strength.percentiles(link_strength.similarities(discussion), speakers))


def _voice_distance(discussion: Discussion) -> float | None:
    if not discussion.messages:
        return None
    return Voices(style_similarities(discussion)).distance(link_strength.speaker_numbers(discussion))


def _direction(discussion: Discussion) -> float | None:
    transcript = discussion.transcript
    sides = {player.name: player.alignment for player in transcript.players}
    readings = () if discussion.unsupported_language else acts_read(discussion, SHIPPED)
    return Aims.of(transcript, readings).direction(sides)


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
