"""Planted faults: check that a score drops when the property that it measures is destroyed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from evaluation.engines.scoring import SCORERS
from evaluation.rubric.controls import FEWEST_MESSAGES, companion_value, spoiled_copies
from evaluation.rubric.definitions import (
    ANTI_REPETITION,
    COHERENCE,
    MEMORY_ACCURACY,
    PERSONALITY_DIVERSITY,
    ROLE_CONSISTENCY,
)
from evaluation.rubric.discussion import Discussion
from evaluation.score import MetricResult
from evaluation.transcript import Transcript

DRAWS = 10
"""Copies of each game with each fault."""
REPEATED_SHARE = 0.2
FEWEST_SETTLED = 3
"""With fewer settled claims a memory score says nothing, and is left out."""
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault and the metric that should notice it.

    Attributes:
        metric: The metric.
        words: What is destroyed.
        base: The transcript that the copies are compared with.
        copy: A copy of the base with the fault; ``None`` where it cannot be planted.
    """

    metric: str
    words: str
    base: Callable[[Transcript], Transcript]
    copy: Callable[[Transcript, np.random.Generator], Transcript | None]


@dataclass(frozen=True, slots=True)
class Noticed:
    """Result of one game for one fault.

    Attributes:
        measure: ``score`` or ``companion``.
        auc: The share of copies that score below the game, ties half; 0.5 is chance.
    """

    metric: str
    measure: str
    source: str
    game: str
    auc: float


def noticed(source: str, transcript: Transcript, *, draws: int = DRAWS) -> Iterator[Noticed]:
    """The results of a game for every fault that can be planted; none for fewer than 12 public messages.

    Args:
        source: Which group of games it is of.
        transcript: The game.
        draws: How many copies have each fault; seeded by the transcript's id.
    """
    if len(transcript.discussion) < FEWEST_MESSAGES:
        return
    for number, fault in enumerate(FAULTS):
        random = np.random.default_rng([int(transcript.id, 16), number])
        base = fault.base(transcript)
        made = [fault.copy(base, random) for _ in range(draws)]
        planted = [copy for copy in made if copy is not None]
        for measure, value in _MEASURES.items():
            real = value(fault.metric, base)
            drawn = [] if real is None else [value(fault.metric, copy) for copy in planted]
            auc = None if real is None else paired_auc(real, [one for one in drawn if one is not None])
            if auc is not None:
                yield Noticed(fault.metric, measure, source, transcript.game_id, auc)


def paired_auc(real: float, drawn: Sequence[float]) -> float | None:
    """The share of ``drawn`` that is below ``real``, ties half; ``None`` without any."""
    if not drawn:
        return None
    return sum(0.5 if abs(real - one) <= _SAME else float(real > one) for one in drawn) / len(drawn)


def pooled(found: Iterable[Noticed]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """The games' figures by metric and measure, and by source; ``""`` is all sources together."""
    table: dict[tuple[str, str], dict[str, list[float]]] = {}
    for one in found:
        of_measure = table.setdefault((one.metric, one.measure), {"": []})
        of_measure[""].append(one.auc)
        of_measure.setdefault(one.source, []).append(one.auc)
    return table


def _score(metric: str, transcript: Transcript) -> float | None:
    result = SCORERS[metric](transcript)
    return None if _says_nothing(metric, result) else result.score


def _says_nothing(metric: str, result: MetricResult) -> bool:
    return metric == MEMORY_ACCURACY.name and result.denominator < FEWEST_SETTLED


def _companion(metric: str, transcript: Transcript) -> float | None:
    value = companion_value(metric, transcript)
    is_rate = metric == ANTI_REPETITION.name
    return -value if is_rate and value is not None else value


_MEASURES: Mapping[str, Callable[[str, Transcript], float | None]] = MappingProxyType(
    {"score": _score, "companion": _companion}
)


def _shuffle_order(base: Transcript, random: np.random.Generator) -> Transcript:
    return spoiled_copies.with_order(base, random.permutation(len(base.discussion)).tolist())


def _shuffle_speakers(base: Transcript, random: np.random.Generator) -> Transcript | None:
    messages = Discussion.of(base).messages
    speakers = [prepared.message.speaker for prepared in messages]
    if len(set(speakers)) < 2:
        return None
    return spoiled_copies.with_speakers(
        base, spoiled_copies.deal_speakers(speakers, [len(prepared.plain_tokens) for prepared in messages], random)
    )


def _deal_roles(base: Transcript, random: np.random.Generator) -> Transcript | None:
    """Roles dealt again, so that at least one player changes sides: nothing is destroyed otherwise."""
    players = base.players
    known = [place for place, player in enumerate(players) if player.alignment is not None]
    if len({players[place].alignment for place in known}) < 2:
        return None
    while True:
        sources = list(range(len(players)))
        for place, source in zip(known, random.permutation(known), strict=True):
            sources[place] = int(source)
        if any(players[place].alignment != players[source].alignment for place, source in enumerate(sources)):
            return spoiled_copies.with_roles(base, sources)


def _permute_names(base: Transcript, random: np.random.Generator) -> Transcript | None:
    names = base.player_names
    if len(names) < 2:
        return None
    order = random.permutation(len(names))
    while (order == np.arange(len(names))).all():
        order = random.permutation(len(names))
    return spoiled_copies.with_names(base, dict(zip(names, (names[place] for place in order), strict=True)))


def _repeat(base: Transcript, random: np.random.Generator) -> Transcript:
    return spoiled_copies.with_repeats(base, REPEATED_SHARE, random)


def _as_it_is(transcript: Transcript) -> Transcript:
    return transcript


FAULTS: tuple[Fault, ...] = (
    Fault(MEMORY_ACCURACY.name, "players' names permuted in the record", _as_it_is, _permute_names),
    Fault(COHERENCE.name, "order of messages shuffled", spoiled_copies.without_prefixes, _shuffle_order),
    Fault(ROLE_CONSISTENCY.name, "roles permuted among players", _as_it_is, _deal_roles),
    Fault(
        PERSONALITY_DIVERSITY.name,
        "speakers shuffled, each keeping their number of words",
        spoiled_copies.without_prefixes,
        _shuffle_speakers,
    ),
    Fault(ANTI_REPETITION.name, "a fifth of the messages replaced by repeats of the same player", _as_it_is, _repeat),
)
"""What is planted, in the rubric's order; nothing is known that would destroy strategic depth alone."""
