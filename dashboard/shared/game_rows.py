"""The list of games as rows: a name, a verdict, and a cell for each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard import access_checks
from dashboard.shared import resources
from dashboard.shared.clicked_marks import MarkTarget, MarkTargets, remember_click
from dashboard.shared.drawing import MARKS, define_component
from dashboard.shared.formatting import label_with_unit, look, score_text, verdict_color, without_unit
from dashboard.shared.identity import identity
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import passes_words
from evaluation.score import AT_CHANCE
from evaluation.text.display import counted

_rows = define_component("dramaturg_game_rows", MARKS, Path(__file__))

_GAME = "game"
_CELL = "cell"
TICK = "tick"
"""The kind of mark that ticks a game, to set it beside another one."""
METRICS = tuple(DEFINITIONS)


def unseen_ratings_hidden(shown: pd.DataFrame) -> pd.DataFrame:
    """The rows, without what others gave the games that a named rater has not rated yet."""
    hidden = identity.hidden_games(resources.store(), identity.author_name(), shown["transcript_id"])
    if not hidden:
        return shown
    is_hidden = shown["transcript_id"].isin(list(hidden))
    score = f"score_{ENGAGEMENT.name}"
    # Verdict, passes, filters, order and the file would tell what others gave.
    return shown.assign(
        **{ENGAGEMENT.name: shown[ENGAGEMENT.name].where(~is_hidden, _HIDDEN), score: shown[score].mask(is_hidden)},
        verdict=shown["verdict"].where(~is_hidden, shown["unrated_verdict"].replace("pending", "hidden")),
        passed=shown["passed"].where(~is_hidden, shown["unrated_passed"]),
        failing=shown["failing"].where(
            ~is_hidden, shown["failing"].map(lambda names: tuple(name for name in names if name != ENGAGEMENT.name))
        ),
    )


_HIDDEN = "hidden until you rate it"


def _row(game: Mapping[Any, Any]) -> dict[str, Any]:
    label, verdict = str(game["label"]), look(game["verdict"])
    rated, chance = f"rated by {game['ratings']}" if game["ratings"] else "", str(game["chance"])
    at_chance = sum(str(game[name]).startswith("≈") for name in METRICS)
    of = 6 if game[ENGAGEMENT.name] == _HIDDEN else 7
    passes = passes_words(game["passed"], at_chance, of)
    source = f"{game['game_id']}, from {game['source_name']} ({game['source_format']})"
    return {
        "label": label,
        "words": ", ".join(filter(None, (label, f"verdict {verdict.word}", f"{passes} pass"))),
        "facts": " · ".join(filter(None, (counted(int(game["messages"]), "message"), rated))),
        "details": f"{game['opening']}\n{source}",
        "verdict": verdict.label,
        "passes": passes,
        "passed": f"{game['passed']} of {of}",
        "atChance": str(at_chance or ""),
        "chance": f"better than scrambled copies in {chance}" if chance[:1].isdecimal() else "",
        "cells": [
            _cell(label, name, str(game[name]), words) for name, words in zip(METRICS, game["coverage"], strict=True)
        ],
    }


def _cell(game: str, metric: str, score: str, coverage: str) -> dict[str, str]:
    """One score: its number, a word beside it, its colour, and what stands on hover, with what the score rests on."""
    shown, _, word = without_unit(score).partition(", ")
    is_number = any(letter.isdigit() for letter in shown)
    rests_on = "".join(f", {words}" for words in (AT_CHANCE * score.startswith("≈"), coverage) if words)
    return {
        "text": shown if is_number else score[:1],
        "word": word,
        "color": verdict_color(f"{score}, {coverage}"),
        "label": f"{game}: {DEFINITIONS[metric].label} {score}{rests_on}",
    }


def _targets(transcript_id: str) -> MarkTargets:
    return {
        _GAME: [MarkTarget(_GAME, transcript_id)],
        TICK: [MarkTarget(TICK, transcript_id)],
        _CELL: [MarkTarget(name, transcript_id) for name in METRICS],
    }


def headings(shown: pd.DataFrame) -> dict[int, list[str]]:
    """The heading above the first game of each iteration, by its row: the name, and the mean of every metric.

    None where all games are of none.

    Args:
        shown: All games, those of an iteration together.
    """
    names = shown["iteration"]
    if not names.any():
        return {}
    begins = names != names.shift()
    means = shown.groupby("iteration")[[f"score_{name}" for name in METRICS]].mean()
    # A mean of the games that the person has rated would be another than the iteration's.
    means.loc[list(names[shown[ENGAGEMENT.name] == _HIDDEN].unique()), f"score_{ENGAGEMENT.name}"] = math.nan
    return {
        place: [
            name or "No iteration",
            *(
                "" if not name or pd.isna(mean) else _number(metric, mean)
                for metric, mean in zip(METRICS, means.loc[name], strict=True)
            ),
        ]
        for place, (name, is_first) in enumerate(zip(names, begins, strict=True))
        if is_first
    }


def _number(metric: str, mean: float) -> str:
    return without_unit(score_text(mean, DEFINITIONS[metric].scale))


def draw_games(
    shown: pd.DataFrame, key: str, ticked: str | None = None, groups: Mapping[int, list[str]] | None = None
) -> None:
    """Draws the rows of some games; a row opens its game, and a score the message behind it.

    Args:
        shown: As :func:`unseen_ratings_hidden` gives them.
        key: Of the component.
        ticked: The id of the game that is ticked, empty for none; ``None`` where nothing can be ticked.
        groups: The headings above some rows, by their place, as :func:`headings` has them.
    """
    games = shown.to_dict("records")
    ticks = [None if ticked is None else game["transcript_id"] == ticked for game in games]
    rows = [
        _row(game) | {"ticked": tick, "group": (groups or {}).get(place)}
        for place, (game, tick) in enumerate(zip(games, ticks, strict=True))
    ]
    targets = [_targets(str(game["transcript_id"])) for game in games]
    metrics = [label_with_unit(name).split(", ") for name in METRICS]
    on_open = access_checks.event("game_open", remember_click(key, targets))
    _rows(key=key, data={"metrics": metrics, "rows": rows}, on_open_change=on_open)
