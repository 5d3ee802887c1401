"""A browser's tab without a browser: it opens pages over the websocket, presses buttons and asks for files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from itsdangerous import URLSafeTimedSerializer
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.Button_pb2 import Button
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.DownloadButton_pb2 import DownloadButton
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from evaluation.rating_desk.assignments import DiscardReason

LOGIN_COOKIE = "_streamlit_user"
XSRF_COOKIE = "_streamlit_xsrf"
PATIENCE_SECONDS = 60
# Each request makes a client of its own, and reading the certificates would be most of its work.
PLAIN: Mapping[str, Any] = {"trust_env": False, "verify": False}


def login_cookie(url: str, secret: str, claims: Mapping[str, object]) -> str:
    """The cookie that the server gives whoever logged in with these claims."""
    return signed(login_body(url, claims), secret)


def login_body(url: str, claims: Mapping[str, object]) -> str:
    """What that cookie says."""
    return json.dumps({**claims, "is_logged_in": True, "origin": url})


def signed(body: str, secret: str, *, salt: str = LOGIN_COOKIE) -> str:
    """A cookie of the server's; ``salt`` is the cookie's name."""
    found = URLSafeTimedSerializer(secret, salt=salt).dumps(body)
    return found.decode() if isinstance(found, bytes) else found


def is_login_cookie(value: str, secret: str) -> bool:
    """Whether the server would take the cookie for one of its own."""
    return URLSafeTimedSerializer(secret, salt=LOGIN_COOKIE).loads_unsafe(value)[0]


@dataclass
class Tab:
    """An open connection, and what the last run of the script drew.

    Attributes:
        url: The server's address.
        cookie: What ``login_cookie`` made; empty for a visitor who has not logged in.
        more_cookies: Others that the browser sends.
        more_headers: Headers that it sends when it connects.
    """

    url: str
    cookie: str = ""
    more_cookies: Mapping[str, str] = field(default_factory=dict)
    more_headers: Mapping[str, str] = field(default_factory=dict)
    session_id: str = ""
    elements: list[Element] = field(default_factory=list)
    fragments: set[str] = field(default_factory=set)
    redirect: str = ""
    received: bytes = b""
    kinds: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._known: dict[str, ForwardMsg] = {}
        self._fields: list[Element] = []
        self._query = ""
        self._hash = ""
        self._requests = 0
        # A browser gets this token with the first answer of the server, and shows it with everything that it sends.
        self._token = httpx.get(f"{self.url}/_stcore/health", **PLAIN).cookies[XSRF_COOKIE]
        login = f"; {LOGIN_COOKIE}={self.cookie}" if self.cookie else ""
        others = "".join(f"; {name}={value}" for name, value in self.more_cookies.items())
        self._cookies = {"Cookie": f"{XSRF_COOKIE}={self._token}{login}{others}"}
        self._open = ExitStack()
        self._socket: ClientConnection = self._open.enter_context(
            connect(
                f"ws://{urlsplit(self.url).netloc}/_stcore/stream",
                additional_headers={**self._cookies, **self.more_headers},
                origin=Origin(self.url),
                subprotocols=[Subprotocol("streamlit"), Subprotocol(self._token)],
                max_size=None,
                proxy=None,
            )
        )

    def close(self) -> None:
        self._open.close()

    def open(self, page: str, query: str = "") -> Tab:
        """Opens a page by its address, as the browser does when one follows a link."""
        self._query = query
        self._run(ClientState(query_string=query, page_name=page))
        self._fields = self.elements
        return self

    def press(self, widget_id: str, fragment: str = "") -> None:
        """Presses a button of the page that was opened; with the form's fields as they were drawn."""
        state = self._state(fragment)
        for one in self._fields:
            if one.HasField("text_input"):
                state.widget_states.widgets.add(id=one.text_input.id, string_value=one.text_input.default)
            elif one.HasField("text_area"):
                state.widget_states.widgets.add(id=one.text_area.id, string_value=one.text_area.default)
            elif one.HasField("selectbox") and one.selectbox.options:
                chosen = one.selectbox.options[one.selectbox.default]
                state.widget_states.widgets.add(id=one.selectbox.id, string_value=chosen)
        state.widget_states.widgets.add(id=widget_id, trigger_value=True)
        self._run(state)

    def send(
        self, component: BidiComponent, event: str, value: object, *, is_state: bool = False, times: int = 1
    ) -> None:
        """Has a component report an event so many times at once, or that a value which it keeps has changed."""
        state = self._state("")
        if is_state:
            state.widget_states.widgets.add(id=component.id, json_value=json.dumps({event: value}))
        else:
            told = json.dumps([{"event": event, "value": value}])
            name = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component.id}__events"
            state.widget_states.widgets.add(id=name, json_trigger_value=told)
            # A browser sends the component's own value with it, without which nobody is told of the event.
            state.widget_states.widgets.add(id=component.id, json_value="{}")
        self._run(state, times)

    def rerun(self, fragment: str) -> None:
        """Asks for one fragment of the page alone."""
        self._run(self._state(fragment))

    def file(self, deferred_id: str) -> bytes | None:
        """A download that is made when it is asked for; ``None`` when the server refuses it."""
        address = self.file_address(deferred_id)
        if address is None:
            return None
        return httpx.get(self.url + address, headers=self._cookies, **PLAIN).raise_for_status().content

    def file_address(self, deferred_id: str) -> str | None:
        """Has a download made; where it can be fetched then."""
        self._requests += 1
        message = BackMsg()
        message.backend_operation_request.request_id = f"request-{self._requests}"
        message.backend_operation_request.session_id = self.session_id
        message.backend_operation_request.deferred_file.file_id = deferred_id
        self._socket.send(message.SerializeToString())
        while True:
            answer = self._receive()
            if answer.WhichOneof("type") == "backend_operation_response":
                break
        response = answer.backend_operation_response
        if response.error_msg:
            return None
        return response.deferred_file.url

    def tell(self, message: BackMsg) -> None:
        """Sends something and waits for no answer; the server may end the connection before it is through."""
        with suppress(ConnectionClosed):
            self._socket.send(message.SerializeToString())

    def is_open(self) -> bool:
        """Whether the server still answers on this connection."""
        try:
            return self._socket.ping().wait(PATIENCE_SECONDS)
        except ConnectionClosed:
            return False

    def wait_until_closed(self) -> None:
        """Reads until the server ends the connection."""
        try:
            while True:
                self._socket.recv(timeout=PATIENCE_SECONDS)
        except ConnectionClosed:
            return

    def upload(self, content: bytes, session_id: str = "") -> int:
        """Sends a file as the browser does that has chosen one; the status of the answer."""
        address = f"{self.url}/_stcore/upload_file/{session_id or self.session_id}/{uuid4()}"
        headers = {**self._cookies, "X-Xsrftoken": self._token}
        return httpx.put(address, files={"file": ("a.json", content)}, headers=headers, **PLAIN).status_code

    def buttons(self) -> list[Button]:
        return [one.button for one in self.elements if one.WhichOneof("type") == "button"]

    def downloads(self) -> list[DownloadButton]:
        return [one.download_button for one in self.elements if one.WhichOneof("type") == "download_button"]

    def exceptions(self) -> list[Element]:
        return [one for one in self.elements if one.WhichOneof("type") == "exception"]

    def components(self) -> list[BidiComponent]:
        return [one.bidi_component for one in self.elements if one.WhichOneof("type") == "bidi_component"]

    def desk(self) -> BidiComponent | None:
        """The desk with the game that is rated on it."""
        return next((one for one in self.components() if "rating_desk" in one.component_name), None)

    def _state(self, fragment: str) -> ClientState:
        return ClientState(query_string=self._query, page_script_hash=self._hash, fragment_id=fragment)

    def _run(self, state: ClientState, times: int = 1) -> None:
        message = BackMsg()
        message.rerun_script.CopyFrom(state)
        self.ask(message, times)

    def ask(self, message: BackMsg, times: int = 1) -> None:
        """Sends something, perhaps several times, and waits until the script that it starts has ended."""
        self.elements, self.fragments, self.received, self.kinds = [], set(), b"", []
        for _ in range(times):
            self.tell(message)
        while not self._has_ended(self._receive()):
            pass

    def _has_ended(self, message: ForwardMsg) -> bool:
        match message.WhichOneof("type"):
            case "new_session":
                self._hash = message.new_session.page_script_hash
                self.session_id = message.new_session.initialize.session_id or self.session_id
                self.elements, self.fragments = [], set()
            case "navigation":
                # Of the page that is shown: what is sent from it runs that page again.
                self._hash = message.navigation.page_script_hash
            case "delta":
                if message.delta.fragment_id:
                    self.fragments.add(message.delta.fragment_id)
                if message.delta.WhichOneof("type") == "new_element":
                    self.elements.append(message.delta.new_element)
            case "auto_rerun":
                self.fragments.add(message.auto_rerun.fragment_id)
            case "auth_redirect":
                self.redirect = message.auth_redirect.url
            case "script_finished":
                return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        return False

    def _receive(self) -> ForwardMsg:
        data = self._socket.recv(timeout=PATIENCE_SECONDS)
        assert isinstance(data, bytes)
        self.received += data
        message = ForwardMsg.FromString(data)
        self.kinds.append(message.WhichOneof("type") or "")
        if message.WhichOneof("type") == "ref_hash":
            known = self._known[message.ref_hash]
            message = ForwardMsg.FromString(known.SerializeToString())
        elif message.hash:
            self._known[message.hash] = message
        return message


def events_of(component: BidiComponent) -> dict[str, object]:
    """What the browser may report, as it would: for a desk, about the game that lies on it."""
    if "rating_desk" in component.component_name:
        token = json.loads(component.json)["token"]
        form = {"token": token, "score": 4, "answers": [None] * 5, "comment": "Too late", "rev": 7}
        discard = {"token": token, "reason": str(next(iter(DiscardReason))), "note": "Too late"}
        return {"draft": form, "submit": form, "discard": discard, "skip": {"token": token}, "begun": [form]}
    name = component.component_name.removeprefix("dramaturg_")
    return {"open": OPENED[name]} if name in OPENED else {}


OPENED: Mapping[str, object] = {
    "chat_view": {"message": "m1", "metric": "coherence"},
    "cockpit_rows": {"row": 0, "kind": "metric", "index": 0},
    "failure_atlas": {"row": 0, "kind": "example", "index": 0},
    "game_rows": {"row": 0, "kind": "game", "index": 0},
    "heat_cells": {"row": 0, "kind": "cell", "index": 0},
}
"""What a browser reports of each component that opens something when it is clicked."""
