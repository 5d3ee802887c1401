"""Write a comparison with baselines as Markdown, for the comment on a pull request.

    python -m evaluation.harness.pull_request_comment REPORT   # JSON of "dramaturg persona compare --format json"

The input is the JSON form, which may come from an untrusted branch. Text that is neither a number nor a fixed word is
put into code spans, so that it cannot become a link, a picture or a mention, and the result is cut to the length that a
comment may have. The module imports only the standard library and ``evaluation.escaping``, so that a job with a token
needs to install nothing.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.escaping import code, markdown_table, shortened

MARKER = "<!-- dramaturg-regression -->"
"""Begins the comment, so that the next run finds it and writes it again."""

LONGEST_COMMENT = 60_000
"""Characters; GitHub refuses more than 65,536."""

_MOST_ROWS = 300
_LONGEST_NAME = 40
_LONGEST_TEXT = 200
_LONGEST_RULE = 2_000
_LARGEST_REPORT = 10_000_000
_MOST_LISTED = 20
HEADERS = ("Agent", "Dimension", "Baseline", "Now", "Change", "Outcome")
"""Columns of a table of the comparison."""
_DIMENSIONS = ("Adherence", "Consistency", "Fluency", "Voice distinctness", "Ideas")
_OUTCOMES = {
    "fine": "fine",
    "regression": "regression",
    "lost": "lost",
    "new": "new",
    "incomparable": "not comparable",
    "not_scored": "not scored",
    "error": "judge failed",
}
_FAILURES = ("regression", "lost", "error")
_TITLES = {
    "fine": "Personas: no regression",
    "regression": "Personas: regression",
    "nothing_compared": "Personas: nothing was compared",
    "error": "Personas: the judge failed",
    "broken": "Personas: not compared",
}
_MEANINGS = {
    "fine": "No score fell by more than {drop}.",
    "regression": (
        "At least one score fell by more than {drop} below its baseline, or is gone. If that is wanted, make the "
        "baselines again with `dramaturg persona baseline` and commit them; else look at what fell below."
    ),
    "nothing_compared": (
        "No score was compared with a baseline, so nothing could have fallen. Make baselines with `dramaturg persona "
        "baseline` and commit them, or ask as they were asked; the reasons stand below."
    ),
    "error": (
        "Part of it was not judged, so the comparison tells nothing yet. Where an answer is missing, record it with "
        "`dramaturg persona record FILE` and commit the recordings."
    ),
    "broken": "The comparison could not be made; the log of the run says why.",
}


def comparison_markdown(comparison: Mapping[str, Any]) -> str:
    """The comment: the verdict, a table with one line per agent and dimension, and what fell.

    Args:
        comparison: From ``Comparison.as_dict``, or JSON of that form; values of a wrong kind are left out.
    """
    rows = [row for row in _list(comparison.get("rows")) if isinstance(row, Mapping)]
    verdict = str(comparison.get("verdict"))
    drop = number_words(comparison.get("max_drop"), 1) or "the allowed drop"
    sections = [
        f"{MARKER}\n### {_TITLES.get(verdict, 'Personas: unknown outcome')}",
        _MEANINGS.get(verdict, "The report cannot be read.").format(drop=drop),
    ]
    if comparison.get("requires_baseline") is True and verdict == "nothing_compared":
        sections.append("A baseline is required (`--require-baseline`), so this fails.")
    if comparison.get("rule"):
        sections.append(_quoted(comparison["rule"], _LONGEST_RULE))
    if rows:
        sections.append(markdown_table(HEADERS, [row_cells(row, _quoted, "**") for row in rows[:_MOST_ROWS]]))
    lines = [line for row in rows[:_MOST_ROWS] for line in row_remarks(row, _quoted)]
    if any(row.get("outcome") == "new" for row in rows):
        lines.append("- What is new has no baseline yet: make one with `dramaturg persona baseline` and commit it.")
    if len(rows) > _MOST_ROWS:
        lines.append(f"- {len(rows) - _MOST_ROWS} more lines are left out.")
    sections += ["\n".join(lines)] if lines else []
    models = ", ".join(code(shortened(each, _LONGEST_NAME)) for each in _list(comparison.get("models"))[:_MOST_LISTED])
    if models:
        sections.append(f"Judged by {models}. Scores run from 0 to 9, ideas are counted.")
    return cut_comment("\n\n".join(sections))


def row_cells(row: Mapping[str, Any], quoted: Callable[[object, int], str], strong: str = "") -> tuple[str, ...]:
    """A row as cells below ``HEADERS``; arguments as for :func:`row_remarks`, and marks put around a failure."""
    outcome = str(row.get("outcome"))
    mark = strong if outcome in _FAILURES else ""
    return (
        quoted(row.get("agent_name"), _LONGEST_NAME),
        _dimension(row, quoted),
        number_words(row.get("baseline"), 2) or "none",
        number_words(row.get("score"), 2) or "n/a",
        number_words(row.get("change"), 2, sign=True),
        mark + (_OUTCOMES.get(outcome) or quoted(outcome, _LONGEST_NAME)) + mark,
    )


def _dimension(row: Mapping[str, Any], quoted: Callable[[object, int], str]) -> str:
    label = row.get("label")
    return str(label) if label in _DIMENSIONS else quoted(label, _LONGEST_NAME)


def row_remarks(row: Mapping[str, Any], quoted: Callable[[object, int], str]) -> Iterator[str]:
    """Remarks on a row beside its numbers: why it is as it is, and the lowest claim of what fell.

    Args:
        row: From ``Comparison.as_dict``, or JSON of that form.
        quoted: Makes untrusted text harmless, and no longer than so many characters.
    """
    who = f"{quoted(row.get('agent_name'), _LONGEST_NAME)}, {_dimension(row, quoted)}"
    if row.get("detail") and row.get("outcome") != "new":
        yield f"- {who}: {quoted(row['detail'], 2 * _LONGEST_TEXT)}"
    lowest = row.get("lowest")
    if not isinstance(lowest, Mapping):
        return
    score = number_words(lowest.get("score"), 2) or "n/a"
    yield f"- {who}: the lowest claim is {quoted(lowest.get('proposition_id'), _LONGEST_NAME)} with {score}"
    for key, words in (
        ("message", "at"),
        ("snippet", "said"),
        ("mark_words", "marked"),
        ("reason", "why"),
        ("recommendation", "try"),
    ):
        if lowest.get(key):
            yield f"  - {words}: {quoted(lowest[key], _LONGEST_TEXT)}"


def _quoted(text: object, limit: int) -> str:
    return code(shortened(text, limit)) or "n/a"


def number_words(value: object, digits: int, *, sign: bool = False) -> str:
    """A number in words, a true minus sign left to fonts; empty for anything else, and for numbers beyond a million."""
    # The size comes first: an integer of hundreds of digits, as a forged report may hold, is not a float at all.
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e6 or not math.isfinite(value):
        return ""
    return f"{value:{'+' if sign else ''}z.{digits}f}"


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def cut_comment(text: str) -> str:
    """The comment, cut at the end of a line to the length that one may have."""
    if len(text) <= LONGEST_COMMENT:
        return text
    # At the end of a line, so that no code span stays open.
    kept = text[:LONGEST_COMMENT].rpartition("\n")[0]
    return f"{kept}\n\nThe rest is left out; see the run's log."


def read_report(path: Path) -> Mapping[str, Any]:
    """The report in a file of a stranger; one of a verdict "broken" where it is none, too large or leads elsewhere."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST_REPORT:
        return _BROKEN
    try:
        found = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return _BROKEN
    return found if isinstance(found, dict) and "verdict" in found else _BROKEN


_BROKEN: Mapping[str, Any] = {"verdict": "broken"}

if __name__ == "__main__":
    sys.stdout.write(f"{comparison_markdown(read_report(Path(sys.argv[1])))}\n")
