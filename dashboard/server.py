"""The web server of ``dramaturg serve``: Streamlit with the dashboard, behind checks of visitors.

``python -m dashboard.server`` takes Streamlit's settings as options, as ``streamlit run`` does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from streamlit import config
from streamlit.web import bootstrap
from streamlit.web.cli import configurator_options

from dashboard.connections import MESSAGE_BYTES, Pool, most_connections, protocols
from dashboard.visitors import VisitorGuard

PING_SECONDS = 30
STOP_SECONDS = 10
"""How long answers that are under way may take when the server is stopped."""

app = st.App(
    Path(__file__).with_name("app.py"),
    middleware=[Middleware(VisitorGuard)],
)


@click.command()
@configurator_options
def main(**options: Any) -> None:
    """Serve the dashboard until interrupted."""
    config._main_script_path = str(Path(__file__).absolute())
    bootstrap.load_config_options(flag_options=options)
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
