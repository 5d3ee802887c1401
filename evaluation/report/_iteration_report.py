"""Report on one iteration: verdict, metrics, tests, decision, checklist, advice, and every game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from evaluation.comparison.lost_points import Losses
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.checklist import CheckState
from evaluation.iterations.edit_history import SignOff
from evaluation.iterations.pass_probability import NO_CHANCE
from evaluation.iterations.tests import Game, GameTest, KnownMean, MetricMean
from evaluation.report.svg import strip_svg
from evaluation.report.words import (
    METRICS,
    Badge,
    badge,
    chart_words,
    mean_words,
    needed_words,
    report_page,
    status_words,
    strip_of,
)
from evaluation.rubric.advice import advise, nothing_to_fix
from evaluation.rubric.controls import control_words
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import Scored, metric_control, metric_coverage
from evaluation.score import MetricDefinition, status_by
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import interval_words
from evaluation.text.display import cost_text, counted

if TYPE_CHECKING:
    from markupsafe import Markup

_METRIC_HEADERS = (
    *("Metric", "Mean", "95 % interval", "Needed", "Status", "Lowest", "Highest"),
    *("Games", "No score", "Rests on", "Beside chance"),
)
_MOST_CHARTED = 40
_MOST_GAMES = 500


@dataclass(frozen=True, slots=True)
class IterationFacts:
    """Data of the report on an iteration.

    Attributes:
        board: All iterations.
        name: Of the one that is reported.
        raters: How many people rated each game, by transcript id; a game that is missing has none.
        sign_offs: Of the iteration, oldest first.
        made_at: When the report is written (UTC).
        losses: Where its failing metrics lose their points, by metric.
    """

    board: Board
    name: str
    raters: Mapping[str, int]
    sign_offs: Sequence[SignOff]
    made_at: datetime
    losses: Mapping[str, Losses] = field(default_factory=dict)

    @property
    def shown(self) -> IterationSummary:
        """The iteration that is reported."""
        return next(one for one in self.board.iterations if one.iteration.name == self.name)


def iteration_page(facts: IterationFacts) -> str:
    """The report as one HTML document."""
    shown, board = facts.shown, facts.board
    rated = len(shown.means[ENGAGEMENT.name].values)
    raters = sum(facts.raters.get(game.transcript_id, 0) for game in shown.games)
    labels, gate = [definition.label for definition in METRICS], board.checklist.gate
    listed = shown.games[:_MOST_GAMES]
    return report_page(
        "iteration.html.j2",
        f"Iteration {shown.iteration.name}",
        facts.made_at,
        board=board,
        shown=shown,
        said=_said(facts),
        badges=_badges(shown),
        cost=f"Mean cost {usd_words(shown.cost_usd)}, cache hits {rate_words(shown.cache_hit_rate)}.",
        metric_headers=_METRIC_HEADERS,
        metric_rows=[_metric_row(DEFINITIONS[name], mean) for name, mean in shown.means.items()],
        rated=f"Engagement rests on {counted(raters, 'rating')} of {counted(rated, 'game')}.",
        most_charted=_MOST_CHARTED,
        charts=list(_charts(board)),
        tests=[*map(_test, shown.tests)],
        choice=badge(shown.decision.choice) if shown.decision else None,
        gate=badge(gate, "✓ open" if gate is CheckState.MET else ""),
        checks=[(check.label, status_words(check.state), check.measured) for check in board.checklist.checks],
        chance=board.chance.words if board.chance else NO_CHANCE,
        sign_offs=[made.words for made in facts.sign_offs],
        advice=advise(shown.means, shown.cost_usd.mean),
        nothing_to_fix=nothing_to_fix(shown.means),
        losses=facts.losses,
        iteration_headers=("Iteration", "Games", "Verdict", *labels, "What was changed"),
        iteration_rows=[*map(_iteration_row, board.iterations)],
        game_headers=("Game", *labels, "Raters", "Cost"),
        game_rows=[_game_row(game, facts) for game in listed],
        chance_headers=("Game", *labels),
        chance_rows=[(game.game_id, *(_chance_cell(game, one.name) for one in METRICS)) for game in listed],
    )


def _said(facts: IterationFacts) -> list[str]:
    shown, held = facts.shown, facts.shown.iteration
    number = 1 + [one.iteration.name for one in facts.board.iterations].index(held.name)
    said = [f"Iteration {number} of {len(facts.board.iterations)}, {counted(len(shown.games), 'game')}."]
    said += [f"Changed from: {held.parent}"] if held.parent else []
    said += [f"What was changed: {held.change}"] if held.change else []
    return said + ([f"Target metric: {DEFINITIONS[held.target_metric].label}"] if held.target_metric else [])


def _badges(shown: IterationSummary) -> list[Badge]:
    badges = [Badge("baseline")] if shown.iteration.is_baseline else []
    if shown.verdict:
        badges += [badge(shown.verdict.status), Badge(f"{shown.verdict.passed_count} of 7 metrics pass")]
    return badges


def _metric_row(definition: MetricDefinition, mean: MetricMean) -> tuple[str, ...]:
    interval = mean_interval(mean.values, limits=definition.scale.limits)
    ends = [mean_words(definition, end(mean.values), mean.threshold) if mean.values else "" for end in (min, max)]
    return (
        definition.label,
        mean_words(definition, mean.score, mean.threshold),
        interval_words(interval),
        needed_words(definition, mean.threshold),
        status_words(mean.status),
        *ends,
        str(len(mean.values)),
        str(mean.games - len(mean.values)),
        mean.coverage.words if mean.coverage else "",
        mean.control.words,
    )


def _charts(board: Board) -> Iterator[Markup]:
    drawn = board.iterations[-_MOST_CHARTED:]
    for definition in METRICS:
        strips = []
        for one in drawn:
            scored = [(_score(game, definition.name), game.game_id) for game in one.games]
            known = [(score, name) for score, name in scored if score is not None]
            values, names = [score for score, _ in known], [name for _, name in known]
            strips.append(strip_of(one.iteration.name, definition, values, names))
        threshold = drawn[-1].means[definition.name].threshold
        words = chart_words(definition, strips, threshold)
        yield strip_svg(strips, definition.scale, threshold, definition.label, words)


def _score(game: Game, metric: str) -> float | None:
    scored = game.metrics.get(metric)
    return None if scored is None else scored.score


def _test(test: GameTest) -> tuple[object, ...]:
    badges = badge(test.verdict.status), Badge(f"{test.verdict.passed_count} of 7 pass")
    cost = f"{counted(len(test.games), 'game')}, mean cost {usd_words(test.cost_usd)}"
    return test, badges, cost, [_metric_row(DEFINITIONS[name], mean)[:5] for name, mean in test.means.items()]


def _iteration_row(one: IterationSummary) -> tuple[str, ...]:
    return (
        one.iteration.name,
        str(len(one.games)),
        status_words(one.verdict.status) if one.verdict else "",
        *(_cell(DEFINITIONS[name], mean, mean.threshold) for name, mean in one.means.items()),
        one.iteration.change,
    )


def _game_row(game: Game, facts: IterationFacts) -> tuple[str, ...]:
    means = facts.shown.means
    return (
        game.game_id,
        *(_cell(one, game.metrics.get(one.name), means[one.name].threshold) for one in METRICS),
        str(facts.raters.get(game.transcript_id, 0)),
        "unknown" if game.total_usd is None else cost_text(game.total_usd),
    )


def _cell(definition: MetricDefinition, scored: Scored | MetricMean | None, threshold: float) -> str:
    if scored is None or scored.score is None:
        return "no score"
    mark = status_words(status_by(scored, threshold))[0]
    coverage = metric_coverage(scored)
    return f"{mark} {mean_words(definition, scored.score, threshold)}" + (f" ({coverage.mark})" if coverage else "")


def _chance_cell(game: Game, metric: str) -> str:
    scored = game.metrics.get(metric)
    return "" if scored is None else control_words(metric, scored.score, metric_control(scored))


def usd_words(cost: KnownMean) -> str:
    """A mean cost in US dollars, and over how many games it was recorded."""
    if cost.mean is None:
        return "unknown"
    return f"{cost_text(cost.mean)}{cost.partly}"


def rate_words(rate: KnownMean) -> str:
    """A mean rate in percent, or that nothing was recorded."""
    return "unknown" if rate.mean is None else f"{100 * rate.mean:.0f} %"
