"""Results and the board of iterations as tables, Markdown and JSON, and warnings where versions are mixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evaluation.cli.options import OutputFormat
from evaluation.cli.terminal import note, say, table
from evaluation.comparison.movers import Losses
from evaluation.escaping import code, json_text, markdown_table, safe, shortened
from evaluation.iterations.board import Board, IterationSummary, VersionMix, version_mixes
from evaluation.iterations.game_tests import NO_CHANCE, GameTest, MetricMean
from evaluation.iterations.keep_or_revert import Decision
from evaluation.rubric.advice import COST, advise, nothing_to_fix
from evaluation.rubric.at_chance import control_words, not_compared_words
from evaluation.rubric.definitions import DEFINITIONS, SHORT_LABELS, VERSIONS, score_words
from evaluation.rubric.verdict import has_low_evidence, marked_status
from evaluation.score import AT_CHANCE, PERCENT, Status
from evaluation.text.display import counted, dollars, picked_data

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation
    from evaluation.rubric.verdict import Scored
    from evaluation.score import MetricResult
    from evaluation.store import Store


HEADERS = ("Id", "Game", *SHORT_LABELS.values(), "Passed", "Verdict")

_ID_DIGITS = 8
_LONGEST_NAME = 30
_SYMBOLS = {Status.PASSED: "✓", f"{Status.PASSED}_low_evidence": "✓", AT_CHANCE: "≈", "passed_not_compared": "…"}


def score_cell(name: str, metric: Scored | None) -> str:
    """A score in a table: "85.0 ✓", "100.0 ✓ (3/3), low evidence", "pending", "n/a"; "error" where it failed."""
    if metric is None:
        return "error"
    if metric.score is None:
        return "pending" if metric.status is Status.PENDING else "n/a"
    digits = 1 if DEFINITIONS[name].scale == PERCENT else 2
    coverage = metric.coverage
    mark = coverage.mark if coverage else ""
    return f"{metric.score:.{digits}f} {_SYMBOLS.get(marked_status(name, metric), '✗')}{mark}"


def print_evaluations(evaluations: Iterable[Evaluation], output: OutputFormat) -> None:
    """Prints evaluations as they come (JSON), or once all are known (the widths of a table's columns need them all)."""
    if output == "json":
        print_json_list(evaluation.as_dict() for evaluation in evaluations)
    elif text := "\n".join(_text(evaluations, is_markdown=output == "markdown")):
        say(text)


def _text(evaluations: Iterable[Evaluation], *, is_markdown: bool) -> Iterator[str]:
    # In Markdown a reason or a name, which may quote the transcript, stands where nothing becomes a link.
    words, draw = (code, markdown_table) if is_markdown else (safe, table)
    bullet, strong, gap = ("- ", "**", [""]) if is_markdown else ("", "", [])
    # Only what is shown is held until the end, not the ledgers.
    rows, verdicts, controls = list[Sequence[str]](), list[str](), list[str]()
    for one in evaluations:
        name, verdict = words(one.transcript.id[:_ID_DIGITS]), one.verdict
        game = words(shortened(one.transcript.game_id, _LONGEST_NAME))
        scores = [score_cell(metric, one.metrics.get(metric)) for metric in DEFINITIONS]
        rows.append((name, game, *scores, verdict.passes, str(verdict.status)))
        verdicts.append(f"{bullet}{name} {strong}{verdict.status}{strong}: {words(' '.join(verdict.reasons))}")
        told = [
            f"{SHORT_LABELS[metric]} {said}"
            for metric, result in one.metrics.items()
            if result.control is not None and (said := control_words(metric, result.score, result.control))
        ]
        controls += [f"{bullet}{name} {safe('; '.join(told))}"] if told else []
    if rows:
        yield from (draw(HEADERS, rows), "", *verdicts)
    if controls:
        yield from ("", "Beside chance:", *gap, *controls)


def print_json_list(objects: Iterable[Any]) -> None:
    """A JSON list, written object by object, so that memory does not grow with it."""
    separator = "["
    for each in objects:
        say(separator + json_text(each))
        separator = ","
    say("]" if separator == "," else "[]")


def metric_rows(evaluation: Evaluation) -> Iterator[tuple[str, ...]]:
    """Label, score, threshold, what the score is made of, and remarks, one row per metric."""
    failures = {failure.metric: failure.why for failure in evaluation.failures}
    for name, definition in DEFINITIONS.items():
        metric = evaluation.metrics.get(name)
        if metric is None:
            remark = f"could not be computed: {failures[name]}" if name in failures else "not computed yet"
            yield definition.label, score_cell(name, None), "", "", remark
            continue
        beside = control_words(name, metric.score, metric.control)
        remarks = "; ".join(filter(None, (metric.reason, *metric.remarks, beside)))
        yield definition.label, score_cell(name, metric), f"{metric.threshold:g}", made_of(metric), remarks


def made_of(metric: MetricResult) -> str:
    """The two numbers behind a score: "17 of 20", or "9 by 3 raters" for a mean; empty without a denominator."""
    if not metric.denominator:
        return ""
    if metric.definition.scale == PERCENT:
        return f"{metric.numerator:g} of {metric.denominator:g}"
    return f"{metric.numerator:g} by {counted(int(metric.denominator), 'rater')}"


def metric_score_words(metric: MetricResult) -> str:
    """One metric's outcome in words: "85.0 %, passed (17 of 20; threshold 80)"."""
    if metric.score is None:
        return str(metric.status).replace("_", " ")
    numbers = "; ".join(filter(None, (made_of(metric), f"threshold {metric.threshold:g}")))
    status = marked_status(metric.definition.name, metric).replace("_", ", ", 1).replace("_", " ")
    return f"{score_words(metric.definition, metric.score)}, {status} ({numbers})"


def advice_lines(
    metrics: Mapping[str, Scored], usd: float | None, place: str = "", losses: Mapping[str, Losses] | None = None
) -> Iterator[str]:
    """The rubric's suggestions for what fails, as lines.

    Args:
        metrics: The scores, or their means.
        usd: The cost; ``None`` where it is unknown.
        place: Where they are from, such as " in v2".
        losses: Where failing metrics lose their points, by metric.
    """
    given = advise(metrics, usd)
    if not given:
        yield from ("", nothing_to_fix(metrics))
    for advice in given:
        # Actions on the cost are ours, the rubric says nothing of it.
        said_by = "Look at this" if advice.about == COST else "The rubric suggests"
        yield from ("", f"{advice.label}{place}: {advice.finding}. {said_by}:")
        yield from (f"  - {action}" for action in advice.actions)
        if losses and advice.about in losses:
            yield from _loss_lines(losses[advice.about])


def _loss_lines(losses: Losses) -> Iterator[str]:
    yield f"  {shortened(losses.words, 200)}"
    for example in losses.examples:
        where = f"{shortened(example.game, 40)} {example.message_id or ''}".strip()
        said = f"{example.player}: {example.text}" if example.text else example.player
        yield f"    {safe(where)}: {shortened(said, 120)} ({shortened(example.reason, 100)})"


def stored_mixes(
    store: Store, iteration: str | None = None, among: Collection[str] | None = None
) -> tuple[VersionMix, ...]:
    """The metrics of which several versions, or another than today's, meet in the store or in one iteration."""
    return version_mixes(store.results.scores(iteration), VERSIONS, among)


def warn_of(mixes: Sequence[VersionMix]) -> None:
    """Says on standard error which metrics and versions they are, and what to do."""
    for mix in mixes:
        note(f"warning: {mix.words}")
    if mixes:
        note("Score the outdated games again with: dramaturg reevaluate.")


def warn_of_controls(store: Store, games: Collection[str]) -> None:
    """Says on standard error that passes and rises of some games are not compared with chance yet, and what to do."""
    if waiting := len({*games} & {*store.controls.missing()}):
        note(f"warning: {not_compared_words(waiting)}")


def mix_dict(mix: VersionMix) -> dict[str, Any]:
    """The same as JSON-compatible data."""
    return picked_data(mix, "metric", "games", "today", "is_mixed")


_STATES = {"met": "[x]", "not_met": "[ ]", "unknown": "[?]"}


def board_lines(board: Board, losses: Mapping[str, Losses] | None = None) -> Iterator[str]:
    """Means, tests, decisions, checklist, chance and advice, as lines for a terminal.

    Args:
        board: The iterations.
        losses: Where the current iteration's failing metrics lose their points, by metric.
    """
    headers = ("Iteration", "Games", *SHORT_LABELS.values(), "Cost", "Cache", "Passed", "Verdict", "Decision")
    yield table(headers, [_line(summary) for summary in board.iterations])
    for summary in board.iterations:
        yield from _details(board, summary)
    yield ""
    yield "Success criteria and the gate to what comes next:"
    yield from (
        f"  {_STATES[check.state]} {check.label}: {shortened(check.measured, 100)}" for check in board.checklist.checks
    )
    yield f"  {board.chance.words if board.chance else NO_CHANCE}"
    if (current := board.current) is not None:
        place = f" in {shortened(current.iteration.name, 60)}"
        yield from advice_lines(current.means, current.cost_usd.mean, place, losses or {})


def _line(summary: IterationSummary) -> tuple[str, ...]:
    name = shortened(summary.iteration.name, 30) + (" (baseline)" if summary.iteration.is_baseline else "")
    verdict = summary.verdict
    return (
        name,
        str(len(summary.games)),
        *(score_cell(metric, summary.means[metric]) if summary.games else "" for metric in DEFINITIONS),
        "unknown" if summary.cost_usd.mean is None else f"${dollars(summary.cost_usd.mean)}",
        "unknown" if summary.cache_hit_rate.mean is None else f"{100 * summary.cache_hit_rate.mean:.0f} %",
        verdict.passes if verdict else "",
        str(verdict.status) if verdict else "",
        _decision_cell(summary),
    )


def _decision_cell(summary: IterationSummary) -> str:
    recorded = summary.iteration.recorded
    rule = summary.decision.words if summary.decision else ""
    return f"{recorded.fate} (rule: {rule or 'none'})" if recorded else rule


def _details(board: Board, summary: IterationSummary) -> Iterator[str]:
    yield ""
    yield f"{shortened(summary.iteration.name, 60)}: {_tests_words(summary)}"
    if summary.iteration.change:
        yield f"  {shortened(summary.iteration.change, 120)}"
    yield from (f"  {warning}" for warning in summary.warnings)
    if summary.verdict is not None:
        yield f"  The means of its games: {summary.verdict.status}"
        yield from (f"    {shortened(reason, 160)}" for reason in summary.verdict.reasons)
        yield from (f"    {words}" for words in _rests_on(summary.means))
    for test in summary.tests:
        if test.is_complete and test.has_passed and test.failures:
            yield f"  Test {test.number} passed; these games in it failed:"
            yield from (f"    {shortened(failure.words, 160)}" for failure in test.failures)
    if summary.decision is not None:
        yield from _decision_lines(board, summary, summary.decision)
    # It holds also where nothing is left to compare with: the reference was deleted, or this one made the baseline.
    if summary.iteration.recorded is not None:
        yield f"  {shortened(summary.iteration.recorded.words, 200)}"


def _decision_lines(board: Board, summary: IterationSummary, decision: Decision) -> Iterator[str]:
    yield f"  Its change, against {shortened(decision.reference, 60)}: {decision.words}"
    if directions := board.directions_words(summary.iteration.name):
        yield f"    {directions}"
    yield from (f"    {shortened(words, 200)}" for words in board.decision_words(summary.iteration.name))


def _tests_words(summary: IterationSummary) -> str:
    complete = [test for test in summary.tests if test.is_complete]
    if not complete:
        return "no complete test"
    outcomes = Counter(str(test.verdict.status) for test in complete)
    return f"{counted(len(complete), 'test')}: " + ", ".join(f"{count} {status}" for status, count in outcomes.items())


def _rests_on(means: Mapping[str, MetricMean]) -> Iterator[str]:
    """The coverage of scores that leave out rows, "Memory accuracy: 22 of 51 references to the past settled.", then
    whether scores can be told from chance: "Coherence: above chance in 3 of 4 games, mean link strength 62 ..."."""
    labelled = [(DEFINITIONS[name].label, mean) for name, mean in means.items()]
    yield from (f"{label}: {mean.coverage.words}." for label, mean in labelled if mean.coverage is not None)
    yield from (f"{label}: {mean.control.words}." for label, mean in labelled if mean.control.words)


def board_dict(board: Board, losses: Mapping[str, Losses] | None = None) -> dict[str, Any]:
    """The board as JSON-compatible data. Scores on their metrics' scales, costs in US dollars, rates from 0 to 1."""
    given = advise(board.current.means, board.current.cost_usd.mean) if board.current else ()
    return {
        "iterations": [_summary_dict(summary) for summary in board.iterations],
        "checklist": {
            "checks": [asdict(check) for check in board.checklist.checks],
            "success": str(board.checklist.success),
            "gate": str(board.checklist.gate),
        },
        "advice": [
            picked_data(one, "about", "finding", "actions")
            | {"losses": losses[one.about].as_dict() if losses and one.about in losses else None}
            for one in given
        ],
        "chance": board.chance and asdict(board.chance),
    }


def _summary_dict(summary: IterationSummary) -> dict[str, Any]:
    iteration = summary.iteration
    return {
        **picked_data(iteration, "name", "parent", "change", "target_metric", "is_baseline", "signed_off_by"),
        "signed_off_at": iteration.signed_off_at and iteration.signed_off_at.isoformat(),
        "signed_off_note": iteration.signed_off_note,
        "games": [game.transcript_id for game in summary.games],
        "means": _means_dict(summary.means),
        "cost_usd": asdict(summary.cost_usd),
        "cache_hit_rate": asdict(summary.cache_hit_rate),
        "verdict": summary.verdict and summary.verdict.as_dict(),
        "lowest_metric": summary.lowest,
        "tests": [_test_dict(test) for test in summary.tests],
        "decision": summary.decision and summary.decision.as_dict(),
        "recorded": iteration.recorded and iteration.recorded.as_dict(),
        "warnings": list(summary.warnings),
    }


def _means_dict(means: Mapping[str, MetricMean]) -> dict[str, Any]:
    return {
        name: {
            **picked_data(mean, "score", "status", "threshold"),
            "low_evidence": has_low_evidence(mean),
            "games": len(mean.values),
            "coverage": mean.coverage and mean.coverage.as_dict(),
            "control": mean.control.as_dict(),
        }
        for name, mean in means.items()
    }


def _test_dict(test: GameTest) -> dict[str, Any]:
    return {
        "number": test.number,
        "games": [game.transcript_id for game in test.games],
        "is_complete": test.is_complete,
        "means": _means_dict(test.means),
        "cost_usd": asdict(test.cost_usd),
        "verdict": test.verdict.as_dict(),
        "failed_games": [picked_data(one, "transcript_id", "is_critical", "reasons") for one in test.failures],
    }
