"""A rater at a running dashboard without a browser: the same messages over the same websocket."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

_DESK = "dramaturg_rating_desk"
_RECEIPT = "dramaturg_desk_receipt"
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Desk:
    """What the server draws the desk with: the component's id, and the data of the game that lies on it."""

    component: str
    data: dict[str, Any]

    @property
    def token(self) -> str:
        """Stands for this rater's form for this game."""
        return str(self.data["token"])


class RatingSession:
    """One open Rate page.

    Attributes:
        desk: The desk that was drawn last, ``None`` when nothing was left to rate.
        received: Everything that the server sent.
        kept: The token of the form that the server last said to have stored, and when it said so (``perf_counter``).
        refusal: The error that the page showed when it was drawn last; empty for none.
    """

    def __init__(self, socket: ClientConnection, rater: str) -> None:
        self._socket = socket
        self._rater = rater
        self.desk: Desk | None = None
        self.received = bytearray()
        self.kept: tuple[str, float] | None = None
        self.refusal = ""

    async def open(self) -> None:
        """Runs the page for the first time."""
        await self._run()

    async def submit(self, score: int, comment: str = "", *, times: int = 1) -> Desk | None:
        """Sends the form on the desk, and again before an answer came when ``times`` says so; the desk after that.

        Raises:
            RuntimeError: There is no game on the desk.
        """
        if self.desk is None:
            raise RuntimeError(f"{self._rater} has no game on the desk.")
        form = {"token": self.desk.token, "score": score, "answers": [True, False, None, True, True]}
        form |= {"comment": comment, "rev": 1}
        message = self._rerun()
        message.rerun_script.widget_states.widgets.add(id=self.desk.component, json_value="{}")
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"$$STREAMLIT_INTERNAL_KEY_{self.desk.component}__events"
        state.json_trigger_value = json.dumps([{"event": "submit", "value": form}])
        for _ in range(times):
            await self._socket.send(message.SerializeToString())
        return await self._receive()

    async def _run(self) -> None:
        await self._socket.send(self._rerun().SerializeToString())
        await self._receive()

    def _rerun(self) -> BackMsg:
        message = BackMsg()
        message.rerun_script.query_string = f"rater={quote(self._rater)}"
        message.rerun_script.page_name = "review"
        return message

    async def _receive(self) -> Desk | None:
        """Reads until a whole run of the script has ended; what one run draws replaces what was there."""
        drawn: Desk | None = None
        refusal = ""
        while True:
            packed = await self._socket.recv(decode=False)
            self.received += packed
            message = ForwardMsg.FromString(packed)
            kind = message.WhichOneof("type")
            component = message.delta.new_element.bidi_component
            alert = message.delta.new_element.alert
            if kind == "delta" and component.component_name.endswith(_DESK):
                drawn = Desk(component.id, json.loads(component.json))
                self._note_kept(drawn.data["kept"])
            elif kind == "delta" and component.component_name.endswith(_RECEIPT):
                self._note_kept(json.loads(component.json)["token"])
            elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self.desk, self.refusal = drawn, refusal
                return drawn
            elif kind == "delta" and alert.format == Alert.ERROR:
                refusal = alert.body

    def _note_kept(self, token: str | None) -> None:
        """The next game's desk says again what was stored: a busy server sends it instead of the receipt before it."""
        if token is not None and (self.kept is None or self.kept[0] != token):
            self.kept = (token, time.perf_counter())


@asynccontextmanager
async def rating_session(url: str, rater: str) -> AsyncIterator[RatingSession]:
    """Opens the Rate page of the server at ``url`` under a rater's name."""
    address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
    async with connect(address, subprotocols=["streamlit"], max_size=_MOST_BYTES, proxy=None) as socket:  # type: ignore[list-item]
        session = RatingSession(socket, rater)
        await session.open()
        yield session
