"""``dramaturg persona``: how agents hold their character, and whether they held it better before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.persona.options import (
    Agents,
    Baselines,
    CommentAction,
    Dimensions,
    DoubleCheck,
    Individual,
    MaxDrop,
    Mode,
    ModeOption,
    Output,
    PersonaFormat,
    Recordings,
    RecordMode,
    RequireBaseline,
    SampleSize,
    Seed,
    Simulated,
    Since,
    Until,
)
from evaluation.cli.shared.exit_codes import GATE_FAILED, INFRASTRUCTURE, command_group
from evaluation.cli.shared.options import (
    BaseUrl,
    Concurrency,
    Database,
    EstimateOnly,
    JudgeModel,
    ListFormat,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    PropositionFolder,
    Rows,
    Timeout,
    judge_limits,
    open_store,
)
from evaluation.cli.shared.terminal import note, safe, say, shortened, table

if TYPE_CHECKING:
    from evaluation.harness.regression import BaselineComparison
    from evaluation.workflows.persona_runs import Rated

app = command_group(
    "Evaluate agents on adherence, consistency, fluency, voice distinctness and ideas, and hold them against "
    "baselines; list earlier runs."
)


@app.command()
def run(
    agents: Agents = "",
    dimensions: Dimensions = "",
    mode: ModeOption = Mode.MOCK,
    since: Since = None,
    until: Until = None,
    simulated: Simulated = False,
    sample_size: SampleSize = 20,
    seed: Seed = 0,
    double_check: DoubleCheck = False,
    individual: Individual = False,
    model: JudgeModel = None,
    base_url: BaseUrl = None,
    budget: MaxUsd = None,
    max_calls: MaxCalls = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    estimate: EstimateOnly = False,
    recordings: Recordings = None,
    baselines: Baselines = None,
    max_drop: MaxDrop = 1.0,
    require_baseline: RequireBaseline = False,
    output: Output = PersonaFormat.TABLE,
    folder: PropositionFolder = None,
    db: Database = None,
) -> None:
    """Evaluate agents over everything they said, store scores and reasons, and hold them against their baselines.

    An agent that speaks in no stored transcript is judged on the shipped ones. Exits with 1 when a score fell by more
    than --max-drop or is gone, with 3 when the judge failed on
    anything or cannot be reached.
    """
    from evaluation.cli.persona.run_request import evaluation_plan, persona_request, run_with_progress
    from evaluation.workflows.persona_runs import compare_with_baselines, estimate_personas, known_baselines

    store = open_store(db)
    limits = judge_limits(budget, max_calls, concurrency, timeout, max_tokens)
    known = known_baselines(baselines)
    plan = evaluation_plan(
        dimensions, sample_size, seed, individual, since=since, until=until, double_check=double_check
    )
    request = persona_request(
        store,
        mode,
        plan,
        agents,
        folder,
        model=model,
        base_url=base_url,
        recordings=recordings,
        with_simulated=simulated,
        is_estimate=estimate,
        **limits,
    )
    if estimate:
        say(estimate_personas(store, request))
        return
    rated = run_with_progress(store, request)
    comparison = compare_with_baselines(request, rated, known, max_drop, requires_baseline=require_baseline)
    _print_scores(rated, comparison, output, mode)
    _finish(comparison)


@app.command()
def compare(
    agents: Agents = "",
    dimensions: Dimensions = "",
    mode: ModeOption = Mode.MOCK,
    simulated: Simulated = False,
    sample_size: SampleSize = 20,
    seed: Seed = 0,
    double_check: DoubleCheck = False,
    individual: Individual = False,
    model: JudgeModel = None,
    base_url: BaseUrl = None,
    budget: MaxUsd = None,
    max_calls: MaxCalls = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    estimate: EstimateOnly = False,
    recordings: Recordings = None,
    baselines: Baselines = None,
    max_drop: MaxDrop = 1.0,
    require_baseline: RequireBaseline = False,
    output: Output = PersonaFormat.TABLE,
    folder: PropositionFolder = None,
    db: Database = None,
) -> None:
    """Evaluate agents and print every score beside its baseline, with what fell, what is gone and what is new.

    Exits like 'run'. Markdown is the comment for a pull request.
    """
    from evaluation.cli.persona.run_request import evaluation_plan, persona_request, run_with_progress
    from evaluation.workflows.persona_runs import compare_with_baselines, estimate_personas, known_baselines

    store = open_store(db)
    limits = judge_limits(budget, max_calls, concurrency, timeout, max_tokens)
    known = known_baselines(baselines)
    plan = evaluation_plan(dimensions, sample_size, seed, individual, double_check=double_check)
    request = persona_request(
        store,
        mode,
        plan,
        agents,
        folder,
        model=model,
        base_url=base_url,
        recordings=recordings,
        with_simulated=simulated,
        is_estimate=estimate,
        **limits,
    )
    if estimate:
        say(estimate_personas(store, request))
        return
    rated = run_with_progress(store, request)
    comparison = compare_with_baselines(request, rated, known, max_drop, requires_baseline=require_baseline)
    _print_comparison(comparison, output)
    _finish(comparison)


@app.command()
def baseline(
    agents: Agents = "",
    dimensions: Dimensions = "",
    mode: ModeOption = Mode.MOCK,
    simulated: Simulated = False,
    sample_size: SampleSize = 20,
    seed: Seed = 0,
    double_check: DoubleCheck = False,
    individual: Individual = False,
    model: JudgeModel = None,
    base_url: BaseUrl = None,
    budget: MaxUsd = None,
    max_calls: MaxCalls = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    estimate: EstimateOnly = False,
    recordings: Recordings = None,
    baselines: Baselines = None,
    folder: PropositionFolder = None,
    db: Database = None,
) -> None:
    """Evaluate agents and write what they score as the baseline that later runs are held against.

    Prints each score beside the baseline that it replaces. Writes nothing, and exits with 3, when the judge failed on
    anything.
    """
    from evaluation.cli.persona import run_request
    from evaluation.harness.baselines import read_baselines
    from evaluation.workflows.persona_runs import compare_with_baselines, estimate_personas, write_baselines

    store = open_store(db)
    limits = judge_limits(budget, max_calls, concurrency, timeout, max_tokens)
    to = run_request.baseline_folder(baselines)
    before = read_baselines(to)
    plan = run_request.evaluation_plan(dimensions, sample_size, seed, individual, double_check=double_check)
    request = run_request.persona_request(
        store,
        mode,
        plan,
        agents,
        folder,
        model=model,
        base_url=base_url,
        recordings=recordings,
        with_simulated=simulated,
        is_estimate=estimate,
        **limits,
    )
    if estimate:
        say(estimate_personas(store, request))
        return
    rated = run_request.run_with_progress(store, request)
    comparison = compare_with_baselines(request, rated, before)
    _print_comparison(comparison, PersonaFormat.TABLE)
    if comparison.verdict == "error":
        note("No baseline was written.")
        _finish(comparison)
    for path in write_baselines(store, request, rated, to):
        note(f"Written: {path}")


@app.command()
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
    agents: Agents = "",
    dimensions: Dimensions = "",
    mode: Annotated[
        RecordMode, typer.Option("--mode", help="live asks a model; scripted answers by counting words and says so.")
    ] = RecordMode.LIVE,
    sample_size: SampleSize = 20,
    seed: Seed = 0,
    double_check: DoubleCheck = False,
    individual: Individual = False,
    model: JudgeModel = None,
    base_url: BaseUrl = None,
    budget: MaxUsd = None,
    max_calls: MaxCalls = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    estimate: EstimateOnly = False,
    folder: PropositionFolder = None,
    db: Database = None,
) -> None:
    """Evaluate agents with a model and record its answers, so that mock mode needs none.

    Play them with the same agents, dimensions, sample size, seed and model.
    """
    from dataclasses import replace

    from evaluation.cli.persona.recording import AnswerFiles, recording_place
    from evaluation.cli.persona.run_request import evaluation_plan, persona_request, run_with_progress
    from evaluation.workflows.persona_runs import estimate_personas

    store = open_store(db)
    limits = judge_limits(budget, max_calls, concurrency, timeout, max_tokens)
    place = recording_place(to)
    plan = evaluation_plan(dimensions, sample_size, seed, individual, double_check=double_check)
    request = persona_request(
        store, mode, plan, agents, folder, model=model, base_url=base_url, is_estimate=estimate, **limits
    )
    files = AnswerFiles(place, is_scripted=mode is RecordMode.SCRIPTED, library=request.library)
    if estimate:
        say(estimate_personas(store, request))
        return
    rated = run_with_progress(store, replace(request, wrap=files.record))
    failed = [item.detail for _, each in rated for item in each.items if item.status == "error"]
    paths = files.close(keeps_old=bool(failed))
    _print_scores(rated, None, PersonaFormat.TABLE, Mode.LIVE)
    for path in paths:
        note(f"Recorded: {path}")
    if failed:
        note(f"{len(failed)} judgements failed; the first: {shortened(failed[0], 300)}")
        raise typer.Exit(INFRASTRUCTURE)


def _print_scores(rated: list[Rated], comparison: BaselineComparison | None, output: PersonaFormat, mode: Mode) -> None:
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
def runs(
    agent: Annotated[
        str | None,
        typer.Option(metavar="AGENT", show_default=False, help="Only runs of this agent, by its id or name."),
    ] = None,
    output: Rows = ListFormat.TABLE,
    db: Database = None,
) -> None:
    """List the stored evaluation runs, the latest last."""
    from evaluation.escaping import json_text
    from evaluation.workflows.agents import KnownAgents

    store = open_store(db)
    found = store.evaluations.runs(agent and KnownAgents.of(store).resolve(agent, with_silent=True))
    if output is ListFormat.JSON:
        import json

        rows = json.loads(found.to_json(orient="records", date_format="iso"))
        say(json_text(rows))
    elif found.empty:
        note("No agent was evaluated yet. Begin with: dramaturg persona run.")
    else:
        headers = ("Run", "Agent", "Status", "Overall", "Sample", "Mode", "Model", "Begun (UTC)")
        say(table(headers, [_run_row(row) for row in found.to_dict("records")]))


@app.command()
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", show_default=False, help="The run's id, or its first digits.")],
    output: Rows = ListFormat.TABLE,
    db: Database = None,
) -> None:
    """Show every score of a stored run with its proposition, its message and the judge's reason."""
    from evaluation.errors import NotFoundError
    from evaluation.escaping import json_text

    store = open_store(db)
    runs = store.evaluations.runs().to_dict("records")
    found = [row for row in runs if run and str(row["run_id"]).startswith(run.lower())]
    if len(found) != 1:
        many = "Several runs have" if found else "No run has"
        remedy = "See them with: dramaturg persona runs."
        raise NotFoundError(f"{many} an id that begins with {run!r}.", remedy=remedy)
    key = str(found[0]["run_id"])
    scores, failures = store.evaluations.scores(key), store.evaluations.failures(key)
    if output is ListFormat.JSON:
        import json

        rows = {
            name: json.loads(each.to_json(orient="records"))
            for name, each in (("scores", scores), ("failures", failures))
        }
        say(json_text({"run_id": key, **rows}))
        return
    say("  ".join(part for part in _run_row(found[0]) if part))
    for row in scores.to_dict("records"):
        mark = f", {row['mark']}" if row["mark"] else ""
        say(f"\n{row['dimension']}, {safe(row['proposition_id'])}: {row['score']:g}{mark}")
        if isinstance(row["context_snippet"], str) and row["context_snippet"]:
            say(f"  about: {safe(row['context_snippet'])}")
        say("\n".join(f"  {safe(line)}" for line in str(row["reasoning"]).splitlines()))
    for row in failures.to_dict("records"):
        say(f"\n{row['dimension']}, {safe(row['proposition_id'])}: no score\n  {safe(str(row['error']))}")


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
