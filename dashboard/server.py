"""The web server of ``dramaturg serve``: Streamlit with the dashboard, behind checks of visitors.

``python -m dashboard.server`` takes Streamlit's settings as options, as ``streamlit run`` does.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import click
import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from streamlit import config
from streamlit.web import bootstrap
from streamlit.web.cli import configurator_options

from dashboard.connections import Pool, most_connections, protocols
from dashboard.visitors import MESSAGE_BYTES, VisitorGuard
from evaluation.engines.task_engines import collect_rarely
from evaluation.judging.fencing import visible

PING_SECONDS = 30
STOP_SECONDS = 10
"""How long answers that are under way may take when the server is stopped."""

PINNED: Mapping[str, Any] = {
    "server.trustedUserHeaders": "{}",
    "server.enableXsrfProtection": True,
    "server.enableCORS": True,
    "server.corsAllowedOrigins": [],
    "server.xsrfCookieSameSite": "lax",
    "client.allowedOrigins": [],
}
"""Options that decide who somebody is and from where, beside those of ``dramaturg serve``.

Neither the environment nor a ``.streamlit/config.toml`` of the current folder sets them.
"""


class _LogRecord(logging.LogRecord):
    """A record whose message is one line, whatever an address or a visitor's text in it holds."""

    def getMessage(self) -> str:
        return visible(super().getMessage()).replace("\n", "\\n")


def _to_overview(request: Request) -> RedirectResponse:
    """The Overview is the page without a path; its choices are those of the address."""
    return RedirectResponse(f"./?{request.url.query}")


app = st.App(
    Path(__file__).with_name("app.py"),
    routes=[Route("/overview", _to_overview)],
    middleware=[Middleware(VisitorGuard)],
)


@click.command()
@configurator_options
def main(**options: Any) -> None:
    """Serve the dashboard until interrupted."""
    collect_rarely()
    # The first page needs both, and would wait two seconds for them.
    Thread(target=lambda: [*map(import_module, ("pandas", "scipy.stats"))], daemon=True).start()
    config._main_script_path = str(Path(__file__).absolute())
    logging.setLogRecordFactory(_LogRecord)
    bootstrap.load_config_options(flag_options={**options, **PINNED})
    http, websocket = protocols(Pool(most_connections()))
    uvicorn.run(
        app,
        host=config.get_option("server.address"),
        port=config.get_option("server.port"),
        http=http,
        ws=websocket,
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,
        use_colors=False,
        access_log=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


if __name__ == "__main__":
    main()
