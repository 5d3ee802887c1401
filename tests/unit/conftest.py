"""The store of a unit test."""

from collections.abc import Iterator

import pytest

from evaluation.store import Store


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store in memory."""
    with_nothing = Store(":memory:")
    yield with_nothing
    with_nothing.close()
