"""``dramaturg rate``: ratings of stored games, one by one or as a sheet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli.exit_codes import BAD_INPUT, AddByDefault, command_group
from evaluation.cli.options import TranscriptReference, open_store
from evaluation.cli.terminal import note, safe, say
from evaluation.text.display import counted
from evaluation.workflows.scoring import current_evaluation

_MOST_PROBLEMS = 50

_HELP = "Rate a transcript: dramaturg rate add TRANSCRIPT (add may be left out). Ratings from and to CSV."
app = command_group(_HELP, AddByDefault)


@app.callback(help=_HELP)
def rate() -> None:
    """Rates, or lists and assigns what is to rate."""


@app.command()
def add(
    transcript: TranscriptReference,
    rater: Annotated[str, typer.Option(metavar="NAME", help="Who rates.")],
    score: Annotated[
        float, typer.Option(min=1, max=5, help="From 1, boring, to 5, fascinating, in steps of a half, such as 3.5.")
    ],
    answers: Annotated[
        str,
        typer.Option(
            metavar="yynyy",
            help="The five questions in order, y, n, or - for no answer: would watch 3 minutes; curious about the "
            "Mafia; an agent stood out; flowed naturally; would watch another game.",
        ),
    ],
    comment: Annotated[str, typer.Option(help="A remark for colleagues.")] = "",
) -> None:
    """Rate a stored transcript from 1 to 5, in steps of a half.

    A later rating by the same person counts instead of the earlier one; both are kept.
    """
    from evaluation.ratings import Rating, parse_answers
    from evaluation.rubric.definitions import ENGAGEMENT

    given = parse_answers(answers)
    store = open_store()
    with store.unit(write=True):
        found = store.transcripts.get(store.transcripts.resolve(transcript))
        rating = Rating(found.id, rater, score, given, comment)
        store.ratings.add(rating)
        name = store.transcripts.game_ids()[found.id]
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
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="A CSV file of ratings, or JSON.")
    ],
    rater: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose ratings they are where the sheet does not say.")
    ] = None,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Check the sheet and store nothing.")] = False,
) -> None:
    """Import ratings from a CSV sheet: all of it, or nothing if a line has a mistake.

    The columns are those of 'export ratings'; game (or transcript_id) and score are enough. The same sheet imported
    again adds nothing. Rows without a score are left out.
    """
    from evaluation.workflows.ratings import import_ratings

    done = import_ratings(open_store(), file.read_bytes(), rater=rater, is_dry=is_dry)
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
