"""Assertions about agents and discussions, for the test suites of other projects.

    from evaluation.testing import assert_persona, assert_rubric

    def test_michael_stays_in_character():
        assert_persona("michael", recordings="evals/recordings", baselines="evals/baselines")

A failed assertion names the agent, the dimension, the score and its limit, the messages behind it, and the next step.
A judge that fails does not fail an assertion; it raises a ``JudgeError``. The names are imported on first use: pytest
imports this package in every project, also where no test uses it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.testing._personas import assert_persona
    from evaluation.testing._rubric import assert_rubric

_HOMES = {"assert_persona": "evaluation.testing._personas", "assert_rubric": "evaluation.testing._rubric"}

__all__ = ["assert_persona", "assert_rubric"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
