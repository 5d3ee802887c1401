"""``dramaturg propositions``: check the files of the propositions that agents are judged by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from evaluation.cli.shared.exit_codes import BAD_INPUT, command_group
from evaluation.cli.shared.options import ListFormat, PropositionFolder, Rows, database_path
from evaluation.cli.shared.terminal import note, safe, say
from evaluation.text.display import counted

app = command_group("Check the files of the propositions that agents are held against.")


@app.callback()
def propositions() -> None:
    """Check the files of the propositions that agents are held against."""


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
) -> None:
    """Check proposition files and list every fault as file:line: field: what is wrong and what to do.

    Exits with 2 when there is an error. An agent that nobody knows is a warning and does not change the exit code.
    """
    from evaluation.escaping import json_text
    from evaluation.files.bundled import proposition_roots
    from evaluation.judging.proposition_files import check_file, proposition_files

    roots = files or proposition_roots(folder)
    known = _known_agents()
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
