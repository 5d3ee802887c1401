"""The sections of the Compare page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.compare.picture_data import comparison_picture, sentence
from dashboard.shared import queries, resources, state
from dashboard.shared.changes.keep_or_revert import decision_form
from dashboard.shared.comparison_tables import METRIC_LABELS, difference_frame, export_frame
from dashboard.shared.downloads import csv_download, json_download
from dashboard.shared.example_row import example_row
from dashboard.shared.marks.pictures import define_picture, remember_click
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from dashboard.shared.version_notes import trust_note
from evaluation.comparison.iterations import IterationComparison, comparison_data
from evaluation.comparison.movers import Mover
from evaluation.comparison.prompt_diff import is_cut, prompt_diff
from evaluation.rubric.control_words import above_chance_change
from evaluation.statistics.words import difference_sentences, stricter_words
from evaluation.store import Store
from evaluation.text.display import counted, shortened
from evaluation.workflows.iterations import default_pair

_BEFORE, _AFTER = "before", "after"
_LAST_PAIR = "compared_last"
_FIRST = 5
_LONGEST_REASON = 300
_PICTURE = "comparison_picture"
_picture = define_picture("dramaturg_comparison_picture", Path(__file__).parent, "comparison_picture")


def pick(names: Sequence[str]) -> tuple[str, str]:
    """The two iterations to compare; at first the latest and what its change is decided against.

    Both stand in the URL, these two as well: a link shows the same comparison when there are further iterations. A
    link to one that is not there says so.
    """
    state.tell_unknown(names, _BEFORE, _AFTER)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        before_at_first, after_at_first = _pair_at_first(names)
        before = _pick_one("Before", _BEFORE, names, before_at_first)
        after = _pick_one("After", _AFTER, names, after_at_first)
    state.choose(**{_BEFORE: before, _AFTER: after})
    st.session_state[_LAST_PAIR] = (before, after)
    return before, after


def _pair_at_first(names: Sequence[str]) -> tuple[str, str]:
    """The pair that this session saw last, for the way back from a message; else the current iteration's."""
    seen = st.session_state.get(_LAST_PAIR)
    if seen is not None and set(seen) <= set(names):
        return str(seen[0]), str(seen[1])
    return resources.read(default_pair) or (names[0], names[-1])


def _pick_one(label: str, key: str, names: Sequence[str], otherwise: str) -> str:
    # Not bound to the URL by Streamlit, which leaves out what is chosen at first.
    wanted = state.chosen(key, names) or otherwise
    return st.selectbox(label, names, index=names.index(wanted), key=f"compare_{key}", filter_mode="contains")


def answer(found: IterationComparison, *, is_hidden: bool) -> None:
    """The decision in a line, what the change did in one sentence, and of which other pair the decision is."""
    shown = resources.share(queries.overview).board[found.subject]
    if shown.decision is not None and not found.other_pair:
        st.subheader(f"{shown.answer[0].upper()}{shown.answer[1:]}", anchor=False)
        # The reasons may name ratings.
        plain("" if is_hidden else "\n".join(shown.decision.explanation[:1]))
    change = found.after.iteration.change
    plain("\n".join(filter(None, (sentence(found), f"What was changed: {change}" if change else "", found.other_pair))))
    scored = [one.name for one in found.comparison.differences if one.before.n and one.after.n]
    target = found.decision.target if found.decision else None
    trust_note(scored, target, "The rule", above_chance_change(*found.controls[target]) if target else "")


def picture(found: IterationComparison, thresholds: Mapping[str, float]) -> None:
    """Every metric's change by evidence, and the bars of what moved the scores; each mark opens what is behind it."""
    key = (found.before.iteration.name, found.after.iteration.name, len(found.comparison.differences))
    drawn = resources.once(comparison_picture, key, found, thresholds)
    on_open = access_checks.event("comparison_open", remember_click(_PICTURE, drawn.targets))
    _picture(key=_PICTURE, data=dict(drawn.data), on_open_change=on_open)
    st.caption(stricter_words("The target" if found.comparison.primary else ""))
    if not found.movers:
        st.caption("No reason and no player cost more points on one side than on the other.")


def decision(store: Store, found: IterationComparison, *, is_hidden: bool) -> None:
    """The rule's answer in one sentence, and the same form as on the Overview."""
    shown = resources.share(queries.overview).board[found.subject]
    with st.container(border=True):
        if found.other_pair and shown.decision is not None and not is_hidden:
            plain(" ".join((f"{found.subject}: {shown.answer}.", *shown.decision.explanation[:1])))
        decision_form(store, shown, is_main=False)


def numbers(found: IterationComparison, *, with_files: bool) -> None:
    """Every metric's difference with its test, all reasons of the rule, and the files; opened when asked for."""
    with st.expander("Show the numbers", icon=":material/table:"):
        status_table(
            difference_frame(found.comparison, METRIC_LABELS),
            "Every metric's difference with its interval and what it shows",
        )
        st.caption(
            "Welch's test at 5 %: the named target of the change is tested alone, the other metrics are adjusted "
            "together (Holm). The rule that keeps or reverts looks at means alone."
        )
        pairs = f"{counted(len(found.pairs), 'pair')} with the same scenario or seed." if found.pairs else ""
        said = [
            f"{METRIC_LABELS[one.name]}: {' '.join(difference_sentences(one))}" for one in found.comparison.differences
        ]
        plain(
            "\n".join(filter(None, (pairs, *said, *found.decision_words, *found.coverage_words, *found.control_words)))
        )
        if with_files:
            _export(found)


def movers(found: IterationComparison) -> None:
    """The messages behind what moved the scores most, and the rest as a table."""
    if not found.movers:
        return
    with st.expander("Examples", icon=":material/format_quote:"):
        for one in first_movers(found.movers):
            _mover(one)
        rows = [
            {
                "Metric": METRIC_LABELS[one.metric],
                "By": one.kind,
                "What": one.label,
                "Change": f"{one.change:+z.1f} points",
                "Lost before": f"{one.before:.1f} ({one.before_rows})",
                "Lost after": f"{one.after:.1f} ({one.after_rows})",
            }
            for one in found.movers
        ]
        status_table(pd.DataFrame(rows), "Reasons and players that moved the scores most")
        st.caption(
            "Reasons that differ only in names, numbers or quotations are counted together. The same points are listed "
            "by reason and again by player."
        )


def first_movers(movers: Sequence[Mover]) -> list[Mover]:
    """Those that moved scores most; the largest losses come first, so that gains alone do not stand for the change."""
    losses = [one for one in movers if one.change < 0][: _FIRST // 2]
    gains = [one for one in movers if one.change >= 0][: _FIRST - len(losses)]
    return [*losses, *gains]


def _mover(one: Mover) -> None:
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(METRIC_LABELS[one.metric], color="gray")
            better = one.change > 0
            st.badge(f"{'✓' if better else '✗'} {one.change:+z.1f} points", color="green" if better else "red")
            side = "before" if better else "after"
            st.caption(f"{one.before:.1f} points lost before, {one.after:.1f} after. Examples from {side}:")
        plain(shortened(one.label, _LONGEST_REASON) if one.kind == "reason" else f"Player {one.label}")
        for example in one.examples:
            example_row(example, one.metric)


def prompts(found: IterationComparison) -> None:
    """The two prompt texts, line by line."""
    st.subheader("What changed in the prompt", anchor=False)
    before, after = found.before.iteration.prompt_text, found.after.iteration.prompt_text
    if not before or not after:
        missing = [word for word, text in (("before", before), ("after", after)) if not text]
        st.caption(f"No prompt text was stored {' and '.join(missing)}. It is entered with the iteration.")
        return
    changed = prompt_diff(before, after)
    if not changed:
        st.caption("Both prompts are the same, word for word.")
        return
    if is_cut(before, after):
        st.caption("Only the first 1,000 lines are compared.")
    lines = [f"\u2212{line[1:]}" if line.startswith("-") else line for line in changed.splitlines()]
    heading = f"{found.before.iteration.name} → {found.after.iteration.name}"
    status_table(pd.DataFrame({heading: lines}), "The prompt's lines: left out, unchanged and new")


def _export(found: IterationComparison) -> None:
    """The comparison as files."""
    with st.container(horizontal=True):
        csv_download(
            "Download the table (CSV)",
            lambda: export_frame(
                found.comparison, found.before.iteration.name, found.after.iteration.name, found.controls
            ),
            "comparison.csv",
        )
        json_download("Download everything (JSON)", lambda: comparison_data(found), "comparison.json")
