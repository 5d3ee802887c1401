"""``dramaturg agreement``: whether raters agree with each other, and the rules with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.options import OutputFormat, TextFormat, open_store
from evaluation.cli.shared.terminal import TextStyle, note, say, say_json, shortened, text_style
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import Method
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.agreement.between_raters import Figure
    from evaluation.agreement.report import AgreementReport

_MOST_ROWS = 10
_LONGEST_NAME = 30
_ID_DIGITS = 8

Rows = list[tuple[str, ...]]


def agreement(
    output: TextFormat = OutputFormat.TABLE,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap intervals.")] = 0,
) -> None:
    """Show how far raters agree with each other and the metrics with them, disagreements first.

    Counts each rater's latest rating of a game. A rater who has not finished should not look: it shows others' scores.
    """
    from evaluation.workflows.agreement import stored_agreement

    report = stored_agreement(open_store(), seed=seed)
    if output is OutputFormat.JSON:
        from evaluation.agreement.report import agreement_data

        say_json(agreement_data(report))
    elif report.ratings or report.rows:
        say("\n".join(_lines(report, text_style(is_markdown=output is OutputFormat.MARKDOWN))))
    if not report.shared_games:
        counts = f"{counted(report.ratings, 'rating')} by {counted(report.raters, 'rater')}"
        note(
            f"At least two raters of the same game are needed; so far there are {counts}. "
            "Rate on the dashboard's Rate page, or with: dramaturg rate."
        )


def _lines(report: AgreementReport, style: TextStyle) -> Iterator[str]:
    from evaluation.agreement.report import agreement_sentences, headline

    counts = f"{counted(report.raters, 'rater')}, {counted(report.ratings, 'rating')}"
    shared = f"{counted(report.shared_games, 'game')} with two raters or more."
    yield f"{counts} of {counted(report.games, 'game')}. {shared}"
    yield from ("", *filter(None, [headline(report)]), *map(style.words, agreement_sentences(report)))
    for title, headers, rows in _tables(report, style.words):
        if rows:
            yield from ("", f"{style.heading}{title}", "", style.table(headers, rows))
    yield ""
    yield (
        "Intervals are 95 %, by bootstrap over games. Ceiling: two raters of the same games. Floor: always the "
        "commonest answer; its kappa is 0. Kappa is quadratic-weighted, bias is metric minus rating. The reading goes "
        "by the lower end of alpha's interval. Rule, judge and person are compared by their verdicts on rows of the "
        "ledgers, with Cohen's kappa; people choose which rows they decide, mostly those that seem wrong."
    )
    if report.note:
        yield from ("", report.note)


def _tables(report: AgreementReport, words: Callable[[object], str]) -> Iterator[tuple[str, Sequence[str], Rows]]:
    """Title, headers and rows of each table."""
    from evaluation.statistics.words import interval_words, percent_interval

    def name(text: str) -> str:
        return words(shortened(text, _LONGEST_NAME))

    headers: tuple[str, ...] = ("Id", "Game", "Apart", "Scores", "Questions split")
    rows: Rows = []
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
