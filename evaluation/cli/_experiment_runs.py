"""Run the experiments of ``dramaturg experiment run``, and print reports in the layout of Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from evaluation.cli.exit_codes import INFRASTRUCTURE
from evaluation.cli.options import JudgeChoice, ListFormat, require_consent
from evaluation.cli.terminal import TerminalProgress, note, safe, say, say_json, table
from evaluation.experiments.estimate import estimate
from evaluation.experiments.plan import ExperimentPlan, ExperimentRecord, scenario_named, scenarios
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, judge_config, price_of
from evaluation.judging.model_client.calls import Provider
from evaluation.judging.model_client.prices import Price
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.simulation.population import load_personas
from evaluation.simulation.scripted_world import SCRIPTED_MODEL
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.experiment_runs import ExperimentOutcome, connection, run_as_job


def estimate_words(plan: ExperimentPlan, config: JudgeConfig) -> str:
    """The expected questions and cost, in a sentence."""
    price = Price(0.0, 0.0, 0.0) if plan.effects is not None else price_of(config)
    found = estimate(plan, PropositionLibrary.load(), price)
    design = plan.design
    return (
        f"{plan.scenario.id}: {design.personas} agents, {len(design.rooms)} pairs of conversations, "
        f"{counted(plan.step_count, 'step')}; {found.words}. What is known already is not asked again."
    )


def chosen_plans(
    store: Store,
    scenario: str,
    settings: dict[str, Any],
    folder: Path | None,
    model: str | None,
) -> list[ExperimentPlan]:
    """The plan of a scenario, or of all four.

    Raises:
        InputError: There is no such scenario, or agent files cannot be used.
    """
    personas = tuple(load_personas(folder)) if folder else ()
    speaker = (
        SCRIPTED_MODEL
        if settings["effects"] is not None
        else judge_config({"model": model}, store.settings.get(SETTINGS_KEY)).model
    )
    named = list(scenarios().values()) if scenario == "all" else [scenario_named(scenario)]
    return [ExperimentPlan(each, speaker, **settings, personas=personas) for each in named]


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
    is_list = output is ListFormat.JSON and len(plans) > 1
    try:
        for plan in plans:
            config, provider = connection(plan, limits, store.settings.get(SETTINGS_KEY), is_estimate=judge.is_estimate)
            if judge.is_estimate:
                say(estimate_words(plan, config))
                continue
            note(estimate_words(plan, config))
            if plan.effects is None:
                require_consent("Run it?", yes)
            outcome = _carry_out(store, plan, config, limits, provider)
            if outcome.stopped:
                note(
                    f"The run stopped before its end ({outcome.stopped}). What is done is stored; run the same command "
                    "again to go on where it stopped."
                )
                raise typer.Exit(INFRASTRUCTURE)
            records.append(outcome.record)
            if not is_list:
                say(record_text(records[-1], output))
    finally:
        if len(records) > 1 and not is_list:
            say(joint_table(records))
        # One document, also when a later one stops: those that are done are known.
        if is_list and records:
            say_json([record_dict(each) for each in records])


def _carry_out(
    store: Store, plan: ExperimentPlan, config: JudgeConfig, options: dict[str, Any], provider: Provider | None
) -> ExperimentOutcome:
    progress = TerminalProgress("step")

    def report(done: int, total: int) -> None:
        progress.done = done - 1
        progress.advance(f"of {total:,}: people, messages and evaluated conversations")

    outcome = run_as_job(store, plan, config, options=options, provider=provider, report=report)
    progress.finish()
    return outcome


_HEADERS = ("Dimension", "T mean (sd)", "C mean (sd)", "n", "Difference", "95 % interval", "d", "p", "p Holm")
_OWN = 2
_MORE = ("p cluster", "Here", "Paper T", "Paper C", "Paper diff.", "Paper p", "Direction")


def record_text(record: ExperimentRecord, output: ListFormat) -> str:
    """A finished experiment's report.

    Args:
        record: Of the experiment.
        output: The format.
    """
    from evaluation.experiments.conversation import is_idle, stored_activity
    from evaluation.experiments.plan import judge_of
    from evaluation.experiments.report import CAVEAT, SCRIPTED_NOTE, verdict_words

    if output is ListFormat.JSON:
        from evaluation.escaping import json_text

        return json_text(record_dict(record))
    rows = (record.results or {}).get("rows", [])
    head = f"{safe(record.name)} ({record.scenario}), seed {record.seed}, scale {record.scale:g}, id {record.id[:8]}"
    head += f", judged by {safe(judge_of(record))}"
    notes = [SCRIPTED_NOTE] if record.is_scripted else []
    words = verdict_words(rows)
    activity = [table(("What happened", "Treatment", "Control"), found)] if (found := stored_activity(record)) else []
    is_published = any(row["published"] for row in rows)
    headers = (*_HEADERS, *(_MORE if is_published else _MORE[:_OWN]))
    tables = [table(headers, [_line(row)[: len(headers)] for row in rows]), *([words] if words else []), *activity]
    idle = [_IDLE.format(name="This experiment")] if is_idle(record) else []
    return "\n\n".join([*notes, head, *tables, *idle, *_missing(rows), CAVEAT])


_IDLE = "{name}: no part of the treatment took effect, so the two sides differ by chance alone. More --steps may help."


def joint_table(records: Sequence[ExperimentRecord]) -> str:
    """All rows of several finished experiments in one table, in the layout of Table 1.

    Scripted experiments have no columns of the paper. A sentence names each whose treatment never took effect.
    """
    from evaluation.experiments.conversation import is_idle

    rows = [(record.scenario, row) for record in records for row in (record.results or {}).get("rows", [])]
    is_published = any(row["published"] for _, row in rows)
    headers = ("Experiment", *_HEADERS, *(_MORE if is_published else _MORE[:_OWN]))
    drawn = table(headers, [(scenario, *_line(row))[: len(headers)] for scenario, row in rows])
    return "\n\n".join([drawn, *(_IDLE.format(name=each.scenario) for each in records if is_idle(each))])


def _missing(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lost = [f"{row['label']}: {row['unscored']}" for row in rows if row["unscored"]]
    return [f"Scores that are missing: {', '.join(lost)}."] if lost else []


def record_dict(record: ExperimentRecord) -> dict[str, Any]:
    """An experiment as JSON-compatible data; arguments as for ``record_text``."""
    from evaluation.experiments.plan import judge_of
    from evaluation.experiments.report import CAVEAT

    return {
        "id": record.id,
        "scenario": record.scenario,
        "name": record.name,
        "seed": record.seed,
        "scale": record.scale,
        "model": record.config.get("model"),
        "judge": judge_of(record),
        "is_scripted": record.is_scripted,
        "status": str(record.status),
        "rows": (record.results or {}).get("rows", []),
        "activity": (record.results or {}).get("activity"),
        "caveat": CAVEAT,
    }


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    published = row["published"] or {}
    low, high = row["difference_low"], row["difference_high"]
    return (
        row["label"],
        _mean(row["treatment_mean"], row["treatment_sd"]),
        _mean(row["control_mean"], row["control_sd"]),
        f"{row['n_treatment']}/{row['n_control']}",
        _signed(row["difference"]),
        row["interval_note"] or "none" if low is None else f"{low:+.2f} to {high:+.2f}",
        _signed(row["cohens_d"]),
        _p(row["p_value"]),
        _p(row["p_holm"]),
        _p(row["p_cluster_robust"]),
        row["outcome"],
        _mean(published.get("treatment_mean"), published.get("treatment_sd")),
        _mean(published.get("control_mean"), published.get("control_sd")),
        _signed(published.get("difference")),
        published.get("p_value", "-"),
        row["direction"],
    )


def _mean(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.2f} ({'none' if sd is None else f'{sd:.2f}'})"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _p(value: float | None) -> str:
    from evaluation.statistics.words import p_words

    return p_words(float("nan") if value is None else value)


def published_text(output: ListFormat) -> str:
    """Table 1 as its authors printed it."""
    from evaluation.experiments.table1 import published_experiments

    rows: list[dict[str, Any]] = [
        {
            "experiment": experiment.name,
            "setting": experiment.setting,
            "treatment": experiment.treatment,
            "dimension": row.dimension,
            **row.as_dict(),
        }
        for experiment in published_experiments()
        for row in experiment.rows
    ]
    if output is ListFormat.JSON:
        from evaluation.escaping import json_text

        return json_text(rows)
    lines = [
        (
            row["experiment"],
            row["dimension"],
            _mean(row["treatment_mean"], row["treatment_sd"]),
            _mean(row["control_mean"], row["control_sd"]),
            _signed(row["difference"]),
            row["p_value"],
        )
        for row in rows
    ]
    return table(("Exp", "Dimension", "T mean (sd)", "C mean (sd)", "Difference", "p"), lines)
