"""The metrics against people's ratings of human-bot dialogues (``ratings_dialogue_eval``)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from evaluation.engines.scoring import SCORERS
from evaluation.rubric.control_words import COMPANION_NAMES
from evaluation.rubric.controls import companion_value
from evaluation.transcript import Message, Player, Transcript

RATINGS = ("interesting", "fun", "consistent", "fluent", "topic", "robotic", "repetitive")
KNOWN_BAD = "QualityControl"
"""The model of dialogues that are word salad."""
_USER, _BOT = "User", "Bot"
_RESAMPLES = 500


class Rated(NamedTuple):
    """A dialogue with its ratings, 0 to 100, higher is better for all."""

    worker: str
    model: str
    transcript: Transcript
    ratings: Mapping[str, float]


def rated_dialogues(folder: Path) -> Iterator[Rated]:
    """The dialogues in the JSON files of a folder."""
    for path in sorted(folder.glob("*.json")):
        for worker in json.loads(path.read_text("utf-8")):
            for number, one in enumerate(worker["data"]):
                name = f"{path.stem}-{worker['WorkerId']}-{number}"
                yield Rated(worker["WorkerId"], one["model"], _transcript(name, one["dialogue"]), one["raw scores"])


def _transcript(name: str, turns: Sequence[Mapping[str, Any]]) -> Transcript:
    said = [(who, turn[key].strip()) for turn in turns for who, key in ((_USER, "user"), (_BOT, "bot"))]
    messages = [
        Message(id=str(index), index=index, speaker=who, text=text)
        for index, (who, text) in enumerate([one for one in said if one[1]])
    ]
    players = (Player(name=_USER, is_human=True), Player(name=_BOT, is_human=False))
    return Transcript(game_id=name, source_format="dialogue", language="en", players=players, messages=tuple(messages))


def measures_of(transcript: Transcript) -> dict[str, float | None]:
    """Every score and companion of a dialogue; anti-repetition of the bot's messages alone beside that of both."""
    found: dict[str, float | None] = {name: measure(transcript).score for name, measure in SCORERS.items()}
    found |= {companion: companion_value(metric, transcript) for metric, companion in COMPANION_NAMES.items()}
    own = [message for message in transcript.messages if message.speaker == _BOT]
    if own:
        renumbered = tuple(
            message.model_copy(update={"index": index, "id": str(index)}) for index, message in enumerate(own)
        )
        alone = Transcript(
            game_id=transcript.game_id,
            source_format="dialogue",
            language="en",
            players=transcript.players,
            messages=renumbered,
        )
        found["anti_repetition (bot)"] = SCORERS["anti_repetition"](alone).score
        found["repetition_rate (bot)"] = companion_value("anti_repetition", alone)
    return found


def correlations(dialogues: Sequence[Rated], values: Sequence[Mapping[str, float | None]]) -> Iterator[tuple[str, ...]]:
    """One row per measure: Spearman's correlation with every rating, with its interval over workers."""
    names = list(dict.fromkeys(name for one in values for name in one))
    for name in names:
        kept = [
            (dialogue, value)
            for dialogue, of_one in zip(dialogues, values, strict=True)
            if dialogue.model != KNOWN_BAD and (value := of_one.get(name)) is not None
        ]
        if len(kept) < len(dialogues) // 10:
            yield (name, f"{len(kept)} dialogues only", *[""] * (len(RATINGS) - 1))
            continue
        numbers = [value for _, value in kept]
        if len(set(numbers)) < 2:
            yield (name, f"always {numbers[0]:g}", *[""] * (len(RATINGS) - 1))
            continue
        workers = [dialogue.worker for dialogue, _ in kept]
        cells = [
            _correlation(numbers, [dialogue.ratings[rating] for dialogue, _ in kept], workers) for rating in RATINGS
        ]
        yield (name, *cells)


def _correlation(values: Sequence[float], ratings: Sequence[float], workers: Sequence[str]) -> str:
    """Spearman's correlation, with a bootstrap interval over workers (ranks are taken once)."""
    x, y = stats.rankdata(values), stats.rankdata(ratings)
    of_worker: dict[str, list[int]] = defaultdict(list)
    for place, worker in enumerate(workers):
        of_worker[worker].append(place)
    groups = [np.array(places) for places in of_worker.values()]
    random = np.random.default_rng(1)
    drawn = []
    for _ in range(_RESAMPLES):
        chosen = np.concatenate([groups[group] for group in random.integers(len(groups), size=len(groups))])
        drawn.append(np.corrcoef(x[chosen], y[chosen])[0, 1])
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return f"{np.corrcoef(x, y)[0, 1]:+.2f} [{low:+.2f}, {high:+.2f}]"


def known_bad(dialogues: Sequence[Rated], values: Sequence[Mapping[str, float | None]]) -> Iterator[tuple[str, ...]]:
    """One row per measure: how often a dialogue of a model lies above one of word salad (0.5 is chance)."""
    for name in list(dict.fromkeys(name for one in values for name in one)):
        groups: dict[bool, list[float]] = {True: [], False: []}
        for dialogue, of_one in zip(dialogues, values, strict=True):
            if (value := of_one.get(name)) is not None:
                groups[dialogue.model == KNOWN_BAD].append(value)
        if groups[True] and groups[False]:
            above = stats.mannwhitneyu(groups[False], groups[True]).statistic / (len(groups[True]) * len(groups[False]))
            yield name, f"{above:.2f}", f"{len(groups[False])} against {len(groups[True])}"
