"""Mark a judge's claims without seeing what it said, so that its scores can be compared with people's."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.notices import plain
from evaluation.access.roles import Action
from evaluation.agreement.calibration import FEWEST_MARKS
from evaluation.errors import DramaturgError
from evaluation.persona.results import DIMENSIONS, LABELS
from evaluation.store import Store
from evaluation.store.ratings.calibration_marks import LONGEST_EVIDENCE, JudgedClaim
from evaluation.text.display import counted
from evaluation.workflows.ratings.calibration import context_of

_MARKS = tuple(range(10))
_SCALE = "0: plainly false; 5: undecided; 9: certainly true, or nothing speaks against it."


def blind_marks(store: Store, rater: str) -> None:
    """The next claim with what the judge read of it; the judge's mark stays hidden."""
    st.markdown(
        "Read what the judge read, and mark the claim yourself. You do not see what the judge said. With "
        f"{FEWEST_MARKS} marks a judge counts as calibrated for a dimension; the Agreement page shows how far it "
        "agrees with people."
    )
    own = [one for one in store.calibration_marks.all() if one.rater == rater]
    st.caption(f"You have marked {counted(len(own), 'claim')}.")
    asked = store.calibration_marks.next_for(rater)
    if asked is None:
        st.info("There is no claim left that you have not marked. Evaluate agents on the Personas page for more.")
        return
    labels = {str(each): LABELS[each] for each in DIMENSIONS}
    st.subheader(labels.get(asked.dimension, asked.dimension), anchor=False)
    st.caption("The claim")
    plain(asked.claim)
    st.caption(f"What the judge read of {asked.agent}")
    with st.container(height=360, border=True):
        st.code(context_of(store, asked) or "(nothing)", language=None, wrap_lines=True)
    _form(store, rater, asked)


def _form(store: Store, rater: str, asked: JudgedClaim) -> None:
    with st.form(f"blind_mark_{asked.judgement_key[:16]}", clear_on_submit=True):
        mark = st.segmented_control("Your mark", _MARKS, key="blind_mark", help=_SCALE)
        st.caption(_SCALE)
        evidence = st.text_input(
            "Evidence", max_chars=LONGEST_EVIDENCE, key="blind_evidence", help="The words or messages it rests on."
        )
        with st.container(horizontal=True):
            is_given = st.form_submit_button("Save the mark", type="primary", key="save_blind_mark")
            is_unclear = st.form_submit_button("I cannot tell", key="skip_blind_mark")
    if is_given and mark is None:
        st.warning("Choose a mark from 0 to 9, or say that you cannot tell.")
    elif is_given or is_unclear:
        _keep(store, rater, asked, mark if is_given else None, evidence)


def _keep(store: Store, rater: str, asked: JudgedClaim, mark: int | None, evidence: str) -> None:
    try:
        identity.require(Action.RATE)
        store.calibration_marks.add(asked, rater, mark, evidence)
    except DramaturgError as error:
        st.error("That was not saved.")
        plain(str(error))
    else:
        st.rerun()
