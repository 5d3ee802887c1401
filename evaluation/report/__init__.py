"""Reports as one self-contained HTML file."""

from evaluation.report._discussion import discussion_page, document
from evaluation.report._iterations import comparison_page, iteration_page

__all__ = ["comparison_page", "discussion_page", "document", "iteration_page"]
