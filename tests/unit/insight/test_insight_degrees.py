"""A number from 0 to 1 as models write it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evaluation.insight._questions import QualityAnswer


@pytest.mark.parametrize(
    ("written", "degree"), [("0.7", 0.7), (" 1.0 ", 1.0), (".5", 0.5), ("0", 0.0), (1, 1.0), (0.7, 0.7)]
)
def test_a_number_is_taken_also_as_text(written: object, degree: float) -> None:
    assert QualityAnswer.model_validate({"reason": "r", "score": written}).score == degree


@pytest.mark.parametrize("written", ["7", "1.5", "0,7", "high", "", "0.7 of 1", True, None])
def test_anything_else_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        QualityAnswer.model_validate({"reason": "r", "score": written})
