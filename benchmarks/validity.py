"""What the metrics' numbers can and cannot show: ``python -m benchmarks.validity [FOLDER]``.

Prints, for every game below a folder: how often each metric notices a planted fault, whether changes that mean nothing
move a score, how far scores follow the length of a game, how often human games pass beside those of language models,
and how scores correlate with people's ratings.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from benchmarks.companions import COMPANION_NAMES, companion_value
from benchmarks.labels import print_labels
from benchmarks.planted_faults import breaks, fault_table, noticed
from evaluation import read_path
from evaluation.engines.scoring import SCORERS
from evaluation.rubric.controls import FEWEST_MESSAGES
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import Status
from evaluation.text.display import number_or_none
from evaluation.transcript import Message, Player, Transcript
from evaluation.validity import metric_trust

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


def length_correlations(games: Sequence[Transcript]) -> dict[str, tuple[float | None, int]]:
    """Spearman's correlation of every score with the logarithm of the public words, and the number of games."""
    lengths = [float(np.log(1 + sum(len(one.text.split()) for one in game.discussion))) for game in games]
    found: dict[str, tuple[float | None, int]] = {}
    for name, measure in SCORERS.items():
        scores = [measure(game).score for game in games]
        pairs = [(score, length) for score, length in zip(scores, lengths, strict=True) if score is not None]
        value = float(stats.spearmanr(*zip(*pairs, strict=True)).statistic) if len(pairs) > 2 else None
        found[name] = (None if value is None else number_or_none(value), len(pairs))
    return found


def pass_rates(games: Sequence[Transcript]) -> dict[str, dict[str, tuple[int, int]]]:
    """For each metric: of how many human games, and of those of language models, that have a score, how many pass."""
    rates: dict[str, dict[str, tuple[int, int]]] = {}
    for name, measure in SCORERS.items():
        counts = {"human": [0, 0], "model": [0, 0]}
        for game in games:
            result = measure(game)
            if result.score is not None:
                group = counts["human" if is_human_game(game) else "model"]
                group[0] += result.status is Status.PASSED
                group[1] += 1
        rates[name] = {group: (passed, total) for group, (passed, total) in counts.items()}
    return rates


def is_human_game(game: Transcript) -> bool:
    """Whether most of the players are known to be people."""
    return sum(player.is_human is True for player in game.players) * 2 > len(game.players)


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


GAMES = Path(__file__).parents[1] / "tests" / "data"
PEOPLE = "ratings_dialogue_eval"
DRAWS = 20


def games_below(folder: Path) -> list[tuple[str, Transcript]]:
    """Every game of enough messages below a folder, with the sub-folder that it comes from; each content once."""
    places = sorted(place for place in folder.iterdir() if place.name != PEOPLE)
    found: dict[str, tuple[str, Transcript]] = {}
    for place in places:
        for result in read_path(place):
            game = result.transcript
            if game is not None and len(game.discussion) >= FEWEST_MESSAGES:
                found.setdefault(game.id, (place.name, game))
    return list(found.values())


def print_columns(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in columns as wide as they need to be, and an empty line."""
    lines = [headers, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]
    for line in (headers, ["-" * width for width in widths], *lines[1:]):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    print(flush=True)


def print_faults(games: Sequence[tuple[str, Transcript]], draws: int) -> None:
    """How far each metric can be trusted, and how often the real game lies above a copy with a fault."""
    rows = fault_table(one for source, game in games for one in noticed(source, game, draws=draws))
    for trusted in metric_trust(rows):
        print(f"{DEFINITIONS[trusted.metric].label}: {trusted.trust}. {' '.join(trusted.sentences)}")
    print()
    print(f"Planted faults: the share of {draws} copies that score below the game (0.50 is chance), 95 % over games")
    print_columns(
        ("metric", "fault", "measure", "noticed", "interval", "games", "target", "met", "per source (games)"),
        [
            (
                row["label"],
                row["fault"],
                row["measure"],
                f"{row['auc']:.3f}",
                "" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}",
                str(row["games"]),
                "" if row["target"] is None else f">= {row['target']:.2f}",
                "" if row["target"] is None else "yes" if row["auc"] >= row["target"] else "NO",
                ", ".join(f"{name} {one['auc']:.2f} ({one['games']})" for name, one in row["sources"].items()),
            )
            for row in rows
        ],
    )


def print_invariance(games: Sequence[tuple[str, Transcript]]) -> None:
    """The scores that a meaningless change moved."""
    found = [one for _, game in games for one in breaks(game)]
    print(f"Invariance: {len(found)} scores of {len(games)} games moved (wanted: 0)")
    for one in found:
        print(f"  {one.change}: {one.game}, {one.metric}: {one.before} became {one.after}")
    print(flush=True)


def print_length_and_passes(games: Sequence[Transcript]) -> None:
    """How scores follow the length, and who passes."""
    lengths, rates = length_correlations(games), pass_rates(games)
    print("Length: Spearman's correlation of the score with log words. Passes: games that reach the threshold")
    print_columns(
        ("metric", "with log words", "games", "human games pass", "model games pass"),
        [
            (
                DEFINITIONS[name].label,
                "" if value is None else f"{value:+.2f}",
                str(count),
                "{} of {}".format(*rates[name]["human"]),
                "{} of {}".format(*rates[name]["model"]),
            )
            for name, (value, count) in lengths.items()
        ],
    )


def print_people(folder: Path) -> None:
    """Scores and companions against people's ratings of dialogues."""
    if not folder.is_dir():
        print(f"People: left out, there is no folder {folder}; name one with --people.\n")
        return
    dialogues = list(rated_dialogues(folder))
    values = [measures_of(one.transcript) for one in dialogues]
    print("People: Spearman's correlation with ratings (higher is better), 95 % over workers, without word salad")
    print_columns(("measure", *RATINGS), correlations(dialogues, values))
    print("Word salad: how often a model's dialogue lies above it (0.50 is chance)")
    print_columns(("measure", "above", "dialogues"), known_bad(dialogues, values))


def main() -> None:
    """Prints everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=GAMES, help="games, one sub-folder for each source")
    parser.add_argument("--people", type=Path, help=f"the rated dialogues; FOLDER/{PEOPLE} when left out")
    parser.add_argument("--draws", type=int, default=DRAWS, help="copies of each game with each fault")
    parser.add_argument("--final", action="store_true", help="open the kept half of the labels; it is logged")
    options = parser.parse_args()
    games = games_below(options.folder)
    if not games:
        raise SystemExit(f"{options.folder} holds no game of {FEWEST_MESSAGES} public messages or more.")
    print(f"{len(games)} games, {sum(len(game.discussion) for _, game in games):,} public messages\n", flush=True)
    print_faults(games, options.draws)
    print_invariance(games)
    print_length_and_passes([game for _, game in games])
    print_people(options.people or options.folder / PEOPLE)
    print_labels(is_final=options.final)


if __name__ == "__main__":
    main()
