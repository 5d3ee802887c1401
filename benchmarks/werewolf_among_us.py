"""Rule and reader on "Werewolf Among Us": ``python -m benchmarks.werewolf_among_us FOLDER``.

FOLDER is the data folder of the corpus (Lai et al., ACL Findings 2023, Apache-2.0): ``Ego4D/test.json`` and
``Youtube/test.json`` with games of people whose utterances are labelled with six persuasion strategies. Published: a
fine-tuned BERT reaches F1 83, 68, 90, 76, 42 and 60, in the order of ``STRATEGIES``. "Call for Action" has no
counterpart among the rubric's acts; the nearest one stands for it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.labels import Figure, acts_said, f1
from evaluation.rubric.reader.model import shipped_reader
from evaluation.transcript import Message, Player, Transcript

STRATEGIES: Mapping[str, frozenset[str]] = {
    "Identity Declaration": frozenset({"reveal_role"}),
    "Accusation": frozenset({"accuse", "accuse_aggressively", "build_case"}),
    "Interrogation": frozenset({"question"}),
    "Call for Action": frozenset({"deflect"}),
    "Defense": frozenset({"defend", "defend_self"}),
    "Evidence": frozenset({"build_case", "analyse", "analyse_votes"}),
}
"""A label of the corpus -> the acts that it corresponds to."""


def games(folder: Path, split: str) -> Iterator[tuple[Transcript, list[frozenset[str]]]]:
    """The games of a split, each with the labels of its messages.

    Raises:
        SystemExit: The folder holds no file of that split.
    """
    files = sorted(folder.glob(f"*/{split}.json"))
    if not files:
        raise SystemExit(f"{folder} holds no */{split}.json. Give the data folder of the corpus.")
    for path in files:
        for number, game in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            yield _game(f"{path.parent.name}-{split}-{number}", game["Dialogue"])


def _game(name: str, dialogue: Sequence[Mapping[str, Any]]) -> tuple[Transcript, list[frozenset[str]]]:
    said = [one for one in dialogue if str(one["utterance"]).strip() and str(one["speaker"]).strip()]
    messages = [
        Message(id=f"m{at}", index=at, speaker=str(one["speaker"]).strip(), text=str(one["utterance"]))
        for at, one in enumerate(said)
    ]
    players = [Player(name=speaker) for speaker in dict.fromkeys(message.speaker for message in messages)]
    game = Transcript(
        game_id=name, source_format="werewolf-among-us", language="en", players=players, messages=messages
    )
    return game, [frozenset(one["annotation"]) for one in said]


def measure(labelled: Iterable[tuple[Transcript, list[frozenset[str]]]]) -> Iterator[Figure]:
    """F1 of each strategy over utterances, by the rule alone and by the reader, and their means."""
    read = list(labelled)
    for name, reader in (("rule", None), ("reader", shipped_reader())):
        pairs = [
            (labels[index], {act for act, _ in acts})
            for game, labels in read
            for index, acts in acts_said(game, reader)
        ]
        figures = [_figure(f"{name}: {strategy}", strategy, pairs) for strategy in STRATEGIES]
        yield from figures
        yield Figure(f"{name}: mean F1", sum(figure.value or 0.0 for figure in figures) / len(figures))


def _figure(name: str, strategy: str, pairs: Sequence[tuple[frozenset[str], set[str]]]) -> Figure:
    labelled = [strategy in labels for labels, _ in pairs]
    said = [not STRATEGIES[strategy].isdisjoint(acts) for _, acts in pairs]
    return f1(name, sum(a and b for a, b in zip(labelled, said, strict=True)), sum(labelled), sum(said))


def main() -> None:
    """Read, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="data folder of the corpus")
    parser.add_argument("--split", default="test", help="train, val or test")
    options = parser.parse_args()
    for one in measure(games(options.folder, options.split)):
        print(f"{one.name:<32} {'-' if one.value is None else f'{one.value:.3f}':>7}  {one.words}".rstrip())


if __name__ == "__main__":
    main()
