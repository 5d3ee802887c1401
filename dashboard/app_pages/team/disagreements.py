"""Games and rows that raters, metrics, judge and people see differently, each with a link."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import streamlit as st

from dashboard.app_pages.team.deciding import decision, told
from dashboard.shared import resources, state
from dashboard.shared.formatting import look
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.page_links import GAMES_PAGE, transcript_link
from dashboard.shared.status_table import open_below, open_row, status_table
from evaluation.access import Action
from evaluation.agreement.between_raters import Figure
from evaluation.agreement.report import SOURCE_WORDS, AgreementReport, DecidedRow, RowAgreement, row_sentences
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.rating_guide import QUESTION_TOPICS
from evaluation.statistics.words import interval_words, percent_interval
from evaluation.text.display import counted, fixed, listed, shortened
from evaluation.workflows.ratings import RatingGrid, rating_grid

RATERS, RULES, VERDICTS = "Raters differ", "Metrics differ from raters", "Rule, judge and person differ"

_FIRST = 2
_ROWS_PER_PAGE = 20
_ROW, _CLOSED = "row", "none"
_LONGEST_NAME = 60
_LONGEST_REASON = 200
ANSWERS = {True: "yes", False: "no", None: "no answer"}


def disagreements(report: AgreementReport, parts: Mapping[str, Callable[[AgreementReport], None]]) -> None:
    """The parts of the page in one place, those given first, then the disagreements of the kinds that there are."""
    kinds = {
        RATERS: (bool(report.shared_games), _split_games),
        RULES: (bool(report.gaps), _rule_gaps),
        VERDICTS: (bool(report.disputed), _disputed_rows),
    }
    views = {**parts, **{name: show for name, (is_there, show) in kinds.items() if is_there}}
    if not views:
        return
    if st.session_state.get("differ", next(iter(views))) not in views:
        state.set_widgets({"differ": next(iter(views))})
    views[state.choose_part(list(views), key="differ", label="Disagreements")](report)


def _split_games(report: AgreementReport) -> None:
    told()
    if not report.split:
        st.success("Raters gave the same scores and answers to every game they share.", icon=":material/check:")
    else:
        st.caption("Talk about the moment that made one say yes and the other no.")
    store = resources.store()
    decided = resources.read(store.engagement_decisions.current)
    waiting = [one for one in report.split if one.transcript_id not in decided]
    # The game that somebody comes from stands first.
    waiting.sort(key=lambda one: one.transcript_id != state.chosen(state.TEAM_GAME))
    given = resources.read(store.ratings.current) if waiting else ()
    grid = resources.read(rating_grid, None)
    for one in waiting[:_FIRST]:
        with st.container(horizontal=True, vertical_alignment="center"):
            plain(f"{shortened(one.game, _LONGEST_NAME)}: {counted(one.spread, 'point')} apart")
            transcript_link("Open the game", transcript=one.transcript_id)
        own = sorted((each for each in given if each.transcript_id == one.transcript_id), key=lambda each: each.score)
        rows = [
            {
                "Rater": shortened(each.rater, _LONGEST_NAME),
                "Score": f"{each.score:g}",
                **{
                    QUESTION_TOPICS[number - 1].capitalize(): ANSWERS[each.answers[number - 1]]
                    for number in one.split_questions
                },
            }
            for each in own
        ]
        # On a phone the decision stands on the screen of its game: no card for each rater.
        status_table(rows, "What each rater gave, where answers differ", is_matrix=True)
        if said := [f"{shortened(each.rater, _LONGEST_NAME)}: {each.comment}" for each in own if each.comment]:
            plain("\n".join(said))
        if one.spread and identity.allowed(Action.EDIT):
            _decision(grid, one.transcript_id)
    if settled := [one for one in report.split if one.transcript_id in decided]:
        with st.expander(f"Decided: {counted(len(settled), 'game')}"):
            for one in settled:
                plain(shortened(one.game, _LONGEST_NAME))
                _decision(grid, one.transcript_id)
    differing = [
        {
            "Game": one.game,
            "Scores": ", ".join(f"{rater} {score}" for rater, score in one.scores),
            "Points apart": one.spread,
            "Answers differ on": listed([QUESTION_TOPICS[number - 1] for number in one.split_questions]),
            "Decided": f"{decided[one.transcript_id].score:g}" if one.transcript_id in decided else "",
        }
        for one in report.split
    ]
    if len(differing) > _FIRST:
        with st.expander(f"All {counted(len(differing), 'game')} with a difference"):
            status_table(differing, "Games that split the raters")


def _decision(grid: RatingGrid, transcript_id: str) -> None:
    game = next(one for one in grid.games if one.transcript_id == transcript_id)
    # The next game that waits takes the place of the one that is decided.
    decision(resources.store(), identity.author_name(), game, lambda: None, is_open=False)


def _rule_gaps(report: AgreementReport) -> None:
    higher = sum(one.gap > 0 for one in report.gaps)
    st.caption(
        "The mean of a game's metrics without engagement, laid on 1 to 5, beside what raters gave: higher than "
        f"theirs in {higher} of {counted(len(report.gaps), 'game')}."
    )
    rows = [
        {
            "Game": one.game,
            "Raters": fixed(one.rated),
            "Metrics": fixed(one.automatic),
            "Gap": fixed(one.gap, signed=True),
            "By": one.raters,
        }
        for one in report.gaps
    ]
    if (row := open_row(rows, "Games that metrics and raters see differently", "rule_gaps")) is not None:
        st.switch_page(GAMES_PAGE, query_params={"transcript": report.gaps[row].transcript_id})


def row_agreement(report: AgreementReport) -> None:
    """Rule, judge and person against each other, row by row; nothing before two of them decided a row."""
    if not report.rows:
        return
    st.subheader("Rule, judge and person", anchor=False)
    st.caption(
        "Kappa is Cohen's, of the verdicts, with 95 % intervals over games: 1 is perfect agreement, 0 what chance "
        "gives. People look at rows that seem wrong, so theirs say how often rule and judge were right where somebody "
        "doubted."
    )
    status_table([*map(_row_agreement, report.rows)], "Agreement of rule, judge and person by metric")


def _disputed_rows(report: AgreementReport) -> None:
    """The rows by metric, a page of them at a time; one opens below itself, with the reasons of all who decided it."""
    # The metrics whose scores could move most come first.
    stakes = {
        name: max(one.stake for one in report.disputed if one.metric == name)
        for name in {one.metric for one in report.disputed}
    }
    rows = sorted(report.disputed, key=lambda one: (-stakes[one.metric], one.metric))
    count, left = counted(len(rows), "row"), sum(one.is_open for one in rows)
    st.markdown(f"**{count} with different verdicts, {left} not decided by a person**")
    plain("\n".join(row_sentences(report)))
    pages = -(-len(rows) // _ROWS_PER_PAGE)
    page = st.pagination(pages, key="rows_page", bind="query-params") if pages > 1 else 1
    shown = rows[_ROWS_PER_PAGE * (page - 1) : _ROWS_PER_PAGE * page]
    asked = [who for who in SOURCE_WORDS if any(who in one.verdicts for one in shown)]
    table = [
        {
            "Game": one.game,
            **{
                SOURCE_WORDS[who].capitalize(): look(one.verdicts[who]).label if who in one.verdicts else ""
                for who in asked
            },
            "Latest reason": [*one.reasons.values()][-1],
        }
        for one in shown
    ]
    # The first one is open at first; a row is named in the address by its place.
    opened = state.chosen(_ROW, [_CLOSED, *map(str, range(len(shown)))]) or "0"
    place = None if opened == _CLOSED else int(opened)

    def draw() -> None:
        one = shown[place or 0]
        told = [
            f"{SOURCE_WORDS[who].capitalize()}: {shortened(why, _LONGEST_REASON)}" for who, why in one.reasons.items()
        ]
        plain("\n".join([*told, _stake_words(one)]))
        link = {"message": one.row.message_id, "metric": one.metric} if one.row.message_id else {}
        transcript_link("Open the message" if link else "Open the game", transcript=one.transcript_id, **link)

    groups = [DEFINITIONS[one.metric].label for one in shown]
    pressed = open_below(table, "Rows with different verdicts", f"disputed_{page}", place, draw, groups=groups)
    st.caption("Of each metric, those that nobody has decided stand first, then those that could move its score most.")
    if pressed is not None:
        state.choose(**{_ROW: _CLOSED if pressed == place else str(pressed)})
        st.rerun()


def _row_agreement(one: RowAgreement) -> dict[str, object]:
    return {
        "Metric": f"{DEFINITIONS[one.metric].label}, {one.pair}",
        "Rows": one.rows,
        "Same verdict (%)": percent_words(one.share.value),
        "95 % interval (%)": percent_interval(one.share.interval).removesuffix(" %"),
        "Kappa": figure_words(one.kappa),
        "95 % interval of kappa": interval_words(one.kappa.interval, digits=2),
        "Floor (%)": percent_words(one.floor),
        "Games": one.games,
    }


def figure_words(figure: Figure) -> str:
    """A coefficient with two digits; empty where it is not defined."""
    return f"{figure.value:.2f}" if figure.is_known else ""


def percent_words(share: float) -> str:
    """A share of 0 to 1 as a whole percentage without its sign; empty where there is none."""
    return "" if math.isnan(share) else f"{100 * share:.0f}"


def _stake_words(one: DecidedRow) -> str:
    points = f"{one.stake:.1f} points"
    if one.is_open:
        return f"Deciding it moves the score by up to {points}."
    return f"{shortened(one.author, _LONGEST_NAME)} decided it; the verdicts put the score {points} apart."
