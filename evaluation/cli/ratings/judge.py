"""``dramaturg judge``: a model decides the rows that the rubric leaves to judgement."""

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
OneByOne = Annotated[
    bool, typer.Option("--one-by-one", help="Ask about every row in a call of its own: dearer and more exact.")
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
    one_by_one: OneByOne = False,
    withdraw: Withdraw = None,
    output: Rows = ListFormat.TABLE,
) -> None:
    """Have a model decide what the rubric leaves to judgement: references to the past that the record cannot settle,
    strategic messages without keywords and shallow ones with them, coherence and role consistency.

    Its decisions stand between the rule and people: a person's override outranks them. Rows that it cannot decide stay
    as the rule has them. Answers are kept, so that the same run costs nothing again. Exits with 3 when answers failed.
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
    config = judge_config({**options, "batch_size": 1 if one_by_one else None}, store.settings.get(SETTINGS_KEY))
    if asked.is_estimate:
        say(estimate_judging(store, ids, config, metrics=metrics, is_batched=not one_by_one))
        return
    chosen = build_judge(config, cache=store.judgements)
    progress = TerminalProgress("game", total=len(ids), spent=lambda: spent_words(chosen.budget))
    tally = judge_stored(
        store,
        ids,
        chosen,
        metrics=metrics,
        is_batched=not one_by_one,
        finished=lambda one: progress.advance(
            f"{one.transcript.game_id}: {len(one.decisions)} of {len(one.rows)} rows decided"
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
