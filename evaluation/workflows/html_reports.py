"""Write HTML reports on stored iterations and comparisons, each from one unit of work."""

from __future__ import annotations

from datetime import UTC, datetime

from evaluation.report import comparison_page, iteration_page
from evaluation.store.database import Store
from evaluation.workflows.boards import stored_board
from evaluation.workflows.comparisons import stored_comparison, stored_losses


def iteration_html(store: Store, name: str, *, made_at: datetime | None = None) -> str:
    """The report on one stored iteration.

    Args:
        store: Where to read.
        name: Of the iteration.
        made_at: What it gives as its time (UTC); now when left out.

    Raises:
        NotFoundError: There is no iteration of that name.
    """
    with store.unit():
        store.iterations.get(name)
        raters, sign_offs = store.ratings.rater_counts(), store.iterations.sign_offs(name)
        board = stored_board(store)
        losses = stored_losses(store, name, board)
    return iteration_page(board, name, raters, sign_offs, made_at or datetime.now(UTC), losses)


def comparison_html(store: Store, before: str, after: str, *, seed: int = 0, made_at: datetime | None = None) -> str:
    """The report on two stored iterations compared.

    Args:
        store: Where to read.
        before: The name of the control.
        after: The name of the iteration whose change is in question.
        seed: Of what is drawn for the intervals.
        made_at: What it gives as its time (UTC); now when left out.

    Raises:
        NotFoundError: There is no iteration of that name.
        InputError: Both are the same.
    """
    return comparison_page(stored_comparison(store, before, after, seed=seed), made_at or datetime.now(UTC))
