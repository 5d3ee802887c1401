"""Cases of which ``make test`` takes some and ``make test-long`` the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_long(cases: Iterable[Any], quick: int = 1) -> list[Any]:
    """The cases as parameters; all but the first ``quick`` are marked long."""
    found = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*case, marks=() if place < quick else pytest.mark.long) for place, case in enumerate(found)]
