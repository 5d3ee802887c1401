"""The web server of ``dramaturg serve``: Streamlit with the dashboard, behind checks of uploads, with the inbox."""

from __future__ import annotations

import os

import streamlit as st
from starlette.middleware import Middleware

from dashboard import inbox
from dashboard.uploads import UploadGuard

app = st.App("app.py", middleware=[Middleware(UploadGuard)], routes=inbox.routes(os.environ), lifespan=inbox.lifespan)
