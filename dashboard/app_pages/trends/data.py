"""Data for the Trends page, ready to draw: games, iterations, persona dimensions.

Independent of Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.answer import Fact
from dashboard.shared.charts.metric_charts import games_of_dots, verdict_words
from dashboard.shared.clicked_marks import MarkTarget, MarkTargets
from dashboard.shared.comparison_tables import METRIC_LABELS, signed
from dashboard.shared.formatting import TIMES, USD, WORDS, decided_words, score_text, told_apart, usd_text
from dashboard.shared.queries import LOOSE, group_of
from evaluation.comparison.iterations import IterationComparison
from evaluation.comparison.runs import Run, of_one_judge, runs_apart_words
from evaluation.escaping import cut
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.checklist import COST_GOAL_USD
from evaluation.iterations.game_tests import LONGEST_NAME
from evaluation.judged_by import apart_words
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.rubric.at_chance import control_words, summarise_controls
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, ROLE_CONSISTENCY
from evaluation.rubric.verdict import COST_LIMIT_USD
from evaluation.score import PERCENT, MetricDefinition, Scale
from evaluation.statistics.comparison import Comparison, Difference, Measure, Outcome, compare
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import change_of, interval_words, outcome_counts, sizes_words, stricter_words
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

COLUMNS = ("metric", "position", "iteration", "game", "transcript_id", "score", "status", "raters")
"""What every game of a chart has, a row for each figure."""


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
            high = scale.high if unit_top is None else _rounded_up(max(unit_top, float(values.max())))
            found[name] = MetricDefinition(name, label, Scale(scale.name, scale.low, high), math.nan, "1")
    return found


def _rounded_up(value: float) -> float:
    """The next value of one digit: 1,493 to 2,000."""
    step = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / step) * step


# What each is called, on which scale, and how high its axis reaches at least (None: as high as the scale).
_BESIDE: Mapping[str, tuple[str, Scale, float | None]] = {
    "cost_usd": ("Cost per game", Scale(USD, 0.0, 0.0), COST_LIMIT_USD),
    "cache_hit_rate": ("Cache hit rate", PERCENT, None),
    "words": ("Words per game", Scale(WORDS, 0.0, 0.0), 100.0),
    "most_talkative": ("Most talkative, times the average", Scale(TIMES, 1.0, 0.0), 2.0),
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


def ends(shown: Sequence[IterationSummary]) -> tuple[str, str] | None:
    """The first and the last iteration that has games and was not reverted: what trends compare, and lines join.

    ``None`` unless there are two.
    """
    names = [one.iteration.name for one in shown if one.games and not one.iteration.is_reverted]
    return (names[0], names[-1]) if len(names) > 1 else None


def step_pairs(board: Board, shown: Sequence[IterationSummary]) -> list[tuple[str, str]]:
    """Each shown iteration with games behind its reference, as the Overview compares them."""
    return [
        (one.decision.reference, one.iteration.name)
        for one in shown
        if one.games and one.decision and board[one.decision.reference].games
    ]


def step_rows(
    shown: Sequence[IterationSummary], compared: Mapping[tuple[str, str], IterationComparison]
) -> list[dict[str, object]]:
    """Changes beyond luck and the decision of each iteration, the latest first; ``compared`` as in ``step_pairs``."""
    of = {name: (reference, found) for (reference, name), found in compared.items()}
    rows: list[dict[str, object]] = []
    for one in reversed(shown):
        reference, found = of.get(one.iteration.name, ("", None))
        moved = [
            f"{signed(each.outcome, METRIC_LABELS[each.name])} {change_of(each)}"
            for each in (found.comparison.values() if found else ())
            if each.outcome.is_beyond_luck
        ]
        moved += found.fallen_companions.values() if found else ()
        rows.append(
            {
                "Iteration": one.iteration.name,
                "Against": reference,
                "Beyond luck": ", ".join(moved) or "nothing" * bool(found),
                "Decision": decided_words(one),
                "Change": one.iteration.change,
            }
        )
    return rows


def sentence(shown: Sequence[IterationSummary], pair: IterationComparison | None) -> tuple[str, str, list[Fact]]:
    """The metrics that got better or worse from the first iteration to the last, and what is chance: untrusted text.

    Such as "Prompt v1 to Prompt v4: 1 metric better, none worse beyond luck", and "Better beyond luck: Strategic depth
    (+7.5 points, true change +1.2 to +13.8); the other 6 could be luck. Reverted and left out: Prompt v3."

    Args:
        shown: The iterations that are shown.
        pair: The comparison of their :func:`ends`, without what the person must not see; ``None`` where there is none.

    Returns:
        Headline, sentences, and the number of games on both sides, with how sure their difference is, before what fell
        beyond luck beside a score.
    """
    gone = [cut(one.iteration.name, LONGEST_NAME) for one in shown if one.iteration.is_reverted]
    left = f"Reverted and left out: {listed(gone)}." if gone else ""
    if pair is None:
        return "Nothing to compare yet: it takes games of two versions that are not reverted", left, []
    before, after = (cut(side.name, LONGEST_NAME) for side in (pair.before, pair.after))
    sizes = len(pair.after.games), len(pair.before.games)
    if min(sizes) < 2:
        said = f"{sizes_words(*sizes)}: a test takes two games on each side, a decision three."
        return f"{before} to {after}: nothing can be tested yet", f"{said} {left}".rstrip(), []
    told: dict[str, list[str]] = {Outcome.BETTER.words: [], Outcome.WORSE.words: []}
    others = []
    for one in pair.comparison.values():
        if one.outcome.is_beyond_luck:
            told[one.words].append(_moved(one))
        elif one.outcome is Outcome.UNTESTABLE:
            told.setdefault(f"{one.words} ({one.welch.reason})", []).append(DEFINITIONS[one.name].label)
        else:
            others.append(one.words)
    better, worse, *_ = map(len, told.values())
    head = (
        f"{before} to {after}: {better or 'no'} {'metrics' if better > 1 else 'metric'} better, {worse or 'none'} worse"
    )
    moved = [f"{words}: {listed(labels)}" for words, labels in told.items() if labels]
    words = outcome_counts(moved, others)
    said = f"{words[0].upper()}{words[1:]}."
    alone = next((DEFINITIONS[one.name].label for one in pair.comparison.values() if one.is_primary), "")
    fact = Fact(sizes_words(*sizes), why=stricter_words(alone))
    fallen = [Fact(words, "red") for words in pair.fallen_companions.values()]
    return f"{head} beyond luck", " ".join(filter(None, (said, left, pair.reserve))), [fact, *fallen]


def _moved(one: Difference) -> str:
    true = interval_words(one.deciding_interval, signed=True)
    return f"{DEFINITIONS[one.name].label} ({change_of(one)}, true change {true})"


def figure_differences(points: pd.DataFrame, between: tuple[str, str]) -> Comparison:
    """The difference of each figure between two iterations.

    Args:
        points: In the columns of ``queries.trend_points``.
        between: Their names, the reference first.
    """
    sides = [points[points["iteration"] == name] for name in between]
    apart = _apart(*sides)
    measures = {}
    for name in map(str, points["metric"].unique()):
        before, after = (side.loc[side["metric"] == name, "score"].tolist() for side in sides)
        measures[name] = Measure(before, after, apart=apart.get(name, ""))
    return compare(measures)


def _apart(*sides: pd.DataFrame) -> dict[str, str]:
    """By metric that was judged by different judges, by whom; see ``apart_words``."""
    games = pd.concat(sides).dropna(subset=["score"])
    if "judges" not in games:
        return {}
    found = {str(metric): apart_words(judges) for metric, judges in games.groupby("metric", sort=False)["judges"]}
    return {metric: words for metric, words in found.items() if words}


def cost_sentence(
    points: pd.DataFrame, between: tuple[str, str] | None, found: Mapping[str, Difference]
) -> tuple[str, str]:
    """The cost of a game of the last iteration and of its reference: untrusted text, as it names both.

    Such as "Prompt v4 costs 1.75 USD a game, 1.07 USD less than Prompt v1, beyond luck", "3 of 3 games are below the
    goal of 2 USD, none above 3 USD, which fails a game."

    Args:
        points: From :func:`beside_points`.
        between: The last of the :func:`step_pairs`.
        found: Their :func:`figure_differences`.
    """
    costs = points[(points["metric"] == "cost_usd") & ~points["iteration"].isin(LOOSE)]
    if costs.empty:
        return "These games belong to no iteration.", ""
    means = costs.groupby("iteration", sort=False)["score"].mean().dropna().to_dict()
    first, name = between or ("", str(costs.sort_values("position")["iteration"].iloc[-1]))
    if name not in means:
        return f"The cost of {cut(name, LONGEST_NAME)} is not recorded.", ""
    beside = ""
    if first in means and (change := means[name] - means[first]):
        size = f"{usd_text(abs(change))} {'more' if change > 0 else 'less'} than"
        beside = f", {size} {cut(first, LONGEST_NAME)}, {verdict_words(found['cost_usd'])}"
    own = costs.loc[costs["iteration"] == name, "score"].dropna()
    below, dear = int((own < COST_GOAL_USD).sum()), int((own > COST_LIMIT_USD).sum())
    return (
        f"{cut(name, LONGEST_NAME)} costs {usd_text(means[name])} a game{_known(costs, name)}{beside}",
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
