"""The Team page: who rates what, and how far raters agree."""

import streamlit as st

from dashboard.app_pages.team.agreement import agreement
from dashboard.app_pages.team.assignments import team
from dashboard.app_pages.team.deciding import told
from dashboard.shared import resources, state
from dashboard.shared.identity import identity
from evaluation.access import Action

views = [state.ASSIGN, state.AGREEMENT] if identity.allowed(Action.EDIT) else [state.AGREEMENT]
view = state.choose_view(views, key=state.TEAM_VIEW)
if identity.access() is None and not identity.rater_name():
    st.caption(
        "Enter your name under *Rate* first: until then nothing is hidden, and your later ratings are not blind."
    )
if view == state.ASSIGN:
    told()
    team(resources.store(), identity.author_name())
else:
    agreement()
