"""``dramaturg rate``: engagement ratings of stored transcripts, one by one or as a sheet, and what goes with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.ratings import team_commands
from evaluation.cli.shared.exit_codes import BAD_INPUT, CommandGroup, command_group
from evaluation.cli.shared.options import (
    Database,
    DatabaseAgain,
    Force,
    ListFormat,
    Rows,
    TranscriptReference,
    group_store,
)
from evaluation.cli.shared.terminal import note, safe, say, say_data, say_list, shortened
from evaluation.workflows.scoring import current_evaluation

if TYPE_CHECKING:
    from evaluation.rating_desk.discards import Discard

_MOST_PROBLEMS = 50
_LONGEST_CELL = 60
_OF_THE_GROUP = ("-h", "--help")


class _AddByDefault(CommandGroup):
    """``rate TRANSCRIPT`` is short for ``rate add TRANSCRIPT``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = args[2:3] if args[:1] == ["--db"] else args[:1]
        is_short = bool(first) and first[0] not in _OF_THE_GROUP and first[0] not in self.commands
        parsed: list[str] = super().parse_args(ctx, ["add", *args] if is_short else args)
        return parsed


_HELP = "Rate a transcript: dramaturg rate TRANSCRIPT. Import and export ratings as CSV; see what goes with them."
app = command_group(_HELP, _AddByDefault)


@app.callback(help=_HELP)
def rate(context: typer.Context, db: Database = None) -> None:
    """Keeps the database for the sub-commands."""
    context.obj = db


@app.command()
def add(
    context: typer.Context,
    transcript: TranscriptReference,
    rater: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="Who rates.")],
    score: Annotated[int, typer.Option(min=1, max=5, show_default=False, help="From 1, boring, to 5, fascinating.")],
    answers: Annotated[
        str,
        typer.Option(
            metavar="yynyy",
            show_default=False,
            help="The five questions in order, y, n, or - for no answer: would watch 3 minutes; curious about the "
            "Mafia; an agent stood out; flowed naturally; would watch another game.",
        ),
    ],
    comment: Annotated[str, typer.Option(help="What a colleague should know.")] = "",
    db: DatabaseAgain = None,
) -> None:
    """Rate a stored transcript from 1 to 5.

    A later rating by the same person counts instead of the earlier one; both are kept.
    """
    from evaluation.ratings import Rating, parse_answers
    from evaluation.rubric.definitions import ENGAGEMENT
    from evaluation.text.display import counted

    given = parse_answers(answers)
    store = group_store(context, db)
    with store.unit(write=True):
        found = store.transcripts.get(store.transcripts.resolve(transcript))
        rating = Rating(found.id, rater, score, given, comment)
        store.ratings.add(rating)
        name = store.transcripts.name(found.id)
        evaluation = current_evaluation(store, found)
    if rating.breaks_one_way_rule:
        note(
            f"warning: {rating.yes_count} of the five questions were answered with yes, which promises at least 3, but "
            f"the score is {score}. It is saved and flagged; rate again to revise it."
        )
    engagement = evaluation.metrics[ENGAGEMENT.name]
    raters = counted(int(engagement.denominator), "rater")
    say(f"{safe(rating.rater)} rated {found.id[:8]} ({safe(name)}) {score} of 5.")
    say(f"Engagement is {engagement.score:.2f} by {raters}; the verdict is {evaluation.verdict.status}.")


@app.command("import")
def import_sheet(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, readable=True, show_default=False, help="A CSV file of ratings, or JSON."
        ),
    ],
    rater: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False, help="Whose ratings they are where the sheet does not say."),
    ] = None,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Check the sheet and store nothing.")] = False,
    db: DatabaseAgain = None,
) -> None:
    """Import ratings from a CSV sheet: all of it, or nothing where a line cannot be used.

    The columns are those of 'rate export'; game (or transcript_id) and score are enough. The same sheet imported again
    adds nothing. Rows without a score are left out. JSON exports of Label Studio and Argilla are read as well.
    """
    from evaluation.workflows.ratings.rating_sheet_import import import_ratings

    done = import_ratings(group_store(context, db), file.read_bytes(), rater=rater, is_dry=is_dry)
    for problem in done.problems[:_MOST_PROBLEMS]:
        note(f"error: {safe(file)}: {safe(problem)}")
    if done.problems:
        more = len(done.problems) - _MOST_PROBLEMS
        note(f"Nothing was stored.{f' {more} more mistakes are not shown.' if more > 0 else ''}")
        raise typer.Exit(BAD_INPUT)
    verb = "would be stored" if is_dry else "stored"
    say(f"{done.added} new {verb}, {done.known} known already, {done.blank} without a score.")
    if done.flagged:
        note(f"warning: {done.flagged} of them answer yes four times or more, which promises at least 3. Look again.")


@app.command("export")
def export_sheet(
    context: typer.Context,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", dir_okay=False, show_default=False, help="The file; else standard output."),
    ] = None,
    rater: Annotated[
        str | None, typer.Option(metavar="NAME", show_default=False, help="Only the ratings of this person.")
    ] = None,
    force: Force = False,
    db: DatabaseAgain = None,
) -> None:
    """Write every rating, revised ones included, as a CSV sheet that 'rate import' takes back without loss."""
    from evaluation.workflows.ratings.rating_sheet_import import export_ratings
    from evaluation.writers.tables import write_new_bytes

    text = export_ratings(group_store(context, db), rater=rater)
    if output is None:
        say_data(text)
        return
    # With a mark, so that spreadsheets take it for UTF-8. As bytes: no line end may change.
    write_new_bytes(output, text.encode("utf-8-sig"), overwrite=force)
    note(f"Wrote {safe(output)}.")


@app.command()
def discarded(context: typer.Context, output: Rows = ListFormat.TABLE, db: DatabaseAgain = None) -> None:
    """List the games that raters said cannot be rated, with the reasons."""
    store = group_store(context, db)
    with store.unit():
        found = store.discards.list()
        names = {one.transcript_id: store.transcripts.name(one.transcript_id) for one in found}
    rows = [_discarded(one, names[one.transcript_id]) for one in found]
    headers = ("Number", "Game", "Rater", "Reason", "Note", "Taken back by")
    keys = ("id", "game", "rater", "reason", "note", "undone_by")
    cells = [[shortened(row[key] or "", _LONGEST_CELL) for key in keys] for row in rows]
    say_list(rows, headers, cells, "No rater has put a game aside for good.", is_json=output is ListFormat.JSON)


def _discarded(one: Discard, name: str) -> dict[str, Any]:
    return {
        "id": one.id,
        "transcript_id": one.transcript_id,
        "game": name,
        "rater": one.rater,
        "reason": one.reason.words,
        "note": one.note,
        "at": one.created_at.isoformat(timespec="seconds"),
        "undone_by": one.undone_by,
        "undone_at": one.undone_at and one.undone_at.isoformat(timespec="seconds"),
    }


@app.command()
def undiscard(
    context: typer.Context,
    number: Annotated[int, typer.Argument(metavar="NUMBER", show_default=False, help="As 'rate discarded' gives it.")],
    who: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="Who takes it back.")],
    db: DatabaseAgain = None,
) -> None:
    """Give a game back to the rater who said that it cannot be rated. Both stay on record."""
    group_store(context, db).discards.undo(number, who=who)
    say(f"{safe(who)} took discard {number} back.")


@app.command()
def practice(context: typer.Context, output: Rows = ListFormat.TABLE, db: DatabaseAgain = None) -> None:
    """Show how raters' practice ratings compare with the references. Practice never counts as a rating."""
    from evaluation.rating_desk.practice import practice_results

    results = practice_results(group_store(context, db).practice.list())
    rows = [
        {
            "rater": one.rater,
            "games": one.games,
            "same_score": one.equal,
            "within_one": one.near,
            "bias": round(one.bias, 2),
            "same_answers": one.same_answers,
            "answered": one.answered,
        }
        for one in results
    ]
    headers = ("Rater", "Games", "Same score", "Within 1", "Above the reference", "Same answers")
    cells = [
        (one.rater, one.games, one.equal, one.near, f"{one.bias:+.2f}", f"{one.same_answers} of {one.answered}")
        for one in results
    ]
    nothing = "Nobody has practised yet. Practice is on the Review page."
    say_list(rows, headers, cells, nothing, is_json=output is ListFormat.JSON)


@app.command()
def style(context: typer.Context, output: Rows = ListFormat.TABLE, db: DatabaseAgain = None) -> None:
    """Show how often raters told who speaks by the language alone, beside what guessing finds."""
    from evaluation.rating_desk.style_check import style_results_by_rater

    rows = [
        {
            "rater": rater,
            "asked": one.asked,
            "told": one.identified,
            "cannot_tell": one.unsure,
            "share": round(one.share, 4),
            "interval": one.interval.as_dict(),
            "chance": round(one.chance, 4),
        }
        for rater, one in style_results_by_rater(group_store(context, db).style_answers.list()).items()
    ]
    headers = ("Rater", "Told", "Cannot tell", "Share", "95 % interval", "Guessing")
    nothing = "Nobody has done the check yet. It is on the Review page, under Who speaks?"
    say_list(rows, headers, [_style_cells(row) for row in rows], nothing, is_json=output is ListFormat.JSON)


def _style_cells(row: dict[str, Any]) -> list[object]:
    interval = f"{row['interval']['low']:.0%} to {row['interval']['high']:.0%}"
    told = f"{row['told']} of {row['asked']}"
    return [row["rater"], told, row["cannot_tell"], f"{row['share']:.0%}", interval, f"{row['chance']:.0%}"]


app.command()(team_commands.assign)
app.command()(team_commands.status)
app.command("send-back")(team_commands.send_back)
app.command()(team_commands.gold)
app.command()(team_commands.decide)
app.command()(team_commands.decisions)
app.command()(team_commands.undecide)
