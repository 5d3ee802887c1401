"""``dramaturg persona``: how agents hold their character, and whether they held it better before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from evaluation.cli.persona.options import (
    CommentAction,
    MaxDrop,
    Mode,
    Output,
    PersonaFormat,
    RecordMode,
    RequireBaseline,
    Since,
    Source,
    Until,
    sample_options,
    source_options,
)
from evaluation.cli.shared.exit_codes import GATE_FAILED, INFRASTRUCTURE, command_group
from evaluation.cli.shared.options import (
    ListFormat,
    Rows,
    judge_options,
    open_store,
)
from evaluation.cli.shared.terminal import note, safe, say, shortened, table

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from evaluation.harness.regression import BaselineComparison
    from evaluation.workflows.persona_runs import PersonaRunRequest, Rated, Wrap

app = command_group(
    "Evaluate agents on adherence, consistency, fluency, voice distinctness and ideas, and hold them against "
    "baselines; list earlier runs."
)


@app.command()
@source_options
@sample_options
@judge_options
def run(
    since: Since = None,
    until: Until = None,
    max_drop: MaxDrop = 1.0,
    require_baseline: RequireBaseline = False,
    output: Output = PersonaFormat.TABLE,
) -> None:
    """Evaluate agents over everything they said, store scores and reasons, and hold them against their baselines.

    An agent that speaks in no stored transcript is judged on the shipped ones. Exits with 1 when a score fell by more
    than --max-drop or is gone, with 3 when the judge failed on anything or cannot be reached.
    """
    from evaluation.workflows.persona_runs import compare_with_baselines, known_baselines

    source = source_options.value()
    known = known_baselines(source.baselines)
    if done := _evaluate(source, since=since, until=until):
        comparison = compare_with_baselines(*done, known, max_drop, requires_baseline=require_baseline)
        _print_scores(done.rated, comparison, output, source.mode)
        _finish(comparison)


@app.command()
@source_options
@sample_options
@judge_options
def compare(
    max_drop: MaxDrop = 1.0, require_baseline: RequireBaseline = False, output: Output = PersonaFormat.TABLE
) -> None:
    """Evaluate agents and print every score beside its baseline, with what fell, what is gone and what is new.

    Exits like 'run'. Markdown is the comment for a pull request.
    """
    from evaluation.workflows.persona_runs import compare_with_baselines, known_baselines

    source = source_options.value()
    known = known_baselines(source.baselines)
    if done := _evaluate(source):
        comparison = compare_with_baselines(*done, known, max_drop, requires_baseline=require_baseline)
        _print_comparison(comparison, output)
        _finish(comparison)


@app.command()
@source_options
@sample_options
@judge_options
def baseline() -> None:
    """Evaluate agents and write what they score as the baseline that later runs are held against.

    Prints each score beside the baseline that it replaces. Writes nothing, and exits with 3, when the judge failed on
    anything.
    """
    from evaluation.cli.persona.run_request import baseline_folder
    from evaluation.harness.baselines import read_baselines
    from evaluation.workflows.persona_runs import compare_with_baselines, write_baselines

    source = source_options.value()
    folder = baseline_folder(source.baselines)
    before = read_baselines(folder)
    if not (done := _evaluate(source)):
        return
    comparison = compare_with_baselines(*done, before)
    _print_comparison(comparison, PersonaFormat.TABLE)
    if comparison.verdict == "error":
        note("No baseline was written.")
        _finish(comparison)
    for path in write_baselines(open_store(), *done, folder):
        note(f"Written: {path}")


@app.command()
@sample_options
@judge_options
def record(
    to: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]",
            show_default=False,
            help="Where to: a .jsonl file, which keeps what it holds, or a folder, which gets a file per agent, "
            "written anew.",
        ),
    ] = None,
    mode: Annotated[
        RecordMode, typer.Option("--mode", help="live asks a model; scripted answers by counting words and says so.")
    ] = RecordMode.LIVE,
) -> None:
    """Evaluate agents with a model and record its answers, so that mock mode needs none.

    Play them with the same agents, dimensions, sample size, seed and model.
    """
    from evaluation.cli.persona.recording import AnswerFiles, recording_place
    from evaluation.files.bundled import proposition_roots
    from evaluation.judging.propositions.loading import PropositionLibrary

    place = recording_place(to)
    library = PropositionLibrary.load(proposition_roots(sample_options.value().propositions))
    files = AnswerFiles(place, is_scripted=mode is RecordMode.SCRIPTED, library=library)
    if not (done := _evaluate(Source(mode, False, None, None), wrap=files.record)):
        return
    failed = [item.detail for _, each in done.rated for item in each.items if item.status == "error"]
    paths = files.close(keeps_old=bool(failed))
    _print_scores(done.rated, None, PersonaFormat.TABLE, Mode.LIVE)
    for path in paths:
        note(f"Recorded: {path}")
    if failed:
        note(f"{len(failed)} judgements failed; the first: {shortened(failed[0], 300)}")
        raise typer.Exit(INFRASTRUCTURE)


class _Evaluated(NamedTuple):
    request: PersonaRunRequest
    rated: list[Rated]


def _evaluate(
    source: Source, *, since: datetime | None = None, until: datetime | None = None, wrap: Wrap | None = None
) -> _Evaluated | None:
    """The evaluations that the options ask for; ``None`` where they ask for an estimate, which is printed."""
    from evaluation.cli.persona.run_request import persona_request, run_with_progress
    from evaluation.persona.subjects import Period
    from evaluation.workflows.persona_runs import estimate_personas

    store, judge = open_store(), judge_options.value()
    request = persona_request(store, source, sample_options.value(), judge, Period(since, until), wrap)
    if judge.is_estimate:
        say(estimate_personas(store, request))
        return None
    return _Evaluated(request, run_with_progress(store, request))


def _print_scores(rated: list[Rated], comparison: BaselineComparison | None, output: PersonaFormat, mode: str) -> None:
    from evaluation.cli.persona.rendering import evaluation_dict, evaluation_markdown, evaluation_table
    from evaluation.cli.shared.rendering import print_json_list

    if output is PersonaFormat.JSON:
        # Of recordings the output is the same every time; the runs are listed by 'runs'.
        print_json_list(evaluation_dict(None if mode is Mode.MOCK else key, each) for key, each in rated)
    elif output is PersonaFormat.JUNIT and comparison is not None:
        _print_comparison(comparison, output)
    elif not rated:
        note("There is nobody to evaluate. Name agents with --agents, or 'all' for everybody who is stored.")
    else:
        draw = evaluation_markdown if output is PersonaFormat.MARKDOWN else evaluation_table
        say(draw(rated, comparison))


def _print_comparison(comparison: BaselineComparison, output: PersonaFormat) -> None:
    from evaluation.cli.persona.rendering import comparison_table
    from evaluation.escaping import json_text

    if output is PersonaFormat.JSON:
        say(json_text(comparison.as_dict()))
    elif output is PersonaFormat.JUNIT:
        from evaluation.harness.junit import junit_xml

        say(junit_xml(comparison))
    elif output is PersonaFormat.MARKDOWN:
        from evaluation.harness.pull_request_comment import comparison_markdown

        say(comparison_markdown(comparison.as_dict()))
    else:
        say(comparison_table(comparison))


def _finish(comparison: BaselineComparison) -> None:
    """Says on standard error what failed, and ends with the code for it."""
    from evaluation.harness.junit import row_words
    from evaluation.harness.regression import FAILURES, RegressionOutcome

    errors = comparison.having({RegressionOutcome.ERROR})
    for row in [*errors, *comparison.having(FAILURES)]:
        note(f"{row.outcome}: {row_words(row, comparison.max_drop)}")
    if errors:
        raise typer.Exit(INFRASTRUCTURE)
    if comparison.verdict == "nothing_compared":
        note("Nothing was compared: no score could be held against a baseline.")
    if comparison.has_failed:
        raise typer.Exit(GATE_FAILED)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def comment(
    context: typer.Context,
    action: Annotated[CommentAction, typer.Argument(show_default=False, help="Compare, or write the comment.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="Where the report lies.")],
) -> None:
    """Keep one comment with the regression table on a GitHub pull request.

    'check' compares like 'compare', whose options may follow, writes comparison.json and comment.md to FOLDER and needs
    no token. 'post' writes or updates the comment; it needs GITHUB_REPOSITORY, GITHUB_TOKEN and GITHUB_EVENT_PATH.
    """
    import os

    from evaluation.harness.github_comment import main

    raise typer.Exit(main([str(action), str(folder), *context.args], os.environ))


@app.command()
def show(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", show_default=False, help="The run's id, or its first digits; all without."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="AGENT", show_default=False, help="List only runs of this agent, by its id or name."),
    ] = None,
    output: Rows = ListFormat.TABLE,
) -> None:
    """List the stored runs, the latest last; or show every score of one with its message and the judge's reason."""
    from evaluation.errors import NotFoundError
    from evaluation.escaping import json_text
    from evaluation.workflows.agents import KnownAgents

    store = open_store()
    runs = store.evaluations.runs(agent and KnownAgents.of(store).resolve(agent, with_silent=True, with_channels=True))
    if run is None:
        _list_runs(runs, output)
        return
    found = [row for row in runs.to_dict("records") if run and str(row["run_id"]).startswith(run.lower())]
    if len(found) != 1:
        many = "Several runs have" if found else "No run has"
        remedy = "See them with: dramaturg persona show."
        raise NotFoundError(f"{many} an id that begins with {run!r}.", remedy=remedy)
    key = str(found[0]["run_id"])
    scores, failures = store.evaluations.scores(key), store.evaluations.failures(key)
    if output is ListFormat.JSON:
        say(json_text({"run_id": key, "scores": _records(scores), "failures": _records(failures)}))
        return
    say("  ".join(part for part in _run_row(found[0]) if part))
    for row in scores.to_dict("records"):
        mark = f", {row['mark']}" if row["mark"] else ""
        say(f"\n{row['dimension']}, {safe(row['proposition_id'])}: {row['score']:g}{mark}")
        if isinstance(row["context_snippet"], str) and row["context_snippet"]:
            say(f"  about: {safe(row['context_snippet'])}")
        say("\n".join(f"  {safe(line)}" for line in str(row["reasoning"]).splitlines()))
    for row in failures.to_dict("records"):
        say(f"\n{row['dimension']}, {safe(row['proposition_id'])}: no score\n  {safe(str(row['reason']))}")


def _list_runs(runs: pd.DataFrame, output: ListFormat) -> None:
    from evaluation.escaping import json_text

    if output is ListFormat.JSON:
        say(json_text(_records(runs)))
    elif runs.empty:
        note("No agent was evaluated yet. Begin with: dramaturg persona run.")
    else:
        headers = ("Run", "Agent", "Status", "Overall", "Sample", "Mode", "Model", "Begun (UTC)")
        say(table(headers, [_run_row(row) for row in runs.to_dict("records")]))


def _records(rows: pd.DataFrame) -> Any:
    return json.loads(rows.to_json(orient="records", date_format="iso"))


def _run_row(row: Mapping[Any, Any]) -> tuple[str, ...]:
    overall = row["overall_score"]
    return (
        str(row["run_id"]),
        shortened(row["display_name"], 30),
        str(row["status"]),
        f"{overall:.2f}" if isinstance(overall, float) and overall == overall else "n/a",
        str(row["sample_size"]),
        *(value if isinstance(value := row[name], str) else "" for name in ("mode", "model")),
        f"{row['created_at']:%Y-%m-%d %H:%M}",
    )
