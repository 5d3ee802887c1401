"""Reports on one iteration, with everything about it, and on two compared: decision, differences, what moved most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from evaluation.comparison.iterations import NO_COMPARISON, IterationComparison
from evaluation.comparison.movers import Example, Losses
from evaluation.comparison.prompt_diff import is_cut, prompt_diff
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.checklist import CheckState
from evaluation.iterations.iteration import SignOff
from evaluation.iterations.keep_or_revert import IterationSide
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
from evaluation.statistics.comparison import Difference, Outcome
from evaluation.statistics.intervals import mean_interval
from evaluation.statistics.words import detectable_words, difference_cells, difference_sentences, interval_words
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
_LABEL_OF = {name: definition.label for name, definition in DEFINITIONS.items()}
_LABELS = tuple(_LABEL_OF.values())
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
        Section("Can the project move on?", [*_gate(board, sign_offs)]),
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


_NOTES = (
    "Better and worse are said only where Welch's test says so at 5 %: the target of the change alone, the other "
    "metrics (all of them where no target was named) after Holm's adjustment.",
    "Paired p is the sign-flip test's, over games with the same scenario or seed: exact up to 16 pairs, else marked as "
    "drawn. It decides nothing.",
    "What would show, and the games needed, are for 8 of 10 comparisons: at 5 % for the target, at the strictest level "
    "that Holm asks for for the others.",
    "The rubric's keep or revert looks at means alone; it stands beside the words and may disagree with them.",
)
_HEADERS = (
    *("Measure", "Verdict", "Before", "After", "Difference", "Interval", "Effect size d"),
    *("p", "p after Holm", "Paired p", "Would show from", "Games needed"),
)


def comparison_page(found: IterationComparison, made_at: datetime) -> str:
    """The report on two iterations as one HTML document.

    Args:
        found: The comparison, as the Compare page and ``dramaturg compare`` show it.
        made_at: When the report is written (UTC).
    """
    before, after = found.before.iteration, found.after.iteration
    controls = [
        (_LABEL_OF[name], *(side.words or NO_COMPARISON for side in sides))
        for name, sides in found.controls.items()
        if any(side.words for side in sides)
    ]
    beside_chance = Table(
        ("Metric", "Before", "After"), controls, "Games compared with copies in which what counts is destroyed"
    )
    sections = [
        Section("", [*_compared(found)]),
        Section("Keep the change?", [*_decided(found)]),
        Section("Every metric", [_differences(found.comparison.differences)]),
        Section("The differences in words", [*_in_words(found.comparison.differences)]),
        Section("Whether the scores can be told from chance", [beside_chance]),
        Section("What moved the scores most", [*_movers(found)]),
        Section("The prompt, line by line", [*_prompts(before.prompt_text, after.prompt_text)]),
    ]
    return html_page(f"{before.name} compared with {after.name}", sections, made_at, (*READING, *_NOTES))


def _compared(found: IterationComparison) -> Iterator[str]:
    yield f"Before: {_side_words(found.before)}"
    yield f"After: {_side_words(found.after)}"
    if found.after.iteration.change:
        yield f"What was changed: {found.after.iteration.change}"
    if found.pairs:
        yield f"{counted(len(found.pairs), 'pair')} of games with the same scenario or seed."


def _side_words(side: IterationSide) -> str:
    return f"{side.iteration.name} ({counted(len(side.games), 'game')})"


def _decided(found: IterationComparison) -> Iterator[Block]:
    if decision := found.decision:
        yield "By the rubric's rule: ", badge(decision.choice.words), f" against {decision.reference}"
        yield Bullets([*filter(None, (found.other_pair, *found.decision_words))])
        if decision.recorded:
            yield decision.recorded.words
    else:
        yield "There is nothing before the later one to compare it with."
    yield "What the games can show:"
    outcomes = {
        outcome: [_LABEL_OF[one.name] for one in found.comparison.differences if one.outcome is outcome]
        for outcome in Outcome
    }
    words = [f"{status_words(outcome.words)}: {', '.join(labels)}" for outcome, labels in outcomes.items() if labels]
    yield Bullets([*words, *found.coverage_words])


def _differences(found: Sequence[Difference]) -> Table:
    rows = [
        (
            _LABEL_OF[one.name],
            status_words(one.outcome.words),
            *difference_cells(one),
            detectable_words(one),
            "" if one.games_needed is None else str(one.games_needed),
        )
        for one in found
    ]
    return Table(_HEADERS, rows, "After minus before")


def _in_words(found: Sequence[Difference]) -> Iterator[Block]:
    for one in found:
        yield StyledText(_LABEL_OF[one.name], "h3")
        yield Bullets(difference_sentences(one))


def _movers(found: IterationComparison) -> Iterator[Block]:
    if found.movers:
        yield StyledText(
            "Points that a metric lost for a reason, or by a player's messages, over all messages taken together. "
            "Names, numbers and quotations are left out of reasons, so that equal ones count as one.",
            "quiet",
        )
    else:
        yield "No reason and no player cost more points on one side than on the other."
    for one in found.movers:
        yield StyledText(f"{_LABEL_OF[one.metric]}: {'✓' if one.change > 0 else '✗'} {one.change:+.1f} points", "h3")
        yield one.label if one.kind == "reason" else f"Player {one.label}"
        side = "before" if one.change > 0 else "after"
        yield f"{one.before:.1f} points lost before, {one.after:.1f} after. Examples from {side}:"
        yield from lost_points(one.examples)


def _prompts(before: str | None, after: str | None) -> Iterator[Block]:
    if not before or not after:
        yield "A prompt text is stored for one of the two at most."
        return
    if is_cut(before, after):
        yield "Only the first 1,000 lines are compared."
    changed = prompt_diff(before, after)
    yield StyledText(changed, "pre") if changed else "Both prompts are the same, word for word."
