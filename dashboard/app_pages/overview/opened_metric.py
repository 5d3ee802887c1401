"""A metric that was opened: the games behind the means of an iteration and of its reference, and what they lose."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import access_checks
from dashboard.app_pages.overview.cockpit_data import CockpitRow, axis_of, change_text, legend_of, mean_detail
from dashboard.app_pages.overview.why_messages_fail import why_messages_fail
from dashboard.shared import page_links, queries, resources, state
from dashboard.shared.answer import Fact, answer
from dashboard.shared.clicked_marks import MarkTarget, games_by_metric, remember_click, remember_target
from dashboard.shared.drawing import cockpit_rows
from dashboard.shared.formatting import look, score_text, without_unit
from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from dashboard.shared.status_table import open_row
from evaluation.comparison.iterations import IterationComparison
from evaluation.comparison.movers import Example
from evaluation.iterations.board import IterationSummary
from evaluation.iterations.game_tests import LONGEST_NAME, with_open_engagement
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import marked_status
from evaluation.score import LOW_EVIDENCE
from evaluation.statistics.comparison import Outcome
from evaluation.text.display import counted, shortened
from evaluation.validity import Trust, metric_trust
from evaluation.workflows.iterations import first_losses

_KEY = "opened_row"
_MOST_GAMES = 12
_LONGEST_QUOTE = 90


def opened_metric(
    metric: str,
    shown: IterationSummary,
    reference: IterationSummary | None,
    pair: IterationComparison | None,
    row: CockpitRow,
) -> None:
    """Draws the two means, the lowest games of each side with a message that loses points, and the reasons.

    Args:
        metric: Its name; not one that is hidden from the person.
        shown: The iteration in question.
        reference: What it is compared with, if anything.
        pair: Their comparison, where both have games.
        row: The metric's row of marks, as in the decision.
    """
    definition = DEFINITIONS[metric]
    sides = [side for side in (reference, shown) if side is not None]
    means = [score_text(side.means[metric].score, definition.scale) for side in sides]
    found = pair.comparison.get(metric) if pair else None
    mean = shown.means[metric]
    appearance = look(marked_status(metric, with_open_engagement(shown.means)[metric]))
    change = change_text(definition, sides[0].means[metric].score, mean.score) if found and reference else ""
    # A mean at chance says so in the words of its control.
    words = "" if found is None or found.outcome is Outcome.AT_CHANCE else found.words
    said = ", ".join(filter(None, (change, words)))
    controls = f"{mean.control.words[:1].upper()}{mean.control.words[1:].rstrip('.')}." if mean.control.words else ""
    trust = next(one for one in metric_trust() if one.metric == metric)
    with answer(
        f"{definition.label}: {' to '.join(means)}",
        f"{f'{said[0].upper()}{said[1:]}. ' if said else ''}{controls}",
        [
            Fact(appearance.label, appearance.color),
            Fact(
                trust.trust,
                "orange" if trust.trust in (Trust.WITH_CARE, Trust.HARDLY) else "gray",
                " ".join(trust.sentences),
            ),
        ],
    ):
        back, to = "Back to the decision", {state.OPENED_METRIC: None}
        st.button(back, icon=":material/arrow_back:", key="close_metric", on_click=state.choose, kwargs=to)
    on_open = access_checks.event("cockpit_open", remember_click(_KEY, [row[1]]))
    data = {"rows": [row[0]], **axis_of(row[0], definition), **legend_of(shown, reference)}
    cockpit_rows(key=_KEY, data=data, on_open_change=on_open)
    for column, side in zip(st.columns(len(sides), gap="medium"), sides, strict=True):
        with column:
            plain(f"{shortened(side.iteration.name, LONGEST_NAME)}: {mean_detail(metric, side.means[metric])}")
            _games(metric, side.iteration.name)
    if metric == ENGAGEMENT.name:
        page_links.team_link()
        return
    why_messages_fail(shown.iteration.name, reference.iteration.name if reference else None, metric)


def _games(metric: str, iteration: str) -> None:
    listed = resources.share(queries.transcript_list)
    games = listed[listed["iteration"] == iteration].sort_values(f"score_{metric}", kind="stable", na_position="last")
    lowest, at = games.head(_MOST_GAMES), list(DEFINITIONS).index(metric)
    identity.note_scores_seen(lowest["transcript_id"])
    losses = resources.share(first_losses, tuple(lowest["transcript_id"]), metric)
    rows = [
        {
            "Game": row["label"].removesuffix(f" · {iteration}"),
            "Score": without_unit(row[metric]) + f", {LOW_EVIDENCE}" * row["coverage"][at].endswith(LOW_EVIDENCE),
            **(
                {"Rated by": counted(row["ratings"], "rater")}
                if metric == ENGAGEMENT.name
                else {"Loses points": _loses(loss) if (loss := losses.get(row["transcript_id"])) else "no message"}
            ),
        }
        for row in lowest.to_dict("records")
    ]
    opened = open_row(pd.DataFrame(rows), f"Games of one side by {DEFINITIONS[metric].label}", f"behind_{iteration}")
    if opened is not None:
        remember_target(MarkTarget(metric, lowest["transcript_id"].iloc[opened]))
        st.rerun()
    if len(games) > len(lowest):
        st.page_link(
            page_links.GAMES_PAGE,
            label=f"All {counted(len(games), 'game')}, the lowest first",
            query_params=games_by_metric(iteration, metric),
        )


def _loses(one: Example) -> str:
    return shortened(": ".join(filter(None, (one.player, one.text or one.reason))), _LONGEST_QUOTE)
