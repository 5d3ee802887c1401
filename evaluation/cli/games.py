"""Commands on stored games: list and show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.options import (
    MetricName,
    OfIteration,
    Rows,
    TranscriptReference,
    open_store,
)
from evaluation.cli.terminal import Columns, note, say, say_json, say_list, table
from evaluation.escaping import shortened
from evaluation.text.display import dollars, number_or_none
from evaluation.workflows.scoring import current_evaluation

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation
    from evaluation.score import LedgerRow, MetricResult
    from evaluation.store import Store
    from evaluation.transcript import Transcript


_LONGEST_QUOTE = 60
_LONGEST_REASON = 160


def list_transcripts(
    iteration: OfIteration = None,
    output: Rows = "table",
) -> None:
    """List the stored transcripts with their verdicts."""
    from evaluation.cli.rendering import stored_mixes, warn_of

    store = open_store()
    rows = _listed(store, iteration)
    warn_of(stored_mixes(store, iteration))
    nothing = "Nothing is stored yet. Add games with: dramaturg import PATH, or: dramaturg import --samples."
    say_list(rows, _LISTED, nothing=nothing, is_json=output == "json")


def _listed(store: Store, iteration: str | None) -> list[dict[str, Any]]:
    from evaluation.rubric.verdict import judge_scores

    with store.unit():
        if iteration is not None:
            store.iterations.get(iteration)
        summaries = store.transcripts.summaries(iteration)
        metrics = store.results.metric_scores(iteration)
    rows = []
    for summary in summaries.to_dict("records"):
        outcomes = metrics.get(summary["transcript_id"], {})
        usd = number_or_none(summary["total_usd"])
        rows.append(_list_row(summary, usd, judge_scores(outcomes, usd).as_dict()))
    return rows


def _list_row(summary: Mapping[Any, Any], usd: float | None, verdict: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": summary["transcript_id"],
        **{name: summary[name] for name in ("game", "game_id", "source_format", "source_name", "players", "messages")},
        "iteration": summary["iteration"] if isinstance(summary["iteration"], str) else None,
        "total_usd": usd,
        "verdict": verdict,
    }


def _passes(verdict: Mapping[str, Any]) -> str:
    from evaluation.rubric.verdict import passes_words

    return passes_words(verdict["passed_count"], verdict["at_chance_count"])


_LISTED: Columns[dict[str, Any]] = {
    "Id": lambda row: row["id"][:8],
    "Game": lambda row: shortened(row["game"], 40),
    "Format": itemgetter("source_format"),
    "Iteration": lambda row: shortened(row["iteration"] or "", 24),
    "Players": itemgetter("players"),
    "Messages": itemgetter("messages"),
    "Cost": lambda row: "unknown" if row["total_usd"] is None else f"${dollars(row['total_usd'])}",
    "Passed": lambda row: _passes(row["verdict"]),
    "Verdict": lambda row: row["verdict"]["status"],
}


def show(
    transcript: TranscriptReference,
    metric: Annotated[
        MetricName | None, typer.Option(help="Open this metric's ledger: every row behind the score.")
    ] = None,
    output: Rows = "table",
) -> None:
    """Show a stored transcript's scores and verdict, or the ledger behind one score."""
    store = open_store()
    with store.unit():
        found = store.transcripts.get(store.transcripts.resolve(transcript))
        name = store.transcripts.game_names()[found.id]
        evaluation = current_evaluation(store, found)
    if metric is None:
        if output == "json":
            say_json(evaluation.as_dict())
        else:
            say(_overview(evaluation, name))
        return
    result = evaluation.metrics.get(metric)
    if result is None:
        note(f"{metric} was not computed for {found.id}. Try again with: dramaturg reevaluate {found.id[:8]}.")
    elif output == "json":
        say_json(result.as_dict())
    else:
        say("\n".join(_ledger(result, found)))


def _overview(evaluation: Evaluation, name: str) -> str:
    from evaluation.cli.rendering import advice_lines, metric_rows
    from evaluation.rubric.verdict import known_usd

    transcript, verdict, outcomes = evaluation.transcript, evaluation.verdict, evaluation.outcomes
    lines = [
        f"Transcript {transcript.id}",
        f"Game       {shortened(name, 80)} ({shortened(transcript.source_format, 40)})",
        f"Players    {len(transcript.players)}; {len(transcript.messages)} messages, "
        f"{len(transcript.discussion)} of them in the discussion",
        "",
        table(("Metric", "Score", "Threshold", "From", "Remarks"), list(metric_rows(evaluation))),
        "",
        f"Verdict: {verdict.status}, {verdict.passed_count} of 7 pass{verdict.count_words}",
        *(f"  {shortened(reason, _LONGEST_REASON)}" for reason in verdict.reasons),
        *advice_lines(outcomes, known_usd(transcript.cost)),
    ]
    return "\n".join(lines)


def _ledger(result: MetricResult, transcript: Transcript) -> Iterator[str]:
    from evaluation.cli.rendering import metric_score_words

    yield f"{result.definition.label}: {metric_score_words(result)}"
    yield from (f"  {shortened(remark, _LONGEST_REASON)}" for remark in filter(None, (result.reason, *result.remarks)))
    yield ""
    if result.ledger:
        yield table(
            ("Verdict", "Where", "Reason", "Evidence", "Message"),
            [_ledger_line(row, transcript) for row in result.ledger],
        )
    else:
        yield "Nothing was considered, so the ledger is empty."


def _ledger_line(row: LedgerRow, transcript: Transcript) -> tuple[str, ...]:
    verdict = row.verdict.value.replace("_", " ")
    by_whom = "" if row.method.value == "rule" else f" ({row.method.value})"
    message = transcript.message(row.message_id) if row.message_id else None
    said = shortened(message.text, _LONGEST_REASON) if message else ""
    return (verdict + by_whom, _place(row, transcript), shortened(row.reason, _LONGEST_REASON), _quotes(row), said)


def _place(row: LedgerRow, transcript: Transcript) -> str:
    message = transcript.message(row.message_id) if row.message_id else None
    if message is None:
        return shortened(row.player or row.details.get("rater") or row.id, 40)
    when = "" if message.round is None else f" round {message.round}"
    return f"#{message.index + 1}{when} {shortened(message.speaker, 30)}"


def _quotes(row: LedgerRow) -> str:
    if row.details.get("comment"):
        return shortened(row.details["comment"], _LONGEST_REASON)
    quotes: Sequence[str] = [shortened(evidence.text, _LONGEST_QUOTE) for evidence in row.evidence[:4]]
    more = f" (+{len(row.evidence) - 4})" if len(row.evidence) > 4 else ""
    return " | ".join(quotes) + more
