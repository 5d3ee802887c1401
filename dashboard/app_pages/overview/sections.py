"""The sections of the Overview page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.overview.cockpit_data import iteration_means
from dashboard.app_pages.overview.decisions import sign_off
from dashboard.shared import resources, state
from dashboard.shared.answer import Fact, answer
from dashboard.shared.clicked_marks import MarkTarget, remember_click
from dashboard.shared.drawing import found_rows
from dashboard.shared.formatting import decided_words, label_with_unit, legend, look, share_text, usd_text
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.page_links import add_games_link, rate_link
from dashboard.shared.queries import NO_ITERATION, Overview
from dashboard.shared.status_table import pick_cell, status_table
from evaluation.comparison.iterations import IterationComparison
from evaluation.comparison.movers import Example
from evaluation.iterations.board import Board, IterationSummary
from evaluation.iterations.checklist import CheckState
from evaluation.iterations.game_tests import GameTest
from evaluation.rubric.advice import advise, troubleshooting
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, score_words
from evaluation.statistics.comparison import Difference, Outcome
from evaluation.store import Store
from evaluation.text.display import counted, fixed, shortened
from evaluation.workflows.iterations import stored_losses

_TESTS_SHOWN = 12
_WAITING_SHOWN = 500


def waiting_for_review(seen: Overview) -> None:
    """Number of unrated games by iteration, with a link to the desk; simulated conversations are counted apart."""
    if seen.simulated:
        st.caption(
            f"Not counted here: {counted(seen.simulated, 'simulated conversation')} of experiments and A/B tests."
        )
    waiting = seen.waiting
    if waiting.empty:
        return
    with st.expander(f"Games without a rating: {len(waiting)} of {seen.transcripts}", icon=":material/rate_review:"):
        counts = waiting["Iteration"].replace("", NO_ITERATION).value_counts()
        status_table(
            counts.rename_axis("Iteration").reset_index(name="Games that wait"),
            "How many games wait in which iteration",
        )
        first = waiting.head(_WAITING_SHOWN)
        status_table(first, "Games that nobody has rated")
        if len(first) < len(waiting):
            st.caption(f"The first {len(first)} of {counted(len(waiting), 'game')}.")
        rate_link("Rate a game")


def tests(shown: IterationSummary) -> None:
    """The verdict of each test with its reasons."""
    if not shown.tests:
        st.caption("Three games make a test.")
        return
    passed = sum(bool(test.has_passed) for test in shown.tests)
    pending = sum(test.has_passed is None for test in shown.tests)
    waits = f", {pending} still open" if pending else ""
    st.markdown(f"**Tests of three games: {passed} of {len(shown.tests)} passed{waits}**")
    newest_first = shown.tests[::-1]
    for test in newest_first[:_TESTS_SHOWN]:
        _test(test)
    if earlier := newest_first[_TESTS_SHOWN:]:
        st.caption(f"The {counted(len(earlier), 'test')} before:")
        status_table(_test_rows(earlier), "Earlier tests of the iteration")


def _test_rows(tests: Sequence[GameTest]) -> list[dict[str, object]]:
    return [
        {
            "Test": test.number,
            "Verdict": look(test.verdict.status).label,
            "Passed": test.verdict.passes,
            "Games": len(test.games),
            "Cost": usd_text(test.cost_usd.mean),
            "Reasons": " ".join(test.verdict.reasons),
        }
        for test in tests
    ]


def _test(test: GameTest) -> None:
    appearance = look(test.verdict.status)
    cost, cache = usd_text(test.cost_usd.mean), share_text(test.cache_hit_rate.mean)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Test {test.number}**", width="content")
        st.badge(appearance.label, color=appearance.color)
        st.badge(f"{test.verdict.passes} pass", color="gray")
        st.caption(f"{counted(len(test.games), 'game')} · mean cost {cost} · cache hits {cache}", width="content")
    if test.warning:
        st.warning(test.warning, icon=":material/info:")
    lesser = [failure.words for failure in test.failures if not failure.is_critical]
    plain("\n".join([*test.verdict.reasons, *lesser]))


def checklist_answer(board: Board) -> None:
    """Whether the project may move on, by how many criteria of the checklist, and which iteration was kept last."""
    is_ready, checks = board.checklist.gate is CheckState.MET, board.checklist.checks
    met = sum(one.state is CheckState.MET for one in checks)
    kept = [one.iteration.name for one in board.iterations if one.iteration.is_kept]
    facts = [
        Fact(f"{met} of {len(checks)} criteria met"),
        *(Fact(f"kept last: {shortened(one, 60)}") for one in kept[-1:]),
    ]
    headline = f"The project may {'move on' if is_ready else 'not move on yet'}"
    answer(headline, board.chance.words if board.chance else "", facts, color="green" if is_ready else "gray")


def success_checklist(store: Store, board: Board) -> None:
    """The rubric's criteria with what was measured, and the sign-off."""
    is_ready = board.checklist.gate is CheckState.MET
    st.subheader("Success checklist", anchor=False)
    rows = [
        {"Verdict": look(one.state).label, "Criterion": one.label, "Measured": one.measured}
        for one in board.checklist.checks
    ]
    status_table(rows, "The criteria of the checklist, whether they are met, and what was measured")
    if board.current:
        held = board.current.iteration
        if is_ready:
            add_games_link("Begin the next iteration", **{state.CHANGED_FROM: held.name})
        plain(f"Sign-off of {held.name}")
        sign_off(store, held, f"gate_{held.position}")


def is_advised(shown: IterationSummary, found: IterationComparison | None) -> bool:
    """Whether :func:`advice` has a card: something fails, or fell beyond luck."""
    return bool(_fell(found) or advise(shown.means, shown.cost_usd.mean))


def _fell(found: IterationComparison | None) -> list[Difference]:
    return [one for one in (found.comparison.values() if found else ()) if one.outcome is Outcome.WORSE]


def advice(store: Store, board: Board, shown: IterationSummary, found: IterationComparison | None) -> None:
    """Advice on the next change: on what fell beyond luck, then on what fails.

    Each is a card: the finding, one message of its top reason, and one change of the prompt to copy.
    """
    fell = _fell(found)
    with st.grid(2, min_column_width=300):
        for one in fell:
            before, after = (score_words(DEFINITIONS[one.name], side.mean) for side in (one.before, one.after))
            reasons = (mover for mover in (found.movers if found else ()) if mover.metric == one.name)
            cause = next((mover for mover in reasons if mover.kind == "reason" and mover.change < 0), None)
            lost = f"{fixed(-cause.change)} more points are lost for this reason: {cause.label}" if cause else ""
            finding = f"▼ worse beyond luck, {before} to {after}."
            _card(one.name, finding, lost, cause.label if cause else "", cause.examples if cause else ())
        names = {one.name for one in fell}
        given = [one for one in advise(shown.means, shown.cost_usd.mean) if one.about not in names]
        own = shown.iteration.name
        losses = resources.once(stored_losses, (own,), store, own, board) if given else {}
        for advised in given:
            loss = losses.get(advised.about)
            _card(advised.about, advised.finding, loss.words if loss else "", "", loss.examples if loss else ())


def _card(about: str, finding: str, lost: str = "", reason: str = "", examples: Sequence[Example] = ()) -> None:
    first, *others = troubleshooting()[about]
    with st.container(border=True, height="stretch"):
        st.subheader(DEFINITIONS[about].label if about in DEFINITIONS else about.capitalize(), anchor=False)
        plain("\n".join(filter(None, (finding, lost))))
        if examples:
            example_rows(examples[:1], about, reason, f"advice_{about}")
        st.code(first, language=None, wrap_lines=True)
        if others:
            with st.popover("Other changes, one at a time", type="tertiary"):
                plain("\n".join(f"•  {action}" for action in others))


def iteration_table(board: Board, *, is_hidden: bool) -> None:
    """The seven means of every iteration, a column each, the latest first.

    Without what rests on ratings that a rater must not see yet.

    A cell opens the decision on its iteration.
    """
    columns = {}
    for one in reversed(board.iterations):
        shown = one.without_ratings() if is_hidden else one
        columns[one.iteration.name] = {
            **({} if is_hidden else {"Verdict": look(one.verdict.status).label if one.verdict else ""}),
            "Decision": decided_words(shown).replace("cannot be decided yet", "open"),
            **resources.once(iteration_means, (one.iteration.name, is_hidden), board, shown),
            "Games": str(len(one.games)),
            "Cost a game, USD": usd_text(one.cost_usd.mean).split()[0],
            "Cache hits": share_text(one.cache_hit_rate.mean) if one.games else "",
        }
    frame = pd.DataFrame(columns).reset_index(names="Metric")
    if is_hidden:
        frame = frame[frame["Metric"] != label_with_unit(ENGAGEMENT.name)]
    chosen = pick_cell(frame, "The mean of every metric by iteration", "all_iterations")
    st.caption(f"{legend('✗…≈▲▼')}. A cell opens its iteration.")
    if chosen is not None:
        state.choose_next(iteration=list(columns)[chosen[1] - 1], overview="Decision")


_LONGEST_REASON = 300
_LONGEST_QUOTE = 200
_LONGEST_NAME = 60


def example_rows(examples: Sequence[Example], metric: str, told: str, key: str) -> None:
    """Shows examples of a metric, each with its reason unless it is ``told``; one opens its message or the ledger."""
    identity.note_scores_seen([one.transcript_id for one in examples])
    rows = []
    for one in examples:
        place = " · ".join(filter(None, (shortened(one.game, _LONGEST_NAME), one.player)))
        reason = "" if one.reason == told else shortened(one.reason, _LONGEST_REASON)
        text = " · ".join(filter(None, (shortened(one.text, _LONGEST_QUOTE), reason)))
        rows.append({"place": place, "words": f"{place}: {text}", "parts": [(text, False)]})
    targets = [{"message": [MarkTarget(metric, one.transcript_id, one.message_id)]} for one in examples]
    on_open = access_checks.event("game_open", remember_click(key, targets))
    found_rows(key=key, data={"rows": rows}, on_open_change=on_open)
