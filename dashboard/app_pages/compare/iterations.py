"""The sections of the Compare page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.compare.picture_data import comparison_picture
from dashboard.shared import resources, state
from dashboard.shared.beside_chance.companion_data import compared_points
from dashboard.shared.beside_chance.parts import beside_chance_toggle, chance_notes, companion
from dashboard.shared.changes.keep_or_revert import rule_answer
from dashboard.shared.charts.comparison_charts import distribution_alt, distribution_figure
from dashboard.shared.charts.drawing import draw_chart
from dashboard.shared.comparison_tables import METRIC_LABELS, difference_frame, export_frame
from dashboard.shared.downloads import comparison_report, csv_download, json_download
from dashboard.shared.example_row import example_row
from dashboard.shared.formatting import signed_cell
from dashboard.shared.marks.pictures import define_picture, remember_click
from dashboard.shared.notices import plain
from dashboard.shared.status_table import status_table
from evaluation.comparison import IterationComparison, Mover
from evaluation.comparison.iterations import NO_COMPARISON, is_cut, prompt_diff
from evaluation.comparison.json_output import comparison_data
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.statistics.words import difference_sentences
from evaluation.text.display import counted, shortened
from evaluation.workflows.comparisons import default_pair

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
    if any((wanted := state.chosen(key)) is not None and wanted not in names for key in (_BEFORE, _AFTER)):
        st.warning("An iteration that the link names is not here: it was renamed or deleted. Choose another one.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        before_at_first, after_at_first = _pair_at_first(names)
        before = _pick_one("Before", _BEFORE, names, before_at_first)
        after = _pick_one("After", _AFTER, names, after_at_first)
    state.choose(**{_BEFORE: before, _AFTER: after})
    st.session_state[_LAST_PAIR] = (before, after)
    return before, after


def _pair_at_first(names: Sequence[str]) -> tuple[str, str]:
    """The pair that this session saw last, for the way back from a message; else the latest decision's."""
    seen = st.session_state.get(_LAST_PAIR)
    if seen is not None and set(seen) <= set(names):
        return str(seen[0]), str(seen[1])
    return resources.read(default_pair) or (names[-2], names[-1])


def _pick_one(label: str, key: str, names: Sequence[str], otherwise: str) -> str:
    # Not bound to the URL by Streamlit, which leaves out what is chosen at first.
    wanted = state.chosen(key, names) or otherwise
    return st.selectbox(label, names, index=names.index(wanted), key=f"compare_{key}", filter_mode="contains")


def sides(found: IterationComparison) -> None:
    """Show what the later iteration changed, and the number of games on each side."""
    with st.container(horizontal=True):
        st.badge(f"before: {counted(len(found.before.games), 'game')}", color="gray")
        st.badge(f"after: {counted(len(found.after.games), 'game')}", color="gray")
        if found.pairs:
            st.badge(f"{counted(len(found.pairs), 'pair')} with the same scenario or seed", color="gray")
    if found.after.iteration.change:
        plain(f"What was changed: {found.after.iteration.change}")


def decision(found: IterationComparison) -> None:
    """The rubric's keep or revert in one sentence; all of its reasons, and what the games can show, when opened."""
    if found.decision is None:
        st.markdown("There is nothing before the later of the two to compare it with.")
        return
    rule_answer(found.decision)
    plain("\n".join(filter(None, (found.other_pair, " ".join(found.decision.explanation[:1])))))
    with st.expander("All reasons", icon=":material/notes:"):
        recorded = [found.decision.recorded.words] if found.decision.recorded else []
        plain("\n".join([*found.decision_words, *recorded, *found.coverage_words]))
        st.caption(
            "The rule looks at means alone. The words in the picture look at how far games differ by chance: Welch's "
            "test at 5 %, the target of the change alone, the other metrics adjusted together (Holm)."
        )


def picture(found: IterationComparison, thresholds: Mapping[str, float]) -> None:
    """Every metric's change by evidence, and the bars of what moved the scores; each mark opens what is behind it."""
    key = (found.before.iteration.name, found.after.iteration.name)
    drawn = resources.once(comparison_picture, key, found, thresholds)
    st.subheader("Every metric", anchor=False)
    on_open = access_checks.event("comparison_open", remember_click(_PICTURE, drawn.targets))
    _picture(key=_PICTURE, data=dict(drawn.data), on_open_change=on_open)
    if not found.movers:
        st.caption("No reason and no player cost more points on one side than on the other.")


def differences(found: IterationComparison) -> None:
    """Every metric's difference as a table."""
    with st.expander("All numbers of every metric", icon=":material/table:"):
        status_table(
            difference_frame(found.comparison, METRIC_LABELS),
            "Every metric's difference with its interval and what it shows",
            column_config={"Verdict": st.column_config.TextColumn(pinned=False, width="medium")},
        )


def beside_chance(found: IterationComparison) -> bool:
    """Every metric of both sides beside chance in words, when asked for; whether it was."""
    if not beside_chance_toggle():
        return False
    points = pd.concat([compared_points(found, name) for name in DEFINITIONS], ignore_index=True)
    chance_notes(points)
    with st.grid(2, min_column_width=300):
        for name, (before, after) in found.controls.items():
            if before.words or after.words:
                with st.container(border=True, gap="small"):
                    st.markdown(f"**{DEFINITIONS[name].label}**")
                    plain(f"before: {before.words or NO_COMPARISON}\nafter: {after.words or NO_COMPARISON}")
    return True


def one_metric(found: IterationComparison, thresholds: Mapping[str, float], *, beside_chance: bool) -> None:
    """One metric game by game, with what its difference shows in words, and beside chance when asked for."""
    st.subheader("One metric, game by game", anchor=False)
    name = st.pills(
        "Metric",
        list(DEFINITIONS),
        default=next(iter(DEFINITIONS)),
        required=True,
        format_func=lambda key: DEFINITIONS[key].label,
        key="metric_shown",
        bind="query-params",
        wrap=True,
        label_visibility="collapsed",
    )
    difference, definition = found.comparison[name], DEFINITIONS[name]
    names = found.before.iteration.name, found.after.iteration.name
    before, after = found.controls[name]
    by_chance = (before.chance, after.chance) if beside_chance else (None, None)
    draw_chart(
        distribution_figure(difference, definition, thresholds[name], names, by_chance),
        key="distribution",
        config={"displayModeBar": False},
        alt=distribution_alt(difference, definition),
    )
    st.caption("Dots are games, diamonds means with their 95 % intervals, the dashed line is the threshold.")
    plain("\n".join(difference_sentences(difference)))
    if beside_chance:
        companion(compared_points(found, name), name, (name, *names))


def movers(found: IterationComparison) -> None:
    """Draw what moved the scores most, with quotations and numbers."""
    if not found.movers:
        return
    with st.expander("What moved the scores, with examples", icon=":material/format_quote:"):
        st.caption(
            "Points that a metric lost for a reason, or by a player's messages, over all messages taken together. "
            "Names, numbers and quotations are left out of reasons, so that equal ones count as one."
        )
        for one in found.movers[:_FIRST]:
            _mover(one)
        status_table(
            pd.DataFrame(
                [
                    {
                        "Metric": DEFINITIONS[one.metric].label,
                        "By": one.kind,
                        "What": one.label,
                        "Change": signed_cell(f"{one.change:+.1f} points"),
                        "Lost before": f"{one.before:.1f} ({one.before_rows})",
                        "Lost after": f"{one.after:.1f} ({one.after_rows})",
                    }
                    for one in found.movers
                ]
            ),
            "Reasons and players that moved the scores most",
        )


def _mover(one: Mover) -> None:
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(DEFINITIONS[one.metric].label, color="gray")
            better = one.change > 0
            st.badge(f"{'✓' if better else '✗'} {one.change:+.1f} points", color="green" if better else "red")
            side = "before" if better else "after"
            st.caption(f"{one.before:.1f} points lost before, {one.after:.1f} after. Examples from {side}:")
        plain(shortened(one.label, _LONGEST_REASON) if one.kind == "reason" else f"Player {one.label}")
        for example in one.examples:
            example_row(example, one.metric)


def prompts(found: IterationComparison) -> None:
    """The two prompt texts, line by line."""
    st.subheader("The prompt", anchor=False)
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
    st.code(changed, language=None, wrap_lines=True)


def export(found: IterationComparison) -> None:
    """The comparison as files."""
    with st.container(horizontal=True):
        comparison_report(found.before.iteration.name, found.after.iteration.name)
        csv_download(
            "Download the table (CSV)",
            lambda: export_frame(
                found.comparison, found.before.iteration.name, found.after.iteration.name, found.controls
            ),
            "comparison.csv",
        )
        json_download("Download everything (JSON)", lambda: comparison_data(found), "comparison.json")
