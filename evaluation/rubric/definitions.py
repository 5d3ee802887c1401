"""The seven metrics of rubric 1.0: names, labels, scales, thresholds and versions of their definitions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evaluation.coverage import CoverageRule
from evaluation.rubric._breakdowns import by_kind_of_reference, by_side_and_player, references_note
from evaluation.score import LIKERT, PERCENT, MetricDefinition, WhenEmpty

MEMORY_ACCURACY = MetricDefinition(
    "memory_accuracy",
    "Memory accuracy",
    PERCENT,
    80.0,
    "4",
    WhenEmpty.FULL_MARKS,
    "references seen, none could be checked: connect a model, or check them",
    CoverageRule("references settled", fewest=5, least_share=0.5),
    by_kind_of_reference,
    references_note,
)
STRATEGIC_DEPTH = MetricDefinition("strategic_depth", "Strategic depth", PERCENT, 60.0, "3")
COHERENCE = MetricDefinition("coherence", "Conversation coherence", PERCENT, 70.0, "4")
ROLE_CONSISTENCY = MetricDefinition(
    "role_consistency",
    "Role consistency",
    PERCENT,
    80.0,
    "3",
    coverage=CoverageRule("messages with a signal", fewest=5, least_share=0.2),
    derive=by_side_and_player,
)
PERSONALITY_DIVERSITY = MetricDefinition("personality_diversity", "Personality diversity", PERCENT, 50.0, "2")
ANTI_REPETITION = MetricDefinition("anti_repetition", "Anti-repetition", PERCENT, 90.0, "2")
ENGAGEMENT = MetricDefinition("engagement", "Engagement", LIKERT, 3.0, "1", WhenEmpty.PENDING, "not rated yet")

DEFINITIONS: Mapping[str, MetricDefinition] = MappingProxyType(
    {
        definition.name: definition
        for definition in (
            MEMORY_ACCURACY,
            STRATEGIC_DEPTH,
            COHERENCE,
            ROLE_CONSISTENCY,
            PERSONALITY_DIVERSITY,
            ANTI_REPETITION,
            ENGAGEMENT,
        )
    }
)
"""Every metric by name, in the rubric's order."""

DEFAULT_THRESHOLDS: Mapping[str, float] = MappingProxyType({d.name: d.threshold for d in DEFINITIONS.values()})

SHORT_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "memory_accuracy": "Memory",
        "strategic_depth": "Depth",
        "coherence": "Coherence",
        "role_consistency": "Role",
        "personality_diversity": "Diversity",
        "anti_repetition": "Repetition",
        "engagement": "Engagement",
    }
)
"""Every metric in one word, for the columns of tables and for badges, in the rubric's order."""
