"""``dramaturg rate``: engagement ratings of stored transcripts, one by one or as a sheet; assignments and progress."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli.shared.exit_codes import BAD_INPUT, AddByDefault, command_group
from evaluation.cli.shared.options import (
    OfIteration,
    TranscriptReference,
    open_store,
)
from evaluation.cli.shared.terminal import note, safe, say
from evaluation.workflows.stored_scores import current_evaluation

_MOST_PROBLEMS = 50

_HELP = "Rate a transcript: dramaturg rate TRANSCRIPT. Ratings from and to CSV; assign games."
app = command_group(_HELP, AddByDefault)


@app.callback(help=_HELP)
def rate() -> None:
    """Rates, or lists and assigns what is to rate."""


@app.command()
def add(
    transcript: TranscriptReference,
    rater: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="Who rates.")],
    score: Annotated[
        float,
        typer.Option(
            min=1, max=5, show_default=False, help="From 1, boring, to 5, fascinating, in steps of a half, such as 3.5."
        ),
    ],
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
) -> None:
    """Rate a stored transcript from 1 to 5, in steps of a half.

    A later rating by the same person counts instead of the earlier one; both are kept.
    """
    from evaluation.ratings import Rating, parse_answers
    from evaluation.rubric.definitions import ENGAGEMENT
    from evaluation.text.display import counted

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
) -> None:
    """Import ratings from a CSV sheet: all of it, or nothing where a line cannot be used.

    The columns are those of 'export ratings'; game (or transcript_id) and score are enough. The same sheet imported
    again adds nothing. Rows without a score are left out. JSON exports of Label Studio and Argilla are read as well.
    """
    from evaluation.workflows.rating_sheets import import_ratings

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


@app.command()
def assign(
    who: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="The lead who does it.")],
    rater: Annotated[
        list[str], typer.Option("--rater", metavar="NAME", show_default=False, help="A rater; name each of them.")
    ],
    iteration: OfIteration = None,
    game: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="ID", show_default=False, help="A game; name each, or an iteration instead."),
    ] = None,
    overlap: Annotated[int, typer.Option(min=1, help="Raters per game; people who have rated it count.")] = 2,
    seed: Annotated[int, typer.Option(help="Another seed draws lots anew.")] = 0,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Only say what would be assigned.")] = False,
) -> None:
    """Assign games to raters, so that every game gets the same number of raters and every rater as many games."""
    from evaluation.text.display import counted
    from evaluation.workflows.rating_teams import assign_games

    store = open_store()
    games = [store.transcripts.resolve(each) for each in game or ()]
    plan = assign_games(store, rater, overlap, who=who, iteration=iteration, games=games, seed=seed, is_dry=is_dry)
    for name, count in plan.loads.items():
        say(f"{safe(name)}: {counted(count, 'new game')}")
    verb = "would be stored" if is_dry else "stored"
    say(f"{counted(len(plan.pairs), 'assignment')} for {counted(plan.games, 'game')} {verb}.")
    if plan.short:
        note(f"warning: {counted(len(plan.short), 'game')} get fewer raters: too few of these people can rate them.")
