"""``dramaturg eval``: how agents hold their character."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.exits import INFRASTRUCTURE, CommandGroup
from evaluation.cli.options import Database, ListFormat, OutputFormat, Rows, open_store
from evaluation.cli.persona_options import (
    Address,
    Agents,
    Dimensions,
    DoubleCheck,
    Individual,
    Mode,
    Model,
    ModeOption,
    Output,
    Recordings,
    SampleSize,
    Seed,
    Since,
    Until,
)
from evaluation.cli.propositions import Folder, proposition_roots
from evaluation.cli.terminal import Progress, note, say, shortened, table

if TYPE_CHECKING:
    from evaluation.cli.persona_rendering import Rated
    from evaluation.judging.config import JudgeConfig
    from evaluation.judging.propositions import Dimension
    from evaluation.judging.protocol import Judge
    from evaluation.persona.evaluating import Plan
    from evaluation.store import Store

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Evaluate agents on adherence, consistency, fluency, voice distinctness and ideas; list earlier runs.",
)


@app.command()
def run(
    agents: Agents = "",
    dimensions: Dimensions = "",
    mode: ModeOption = None,
    since: Since = None,
    until: Until = None,
    sample_size: SampleSize = 20,
    seed: Seed = 0,
    double_check: DoubleCheck = False,
    individual: Individual = False,
    model: Model = None,
    base_url: Address = None,
    recordings: Recordings = None,
    output: Output = OutputFormat.TABLE,
    folder: Folder = None,
    db: Database = None,
) -> None:
    """Evaluate agents over everything they said, and store scores and reasons.

    An agent that speaks in no stored transcript is judged on the shipped ones. Without a key the offline judge scores
    what can be counted. Exits with 3 when the judge failed on anything.
    """
    from evaluation.judging.asking import Options
    from evaluation.persona.evaluating import Plan
    from evaluation.persona.period import Period

    store = open_store(db)
    judge_mode = "recorded" if mode is Mode.MOCK else mode
    config = _config(store, mode=judge_mode, model=model, base_url=base_url, recordings=recordings)
    plan = Plan(
        _dimensions(dimensions),
        sample_size,
        seed,
        Period(since, until),
        Options(is_batched=not individual, has_double_check=double_check),
    )
    _say_who_judges(config)
    evaluations = _evaluate(store, config, plan, _names(agents), folder)
    _print(evaluations, output)
    _exit_on_errors(evaluations)


@app.command()
def record(
    to: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False, help="Where to; what it holds stays (.jsonl).")
    ],
    agents: Agents = "",
    dimensions: Dimensions = "",
    sample_size: SampleSize = 20,
    seed: Seed = 0,
    individual: Individual = False,
    model: Model = None,
    base_url: Address = None,
    folder: Folder = None,
    db: Database = None,
) -> None:
    """Evaluate agents with a model and record its answers, so that 'run --mode mock --recordings FILE' needs none.

    Play them with the same agents, dimensions, sample size, seed and model.
    """
    from evaluation.judging.asking import Options
    from evaluation.persona.evaluating import Plan

    store = open_store(db)
    config = _config(store, mode="live", model=model, base_url=base_url)
    plan = Plan(_dimensions(dimensions), sample_size, seed, options=Options(is_batched=not individual))
    _say_who_judges(config)
    evaluations = _evaluate(store, config, plan, _names(agents), folder, record_to=to)
    _print(evaluations, OutputFormat.TABLE)
    _exit_on_errors(evaluations)


def _config(store: Store, **options: Any) -> JudgeConfig:
    from evaluation.judging.config import SETTINGS_KEY, judge_config

    return judge_config(options, stored=store.settings.get(SETTINGS_KEY))


def _names(listed: str) -> list[str]:
    return [name for name in map(str.strip, listed.split(",")) if name]


def _dimensions(names: str) -> tuple[Dimension, ...]:
    from evaluation.errors import InputError
    from evaluation.persona.results import DIMENSIONS

    chosen = _names(names)
    for name in chosen:
        if name not in DIMENSIONS:
            raise InputError(f"{name!r} is no dimension.", remedy=f"Choose from {', '.join(DIMENSIONS)}.")
    return tuple([each for each in DIMENSIONS if not chosen or each in chosen])


def _say_who_judges(config: JudgeConfig) -> None:
    if config.mode == "offline":
        note(
            "No language model judges: fluency, consistency and voice distinctness are counted, adherence and ideas "
            "are not scored. For a model, set OPENAI_API_KEY or give --base-url."
        )
    elif config.mode == "recorded":
        note(f"Recorded answers of {config.model} are played back; no model is asked.")
    else:
        note(f"{config.model} judges{f' at {config.base_url}' if config.base_url else ''}.")


def _evaluate(
    store: Store,
    config: JudgeConfig,
    plan: Plan,
    agents: list[str],
    folder: Path | None,
    *,
    record_to: Path | None = None,
) -> list[Rated]:
    import asyncio

    from evaluation.harness.agents import find_subjects
    from evaluation.harness.running import evaluate_persona
    from evaluation.judging.budget import Budget
    from evaluation.judging.config import build_judge
    from evaluation.judging.propositions_load import PropositionLibrary
    from evaluation.judging.recorded import RecordingJudge

    library = PropositionLibrary.load(proposition_roots(folder))
    subjects = find_subjects(store, agents, plan.dimensions, library, plan.period)
    budget = Budget(usd=config.max_usd, calls=config.max_calls)
    progress = Progress("judgement")
    mode = "mock" if config.mode == "recorded" else str(config.mode)

    def judge_for(run_id: str) -> Judge:
        judge = build_judge(config, cache=store.judgements, budget=budget, run_id=run_id)
        return RecordingJudge(judge, record_to) if record_to else judge

    async def collect() -> list[Rated]:
        runs = evaluate_persona(
            store,
            subjects,
            judge_for,
            library,
            plan,
            mode=mode,
            report=lambda _, judgement: progress.advance(judgement.model),
        )
        return [rated async for rated in runs]

    found = asyncio.run(collect())
    progress.finish()
    return found


def _print(evaluations: list[Rated], output: OutputFormat) -> None:
    from evaluation.cli.persona_rendering import evaluation_dict, evaluation_markdown, evaluation_table
    from evaluation.cli.rendering import print_json_list

    if output is OutputFormat.JSON:
        print_json_list(evaluation_dict(run_id, evaluation) for run_id, evaluation in evaluations)
    elif not evaluations:
        note("There is nobody to evaluate. Name agents with --agents, or 'all' for everybody who is stored.")
    else:
        say((evaluation_markdown if output is OutputFormat.MARKDOWN else evaluation_table)(evaluations))


def _exit_on_errors(evaluations: list[Rated]) -> None:
    errors = [item.detail for _, each in evaluations for item in each.items if item.status == "error"]
    if errors:
        note(f"{len(errors)} judgements failed; the first: {shortened(errors[0], 300)}")
        raise typer.Exit(INFRASTRUCTURE)


@app.command()
def runs(
    agent: Annotated[
        str | None, typer.Option(metavar="ID", show_default=False, help="Only runs of this agent.")
    ] = None,
    output: Rows = ListFormat.TABLE,
    db: Database = None,
) -> None:
    """List the stored evaluation runs, the latest last."""
    from evaluation.cli.rendering import json_text

    found = open_store(db).evaluations.runs(agent)
    if output is ListFormat.JSON:
        import json

        say(json_text(json.loads(found.to_json(orient="records", date_format="iso"))))
    elif found.empty:
        note("No agent was evaluated yet. Begin with: dramaturg eval run.")
    else:
        headers = ("Run", "Agent", "Status", "Overall", "Sample", "Mode", "Model", "Begun (UTC)")
        say(table(headers, [_run_row(row) for row in found.to_dict("records")]))


def _run_row(row: Mapping[Any, Any]) -> tuple[str, ...]:
    overall = row["overall_score"]
    return (
        str(row["run_id"]),
        shortened(row["display_name"], 30),
        str(row["status"]),
        f"{overall:.2f}" if isinstance(overall, float) and overall == overall else "n/a",
        str(row["sample_size"]),
        str(row["mode"] or ""),
        str(row["model"] or ""),
        f"{row['created_at']:%Y-%m-%d %H:%M}",
    )
