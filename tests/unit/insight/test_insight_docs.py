"""Everything that docs/insights.md names is there, and its examples run."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "insights.md").read_text("utf-8")
NAMED, RENAMED = PAGE.partition("## ADR-010")[2].split("\n| ADR-010 |")
ROWS = [
    [re.findall(r"`([\w.]+)`", cell) for cell in line.split("|")[1:4]] for line in NAMED.splitlines() if "| `" in line
]
OURS = [f"{module}.{name}.{member}" for (name,), (module,), members in ROWS for member in members]
OURS += [
    name for line in RENAMED.splitlines() if "| `" in line for name in re.findall(r"`([\w.]+)`", line.split("|")[2])
]


def test_the_table_is_read_whole() -> None:
    assert len(OURS) > 90


@pytest.mark.parametrize("name", OURS)
def test_every_name_of_the_table_is_there(name: str) -> None:
    # A class begins with a capital letter; what has none is a function at the end.
    module, names = re.fullmatch(r"([a-z_0-9.]+)\.([A-Z]\w*(?:\.\w+)?|\w+)", name).groups()
    found = importlib.import_module(f"evaluation.{module}")
    for part in names.split("."):
        fields = {**getattr(found, "__dataclass_fields__", {}), **getattr(found, "model_fields", {})}
        found = fields[part] if part in fields else getattr(found, part)


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, {})
    # "Ben, what do you think?" has 23 characters; the second variant is 0.8 warmer with a spread of 0.1.
    assert capsys.readouterr().out.splitlines() == ["23.0", "warm"]
