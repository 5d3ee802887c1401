"""``dramaturg judge``: a model reads whole games and decides the rows that rest on reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.exit_codes import INFRASTRUCTURE
from evaluation.cli.shared.options import (
    JudgeMode,
    ListFormat,
    MetricName,
    OfIteration,
    Rows,
    judge_options,
    open_store,
)
from evaluation.cli.shared.terminal import TerminalProgress, note, safe, say, say_json
from evaluation.errors import InputError
from evaluation.text.display import counted

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
Withdraw = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default=False, help="Ask nobody: NAME gives the rows back to the rule."),
]


@judge_options
def judge(
    transcripts: Transcripts = None,
    iteration: OfIteration = None,
    metric: Metrics = None,
    mode: JudgeMode = None,
    withdraw: Withdraw = None,
    output: Rows = ListFormat.TABLE,
) -> None:
    """Have a model read games, twenty messages a call: it decides memory accuracy, strategic depth, coherence and role
    consistency.

    Its decisions outrank rule and reader; what the record proves and what people decide outranks them. Messages that it
    cannot read keep their rows. Answers are kept, so that the same run costs nothing again. Exits with 3 when answers
    failed.
    """
    from evaluation.judging.judge_config import SETTINGS_KEY, build_judge, judge_config
    from evaluation.judging.model_client.budget import spent_words
    from evaluation.workflows.judging import estimate_judging, judge_stored

    metrics = [one.value for one in metric or []]
    asked = judge_options.value()
    store = open_store()
    ids = _ids(store, transcripts or [], iteration)
    if withdraw is not None:
        _withdraw(store, ids, metrics, withdraw)
        return
    # What a model would cost is asked most before there is a key.
    options = {"mode": mode or ("live" if asked.is_estimate else None), **asked.config}
    config = judge_config(options, store.settings.get(SETTINGS_KEY))
    if asked.is_estimate:
        say(estimate_judging(store, ids, config))
        return
    chosen = build_judge(config, cache=store.judgements)
    progress = TerminalProgress("game", total=len(ids), spent=lambda: spent_words(chosen.budget))
    tally = judge_stored(
        store,
        ids,
        chosen,
        metrics=metrics,
        finished=lambda one: progress.advance(
            f"{one.transcript.game_id}: {len(one.said)} of {counted(len(one.transcript.discussion), 'message')} read"
        ),
    )
    progress.finish()
    _say(tally, chosen, output)
    if tally.errors:
        raise typer.Exit(INFRASTRUCTURE)


def _withdraw(store: Store, ids: list[str], metrics: list[str], who: str) -> None:
    named: list[str | None] = [*metrics] or [None]
    count = sum(store.decisions.withdraw(each, name, who=who) for each in ids for name in named)
    say(f"{safe(who)} gave {counted(count, 'row')} back to the rule.")


def _ids(store: Store, references: list[str], iteration: str | None) -> list[str]:
    with store.unit():
        if references and iteration is not None:
            raise InputError("Transcripts and an iteration are named.", remedy="Name the ones or the other.")
        if references:
            return [store.transcripts.resolve(reference) for reference in references]
        return store.transcripts.ids(iteration)


def _say(tally: JudgingTally, chosen: ChosenJudge, output: ListFormat) -> None:
    from evaluation.judging.model_client.budget import spent_words

    if output is ListFormat.JSON:
        say_json(_as_dict(tally, chosen))
        return
    say(f"{safe(chosen.model)} ({chosen.kind}): {tally.words}. {spent_words(chosen.budget)}.")
    for reason, count in tally.unread.most_common(_MOST_REASONS):
        note(f"{counted(count, 'message')} not read: {reason[:_LONGEST_REASON].rstrip('.')}.")
    for what, count in tally.left_out.most_common():
        note(f"Left out {counted(count, 'time')}: {what}.")
    if tally.skipped:
        note("The run stopped before its end. What is done is stored; run it again to go on where it stopped.")


def _as_dict(tally: JudgingTally, chosen: ChosenJudge) -> dict[str, Any]:
    return {
        "judge": str(chosen.kind),
        "model": chosen.model,
        "transcripts": tally.transcripts,
        "messages": tally.messages,
        "read": tally.read,
        "decided": tally.decided,
        "changed": tally.changed,
        "errors": tally.errors,
        "skipped": tally.skipped,
        "unread": dict(tally.unread),
        "left_out": dict(tally.left_out),
        "calls": chosen.budget.calls_made,
        "cost_usd": chosen.budget.known_usd,
    }
