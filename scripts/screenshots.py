"""Puts the pictures that README and docs show from where the browser tests take them into ``docs/images``, smaller."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
TAKEN = ROOT / "test-results" / "screenshots"
SHOWN = ROOT / "docs" / "images"
PAGES = {
    "overview": "overview",
    "games": "transcripts",
    "game": "transcript",
    "rate": "review",
    "trends": "trends",
    "team-agreement": "agreement",
    "agents": "personas",
    "agents-checks": "corrections",
    "experiments": "experiments",
    "game-insights": "network",
}
"""Views of the dashboard, by the names of ``tests/browser/views.py``, to the names of their pictures."""

ON_A_PHONE = ("rate",)


def chosen() -> dict[str, str]:
    """Name of each picture as the tests take it, to its name in the docs."""
    themes = ("light", "dark")
    wide = {f"{view}-data-1280-{theme}.png": f"{name}-{theme}.png" for view, name in PAGES.items() for theme in themes}
    narrow = {
        f"{view}-data-390-{theme}.png": f"{PAGES[view]}-phone-{theme}.png" for view in ON_A_PHONE for theme in themes
    }
    return wide | narrow


def main() -> int:
    """Exit code 1 when a picture was not taken."""
    pictures = chosen()
    missing = [name for name in pictures if not (TAKEN / name).is_file()]
    if missing:
        print(f"Not taken: {', '.join(missing)}. Run: make screenshots", file=sys.stderr)
        return 1
    SHOWN.mkdir(parents=True, exist_ok=True)
    for name, shown in pictures.items():
        _make_small(TAKEN / name, SHOWN / shown)
    return 0


def _make_small(taken: Path, shown: Path) -> None:
    """A page has few colours: a palette of them takes a third of the room."""
    with Image.open(taken) as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(shown, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
