"""How large an import may be, as a setting."""

from __future__ import annotations

import pytest

from evaluation.errors import InputError
from evaluation.readers import Limits
from evaluation.store import Store


def test_the_defaults_hold_until_something_is_set() -> None:
    settings = Store(":memory:").settings
    assert settings.limits() == Limits()
    settings.set_limits({"messages": 10, "players": 4})
    settings.set_limits({"messages": None, "files": 7})
    assert settings.limits() == Limits(players=4, files=7)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("colour", 1, "is not a limit"),
        ("players", 0, "from 1 to 10,000"),
        # Twenty times the default of 500.
        ("players", 10_001, "the default is 500"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused_and_nothing_changes(name: str, value: int, reason: str) -> None:
    settings = Store(":memory:").settings
    with pytest.raises(InputError, match=reason):
        settings.set_limits({"files": 3, name: value})
    assert settings.limits() == Limits()


def test_a_limit_of_another_version_is_passed_over() -> None:
    settings = Store(":memory:").settings
    settings.set("import_limits", {"from_the_future": 3, "players": 4})
    assert settings.limits() == Limits(players=4)
