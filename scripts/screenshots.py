"""Puts the pictures that the README shows from where the browser tests take them into ``docs/images``, made small."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
TAKEN = ROOT / "test-results" / "screenshots"
SHOWN = ROOT / "docs" / "images"
CHOSEN = {
    "overview-data-1280-light.png": "overview.png",
    "transcript-data-1280-light.png": "transcript.png",
    "review-data-1280-light.png": "review.png",
}


def main() -> int:
    """Exit code 1 when a picture was not taken."""
    missing = [name for name in CHOSEN if not (TAKEN / name).is_file()]
    if missing:
        print(f"Not taken: {', '.join(missing)}. Run: make screenshots", file=sys.stderr)
        return 1
    SHOWN.mkdir(parents=True, exist_ok=True)
    for name, shown in CHOSEN.items():
        _make_small(TAKEN / name, SHOWN / shown)
    return 0


def _make_small(taken: Path, shown: Path) -> None:
    """A page has few colours: a palette of them takes a third of the room."""
    with Image.open(taken) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(shown, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
