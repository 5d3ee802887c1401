"""Copies the pictures that the README shows from where the browser tests put them to ``docs/images``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TAKEN = ROOT / "test-results" / "screenshots"
SHOWN = ROOT / "docs" / "images"
CHOSEN = {
    "overview-data-1280-light.png": "overview.png",
    "transcript-data-1280-light.png": "transcript.png",
    "review-data-1280-light.png": "review.png",
    "trends-data-1280-dark.png": "trends-dark.png",
    "transcript-data-390-light.png": "transcript-phone.png",
}


def main() -> int:
    """Exit code 1 when a picture was not taken."""
    missing = [name for name in CHOSEN if not (TAKEN / name).is_file()]
    if missing:
        print(f"Not taken: {', '.join(missing)}. Run: make screenshots", file=sys.stderr)
        return 1
    SHOWN.mkdir(parents=True, exist_ok=True)
    for name, shown in CHOSEN.items():
        shutil.copyfile(TAKEN / name, SHOWN / shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
