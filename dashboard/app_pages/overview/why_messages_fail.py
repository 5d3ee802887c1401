"""Why messages fail: the reasons of an iteration as a picture, and all messages of one reason."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.shared import resources, state
from dashboard.shared.clicked_marks import MarkTarget, MarkTargets, remember_click, remember_target
from dashboard.shared.drawing import MARKS, define_component
from dashboard.shared.formatting import UNITS, share_text
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.status_table import open_row
from evaluation.comparison.movers import Example, FailureReason, IterationFailures, MetricFailures
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.text.display import counted, shortened
from evaluation.workflows.iterations import stored_failing_messages, stored_failure_reasons

_REASON = "reason"
_KEY = "failure_atlas"
_MOST_ROWS = 500
_SIDES = ("of the reference", "of the iteration")
_LONGEST = 300
_picture = define_component("dramaturg_failure_atlas", MARKS, Path(__file__).with_name("failure_atlas"))


def why_messages_fail(name: str, before: str | None, metric: str | None = None) -> None:
    """Draw the reasons of an iteration beside those of ``before``, or the messages of the chosen reason.

    Args:
        name: The iteration's.
        before: That of its reference, if any.
        metric: The only one that is meant; all when left out.
    """
    found = resources.share(stored_failure_reasons, name, before, metric)
    chosen = state.chosen(_REASON)
    reason = find_reason(found, chosen) if chosen else None
    if reason is not None:
        _messages(found, reason)
    elif found.metrics:
        _reasons(found)
    else:
        plain(f"Nothing loses points in the games of {shortened(name, _LONGEST_NAME)}.")


def _reasons(found: IterationFailures) -> None:
    rare = rare_count(found)
    with_rare = bool(rare) and st.toggle(f"Also {counted(rare, 'rare reason')}", key="rare", bind="query-params")
    atlas = failure_atlas(found, with_rare=with_rare)
    _picture(key=_KEY, data=dict(atlas.data), on_open_change=access_checks.event("atlas_open", _react(atlas)))


def _react(atlas: FailureAtlas) -> Callable[[], None]:
    """A callback: an example opens its message, a reason the list of all of its messages."""
    remember = remember_click(_KEY, atlas.targets)

    def react() -> None:
        remember()
        row = read_reason(state.sent(_KEY, "open"), len(atlas.reasons))
        if row is not None:
            state.choose(**{_REASON: reason_key(atlas.reasons[row])})

    return react


def read_reason(value: object, reasons: int) -> int | None:
    """The row of the reason that a message of the browser names; ``None`` for anything else."""
    if not isinstance(value, Mapping) or value.get("kind") != "reason":
        return None
    row = value.get("row")
    return row if isinstance(row, int) and not isinstance(row, bool) and 0 <= row < reasons else None


def _messages(found: IterationFailures, reason: FailureReason) -> None:
    back, to = "All reasons", {_REASON: None}
    st.button(back, icon=":material/arrow_back:", key="all_reasons", on_click=state.choose, kwargs=to)
    st.subheader(DEFINITIONS[reason.metric].label, anchor=False)
    plain(reason.label)
    st.caption(f"{'; '.join(filter(None, (count_words(reason), trend_words(reason))))}. A row opens its message.")
    sides = resources.share(stored_failing_messages, found.iteration, reason.metric, reason.label, found.reference)
    identity.note_scores_seen(one.transcript_id for rows in sides for one in rows)
    names = [found.reference, found.iteration]
    columns = st.columns(2, gap="medium") if found.reference else [None, st.container()]
    for place, (column, name, rows) in enumerate(zip(columns, names, sides, strict=True)):
        if column is not None:
            with column:
                plain(f"{name}: {counted(len(rows), 'message')}")
                _side(reason, rows, place, name or "")


def _side(reason: FailureReason, rows: tuple[Example, ...], place: int, name: str) -> None:
    """The messages of one side as a table, each of whose rows opens its message."""
    shown = rows[:_MOST_ROWS]
    if len(rows) > len(shown):
        st.caption(f"The first {len(shown)} are shown.")
    if not shown:
        st.caption("No message has this reason here.")
        return
    chosen = open_row(
        _rows(shown, reason.label, name),
        f"Messages with this reason, {_SIDES[place]}",
        f"failing_{place}_{reason_key(reason)}",
    )
    if chosen is not None:
        one = shown[chosen]
        remember_target(MarkTarget(reason.metric, one.transcript_id, one.message_id))
        st.rerun()


def _rows(examples: tuple[Example, ...], label: str, name: str) -> pd.DataFrame:
    """The games and what was said; and the reasons, unless all rows have a message and say what the heading says."""
    said = [": ".join(filter(None, (one.player, shortened(one.text, _LONGEST)))) for one in examples]
    rows = pd.DataFrame({"Game": [one.game.removesuffix(f" · {name}") for one in examples], "Message": said})
    if any(not one.text or one.reason != label for one in examples):
        rows["Reason"] = [one.reason for one in examples]
    return rows


COMMON = 5
"""Number of reasons of a metric that are shown before the rare ones are asked for."""

_LONGEST_LABEL = 220
_LONGEST_NAME = 40
_LONGEST_QUOTE = 110
_NO_CHANGE = 0.05


@dataclass(frozen=True, slots=True)
class FailureAtlas:
    """The picture of one iteration.

    Attributes:
        data: The payload of the component, for ``failure_atlas.js``.
        reasons: The reason of each row.
        targets: What each row's examples open (kind ``example``).
    """

    data: Mapping[str, Any]
    reasons: tuple[FailureReason, ...]
    targets: tuple[MarkTargets, ...]


def failure_atlas(found: IterationFailures, *, with_rare: bool) -> FailureAtlas:
    """The picture of why messages of an iteration fail.

    Args:
        found: The reasons.
        with_rare: Whether to show all reasons of a metric, not the most frequent only.
    """
    shown = [(one, one.reasons if with_rare else one.reasons[:COMMON]) for one in found.metrics]
    groups: list[dict[str, Any]] = []
    reasons: list[FailureReason] = []
    for one, kept in shown:
        groups.append({"title": DEFINITIONS[one.metric].label, "words": _metric_words(one), "first": len(reasons)})
        reasons += kept
    most = max((share for one in reasons for share in (one.share, one.share_before) if share), default=1.0)
    data = {"groups": groups, "rows": [_row(one) for one in reasons], "legend": _legend(found, most), "most": most}
    targets = [
        {"example": tuple(MarkTarget(one.metric, each.transcript_id, each.message_id) for each in one.examples)}
        for one in reasons
    ]
    return FailureAtlas(data, tuple(reasons), tuple(targets))


def rare_count(found: IterationFailures) -> int:
    """Number of reasons that are shown only when the rare ones are asked for."""
    return sum(max(0, len(one.reasons) - COMMON) for one in found.metrics)


def reason_key(one: FailureReason) -> str:
    """Names a reason in an address, without its text."""
    return hashlib.blake2b(f"{one.metric}\n{one.label}".encode(), digest_size=6).hexdigest()


def find_reason(found: IterationFailures, key: str) -> FailureReason | None:
    """The reason that :func:`reason_key` names so; ``None`` when there is none."""
    every = (reason for one in found.metrics for reason in one.reasons)
    return next((one for one in every if reason_key(one) == key), None)


def count_words(one: FailureReason) -> str:
    """The number of rows or phrases with the reason, in the unit of the score: "86 messages, 92 % of those counted"."""
    return f"{counted(one.count, UNITS[one.metric])}, {share_text(one.share)} of those counted"


def trend_words(one: FailureReason) -> str:
    """The share in the reference beside today's; empty without one. No verdict, so it has no colour.

    No points: those of a score are others, as a row may lose a part of its own.
    """
    if one.change is None or one.share_before is None:
        return ""
    if abs(one.change) < _NO_CHANGE or share_text(one.share) == share_text(one.share_before):
        return "as before"
    return f"{'more' if one.change > 0 else 'fewer'}, was {share_text(one.share_before)}" if one.count_before else "new"


def _metric_words(one: MetricFailures) -> str:
    # No share: a row may lose a part of its points only, so that it would not add up with the score.
    return f"{one.failing:,} of {counted(one.judged, f'counted {UNITS[one.metric]}')} lose all or part of their points"


def _legend(found: IterationFailures, most: float) -> list[str]:
    words = [f"bar: share of what is counted in {counted(found.games, 'game')}, of at most {share_text(most)}"]
    if found.reference:
        words.append(f"┃ share in {shortened(found.reference, _LONGEST_NAME)}")
    return [*words, "a reason opens all its messages"]


def _row(one: FailureReason) -> dict[str, Any]:
    trend = trend_words(one)
    label, words = shortened(one.label, _LONGEST_LABEL), "; ".join(filter(None, (count_words(one), trend)))
    return {
        "label": label,
        "caption": count_words(one),
        "share": one.share,
        "before": one.share_before,
        "trend": trend,
        "words": f"{DEFINITIONS[one.metric].label}: {label} {words}. Opens all of them.",
        "examples": [_example(each) for each in one.examples],
    }


def _example(one: Example) -> str:
    name = shortened(one.game, _LONGEST_NAME)
    said = ": ".join(filter(None, (one.player, shortened(one.text or one.reason, _LONGEST_QUOTE))))
    return f"{name} · {said}"
