"""Run the experiments of ``dramaturg experiment run``, and print reports in the layout of Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from evaluation.cli.exit_codes import INFRASTRUCTURE
from evaluation.cli.options import JudgeChoice, ListFormat, require_consent
from evaluation.cli.terminal import TerminalProgress, cell_table, note, safe, say, say_json, table
from evaluation.experiments.estimate import estimate
from evaluation.experiments.plan import ExperimentPlan, ExperimentRecord, scenario_named, scenarios
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, judge_config, price_of
from evaluation.judging.model_client.calls import Provider
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.simulation.scripted_world import SCRIPTED_MODEL
from evaluation.store import Store
from evaluation.workflows.experiment_runs import connection
from evaluation.workflows.studies import run_as_job


def estimate_words(plan: ExperimentPlan, config: JudgeConfig) -> str:
    """The expected questions and cost, in a sentence."""
    words = estimate(plan, PropositionLibrary.load(), config).words(price_of)
    return f"{plan.scenario.id}, {words} What is known already is not asked again."


def chosen_plans(
    store: Store,
    scenario: str,
    settings: dict[str, Any],
    model: str | None,
) -> list[ExperimentPlan]:
    """The plan of a scenario, or of all four.

    Raises:
        InputError: There is no such scenario.
    """
    speaker = (
        SCRIPTED_MODEL
        if settings["effects"] is not None
        else judge_config({"model": model}, store.settings.get(SETTINGS_KEY)).model
    )
    named = list(scenarios().values()) if scenario == "all" else [scenario_named(scenario)]
    return [ExperimentPlan(each, speaker, **settings) for each in named]


def run_all(
    store: Store,
    plans: list[ExperimentPlan],
    judge: JudgeChoice,
    output: ListFormat,
    *,
    yes: bool,
) -> None:
    """Each plan: what it will cost, the person's consent, the run and its report; of several a joint table."""
    limits = {key: value for key, value in judge.config.items() if key != "model"}
    records: list[ExperimentRecord] = []
    is_list = output == "json" and len(plans) > 1
    try:
        for plan in plans:
            config, provider = connection(plan, limits, store.settings.get(SETTINGS_KEY), is_estimate=judge.is_estimate)
            if judge.is_estimate:
                say(estimate_words(plan, config))
                continue
            note(estimate_words(plan, config))
            if plan.effects is None:
                require_consent("Run it?", yes)
            record = _carry_out(store, plan, config, limits, provider)
            if record.stopped:
                note(
                    f"The run stopped before its end ({record.stopped}). What is done is stored; run the same command "
                    "again to go on where it stopped."
                )
                raise typer.Exit(INFRASTRUCTURE)
            records.append(record)
            if not is_list:
                say(record_text(record, output))
    finally:
        if len(records) > 1 and not is_list:
            say(joint_table(records))
        # One document, also when a later one stops: those that are done are known.
        if is_list and records:
            say_json([record_dict(each) for each in records])


def _carry_out(
    store: Store, plan: ExperimentPlan, config: JudgeConfig, options: dict[str, Any], provider: Provider | None
) -> ExperimentRecord:
    progress = TerminalProgress("step")

    def report(done: int, total: int) -> None:
        progress.done = done - 1
        progress.advance(f"of {total:,}: people, messages and evaluated conversations")

    record = run_as_job(store, plan, config, options=options, provider=provider, report=report)
    progress.finish()
    return record


def record_text(record: ExperimentRecord, output: ListFormat) -> str:
    """A finished experiment's report."""
    from evaluation.experiments.conversation import stored_activity
    from evaluation.experiments.report import (
        CAVEAT,
        SCRIPTED_NOTE,
        activity_words,
        missing_words,
        report_cells,
        verdict_words,
    )

    if output == "json":
        from evaluation.escaping import json_text

        return json_text(record_dict(record))
    head = f"{safe(record.name)} ({record.scenario}), seed {record.seed}, scale {record.scale:g}, id {record.id[:8]}"
    activity = stored_activity(record)
    parts = [
        SCRIPTED_NOTE if record.is_scripted else "",
        f"{head}, judged by {safe(str(record.config.get('model')))}",
        cell_table([report_cells(row) for row in record.rows]),
        verdict_words(record.rows),
        table(("What happened", "Treatment", "Control"), activity) if activity else "",
        activity_words(record),
        missing_words(record.rows),
        CAVEAT,
    ]
    return "\n\n".join(filter(None, parts))


def joint_table(records: Sequence[ExperimentRecord]) -> str:
    """All rows of several finished experiments in one table, in the layout of Table 1.

    Scripted experiments have no columns of the paper. A sentence for each tells how often its treatment took effect.
    """
    from evaluation.experiments.report import activity_words, report_cells

    rows = [{"Experiment": record.scenario, **report_cells(row)} for record in records for row in record.rows]
    return "\n\n".join([cell_table(rows), *(f"{each.scenario}: {activity_words(each)}" for each in records)])


def record_dict(record: ExperimentRecord) -> dict[str, Any]:
    """An experiment as JSON-compatible data."""
    from evaluation.experiments.report import CAVEAT

    return {
        "id": record.id,
        "scenario": record.scenario,
        "name": record.name,
        "seed": record.seed,
        "scale": record.scale,
        "model": record.config.get("model"),
        "is_scripted": record.is_scripted,
        "status": str(record.status),
        "rows": record.rows,
        "activity": record.activity or None,
        "caveat": CAVEAT,
    }


def table1_text(output: ListFormat) -> str:
    """Table 1 as its authors printed it."""
    from evaluation.escaping import json_text
    from evaluation.experiments.table1 import published_experiments, table1_cells

    if output == "table":
        return cell_table(table1_cells())
    return json_text(
        [
            {"experiment": one.name, "setting": one.setting, "treatment": one.treatment, "dimension": row.dimension}
            | row.as_dict()
            for one in published_experiments()
            for row in one.rows
        ]
    )
