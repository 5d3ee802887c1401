"""Texts of the engagement form (rubric 1.0, metric 7): five questions, and the meaning of each scale point."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluation.files.bundled import parse_yaml

_TEXTS = parse_yaml(Path(__file__).with_name("rating_guide.yaml").read_text("utf-8"))

QUESTIONS: tuple[str, ...] = tuple(_TEXTS["questions"])
"""In the rubric's order, worded so that yes is the favourable answer to every one."""

QUESTION_TOPICS: tuple[str, ...] = tuple(_TEXTS["question_topics"])
"""A word or two for each question, where its number alone would say nothing."""


@dataclass(frozen=True, slots=True)
class ScalePoint:
    """One point of the 1-5 scale: its name, one sentence, and what a rater would have seen."""

    score: int
    name: str
    summary: str
    signs: tuple[str, ...]


SCALE_POINTS = tuple(
    ScalePoint(point["score"], point["name"], point["summary"], tuple(point["signs"]))
    for point in _TEXTS["scale_points"]
)
"""From 1 to 5."""
