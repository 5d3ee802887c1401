"""``dramaturg agents``: who speaks, with which persona, and which speaker is which agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.confirmation import By, Yes, person, require_consent
from evaluation.cli.shared.exit_codes import command_group
from evaluation.cli.shared.options import Database, ListFormat, Rows, open_store
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
    named = stored or (member.agent if member else None)
    given = stored is not None and stored.persona is not None
    return {
        "id": agent_id,
        "name": named.display_name if named else agent_id,
        "kind": str(named.kind) if named else "agent",
        "persona": "given" if given else "shipped" if member else "from transcripts, if any",
        "games": len(known.spoken.get(agent_id, ())),
    }


@app.command("import")
def import_agents(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", show_default=False, help="Agent files of TinyTroupe, or JSON objects with a name."
        ),
    ],
    db: Database = None,
) -> None:
    """Import agents with their personas; one of the same name gets the new persona."""
    from evaluation.persona.agents import Agent
    from evaluation.persona.persona_text import read_agent_file, read_persona_bytes
    from evaluation.workflows.agents import KnownAgents

    read = [read_agent_file(read_persona_bytes(path), str(path)) for path in files]
    store = open_store(db)
    speakers = KnownAgents.of(store).speakers
    with store.unit(write=True):
        for name, persona in read:
            store.agents.save(Agent(speakers.agent_id(name), name, persona=persona))
    for name, _ in read:
        say(f"{speakers.agent_id(name)}: {safe(name)}")


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
    from evaluation.persona.agents import Agent
    from evaluation.persona.persona_text import persona_text
    from evaluation.workflows.agents import KnownAgents

    store = open_store(db)
    known = KnownAgents.of(store)
    agent_id = agent if agent in known.stored else known.resolve(agent)
    member = known.cast.members.get(agent_id)
    held = known.stored.get(agent_id) or Agent(agent_id, member.agent.display_name if member else agent)
    if file is None and not remove:
        shipped = member.agent.persona if member else None
        text = persona_text(shipped if held.persona is None else held.persona)
        say("\n".join(safe(line) for line in text.splitlines()) or "No persona is known besides those in transcripts.")
        return
    given = _persona(file) if file and not remove else None
    store.agents.save(Agent(agent_id, held.display_name, held.kind, given))
    note(f"{agent_id}: the persona is {'taken back' if given is None else 'stored'}.")


def _persona(path: Path) -> Any:
    from evaluation.errors import InputError
    from evaluation.persona.persona_text import read_agent_file, read_persona_bytes

    content = read_persona_bytes(path)
    if path.suffix == ".json":
        return read_agent_file(content, str(path))[1]
    try:
        return content.decode("utf-8-sig").strip() or None
    except UnicodeDecodeError:
        raise InputError("The text is not UTF-8.", place=str(path), remedy="Save the file as UTF-8.") from None


@app.command("map")
def map_speaker(speaker: Speaker, agent: AgentName, by: By = None, db: Database = None) -> None:
    """Say that a speaker, in all transcripts, is this agent."""
    from evaluation.persona.agents import slug_of
    from evaluation.workflows.agents import KnownAgents

    store = open_store(db)
    known = KnownAgents.of(store)
    agent_id = agent if agent in {*known.ids, *known.stored} else slug_of(agent)
    store.agents.map_speaker(speaker, agent_id, who=person(by))
    note(f"{speaker} is {agent_id} from now on.")


@app.command()
def unmap(speaker: Speaker, db: Database = None) -> None:
    """Take back which agent a speaker is: it is the one of its name again."""
    open_store(db).agents.map_speaker(speaker, None)
    note(f"{speaker} is an agent by name again.")


@app.command()
def delete(
    agent: Annotated[str, typer.Argument(metavar="AGENT", show_default=False, help="The agent's id.")],
    yes: Yes = False,
    db: Database = None,
) -> None:
    """Delete an agent with its evaluations, corrections and configuration. Its messages stay in their transcripts."""
    store = open_store(db)
    name = store.agents.get(agent).display_name
    count = len(store.evaluations.runs(agent))
    require_consent(f"Delete {safe(name)} with {count} evaluation runs for ever?", yes)
    store.agents.delete(agent)
    note(f"{name} is deleted.")
