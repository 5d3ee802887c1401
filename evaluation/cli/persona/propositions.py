"""``dramaturg propositions``: list the propositions that agents are judged by, and check their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.exit_codes import BAD_INPUT, command_group
from evaluation.cli.shared.options import Database, ListFormat, PropositionFolder, Rows, database_path
from evaluation.cli.shared.terminal import note, safe, say, shortened, table
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.judging.propositions.proposition import Proposition
    from evaluation.store.database import Store

app = command_group("Check proposition files, and list the propositions that agents are held against.")

_LONGEST_CLAIM = 100


@app.command()
def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...", show_default=False, help="YAML files, or folders of them; all in use when left out."
        ),
    ] = None,
    output: Rows = ListFormat.TABLE,
    folder: PropositionFolder = None,
    db: Database = None,
) -> None:
    """Check proposition files and list every fault as file:line: field: what is wrong and what to do.

    Exits with 2 when there is an error. An agent that nobody knows is a warning and does not change the exit code.
    """
    from evaluation.escaping import json_text
    from evaluation.files.bundled import proposition_roots
    from evaluation.judging.propositions.loading import check_file, proposition_files

    roots = files or proposition_roots(folder)
    known = _known_agents(db)
    paths = [path for root in roots for path in (proposition_files(root) or [root])]
    checked = [check_file(path, known_agents=known) for path in paths]
    problems = [problem for each in checked for problem in each.problems]
    if output is ListFormat.JSON:
        say(json_text([_problem(problem) for problem in problems]))
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


def _known_agents(db: Path | None) -> set[str]:
    """Shipped agents, personality types, and the agents in the database, which is not created here."""
    from evaluation.errors import StoreError
    from evaluation.persona.shipped_agents import shipped_cast
    from evaluation.store import Store

    known = set(shipped_cast().ids)
    path = database_path(db)
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


def _resolved(reference: str, store: Store | None) -> str:
    """The id of the agent that is meant; the reference itself where nobody is known by it."""
    from evaluation.persona.agents import find_agent
    from evaluation.persona.shipped_agents import shipped_cast

    if store is not None:
        found = store.agents.resolve(reference)
        return found.id if found else reference
    members = shipped_cast().members.items()
    return find_agent(reference, ((key, name) for key, member in members for name in member.speakers)) or reference


@app.command("list")
def list_propositions(
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            show_default=False,
            help="Only what applies to this agent, by its id or name; defaults included.",
        ),
    ] = None,
    output: Rows = ListFormat.TABLE,
    folder: PropositionFolder = None,
    db: Database = None,
) -> None:
    """List propositions with their weights; for an agent those that apply to it, as defaults and its file make them.

    A folder of your own has precedence over the shipped ones.
    """
    from evaluation.escaping import json_text
    from evaluation.files.bundled import proposition_roots
    from evaluation.judging.propositions.loading import PropositionLibrary
    from evaluation.judging.propositions.proposition import Dimension
    from evaluation.store import Store

    path = database_path(db)
    store = Store(path) if path.is_file() else None
    library = PropositionLibrary.load(proposition_roots(folder))
    if agent is not None and agent not in library.agent_ids:
        agent = _resolved(agent, store)
    if agent is None:
        found = [each for own in library.by_file.values() for each in own]
    else:
        sets = [library.propositions_for(dimension, [agent]) for dimension in Dimension]
        found = [each for one in sets for each in one.propositions]
    if output is ListFormat.JSON:
        say(json_text([_as_dict(each) for each in found]))
        return
    headers = ("Dimension", "Agent", "Id", "Weight", "Inverted", "Claim")
    say(table(headers, [_row(each) for each in found]))


def _row(proposition: Proposition) -> tuple[str, ...]:
    return (
        proposition.dimension,
        proposition.agent_id,
        proposition.id,
        f"{proposition.weight:g}",
        "yes" if proposition.is_inverted else "",
        shortened(proposition.claim, _LONGEST_CLAIM),
    )


def _as_dict(proposition: Proposition) -> dict[str, Any]:
    window = proposition.window
    return {
        "dimension": str(proposition.dimension),
        "agent_id": proposition.agent_id,
        "id": proposition.id,
        "claim": proposition.claim,
        "weight": proposition.weight,
        "inverted": proposition.is_inverted,
        "include_personas": proposition.includes_personas,
        "target_type": str(proposition.target_type),
        "first_n": window.first_n,
        "last_n": window.last_n,
        "double_check": proposition.has_double_check,
        "precondition": proposition.precondition,
        "recommendations_for_improvement": proposition.recommendations_for_improvement,
        "source": proposition.source,
    }
