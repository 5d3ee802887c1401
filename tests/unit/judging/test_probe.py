"""The question whether a judge's server is there at all."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from evaluation.errors import JudgeError
from evaluation.judging.judge_config import JudgeConfig, probe
from tests.judge_server import JudgeServer


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
    with pytest.raises(JudgeError, match="There is no key for anthropic/claude"):
        probe(config(None, "anthropic/claude"), environment={})
    probe(config(None, "elsewhere/model"), environment={})
