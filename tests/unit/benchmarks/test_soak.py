"""A soak of seconds: nothing goes wrong under mixed load, and every form is stored once."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.soak import Load, soak


@pytest.mark.long
def test_a_short_soak_has_no_errors_and_stores_each_form_once(tmp_path: Path) -> None:
    found = soak(tmp_path, seconds=3, games=4, load=Load(raters=3, readers=1, pause_seconds=(0.1, 0.5)))
    assert found.errors == []
    assert len(found.saved) == len(found.comments) >= 3
    assert (found.lost, found.read > 0, len(found.memory)) == (0, True, 10)
