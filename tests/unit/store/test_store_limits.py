"""How large an import may be, as a setting."""

from __future__ import annotations

from evaluation.readers import Limits
from evaluation.store import Store


def test_a_limit_of_another_version_is_passed_over() -> None:
    settings = Store(":memory:").settings
    settings.set("import_limits", {"from_the_future": 3, "players": 4})
    assert settings.limits() == Limits(players=4)
