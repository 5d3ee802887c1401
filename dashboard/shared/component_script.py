"""Put the JavaScript of an inline component together from its files."""

from __future__ import annotations

from pathlib import Path

_ELEMENTS = Path(__file__).with_name("elements.js")


def component_script(*parts: Path) -> str:
    """The script of a component: what all components share, then its own parts in their order."""
    return "\n".join(path.read_text("utf-8") for path in (_ELEMENTS, *parts))
