"""Refuse what the dashboard does not need: messages and files of guests, other origins, addresses that tell of it.

Every answer says that only pages of this server may show it in a frame.

A guest is a visitor without a login. A browser has a session before its user has logged in, and Streamlit answers
every session alike: it keeps the files and the widget state that it is sent in memory, names files by the hundred
thousand, and empties caches for anybody. Here a guest gets answers to what the login page sends, and nothing else.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Protocol, cast
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.server_util import allowlisted_origins

from dashboard.shared.identity import identity
from evaluation.access import Action, may

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOADS = "/_stcore/upload_file/"
MEDIA = "/media/"
FRAMES = (b"content-security-policy", b"frame-ancestors 'self'")
CLOSED = ("/_stcore/metrics", "/_stcore/script-health-check")
"""What tells about the server and its memory; nobody of those who use the dashboard needs it."""

GUEST_BYTES = 16_384
"""The longest message before a login. The login page sends some hundred bytes."""
GUEST_MESSAGES, GUEST_MESSAGES_PER_SECOND = 60, 5.0
"""Messages before a login at once, and how quickly more may come: each costs the server work for all of its users."""
GUEST_WIDGETS = 32
"""The most widgets that a message before a login may hold: the login page has a button for each provider."""
RATER_BYTES, RATER_WIDGETS = 262_144, 500
"""The longest message of a rater, and its most widgets: a desk with all its comments sends some ten thousand bytes."""
MESSAGE_BYTES = 32_000_000
"""The longest message of an admin; files are not sent in messages."""
MOST_STATE_BYTES = 96_000_000
"""The most bytes of widgets, as last sent, of one login in all of its tabs: the server keeps them in memory."""
MOST_FILES = 1_000
"""The most files that are sent at once."""
MOST_UPLOADED_BYTES = 270_000_000
"""The most memory for the files of one person in all tabs: four of the largest files that the server takes."""
MOST_TOLD_FILES = 2_000
"""How many of its pictures and downloads one login can fetch; older ones are drawn anew with the next click."""
CONNECTION = "dramaturg.connection"
"""The extension of a scope through which the web server learns who is connected."""

_GUEST_MESSAGES = frozenset({"rerun_script"})
_MESSAGES = _GUEST_MESSAGES | {"stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request"}
_FOLDER = str(Path(__file__).parent).encode()
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_POLICY_VIOLATION, _TOO_BIG = 1008, 1009
_NO_ROOM = PlainTextResponse(
    f"Your files take more than {MOST_UPLOADED_BYTES // 1_000_000} MB in the dashboard. Remove some from the page, or "
    "close other tabs.",
    status_code=413,
)


@dataclass
class _Sender:
    """A session that may send files.

    Attributes:
        person: Tells whose files are counted together.
        coming_bytes: The size of the files that are being sent.
    """

    person: str
    is_allowed: Callable[[], bool]
    coming_bytes: int = 0


_lock = threading.Lock()
_senders: dict[str, _Sender] = {}
# What each login's pages were told of, the latest last.
_told_files: dict[str, dict[bytes, None]] = {}
# Bytes of the last message that each open connection of a login sent; the server's event loop alone works with it.
_sent_bytes: dict[str, dict[int, int]] = {}


class Connection(Protocol):
    """A connection as the web server holds it."""

    def came_from(self, address: str) -> None:
        """Take the address that a trusted proxy gave for that of the visitor."""

    def admit(self, login: str) -> None:
        """Do not close the connection to make room for strangers."""


class MessageConnection(Connection, Protocol):
    """A connection for messages."""

    def take_messages(self, most_bytes: int) -> None:
        """Take messages of so many bytes."""


def admit() -> None:
    """Accept files for the session whose page is being drawn from now on, while its person may rate or more."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return
    person = identity.current_person()
    # Without a login all have the same role, and a name that anybody may type.
    key = person.name if person and person.is_signed_in else context.session_id
    server, is_allowed = runtime.get_instance(), identity.asker()
    with _lock:
        for gone in [one for one in _senders if not server.is_active_session(one) and not _stored_bytes(one)]:
            del _senders[gone]
        known = _senders.get(context.session_id)
        coming = known.coming_bytes if known else 0
        _senders[context.session_id] = _Sender(key, lambda: is_allowed(Action.RATE), coming)


def may_send(session_id: str, who: identity.Visitor | None) -> bool:
    """Whether the session is the visitor's own, and its person may send files now."""
    with _lock:
        found = _senders.get(session_id)
    return found is not None and who is not None and who.login in ("", found.person) and found.is_allowed()


def _may_ask_for(file_id: str, who: identity.Visitor) -> bool:
    """Whether a download that is made when it is asked for stands on a page of the visitor's that is open.

    Streamlit makes it for whoever names it.
    """
    server = runtime.get_instance()
    made = server.media_file_mgr._deferred_callables.get(file_id)
    if made is None or not who.login:
        return True
    with _lock:
        owner = _senders.get(made["session_id"])
    return owner is not None and owner.person == who.login and server.is_active_session(made["session_id"])


def _stored_bytes(session_id: str) -> int:
    files = _uploads().file_storage.get(session_id, {})
    return sum(len(one.data) for one in list(files.values()))


def _uploads() -> MemoryUploadedFileManager:
    return cast(MemoryUploadedFileManager, runtime.get_instance().uploaded_file_mgr)


def _take(session_id: str, size: int) -> bool:
    """Counts a file that begins to come, if there is room for it beside the person's others.

    Files of sessions that are not connected wait for them to come back, and make room.
    """
    server = runtime.get_instance()
    with _lock:
        sender = _senders[session_id]
        own = {one: each for one, each in _senders.items() if each.person == sender.person}
        for session in [None, *(one for one in own if not server.is_active_session(one))]:
            if session is not None:
                _uploads().remove_session_files(session)
            if size + sum(_stored_bytes(one) + each.coming_bytes for one, each in own.items()) <= MOST_UPLOADED_BYTES:
                sender.coming_bytes += size
                return True
    return False


def _release(session_id: str, size: int) -> None:
    with _lock:
        if session_id in _senders:
            _senders[session_id].coming_bytes -= size


class VisitorGuard:
    """Answers for addresses of Streamlit's that are closed, and for what is not taken of a visitor."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is taken; a request is refused before anything of its body is read."""
        if scope["type"] == "websocket":
            await self._connect(scope, receive, send)
            return
        send = _unframed(send)
        refusal = None
        if scope["type"] == "http":
            await _admit_known(scope)
            refusal = await _refusal(scope)
            if refusal is None and scope["method"] == "PUT" and UPLOADS in scope["path"]:
                await self._store(scope, receive, send)
                return
        await (refusal or self._app)(scope, receive, send)

    async def _store(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on a file for which there is room."""
        session_id = _session_of(scope["path"])
        length = Headers(scope=scope).get("content-length")
        size = int(length) if length else config.get_option("server.maxUploadSize") * 1024 * 1024
        if not _take(session_id, size):
            await _NO_ROOM(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            _release(session_id, size)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        visitor = HTTPConnection(scope)
        if not _has_own_origin(visitor) or identity.is_login_of_parts(visitor.cookies):
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return

        async def ask() -> identity.Visitor | None:
            return await run_in_threadpool(_visitor_of, visitor)

        who = await ask()
        connection: MessageConnection | None = scope.get("extensions", {}).get(CONNECTION)
        if connection is not None:
            _introduce(connection, visitor, who)
            connection.take_messages(_most_bytes(who))

        messages = _Allowance(GUEST_MESSAGES, GUEST_MESSAGES_PER_SECOND)

        async def receive_answered() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                data = message.get("bytes")
                if data is None or not (who is not None or messages.take()):
                    # Browsers send bytes, and the login page a few messages.
                    await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
                    return {"type": "websocket.disconnect", "code": _POLICY_VIOLATION}
                # Nobody who left is asked about for the short messages of the login page.
                sender = await ask() if who is not None and len(data) > GUEST_BYTES else who
                if len(data) > _most_bytes(sender) or not _count_bytes(sender, id(scope), len(data)):
                    await send({"type": "websocket.close", "code": _TOO_BIG})
                    return {"type": "websocket.disconnect", "code": _TOO_BIG}
                if _is_answered(data, sender):
                    return message

        async def send_without_folders(message: Message) -> None:
            _note_files(who, message)
            await send(_without_folders(message))

        try:
            await self._app(scope, receive_answered, send_without_folders)
        finally:
            _forget_bytes(who, id(scope))


def _unframed(send: Send) -> Send:
    """``send`` with a header that keeps pages of others from showing the answer in a frame."""

    async def send_unframed(message: Message) -> None:
        if message["type"] == "http.response.start":
            others = [header for header in message.get("headers", []) if header[0].lower() != FRAMES[0]]
            message = {**message, "headers": [*others, FRAMES]}
        await send(message)

    return send_unframed


def _most_bytes(sender: identity.Visitor | None) -> int:
    if sender is None:
        return GUEST_BYTES
    return MESSAGE_BYTES if may(sender.role, Action.READ) else RATER_BYTES


def _count_bytes(sender: identity.Visitor | None, connection: int, size: int) -> bool:
    """Counts the message that a connection of a login sent last; ``False`` where all of that login's take too much."""
    if sender is None or not sender.login:
        return True
    sent = _sent_bytes.setdefault(sender.login, {})
    sent[connection] = size
    return sum(sent.values()) <= MOST_STATE_BYTES


def _forget_bytes(sender: identity.Visitor | None, connection: int) -> None:
    if sender is None or sender.login not in _sent_bytes:
        return
    _sent_bytes[sender.login].pop(connection, None)
    if not _sent_bytes[sender.login]:
        del _sent_bytes[sender.login]


class _Allowance:
    """Lets so many through at once, and more as time goes by."""

    def __init__(self, most: int, per_second: float) -> None:
        self._most, self._per_second = float(most), per_second
        self._left, self._at = float(most), time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def _without_folders(message: Message) -> Message:
    """Streamlit tells every browser where the script lies on the server; no browser needs the folder."""
    data = message.get("bytes")
    if data is None or _FOLDER not in data:
        return message
    told = ForwardMsg.FromString(data)
    if told.WhichOneof("type") != "new_session":
        return message
    told.new_session.main_script_path = PurePath(told.new_session.main_script_path).name
    return {**message, "bytes": told.SerializeToString()}


async def _admit_known(scope: Scope) -> None:
    """Keep connections that fetch files for somebody with a login: strangers must not push them out."""
    connection: Connection | None = scope.get("extensions", {}).get(CONNECTION)
    if connection is None:
        return
    visitor = HTTPConnection(scope)
    _introduce(connection, visitor, await run_in_threadpool(_visitor_of, visitor, any_origin=True))


def _introduce(connection: Connection, visitor: HTTPConnection, who: identity.Visitor | None) -> None:
    connection.came_from(visitor.client.host if visitor.client else "")
    if who is not None:
        connection.admit(who.login)


def _visitor_of(visitor: HTTPConnection, *, any_origin: bool = False) -> identity.Visitor | None:
    address = visitor.client.host if visitor.client else ""
    origin = None if any_origin else visitor.headers.get("origin", "")
    return identity.visitor_of(visitor.cookies, origin, address)


def _is_answered(data: bytes, sender: identity.Visitor | None) -> bool:
    """Whether a message is one that the dashboard needs; Streamlit itself refuses what is none at all."""
    try:
        message = BackMsg.FromString(data)
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind not in (_GUEST_MESSAGES if sender is None else _MESSAGES):
        return False
    wanted = message.backend_operation_request.deferred_file.file_id
    if wanted and sender is not None and not _may_ask_for(wanted, sender):
        return False
    if sender is None or not may(sender.role, Action.READ):
        most = GUEST_WIDGETS if sender is None else RATER_WIDGETS
        if len(message.rerun_script.widget_states.widgets) > most:
            return False
    return len(message.file_urls_request.file_names) <= MOST_FILES


def _has_own_origin(visitor: HTTPConnection) -> bool:
    """Whether a page of this server asks, or a program; Streamlit would take pages of this machine's other ports."""
    origin = visitor.headers.get("origin")
    if origin is None or origin in allowlisted_origins():
        return True
    try:
        return urlsplit(origin).netloc.lower() == visitor.headers.get("host", "").lower()
    except ValueError:
        return False


def _session_of(path: str) -> str:
    return path.partition(UPLOADS)[2].partition("/")[0]


_MADE_FILE = re.compile(rb"/media/(\w{16,128})")


def _note_files(receiver: identity.Visitor | None, message: Message) -> None:
    """Notes the pictures and downloads whose addresses a page of the receiver's is told."""
    data = message.get("bytes")
    if receiver is None or not receiver.login or data is None or MEDIA.encode() not in data:
        return
    told = _told_files.setdefault(receiver.login, {})
    for file_id in _MADE_FILE.findall(data):
        told.pop(file_id, None)
        told[file_id] = None
    for oldest in list(told)[: max(0, len(told) - MOST_TOLD_FILES)]:
        del told[oldest]


def _may_fetch(visitor: HTTPConnection) -> bool:
    """Whether the visitor's own pages were told of a picture or download; without logins nobody knows whose it is."""
    who = _visitor_of(visitor, any_origin=True)
    if who is None or not who.login:
        return who is not None
    file_id = visitor.scope["path"].rpartition("/")[2].partition(".")[0]
    return file_id.encode() in _told_files.get(who.login, {})


async def _refusal(scope: Scope) -> PlainTextResponse | None:
    path: str = scope["path"]
    # Addresses with control characters lead nowhere, and would forge lines of the log.
    if path.endswith(CLOSED) or not path.isprintable():
        return PlainTextResponse("Not found", status_code=404)
    if MEDIA in path and not await run_in_threadpool(_may_fetch, HTTPConnection(scope)):
        return PlainTextResponse("Not found", status_code=404)
    if scope["method"] not in _SAFE_METHODS and not _has_own_origin(HTTPConnection(scope)):
        return PlainTextResponse("Only pages of this server may send something here.", status_code=403)
    if UPLOADS in path and scope["method"] != "OPTIONS":
        who = await run_in_threadpool(_visitor_of, HTTPConnection(scope), any_origin=True)
        if not await run_in_threadpool(may_send, _session_of(path), who):
            return PlainTextResponse("Log in before you send files.", status_code=403)
    return None
