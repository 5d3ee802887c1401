"""Run ``dramaturg experiment run``: print the expected cost, run, and print the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from evaluation.cli.experiments.rendering import joint_table, record_dict, record_text
from evaluation.cli.shared.exit_codes import INFRASTRUCTURE
from evaluation.cli.shared.options import JudgeChoice, OutputFormat, require_consent
from evaluation.cli.shared.terminal import TerminalProgress, note, say
from evaluation.escaping import json_text
from evaluation.experiments.estimate import estimate
from evaluation.experiments.plan import ExperimentPlan, ExperimentRecord, GroupLayout, scenario_named, scenarios
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, judge_config, price_of
from evaluation.judging.model_client.calls import Price, Provider
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.simulation.population import load_personas
from evaluation.simulation.scripted_world import NO_EFFECTS, SCRIPTED_MODEL, Effects
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.workflows.experiment_runs import ExperimentOutcome, connection, run_as_job


def carry_out(
    store: Store, plan: ExperimentPlan, config: JudgeConfig, options: dict[str, Any], provider: Provider | None
) -> ExperimentOutcome:
    """Runs an experiment as a job, so that the dashboard shows how far it is and can stop it."""
    progress = TerminalProgress("step")

    def report(done: int, total: int) -> None:
        progress.done = done - 1
        progress.advance(f"of {total:,}: people, messages and evaluated conversations")

    outcome = run_as_job(store, plan, config, options=options, provider=provider, report=report)
    progress.finish()
    return outcome


def agree(plan: ExperimentPlan, config: JudgeConfig, yes: bool) -> None:
    """Says what the experiment will ask and cost, and goes on when the person agrees.

    Raises:
        InputError: They do not, or nobody can be asked.
    """
    note(estimate_words(plan, config))
    if plan.effects is None:
        require_consent("Run it?", yes)


def estimate_words(plan: ExperimentPlan, config: JudgeConfig) -> str:
    """The expected questions and cost, in a sentence."""
    price = Price(0.0, 0.0, 0.0) if plan.effects is not None else price_of(config)
    found = estimate(plan, PropositionLibrary.load(), price)
    design = plan.design
    return (
        f"{plan.scenario.id}: {design.personas} agents, {len(design.rooms)} pairs of conversations, "
        f"{counted(plan.step_count, 'step')}; {found.words}. What is known already is not asked again."
    )


def finished(outcome: ExperimentOutcome) -> ExperimentRecord:
    """The record of the run; exits with 3 when it stopped before its end."""
    if outcome.stopped:
        note(
            f"The run stopped before its end ({outcome.stopped}). What is done is stored; run the same command again "
            "to go on where it stopped."
        )
        raise typer.Exit(INFRASTRUCTURE)
    return outcome.record


def refuse_idle_options(*, scripted: bool, no_effects: bool, personas: bool, fragments: bool, model: bool) -> None:
    """Refuses what would be ignored: somebody expects it to do something.

    Args:
        scripted: Whether a script speaks.
        no_effects: Whether it should plant nothing.
        personas: Whether a folder with agents is given.
        fragments: Whether fragments are.
        model: Whether a model or an address is.

    Raises:
        BadParameter: One of them does nothing without another, or beside it.
    """
    if fragments and not personas:
        raise typer.BadParameter(
            "It is worked into given agents: name their folder with --personas.", param_hint="--fragment"
        )
    if no_effects and not scripted:
        raise typer.BadParameter("Only a script plants effects: say --scripted too.", param_hint="--no-effects")
    if model and scripted:
        raise typer.BadParameter(
            "With --scripted no model and no server is asked: leave one of them out.",
            param_hint="--model, --base-url",
        )


def chosen_effects(*, with_script: bool, with_effects: bool) -> Effects | None:
    """The effects that the script plants; ``None`` for a real model."""
    if not with_script:
        return None
    return Effects() if with_effects else NO_EFFECTS


def chosen_plans(
    store: Store,
    scenario: str,
    settings: dict[str, Any],
    agents: tuple[Path | None, list[Path]],
    effects: Effects | None,
    model: str | None,
    is_paper: bool,
) -> list[ExperimentPlan]:
    """The plan of a scenario, or of all four.

    Raises:
        InputError: There is no such scenario, or agent files cannot be used.
    """
    folder, fragments = agents
    personas = tuple(load_personas(folder, fragments)) if folder else ()
    speaker = SCRIPTED_MODEL if effects else judge_config({"model": model}, store.settings.get(SETTINGS_KEY)).model
    layout = GroupLayout.PAPER if is_paper else GroupLayout.SPECIFICATION
    named = list(scenarios().values()) if scenario == "all" else [scenario_named(scenario)]
    fixed = {**settings, "layout": layout, "personas": personas, "effects": effects}
    return [ExperimentPlan(each, speaker, **fixed) for each in named]


def run_all(
    store: Store,
    plans: list[ExperimentPlan],
    judge: JudgeChoice,
    output: OutputFormat,
    *,
    yes: bool,
) -> None:
    """Each plan: what it will cost, the person's consent, the run and its report; of several a joint table."""
    limits = {key: value for key, value in judge.config.items() if key != "model"}
    records: list[ExperimentRecord] = []
    is_list = output is OutputFormat.JSON and len(plans) > 1
    try:
        for plan in plans:
            config, provider = connection(plan, limits, store.settings.get(SETTINGS_KEY), is_estimate=judge.is_estimate)
            if judge.is_estimate:
                say(estimate_words(plan, config))
                continue
            agree(plan, config, yes)
            records.append(finished(carry_out(store, plan, config, limits, provider)))
            if not is_list:
                say(record_text(records[-1], output))
    finally:
        if len(records) > 1 and not is_list:
            say(joint_table(records, output))
        # One document, also when a later one stops: those that are done are known.
        if is_list and records:
            say(json_text([record_dict(each) for each in records]))
