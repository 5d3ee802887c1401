"""Write what a pull request does to its games as Markdown: metrics before and after, and the games that changed.

The input is the JSON form, which may come from an untrusted branch: text stands in code spans, and the result is cut to
the length that a comment may have. Like the comment on personas, the module needs nothing but Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.escaping import code, markdown_table, shortened
from evaluation.harness.pull_request_comment import cut_comment, number_words

GAMES_KIND = "games"
"""The ``kind`` of a report that this module reads."""

GAMES_MARKER = "<!-- dramaturg-games -->"
"""Begins the comment, so that the next run finds it and writes it again."""

_LONGEST_NAME = 80
_LONGEST_TEXT = 300
_MOST_GAMES = 100
_MOST_LISTED = 20
_METRICS_OF_A_GAME = 6
_TITLES = {
    "fine": "Games: fine",
    "first": "Games: scored, with nothing to compare with",
    "failed": "Games: failed",
    "broken": "Games: not compared",
}
_STATES = {"new": "new", "changed": "changed", "same": "the same", "gone": "gone"}
_OUTCOMES = {"better", "worse", "no evidence either way", "cannot be tested"}


def games_markdown(report: Mapping[str, Any]) -> str:
    """The comment: the verdict, a table of metrics, the games that changed or failed, and remarks on files.

    Args:
        report: From ``ProposedChange.as_dict``, or JSON of that form; values of a wrong kind are left out. Its
            ``problem`` says why there is no comparison at all.
    """
    title = _TITLES.get(str(report.get("verdict")), "Games: unknown outcome")
    sections = [f"{GAMES_MARKER}\n### {title}", *_opening(report)]
    if report.get("problem"):
        sections.append(code(shortened(report["problem"], 2_000)))
    metrics = _mappings(report.get("metrics"))
    if metrics:
        sections.append(_metric_table(metrics, _mapping(report.get("sides"))))
    fallen = [code(one.get("label")) for one in metrics if one.get("has_fallen") is True]
    if fallen:
        drop = number_words(report.get("max_drop"), 1)
        why = f"worse beyond chance, or lower by more than {drop} points" if drop else "worse beyond chance"
        sections.append(f"**{', '.join(fallen)}**: {why}.")
    sections += _game_sections(_mappings(report.get("games")))
    remarks = report.get("remarks")
    if isinstance(remarks, list) and remarks:
        lines = [f"- {code(shortened(each, _LONGEST_TEXT))}" for each in remarks[:_MOST_LISTED]]
        sections.append("\n".join(["Remarks on files:", *lines, *_more(len(remarks) - len(lines), "remarks")]))
    return cut_comment("\n\n".join(sections))


def _opening(report: Mapping[str, Any]) -> Iterator[str]:
    counts = _mapping(report.get("counts"))
    after, before = (number_words(counts.get(side), 0) or "0" for side in ("after", "before"))
    if report.get("verdict") == "broken":
        yield "The games could not be compared. This is why:"
    elif report.get("base"):
        yield f"Games scored: {after}, compared with {before} of {code(shortened(report['base'], _LONGEST_NAME))}."
    else:
        yield f"Games scored: {after}. There are none to compare with: the base has no such folder, or none was named."
    if report.get("gate") == "automatic":
        yield "Each game must still be able to pass once people have rated it (gate `automatic`)."


def _metric_table(metrics: list[Mapping[str, Any]], sides: Mapping[str, Any]) -> str:
    names = [code(shortened(sides.get(side), _LONGEST_NAME)) or side for side in ("before", "after")]
    rows = [
        (
            code(shortened(one.get("label"), _LONGEST_NAME)),
            number_words(one.get("threshold"), 0) or "none",
            number_words(one.get("before"), 1) or "none",
            number_words(one.get("after"), 1) or "none",
            number_words(one.get("change"), 1, sign=True),
            _outcome(one),
        )
        for one in metrics[:_MOST_LISTED]
    ]
    return markdown_table(("Metric", "Threshold", *names, "Change", "What it shows"), rows)


def _outcome(one: Mapping[str, Any]) -> str:
    outcome = str(one.get("outcome"))
    words = outcome if outcome in _OUTCOMES else ""
    return f"**{words or 'lower'}, fails**" if one.get("has_fallen") is True else words


def _game_sections(games: list[Mapping[str, Any]]) -> Iterator[str]:
    told = [one for one in games if one.get("state") != "same" or one.get("has_failed") is True]
    same = len(games) - len(told)
    if told:
        rows = [_game_row(one) for one in told[:_MOST_GAMES]]
        table = markdown_table(("Game", "Is", "Metrics passed before", "Now", "Gate"), rows)
        yield "\n".join([table, *_more(len(told) - len(rows), "games")])
    if same:
        yield f"Games that are the same on both sides and pass: {same}."
    lines = [line for one in told[:_MOST_LISTED] for line in _reasons(one)]
    if lines:
        yield "\n".join(["Why games failed:", *lines])


def _game_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    passed = (number_words(one.get(side), 0) for side in ("before", "after"))
    gate = "**failed**" if one.get("has_failed") is True else "passed" if one.get("after") is not None else ""
    state = _STATES.get(str(one.get("state")), "unknown")
    cells = (f"{number} of {_METRICS_OF_A_GAME}" if number else "none" for number in passed)
    return (code(shortened(one.get("name"), _LONGEST_NAME)), state, *cells, gate)


def _reasons(one: Mapping[str, Any]) -> Iterator[str]:
    reasons = one.get("reasons")
    if isinstance(reasons, list) and reasons:
        words = " ".join(str(each) for each in reasons[:_MOST_LISTED])
        yield f"- {code(shortened(one.get('name'), _LONGEST_NAME))}: {code(shortened(words, 2 * _LONGEST_TEXT))}"


def _more(count: int, words: str) -> Iterator[str]:
    if count > 0:
        yield f"\n{count} more {words} are left out."


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
