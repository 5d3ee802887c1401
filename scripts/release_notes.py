"""Print the section of the CHANGELOG for a tag; fail when the tag is not the version, or has no dated section."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes_for(tag: str, root: Path = ROOT) -> str:
    """The section's text; raises ``ValueError`` with what is wrong."""
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise ValueError(f"The tag is {tag}, and pyproject.toml has the version {version}: tag v{version}.")
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = re.search(
        rf"^## {re.escape(version)}, \d{{4}}-\d{{2}}-\d{{2}}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    if found is None or not found[1].strip():
        raise ValueError(f"CHANGELOG.md has no section '## {version}, YYYY-MM-DD' with sentences.")
    return found[1].strip()


if __name__ == "__main__":
    try:
        print(notes_for(sys.argv[1]))
    except ValueError as error:
        sys.exit(f"error: {error}")
