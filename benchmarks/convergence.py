"""Anti-convergence's similarity against the labels of readers: ``python -m benchmarks.convergence``.

60 windows of five messages, drawn from a fixed seed before the similarity was written and labelled by two readers, and
48 drawn and labelled when it was done. The similarity was tuned on one half of the 60; windows on which the readers
disagree count in neither share.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.repetition import convergence_similarity

WINDOWS = Path(__file__).parents[1] / "data" / "labels" / "convergence" / "windows.jsonl"
LEAST_OF_CONVERGENT, MOST_OF_OTHERS = 0.8, 0.2


class Window(NamedTuple):
    """Five messages of one game, from ``first_message`` (an index of the transcript) on: speakers and texts."""

    id: str
    source: str
    game: str
    first_message: int
    half: str
    messages: list[tuple[str, str]]


class LabelledWindow(NamedTuple):
    """A window with its similarity and both readers' labels."""

    window: Window
    similarity: float
    first: bool
    second: bool


def labelled_windows() -> list[LabelledWindow]:
    """All windows in the order in which they were drawn."""
    first, second = (_labels(WINDOWS.with_name(f"{name}.jsonl")) for name in ("first", "second"))
    found = []
    for line in WINDOWS.read_text(encoding="utf-8").splitlines():
        window = Window(**json.loads(line))
        similarity = convergence_similarity([(speaker, text) for speaker, text in window.messages])
        found.append(LabelledWindow(window, similarity or 0.0, first[window.id], second[window.id]))
    return found


def share_reaching(windows: list[LabelledWindow], *, is_convergent: bool) -> tuple[int, int]:
    """How many of the windows that both readers label so reach the default threshold, and of how many."""
    threshold = CorrectionConfig().convergence_threshold
    labelled = [one for one in windows if one.first is is_convergent and one.second is is_convergent]
    return sum(one.similarity >= threshold for one in labelled), len(labelled)


def _labels(path: Path) -> dict[str, bool]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row["is_convergent"] for row in rows}


def main() -> None:
    """Prints the shares of the half that was tuned on, of the one that was kept, and of windows drawn afterwards."""
    windows = labelled_windows()
    agreed = sum(one.first is one.second for one in windows)
    print(f"{len(windows)} windows; the readers agree on {agreed}")
    for half in ("tuning", "kept", "fresh"):
        own = [one for one in windows if one.window.half == half]
        for kind, wanted in (("convergent", "at least 80 %"), ("other", "at most 20 %")):
            reached, of = share_reaching(own, is_convergent=kind == "convergent")
            print(f"{half}: {reached} of {of} {kind} windows reach 0.6 = {reached / of:.0%} (wanted: {wanted})")


if __name__ == "__main__":
    main()
