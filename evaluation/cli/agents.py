"""``dramaturg agents``, ``propositions`` and ``corrections``: personas, speakers, claims, and what is corrected."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.exit_codes import BAD_INPUT, command_group
from evaluation.cli.options import (
    ListFormat,
    PropositionFolder,
    Rows,
    database_path,
    named_values,
    open_store,
    person,
)
from evaluation.cli.terminal import Columns, note, safe, say, say_json, say_list, shortened
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.corrections.config import CorrectionConfig
    from evaluation.workflows.agents import KnownAgents


app = command_group("List agents; give them personas and speakers from files.")


@app.command("list")
def list_agents(output: Rows = ListFormat.TABLE) -> None:
    """List everybody who speaks in a stored transcript or comes with Dramaturg, and where their persona comes from."""
    from evaluation.workflows.agents import KnownAgents

    store = open_store()
    known = KnownAgents.of(store)
    games = KnownAgents.of(store, with_simulated=False).spoken
    rows = [
        _row(known, agent_id, len(games.get(agent_id, ()))) for agent_id in dict.fromkeys([*known.ids, *known.stored])
    ]
    columns: Columns[dict[str, Any]] = {
        "Id": itemgetter("id"),
        "Name": lambda row: shortened(row["name"], 30),
        **{name.capitalize(): itemgetter(name) for name in ("kind", "persona", "games")},
    }
    say_list(rows, columns, is_json=output is ListFormat.JSON)


def _row(known: KnownAgents, agent_id: str, games: int) -> dict[str, Any]:
    stored, member = known.stored.get(agent_id), known.cast.members.get(agent_id)
    named = known.agent(agent_id)
    given = stored is not None and stored.persona is not None
    return {
        "id": agent_id,
        "name": named.display_name,
        "kind": str(named.kind),
        "persona": "given" if given else "shipped" if member else "from transcripts, if any",
        "games": games,
    }


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
    agents: dict[str, tuple[AgentFile, Agent]] = {}
    for path, given in read:
        agent = known.described(given.name, given.persona)
        if agent.id in agents:
            message = f"{agents[agent.id][0].name!r} and {given.name!r} are one agent, {agent.id}."
            raise InputError(message, place=path, remedy="Import one of the two files.")
        if given.persona is None and agent.id in known.stored:
            agent = known.stored[agent.id]
        agents[agent.id] = given, agent
    with store.unit(write=True):
        for given, agent in agents.values():
            store.agents.save(agent)
            if given.speakers is not None:
                store.agents.set_speakers(agent.id, given.speakers, who=person(None))
    for _, agent in agents.values():
        say(f"{agent.id}: {safe(agent.display_name)}")


propositions_app = command_group("Check the files of the propositions (claims) that agents are judged by.")


@propositions_app.callback()
def propositions() -> None:
    """Check the files of the propositions (claims) that agents are judged by."""


@propositions_app.command()
def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="YAML files, or folders of them. Default: all in use."),
    ] = None,
    output: Rows = ListFormat.TABLE,
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
    if output is ListFormat.JSON:
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

    known = set(shipped_cast().ids)
    path = database_path()
    if path.is_file():
        try:
            known |= _speaking(Store(path, wait_seconds=1.0))
        except StoreError as error:
            note(f"The agents in the database are not looked at: {error}")
    return known


def _speaking(store: Any) -> set[str]:
    from evaluation.workflows.agents import KnownAgents

    known = KnownAgents.of(store)
    return {*known.ids, *known.stored}


corrections_app = command_group("What is corrected for an agent. The Agents page, Checks, shows what was corrected.")


@corrections_app.callback()
def corrections() -> None:
    """Keeps ``config`` a command of its own."""


@corrections_app.command()
def config(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id or name.")],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change a setting, such as gate_fluency_enabled=true; NAME= returns to the default. May be given "
            "several times: all of them are changed, or none.",
        ),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Back to all defaults first: everything off.")] = False,
    output: Rows = ListFormat.TABLE,
) -> None:
    """Show every setting of an agent beside its default, or change some."""
    from evaluation.corrections.config import CorrectionConfig
    from evaluation.corrections.statistics import default_of, settings
    from evaluation.workflows.agents import KnownAgents

    store = open_store()
    corrections = store.corrections
    agent_id = KnownAgents.of(store).resolve(agent, with_silent=True)
    held = CorrectionConfig() if reset else corrections.config(agent_id)
    if changes:
        held = _changed(held, changes)
        corrections.configure(agent_id, held)
    elif reset:
        corrections.forget(agent_id)
    if changes or reset:
        note(f"{agent_id}: stored.")
    known = settings()
    columns: Columns[str] = {
        "Setting": str,
        "Value": lambda name: known[name].shown(getattr(held, name)),
        "Default": lambda name: known[name].shown(default_of(name)),
        "Meaning": lambda name: known[name].meaning,
    }

    def as_dict(name: str) -> dict[str, object]:
        return {"name": name, "value": getattr(held, name), "default": default_of(name)}

    say_list(list(known), columns, as_dict, is_json=output is ListFormat.JSON)


def _changed(held: CorrectionConfig, changes: list[str]) -> CorrectionConfig:
    from evaluation.corrections.config import read_config

    values: dict[str, Any] = held.model_dump()
    for name, text in named_values(changes):
        values.pop(name, None)
        if text:
            values[name] = _value(text)
    return read_config(values)


def _value(text: str) -> object:
    """The typed value in the type of the configuration; other text stays as it is and is refused by name."""
    words = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
