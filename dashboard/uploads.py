"""Refuse uploads from sessions without permission, and close addresses that report on the server.

Streamlit accepts files from every session, and a browser has a session before its user has logged in. Streamlit keeps
an accepted file in memory as long as the session lasts. Here a file is refused unless a page was drawn for that session
and its user may still rate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.shared.identity import identity
from evaluation.access.roles import Action

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

UPLOADS = "/_stcore/upload_file/"
CLOSED = ("/_stcore/metrics", "/_stcore/script-health-check")
"""What tells about the server and its memory; nobody of those who use the dashboard needs it."""

_lock = threading.Lock()
_may_send: dict[str, Callable[[], bool]] = {}


def admit() -> None:
    """Accept files for the session whose page is being drawn from now on, while its person may rate or more."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return
    server, is_allowed = runtime.get_instance(), identity.asker()
    with _lock:
        for gone in [one for one in _may_send if not server.is_active_session(one)]:
            del _may_send[gone]
        _may_send[context.session_id] = lambda: is_allowed(Action.RATE)


def may_send(session_id: str) -> bool:
    """Whether the session's person may send files now."""
    with _lock:
        ask = _may_send.get(session_id)
    return ask is not None and ask()


class UploadGuard:
    """Answers for addresses of Streamlit's that are closed, and for files that are not taken."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it before anything of its body is read."""
        refusal = await _refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)


async def _refusal(scope: Scope) -> PlainTextResponse | None:
    path: str = scope["path"]
    if path.endswith(CLOSED):
        return PlainTextResponse("Not found", status_code=404)
    if UPLOADS in path and scope["method"] != "OPTIONS":
        session_id = path.partition(UPLOADS)[2].partition("/")[0]
        if not await run_in_threadpool(may_send, session_id):
            return PlainTextResponse("Log in before you send files.", status_code=403)
    return None
