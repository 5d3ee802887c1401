"""Texts of the engagement form (rubric 1.0, metric 7): five questions, and the meaning of each scale point."""

from __future__ import annotations

from dataclasses import dataclass

QUESTIONS: tuple[str, ...] = (
    "Would you voluntarily watch 3 minutes of this conversation?",
    "Did you find yourself curious about who the Mafia are?",
    "Did any agent stand out as particularly clever or interesting?",
    "Did the conversation flow naturally (yes), or feel scripted (no)?",
    "Would you want to watch another game?",
)
"""In the rubric's order, worded so that yes is the favourable answer to every one."""

QUESTION_TOPICS: tuple[str, ...] = (
    "watching it",
    "curiosity",
    "a clever agent",
    "natural flow",
    "another game",
)
"""A word or two for each question, where its number alone would say nothing."""


@dataclass(frozen=True, slots=True)
class ScalePoint:
    """One point of the 1-5 scale: its name, one sentence, and what a rater would have seen."""

    score: int
    name: str
    summary: str
    signs: tuple[str, ...]


SCALE_POINTS: tuple[ScalePoint, ...] = (
    ScalePoint(
        1,
        "Boring",
        "Robotic, repetitive, no strategic depth, would not watch",
        (
            "Agents make generic statements",
            "No meaningful debate or tension",
            "Conversations don't build toward anything",
        ),
    ),
    ScalePoint(
        2,
        "Somewhat Interesting",
        "Shows some strategy, but lacks natural flow or depth",
        (
            "Some strategic statements, but feel forced",
            "Limited interaction between agents",
            "Occasional interesting moments",
        ),
    ),
    ScalePoint(
        3,
        "Acceptable",
        "Decent strategy, variety, and flow. Would watch casually",
        (
            "Clear Mafia deception and Villager deduction",
            "Conversations reference past events",
            "Some personality differentiation",
            "MINIMUM for Iteration 1 success",
        ),
    ),
    ScalePoint(
        4,
        "Engaging",
        "Strong strategy, natural conversation, compelling to watch",
        (
            "Heated debates with evidence",
            "Agents build complex cases",
            "Personalities shine through",
            "Would watch actively",
        ),
    ),
    ScalePoint(
        5,
        "Fascinating",
        "Would watch as entertainment. Feels like human gameplay",
        ("Surprising strategic moves", "Emotional tension", "Complex social dynamics", "Memorable moments"),
    ),
)
"""From 1 to 5."""
