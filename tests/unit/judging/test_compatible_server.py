"""A server of one's own: what goes through as it is, redirections, proxies, and whether it is there."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import JudgeError
from evaluation.judging.judge_config import JudgeConfig, probe
from evaluation.judging.model_client.calls import CallFailure, FailureKind, LLMResponse, Usage
from evaluation.judging.model_client.prices import listed_price
from evaluation.judging.model_client.provider import provider_of
from tests.judge_server import JudgeServer

ASKED = [{"role": "user", "content": "Is it true? ü \ud800"}]
GOOD = {
    "model": "served",
    "choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "length"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}},
}

Received = list[tuple[str, dict[str, str], Any]]


@contextmanager
def served(
    body: bytes, status: int = 200, headers: Callable[[str], dict[str, str]] = lambda _: {}
) -> Iterator[tuple[str, Received]]:
    """A real server with one answer, and what it received: path, headers, body."""
    received: Received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, dict(self.headers), json.loads(asked)))
            self.send_response(status)
            for name, value in headers(url).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            """Writes nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield url, received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(url: str, model: str = "served") -> LLMResponse:
    provider = provider_of(model, url)
    return asyncio.run(provider.complete(ASKED, temperature=0.5, max_tokens=9, timeout_seconds=20.0))


def failure(url: str) -> CallFailure:
    with pytest.raises(CallFailure) as caught:
        answer(url)
    return caught.value


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/chat/completions"])
def test_a_question_and_its_answer_go_through_as_they_are(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test-123")
    with served(json.dumps(GOOD).encode()) as (url, received):
        found = answer(url + path, "openai/local")
    assert found == LLMResponse(
        "yes", "served", Usage(7, 3, 2), is_cut_off=True, raw="yes", parameters={"temperature": 0.5, "max_tokens": 9}
    )
    (asked_path, headers, asked) = received[0]
    assert asked_path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer sk-of-a-test-123"
    assert asked == {"model": "local", "messages": ASKED, "temperature": 0.5, "max_tokens": 9}


def test_a_redirection_is_refused_and_takes_the_key_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test-123")
    with (
        served(json.dumps(GOOD).encode()) as (elsewhere, received),
        served(b"moved", 307, lambda _: {"Location": f"{elsewhere}/v1/chat/completions"}) as (url, asked),
    ):
        found = failure(url)
    assert (found.kind, found.status) == (FailureKind.BROKEN_RESPONSE, 307)
    assert (len(asked), received) == (1, [])


def test_credentials_of_a_netrc_do_not_come_between(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("default login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with served(json.dumps(GOOD).encode()) as (url, received):
        assert answer(url).content == "yes"
    assert received[0][1]["Authorization"].startswith("Bearer ")


def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(json.dumps(GOOD).encode()) as (proxy, received):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert answer("http://models.invalid/v1").content == "yes"
    assert received[0][0] == "http://models.invalid/v1/chat/completions"


def test_an_answer_without_end_is_given_up() -> None:
    with served(b"x" * 20_000_001) as (url, _):
        found = failure(url)
    assert found.message == "the answer is longer than 20,000,000 bytes"


@pytest.mark.parametrize("url", ["http://", "ftp://127.0.0.1/", "nonsense", "http://127.0.0.1:1/v1"])
def test_an_address_that_is_none_is_a_failed_connection(url: str) -> None:
    assert failure(url).kind is FailureKind.CONNECTION


def test_prices_are_those_that_litellm_knows() -> None:
    price = listed_price("openai/gpt-4o-mini")
    assert price == listed_price("gpt-4o-mini")
    assert price is not None
    assert 0 < price.cached < price.input < price.output < 1e-5
    assert listed_price("no such model") is None
    assert listed_price("anthropic/claude-haiku-4-5") == listed_price("claude-haiku-4-5") is not None
    assert listed_price("anthropic/gpt-4o-mini") is None


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket() as open_socket:
        open_socket.bind(("127.0.0.1", 0))
        yield open_socket


def config(address: str | None, model: str = "m") -> JudgeConfig:
    return JudgeConfig(mode="live", base_url=address, model=model)


def address_of(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def test_a_server_that_answers_is_there() -> None:
    with JudgeServer().in_thread() as server:
        probe(config(server.url))
        probe(config(server.url.replace("/v1", "/elsewhere")))
    assert server.tally.asked.total() == 0


def test_a_server_that_takes_the_call_and_says_nothing_is_not(listener: socket.socket) -> None:
    listener.listen()
    with pytest.raises(JudgeError, match=r"The judge cannot be reached: no answer within 0\.2 s"):
        probe(config(address_of(listener)), seconds=0.2)


def test_a_name_that_does_not_exist_is_not() -> None:
    with pytest.raises(JudgeError, match="cannot be reached"):
        probe(config("http://judge.invalid/v1"), seconds=3.0)


def test_without_an_address_a_key_is_needed_where_the_provider_is_known() -> None:
    with pytest.raises(JudgeError, match="There is no key for gpt-4o-mini"):
        probe(config(None, "gpt-4o-mini"), environment={})
    probe(config(None, "elsewhere/model"), environment={})
