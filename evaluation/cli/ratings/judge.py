"""``dramaturg judge``: a model decides the rows that the rubric leaves to judgement."""

from __future__ import annotations

from dataclasses import dataclass
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
    metrics = [one.value for one in metric or []]
    judge = judge_options.value()
    options = {"mode": mode, **judge.config, "batch_size": 1 if one_by_one else None}
    asked = _Asked(options, metrics, not one_by_one, judge.is_estimate, output)
    store = open_store()
    ids = _ids(store, transcripts or [], iteration)
    if withdraw is not None:
        _withdraw(store, ids, metrics, withdraw)
        return
    if _judge_stored(store, ids, asked).errors:
        raise typer.Exit(INFRASTRUCTURE)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options of the command about what to judge."""

    options: dict[str, Any]
    metrics: list[str]
    is_batched: bool
    is_estimate: bool
    output: ListFormat


def _withdraw(store: Store, ids: list[str], metrics: list[str], who: str) -> None:
    from evaluation.text.display import counted

    named: list[str | None] = [*metrics] or [None]
    count = sum(store.decisions.withdraw(each, name, who=who) for each in ids for name in named)
    say(f"{safe(who)} gave {counted(count, 'row')} back to the rule.")


def _judge_stored(store: Store, ids: list[str], asked: _Asked) -> JudgingTally:
    from evaluation.judging.judge_config import SETTINGS_KEY, build_judge, judge_config
    from evaluation.judging.model_client.budget import spent_words
    from evaluation.workflows.judging import JudgingTally, estimate_judging, judge_stored

    # What a model would cost is asked most before there is a key.
    as_if_live = {"mode": "live"} if asked.is_estimate and not asked.options.get("mode") else {}
    config = judge_config({**asked.options, **as_if_live}, store.settings.get(SETTINGS_KEY))
    if asked.is_estimate:
        say(estimate_judging(store, ids, config, metrics=asked.metrics, is_batched=asked.is_batched))
        return JudgingTally()
    chosen = build_judge(config, cache=store.judgements)
    progress = TerminalProgress("game", total=len(ids), spent=lambda: spent_words(chosen.budget))
    tally = judge_stored(
        store,
        ids,
        chosen,
        metrics=asked.metrics,
        is_batched=asked.is_batched,
        finished=lambda one: progress.advance(
            f"{one.transcript.game_id}: {len(one.decisions)} of {len(one.rows)} rows decided"
        ),
    )
    progress.finish()
    _say(tally, chosen, asked.output)
    return tally


def _ids(store: Store, references: list[str], iteration: str | None) -> list[str]:
    from evaluation.errors import InputError

    with store.unit():
        if references and iteration is not None:
            raise InputError("Transcripts and an iteration are named.", remedy="Name the ones or the other.")
        if references:
            return [store.transcripts.resolve(reference) for reference in references]
        return store.transcripts.ids(iteration)


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
