"""Download buttons for tables and data; each file is made only when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd

from dashboard import access_checks
from dashboard.shared.status_table import Table
from evaluation.writers import csv_text


def csv_download(label: str, table: Callable[[], Table], file_name: str) -> None:
    """A button for a table as CSV in which nothing runs when a spreadsheet opens it."""
    # A byte order mark tells spreadsheets that it is UTF-8.
    _download(label, lambda: ("\ufeff" + csv_text(pd.DataFrame(table()))).encode("utf-8"), file_name, "text/csv")


def json_download(label: str, data: Callable[[], Any], file_name: str) -> None:
    """A button for data as JSON."""

    def text() -> bytes:
        return json.dumps(data(), ensure_ascii=False, indent=2, allow_nan=False).encode("utf-8")

    _download(label, text, file_name, "application/json")


def _download(label: str, make: Callable[[], bytes], file_name: str, mime: str) -> None:
    access_checks.download_button("table", label, make, file_name, mime, key=f"download {file_name}")
