"""Results as tables, Markdown and JSON, and warnings where versions of metrics are mixed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.cli.options import OutputFormat
from evaluation.cli.terminal import code, markdown_table, note, safe, say, shortened, table
from evaluation.escaping import json_text
from evaluation.rubric.control_words import control_words
from evaluation.rubric.definitions import DEFINITIONS, SHORT_LABELS, VERSIONS, score_words
from evaluation.score import PERCENT, Status
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.comparison.movers import Losses
    from evaluation.engines.scoring import Evaluation
    from evaluation.iterations.board import VersionMix
    from evaluation.rubric.verdict import Scored, Verdict
    from evaluation.score import MetricResult
    from evaluation.store import Store


HEADERS = ("Id", "Game", *SHORT_LABELS.values(), "Passed", "Verdict")

_ID_DIGITS = 8
_LONGEST_NAME = 30


def score_cell(name: str, metric: Scored | None) -> str:
    """A score in a table: "85.0 ✓", "100.0 ✓ (3/3), low evidence", "pending", "n/a"; "error" where it failed."""
    if metric is None:
        return "error"
    if metric.score is None:
        return "pending" if metric.status is Status.PENDING else "n/a"
    digits = 1 if DEFINITIONS[name].scale == PERCENT else 2
    coverage = metric.coverage
    mark = coverage.mark if coverage else ""
    return f"{metric.score:.{digits}f} {'✓' if metric.status is Status.PASSED else '✗'}{mark}"


@dataclass(frozen=True, slots=True)
class _Line:
    """The part of an evaluation that a table shows, so that its ledger need not be held until the end."""

    transcript_id: str
    game: str
    scores: tuple[str, ...]
    verdict: Verdict
    controls: str

    @property
    def status(self) -> str:
        return str(self.verdict.status)

    @classmethod
    def of(cls, evaluation: Evaluation) -> _Line:
        scores = tuple(score_cell(name, evaluation.metrics.get(name)) for name in DEFINITIONS)
        told = [
            f"{SHORT_LABELS[name]} {words}"
            for name, metric in evaluation.metrics.items()
            if metric.control is not None and (words := control_words(name, metric.score, metric.control))
        ]
        controls = "; ".join(told)
        return cls(evaluation.transcript.id, evaluation.transcript.game_id, scores, evaluation.verdict, controls)


def print_evaluations(evaluations: Iterable[Evaluation], output: OutputFormat) -> None:
    """Prints evaluations as they come (JSON), or once all are known (the widths of a table's columns need them all)."""
    if output is OutputFormat.JSON:
        print_json_list(evaluation.as_dict() for evaluation in evaluations)
        return
    lines = [_Line.of(evaluation) for evaluation in evaluations]
    if lines:
        say("\n".join(_text(lines, is_markdown=output is OutputFormat.MARKDOWN)))


def _text(lines: Sequence[_Line], *, is_markdown: bool) -> Iterator[str]:
    # In Markdown a reason or a name, which may quote the transcript, stands where nothing becomes a link.
    words, draw = (code, markdown_table) if is_markdown else (safe, table)
    bullet, strong, gap = ("- ", "**", [""]) if is_markdown else ("", "", [])
    ids = [words(line.transcript_id[:_ID_DIGITS]) for line in lines]
    rows = [
        (name, words(shortened(line.game, _LONGEST_NAME)), *line.scores, f"{line.verdict.passed_count}/7", line.status)
        for name, line in zip(ids, lines, strict=True)
    ]
    yield draw(HEADERS, rows)
    yield ""
    for name, line in zip(ids, lines, strict=True):
        yield f"{bullet}{name} {strong}{line.status}{strong}: {words(' '.join(line.verdict.reasons))}"
    controls = [f"{bullet}{name} {safe(line.controls)}" for name, line in zip(ids, lines, strict=True) if line.controls]
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
    status = f"{metric.status}, low evidence" if metric.low_evidence else metric.status
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
    from evaluation.rubric.advice import advise, nothing_to_fix

    given = advise(metrics, usd)
    if not given:
        yield from ("", nothing_to_fix(metrics))
    for advice in given:
        yield from ("", f"{advice.label}{place}: {advice.finding}. {_said_by(advice.about)}:")
        yield from (f"  - {action}" for action in advice.actions)
        if losses and advice.about in losses:
            yield from _loss_lines(losses[advice.about])


def _said_by(about: str) -> str:
    """Introduces actions; those on the cost are ours, the rubric says nothing of it."""
    from evaluation.rubric.advice import COST

    return "Look at this" if about == COST else "The rubric suggests"


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
    from evaluation.iterations.board import version_mixes

    return version_mixes(store.results.scores(iteration), VERSIONS, among)


def warn_of(mixes: Sequence[VersionMix]) -> None:
    """Says on standard error which metrics and versions they are, and what to do."""
    for mix in mixes:
        note(f"warning: {mix.words}")
    if mixes:
        note("Score the outdated games again with: dramaturg reevaluate.")


def mix_dict(mix: VersionMix) -> dict[str, Any]:
    """The same as JSON-compatible data."""
    return {"metric": mix.metric, "games": dict(mix.games), "today": mix.today, "is_mixed": mix.is_mixed}
