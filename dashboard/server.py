"""The web server of ``dramaturg serve``: Streamlit with the dashboard, behind the checks of ``dashboard.uploads``."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from dashboard.uploads import UploadGuard

app = st.App("app.py", middleware=[Middleware(UploadGuard)])
