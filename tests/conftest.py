"""Fixtures that every kind of test shares."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The real games that the tests read, one folder per source."""
    return DATA
