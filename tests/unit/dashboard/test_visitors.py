"""Which messages reach Streamlit, by who sends them, and which connections are closed to make room."""

import asyncio
from typing import Any

import pytest
from itsdangerous import TimestampSigner, URLSafeTimedSerializer
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from dashboard.connections import MOST_OF_ONE_LOGIN, Pool
from dashboard.shared.identity import identity
from dashboard.visitors import GUEST_BYTES, MOST_FILES, VisitorGuard

GUEST, THIS_MACHINE = "203.0.113.1", "127.0.0.1"


def reached(address: str, *messages: BackMsg, origin: str = "") -> list[bytes]:
    """What reaches the application behind the guard."""
    found: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            found.append(message["bytes"])

    sent: list[dict[str, Any]] = [{"type": "websocket.receive", "bytes": one.SerializeToString()} for one in messages]
    sent.append({"type": "websocket.disconnect", "code": 1000})

    async def receive() -> dict[str, Any]:
        return sent.pop(0)

    async def send(message: object) -> None:
        pass

    headers = [(b"host", b"localhost:8501"), *([(b"origin", origin.encode())] if origin else [])]
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers, "client": (address, 1)}
    asyncio.run(VisitorGuard(app)(scope, receive, send))
    return found


def rerun(query: str = "", widgets: int = 0) -> BackMsg:
    message = BackMsg(rerun_script=ClientState(query_string=query))
    for number in range(widgets):
        message.rerun_script.widget_states.widgets.add(id=str(number), trigger_value=True)
    return message


def file_names(count: int) -> BackMsg:
    message = BackMsg()
    message.file_urls_request.file_names.extend([""] * count)
    return message


@pytest.mark.parametrize(
    ("message", "by_guests", "by_others"),
    [
        (rerun(), True, True),
        (rerun(widgets=3), True, True),
        (rerun(widgets=1_000), False, True),
        (rerun(query="x" * GUEST_BYTES), False, True),
        (file_names(1), False, True),
        (file_names(MOST_FILES + 1), False, False),
        (BackMsg(stop_script=True), False, True),
        (BackMsg(app_heartbeat=True), False, True),
        (BackMsg(clear_cache=True), False, False),
        (BackMsg(load_git_info=True), False, False),
        (BackMsg(set_run_on_save=True), False, False),
        (BackMsg(debug_shutdown_runtime=True), False, False),
        (BackMsg(debug_disconnect_websocket=True), False, False),
        (BackMsg(), False, False),
    ],
    ids=lambda value: str(value)[:40].replace("\n", " "),
)
def test_only_what_the_dashboard_needs_is_answered(message: BackMsg, by_guests: bool, by_others: bool) -> None:
    assert bool(reached(GUEST, message)) is by_guests
    assert bool(reached(THIS_MACHINE, message)) is by_others


@pytest.mark.parametrize(
    ("origin", "is_taken"),
    [
        ("", True),
        ("http://localhost:8501", True),
        ("http://localhost:8502", False),
        ("http://localhost", False),
        ("http://127.0.0.1:8501", False),
        ("https://example.org", False),
        ("null", False),
        ("http://[", False),
    ],
)
def test_only_pages_of_this_server_open_connections(origin: str, is_taken: bool) -> None:
    assert bool(reached(THIS_MACHINE, rerun(), origin=origin)) is is_taken


def test_the_guest_who_was_idle_for_longest_makes_room() -> None:
    pool = Pool[str](most=10, most_guests=3)
    for second, name in enumerate("abc"):
        assert pool.open(name, "192.0.2.1", now=second) == []
    pool.touch("a", now=5)
    assert pool.open("d", "192.0.2.1", now=6) == ["b"]
    assert pool.open("e", "192.0.2.1", now=7) == ["c"]
    assert pool.open("f", "192.0.2.1", now=8) == ["a"]


def test_an_answer_that_is_under_way_is_not_cut_off_while_another_is_idle() -> None:
    pool = Pool[str](most=10, most_guests=2)
    pool.open("loading", "192.0.2.1", now=1)
    pool.touch("loading", is_busy=True, now=1)
    pool.open("idle", "192.0.2.1", now=2)
    assert pool.open("new", "192.0.2.1", now=3) == ["idle"]


def test_the_address_with_the_most_guests_makes_room_for_the_others() -> None:
    pool = Pool[str](most=10, most_guests=4)
    pool.open("guest", "192.0.2.9", now=0)
    for number in range(20):
        closed = pool.open(f"many-{number}", "192.0.2.1", now=number + 1)
        assert "guest" not in closed
    pool.came_from("guest", "192.0.2.1")
    assert pool.open("next", "192.0.2.1", now=30) == ["guest"]


def test_logins_with_few_connections_make_no_room_and_beyond_the_most_the_newest_is_refused() -> None:
    pool = Pool[str](most=3, most_guests=3)
    for name in "abc":
        pool.open(name, "192.0.2.1", now=0)
        assert pool.admit(name, name) == []
    assert pool.open("d", "192.0.2.1", now=1) == ["d"]
    pool.close("a")
    assert pool.open("e", "192.0.2.1", now=2) == []


def test_the_login_with_the_most_connections_makes_room_with_the_one_that_is_idle_for_longest() -> None:
    pool = Pool[str](most=40)
    for number in range(40):
        pool.open(f"tab-{number}", "192.0.2.1", now=number)
        pool.admit(f"tab-{number}", "rae" if 2 <= number < 12 else f"other-{number}")
    pool.touch("tab-2", now=20)
    assert pool.open("new", "192.0.2.1", now=21) == ["tab-3"]
    assert pool.admit("new", "roy") == []


def test_the_connections_of_one_login_are_bounded() -> None:
    pool = Pool[str](most=4_096)
    closed = []
    for number in range(MOST_OF_ONE_LOGIN + 3):
        pool.open(str(number), "192.0.2.1", now=number)
        closed += pool.admit(str(number), "rae")
    assert closed == ["0", "1", "2"]
    # Without logins nobody knows whose connections they are.
    for number in range(MOST_OF_ONE_LOGIN + 3):
        pool.open(f"local-{number}", "127.0.0.1", now=number)
        assert pool.admit(f"local-{number}") == []


def test_the_address_with_the_most_guests_pays_with_busy_connections_before_another_pays_with_an_idle_one() -> None:
    pool = Pool[str](most=8, most_guests=3)
    for second, (name, address) in enumerate((("one", "a"), ("two", "a"), ("three", "b"))):
        pool.open(name, address, now=second)
    pool.touch("one", is_busy=True, now=3)
    pool.touch("two", is_busy=True, now=4)
    assert pool.open("four", "c", now=5) == ["one"]


@pytest.mark.parametrize(("second_at", "is_mixed"), [(1_000, False), (1_001, False), (1_900, True)])
def test_a_login_put_together_from_several_is_known(
    second_at: int, is_mixed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class At(TimestampSigner):
        moment = 0

        def get_timestamp(self) -> int:
            return self.moment

    def signed(name: str, value: str, moment: int) -> str:
        signer = type("Signer", (At,), {"moment": moment})
        return str(URLSafeTimedSerializer(get_cookie_secret(), salt=name, signer=signer).dumps(value))

    first, second = f"{USER_COOKIE_NAME}_1", f"{USER_COOKIE_NAME}_2"
    cookies = {
        USER_COOKIE_NAME: signed(USER_COOKIE_NAME, "chunks-2", 1_000),
        first: signed(first, '{"sub": "a', 1_000),
        second: signed(second, 'da"}', second_at),
        f"{USER_COOKIE_NAME}_x": "garbage",
    }
    assert identity.is_login_of_parts(cookies) is is_mixed
    assert not identity.is_login_of_parts({USER_COOKIE_NAME: signed(USER_COOKIE_NAME, "{}", 1_000)})
