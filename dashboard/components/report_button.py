"""A button that downloads a report: one HTML file that opens offline and prints."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dashboard import permissions, resources
from evaluation.store.html_reports import comparison_html, iteration_html, run_html


def iteration_report(name: str) -> None:
    """The report on an iteration."""
    _button("Report on this iteration (HTML)", "iteration-report.html", partial(_iteration, name))


def comparison_report(before: str, after: str) -> None:
    """The report on two iterations compared."""
    _button("Report (HTML)", "comparison-report.html", partial(_comparison, before, after))


def run_report(before: str, after: str) -> None:
    """The report on two evaluation runs compared."""
    _button("Report (HTML)", "run-report.html", partial(_runs, before, after))


def _iteration(name: str) -> bytes:
    return iteration_html(resources.store(), name).encode()


def _comparison(before: str, after: str) -> bytes:
    return comparison_html(resources.store(), before, after).encode()


def _runs(before: str, after: str) -> bytes:
    return run_html(resources.store(), before, after).encode()


def _button(label: str, file_name: str, make: Callable[[], bytes]) -> None:
    permissions.download_button(
        "report",
        label,
        make,
        file_name,
        "text/html",
        key=file_name,
        icon=":material/summarize:",
        help_text="One file that opens offline in any browser and prints: no script, font or picture from elsewhere.",
    )
