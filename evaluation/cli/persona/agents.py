"""``dramaturg agents``: who speaks, with which persona, and which speaker is which agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.confirmation import By, Yes, person, require_consent
from evaluation.cli.shared.exit_codes import command_group
from evaluation.cli.shared.options import (
    BaseUrl,
    Concurrency,
    Database,
    EstimateOnly,
    Force,
    JudgeModel,
    ListFormat,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    Rows,
    Timeout,
    judge_limits,
    open_store,
)
from evaluation.cli.shared.terminal import note, safe, say, shortened, table

if TYPE_CHECKING:
    from evaluation.workflows.agents import KnownAgents

app = command_group(
    "List agents; give them personas; say which speaker is which agent; delete one with its evaluations."
)

AgentName = Annotated[str, typer.Argument(metavar="AGENT", show_default=False, help="The agent's id or name.")]
Speaker = Annotated[
    str, typer.Argument(metavar="SPEAKER", show_default=False, help="The name as it stands in transcripts.")
]


@app.command("list")
def list_agents(output: Rows = ListFormat.TABLE, db: Database = None) -> None:
    """List everybody who speaks in a stored transcript or is shipped, with where their persona comes from."""
    from evaluation.escaping import json_text
    from evaluation.workflows.agents import KnownAgents

    known = KnownAgents.of(open_store(db))
    rows = [_row(known, agent_id) for agent_id in dict.fromkeys([*known.ids, *known.stored])]
    if output is ListFormat.JSON:
        say(json_text(rows))
    else:
        cells = [[row["id"], shortened(row["name"], 30), row["kind"], row["persona"], row["games"]] for row in rows]
        say(table(("Id", "Name", "Kind", "Persona", "Games"), cells))


def _row(known: KnownAgents, agent_id: str) -> dict[str, Any]:
    stored, member = known.stored.get(agent_id), known.cast.members.get(agent_id)
    named = known.agent(agent_id)
    given = stored is not None and stored.persona is not None
    return {
        "id": agent_id,
        "name": named.display_name,
        "kind": str(named.kind),
        "persona": "given" if given else "shipped" if member else "from transcripts, if any",
        "games": len(known.spoken.get(agent_id, ())),
    }


@app.command("import")
def import_agents(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", show_default=False, help="Agent files of TinyTroupe, JSON objects with a name, or texts."
        ),
    ],
    db: Database = None,
) -> None:
    """Import agents with their personas; one of the same name gets the new persona."""
    from evaluation.persona.agents import Agent, find_agent, slug_of
    from evaluation.persona.persona_text import read_agent_file, read_persona_bytes
    from evaluation.workflows.agents import KnownAgents

    read = [read_agent_file(read_persona_bytes(path), str(path)) for path in files]
    store = open_store(db)
    names = KnownAgents.of(store).names
    agents = [Agent(find_agent(name, names) or slug_of(name), name, persona=persona) for name, persona in read]
    with store.unit(write=True):
        for agent in agents:
            store.agents.save(agent)
    for agent in agents:
        say(f"{agent.id}: {safe(agent.display_name)}")


@app.command()
def generate(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", show_default=False, help="Where the *.agent.json files are written to."),
    ],
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="average-customers, difficult-customers, political-compass, or a .yaml file with 'title', "
            "'description' and 'must_cover'.",
        ),
    ] = "average-customers",
    count: Annotated[int, typer.Option("--n", min=1, max=1_000, help="How many agents.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Draws what each of them is like.")] = 0,
    model: JudgeModel = None,
    base_url: BaseUrl = None,
    budget: MaxUsd = None,
    max_calls: MaxCalls = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    estimate: EstimateOnly = False,
    force: Force = False,
    db: Database = None,
) -> None:
    """Let a model make agents of a population, and write them as agent files.

    Every answer is stored before it is used: the same command goes on where it was broken off. Exits with 3 when the
    model cannot be asked or the budget is spent.
    """
    from evaluation.cli.shared.exit_codes import INFRASTRUCTURE
    from evaluation.cli.shared.terminal import TerminalProgress
    from evaluation.errors import InputError
    from evaluation.judging.judge_config import SETTINGS_KEY, judge_config
    from evaluation.judging.model_client.budget import Budget, BudgetSpentError, spent_words
    from evaluation.simulation.population.profiles import profile_named
    from evaluation.workflows.experiments.populations import calls_for, generate_personas, write_agent_files

    chosen, store = profile_named(profile), open_store(db)
    limits = judge_limits(budget, max_calls, concurrency, timeout, max_tokens)
    config = judge_config({"model": model, "base_url": base_url, **limits}, store.settings.get(SETTINGS_KEY))
    if config.mode != "live" and not estimate:
        remedy = "Set OPENAI_API_KEY, or give --base-url."
        raise InputError("There is no key and no address of a model, so nobody can write.", remedy=remedy)
    if estimate:
        say(f"About {calls_for(count):,} calls to {config.model}, fewer where answers are stored already.")
        return
    spending = Budget(usd=config.max_usd, calls=config.max_calls)
    progress = TerminalProgress("agent", total=count, spent=lambda: spent_words(spending))
    try:
        made = generate_personas(
            store, chosen, count, seed, config, budget=spending, advance=lambda *_: progress.advance("written")
        )
    except BudgetSpentError as spent:
        note(f"It stopped before its end ({spent.reason}). Run the same command again to go on.")
        raise typer.Exit(INFRASTRUCTURE) from None
    finally:
        progress.finish()
    for path in write_agent_files(folder, made, overwrites=force):
        say(safe(str(path)))


@app.command()
def export(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", show_default=False, help="Where the *.agent.json files are written to."),
    ],
    agents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[AGENT]", show_default=False, help="Ids or names; all with a persona when left out."),
    ] = None,
    force: Force = False,
    db: Database = None,
) -> None:
    """Write agents with a persona as agent files, which TinyTroupe and 'agents import' read."""
    from evaluation.persona.agents import Agent
    from evaluation.workflows.agents import KnownAgents
    from evaluation.workflows.experiments.populations import exported_persona, write_agent_files

    known = KnownAgents.of(open_store(db))
    given = {key: agent for key, agent in known.stored.items() if agent.persona is not None}
    held: dict[str, Agent] = {key: member.agent for key, member in known.cast.members.items()} | given
    ids = [known.resolve(each, with_silent=True) for each in agents or held]
    chosen = [held.get(each) or known.agent(each) for each in ids]
    for path in write_agent_files(folder, [exported_persona(each) for each in chosen], overwrites=force):
        say(safe(str(path)))


@app.command()
def persona(
    agent: AgentName,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", show_default=False, help="A text, or an agent file (.json); shown without."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take back what was given.")] = False,
    db: Database = None,
) -> None:
    """Show an agent's persona, give it one, or take it back so that the transcript's or the shipped one counts."""
    from dataclasses import replace

    from evaluation.persona.agents import Agent
    from evaluation.persona.persona_text import persona_text
    from evaluation.workflows.agents import KnownAgents

    store = open_store(db)
    known = KnownAgents.of(store)
    agent_id = known.resolve(agent, with_silent=True)
    member = known.cast.members.get(agent_id)
    held = known.stored.get(agent_id) or replace(known.agent(agent_id), persona=None)
    if file is None and not remove:
        shipped = member.agent.persona if member else None
        text = persona_text(shipped if held.persona is None else held.persona)
        say("\n".join(safe(line) for line in text.splitlines()) or "No persona is known besides those in transcripts.")
        return
    given = _persona(file) if file and not remove else None
    store.agents.save(Agent(agent_id, held.display_name, held.kind, given))
    note(f"{agent_id}: the persona is {'taken back' if given is None else 'stored'}.")


def _persona(path: Path) -> Any:
    from evaluation.persona.persona_text import read_agent_file, read_persona_bytes

    return read_agent_file(read_persona_bytes(path), str(path))[1]


@app.command("map")
def map_speaker(speaker: Speaker, agent: AgentName, by: By = None, db: Database = None) -> None:
    """Say that a speaker, in all transcripts, is this agent."""
    from evaluation.workflows.agents import KnownAgents

    store = open_store(db)
    agent_id = KnownAgents.of(store).resolve(agent, with_silent=True)
    store.agents.map_speaker(speaker, agent_id, who=person(by))
    note(f"{speaker} is {agent_id} from now on.")


@app.command()
def unmap(speaker: Speaker, db: Database = None) -> None:
    """Take back which agent a speaker is: it is the one of its name again."""
    open_store(db).agents.map_speaker(speaker, None)
    note(f"{speaker} is an agent by name again.")


@app.command()
def delete(
    agent: AgentName,
    yes: Yes = False,
    db: Database = None,
) -> None:
    """Delete an agent with its evaluations, corrections and configuration. Its messages stay in their transcripts."""
    store = open_store(db)
    found = store.agents.resolve(agent)
    agent_id = agent if found is None else found.id
    name = store.agents.get(agent_id).display_name
    count = len(store.evaluations.runs(agent_id))
    require_consent(f"Delete {safe(name)} with {count} evaluation runs for ever?", yes)
    store.agents.delete(agent_id)
    note(f"{name} is deleted.")
