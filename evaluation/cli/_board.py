"""Print the board of iterations as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from evaluation.cli.rendering import advice_lines, score_cell
from evaluation.cli.terminal import shortened, table
from evaluation.comparison.movers import Losses
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.keep_or_revert import Decision
from evaluation.iterations.tests import NO_CHANCE, GameTest, KnownMean, MetricMean
from evaluation.rubric.advice import advise
from evaluation.rubric.definitions import DEFINITIONS, SHORT_LABELS
from evaluation.rubric.verdict import has_low_evidence
from evaluation.text.display import counted, dollars

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
        _cost_words(summary.cost_usd),
        _rate_words(summary.cache_hit_rate),
        f"{verdict.passed_count}/7" if verdict else "",
        str(verdict.status) if verdict else "",
        _decision_cell(summary),
    )


def _decision_cell(summary: IterationSummary) -> str:
    recorded = summary.iteration.recorded
    rule = summary.decision.choice.words if summary.decision else ""
    return f"{recorded.fate} (rule: {rule or 'none'})" if recorded else rule


def _cost_words(cost: KnownMean) -> str:
    return "unknown" if cost.mean is None else f"${dollars(cost.mean)}"


def _rate_words(rate: KnownMean) -> str:
    return "unknown" if rate.mean is None else f"{100 * rate.mean:.0f} %"


def _details(board: Board, summary: IterationSummary) -> Iterator[str]:
    yield ""
    yield f"{shortened(summary.iteration.name, 60)}: {_tests_words(summary)}"
    if summary.iteration.change:
        yield f"  {shortened(summary.iteration.change, 120)}"
    yield from (f"  {warning}" for warning in summary.warnings)
    if summary.verdict is not None:
        yield f"  The means of its games: {summary.verdict.status}"
        yield from (f"    {shortened(reason, 160)}" for reason in summary.verdict.reasons)
        yield from (f"    {words}" for words in (*coverage_lines(summary.means), *control_lines(summary.means)))
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
    yield f"  Its change, against {shortened(decision.reference, 60)}: {decision.choice.words}"
    if better := board.better_words(summary.iteration.name):
        yield f"    {shortened(better, 200)}"
    yield from (f"    {shortened(words, 200)}" for words in board.decision_words(summary.iteration.name))


def _tests_words(summary: IterationSummary) -> str:
    complete = [test for test in summary.tests if test.is_complete]
    if not complete:
        return "no complete test"
    outcomes = Counter(str(test.verdict.status) for test in complete)
    return f"{counted(len(complete), 'test')}: " + ", ".join(f"{count} {status}" for status, count in outcomes.items())


def coverage_lines(means: Mapping[str, MetricMean]) -> Iterator[str]:
    """The coverage of scores that leave out rows: "Memory accuracy: 22 of 51 references to the past settled."."""
    for name, mean in means.items():
        if mean.coverage is not None:
            yield f"{DEFINITIONS[name].label}: {mean.coverage.words}."


def control_lines(means: Mapping[str, MetricMean]) -> Iterator[str]:
    """Whether scores can be told from chance: "Coherence: above chance in 3 of 4 games, mean link strength 62 ..."."""
    for name, mean in means.items():
        if mean.control.words:
            yield f"{DEFINITIONS[name].label}: {mean.control.words}."


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
            {
                "about": one.about,
                "finding": one.finding,
                "actions": list(one.actions),
                "losses": losses[one.about].as_dict() if losses and one.about in losses else None,
            }
            for one in given
        ],
        "chance": board.chance and asdict(board.chance),
    }


def _summary_dict(summary: IterationSummary) -> dict[str, Any]:
    iteration = summary.iteration
    return {
        "name": iteration.name,
        "parent": iteration.parent,
        "change": iteration.change,
        "target_metric": iteration.target_metric,
        "is_baseline": iteration.is_baseline,
        "signed_off_by": iteration.signed_off_by,
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
            "score": mean.score,
            "status": str(mean.status),
            "low_evidence": has_low_evidence(mean),
            "threshold": mean.threshold,
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
        "failed_games": [
            {"transcript_id": one.transcript_id, "is_critical": one.is_critical, "reasons": list(one.reasons)}
            for one in test.failures
        ],
    }
