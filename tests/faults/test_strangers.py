"""What strangers can do to a server before the login, however many they are: nothing that anybody else would notice."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

import dashboard
from dashboard.connections import MOST_GUESTS
from dashboard.visitors import GUEST_BYTES, MOST_UPLOADED_BYTES
from tests.dashboard_server import Server, free_port
from tests.faults.tab import LOGIN_COOKIE, PLAIN, Tab, events_of
from tests.faults.test_roles_over_the_wire import Site
from tests.long import mostly_long

STRANGERS = 300
MOST_FILES = 1_024
LOGS_IN_WITHIN_SECONDS = 5
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, sample_database: Path) -> Iterator[Site]:
    """A server with a login that may not have more files open than most machines give a process."""
    folder: Path = tmp_path_factory.mktemp("strangers")
    secrets = folder / "secrets.toml"
    server = Server(
        folder / "wire.duckdb", options=("--secrets", str(secrets)), port=free_port(), most_files=MOST_FILES
    )
    made = Site(server, secrets)
    made.name_admin("ada")
    shutil.copyfile(sample_database, server.database)
    server.start()
    yield made
    server.stop()


@pytest.fixture
def tab(site: Site) -> Iterator[Callable[..., Tab]]:
    with ExitStack() as opened:

        def open_(who: str = "", **options: object) -> Tab:
            made = Tab(site.url, site.log_in(who, 0) if who else "", **options)  # type: ignore[arg-type]
            opened.callback(made.close)
            return made

        yield open_


class SlowReaders:
    """Connections from one other address that ask for a large file and hardly read, and ever more of them."""

    def __init__(self, site: Site, first: int, pause_seconds: float) -> None:
        (file,) = (Path(streamlit.__file__).parent / "static" / "static" / "js").glob("PlotlyChart*.js")
        self._request = f"GET /static/js/{file.name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        self._port, self._pause = site.server.port, pause_seconds
        self._opened = deque([self._open() for _ in range(first)])
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._open_more, args=(len(self._opened),))
        self.count = 0

    def __enter__(self) -> SlowReaders:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        self._thread.join()
        for one in self._opened:
            one.close()

    def wait_for(self, more: int) -> None:
        """Waits until so many more have come."""
        wanted = self.count + more
        while self.count < wanted:
            assert self._thread.is_alive()
            self._has_ended.wait(0.01)

    def _open(self) -> socket.socket:
        opened = socket.socket()
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        opened.settimeout(LOGS_IN_WITHIN_SECONDS)
        opened.bind(("127.0.0.2", 0))
        # Where the server has refused it already, another one comes.
        with suppress(OSError):
            opened.connect(("127.0.0.1", self._port))
            opened.sendall(self._request)
        return opened

    def _open_more(self, kept: int) -> None:
        while not self._has_ended.wait(self._pause):
            self._opened.append(self._open())
            self.count += 1
            if len(self._opened) > 2 * kept:
                self._opened.popleft().close()


def open_files(site: Site) -> int:
    assert site.server.process is not None
    return len(list(Path(f"/proc/{site.server.process.pid}/fd").iterdir()))


def memory_bytes(site: Site) -> int:
    assert site.server.process is not None
    status = Path(f"/proc/{site.server.process.pid}/status").read_text("utf-8")
    (line,) = [one for one in status.splitlines() if one.startswith("VmRSS")]
    return int(line.split()[1]) * 1024


def rate(rater: Tab, score: int) -> None:
    desk = rater.open("rate").desk()
    assert desk is not None
    form = {**events_of(desk)["submit"], "score": score}
    rater.send(desk, "draft", form, is_state=True)
    rater.send(desk, "submit", form)


def ratings(site: Site) -> int:
    store = site.server.store
    count = len(store.ratings.all())
    store.close()
    return count


@pytest.mark.long
def test_a_rater_logs_in_and_saves_beside_three_hundred_idle_strangers(site: Site, tab: Callable[..., Tab]) -> None:
    before = ratings(site)
    strangers = [tab().open("rate") for _ in range(STRANGERS)]
    silent = [socket.create_connection(("127.0.0.1", site.server.port)) for _ in range(STRANGERS)]
    begun = time.monotonic()
    rate(tab("rae"), 4)
    assert time.monotonic() - begun < LOGS_IN_WITHIN_SECONDS
    assert ratings(site) == before + 1
    assert open_files(site) < MOST_FILES - 200
    # The newest ones had to make room for nobody but those who came after them.
    assert sum(one.is_open() for one in strangers) <= MOST_GUESTS
    for one in silent:
        one.close()


@pytest.mark.parametrize(
    ("rounds", "first", "pause_seconds"), mostly_long([(2, 250, 0.02), (20, 300, 0.005), (20, 200, 0.2)])
)
def test_slow_readers_of_one_address_shut_nobody_else_out(
    site: Site, tab: Callable[..., Tab], rounds: int, first: int, pause_seconds: float
) -> None:
    before = ratings(site)
    with SlowReaders(site, first, pause_seconds) as flood:
        for _ in range(rounds):
            guest = tab().open("rate")
            begun = time.monotonic()
            rater = tab("rae").open("rate")
            assert time.monotonic() - begun < LOGS_IN_WITHIN_SECONDS
            flood.wait_for(20)
            assert guest.is_open()
        rate(rater, 4)
    assert ratings(site) == before + 1


def kept_open(site: Site, cookie: str = "") -> socket.socket:
    """A connection that has fetched a file and stays open, as browsers leave it."""
    opened = socket.create_connection(("127.0.0.1", site.server.port), timeout=10)
    assert fetches(opened, cookie)
    return opened


def fetches(connection: socket.socket, cookie: str = "") -> bool:
    head = f"GET /_stcore/health HTTP/1.1\r\nHost: localhost\r\nCookie: {LOGIN_COOKIE}={cookie}\r\n\r\n"
    try:
        connection.sendall(head.encode())
        answer = b""
        # Head and body may come in two pieces; what is left unread would pass for the next answer.
        while not answer.endswith(b"ok") and (piece := connection.recv(4_096)):
            answer += piece
        return b"200 OK" in answer
    except OSError:
        return False


def test_files_of_somebody_who_logged_in_are_fetched_beside_many_strangers(site: Site) -> None:
    cookie = site.log_in("ada", 0)
    admin, stranger = kept_open(site, cookie), kept_open(site)
    silent = [socket.create_connection(("127.0.0.1", site.server.port)) for _ in range(2 * MOST_GUESTS)]
    site.server.wait_until_healthy()
    assert fetches(admin, cookie)
    assert not fetches(stranger)
    for one in [admin, stranger, *silent]:
        one.close()


@pytest.mark.long
def test_more_connections_than_there_are_descriptors_are_refused_and_end_nothing(
    site: Site, tab: Callable[..., Tab]
) -> None:
    raters = []
    refused = False
    # Every one of them has a login, so nobody makes room.
    for _ in range(MOST_FILES // 3):
        try:
            raters.append(tab("rae"))
        except (httpx.HTTPError, OSError, ConnectionClosed, InvalidStatus, EOFError):
            refused = True
            break
    assert refused
    assert open_files(site) < MOST_FILES
    raters[0].open("rate")
    for one in raters:
        one.close()
    before = ratings(site)
    site.server.wait_until_healthy()
    rate(tab("rae"), 3)
    assert ratings(site) == before + 1


@pytest.mark.parametrize(
    ("who", "widgets", "size"), [("", 15, MEGABYTE), ("rae", 24, MEGABYTE), ("rae", 20_000, 10)], ids=str
)
def test_long_messages_end_the_connection_and_take_no_memory(
    site: Site, tab: Callable[..., Tab], who: str, widgets: int, size: int
) -> None:
    before = memory_bytes(site)
    message = BackMsg(rerun_script=ClientState(page_name="rate"))
    for number in range(widgets):
        message.rerun_script.widget_states.widgets.add(id=f"made-up-{number}", string_value="x" * size)
    for _ in range(10):
        sender = tab(who)
        sender.tell(message)
        sender.wait_until_closed()
    assert memory_bytes(site) - before < 100 * MEGABYTE


def test_the_files_of_one_person_take_a_bounded_amount_of_memory_however_many_tabs(
    site: Site, tab: Callable[..., Tab]
) -> None:
    content = bytes(60 * MEGABYTE)
    fit = MOST_UPLOADED_BYTES // len(content)
    first = tab("rae").open("rate")
    before = memory_bytes(site)
    assert [first.upload(content) for _ in range(fit + 2)] == [204] * fit + [413] * 2
    second = tab("rae").open("rate")
    assert second.upload(content) == 413
    # Another person's files are not in the way, and what a closed tab sent goes when there is no room for more.
    assert tab("roy").open("rate").upload(content) == 204
    first.close()
    assert [second.upload(content) for _ in range(fit + 1)] == [204] * fit + [413]
    assert memory_bytes(site) - before < MOST_UPLOADED_BYTES + 150 * MEGABYTE


def test_files_that_are_sent_at_once_are_counted_together(site: Site, tab: Callable[..., Tab]) -> None:
    rater, content = tab("rae").open("rate"), bytes(60 * MEGABYTE)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(rater.upload, [content] * 8))
    assert answers.count(204) <= MOST_UPLOADED_BYTES // len(content)
    assert set(answers) == {204, 413}


def test_somebody_who_left_sends_no_long_messages_through_a_tab_that_is_open(
    site: Site, tab: Callable[..., Tab]
) -> None:
    admin = tab("ada").open("settings")
    long = BackMsg(rerun_script=ClientState(page_name="settings", query_string="x" * 2 * GUEST_BYTES))
    admin.tell(long)
    assert admin.is_open()
    site.name_admin("eve")
    try:
        admin.tell(long)
        admin.wait_until_closed()
    finally:
        site.name_admin("ada")


@pytest.mark.parametrize("has_login", [True, False], ids=["with a login", "without a login"])
def test_pages_of_other_ports_of_this_machine_are_refused(site: Site, tmp_path: Path, has_login: bool) -> None:
    server = site.server
    if not has_login:
        server = Server(tmp_path / "open.duckdb", port=free_port())
        server.start()
    try:
        address = f"ws://127.0.0.1:{server.port}/_stcore/stream"
        for origin in ("http://127.0.0.1:1", "http://localhost:1", f"http://localhost:{server.port}", "null"):
            with pytest.raises(InvalidStatus), connect(address, origin=Origin(origin), proxy=None):
                pass
            sent = httpx.post(f"{server.url}/auth/login", headers={"Origin": origin}, content=b"{}", **PLAIN)
            assert sent.status_code == 403
        with connect(address, origin=Origin(server.url), proxy=None):
            pass
    finally:
        if not has_login:
            server.stop()


def test_forwarded_addresses_count_from_a_proxy_only(site: Site, tab: Callable[..., Tab]) -> None:
    guest = tab()
    with ExitStack() as opened:
        for number in range(2 * MOST_GUESTS):
            # A stranger at another address of this machine, which is no proxy, makes up where he comes from.
            reached = socket.create_connection(("127.0.0.1", site.server.port), source_address=("127.0.0.2", 0))
            opened.enter_context(
                connect(
                    f"ws://127.0.0.1:{site.server.port}/_stcore/stream",
                    sock=reached,
                    additional_headers={"X-Forwarded-For": f"198.51.100.{number % 250}"},
                    proxy=None,
                )
            )
        assert guest.is_open()


def test_nothing_that_a_stranger_is_told_names_a_folder_of_the_server(site: Site, tab: Callable[..., Tab]) -> None:
    places = [str(Path(dashboard.__file__).parent).encode(), str(site.secrets.parent).encode(), b"site-packages"]
    stranger = tab()
    for page in ("", "rate", "no-such-page", "../../etc/passwd"):
        stranger.open(page)
        for place in places:
            assert place not in stranger.received, page
    message = BackMsg(rerun_script=ClientState(page_script_hash="0" * 32, query_string="a=%ff&&="))
    message.rerun_script.widget_states.widgets.add(id="$$ID-0-log_in_0", json_value="{")
    stranger.ask(message)
    for place in places:
        assert place not in stranger.received
    for path in (
        "_stcore/bidi-components/none/none.js",
        "component/none/index.html",
        "app/static/none",
        "app/static/..%2fapp.py",
        "media/none.png",
        "static/none.js",
        "_stcore/host-config",
        "oauth2callback?error=x&error_description=y",
        "oauth2callback?code=1&state=2",
        "auth/login?provider=none",
        "auth/logout",
    ):
        for method in ("GET", "POST", "PUT"):
            answer = httpx.request(method, f"{site.url}/{path}", **PLAIN)
            for place in places:
                assert place not in answer.content + repr(answer.headers).encode(), (method, path)


def flood(site: Site) -> None:
    empty = BackMsg(rerun_script=ClientState()).SerializeToString()
    with connect(f"ws://127.0.0.1:{site.server.port}/_stcore/stream", proxy=None) as stranger:
        for _ in range(100_000):
            stranger.send(empty)


def test_a_flood_of_small_messages_is_ended_and_pages_stay_quick(site: Site) -> None:
    with pytest.raises(ConnectionClosed):
        flood(site)
    begun = time.monotonic()
    assert httpx.get(f"{site.url}/_stcore/health", **PLAIN).status_code == 200
    assert time.monotonic() - begun < LOGS_IN_WITHIN_SECONDS


def test_a_message_that_is_text_ends_the_connection(site: Site) -> None:
    with connect(f"ws://127.0.0.1:{site.server.port}/_stcore/stream", proxy=None) as stranger:
        stranger.send("hello")
        with pytest.raises(ConnectionClosed):
            list(stranger)
        assert stranger.close_code == 1008
