"""Run the experiments of ``dramaturg experiment run``, and print reports in the layout of Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from evaluation.cli.exit_codes import INFRASTRUCTURE
from evaluation.cli.options import JudgeChoice, ListFormat, require_consent
from evaluation.cli.terminal import TerminalProgress, cell_table, note, say, say_json
from evaluation.escaping import json_text, safe
from evaluation.experiments.estimate import estimate
from evaluation.experiments.experiment import ExperimentPlan, scenario_named, scenarios
from evaluation.experiments.study import Study, StudyPlan
from evaluation.experiments.tables import (
    CAVEAT,
    SCRIPTED_NOTE,
    activity_cells,
    activity_words,
    direction,
    missing_words,
    published_experiments,
    published_rows,
    report_cells,
    table1_cells,
    verdict_words,
)
from evaluation.judging.judge_config import SETTINGS_KEY, judge_config, price_of
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.simulation.scripted_world import SCRIPTED_MODEL
from evaluation.store import Store
from evaluation.text.display import json_data
from evaluation.workflows.studies import connection, run_as_job


def run_all(
    store: Store, scenario: str, settings: dict[str, Any], judge: JudgeChoice, output: ListFormat, *, yes: bool
) -> None:
    """Each experiment: what it will cost, the person's consent, the run and its report; of several a joint table.

    Args:
        store: Where to.
        scenario: An id, or "all".
        settings: Fields of ``ExperimentPlan``.
        judge: Model, address and limits.
        output: Of the reports.
        yes: Whether the person agreed beforehand.

    Raises:
        InputError: There is no such scenario.
    """
    limits = {key: value for key, value in judge.config.items() if key != "model"}
    stored = store.settings.get(SETTINGS_KEY)
    is_scripted = settings["effects"] is not None
    model = SCRIPTED_MODEL if is_scripted else judge_config({"model": judge.config["model"]}, stored).model
    studies: list[Study] = []
    is_list = output == "json" and scenario == "all"
    try:
        for chosen in scenarios().values() if scenario == "all" else [scenario_named(scenario)]:
            plan = ExperimentPlan(chosen, model, **settings)
            config, _ = connection(plan, limits, stored, is_estimate=judge.estimate)
            words = estimate(plan, PropositionLibrary.load(), config).words(price_of)
            expected = f"{chosen.id}, {words} What is known already is not asked again."
            if judge.estimate:
                say(expected)
                continue
            note(expected)
            if not is_scripted:
                require_consent("Run it?", yes)
            study = carry_out(store, plan, limits, "step", ": people, messages and evaluated conversations")
            if study.result.stopped:
                note(
                    f"The run stopped before its end ({study.result.stopped}). What is done is stored; run the same "
                    "command again to go on where it stopped."
                )
                raise typer.Exit(INFRASTRUCTURE)
            studies.append(study)
            if not is_list:
                say(study_text(study, output))
    finally:
        if len(studies) > 1 and not is_list:
            say(_joint_table(studies))
        # One document, also when a later one stops: those that are done are known.
        if is_list and studies:
            say_json([study_data(each) for each in studies])


def carry_out(store: Store, plan: StudyPlan, options: dict[str, Any], noun: str, what: str = "") -> Study:
    """Runs a study as a job, with its progress on the terminal."""
    progress = TerminalProgress(noun)

    def report(done: int, total: int) -> None:
        progress.done = done - 1
        progress.advance(f"of {total:,}{what}")

    study = run_as_job(store, plan, options, report)
    progress.finish()
    return study


def study_text(study: Study, output: ListFormat) -> str:
    """A finished experiment's report."""
    if output == "json":
        return json_text(study_data(study))
    plan, result = study.experiment, study.result
    head = f"{safe(plan.name)} ({plan.scenario.id}), seed {plan.seed}, scale {plan.scale:g}, id {study.id[:8]}"
    parts = [
        SCRIPTED_NOTE if plan.is_scripted else "",
        f"{head}, judged by {safe(plan.model)}",
        cell_table(report_cells(study)),
        verdict_words([study]),
        cell_table(activity_cells(study)),
        activity_words(result),
        missing_words(result.comparisons),
        CAVEAT,
    ]
    return "\n\n".join(filter(None, parts))


def _joint_table(studies: Sequence[Study]) -> str:
    """All rows of several finished experiments in one table, in the layout of Table 1.

    Scripted experiments have no columns of the paper. A sentence for each tells how often its treatment took effect.
    """
    names = {study.id: study.experiment.scenario.id for study in studies}
    rows = [{"Experiment": names[study.id], **row} for study in studies for row in report_cells(study)]
    return "\n\n".join([cell_table(rows), *(f"{names[each.id]}: {activity_words(each.result)}" for each in studies)])


def study_data(study: Study) -> dict[str, Any]:
    """An experiment as JSON-compatible data."""
    plan, published = study.experiment, published_rows(study.experiment)
    rows: list[dict[str, Any]] = [
        json_data(row) | {"label": row.label, "direction": str(direction(row, theirs)), "published": json_data(theirs)}
        for row in study.result.comparisons
        for theirs in [published.get(row.metric_name)]
    ]
    return {
        "id": study.id,
        "scenario": plan.scenario.id,
        **{name: getattr(plan, name) for name in ("name", "seed", "scale", "model", "is_scripted")},
        "status": str(study.status),
        "rows": rows,
        "activity": json_data(study.result.activity) or None,
        "caveat": CAVEAT,
    }


def table1_text(output: ListFormat) -> str:
    """Table 1 as its authors printed it."""
    if output == "table":
        return cell_table(table1_cells())
    return json_text(
        [
            {"experiment": one.name, "setting": one.setting, "treatment": one.treatment, **json_data(row)}
            for one in published_experiments()
            for row in one.rows
        ]
    )
