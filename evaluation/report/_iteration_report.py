"""Report on one iteration: verdict, metrics, tests, decision, checklist, advice, and every game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from evaluation.comparison.lost_points import Losses
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.checklist import CheckState
from evaluation.iterations.edit_history import SignOff
from evaluation.iterations.pass_probability import Chance
from evaluation.iterations.tests import Game, GameTest, KnownMean, MetricMean
from evaluation.report._html import Html, bullets, escaped, page, section, table, tag
from evaluation.report.svg import figure, strip_svg
from evaluation.report.words import (
    METRICS,
    badge,
    chart_words,
    how_to_read,
    limits_of,
    lines,
    mean_words,
    needed_words,
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
from evaluation.text.display import counted

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
    return page(
        f"Iteration {shown.iteration.name}",
        _head(facts),
        section("Seven metrics", _metric_table(facts), *_charts(board)),
        section("Tests", *map(_test, shown.tests)) if shown.tests else None,
        _decision(board, shown),
        _gate(facts),
        _advice(facts),
        section("All iterations", _iterations(board)),
        section("Every game", *_games(facts)) if shown.games else None,
        section("The prompt", tag("pre", escaped(shown.iteration.prompt_text)))
        if shown.iteration.prompt_text
        else None,
        how_to_read(facts.made_at),
    )


def _head(facts: IterationFacts) -> Html:
    shown, held = facts.shown, facts.shown.iteration
    number = 1 + [one.iteration.name for one in facts.board.iterations].index(held.name)
    said = [f"Iteration {number} of {len(facts.board.iterations)}, {counted(len(shown.games), 'game')}."]
    said += [f"Changed from: {held.parent}"] if held.parent else []
    said += [f"What was changed: {held.change}"] if held.change else []
    said += [f"It shall raise: {DEFINITIONS[held.target_metric].label}"] if held.target_metric else []
    verdict = shown.verdict
    reasons = bullets(verdict.reasons) if verdict else Html("")
    badges = [badge("", "baseline")] if held.is_baseline else []
    if verdict:
        badges += [badge(verdict.status), badge("", f"{verdict.passed_count} of 7 metrics pass")]
    cost = f"Mean cost {usd_words(shown.cost_usd)}, cache hits {rate_words(shown.cache_hit_rate)}."
    return tag("div", *lines(said), tag("p", *badges), reasons, tag("p", cost), bullets(shown.warnings))


def _metric_table(facts: IterationFacts) -> Html:
    headers = (
        "Metric",
        "Mean",
        "95 % interval",
        "Needed",
        "Status",
        "Lowest",
        "Highest",
        "Games",
        "No score",
        "Rests on",
        "Beside chance",
    )
    rows = [_metric_row(DEFINITIONS[name], mean) for name, mean in facts.shown.means.items()]
    raters = sum(facts.raters.get(game.transcript_id, 0) for game in facts.shown.games)
    rated = len(facts.shown.means[ENGAGEMENT.name].values)
    note = f"Engagement rests on {counted(raters, 'rating')} of {counted(rated, 'game')}."
    return tag("div", table(headers, rows, "Means over the games of this iteration that have a score"), tag("p", note))


def _metric_row(definition: MetricDefinition, mean: MetricMean) -> tuple[str, ...]:
    interval = mean_interval(mean.values, limits=limits_of(definition))
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


def _charts(board: Board) -> Iterator[Html]:
    drawn = board.iterations[-_MOST_CHARTED:]
    if len(drawn) < len(board.iterations):
        yield tag("p", f"The charts show the latest {_MOST_CHARTED} iterations.", class_="quiet")
    figures = []
    for definition in METRICS:
        strips = []
        for one in drawn:
            scored = [(_score(game, definition.name), game.game_id) for game in one.games]
            known = [(score, name) for score, name in scored if score is not None]
            values, names = [score for score, _ in known], [name for _, name in known]
            strips.append(strip_of(one.iteration.name, definition, values, names))
        threshold = drawn[-1].means[definition.name].threshold
        words = chart_words(definition, strips, threshold)
        figures.append(figure(strip_svg(strips, definition.scale, threshold, definition.label, words), ""))
    yield tag("div", *figures, class_="grid")


def _score(game: Game, metric: str) -> float | None:
    scored = game.metrics.get(metric)
    return None if scored is None else scored.score


def _test(test: GameTest) -> Html:
    cost = f"{counted(len(test.games), 'game')}, mean cost {usd_words(test.cost_usd)}"
    rows = [_metric_row(DEFINITIONS[name], mean)[:5] for name, mean in test.means.items()]
    return tag(
        "div",
        tag("h3", f"Test {test.number}"),
        tag("p", badge(test.verdict.status), badge("", f"{test.verdict.passed_count} of 7 pass"), cost),
        tag("p", test.warning) if test.warning else None,
        bullets(test.verdict.reasons),
        bullets([failure.words for failure in test.failures if not failure.is_critical]),
        table(("Metric", "Mean", "95 % interval", "Needed", "Status"), rows, f"Means of test {test.number}"),
    )


def _decision(board: Board, shown: IterationSummary) -> Html:
    decision, made = shown.decision, shown.iteration.recorded
    recorded = [tag("p", made.words)] if made else []
    if decision is None:
        nothing = tag("p", "There is nothing before it to compare this iteration with.")
        return section("Keep the change?", nothing, *recorded)
    return section(
        "Keep the change?",
        tag("p", "By the rubric's rule: ", badge(decision.choice), f" against {decision.reference}"),
        bullets(board.decision_words(shown.iteration.name)),
        *recorded,
    )


def _gate(facts: IterationFacts) -> Html:
    board = facts.board
    gate = board.checklist.gate
    rows = [(check.label, status_words(check.state), check.measured) for check in board.checklist.checks]
    record = [
        f"{made.who} {'withdrew the sign-off' if made.is_withdrawal else 'signed off'} on {made.at:%Y-%m-%d at %H:%M} "
        f"UTC{f': {made.note}' if made.note else ''}"
        for made in facts.sign_offs
    ]
    return section(
        "Ready for the next stage?",
        tag("p", "The gate: ", badge(gate, "✓ open" if gate is CheckState.MET else status_words(gate))),
        table(("Criterion", "State", "Measured"), rows, "Over the latest three complete tests of all iterations"),
        tag("p", chance_words(board.chance)),
        tag("h3", "Sign-offs of this iteration") if record else None,
        bullets(record),
    )


def chance_words(chance: Chance | None) -> str:
    """The chance that the next three tests pass, with its interval."""
    if chance is None:
        return "Chance that the next three tests all pass: unknown, no test is decided yet."
    return (
        f"Chance that the next three tests all pass: {100 * chance.value:.0f} % (95 % interval "
        f"{100 * chance.low:.0f} to {100 * chance.high:.0f} %), from {chance.passed} of "
        f"{counted(chance.tests, 'decided test')} passed."
    )


def _advice(facts: IterationFacts) -> Html | None:
    shown = facts.shown
    given = advise(shown.means, shown.cost_usd.mean)
    if not given:
        return section("What to change next", tag("p", nothing_to_fix(shown.means))) if shown.games else None
    parts = [
        tag(
            "div", tag("h3", f"{one.label}: {one.finding}"), bullets(one.actions), *_losses(facts.losses.get(one.about))
        )
        for one in given
    ]
    return section("What to change next", tag("p", "One change at a time."), *parts)


def _losses(found: Losses | None) -> Iterator[Html]:
    if found is None:
        return
    yield tag("p", found.words)
    for example in found.examples:
        yield tag(
            "blockquote",
            tag("p", f"{example.game_id}, {example.message_id or example.player}", class_="quiet"),
            *lines([f"{example.player}: {example.text}"] if example.text else []),
            tag("p", example.reason),
        )


def _iterations(board: Board) -> Html:
    headers = ("Iteration", "Games", "Verdict", *(definition.label for definition in METRICS), "What was changed")
    rows = [
        (
            one.iteration.name,
            str(len(one.games)),
            status_words(one.verdict.status) if one.verdict else "",
            *(_cell(DEFINITIONS[name], mean, mean.threshold) for name, mean in one.means.items()),
            one.iteration.change,
        )
        for one in board.iterations
    ]
    return table(headers, rows, "The mean of every metric over all iterations")


def _games(facts: IterationFacts) -> Iterator[Html]:
    thresholds = {name: mean.threshold for name, mean in facts.shown.means.items()}
    headers = ("Game", *(definition.label for definition in METRICS), "Raters", "Cost")
    listed = facts.shown.games[:_MOST_GAMES]
    rows = [
        (
            game.game_id,
            *(_cell(one, game.metrics.get(one.name), thresholds[one.name]) for one in METRICS),
            str(facts.raters.get(game.transcript_id, 0)),
            "unknown" if game.total_usd is None else f"{game.total_usd:.2f} USD",
        )
        for game in listed
    ]
    yield table(headers, rows, "Every game in the order of playing")
    yield table(
        ("Game", *(one.label for one in METRICS)),
        [(game.game_id, *(_chance_cell(game, one.name) for one in METRICS)) for game in listed],
        "What every score of these games is beside chance",
    )
    left_out = len(facts.shown.games) - len(rows)
    if left_out:
        yield tag("p", f"{left_out:,} more games are not listed; all of them are in the means.", class_="quiet")


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
    partly = "" if cost.is_complete else f" (recorded for {cost.known} of {cost.games})"
    return f"{cost.mean:.{2 if cost.mean >= 0.1 or not cost.mean else 4}f} USD{partly}"


def rate_words(rate: KnownMean) -> str:
    """A mean rate in percent, or that nothing was recorded."""
    return "unknown" if rate.mean is None else f"{100 * rate.mean:.0f} %"
