"""Two persona dimensions of one's own: a judge marks the first, a function computes the second.

DRAMATURG_PLUGINS=examples/own_dimensions.py dramaturg persona run --agents michael --mode offline
"""

from __future__ import annotations

from statistics import fmean

from evaluation.judging.propositions.own_dimensions import declare_dimension
from evaluation.judging.targets import Target

WORDS_OF_A_SHORT_MESSAGE = 10

declare_dimension(
    "warmth",
    description="Whether the agent is friendly to the others.",
    propositions=[
        {"id": "is-friendly", "claim": "{{agent_name}} is friendly to the others."},
        {"id": "belittles", "claim": "In {{action}}, {{agent_name}} belittles somebody.", "inverted": True},
    ],
)


def brevity(target: Target) -> tuple[int, str] | None:
    """9 for ten words a message or fewer, one less for every ten more."""
    lengths = [len(event.text.split()) for event in target.events if event.is_action]
    if not lengths:
        return None
    mean = fmean(lengths)
    return max(0, 9 - round(max(0.0, mean - WORDS_OF_A_SHORT_MESSAGE) / 10)), f"{mean:.1f} words a message"


declare_dimension("brevity", description="Whether the agent is brief.", function=brevity)
