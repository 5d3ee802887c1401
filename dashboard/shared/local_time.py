"""Moments in the time zone of the person at this browser."""

from __future__ import annotations

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from evaluation.text.display import time_words


def local_time(moment: datetime | None) -> str:
    """A moment in the browser's time zone: "2026-05-01 14:05"; in this computer's where the browser names none."""
    return time_words(moment, _zone(time_zone()))


def time_zone() -> str:
    """The name of the browser's time zone, which may be anything; empty where it names none."""
    return st.context.timezone or ""


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None
