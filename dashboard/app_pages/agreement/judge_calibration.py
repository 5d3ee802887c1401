"""The part of the Agreement page that holds judges against people's blind marks."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.app_pages.agreement.sections import figure_text, number_text, share_text
from dashboard.shared import resources
from dashboard.shared.status_table import status_table
from evaluation.agreement.calibration import FEWEST_MARKS, Calibration, calibrations, wrong_propositions
from evaluation.persona.results import LABELS
from evaluation.ratings import BlindMark
from evaluation.store import Store
from evaluation.text.display import shortened

_MOST_WRONG = 20
_LONGEST_CLAIM = 120
_NAMES = {str(key): label for key, label in LABELS.items()}


def judge_calibration() -> None:
    """Each judge per dimension with intervals, floor and ceiling, and the propositions that it gets most wrong."""
    marks = resources.read(_marks)
    found = calibrations(marks)
    if not found:
        return
    st.subheader("Judges against people", anchor=False)
    st.caption(
        "People marked claims from 0 to 9 without seeing the judge's mark. Intervals are 95 % over judgements. "
        "Ceiling: two people on the same judgement. Floor: always the commonest mark. A judge counts as calibrated "
        f"from {FEWEST_MARKS} marks on."
    )
    status_table(pd.DataFrame(map(_row, found)), "Judges against people's blind marks, by dimension")
    wrong = wrong_propositions(marks)[:_MOST_WRONG]
    if wrong:
        st.markdown("**What the judge gets wrong**")
        frame = pd.DataFrame(
            [
                {
                    "Judge": one.model,
                    "Dimension": _NAMES.get(one.dimension, one.dimension),
                    "Proposition": one.proposition_id,
                    "Claim": shortened(one.claim, _LONGEST_CLAIM),
                    "Apart": f"{one.distance:.1f} points",
                    "Judge above people": number_text(one.bias, "+"),
                    "Marks": one.marks,
                }
                for one in wrong
            ]
        )
        status_table(frame, "Propositions by the distance between judge and people")


def _marks(store: Store) -> list[BlindMark]:
    return store.calibration_marks.all()


def _row(one: Calibration) -> dict[str, object]:
    return {
        "Judge": one.model,
        "Dimension": _NAMES.get(one.dimension, one.dimension),
        "Calibrated": "✓ yes" if one.is_calibrated else f"✗ no, {one.marks} of {FEWEST_MARKS}",
        "Kappa": figure_text(one.kappa),
        "Ceiling": number_text(one.ceiling_kappa),
        "Within one point": figure_text(one.close),
        "Floor": share_text(one.floor_close),
        "Judge above people": figure_text(one.bias),
        "Marks": one.marks,
        "Judgements": one.judgements,
    }
