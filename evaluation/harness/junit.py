"""A comparison with baselines as JUnit XML, which CI systems show beside the tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evaluation.escaping import xml_text
from evaluation.harness.regression import FAILURES, BaselineComparison, BaselineRow, Behind, RegressionOutcome
from evaluation.persona.results import LABELS
from evaluation.text.display import counted

_NAME = "dramaturg"
_MOST_LISTED = 3
NOTHING_COMPARED = "No score was held against a baseline, and --require-baseline asks for one."
_SKIPPED = frozenset({RegressionOutcome.NOT_SCORED, RegressionOutcome.INCOMPARABLE})
# Times would make two runs of the same thing differ.
_NO_TIME = "0"


def junit_xml(comparison: BaselineComparison) -> str:
    """One test suite per agent, one test case per dimension.

    A regression and a lost score are failures, a judge that failed is an error, what cannot be compared is skipped; a
    score without a baseline passes and says so in its output. Where a baseline is required
    and nothing was compared, a case of its own fails.
    """
    is_empty = comparison.verdict == "nothing_compared" and comparison.requires_baseline
    root = Element("testsuites", {"name": _NAME, **_counts(comparison.rows, int(is_empty))})
    if is_empty:
        suite = SubElement(root, "testsuite", {"name": "baselines", **_counts((), 1), "skipped": "0"})
        case = SubElement(suite, "testcase", {"name": NOTHING_COMPARED, "classname": _NAME, "time": _NO_TIME})
        SubElement(case, "failure", {"message": NOTHING_COMPARED, "type": "nothing_compared"})
    for agent_id, group in groupby(comparison.rows, key=lambda row: row.agent_id):
        rows = list(group)
        skipped = sum(row.outcome in _SKIPPED for row in rows)
        name = xml_text(rows[0].agent_name) or xml_text(agent_id)
        suite = SubElement(root, "testsuite", {"name": name, **_counts(rows), "skipped": str(skipped)})
        for row in rows:
            _case(suite, row, comparison.max_drop)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}'


def _counts(rows: Sequence[BaselineRow], more: int = 0) -> dict[str, str]:
    return {
        "tests": str(len(rows) + more),
        "failures": str(sum(row.outcome in FAILURES for row in rows) + more),
        "errors": str(sum(row.outcome is RegressionOutcome.ERROR for row in rows)),
        "time": _NO_TIME,
    }


def _case(suite: Element, row: BaselineRow, max_drop: float) -> None:
    name = f"{row.agent_name}: {LABELS[row.dimension]}"
    attributes = {"name": xml_text(name), "classname": f"{_NAME}.{xml_text(row.agent_id)}", "time": _NO_TIME}
    case = SubElement(suite, "testcase", attributes)
    words = row_words(row, max_drop)
    if row.outcome in FAILURES or row.outcome is RegressionOutcome.ERROR:
        kind = "error" if row.outcome is RegressionOutcome.ERROR else "failure"
        problem = SubElement(case, kind, {"message": xml_text(words), "type": str(row.outcome)})
        problem.text = xml_text("\n".join([words, *(behind_words(each) for each in row.behind)]))
    elif row.outcome in _SKIPPED:
        SubElement(case, "skipped", {"message": xml_text(words)})
    else:
        SubElement(case, "system-out").text = xml_text(words)


def row_words(row: BaselineRow, max_drop: float) -> str:
    """A row in one sentence: agent, dimension, score, baseline, and what that means."""
    who = f"{row.agent_name}, {LABELS[row.dimension]}"
    now, then = (_score(each) for each in (row.score, row.baseline))
    meanings = {
        RegressionOutcome.FINE: f"{now}, baseline {then}",
        RegressionOutcome.REGRESSION: f"{now}, baseline {then}: {_fall_words(row, max_drop)}",
        RegressionOutcome.LOST: f"no score, baseline {then}: {row.detail}",
        RegressionOutcome.NEW: f"{now}, nothing to compare it with: {row.detail}",
        RegressionOutcome.INCOMPARABLE: f"{now}, baseline {then}, not comparable: {row.detail}",
        RegressionOutcome.NOT_SCORED: f"not scored: {row.detail}",
        RegressionOutcome.ERROR: f"the judge failed: {row.detail}",
    }
    return f"{who}: {meanings[row.outcome]}"


def _fall_words(row: BaselineRow, max_drop: float) -> str:
    found = []
    if row.whole is None or row.whole.is_regression(max_drop):
        found.append(f"it fell by {-(row.change or 0.0):.2f}, which is more than {max_drop:g}")
    if row.fallen:
        listed = ", ".join(f"{one.name} {one.baseline:.2f} -> {one.score:.2f}" for one in row.fallen[:_MOST_LISTED])
        more = f" and {len(row.fallen) - _MOST_LISTED} more" if len(row.fallen) > _MOST_LISTED else ""
        found.append(f"{counted(len(row.fallen), 'proposition')} fell too far: {listed}{more}")
    return "; ".join(found)


def behind_words(each: Behind) -> str:
    """A proposition behind a fall in a few lines: its scores, the message, the reason, and what to try."""
    before = "new" if each.baseline is None else f"{each.baseline:.2f}"
    lines = [f"{each.proposition_id}: {before} -> {_score(each.score)} ({each.claim})"]
    if each.message or each.snippet:
        lines.append(f"  message {each.message}: {each.snippet}")
    lines += [f"  marked {each.mark_words}"] if each.mark_words else []
    lines += [f"  why: {each.reason}"] if each.reason else []
    lines += [f"  try: {each.recommendation}"] if each.recommendation else []
    return "\n".join(lines)


def _score(score: float | None) -> str:
    return "no score" if score is None else f"{score:.2f}"
