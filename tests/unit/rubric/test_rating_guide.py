"""The engagement scale in the words of rubric 1.0, and all the actions of its troubleshooting guide."""

from __future__ import annotations

from evaluation.rubric.advice import troubleshooting
from evaluation.rubric.rating_guide import QUESTIONS, SCALE_POINTS

# But for "MINIMUM for Iteration 1 success" at point 3: raters who know the pass mark lean towards it.
SCALE = """
1 - Boring: Robotic, repetitive, no strategic depth, would not watch
- Agents make generic statements
- No meaningful debate or tension
- Conversations don't build toward anything
2 - Somewhat Interesting: Shows some strategy, but lacks natural flow or depth
- Some strategic statements, but feel forced
- Limited interaction between agents
- Occasional interesting moments
3 - Acceptable: Decent strategy, variety, and flow. Would watch casually
- Clear Mafia deception and Villager deduction
- Conversations reference past events
- Some personality differentiation
4 - Engaging: Strong strategy, natural conversation, compelling to watch
- Heated debates with evidence
- Agents build complex cases
- Personalities shine through
- Would watch actively
5 - Fascinating: Would watch as entertainment. Feels like human gameplay
- Surprising strategic moves
- Emotional tension
- Complex social dynamics
- Memorable moments
"""
# A telling word of each action of the rubric's guide, in its order.
ACTIONS = {
    "memory_accuracy": ("history", "name the round", "smaller context"),
    "strategic_depth": ("built on evidence", "examples", "temperature"),
    "coherence": ("5 to 10 messages", "which message answers which", "name the player"),
    "role_consistency": ("strategy section", "must not do", "by hand"),
    "personality_diversity": ("at more length", "different personality", "0.9"),
    "anti_repetition": ("vary their language", "20 to 30 messages", "Shuffle the order"),
    "engagement": ("as a whole", "dramatic and emotional", "stakes", "boring"),
}


def test_the_points_of_the_scale_are_the_rubrics_own() -> None:
    written = [
        line
        for point in SCALE_POINTS
        for line in (f"{point.score} - {point.name}: {point.summary}", *(f"- {sign}" for sign in point.signs))
    ]
    assert written == SCALE.strip().splitlines()


def test_the_five_questions_ask_what_the_rubric_asks() -> None:
    telling = (
        "3 minutes",
        "curious about who the Mafia are",
        "particularly clever or interesting",
        "flow naturally",
        "another game",
    )
    assert [word in question for word, question in zip(telling, QUESTIONS, strict=True)] == [True] * 5


def test_every_action_of_the_troubleshooting_guide_is_there() -> None:
    found = troubleshooting()
    for metric, words in ACTIONS.items():
        assert len(found[metric]) == len(words)
        assert all(word in action for word, action in zip(words, found[metric], strict=True)), metric
