"""Refuse text that people typed and that the database cannot store."""

from __future__ import annotations

from evaluation.errors import InputError
from evaluation.escaping import lone_surrogate


def require_text(**fields: str) -> None:
    """Raises ``InputError`` for a field that is blank or that UTF-8 cannot hold."""
    for name, text in fields.items():
        if not text.strip():
            raise InputError("It is empty.", place=name, remedy="Say it in a few words.")
    require_storable(**fields)


def require_storable(**fields: str) -> None:
    """Raises ``InputError`` for a field that UTF-8 cannot hold (lone surrogates, from broken command lines)."""
    for name, text in fields.items():
        if lone_surrogate(text) is not None:
            raise InputError("The text holds a lone surrogate.", place=name, remedy="Type it again.")
