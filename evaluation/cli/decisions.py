"""``dramaturg override``, ``judge`` and ``rate``: decisions on rows of ledgers by a person and a model, and ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from evaluation.cli.exit_codes import BAD_INPUT, INFRASTRUCTURE, command_group
from evaluation.cli.options import (
    JudgeMode,
    ListFormat,
    OfIteration,
    Rows,
    TranscriptReference,
    judge_options,
    open_store,
)
from evaluation.cli.terminal import TerminalProgress, note, say, say_json
from evaluation.errors import InputError, NotFoundError
from evaluation.escaping import safe
from evaluation.text.display import counted
from evaluation.workflows.scoring import current_evaluation

if TYPE_CHECKING:
    from evaluation.judging.judge_config import ChosenJudge, JudgeConfig
    from evaluation.store import Store
    from evaluation.workflows.judging import JudgingTally


VerdictName = Literal["counts", "does_not_count", "excluded"]
"""The verdicts that a row can get."""

Author = Annotated[str, typer.Option(metavar="NAME", help="Who decides.")]


def override(
    transcript: TranscriptReference,
    row: Annotated[
        str,
        typer.Argument(
            metavar="ROW",
            help="The row's id, such as coherence:m12; "
            "'dramaturg show game1 --metric coherence --format json' lists those of game1.",
        ),
    ],
    verdict: Annotated[
        VerdictName,
        typer.Option(help="The new verdict: does_not_count is 'counts against' on the pages, excluded 'not counted'."),
    ],
    author: Author,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the decision.")],
) -> None:
    """Override one row; the score is computed again at once. What the rule said stays on record."""
    from evaluation.cli.rendering import metric_score_words

    store = open_store()
    with store.unit(write=True):
        game = store.transcripts.resolve(transcript)
        rows = {row.id: (name, row) for name, one in store.results.load(game).items() for row in one.ledger}
        if row not in rows:
            raise NotFoundError(
                f"No ledger of this transcript has a row {row!r}.",
                remedy="See the ids with: dramaturg show TRANSCRIPT --metric METRIC --format json.",
            )
        metric, chosen = rows[row]
        made = store.overrides.add(game, metric, row, verdict, author=author, reason=reason)
        results = store.results.load(game)
    say(f"{made.id}: {safe(author)} made {safe(row)} {_words(made.verdict)}; it was {_words(chosen.verdict)}.")
    say(f"{results[metric].definition.label}: {metric_score_words(results[metric])}")


def _words(verdict: object) -> str:
    return str(verdict).replace("_", " ")


_MOST_REASONS = 5
_LONGEST_REASON = 200


Transcripts = Annotated[
    list[str] | None, typer.Argument(metavar="[TRANSCRIPT]...", help="Stored transcripts. Default: all.")
]
Withdraw = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Discard the model's verdicts, without a call; NAME is recorded as who did it."),
]


@judge_options
def judge(
    transcripts: Transcripts = None,
    iteration: OfIteration = None,
    mode: JudgeMode = None,
    withdraw: Withdraw = None,
    output: Rows = "table",
) -> None:
    """Have a model read games, twenty messages per call, and decide rows of memory accuracy, strategic depth, coherence
    and role consistency.

    The model's decisions outrank rule and reader, and yield to proof and to what people decide. Messages without a
    usable answer keep their rows. Answers are kept, so that the same run costs nothing again. Exits with 3 when answers
    failed.
    """
    from evaluation.judging.judge_config import SETTINGS_KEY, build_judge, judge_config
    from evaluation.judging.model_client.budget import spent_words
    from evaluation.workflows.judging import estimate_judging, judge_stored

    asked = judge_options.value()
    store = open_store()
    # What a model would cost is asked most before there is a key.
    options = {"mode": mode or ("live" if asked.estimate else None), **asked.config}
    ids = _ids(store, transcripts or [], iteration)
    if withdraw is not None:
        _withdraw(store, ids, withdraw)
        return
    config = judge_config(options, store.settings.get(SETTINGS_KEY))
    _require_model(config, ids, is_estimate=asked.estimate)
    if asked.estimate:
        say(estimate_judging(store, ids, config))
        return
    chosen = build_judge(config, cache=store.judgements)
    progress = TerminalProgress("game", total=len(ids), spent=lambda: spent_words(chosen.budget))
    tally = judge_stored(
        store,
        ids,
        chosen,
        finished=lambda one: progress.advance(
            f"{one.transcript.game_id}: {len(one.said)} of {counted(len(one.transcript.discussion), 'message')} read"
        ),
    )
    progress.finish()
    _say(tally, chosen, output)
    if tally.errors or (tally.messages and not tally.read):
        raise typer.Exit(INFRASTRUCTURE)


def _require_model(config: JudgeConfig, ids: list[str], *, is_estimate: bool) -> None:
    """Says that there is no model to ask, before anything else is said; an estimate needs none."""
    from evaluation.workflows.reader_check import require_model

    if not ids:
        raise NotFoundError("There is no transcript to read.", remedy="Import some: dramaturg import PATH.")
    if config.mode == "recorded":
        return
    try:
        require_model(config)
    except InputError as error:
        if not is_estimate:
            raise
        note(f"{error.message} The run itself needs one.")


def _withdraw(store: Store, ids: list[str], who: str) -> None:
    count = sum(store.decisions.withdraw(each, who=who) for each in ids)
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

    if output == "json":
        say_json(_as_dict(tally, chosen))
        return
    say(f"{safe(chosen.model)} ({chosen.kind}): {tally.words}. {spent_words(chosen.budget)}.")
    for reason, count in tally.unread.most_common(_MOST_REASONS):
        note(f"{counted(count, 'message')} not read: {reason[:_LONGEST_REASON].rstrip('.')}.")
    for what, count in tally.left_out.most_common():
        note(f"Left out {counted(count, 'time')}: {what}.")
    if tally.skipped:
        note("The run stopped before its end. What is done is stored; run it again to go on where it stopped.")


_COUNTS = ("transcripts", "messages", "read", "decided", "changed", "errors", "skipped")


def _as_dict(tally: JudgingTally, chosen: ChosenJudge) -> dict[str, Any]:
    return {
        "judge": str(chosen.kind),
        "model": chosen.model,
        **{name: getattr(tally, name) for name in _COUNTS},
        "unread": dict(tally.unread),
        "left_out": dict(tally.left_out),
        "calls": chosen.budget.calls_made,
        "cost_usd": chosen.budget.known_usd,
    }


_MOST_PROBLEMS = 50

rate_app = command_group("Rate a transcript: dramaturg rate add TRANSCRIPT. Ratings from and to CSV.")


@rate_app.command()
def add(
    transcript: TranscriptReference,
    rater: Annotated[str, typer.Option(metavar="NAME", help="Who rates.")],
    score: Annotated[
        float, typer.Option(min=1, max=5, help="From 1, boring, to 5, fascinating, in steps of a half, such as 3.5.")
    ],
    answers: Annotated[
        str,
        typer.Option(
            metavar="yynyy",
            help="The five questions in order, y, n, or - for no answer: would watch 3 minutes; curious about the "
            "Mafia; an agent stood out; flowed naturally; would watch another game.",
        ),
    ],
    comment: Annotated[str, typer.Option(help="A remark for colleagues.")] = "",
) -> None:
    """Rate a stored transcript from 1 to 5, in steps of a half.

    A later rating by the same person counts instead of the earlier one; both are kept.
    """
    from evaluation.ratings import Rating, parse_answers
    from evaluation.rubric.definitions import ENGAGEMENT

    given = parse_answers(answers)
    store = open_store()
    with store.unit(write=True):
        found = store.transcripts.get(store.transcripts.resolve(transcript))
        rating = Rating(found.id, rater, score, given, comment)
        store.ratings.add(rating)
        name = store.transcripts.game_ids()[found.id]
        evaluation = current_evaluation(store, found)
    if rating.misfit:
        note(f"warning: {rating.misfit}. It is saved and flagged; rate again to revise it.")
    engagement = evaluation.metrics[ENGAGEMENT.name]
    raters = counted(int(engagement.denominator), "rater")
    say(f"{safe(rating.rater)} rated {found.id[:8]} ({safe(name)}) {score} of 5.")
    say(f"Engagement is {engagement.score:.2f} by {raters}; the verdict is {evaluation.verdict.status}.")


@rate_app.command("import")
def import_sheet(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="A CSV file of ratings.")],
    rater: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose ratings they are where the sheet does not say.")
    ] = None,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Check the sheet and store nothing.")] = False,
) -> None:
    """Import ratings from a CSV sheet: all of it, or nothing if a line has a mistake.

    The columns are those of 'export ratings'; game (or transcript_id) and score are enough. The same sheet imported
    again adds nothing. Rows without a score are left out.
    """
    from evaluation.workflows.ratings import import_ratings

    done = import_ratings(open_store(), file.read_bytes(), rater=rater, is_dry=is_dry)
    for problem in done.problems[:_MOST_PROBLEMS]:
        note(f"error: {safe(file)}: {safe(problem)}")
    if done.problems:
        more = len(done.problems) - _MOST_PROBLEMS
        note(f"Nothing was stored.{f' {more} more mistakes are not shown.' if more > 0 else ''}")
        raise typer.Exit(BAD_INPUT)
    verb = "would be stored" if is_dry else "stored"
    say(f"{done.added} new {verb}, {done.known} known already, {done.blank} without a score.")
    if done.flagged:
        note(f"warning: {done.flagged} of them have answers that do not fit the score. Look again.")
