"""Data for the Agents page: agents with their scores, propositions, and the effect of an edit.

Independent of Streamlit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.local_time import local_time
from evaluation.comparison.runs import Run
from evaluation.judging.propositions import Dimension
from evaluation.persona.agents import is_channel_id
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.statistics.words import change_words
from evaluation.store import Store
from evaluation.text.display import fixed
from evaluation.workflows.agents import KnownAgents

_UNKNOWN_SCORE = "–"


@dataclass(frozen=True, slots=True)
class SelectableAgent:
    """An agent or channel that can be selected.

    Attributes:
        run: Its latest completed run, as ``Evaluations.runs`` shows it; ``None`` before the first.
    """

    id: str
    name: str
    run: Mapping[str, Any] | None

    @property
    def is_channel(self) -> bool:
        return is_channel_id(self.id)

    def dimension(self, dimension: Dimension) -> Mapping[str, Any]:
        """The latest run's score in a dimension with its details; empty when there is none."""
        return _scores_of(self.run).get(dimension, {})

    def score(self, dimension: Dimension) -> float | None:
        """0 to 9, or a count for ideas; ``None`` without a score."""
        score = self.dimension(dimension).get("score")
        return None if score is None else float(score)


def people(store: Store) -> list[SelectableAgent]:
    """All agents that were evaluated, speak in a stored game, or are shipped; the evaluated first."""
    with store.unit():
        known = KnownAgents.of(store)
        players = store.agents.players()
        runs: list[dict[Any, Any]] = store.evaluations.latest().to_dict("records")
    latest = {str(row["agent_id"]): row for row in runs}
    names = {known.speakers.agent_id(name): name for _, name in reversed(players)}
    names |= {key: member.agent.display_name for key, member in known.cast.members.items()}
    names |= {key: agent.display_name for key, agent in known.stored.items()}
    ids = dict.fromkeys([*latest, *known.ids])
    for key, row in latest.items():
        names[key] = str(row["display_name"])
    return [SelectableAgent(key, names.get(key, key), latest.get(key)) for key in ids]


def told_of_names(store: Store) -> list[str]:
    """Sentences on what only names decide: which players of a game are one agent, and who has a shipped persona."""
    known = KnownAgents.of(store)
    told = known.told_of_merged_players(known.spoken), known.told_of_shipped_personas(known.spoken)
    return [sentence for sentence in told if sentence]


def people_rows(found: Sequence[SelectableAgent], before: Sequence[float | None]) -> list[dict[str, object]]:
    """One row per agent: ``Agent``, ``Adherence`` and its ``Change``, the other dimensions, and the ``Judgements``.

    Args:
        found: Agents with a run; channels have other dimensions.
        before: The adherence of each in the run before, by the same judge; ``None`` for none.
    """
    return [
        {"Agent": person.name}
        | {label: cell for each in DIMENSIONS for label, cell in _cells(person, each, earlier).items()}
        | {"Judgements": sum(int(one.get("items") or 0) for one in _scores_of(person.run).values())}
        for person, earlier in zip(found, before, strict=True)
    ]


def _cells(person: SelectableAgent, dimension: Dimension, earlier: float | None) -> dict[str, str]:
    score = person.score(dimension)
    cells = {LABELS[dimension]: score_text(score, dimension).split()[0]}
    if dimension is Dimension.ADHERENCE:
        cells["Change"] = "" if score is None or earlier is None else change_words(earlier, score, "")
    return cells


def _overall(run: Mapping[str, Any] | None) -> float | None:
    return None if run is None or pd.isna(run["overall_score"]) else float(run["overall_score"])


def score_text(score: float | None, dimension: Dimension) -> str:
    """A score with its unit: "7.2 of 9", "14 ideas"; a dash for none."""
    if score is None or pd.isna(score):
        return _UNKNOWN_SCORE
    return f"{score:.0f} ideas" if dimension is Dimension.IDEAS_QUANTITY else f"{fixed(score)} of 9"


def run_detail(store: Store, run_id: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scores of a run and what could not be scored, as ``Evaluations`` gives them."""
    with store.unit():
        return store.evaluations.scores(run_id), store.evaluations.failures(run_id)


def completed_runs(store: Store, agent_id: str) -> list[dict[Any, Any]]:
    """The agent's completed runs, the oldest first, as ``Evaluations.runs`` shows them."""
    runs = store.evaluations.runs(agent_id)
    return runs[runs["status"] == "completed"].to_dict("records")


def runs_with(store: Store, dimension: Dimension) -> dict[str, list[dict[Any, Any]]]:
    """The completed runs that have a score in a dimension, the oldest first, by agent."""
    runs = store.evaluations.runs()
    found: dict[str, list[dict[Any, Any]]] = {}
    rows: list[dict[Any, Any]] = runs[runs["status"] == "completed"].to_dict("records")
    for run in rows:
        if dimension in Run.of(run).scores:
            found.setdefault(str(run["agent_id"]), []).append(run)
    return found


def run_history(store: Store, agent_id: str) -> list[dict[str, object]]:
    """Every run of an agent, the latest first, with its scores and its judge."""
    runs = store.evaluations.runs(agent_id).to_dict("records")
    return [
        {
            "When": local_time(run["created_at"]),
            "State": run["status"],
            **{LABELS[each]: score_text(held.scores.get(each), each) for each in DIMENSIONS},
            "Overall": score_text(_overall(run), Dimension.ADHERENCE),
            "Sample": run["sample_size"],
            "Seed": run["seed"],
            "Judged by": held.judge,
            "Remark": "" if pd.isna(run["error"]) else run["error"],
        }
        for run in reversed(runs)
        for held in [Run.of(run)]
    ]


def _scores_of(run: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    packed = run["scores"] if run else None
    found: dict[str, dict[str, Any]] = json.loads(packed) if isinstance(packed, str) else {}
    return found
