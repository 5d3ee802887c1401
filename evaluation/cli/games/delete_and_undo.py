"""Delete stored games or agents, and bring games back: ``delete`` and ``undo``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.options import By, ListFormat, Rows, Yes, open_store, person, require_consent
from evaluation.cli.shared.terminal import note, safe, say, say_list, shortened
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.store import Deletion, Store


def delete(
    transcripts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TRANSCRIPT]...",
            show_default=False,
            help="Ids of stored transcripts, their first digits, or games' ids.",
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT", show_default=False, help="Instead an agent with its evaluations and corrections, for ever."
        ),
    ] = None,
    by: By = None,
    yes: Yes = False,
) -> None:
    """Delete stored transcripts with their scores, ratings and overrides; 'undo' brings all of it back."""
    store = open_store()
    if (agent is None) is (not transcripts):
        raise typer.BadParameter("Name transcripts, or an agent with --agent.", param_hint="TRANSCRIPT")
    if agent is not None:
        _delete_agent(store, agent, yes)
        return
    references = transcripts or []
    names = [_name(store, each) for each in dict.fromkeys(_resolved(store, references))]
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    require_consent(f"Delete {counted(len(names), 'game')}: {listed}?", yes)
    with store.unit(write=True):
        deletion = store.deletions.delete(_resolved(store, references), who=person(by))
    say(f"Deleted {safe(deletion.label)}. To bring it back: dramaturg undo {deletion.id}.")


def _delete_agent(store: Store, agent: str, yes: bool) -> None:
    found = store.agents.resolve(agent)
    agent_id = agent if found is None else found.id
    name = store.agents.get(agent_id).display_name
    count = len(store.evaluations.runs(agent_id))
    require_consent(f"Delete {safe(name)} with {counted(count, 'evaluation run')} for ever?", yes)
    store.agents.delete(agent_id)
    note(f"{name} is deleted. Its messages stay in their transcripts.")


def _purge(store: Store, numbers: Sequence[int], who: str, yes: bool) -> None:
    chosen = list(dict.fromkeys(numbers)) or [deletion.id for deletion in store.deletions.list()]
    if not chosen:
        note("Nothing is deleted that could be removed.")
        return
    require_consent(f"Remove {counted(len(chosen), 'deletion')} for ever?", yes)
    with store.unit(write=True):
        removed = [store.deletions.purge(each, who=who) for each in chosen]
    say("Removed for ever: " + ", ".join(safe(deletion.label) for deletion in removed) + ".")


def _deletion_dict(deletion: Deletion) -> dict[str, Any]:
    return {
        "number": deletion.id,
        "kind": str(deletion.kind),
        "label": deletion.label,
        "games": deletion.games,
        "who": deletion.who,
        "deleted_at": deletion.deleted_at.isoformat(),
    }


def _deletion_line(deletion: Deletion) -> tuple[str, ...]:
    return (
        str(deletion.id),
        str(deletion.kind),
        shortened(deletion.label, 40),
        str(deletion.games),
        shortened(deletion.who, 24),
        f"{deletion.deleted_at:%Y-%m-%d %H:%M}",
    )


def undo(
    numbers: Annotated[
        list[int] | None,
        typer.Argument(metavar="[NUMBER]...", show_default=False, help="As --list shows it; the latest when left out."),
    ] = None,
    is_list: Annotated[bool, typer.Option("--list", help="List what can come back, the latest first.")] = False,
    is_purge: Annotated[
        bool, typer.Option("--purge", help="Remove it for ever instead; all that is listed when no number is given.")
    ] = False,
    by: By = None,
    yes: Yes = False,
    output: Rows = ListFormat.TABLE,
) -> None:
    """Bring back deleted transcripts, or a deleted iteration, as they were: with results, ratings and overrides."""
    store = open_store()
    if is_list:
        _list(store, output)
    elif is_purge:
        _purge(store, numbers or [], person(by), yes)
    else:
        for number in numbers or [_latest(store)]:
            with store.unit(write=True):
                deletion = store.deletions.undo(number, who=person(by))
            games = (
                f" with {counted(deletion.games, 'game')}" if deletion.kind == "iteration" and deletion.games else ""
            )
            say(f"Back again: {safe(deletion.label)}{games}.")


def _list(store: Store, output: ListFormat) -> None:
    deletions = store.deletions.list()
    headers = ("Number", "What", "Name", "Games", "By", "When (UTC)")
    records, lines = [*map(_deletion_dict, deletions)], [*map(_deletion_line, deletions)]
    nothing = "Nothing is deleted that could come back."
    say_list(records, headers, lines, nothing, is_json=output is ListFormat.JSON)


def _latest(store: Store) -> int:
    from evaluation.errors import NotFoundError

    deletions = store.deletions.list()
    if not deletions:
        raise NotFoundError("Nothing is deleted that could come back.")
    return deletions[0].id


def _resolved(store: Store, references: Sequence[str]) -> list[str]:
    return [store.transcripts.resolve(reference) for reference in references]


def _name(store: Store, transcript_id: str) -> str:
    return shortened(store.transcripts.game_ids()[transcript_id], 40)
