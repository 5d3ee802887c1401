"""Assertions about agents and discussions, for the test suites of other projects.

    from evaluation.testing import assert_persona, assert_rubric

    def test_michael_stays_in_character():
        assert_persona("michael", recordings="evals/recordings", baselines="evals/baselines")

A failed assertion names the agent, the dimension, the score and its limit, the messages behind it, and the next step.
A judge that fails does not fail an assertion; it raises a ``JudgeError``.
"""

from __future__ import annotations

from evaluation.testing._assertions import assert_persona, assert_rubric

__all__ = ["assert_persona", "assert_rubric"]
