"""Judges of scores, and the one rule of comparing them: verdicts of different judges never compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.text.display import counted, listed


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """A judge, and how it was asked.

    Attributes:
        name: The model, or the kind of judge where none is named.
        instructions: Versions of the prompts and temperatures; empty where not on record.
    """

    name: str
    instructions: str = ""

    def is_like(self, other: JudgedBy) -> bool:
        """Whether both are one model (or rules), asked by the same prompts at one temperature.

        Instructions that are not on record count as equal.
        """
        if self.name != other.name:
            return False
        return not self.instructions or not other.instructions or self.instructions == other.instructions


Judges = tuple[JudgedBy, ...]
"""The models that decided rows of a score, in the order of their names; empty for one by rules alone."""


def have_one_judge(scores: Iterable[Judges]) -> bool:
    """Whether scores were judged alike, and so compare."""
    distinct = list(dict.fromkeys(scores))
    return all(_are_alike(one, other) for place, one in enumerate(distinct) for other in distinct[:place])


def _are_alike(one: Judges, other: Judges) -> bool:
    return len(one) == len(other) and all(mine.is_like(its) for mine, its in zip(one, other, strict=True))


def apart_words(scores: Iterable[Judges]) -> str:
    """Why games' scores do not compare: "by rules in 3 games and by gpt-4o-mini in 2 games"; empty where they do."""
    counts = Counter(scores)
    if have_one_judge(counts):
        return ""
    names = [[judge.name for judge in judges] for judges in counts]
    sides = [
        f"by {_names(judges, has_instructions=names.count([one.name for one in judges]) > 1)} in {counted(n, 'game')}"
        for judges, n in counts.items()
    ]
    return listed(sides)


def _names(judges: Judges, *, has_instructions: bool) -> str:
    words = (
        f"{one.name} ({one.instructions})" if has_instructions and one.instructions else one.name for one in judges
    )
    return " with ".join(words) or "rules"
