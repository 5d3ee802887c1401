"""What the metrics' numbers can and cannot show: ``python -m benchmarks.validity [FOLDER]``.

Prints, for every game below a folder: how often each metric notices a planted fault, whether changes that mean nothing
move a score, how far scores follow the length of a game, how often human games pass beside those of language models,
and how scores correlate with people's ratings.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.labels import print_labels
from benchmarks.validity_people import RATINGS, correlations, known_bad, measures_of, rated_dialogues
from evaluation import read_path
from evaluation.rubric.controls import FEWEST_MESSAGES
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.transcript import Transcript
from evaluation.validity import breaks, fault_table, length_correlations, metric_trust, noticed, pass_rates

GAMES = Path(__file__).parents[1] / "tests" / "data"
PEOPLE = "ratings_dialogue_eval"
# Exports of an earlier version: games that stand in the other folders too.
EXPORTS = "98ef06c"
DRAWS = 20


def games_below(folder: Path) -> list[tuple[str, Transcript]]:
    """Every game of enough messages below a folder, with the sub-folder that it comes from; each content once."""
    places = sorted(place for place in folder.iterdir() if place.name not in (PEOPLE, EXPORTS))
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
