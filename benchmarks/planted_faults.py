"""Planted faults, and changes that must not move a score: whether the scores notice the one and not the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.companions import COMPANION_NAMES, companion_value
from evaluation.engines.scoring import SCORERS
from evaluation.rubric.controls import (
    FEWEST_MESSAGES,
    changed,
    deal_speakers,
    rebuilt,
    with_names,
    with_roles,
    without_prefixes,
)
from evaluation.rubric.definitions import (
    ANTI_REPETITION,
    COHERENCE,
    DEFINITIONS,
    MEMORY_ACCURACY,
    PERSONALITY_DIVERSITY,
    ROLE_CONSISTENCY,
)
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader.decisions import READ, decide
from evaluation.rubric.reader.model import SHIPPED
from evaluation.score import MetricResult
from evaluation.statistics.intervals import mean_interval
from evaluation.text.display import number_or_none
from evaluation.transcript import Message, Transcript, build_transcript

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
        measure: ``score``, ``to the letter`` (by the rule alone, where a reader decides rows) or ``companion``.
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
    result = decide(SCORERS[metric](transcript), transcript, SHIPPED)
    return None if _says_nothing(metric, result) else result.score


def _score_to_the_letter(metric: str, transcript: Transcript) -> float | None:
    if metric not in READ:
        return None
    result = SCORERS[metric](transcript)
    return None if _says_nothing(metric, result) else result.score


def _says_nothing(metric: str, result: MetricResult) -> bool:
    return metric == MEMORY_ACCURACY.name and result.denominator < FEWEST_SETTLED


def _companion(metric: str, transcript: Transcript) -> float | None:
    value = companion_value(metric, transcript)
    is_rate = metric == ANTI_REPETITION.name
    return -value if is_rate and value is not None else value


_MEASURES: Mapping[str, Callable[[str, Transcript], float | None]] = MappingProxyType(
    {"score": _score, "to the letter": _score_to_the_letter, "companion": _companion}
)


def with_order(transcript: Transcript, order: Sequence[int]) -> Transcript:
    """The public messages in another order: author and text move, places (round, phase, time, id) stay.

    Args:
        transcript: Without reply ids, which would point to other messages afterwards.
        order: For each place among the public messages, which of them stands there.
    """
    public = transcript.discussion
    moved = {
        place.index: changed(place, speaker=public[source].speaker, text=public[source].text)
        for place, source in zip(public, order, strict=True)
    }
    return rebuilt(transcript, messages=tuple(moved.get(message.index, message) for message in transcript.messages))


def with_speakers(transcript: Transcript, speakers: Sequence[str]) -> Transcript:
    """The public messages with other authors, in order."""
    given = {
        message.index: changed(message, speaker=speaker)
        for message, speaker in zip(transcript.discussion, speakers, strict=True)
    }
    return rebuilt(transcript, messages=tuple(given.get(message.index, message) for message in transcript.messages))


def with_repeats(transcript: Transcript, share: float, random: np.random.Generator) -> Transcript:
    """A share of the public messages replaced by an earlier message of the same player (the first ones stay)."""
    said: dict[str, list[str]] = {}
    repeated: dict[int, Message] = {}
    for message in transcript.discussion:
        earlier = said.setdefault(message.speaker, [])
        if earlier and random.random() < share:
            repeated[message.index] = changed(message, text=earlier[int(random.integers(len(earlier)))])
        earlier.append(message.text)
    return rebuilt(transcript, messages=tuple(repeated.get(message.index, message) for message in transcript.messages))


def _shuffle_order(base: Transcript, random: np.random.Generator) -> Transcript:
    return with_order(base, random.permutation(len(base.discussion)).tolist())


def _shuffle_speakers(base: Transcript, random: np.random.Generator) -> Transcript | None:
    messages = Discussion.of(base).messages
    speakers = [prepared.message.speaker for prepared in messages]
    if len(set(speakers)) < 2:
        return None
    return with_speakers(base, deal_speakers(speakers, [len(prepared.plain_tokens) for prepared in messages], random))


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
            return with_roles(base, sources)


def _permute_names(base: Transcript, random: np.random.Generator) -> Transcript | None:
    names = base.player_names
    if len(names) < 2:
        return None
    order = random.permutation(len(names))
    while (order == np.arange(len(names))).all():
        order = random.permutation(len(names))
    return renamed(base, dict(zip(names, (names[place] for place in order), strict=True)))


def renamed(transcript: Transcript, names: Mapping[str, str]) -> Transcript:
    """Players' names permuted everywhere but in the texts of messages."""
    messages = [
        one if one.channel == "system" else changed(one, speaker=names[one.speaker]) for one in transcript.messages
    ]
    return rebuilt(with_names(transcript, names), messages=tuple(messages))


def _repeat(base: Transcript, random: np.random.Generator) -> Transcript:
    return with_repeats(base, REPEATED_SHARE, random)


def _as_it_is(transcript: Transcript) -> Transcript:
    return transcript


FAULTS: tuple[Fault, ...] = (
    Fault(MEMORY_ACCURACY.name, "players' names permuted in the record", _as_it_is, _permute_names),
    Fault(COHERENCE.name, "order of messages shuffled", without_prefixes, _shuffle_order),
    Fault(ROLE_CONSISTENCY.name, "roles permuted among players", _as_it_is, _deal_roles),
    Fault(
        PERSONALITY_DIVERSITY.name,
        "speakers shuffled, each keeping their number of words",
        without_prefixes,
        _shuffle_speakers,
    ),
    Fault(ANTI_REPETITION.name, "a fifth of the messages replaced by repeats of the same player", _as_it_is, _repeat),
)
"""What is planted, in the rubric's order; nothing is known that would destroy strategic depth alone."""


TARGETS: Mapping[str, tuple[str, float]] = {
    "memory_accuracy": ("score", 0.90),
    "coherence": ("companion", 0.95),
    "role_consistency": ("companion", 0.70),
    "personality_diversity": ("companion", 0.90),
    "anti_repetition": ("score", 0.97),
}
"""For each metric the measure that should notice its fault, and how often (paired AUC)."""


def fault_table(found: Iterable[Noticed]) -> list[dict[str, Any]]:
    """One row per fault and measure: ``metric``, ``label``, ``fault``, ``measure``, ``auc``, ``low``, ``high``,
    ``games``, ``target`` (``None`` where none is set), ``sources`` (name -> ``auc`` and ``games``).

    Intervals are at 95 % over games.
    """
    table = pooled(found)
    rows = []
    for fault in FAULTS:
        for measure in _MEASURES:
            values = table.get((fault.metric, measure))
            if values is None:
                continue
            interval = mean_interval(values[""], limits=(0.0, 1.0))
            wanted = TARGETS[fault.metric]
            rows.append(
                {
                    "metric": fault.metric,
                    "label": DEFINITIONS[fault.metric].label,
                    "fault": fault.words,
                    "measure": COMPANION_NAMES[fault.metric] if measure == "companion" else measure,
                    "auc": float(np.mean(values[""])),
                    "low": number_or_none(interval.low),
                    "high": number_or_none(interval.high),
                    "games": len(values[""]),
                    "target": wanted[1] if wanted[0] == measure else None,
                    "sources": {
                        source: {"auc": float(np.mean(values[source])), "games": len(values[source])}
                        for source in sorted(filter(None, values))
                    },
                }
            )
    return rows


_BEGINNINGS = ("Zor", "Quim", "Vex", "Tolm", "Brund", "Glish")
_ENDINGS = ("avik", "ondel", "urrip", "ethoz")


class Break(NamedTuple):
    """A score that a meaningless change moved."""

    change: str
    game: str
    metric: str
    before: float | None
    after: float | None


def breaks(transcript: Transcript) -> Iterator[Break]:
    """The scores of a transcript that a meaningless change moves; none is as it should be."""
    before = {name: measure(transcript).score for name, measure in SCORERS.items()}
    for change, apply in CHANGES.items():
        changed = apply(transcript)
        for name, measure in SCORERS.items():
            after = measure(changed).score
            if not _is_same(before[name], after):
                yield Break(change, transcript.game_id, name, before[name], after)


def _is_same(one: float | None, other: float | None) -> bool:
    return one is other if one is None or other is None else abs(one - other) <= _SAME


def with_other_names(transcript: Transcript) -> Transcript:
    """Rename every player, in the record and wherever a public message names them."""
    invented = (beginning + ending for ending, beginning in product(_ENDINGS, _BEGINNINGS))
    names = {name: next(invented, f"Playerx{number}") for number, name in enumerate(transcript.player_names)}
    texts = _renamed_texts(transcript, names)
    body = _body(transcript)
    for player in body["players"]:
        player["name"] = names[player["name"]]
    for message in body["messages"]:
        message["speaker"] = names.get(message["speaker"], message["speaker"])
        message["recipients"] = [names.get(name, name) for name in message["recipients"]]
        message["text"] = texts.get(message["index"], message["text"])
    for vote in body["votes"]:
        vote["voter"], vote["target"] = names[vote["voter"]], names.get(vote["target"], vote["target"])
    for elimination in body["eliminations"]:
        elimination["player"] = names[elimination["player"]]
    return build_transcript(Transcript, body)


def without_reply_fields(transcript: Transcript) -> Transcript:
    """The reply field missing where it was null."""
    body = _body(transcript)
    for message in body["messages"]:
        if message["reply_to"] is None:
            del message["reply_to"]
    return build_transcript(Transcript, body)


def with_private_chat(transcript: Transcript) -> Transcript:
    """A private and a team message by each of the first players after the first public message."""
    body = _body(transcript)
    added = [
        {
            "id": f"added {channel} {player.name}"[:200],
            "channel": channel,
            "speaker": player.name,
            "round": transcript.messages[0].round,
            "text": "I am certain that it is suspicious evidence, and we all voted together last round.",
        }
        for channel in ("private", "team")
        for player in transcript.players[:3]
    ]
    body["messages"] = [*body["messages"][:1], *added, *body["messages"][1:]]
    for index, message in enumerate(body["messages"]):
        message["index"] = index
    return build_transcript(Transcript, body)


CHANGES: Mapping[str, Callable[[Transcript], Transcript]] = MappingProxyType(
    {
        "all players renamed": with_other_names,
        "missing instead of null reply field": without_reply_fields,
        "private chat added": with_private_chat,
    }
)
"""By what was changed, in words."""


def _body(transcript: Transcript) -> dict[str, Any]:
    return transcript.model_dump(mode="json")


def _renamed_texts(transcript: Transcript, names: Mapping[str, str]) -> dict[int, str]:
    """The public messages with every recognised name replaced, by index."""
    return {
        prepared.message.index: _renamed(prepared.message, prepared.body_start, prepared.mentions, names)
        for prepared in Discussion.of(transcript).messages
    }


def _renamed(message: Message, body_start: int, mentions: Any, names: Mapping[str, str]) -> str:
    parts, done = [f"{names[message.speaker]}: "] if body_start else [], body_start
    for mention in mentions:
        written = message.text[mention.start : mention.end]
        parts += [message.text[done : mention.start], _in_the_case_of(written, names[mention.player])]
        done = mention.end
    return "".join([*parts, message.text[done:]])


def _in_the_case_of(written: str, name: str) -> str:
    """Shouted and small names stay so: capitals are read as aggression."""
    return name.upper() if written.isupper() and len(written) > 1 else name.lower() if written.islower() else name
