"""``dramaturg agreement``: whether raters agree with each other, and the rules with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli.shared.options import OutputFormat, TextFormat, open_store
from evaluation.cli.shared.terminal import code, markdown_table, note, safe, say, shortened, table
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.score import Method
from evaluation.text.display import counted

if TYPE_CHECKING:
    from evaluation.agreement import AgreementReport, Figure

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
        from evaluation.agreement.json_output import agreement_data
        from evaluation.escaping import json_text

        say(json_text(agreement_data(report)))
    elif report.ratings or report.rows:
        say("\n".join(_lines(report, is_markdown=output is OutputFormat.MARKDOWN)))
    if not report.shared_games:
        counts = f"{counted(report.ratings, 'rating')} by {counted(report.raters, 'rater')}"
        note(
            f"At least two raters of the same game are needed; so far there are {counts}. "
            "Rate on the dashboard's Review page, or with: dramaturg rate."
        )


def _lines(report: AgreementReport, *, is_markdown: bool) -> Iterator[str]:
    words: Callable[[object], str] = code if is_markdown else safe
    draw = markdown_table if is_markdown else table
    counts = (
        f"{counted(report.raters, 'rater')}, {counted(report.ratings, 'rating')} of {counted(report.games, 'game')}"
    )
    yield f"{counts}. {counted(report.shared_games, 'game')} with two raters or more."
    for title, headers, rows in _tables(report, words):
        if rows:
            yield ""
            yield f"## {title}" if is_markdown else title
            yield ""
            yield draw(headers, rows)
    yield ""
    yield (
        "Intervals are 95 %, by bootstrap over games. Ceiling: two raters of the same games. Floor: always the "
        "commonest answer; its kappa is 0. Kappa is quadratic-weighted, bias is metric minus rating. The reading goes "
        "by the lower end of alpha's interval. Rule, judge and person are compared by their verdicts on rows of the "
        "ledgers, with Cohen's kappa; people choose which rows they decide, mostly those that seem wrong."
    )
    if report.note:
        yield ""
        yield report.note


def _tables(report: AgreementReport, words: Callable[[object], str]) -> Iterator[tuple[str, Sequence[str], Rows]]:
    yield "Games that split the raters", ("Id", "Game", "Apart", "Scores", "Questions split"), _split(report, words)
    headers: tuple[str, ...] = ("Id", "Game", "Raters' mean", "Metrics on 1-5", "Gap")
    yield "Games that raters and metrics see differently", headers, _gaps(report, words)
    headers = ("Id", "Metric", "Message", "Decided", "By")
    yield "Rows that people overrode", headers, _overruled(report, words)
    headers = ("Metric", "Between", "Rows", "Games", "Same verdict", "Interval", "Kappa", "Interval", "Floor")
    yield "Rule, judge and person", headers, _rows(report)
    headers = ("Id", "Metric", "Message", "Verdicts", "Points apart")
    yield "Verdicts that differ, those nobody decided first", headers, _disputed(report, words)
    headers = ("Item", "Games", "Alpha", "Interval", "AC1", "Same answer", "Floor", "Reading")
    yield "Raters against each other", headers, _items(report)
    headers = ("Rater", "Rated", "Shared games", "Above the others", "Interval")
    yield "Generous and strict raters", headers, _leanings(report, words)
    headers = ("Metric", "Item", "Games", "Kappa", "Ceiling", "Spearman", "Bias", "Same answer", "Ceiling", "Floor")
    yield "Metrics against raters", headers, _references(report)


def _split(report: AgreementReport, words: Callable[[object], str]) -> Rows:
    return [
        (
            one.transcript_id[:_ID_DIGITS],
            words(shortened(one.game_id, _LONGEST_NAME)),
            str(one.spread),
            ", ".join(f"{words(shortened(rater, _LONGEST_NAME))} {score}" for rater, score in one.scores),
            ", ".join(map(str, one.split_questions)),
        )
        for one in report.split[:_MOST_ROWS]
    ]


def _gaps(report: AgreementReport, words: Callable[[object], str]) -> Rows:
    return [
        (
            one.transcript_id[:_ID_DIGITS],
            words(shortened(one.game_id, _LONGEST_NAME)),
            f"{one.rated:.2f} ({one.raters})",
            f"{one.automatic:.2f}",
            f"{one.gap:+.2f}",
        )
        for one in report.gaps[:_MOST_ROWS]
    ]


def _overruled(report: AgreementReport, words: Callable[[object], str]) -> Rows:
    return [
        (
            one.transcript_id[:_ID_DIGITS],
            one.metric,
            words(shortened(one.row.message_id or "none", _LONGEST_NAME)),
            one.verdicts[Method.HUMAN].replace("_", " "),
            words(shortened(one.author, _LONGEST_NAME)),
        )
        for one in report.overruled[:_MOST_ROWS]
    ]


def _rows(report: AgreementReport) -> Rows:
    from evaluation.statistics.words import interval_words, percent_interval

    return [
        (
            DEFINITIONS[one.metric].label,
            one.pair,
            str(one.rows),
            str(one.games),
            f"{one.same} of {one.rows}, {_share(one.share.value)}",
            percent_interval(one.share.interval),
            _number(one.kappa.value),
            interval_words(one.kappa.interval, digits=2),
            _share(one.floor),
        )
        for one in report.rows
    ]


def _disputed(report: AgreementReport, words: Callable[[object], str]) -> Rows:
    return [
        (
            one.transcript_id[:_ID_DIGITS],
            one.metric,
            words(shortened(one.row.message_id or one.row.player or "none", _LONGEST_NAME)),
            one.verdict_words,
            f"{one.stake:.1f}",
        )
        for one in report.disputed[:_MOST_ROWS]
    ]


def _items(report: AgreementReport) -> Rows:
    from evaluation.statistics.words import interval_words

    return [
        (
            one.item.short_label,
            str(one.games),
            _number(one.alpha.value),
            interval_words(one.alpha.interval, digits=2),
            _number(one.ac1.value) if one.ac1 else "",
            _share(one.exact.value),
            _share(one.floor),
            one.reading,
        )
        for one in report.items
    ]


def _leanings(report: AgreementReport, words: Callable[[object], str]) -> Rows:
    from evaluation.statistics.words import interval_words

    return [
        (
            words(shortened(one.rater, _LONGEST_NAME)),
            str(one.rated),
            str(one.games),
            _number(one.bias, "+"),
            interval_words(one.interval, digits=2, signed=True),
        )
        for one in report.leanings
    ]


def _references(report: AgreementReport) -> Rows:
    return [
        (
            one.label,
            one.item.short_label,
            str(one.games),
            f"{_number(one.kappa.value)} [{_interval(one.kappa)}]",
            _number(one.ceiling_kappa),
            f"{_number(one.spearman.value)} [{_interval(one.spearman)}]",
            _number(one.bias.value, "+"),
            _share(one.exact.value),
            _share(one.ceiling_exact),
            _share(one.floor_exact),
        )
        for one in report.references
    ]


def _number(value: float, sign: str = "") -> str:
    return "none" if value != value else f"{value:{sign}.2f}"


def _share(value: float) -> str:
    return "none" if value != value else f"{100 * value:.0f} %"


def _interval(figure: Figure) -> str:
    low, high = figure.interval.low, figure.interval.high
    return "none" if low is None or high is None else f"{low:.2f} to {high:.2f}"
