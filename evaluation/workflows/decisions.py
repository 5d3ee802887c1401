"""Record what a person decides on the change of an iteration, and demand a note where that departs from the rule."""

from __future__ import annotations

from evaluation.errors import InputError
from evaluation.iterations import Fate, Iteration, departs_from
from evaluation.store import Store
from evaluation.workflows.reports import stored_board


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
                f"The rule says {rule.replace('_', ' ')}, not {fate}.",
                place="note",
                remedy="Say in a note why the decision departs from it.",
            )
        return store.iterations.record_decision(
            name, fate, who=who, reason=reason, note=note, reference=decision.reference, rule=rule
        )
