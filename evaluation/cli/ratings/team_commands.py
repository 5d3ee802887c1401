"""Sub-commands of ``dramaturg rate`` for leads: assign, status, send-back, gold, decide, and undo of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.options import DatabaseAgain, ListFormat, OfIteration, Rows, TranscriptReference, group_store
from evaluation.cli.shared.terminal import note, safe, say, say_list, shortened

if TYPE_CHECKING:
    from evaluation.rating_desk.gold import GoldRating
    from evaluation.workflows.ratings.teams import RaterSummary, RatingGrid

_LONGEST_CELL = 40
Lead = Annotated[str, typer.Option("--who", metavar="NAME", show_default=False, help="The lead who does it.")]
Reason = Annotated[
    str,
    typer.Option(
        "--reason", metavar="TEXT", show_default=False, help="What the rater, or a later reader, should know."
    ),
]


def assign(
    context: typer.Context,
    who: Lead,
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
    db: DatabaseAgain = None,
) -> None:
    """Assign games to raters, so that every game gets the same number of raters and every rater as many games."""
    from evaluation.text.display import counted
    from evaluation.workflows.ratings.teams import assign_games

    store = group_store(context, db)
    games = [store.transcripts.resolve(each) for each in game or ()]
    plan = assign_games(store, rater, overlap, who=who, iteration=iteration, games=games, seed=seed, is_dry=is_dry)
    for name, count in plan.loads.items():
        say(f"{safe(name)}: {counted(count, 'new game')}")
    verb = "would be stored" if is_dry else "stored"
    say(f"{counted(len(plan.pairs), 'assignment')} for {counted(plan.games, 'game')} {verb}.")
    if plan.short:
        note(f"warning: {counted(len(plan.short), 'game')} get fewer raters: too few of these people can rate them.")


def status(
    context: typer.Context, iteration: OfIteration = None, output: Rows = ListFormat.TABLE, db: DatabaseAgain = None
) -> None:
    """Show raters by games, how fast raters are, and how far they agree with gold games."""
    from evaluation.workflows.ratings.teams import rating_grid

    grid = rating_grid(group_store(context, db), iteration)
    if output is ListFormat.JSON:
        say_list(_status_rows(grid), (), (), "", is_json=True)
        return
    names = [one.rater for one in grid.raters]
    cells = [
        [
            shortened(game.name, _LONGEST_CELL),
            *[game.cells[name].words if name in game.cells else "–" for name in names],
        ]
        for game in grid.games
    ]
    say_list([], ("Game", *names), cells, "There are no games to rate.", is_json=False)
    headers = ("Rater", "Rated", "Assigned", "To do", "Seconds per message", "Gold")
    summary = [
        [one.rater, one.rated, one.assigned, one.waiting, _figure(one.seconds_per_message), _gold_cell(one)]
        for one in grid.raters
    ]
    say_list([], headers, summary, "Nobody has rated, and nothing is assigned.", is_json=False)
    for one in grid.raters:
        for alert in one.alerts:
            note(f"look at {safe(one.rater)}: {alert}")


def _figure(value: float | None) -> str:
    return "too few to tell" if value is None else f"{value:.1f}"


def _gold_cell(one: RaterSummary) -> str:
    return "none yet" if one.gold is None else f"{one.gold.equal} of {one.gold.games} the same, {one.gold.bias:+.2f}"


def _status_rows(grid: RatingGrid) -> list[dict[str, Any]]:
    """One object per rater and game that have to do with each other, and one per rater."""
    cells: list[dict[str, Any]] = [
        {
            "transcript_id": game.transcript_id,
            "game": game.name,
            "rater": rater,
            "state": str(cell.state),
            "score": None if cell.rating is None else cell.rating.score,
            "engagement": game.score,
            "decided": None if game.decision is None else game.decision.score,
            "gold": None if game.gold is None else game.gold.score,
        }
        for game in grid.games
        for rater, cell in game.cells.items()
    ]
    people: list[dict[str, Any]] = [
        {
            "rater": one.rater,
            "rated": one.rated,
            "assigned": one.assigned,
            "waiting": one.waiting,
            "seconds_per_message": one.seconds_per_message,
            "gold_games": one.gold.games if one.gold else 0,
            "gold_equal": one.gold.equal if one.gold else 0,
            "gold_bias": one.gold.bias if one.gold else None,
            "alerts": list(one.alerts),
        }
        for one in grid.raters
    ]
    return [*cells, *people]


def send_back(
    context: typer.Context,
    transcript: TranscriptReference,
    rater: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="Whose rating.")],
    reason: Reason,
    who: Lead,
    db: DatabaseAgain = None,
) -> None:
    """Ask a rater to rate a game again; the rater sees the reason, and both ratings are kept."""
    store = group_store(context, db)
    with store.unit(write=True):
        found = store.transcripts.resolve(transcript)
        store.rating_assignments.send_back(found, rater, reason, who=who)
    say(f"{safe(rater)} is asked to rate {found[:8]} again.")


def gold(
    context: typer.Context,
    transcript: Annotated[
        str | None, typer.Argument(show_default=False, help="The gold game; without it, all of them are listed.")
    ] = None,
    score: Annotated[
        int | None, typer.Option(min=1, max=5, show_default=False, help="The score that you know to be right.")
    ] = None,
    answers: Annotated[
        str, typer.Option(metavar="yynyy", help="The known answers, y, n, or - where one is open.")
    ] = "-----",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Make it a game like others again.")] = False,
    who: Annotated[
        str | None, typer.Option("--who", metavar="NAME", show_default=False, help="The lead who sets it.")
    ] = None,
    output: Rows = ListFormat.TABLE,
    db: DatabaseAgain = None,
) -> None:
    """List gold games, or set the known rating of one. They come to every rater's queue, unmarked."""
    from evaluation.ratings import parse_answers

    store = group_store(context, db)
    if transcript is None:
        names = store.transcripts.game_names()
        held = store.gold_ratings.list()
        rows = [_gold_row(one, names[one.transcript_id]) for one in held]
        cells = [(one.transcript_id[:8], names[one.transcript_id], one.score, one.who) for one in held]
        headers = ("Id", "Game", "Score", "Set by")
        say_list(rows, headers, cells, "There is no gold game.", is_json=output is ListFormat.JSON)
        return
    if who is None or (score is None) != withdraw:
        raise typer.BadParameter("Give --who, and either --score or --withdraw.")
    known = parse_answers(answers)
    with store.unit(write=True):
        found = store.transcripts.resolve(transcript)
        if score is None:
            store.gold_ratings.withdraw(found, who=who)
        else:
            store.gold_ratings.set(found, score, known, who=who)
    say(f"{found[:8]} is a game like others again." if score is None else f"{found[:8]} is a gold game with {score}.")


def _gold_row(one: GoldRating, name: str) -> dict[str, Any]:
    return {
        "transcript_id": one.transcript_id,
        "game": name,
        "score": one.score,
        "answers": list(one.answers),
        "who": one.who,
        "at": one.created_at.isoformat(timespec="seconds"),
    }


def decide(
    context: typer.Context,
    transcript: TranscriptReference,
    score: Annotated[int, typer.Option(min=1, max=5, show_default=False, help="The score that counts.")],
    reason: Reason,
    who: Lead,
    db: DatabaseAgain = None,
) -> None:
    """Decide the engagement score of a game whose raters differ; it counts in place of their ratings."""
    store = group_store(context, db)
    with store.unit(write=True):
        found = store.transcripts.resolve(transcript)
        number = store.engagement_decisions.add(found, score, who=who, reason=reason)
    say(f"Decision {number}: {score} of 5 counts for {found[:8]}.")


def decisions(context: typer.Context, output: Rows = ListFormat.TABLE, db: DatabaseAgain = None) -> None:
    """List leads' decisions on disputed engagement scores, undone ones too."""
    store = group_store(context, db)
    with store.unit():
        made, names = store.engagement_decisions.list(), store.transcripts.game_names()
    rows = [
        {
            "id": one.id,
            "transcript_id": one.transcript_id,
            "game": names[one.transcript_id],
            "score": one.score,
            "who": one.who,
            "reason": one.reason,
            "at": one.created_at.isoformat(timespec="seconds"),
            "undone_by": one.undone_by,
        }
        for one in made
    ]
    keys = ("id", "game", "score", "who", "reason", "undone_by")
    cells = [[shortened(str(row[key] or ""), _LONGEST_CELL) for key in keys] for row in rows]
    headers = ("Number", "Game", "Score", "Decided by", "Reason", "Undone by")
    say_list(rows, headers, cells, "No lead has decided a score.", is_json=output is ListFormat.JSON)


def undecide(
    context: typer.Context,
    number: Annotated[int, typer.Argument(metavar="NUMBER", show_default=False, help="As 'rate decisions' gives it.")],
    who: Lead,
    db: DatabaseAgain = None,
) -> None:
    """Undo a decision: the ratings count again. Both acts stay on record."""
    group_store(context, db).engagement_decisions.undo(number, who=who)
    say(f"{safe(who)} undid decision {number}.")
