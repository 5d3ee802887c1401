"""Change stored games: ``move``, ``delete``, ``undo`` and ``trash``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.confirmation import By, Yes, person, require_consent
from evaluation.cli.shared.options import ListFormat, Rows, open_store
from evaluation.cli.shared.terminal import note, safe, say, say_list, shortened
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.store import Deletion, Store

Several = Annotated[
    list[str],
    typer.Argument(
        metavar="TRANSCRIPT...",
        show_default=False,
        help="Ids of stored transcripts, their first digits, or games' ids.",
    ),
]
Which = Annotated[
    int | None,
    typer.Argument(metavar="NUMBER", show_default=False, help="As 'trash' lists it; the latest one if left out."),
]


def move(
    transcripts: Several,
    to: Annotated[
        str | None, typer.Option(metavar="NAME", show_default=False, help="An iteration that exists.")
    ] = None,
    out: Annotated[bool, typer.Option("--out", help="Out of all iterations, instead of into one.")] = False,
) -> None:
    """Put stored transcripts into another iteration, after the games that it has, in the order given."""
    if (to is None) != out:
        raise typer.BadParameter("Name an iteration with --to, or say --out.", param_hint="--to")
    store = open_store()
    with store.unit(write=True):
        ids = _resolved(store, transcripts)
        store.iterations.move(ids, to)
        held = len(store.transcripts.ids(to)) if to else 0
    moved = counted(len(set(ids)), "game")
    say(f"Moved {moved}; {safe(to)} has {held} now." if to else f"{moved} belong to no iteration now.")


def delete(transcripts: Several, by: By = None, yes: Yes = False) -> None:
    """Delete stored transcripts with their scores, ratings and overrides; 'undo' brings all of it back."""
    store = open_store()
    names = [_name(store, each) for each in dict.fromkeys(_resolved(store, transcripts))]
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    require_consent(f"Delete {counted(len(names), 'game')}: {listed}?", yes)
    with store.unit(write=True):
        deletion = store.deletions.delete(_resolved(store, transcripts), who=person(by))
    _tell_deleted(deletion)


def _tell_deleted(deletion: Deletion) -> None:
    say(f"Deleted {safe(deletion.label)}. To bring it back: dramaturg undo {deletion.id}.")


def trash(
    numbers: Annotated[
        list[int] | None, typer.Argument(metavar="NUMBER...", show_default=False, help="With --purge, only these.")
    ] = None,
    is_purge: Annotated[
        bool, typer.Option("--purge", help="Remove what is listed for ever, with its ratings and overrides.")
    ] = False,
    by: By = None,
    yes: Yes = False,
    output: Rows = ListFormat.TABLE,
) -> None:
    """List what was deleted and can come back, the latest first; with --purge remove it for ever."""
    store = open_store()
    if is_purge:
        _purge(store, numbers or [], person(by), yes)
        return
    if numbers:
        raise typer.BadParameter("To remove these for ever say --purge; to bring one back: dramaturg undo NUMBER.")
    deletions = store.deletions.list()
    headers = ("Number", "What", "Name", "Games", "By", "When (UTC)")
    records, lines = [*map(_deletion_dict, deletions)], [*map(_deletion_line, deletions)]
    nothing = "Nothing is deleted that could come back."
    say_list(records, headers, lines, nothing, is_json=output is ListFormat.JSON)


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


def undo(number: Which = None, by: By = None) -> None:
    """Bring back deleted transcripts, or a deleted iteration, as they were: with results, ratings and overrides."""
    store = open_store()
    with store.unit(write=True):
        deletion = store.deletions.undo(_latest(store, number), who=person(by))
    games = f" with {counted(deletion.games, 'game')}" if deletion.kind == "iteration" and deletion.games else ""
    say(f"Back again: {safe(deletion.label)}{games}.")


def _latest(store: Store, number: int | None) -> int:
    from evaluation.errors import NotFoundError

    if number is not None:
        return number
    deletions = store.deletions.list()
    if not deletions:
        raise NotFoundError("Nothing is deleted that could come back.")
    return deletions[0].id


def _resolved(store: Store, references: Sequence[str]) -> list[str]:
    return [store.transcripts.resolve(reference) for reference in references]


def _name(store: Store, transcript_id: str) -> str:
    return shortened(store.transcripts.name(transcript_id), 40)
