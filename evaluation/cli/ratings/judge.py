"""``dramaturg judge``: a model decides the rows that the rubric leaves to judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.exit_codes import INFRASTRUCTURE
from evaluation.cli.shared.options import (
    BaseUrl,
    Concurrency,
    Database,
    EstimateOnly,
    JudgeMode,
    JudgeModel,
    ListFormat,
    MaxCalls,
    MaxUsd,
    MetricName,
    OfIteration,
    Rows,
    Timeout,
    open_store,
)
from evaluation.cli.shared.terminal import TerminalProgress, note, safe, say

if TYPE_CHECKING:
    from evaluation.judging.judge_config import ChosenJudge
    from evaluation.store import Store
    from evaluation.workflows.judging import JudgingTally

_MOST_REASONS = 5
_LONGEST_REASON = 200


Transcripts = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TRANSCRIPT]...", show_default=False, help="Stored transcripts; all when left out."),
]
Metrics = Annotated[
    list[MetricName] | None,
    typer.Option(show_default=False, help="Only this metric; may be given more than once."),
]
OneByOne = Annotated[
    bool, typer.Option("--one-by-one", help="Ask about every row in a call of its own: dearer and more exact.")
]
Withdraw = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default=False, help="Ask nobody: NAME gives the rows back to the rule."),
]


def judge(
    transcripts: Transcripts = None,
    iteration: OfIteration = None,
    metric: Metrics = None,
    mode: JudgeMode = None,
    model: JudgeModel = None,
    base_url: BaseUrl = None,
    budget: MaxUsd = None,
    max_calls: MaxCalls = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    estimate: EstimateOnly = False,
    one_by_one: OneByOne = False,
    withdraw: Withdraw = None,
    output: Rows = ListFormat.TABLE,
    db: Database = None,
) -> None:
    """Have a model decide what the rubric leaves to judgement: references to the past that the record cannot settle,
    strategic messages without keywords and shallow ones with them, coherence and role consistency.

    Its decisions stand between the rule and people: a person's override outranks them. Rows that it cannot decide stay
    as the rule has them. Answers are kept, so that the same run costs nothing again. Exits with 3 when answers failed.
    """
    from evaluation.judging.model_client.event_loop import run_asking  # asyncio is slow to import, and help needs none
    from evaluation.text.display import counted

    store = open_store(db)
    ids = _ids(store, transcripts or [], iteration)
    metrics = [one.value for one in metric or []]
    if withdraw is not None:
        named: list[str | None] = [*metrics] or [None]
        count = sum(store.decisions.withdraw(each, name, who=withdraw) for each in ids for name in named)
        say(f"{safe(withdraw)} gave {counted(count, 'row')} back to the rule.")
        return
    options = {
        "mode": mode,
        "model": model,
        "base_url": base_url,
        "max_usd": budget,
        "max_calls": max_calls,
        "concurrency": concurrency,
        "timeout_seconds": timeout,
        "batch_size": 1 if one_by_one else None,
    }
    if estimate:
        say(run_asking(_estimate(store, ids, options, metrics, is_batched=not one_by_one)))
        return
    chosen = _chosen(store, options)
    tally = run_asking(_run(store, ids, chosen, metrics, is_batched=not one_by_one))
    _say(tally, chosen, output)
    if tally.errors:
        raise typer.Exit(INFRASTRUCTURE)


def _ids(store: Store, references: list[str], iteration: str | None) -> list[str]:
    from evaluation.errors import InputError

    with store.unit():
        if references and iteration is not None:
            raise InputError("Transcripts and an iteration are named.", remedy="Name the ones or the other.")
        if references:
            return [store.transcripts.resolve(reference) for reference in references]
        if iteration is not None:
            store.iterations.get(iteration)
        return [str(each) for each in store.transcripts.summaries(iteration)["transcript_id"]]


def _chosen(store: Store, options: dict[str, Any]) -> ChosenJudge:
    from evaluation.judging.judge_config import SETTINGS_KEY, build_judge, judge_config

    return build_judge(judge_config(options, store.settings.get(SETTINGS_KEY)), cache=store.judgements)


async def _estimate(
    store: Store, ids: list[str], options: dict[str, Any], metrics: list[str], *, is_batched: bool
) -> str:
    from evaluation.judging.judge_config import SETTINGS_KEY, build_estimate, judge_config
    from evaluation.judging.judges.estimating import NOTHING_ASKED
    from evaluation.rubric_judge.judge_rows import judge_rows
    from evaluation.rubric_judge.judged_metrics import TASKS

    config = judge_config(options, store.settings.get(SETTINGS_KEY))
    if config.mode != "live":
        return NOTHING_ASKED
    counting = await build_estimate(config, store.judgements)
    for each in ids:
        with store.unit():
            transcript, results = store.transcripts.get(each), store.results.load(each)
        await judge_rows(transcript, results, counting, metrics=metrics or tuple(TASKS), is_batched=is_batched)
    return counting.words


async def _run(
    store: Store, ids: list[str], chosen: ChosenJudge, metrics: list[str], *, is_batched: bool
) -> JudgingTally:
    from evaluation.judging.model_client.budget import spent_words
    from evaluation.rubric_judge.judged_metrics import TASKS
    from evaluation.workflows.judging import JudgingTally, judge_stored

    tally = JudgingTally()
    progress = TerminalProgress("game", total=len(ids), spent=lambda: spent_words(chosen.budget))
    async with chosen.session():
        async for judged in judge_stored(store, ids, chosen, metrics=metrics or tuple(TASKS), is_batched=is_batched):
            if judged is None:
                tally.gone += 1
                continue
            tally.add(judged)
            progress.advance(f"{judged.transcript.game_id}: {len(judged.decisions)} of {len(judged.rows)} rows decided")
    progress.finish()
    return tally


def _say(tally: JudgingTally, chosen: ChosenJudge, output: ListFormat) -> None:
    from evaluation.escaping import json_text
    from evaluation.judging.model_client.budget import spent_words
    from evaluation.text.display import counted

    if output is ListFormat.JSON:
        say(json_text(_as_dict(tally, chosen)))
        return
    say(
        f"{safe(chosen.model)} ({chosen.kind}) decided {tally.decided} of {counted(tally.asked, 'row')} in "
        f"{counted(tally.transcripts, 'game')}; {tally.changed} otherwise than the rule. "
        f"{spent_words(chosen.budget)}."
    )
    for reason, count in list(tally.why_not.items())[:_MOST_REASONS]:
        note(f"{count} left to the rule: {reason[:_LONGEST_REASON].rstrip('.')}.")
    if tally.skipped:
        note("The run stopped before its end. What is done is stored; run it again to go on where it stopped.")


def _as_dict(tally: JudgingTally, chosen: ChosenJudge) -> dict[str, Any]:
    return {
        "judge": str(chosen.kind),
        "model": chosen.model,
        "transcripts": tally.transcripts,
        "asked": tally.asked,
        "decided": tally.decided,
        "changed": tally.changed,
        "errors": tally.errors,
        "skipped": tally.skipped,
        "left_to_the_rule": tally.why_not,
        "calls": chosen.budget.calls_made,
        "cost_usd": chosen.budget.known_usd,
    }
