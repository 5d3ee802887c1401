"""What people type, where the database or a reader of it could make nothing of it: refused, or made readable."""

from __future__ import annotations

from evaluation.errors import InputError


def require_text(**fields: str) -> None:
    """Raises ``InputError`` for a field that is blank or that UTF-8 cannot hold."""
    for name, text in fields.items():
        if not text.strip():
            raise InputError("It is empty.", place=name, remedy="Say it in a few words.")
    require_storable(**fields)


def require_storable(**fields: str) -> None:
    """Raises ``InputError`` for a field that UTF-8 cannot hold (lone surrogates, from broken command lines)."""
    for name, text in fields.items():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise InputError("The text holds a lone surrogate.", place=name, remedy="Type it anew.") from None


def readable(text: str) -> str:
    """``text`` with what UTF-8 cannot hold (a file name in another encoding) replaced by question-mark signs."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
