"""Reports as one self-contained HTML file: readable offline, printable, and without anything loaded from elsewhere."""

from evaluation.report._comparison_report import comparison_page
from evaluation.report._iteration_report import IterationFacts, iteration_page
from evaluation.report._runs_report import run_page
from evaluation.report.svg import Strip, strip_svg

__all__ = ["IterationFacts", "Strip", "comparison_page", "iteration_page", "run_page", "strip_svg"]
