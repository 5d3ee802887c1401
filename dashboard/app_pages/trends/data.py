"""Data for the Trends page, ready to draw: games, iterations, persona dimensions.

Independent of Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.charts.metric_charts import games_of_dots
from dashboard.shared.clicked_marks import MarkTarget, MarkTargets
from dashboard.shared.formatting import TIMES, USD, WORDS, decided_words, score_text, told_apart, usd_text
from dashboard.shared.queries import LOOSE, group_of
from evaluation.comparison.runs import Run, of_one_judge, runs_apart_words
from evaluation.escaping import cut
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.checklist import COST_GOAL_USD
from evaluation.iterations.game_tests import Game, reserve_words
from evaluation.iterations.keep_or_revert import MetricChange, not_counted_words
from evaluation.judged_by import apart_words
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.rubric.at_chance import control_words, is_at_chance, summarise_controls
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, ROLE_CONSISTENCY
from evaluation.rubric.verdict import COST_LIMIT_USD
from evaluation.score import PERCENT, MetricDefinition, Scale
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import interval_words
from evaluation.store import Store
from evaluation.text.display import counted, listed
from evaluation.workflows.iterations import side_scores

NINE = Scale("nine", 0.0, 9.0)

PERSONA_DEFINITIONS: Mapping[str, MetricDefinition] = {
    str(each): MetricDefinition(str(each), LABELS[each], NINE, float("nan"), "1")
    for each in DIMENSIONS
    if each is not Dimension.IDEAS_QUANTITY
}
"""The persona dimensions on the scale from 0 to 9. Ideas are counts, without a scale; they have their own table."""

_LONGEST_NAME = 60
_SAME_COST = 0.05
"""Up to this share of difference, two costs are called about the same."""
COLUMNS = ("metric", "position", "iteration", "game", "transcript_id", "score", "status", "raters")
"""What every game of a chart has, a row for each figure."""


@dataclass(frozen=True, slots=True)
class Step:
    """An iteration as it stands below a chart: its place from 1, the one change that it made, and what became of it.

    Attributes:
        reference: Name of the iteration that it is compared with; empty for none.
        decision: What a person decided, else what the rule says, in words; empty without a reference.
    """

    position: int
    name: str
    change: str
    target: str
    reference: str = ""
    decision: str = ""


def steps(board: Board, *, is_hidden: bool = False) -> list[Step]:
    """All iterations in their order, with the decisions that every page shows.

    Args:
        board: All iterations.
        is_hidden: Whether the ratings of some of their games are hidden from the person.
    """
    shown = [one.without_ratings() if is_hidden else one for one in board.iterations]
    return [_step(place, one) for place, one in enumerate(shown, start=1)]


def _step(place: int, one: IterationSummary) -> Step:
    held, decision = one.iteration, one.decision
    target = DEFINITIONS[held.target_metric].label if held.target_metric else ""
    return Step(place, held.name, held.change, target, decision.reference if decision else "", decided_words(one))


def references(found: Sequence[Step]) -> dict[str, str]:
    """Name of the iteration that each is compared with, by its name; those with none are left out."""
    return {one.name: one.reference for one in found if one.reference}


@dataclass(frozen=True, slots=True)
class DimensionPoints:
    """The persona dimensions game by game, from the latest completed runs of one judge.

    Attributes:
        frame: See :func:`dimension_points`.
        apart: A sentence on the agents that another judge judged last and that are left out: untrusted text.
    """

    frame: pd.DataFrame
    apart: str


def dimension_points(store: Store) -> DimensionPoints:
    """The persona dimensions game by game, from every agent's latest completed run.

    Returns:
        One row per game and dimension, ordered by iteration, in the columns of ``queries.trend_points``. Trajectories
        that belong to no single game are left out.
    """
    with store.unit():
        summaries = store.transcripts.summaries().set_index("transcript_id")
        places = {one.name: place for place, one in enumerate(store.iterations.list(), start=1)}
        scores = store.evaluations.latest_scores()
        latest = [Run.of(row) for row in store.evaluations.latest().to_dict("records")]
    kept = of_one_judge(latest)
    apart = runs_apart_words({run.agent: run for run in latest}, kept[0]) if kept else ""
    scores = scores[scores["run_id"].isin([run.id for run in kept])]
    games = summaries[["game", "iteration", "source_format"]].to_dict("index")
    rows = []
    for dimension, transcript_id, score, agents in _by_game(scores[scores["transcript_id"].isin(games)]):
        game, iteration = games[transcript_id]["game"], games[transcript_id]["iteration"]
        place, name = group_of(iteration, games[transcript_id]["source_format"], places)
        label = f"{game} ({counted(agents, 'agent')})"
        rows.append((dimension, place, name, label, transcript_id, score, "scored", 0))
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"score": float})
    return DimensionPoints(frame.sort_values("position", kind="stable", ignore_index=True), apart)


def _by_game(scores: pd.DataFrame) -> Iterator[tuple[str, str, float, int]]:
    """Dimension, game, the mean over its agents, and how many these are: a game is the unit of sampling.

    An agent's score in a game is the weighted mean over propositions of the means over messages.
    """
    whose = ["dimension", "transcript_id", "display_name"]
    means = scores.groupby([*whose, "proposition_id"], sort=False).agg({"score": "mean", "weight": "first"})
    means["product"] = means["score"] * means["weight"]
    sums = means.groupby(level=whose, sort=False)[["product", "weight"]].sum()
    sums = sums[sums["weight"] > 0]
    games = (sums["product"] / sums["weight"]).groupby(level=whose[:2], sort=False).agg(["mean", "size"])
    for (dimension, game), mean, agents in zip(games.index, games["mean"], games["size"], strict=True):
        yield str(dimension), str(game), float(mean), int(agents)


def beside_definitions(points: pd.DataFrame) -> dict[str, MetricDefinition]:
    """Definitions of the other series that have values, with axes that fit ``points``."""
    found = {}
    for name, (label, scale, unit_top) in _BESIDE.items():
        values = points.loc[points["metric"] == name, "score"].dropna()
        if len(values):
            high = scale.high if unit_top is None else max(unit_top, float(values.max()))
            found[name] = MetricDefinition(name, label, Scale(scale.name, scale.low, high), math.nan, "1")
    return found


# What each is called, on which scale, and how high its axis reaches at least (None: as high as the scale).
_BESIDE: Mapping[str, tuple[str, Scale, float | None]] = {
    "cost_usd": ("Cost per game", Scale(USD, 0.0, 0.0), COST_LIMIT_USD),
    "cache_hit_rate": ("Cache hit rate", PERCENT, None),
    "words": ("Words per game", Scale(WORDS, 0.0, 0.0), 100.0),
    "most_talkative": ("Words of the most talkative player, times the average", Scale(TIMES, 1.0, 0.0), 2.0),
    "addressed": ("Others that a player addresses", PERCENT, None),
    "answered": ("Players that answer who addresses them", PERCENT, None),
    "role_mafia": ("Role consistency, Mafia", PERCENT, None),
    "role_town": ("Role consistency, town", PERCENT, None),
}


def beside_points(store: Store) -> pd.DataFrame:
    """Cost, cache hits, and role consistency by side, game by game.

    Returns:
        One row per game and figure, in the columns of ``queries.trend_points``; NaN where it is not known. Cost in US
        dollars, rates in percent. Games of no iteration come last, as a group of their own.
    """
    with store.unit():
        summaries = store.transcripts.summaries()
        places = {one.name: place for place, one in enumerate(store.iterations.list(), start=1)}
        by_side, judges = side_scores(store), store.results.judges()
    rows = []
    for row in summaries.to_dict("records"):
        key, iteration = str(row["transcript_id"]), row["iteration"]
        figures = {
            "cost_usd": row["total_usd"],
            "cache_hit_rate": row["cache_hit_rate"] * 100,
            "role_mafia": by_side.get((key, "mafia")),
            "role_town": by_side.get((key, "town")),
        }
        place, name = group_of(iteration, row["source_format"], places)
        own = judges.get((key, ROLE_CONSISTENCY.name), ())
        rows += [
            (figure, place, name, row["game"], key, score, "not recorded", 0, own if figure.startswith("role") else ())
            for figure, score in figures.items()
        ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "judges"])
    frame["score"] = frame["score"].astype(float)
    return frame.sort_values("position", kind="stable", ignore_index=True)


def sentence(
    points: pd.DataFrame,
    thresholds: Mapping[str, float],
    references: Mapping[str, str],
    games: Mapping[str, Sequence[Game]] | None = None,
) -> tuple[str, str]:
    """The latest iteration against the thresholds, and against its reference: untrusted text, as it names both.

    Such as "Prompt v4 reaches 6 of 6 thresholds, as many as Prompt v2", and "Engagement waits for the rating of 1 game
    of Prompt v4, so it is not counted. Lower than Prompt v2 on Strategic depth; the Overview tells what could be luck."
    Only what is settled on both sides, and at chance on neither, counts. Games of no iteration are left out.

    Args:
        points: From ``queries.trend_points``.
        thresholds: Today's, by metric.
        references: Name of the iteration that each is compared with, by its name; those that are not shown are left
            out.
        games: All iterations' games by its name, for the reserve on the comparison.
    """
    iterations = points[~points["iteration"].isin(LOOSE)].groupby("position")
    shown = {str(one["iteration"].iloc[0]): one for _, one in iterations}
    if not shown:
        return _NO_ITERATION.rstrip("."), ""
    name = list(shown)[-1]
    reference = references.get(name, "")
    sides = {one: shown[one] for one in (reference, name) if one in shown}
    means: dict[str, dict[Any, float]] = {
        one: side.dropna(subset=["score"]).groupby("metric")["score"].mean().to_dict() for one, side in sides.items()
    }
    waiting = {metric for side in sides.values() for metric in side.loc[side["status"] == "pending", "metric"]}
    settled = {one for one in thresholds if one not in waiting and all(one in side for side in means.values())}
    reached = {
        one: {metric for metric in settled if side[metric] >= thresholds[metric] - 1e-9} for one, side in means.items()
    }
    passing = set().union(*reached.values())
    at_chance = {
        one: {str(metric) for metric, scores in side.groupby("metric") if metric in passing and _is_at_chance(scores)}
        for one, side in sides.items()
    }
    counting = settled.difference(*at_chance.values())
    told = [*_unsettled(sides, set(thresholds) - settled), not_counted_words(at_chance)]
    told += [reserve_words(*((games or {}).get(one, ()) for one in (reference, name)))]
    count, beside, other = len(reached[name] & counting), "", cut(reference, _LONGEST_NAME)
    if reference in sides and (apart := _apart(*sides.values())):
        told += [
            f"{DEFINITIONS[metric].label} does not compare with {other}: judged {words}."
            for metric, words in apart.items()
        ]
    elif reference in sides:
        more = count - len(reached[reference] & counting)
        beside = f", {abs(more)} {'more' if more > 0 else 'fewer'} than {other}" if more else f", as many as {other}"
        changes = [MetricChange(metric, old, means[name].get(metric, old)) for metric, old in means[reference].items()]
        if lower := [DEFINITIONS[one.metric].label for one in changes if one.difference < 0 and not one.is_none]:
            told.append(f"Lower than {other} on {listed(lower)}; the Overview tells what could be luck.")
    head = f"{cut(name, _LONGEST_NAME)} reaches {count} of {counted(len(counting), 'threshold')}{beside}"
    return head, " ".join(filter(None, told))


def _unsettled(sides: Mapping[str, pd.DataFrame], metrics: Collection[str]) -> Iterator[str]:
    """Sentences on the metrics that a side does not know yet, or not at all."""
    waits = {
        name: counted(count, "game")
        for name, side in sides.items()
        if (count := int(((side["metric"] == ENGAGEMENT.name) & (side["status"] == "pending")).sum()))
    }
    if waits:
        whose = listed([f"{count} of {cut(name, _LONGEST_NAME)}" for name, count in waits.items()])
        yield f"{ENGAGEMENT.label} waits for the rating of {whose}, so it is not counted."
    rest = [one.label for one in DEFINITIONS.values() if one.name in metrics and not (waits and one is ENGAGEMENT)]
    if rest:
        yield f"Not known{' of both' if len(sides) > 1 else ''}, so not counted: {listed(rest)}."


def _is_at_chance(games: pd.DataFrame) -> bool:
    return "control" in games and is_at_chance(games.loc[games["score"].notna(), "control"])


def _apart(*sides: pd.DataFrame) -> dict[str, str]:
    """By metric that was judged by different judges, by whom; see ``apart_words``."""
    games = pd.concat(sides).dropna(subset=["score"])
    if "judges" not in games:
        return {}
    found = {str(metric): apart_words(judges) for metric, judges in games.groupby("metric", sort=False)["judges"]}
    return {metric: words for metric, words in found.items() if words}


_NO_ITERATION = "These games belong to no iteration."


def cost_sentence(points: pd.DataFrame, references: Mapping[str, str]) -> tuple[str, str]:
    """The cost of a game of the latest iteration and of its reference: untrusted text, as it names both.

    Such as "Prompt v4 costs 1.75 USD a game, about as much as Prompt v2", "3 of 3 games are below the goal of 2
    USD, none above 3 USD, which fails a game."

    Args:
        points: From :func:`beside_points`.
        references: As :func:`sentence` takes them.
    """
    costs = points[(points["metric"] == "cost_usd") & ~points["iteration"].isin(LOOSE)]
    if costs.empty:
        return _NO_ITERATION, ""
    means = costs.groupby("iteration", sort=False)["score"].mean().dropna().to_dict()
    name = str(costs.sort_values("position")["iteration"].iloc[-1])
    if name not in means:
        return f"The cost of {cut(name, _LONGEST_NAME)} is not recorded.", ""
    reference = references.get(name, "")
    beside = ""
    if reference in means:
        share = means[name] / means[reference] - 1 if means[reference] else 0.0
        size = "about as much as" if abs(share) < _SAME_COST else "more than" if share > 0 else "less than"
        beside = f", {size} {cut(reference, _LONGEST_NAME)}"
    own = costs.loc[costs["iteration"] == name, "score"].dropna()
    below, dear = int((own < COST_GOAL_USD).sum()), int((own > COST_LIMIT_USD).sum())
    return (
        f"{cut(name, _LONGEST_NAME)} costs {usd_text(means[name])} a game{_known(costs, name)}{beside}",
        f"{below} of {counted(len(own), 'game')} {'is' if below == 1 else 'are'} below the goal of "
        f"{COST_GOAL_USD:g} USD, {dear or 'none'} above {COST_LIMIT_USD:g} USD, which fails a game.",
    )


def _known(costs: pd.DataFrame, iteration: str) -> str:
    known = costs.loc[costs["iteration"] == iteration, "score"].notna()
    return "" if known.all() else f", known of {known.sum()} of {counted(len(known), 'game')}"


def chart_targets(points: pd.DataFrame, metrics: Sequence[str]) -> MarkTargets:
    """Targets of the marks of a chart, by metric: a dot opens its game, or the lowest of its games; a mean all of them.

    Args:
        points: Those of the chart, in the columns of ``queries.trend_points``.
        metrics: The metrics of its rows, or the names of other figures. The kinds of mark are :func:`mark_kinds`.
    """
    found: dict[str, tuple[MarkTarget, ...]] = {}
    # Of all iterations that are shown: the line of the means has a place for those without a score, too.
    names = points.groupby("position")["iteration"].first()
    for metric in metrics:
        scored = points[points["metric"] == metric].dropna(subset=["score"])
        keys = games_of_dots(scored)["transcript_id"]
        games, means = mark_kinds([metric])
        found[games] = tuple(MarkTarget(metric, transcript_id=str(key)) for key in keys)
        found[means] = (
            tuple(MarkTarget(metric, iteration="" if name in LOOSE else name) for name in names) if len(scored) else ()
        )
    return found


def mark_kinds(metrics: Sequence[str]) -> list[str]:
    """The kinds of mark of a chart's traces, in their order: the games and the means of each metric."""
    return [f"{kind}:{metric}" for metric in metrics for kind in ("game", "mean")]


def mean_rows(points: pd.DataFrame, definitions: Mapping[str, MetricDefinition]) -> list[dict[str, object]]:
    """The numbers of a chart: one row per metric and iteration with mean, interval, ends and counts.

    Args:
        points: In the columns of ``queries.trend_points``.
        definitions: The metrics.
    """
    rows = []
    for name, definition in definitions.items():
        for _, group in points[points["metric"] == name].groupby("position"):
            scores = group["score"].dropna()
            row: dict[str, object] = {
                "Metric": definition.label,
                "Iteration": str(group["iteration"].iloc[0]),
                "Mean": score_text(scores.mean() if len(scores) else None, definition.scale),
                "95 % interval": interval_words(mean_interval(scores, limits=definition.scale.limits)),
                "Lowest": score_text(scores.min() if len(scores) else None, definition.scale),
                "Highest": score_text(scores.max() if len(scores) else None, definition.scale),
                "Games": len(scores),
                "Without a score": len(group) - len(scores),
                "Ratings": str(int(group["raters"].sum())) if name == ENGAGEMENT.name else "",
            }
            if "control" in group:
                row["Scrambled copies"] = summarise_controls(group.loc[group["score"].notna(), "control"]).words
            rows.append(row)
    return rows


def mean_matrix(points: pd.DataFrame, definitions: Mapping[str, MetricDefinition]) -> list[dict[str, str]]:
    """The means over the games, a row each figure and a column each iteration; "no score" where no game tells.

    Where some games alone tell, it says how many: "1.76 USD, 2 of 3 games".

    Args:
        points: In the columns of ``queries.trend_points``.
        definitions: The figures.
    """
    names = points.groupby("position")["iteration"].first()
    sums: Any = points.groupby(["metric", "position"])["score"].agg(["mean", "count", "size"]).to_dict("index")
    heads = told_apart({"": "Mean of the games", **{name: name for name in names}})
    return [
        {heads[""]: one.label}
        | {heads[name]: _mean_words(sums.get((metric, place)), one.scale) for place, name in names.items()}
        for metric, one in definitions.items()
    ]


def _mean_words(told: Mapping[str, float] | None, scale: Scale) -> str:
    some = told and 0 < told["count"] < told["size"]
    of = f", {told['count']:.0f} of {told['size']:.0f} games" if told and some else ""
    return f"{score_text(told['mean'] if told else None, scale)}{of}"


def export_frame(games: pd.DataFrame) -> pd.DataFrame:
    """One row per game and metric for a file: ``metric``, ``iteration``, ``position``, ``game``, ``score``, ``status``,
    ``raters`` (0 where nobody rated, and for persona dimensions), ``chance`` (the score by chance), ``companion`` and
    ``control_words``."""
    told = [
        control_words(metric, None if math.isnan(score) else score, control)
        for metric, score, control in zip(games["metric"], games["score"], games["control"], strict=True)
    ]
    columns = ["metric", "iteration", "position", "game", "score", "status", "raters", "chance", "companion"]
    return games[columns].assign(control_words=told)
