"""The board over all iterations of a store, and the decisions that people record on it."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.errors import InputError
from evaluation.iterations import Board, Choice, Fate, Iteration, departs_from, games_by_iteration, make_board
from evaluation.rubric.verdict import MetricScore
from evaluation.store.database import Store


def stored_board(store: Store, metrics: Mapping[str, Mapping[str, MetricScore]] | None = None) -> Board:
    """All known facts of the iterations, under today's thresholds.

    Args:
        store: Where to read.
        metrics: ``Results.metric_scores``, where the caller has it already.
    """
    with store.unit():
        games = games_by_iteration(store.transcripts.summaries(), metrics or store.results.metric_scores())
        settings = store.settings
        return make_board(store.iterations.list(), games, settings.thresholds(), settings.test_size())


def iteration_names(store: Store) -> list[str]:
    """The names of all iterations, in their order."""
    return [one.name for one in store.iterations.list()]


def record_decision(store: Store, name: str, fate: Fate, *, who: str, reason: str, note: str = "") -> Iteration:
    """Records that a person keeps or reverts the change of an iteration, with the rule's answer at this time.

    Args:
        store: Where to.
        name: Of the iteration.
        fate: What was decided.
        who: The person.
        reason: Why.
        note: Why it departs from the rule; needed where it does.

    Raises:
        NotFoundError: There is no iteration of that name.
        InputError: There is nothing to compare it with, nobody or no reason is named, or the note is missing.
    """
    with store.unit(write=True):
        store.iterations.get(name)
        decision = stored_board(store)[name].decision
        if decision is None:
            raise InputError(
                f"{name!r} has no reference, so there is no change to keep or to revert.",
                place="decision",
                remedy="Name its parent, or decide on a later iteration.",
            )
        rule = str(decision.choice)
        if departs_from(fate, rule) and not note.strip():
            raise InputError(
                f"By the rule the change {decision.choice.words}."
                if decision.choice in (Choice.NOT_YET, Choice.UNDECIDABLE)
                else f"The rule says {rule}, not {fate}.",
                place="note",
                remedy="Say in a note why the decision departs from it.",
            )
        return store.iterations.record_decision(
            name, fate, who=who, reason=reason, note=note, reference=decision.reference, rule=rule
        )
