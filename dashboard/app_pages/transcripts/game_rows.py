"""The list of games as a picture: a row for each game, with a mark for the game and for each of its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.formatting import look
from dashboard.shared.marks.targets import MarkTarget, MarkTargets
from evaluation.rubric.definitions import DEFINITIONS, SHORT_LABELS
from evaluation.text.display import counted

_GAME = "game"
_CELL = "cell"
_METRICS = tuple(DEFINITIONS)
_COLORS = {"✓": "green", "✗": "red"}
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class GameRows:
    """The rows as ``game_rows.js`` draws them, and the targets of their marks, row by row."""

    data: Mapping[str, Any]
    targets: Sequence[MarkTargets]


def game_rows(shown: pd.DataFrame) -> GameRows:
    """The rows of some games.

    Args:
        shown: As ``queries.transcript_list`` returns it.
    """
    games = shown.to_dict("records")
    return GameRows(
        {"metrics": [SHORT_LABELS[name] for name in _METRICS], "rows": [_row(game) for game in games]},
        [_targets(str(game["transcript_id"])) for game in games],
    )


def _row(game: Mapping[Any, Any]) -> dict[str, Any]:
    label, verdict = str(game["label"]), look(game["verdict"])
    iteration = str(game["iteration"])
    rated = f"rated by {game['ratings']}" if game["ratings"] else ""
    facts = [counted(int(game["messages"]), "message"), rated, _players(str(game["names"]).split("\n"))]
    return {
        "label": label,
        "words": ", ".join(filter(None, (label, iteration, f"verdict {verdict.word}", f"{game['passed']} of 7 pass"))),
        "opening": str(game["opening"]),
        "facts": " · ".join(filter(None, facts)),
        "details": f"{game['game_id']}, from {game['source_name']} ({game['source_format']})",
        "iteration": iteration or "no iteration",
        "verdict": verdict.label,
        "color": verdict.color,
        "passed": f"{game['passed']} of 7 pass",
        "chance": f"{game['chance']} above chance" if str(game["chance"])[:1].isdecimal() else "",
        "cells": [_cell(label, name, str(game[name])) for name in _METRICS],
    }


def _players(names: Sequence[str]) -> str:
    named = [name for name in names if name][:_MOST_NAMES]
    more = len([name for name in names if name]) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _cell(game: str, metric: str, score: str) -> dict[str, str]:
    """One score: its text, its colour, and what opening it shows."""
    color = _COLORS.get(score[:1], "gray")
    return {"text": score, "color": color, "label": f"{game}: {DEFINITIONS[metric].label} {score}"}


def _targets(transcript_id: str) -> MarkTargets:
    return {
        _GAME: [MarkTarget(_GAME, transcript_id)],
        _CELL: [MarkTarget(name, transcript_id) for name in _METRICS],
    }
