"""``dramaturg rate`` and ``dramaturg agreement``: ratings of stored games, and how far raters and metrics agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.exit_codes import BAD_INPUT, AddByDefault, command_group
from evaluation.cli.options import ListFormat, OfIteration, Rows, TranscriptReference, open_store
from evaluation.cli.terminal import note, safe, say, say_json, shortened, table
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import Method
from evaluation.text.display import counted
from evaluation.workflows.scoring import current_evaluation

if TYPE_CHECKING:
    from evaluation.agreement.between_raters import Figure
    from evaluation.agreement.report import AgreementReport


_MOST_PROBLEMS = 50

_HELP = "Rate a transcript: dramaturg rate add TRANSCRIPT (add may be left out). Ratings from and to CSV; assign games."
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
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="A CSV file of ratings.")],
    rater: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose ratings they are where the sheet does not say.")
    ] = None,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Check the sheet and store nothing.")] = False,
) -> None:
    """Import ratings from a CSV sheet: all of it, or nothing where a line cannot be used.

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


@app.command()
def assign(
    who: Annotated[str, typer.Option(metavar="NAME", help="Your name, for the record.")],
    rater: Annotated[list[str], typer.Option("--rater", metavar="NAME", help="A rater; name each of them.")],
    iteration: OfIteration = None,
    game: Annotated[
        list[str] | None, typer.Option("--game", metavar="ID", help="A game; name each, or an iteration instead.")
    ] = None,
    overlap: Annotated[int, typer.Option(min=1, help="Raters per game; people who have rated it count.")] = 2,
    seed: Annotated[int, typer.Option(help="Another seed draws lots anew.")] = 0,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Only say what would be assigned.")] = False,
) -> None:
    """Assign games to raters, so that every game gets the same number of raters and every rater as many games."""
    from evaluation.text.display import counted
    from evaluation.workflows.ratings import assign_games

    store = open_store()
    games = [store.transcripts.resolve(each) for each in game or ()]
    plan = assign_games(store, rater, overlap, who=who, iteration=iteration, games=games, seed=seed, is_dry=is_dry)
    for name, count in plan.loads.items():
        say(f"{safe(name)}: {counted(count, 'new game')}")
    verb = "would be stored" if is_dry else "stored"
    say(f"{counted(len(plan.pairs), 'assignment')} for {counted(plan.games, 'game')} {verb}.")
    if plan.short:
        note(f"warning: {counted(len(plan.short), 'game')} get fewer raters: too few of these people can rate them.")


_MOST_ROWS = 10
_LONGEST_NAME = 30
_ID_DIGITS = 8

_TableRows = list[tuple[str, ...]]


def agreement(
    output: Rows = ListFormat.TABLE,
) -> None:
    """Show how far raters agree with each other and the metrics with them, disagreements first.

    Counts each rater's latest rating of a game. A rater who has not finished should not look: it shows others' scores.
    """
    from evaluation.workflows.ratings import stored_agreement

    report = stored_agreement(open_store())
    if output is ListFormat.JSON:
        from evaluation.agreement.report import agreement_data

        say_json(agreement_data(report))
    elif report.ratings or report.rows:
        say("\n".join(_lines(report)))
    if not report.shared_games:
        counts = f"{counted(report.ratings, 'rating')} by {counted(report.raters, 'rater')}"
        note(
            f"At least two raters of the same game are needed; so far there are {counts}. "
            "Rate on the dashboard's Rate page, or with: dramaturg rate."
        )


def _lines(report: AgreementReport) -> Iterator[str]:
    from evaluation.agreement.sentences import agreement_sentences, headline

    counts = f"{counted(report.raters, 'rater')}, {counted(report.ratings, 'rating')}"
    shared = f"{counted(report.shared_games, 'game')} with two raters or more."
    yield f"{counts} of {counted(report.games, 'game')}. {shared}"
    yield from ("", *filter(None, [headline(report)]), *map(safe, agreement_sentences(report)))
    for title, headers, rows in _tables(report):
        if rows:
            yield from ("", title, "", table(headers, rows))
    yield ""
    yield (
        "Intervals are 95 %, by bootstrap over games. Ceiling: two raters of the same games. Floor: always the "
        "commonest answer; its kappa is 0. Kappa is quadratic-weighted, bias is metric minus rating. The reading goes "
        "by the lower end of alpha's interval. Rule, judge and person are compared by their verdicts on rows of the "
        "ledgers, with Cohen's kappa; people choose which rows they decide, mostly those that seem wrong."
    )
    if report.note:
        yield from ("", report.note)


def _tables(report: AgreementReport) -> Iterator[tuple[str, Sequence[str], _TableRows]]:
    """Title, headers and rows of each table."""
    from evaluation.statistics.words import interval_words, percent_interval

    def name(text: str) -> str:
        return shortened(text, _LONGEST_NAME)

    headers: tuple[str, ...] = ("Id", "Game", "Apart", "Scores", "Questions split")
    rows: _TableRows = []
    for split in report.split[:_MOST_ROWS]:
        scores = ", ".join(f"{name(rater)} {score}" for rater, score in split.scores)
        questions = ", ".join(map(str, split.split_questions))
        rows.append((split.transcript_id[:_ID_DIGITS], name(split.game), str(split.spread), scores, questions))
    yield "Games that split the raters", headers, rows

    headers = ("Id", "Game", "Raters' mean", "Metrics on 1-5", "Gap")
    rows = []
    for gap in report.gaps[:_MOST_ROWS]:
        figures = (f"{gap.rated:.2f} ({gap.raters})", f"{gap.automatic:.2f}", f"{gap.gap:+.2f}")
        rows.append((gap.transcript_id[:_ID_DIGITS], name(gap.game), *figures))
    yield "Games that raters and metrics see differently", headers, rows

    headers = ("Id", "Metric", "Message", "Decided", "By")
    rows = []
    for over in report.overruled[:_MOST_ROWS]:
        message, decided = name(over.row.message_id or "none"), over.verdicts[Method.HUMAN].replace("_", " ")
        rows.append((over.transcript_id[:_ID_DIGITS], over.metric, message, decided, name(over.author)))
    yield "Rows that people overrode", headers, rows

    headers = ("Metric", "Between", "Rows", "Games", "Same verdict", "Interval", "Kappa", "Interval", "Floor")
    rows = []
    for pair in report.rows:
        same = f"{pair.same} of {pair.rows}, {_share(pair.share.value)}"
        kappa = (_number(pair.kappa.value), interval_words(pair.kappa.interval, digits=2), _share(pair.floor))
        counts = (DEFINITIONS[pair.metric].label, pair.pair, str(pair.rows), str(pair.games))
        rows.append((*counts, same, percent_interval(pair.share.interval), *kappa))
    yield "Rule, judge and person", headers, rows

    headers = ("Id", "Metric", "Message", "Verdicts", "Points apart")
    rows = []
    for row in report.disputed[:_MOST_ROWS]:
        message = name(row.row.message_id or row.row.player or "none")
        rows.append((row.transcript_id[:_ID_DIGITS], row.metric, message, row.verdict_words, f"{row.stake:.1f}"))
    yield "Verdicts that differ, those nobody decided first", headers, rows

    headers = ("Item", "Games", "Alpha", "Interval", "AC1", "Same answer", "Floor", "Reading")
    rows = []
    for item in report.items:
        alpha = (_number(item.alpha.value), interval_words(item.alpha.interval, digits=2))
        others = (_number(item.ac1.value) if item.ac1 else "", _share(item.exact.value), _share(item.floor))
        rows.append((item.item.short_label, str(item.games), *alpha, *others, item.reading))
    yield "Raters against each other", headers, rows

    headers = ("Rater", "Rated", "Shared games", "Above the others", "Interval")
    rows = []
    for one in report.leanings:
        bias = (_number(one.bias, "+"), interval_words(one.interval, digits=2, signed=True))
        rows.append((name(one.rater), str(one.rated), str(one.games), *bias))
    yield "Generous and strict raters", headers, rows

    headers = ("Metric", "Item", "Games", "Kappa", "Ceiling", "Spearman", "Bias", "Same answer", "Ceiling", "Floor")
    rows = []
    for reference in report.references:
        kappas = (
            *(_with_interval(reference.kappa), _number(reference.ceiling_kappa), _with_interval(reference.spearman)),
            _number(reference.bias.value, "+"),
            *map(_share, (reference.exact.value, reference.ceiling_exact, reference.floor_exact)),
        )
        rows.append((reference.label, reference.item.short_label, str(reference.games), *kappas))
    yield "Metrics against raters", headers, rows


def _number(value: float, sign: str = "") -> str:
    return "none" if value != value else f"{value:{sign}.2f}"


def _share(value: float) -> str:
    return "none" if value != value else f"{100 * value:.0f} %"


def _with_interval(figure: Figure) -> str:
    low, high = figure.interval.low, figure.interval.high
    words = "none" if low is None or high is None else f"{low:.2f} to {high:.2f}"
    return f"{_number(figure.value)} [{words}]"
