"""``dramaturg list`` and ``dramaturg show``: what is stored, and why it scored as it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.options import (
    ListFormat,
    MetricName,
    OfIteration,
    Rows,
    TranscriptReference,
    open_store,
)
from evaluation.cli.shared.terminal import note, say, say_json, say_list, shortened, table
from evaluation.cli.shared.version_warnings import stored_mixes, warn_of
from evaluation.text.display import dollars, number_or_none
from evaluation.workflows.stored_scores import current_evaluation, current_outcomes

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation
    from evaluation.rubric.verdict import Scored
    from evaluation.score import LedgerRow, MetricResult
    from evaluation.store import Store
    from evaluation.transcript import Transcript

_LONGEST_QUOTE = 60
_LONGEST_REASON = 160


def list_transcripts(
    iteration: OfIteration = None,
    output: Rows = ListFormat.TABLE,
) -> None:
    """List the stored transcripts with their verdicts."""
    store = open_store()
    rows = _listed(store, iteration)
    warn_of(stored_mixes(store, iteration))
    headers = ("Id", "Game", "Format", "Iteration", "Players", "Messages", "Cost", "Passed", "Verdict")
    nothing = "Nothing is stored yet. Add games with: dramaturg import PATH, or: dramaturg import --samples."
    say_list(rows, headers, [*map(_list_line, rows)], nothing, is_json=output is ListFormat.JSON)


def _listed(store: Store, iteration: str | None) -> list[dict[str, Any]]:
    from evaluation.rubric.verdict import judge_scores

    with store.unit():
        if iteration is not None:
            store.iterations.get(iteration)
        summaries = store.transcripts.summaries(iteration)
        metrics = current_outcomes(store, iteration)
    rows = []
    for summary in summaries.to_dict("records"):
        outcomes = metrics.get(summary["transcript_id"], {})
        usd = number_or_none(summary["total_usd"])
        rows.append(_list_row(summary, usd, judge_scores(outcomes, usd).as_dict()))
    return rows


def _list_row(summary: Mapping[Any, Any], usd: float | None, verdict: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": summary["transcript_id"],
        **{name: summary[name] for name in ("game_id", "source_format", "source_name", "players", "messages")},
        "iteration": summary["iteration"] if isinstance(summary["iteration"], str) else None,
        "total_usd": usd,
        "verdict": verdict,
    }


def _list_line(row: Mapping[str, Any]) -> tuple[str, ...]:
    usd = "unknown" if row["total_usd"] is None else f"${dollars(row['total_usd'])}"
    verdict = row["verdict"]
    return (
        row["id"][:8],
        shortened(row["game_id"], 30),
        row["source_format"],
        shortened(row["iteration"] or "", 24),
        str(row["players"]),
        str(row["messages"]),
        usd,
        f"{verdict['passed_count']}/7",
        verdict["status"],
    )


def show(
    transcript: TranscriptReference,
    metric: Annotated[
        MetricName | None,
        typer.Option(show_default=False, help="Open this metric's ledger: every row behind the score."),
    ] = None,
    output: Rows = ListFormat.TABLE,
) -> None:
    """Show a stored transcript's scores and verdict, or the ledger behind one score."""
    store = open_store()
    with store.unit():
        found = store.transcripts.get(store.transcripts.resolve(transcript))
        name = store.transcripts.game_ids()[found.id]
        evaluation = current_evaluation(store, found)
    if metric is None:
        if output is ListFormat.JSON:
            say_json(evaluation.as_dict())
        else:
            say(_overview(evaluation, name))
        return
    result = evaluation.metrics.get(metric.value)
    if result is None:
        note(f"{metric.value} was not computed for {found.id}. Try again with: dramaturg reevaluate {found.id[:8]}.")
    elif output is ListFormat.JSON:
        say_json(result.as_dict())
    else:
        say("\n".join(_ledger(result, found)))


def _overview(evaluation: Evaluation, name: str) -> str:
    from evaluation.cli.shared.rendering import metric_rows

    transcript, verdict, outcomes = evaluation.transcript, evaluation.verdict, evaluation.outcomes
    lines = [
        f"Transcript {transcript.id}",
        f"Game       {shortened(name, 80)} ({shortened(transcript.source_format, 40)})",
        f"Players    {len(transcript.players)}; {len(transcript.messages)} messages, "
        f"{len(transcript.discussion)} of them in the discussion",
        "",
        table(("Metric", "Score", "Threshold", "From", "Remarks"), list(metric_rows(evaluation))),
        *_changed_thresholds(evaluation, outcomes),
        "",
        f"Verdict: {verdict.status}, {verdict.passed_count} of 7 pass",
        *(f"  {shortened(reason, _LONGEST_REASON)}" for reason in verdict.reasons),
        *_advice(transcript, outcomes),
    ]
    return "\n".join(lines)


def _changed_thresholds(evaluation: Evaluation, outcomes: Mapping[str, Scored]) -> Iterator[str]:
    for name, result in evaluation.metrics.items():
        today = outcomes[name]
        if today.threshold != result.threshold:
            yield (
                f"{result.definition.label}: the threshold is {today.threshold:g} today, so the verdict takes it as "
                f"{today.status.replace('_', ' ')}."
            )


def _advice(transcript: Transcript, outcomes: Mapping[str, Scored]) -> Iterator[str]:
    from evaluation.rubric.advice import advise, nothing_to_fix
    from evaluation.rubric.verdict import known_usd

    given = advise(outcomes, known_usd(transcript.cost))
    if not given:
        yield nothing_to_fix(outcomes)
    for advice in given:
        yield ""
        yield f"{advice.label}: {advice.finding}. The rubric suggests:"
        yield from (f"  - {action}" for action in advice.actions)


def _ledger(result: MetricResult, transcript: Transcript) -> Iterator[str]:
    from evaluation.cli.shared.rendering import metric_score_words

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
