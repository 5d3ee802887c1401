"""Drafts: unfinished rating forms, stored until the form is submitted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from evaluation.store.engine.transactions import Units


@dataclass(frozen=True, slots=True)
class FormDraft:
    """A half-filled form. ``revision`` counts its changes, so that the newer of two is known."""

    revision: int
    body: dict[str, Any]


class Drafts:
    """Keeps one draft per token."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def save(self, token: str, revision: int, body: dict[str, Any]) -> bool:
        """Stores a draft; false when it is refused.

        It is refused when nobody was given that token, when the form was submitted, or when a newer draft is stored.
        """
        packed = json.dumps(body, ensure_ascii=True, allow_nan=False)
        values = {"token": token, "revision": revision, "body": packed}
        with self._units.unit(write=True, join=True) as cursor:
            return bool(cursor.execute(_SAVE, values).fetchall())

    def load(self, token: str) -> FormDraft | None:
        """The draft stored for the token, if there is one."""
        with self._units.unit() as cursor:
            found = cursor.execute("SELECT revision, body FROM drafts WHERE token = ?", [token]).fetchone()
        return None if found is None else FormDraft(int(found[0]), json.loads(found[1]))

    def begun(self) -> set[tuple[str, str]]:
        """Transcript and rater of each form that was begun and not submitted."""
        query = "SELECT transcript_id, rater FROM assignments JOIN drafts USING (token)"
        with self._units.unit() as cursor:
            return {(str(game), str(rater)) for game, rater in cursor.execute(query).fetchall()}


_SAVE = """
INSERT INTO drafts (token, revision, body)
SELECT $token, $revision, $body
WHERE $token IN (SELECT token FROM assignments) AND $token NOT IN (SELECT token FROM ratings)
ON CONFLICT (token) DO UPDATE SET revision = excluded.revision, body = excluded.body, updated_at = now(),
    touched = excluded.touched
WHERE drafts.revision < excluded.revision
RETURNING token
"""
