"""``dramaturg agents``, ``propositions`` and ``persona``: agents, claims, and how they hold them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from evaluation.cli._persona_options import (
    MaxDrop,
    Output,
    RequireBaseline,
    Since,
    Until,
    sample_options,
    source_options,
)
from evaluation.cli.exit_codes import BAD_INPUT, command_group
from evaluation.cli.options import PropositionFolder, Rows, database_path, judge_options, open_store, person
from evaluation.cli.terminal import note, say, say_json
from evaluation.escaping import safe
from evaluation.text.display import counted

app = command_group("Give agents personas and speakers from files.")


@app.command("import")
def import_agents(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Agent files of TinyTroupe, JSON objects with a name, or texts."),
    ],
) -> None:
    """Import agents with their personas, and the speakers that they are; a known one keeps its name.

    A JSON file may list "speakers": names that are this agent in all transcripts, in place of those listed before.
    """
    from evaluation.errors import InputError
    from evaluation.persona.agents import Agent, AgentFile, read_agent_file, read_persona_bytes
    from evaluation.workflows.agents import KnownAgents

    read = [(str(path), read_agent_file(read_persona_bytes(path), str(path))) for path in files]
    store = open_store()
    known = KnownAgents.of(store)
    described: dict[str, tuple[AgentFile, Agent]] = {}
    for path, given in read:
        agent = known.described(given.name, given.persona)
        if agent.id in described:
            message = f"{described[agent.id][0].name!r} and {given.name!r} are one agent, {agent.id}."
            raise InputError(message, place=path, remedy="Import one of the two files.")
        if given.persona is None and agent.id in known.stored:
            agent = known.stored[agent.id]
        described[agent.id] = given, agent
    with store.unit(write=True):
        for given, agent in described.values():
            store.agents.save(agent)
            if given.speakers is not None:
                store.agents.set_speakers(agent.id, given.speakers, who=person(None))
    for _, agent in described.values():
        say(f"{agent.id}: {safe(agent.display_name)}")


propositions_app = command_group("Check the files of the propositions (claims) that agents are judged by.")


@propositions_app.command()
def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="YAML files, or folders of them. Default: all in use."),
    ] = None,
    output: Rows = "table",
    folder: PropositionFolder = None,
) -> None:
    """Check proposition files and list every fault as file:line: field: what is wrong and what to do.

    Exits with 2 when there is an error. An unknown agent is a warning and does not change the exit code.
    """
    from evaluation.files.bundled import proposition_roots
    from evaluation.judging.proposition_library import check_file, proposition_files

    roots = files or proposition_roots(folder)
    known = _known_agents()
    paths = [path for root in roots for path in (proposition_files(root) or [root])]
    checked = [check_file(path, known_agents=known) for path in paths]
    problems = [problem for each in checked for problem in each.problems]
    if output == "json":
        say_json([_problem(problem) for problem in problems])
    else:
        for problem in problems:
            say(safe(problem))
    errors = sum(not problem.is_warning for problem in problems)
    total = sum(len(each.propositions) for each in checked)
    note(f"{counted(len(checked), 'file')}, {counted(total, 'proposition')}, {counted(errors, 'error')}.")
    if errors:
        raise typer.Exit(BAD_INPUT)


def _problem(problem: Any) -> dict[str, Any]:
    kind = "warning" if problem.is_warning else "error"
    return {"file": problem.file, "line": problem.line, "field": problem.field, "text": problem.text, "kind": kind}


def _known_agents() -> set[str]:
    """Shipped agents, personality types, and the agents in the database, which is not created here."""
    from evaluation.errors import StoreError
    from evaluation.persona.agents import shipped_cast
    from evaluation.store import Store
    from evaluation.workflows.agents import KnownAgents

    known = set(shipped_cast().ids)
    path = database_path()
    if path.is_file():
        try:
            agents = KnownAgents.of(Store(path, wait_seconds=1.0))
            known |= {*agents.ids, *agents.stored}
        except StoreError as error:
            note(f"The agents in the database are not looked at: {error}")
    return known


persona_app = command_group(
    "Evaluate agents on adherence, consistency, fluency, voice distinctness and ideas, and compare them with baselines."
)


@persona_app.command()
@source_options
@sample_options
@judge_options
def run(
    since: Since = None,
    until: Until = None,
    max_drop: MaxDrop = 1.0,
    require_baseline: RequireBaseline = False,
    output: Output = "table",
) -> None:
    """Evaluate agents over everything they said, store scores and reasons, and compare them with their
    baselines.

    An agent that speaks in no stored transcript is judged on the shipped ones. Exits with 1 when a score fell by more
    than --max-drop or is gone, with 3 when the judge failed on anything or cannot be reached.
    """
    from evaluation.cli._persona_runs import run_evaluations
    from evaluation.persona.subjects import Period

    period = Period(since, until)
    run_evaluations(output, period, max_drop=max_drop, requires_baseline=require_baseline)


@persona_app.command()
@source_options
@sample_options
@judge_options
def compare(max_drop: MaxDrop = 1.0, require_baseline: RequireBaseline = False, output: Output = "table") -> None:
    """Evaluate agents and print every score beside its baseline, with what fell, what is gone and what is new.

    Exits like 'run'. Markdown is the comment for a pull request.
    """
    from evaluation.cli._persona_runs import run_evaluations

    run_evaluations(output, max_drop=max_drop, requires_baseline=require_baseline, is_comparison=True)


@persona_app.command()
@source_options
@sample_options
@judge_options
def baseline() -> None:
    """Evaluate agents and write what they score as the baseline that later runs are compared with.

    Prints each score beside the baseline that it replaces. Writes nothing, and exits with 3, when the judge failed on
    anything.
    """
    from evaluation.cli._persona_runs import make_baselines

    make_baselines()


@persona_app.command()
@sample_options
@judge_options
def record(
    to: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The .jsonl file that answers are added to; of several answers to one prompt, the last counts.",
        ),
    ],
) -> None:
    """Evaluate agents with a model and record its answers, so that --mode mock can play them without one.

    Play them with the same agents, dimensions, sample size, seed and model.
    """
    from evaluation.cli._persona_runs import record_answers

    record_answers(to)
