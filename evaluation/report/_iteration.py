"""Report on one iteration: verdict, metrics, tests, decision, checklist, advice, and every game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from evaluation.comparison.movers import Example, Losses
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.checklist import CheckState
from evaluation.iterations.iteration import SignOff
from evaluation.iterations.tests import NO_CHANCE, Game, KnownMean, MetricMean
from evaluation.report.page import (
    Badge,
    Bar,
    Block,
    Bullets,
    MessageQuote,
    Section,
    StyledText,
    Table,
    badge,
    html_page,
    status_words,
)
from evaluation.rubric.advice import advise, nothing_to_fix
from evaluation.rubric.control_words import control_words
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, score_words
from evaluation.rubric.verdict import Scored, Verdict, metric_control, metric_coverage
from evaluation.score import MetricDefinition, status_by
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import interval_words
from evaluation.text.display import cost_text, counted, telling_digits

READING = (
    "A game is the unit of sampling: three games of one prompt are three values, however many messages they hold.",
    "Intervals are 95 %, two-sided: Student's t below 20 games, a bootstrap (BCa) from 20 on. Equal values have none.",
    "A metric that waits for a rating or does not apply has no number and stays out of means.",
    "A bar goes from the lower end of the scale to the upper one; its mark is the threshold.",
)
_METRIC_HEADERS = (
    *("Metric", "Mean", "95 % interval", "Needed", "Status", "Lowest", "Highest"),
    *("Games", "No score", "Rests on", "Beside chance"),
)
_METRICS = tuple(DEFINITIONS.values())
_LABELS = tuple(one.label for one in _METRICS)
_MOST_GAMES = 500


def iteration_page(
    board: Board,
    name: str,
    raters: Mapping[str, int],
    sign_offs: Sequence[SignOff],
    made_at: datetime,
    losses: Mapping[str, Losses] | None = None,
) -> str:
    """The report as one HTML document.

    Args:
        board: All iterations.
        name: Of the one that is reported.
        raters: How many people rated each game, by transcript id; a game that is missing has none.
        sign_offs: Of the iteration, oldest first.
        made_at: When the report is written (UTC).
        losses: Where its failing metrics lose their points, by metric.
    """
    shown = board[name]
    iterations = Table(
        ("Iteration", "Games", "Verdict", *_LABELS, "What was changed"),
        [*map(_iteration_row, board.iterations)],
        "The mean of every metric over all iterations",
    )
    sections = [
        Section("", [*_said(board, shown)]),
        Section("Seven metrics", [*_means(shown, raters)]),
        *([Section("Tests", [*_tests(shown)])] if shown.tests else []),
        Section("Keep the change?", [*_decision(board, shown)]),
        Section("Ready for the next stage?", [*_gate(board, sign_offs)]),
        *([Section("What to change next", [*_advice(shown, losses or {})])] if shown.games else []),
        Section("All iterations", [iterations]),
        *([Section("Every game", [*_games(shown, raters)])] if shown.games else []),
    ]
    if shown.iteration.prompt_text:
        sections.append(Section("The prompt", [StyledText(shown.iteration.prompt_text, "pre")]))
    return html_page(f"Iteration {name}", sections, made_at, READING)


def _said(board: Board, shown: IterationSummary) -> Iterator[Block]:
    held = shown.iteration
    number = 1 + [one.iteration.name for one in board.iterations].index(held.name)
    yield f"Iteration {number} of {len(board.iterations)}, {counted(len(shown.games), 'game')}."
    if held.parent:
        yield f"Changed from: {held.parent}"
    if held.change:
        yield f"What was changed: {held.change}"
    if held.target_metric:
        yield f"Target metric: {DEFINITIONS[held.target_metric].label}"
    yield (*([Badge("baseline")] if held.is_baseline else []), *(_verdict(shown.verdict) if shown.verdict else ()))
    yield Bullets(shown.verdict.reasons if shown.verdict else ())
    rate = shown.cache_hit_rate.mean
    hits = "unknown" if rate is None else f"{100 * rate:.0f} %"
    yield f"Mean cost {_usd_words(shown.cost_usd)}, cache hits {hits}."
    yield Bullets(shown.warnings)


def _verdict(verdict: Verdict) -> tuple[Badge, Badge]:
    return badge(verdict.status), Badge(f"{verdict.passed_count} of 7 metrics pass")


def _usd_words(cost: KnownMean) -> str:
    return "unknown" if cost.mean is None else f"{cost_text(cost.mean)}{cost.partly}"


def _means(shown: IterationSummary, raters: Mapping[str, int]) -> Iterator[Block]:
    rows = [_metric_row(DEFINITIONS[name], mean) for name, mean in shown.means.items()]
    yield Table(_METRIC_HEADERS, rows, "Means over the games of this iteration that have a score")
    given = sum(raters.get(game.transcript_id, 0) for game in shown.games)
    rated = len(shown.means[ENGAGEMENT.name].values)
    yield f"Engagement rests on {counted(given, 'rating')} of {counted(rated, 'game')}."


def _metric_row(definition: MetricDefinition, mean: MetricMean) -> tuple[str | Bar, ...]:
    interval = mean_interval(mean.values, limits=definition.scale.limits)
    limit = mean.threshold
    needed = score_words(definition, limit, 0 if limit == round(limit) else 1)
    ends = [_words(definition, end(mean.values), limit) if mean.values else "" for end in (min, max)]
    return (
        definition.label,
        "no score" if mean.score is None else _bar(definition, mean.score, limit),
        interval_words(interval),
        f"at least {needed}",
        status_words(mean.status),
        *ends,
        str(len(mean.values)),
        str(mean.games - len(mean.values)),
        mean.coverage.words if mean.coverage else "",
        mean.control.words,
    )


def _words(definition: MetricDefinition, score: float, threshold: float) -> str:
    """A score with its unit, and the digits that show why it failed."""
    return score_words(definition, score, telling_digits(score, threshold, 1) if score < threshold else 1)


def _bar(definition: MetricDefinition, score: float, threshold: float, before: str = "", after: str = "") -> Bar:
    words = f"{before}{_words(definition, score, threshold)}{after}"
    return Bar(words, definition.scale.share(score), definition.scale.share(threshold))


def _cell(definition: MetricDefinition, scored: Scored | MetricMean | None, threshold: float) -> str | Bar:
    if scored is None or scored.score is None:
        return "no score"
    coverage = metric_coverage(scored)
    mark = status_words(status_by(scored, threshold))[0]
    return _bar(definition, scored.score, threshold, f"{mark} ", coverage.mark if coverage else "")


def _tests(shown: IterationSummary) -> Iterator[Block]:
    for test in shown.tests:
        yield StyledText(f"Test {test.number}", "h3")
        yield *_verdict(test.verdict), f"{counted(len(test.games), 'game')}, mean cost {_usd_words(test.cost_usd)}"
        if test.warning:
            yield test.warning
        yield Bullets([*test.verdict.reasons, *(one.words for one in test.failures if not one.is_critical)])
        rows = [_metric_row(DEFINITIONS[name], mean)[:5] for name, mean in test.means.items()]
        yield Table(_METRIC_HEADERS[:5], rows, f"Means of test {test.number}")


def _decision(board: Board, shown: IterationSummary) -> Iterator[Block]:
    if decision := shown.decision:
        yield "By the rubric's rule: ", badge(decision.choice.words), f" against {decision.reference}"
        yield Bullets(board.decision_words(shown.iteration.name))
    else:
        yield "There is nothing before it to compare this iteration with."
    if shown.iteration.recorded:
        yield shown.iteration.recorded.words


def _gate(board: Board, sign_offs: Sequence[SignOff]) -> Iterator[Block]:
    gate = board.checklist.gate
    yield "The gate: ", badge(gate, "✓ open" if gate is CheckState.MET else "")
    checks = [(check.label, status_words(check.state), check.measured) for check in board.checklist.checks]
    yield Table(("Criterion", "State", "Measured"), checks, "Over the latest three complete tests of all iterations")
    yield board.chance.words if board.chance else NO_CHANCE
    if sign_offs:
        yield StyledText("Sign-offs of this iteration", "h3")
        yield Bullets([made.words for made in sign_offs])


def _advice(shown: IterationSummary, losses: Mapping[str, Losses]) -> Iterator[Block]:
    advice = advise(shown.means, shown.cost_usd.mean)
    yield "One change at a time." if advice else nothing_to_fix(shown.means)
    for one in advice:
        yield StyledText(f"{one.label}: {one.finding}", "h3")
        yield Bullets(one.actions)
        if lost := losses.get(one.about):
            yield lost.words
            yield from lost_points(lost.examples)


def lost_points(examples: Sequence[Example]) -> Iterator[MessageQuote]:
    """Messages that lost points, with the metric's reason."""
    for one in examples:
        text = f"{one.player}: {one.text}" if one.text else ""
        yield MessageQuote(f"{one.game}, {one.message_id or one.player}", text, one.reason)


def _iteration_row(one: IterationSummary) -> tuple[str | Bar, ...]:
    return (
        one.iteration.name,
        str(len(one.games)),
        status_words(one.verdict.status) if one.verdict else "",
        *(_cell(DEFINITIONS[name], mean, mean.threshold) for name, mean in one.means.items()),
        one.iteration.change,
    )


def _games(shown: IterationSummary, raters: Mapping[str, int]) -> Iterator[Block]:
    listed = shown.games[:_MOST_GAMES]
    rows = [
        (
            game.name,
            *(_cell(one, game.metrics.get(one.name), shown.means[one.name].threshold) for one in _METRICS),
            str(raters.get(game.transcript_id, 0)),
            "unknown" if game.total_usd is None else cost_text(game.total_usd),
        )
        for game in listed
    ]
    yield Table(("Game", *_LABELS, "Raters", "Cost"), rows, "Every game in the order of playing")
    beside = [(game.name, *(_chance_words(game, one.name) for one in _METRICS)) for game in listed]
    yield Table(("Game", *_LABELS), beside, "What every score of these games is beside chance")
    if more := len(shown.games) - len(listed):
        yield StyledText(f"{more:,} more games are not listed; all of them are in the means.", "quiet")


def _chance_words(game: Game, metric: str) -> str:
    scored = game.metrics.get(metric)
    return "" if scored is None else control_words(metric, scored.score, metric_control(scored))
