"""Events from a file, and what a simulation counted as it is stored with its game."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.insight.evaluation_report import plain_report
from evaluation.insight.figures.addressing import transcript_metrics
from evaluation.insight.figures.collector import MetricsCollector
from evaluation.insight.figures.counts import COUNTS_KEY
from evaluation.insight.figures.event_file import read_events
from evaluation.insight.figures.events import LLMCallEvent, MemoryEvent, RetrievalEvent
from evaluation.report import document
from evaluation.transcript import Cost, Message, Player, Transcript

LINES = b"""\xef\xbb\xbf{"event": "memory", "agent_id": "Ann", "memory_type": "observation", "importance": 4}
{"event": "memory", "agent_id": "Ann", "memory_type": "reflection", "importance": 8}

{"event": "retrieval", "agent_id": "Ben", "results_count": 0}\r
{"event": "retrieval", "agent_id": "Ben", "results_count": 2}
{"event": "llm_call", "agent_id": "Ben", "tokens": 120, "estimated_cost": 0.001}
{"event": "llm_call", "tokens": 80}
"""


def game(**changes: Any) -> Transcript:
    messages = tuple(Message(id=f"m{at}", index=at, speaker=who, text="Tea.") for at, who in enumerate(("Ann", "Ben")))
    fields = {"game_id": "g", "source_format": "native", "players": (Player(name="Ann"), Player(name="Ben"))}
    return Transcript.model_validate({**fields, "messages": messages, **changes})


def test_each_kind_of_event_is_read_and_counted() -> None:
    events = read_events(LINES, "events.jsonl")
    assert events == [
        MemoryEvent("Ann", "observation", 4.0),
        MemoryEvent("Ann", "reflection", 8.0),
        RetrievalEvent("Ben", 0),
        RetrievalEvent("Ben", 2),
        LLMCallEvent(120, 0.001, "Ben"),
        LLMCallEvent(80),
    ]
    # The file goes before what is stored with the game.
    found = transcript_metrics(game(cost=Cost(total_usd=9.0)), [LLMCallEvent(1)], events)
    assert (found.observations_per_agent, found.reflections_per_agent) == ({"Ann": 1}, {"Ann": 1})
    assert (found.avg_memory_importance, found.retrieval_calls, found.retrieval_hit_rate) == (6.0, 2, 0.5)
    assert (found.retrievals_per_agent, found.calls_per_agent) == ({"Ben": 2}, {"Ben": 1})
    assert (found.api_calls, found.total_tokens, found.tokens_per_agent) == (2, 200, {"Ben": 120})
    assert (found.estimated_cost_usd, found.unpriced_calls) == (0.001, 1)
    collector = MetricsCollector()
    for event in events:
        collector.add(event)
        asyncio.run(collector.on_llm_call(event)) if isinstance(event, LLMCallEvent) else None
    assert collector.get_metrics().api_calls == 4


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "x.jsonl:2: line: This is not JSON"),
        (b"\xff", "x.jsonl:2: line: This is not JSON"),
        (b"[" * 100_000, "x.jsonl:2: line: This is not JSON"),
        (b"5", "x.jsonl:2: event: None is not a kind of event"),
        (
            b'{"event": "memroy"}',
            "x.jsonl:2: event: 'memroy' is not a kind of event. Write one of memory, retrieval and",
        ),
        (b'{"event": "retrieval", "agent_id": "A"}', "x.jsonl:2: results_count: It is missing."),
        (b'{"event": "retrieval", "agent_id": "A", "results_count": -1}', "x.jsonl:2: results_count: It should be"),
        (b'{"event": "retrieval", "agent_id": "A", "results_count": true}', "x.jsonl:2: results_count: It should be"),
        (b'{"event": "llm_call", "tokens": 3, "model": "m"}', "x.jsonl:2: model: This field is not known."),
        (b'{"event": "llm_call", "tokens": 3, "estimated_cost": NaN}', "x.jsonl:2: line: This is not JSON: NaN"),
        (b'{"event": "memory", "agent_id": "A", "memory_type": "dream"}', "x.jsonl:2: memory_type: It should be"),
        (b'{"event": "memory", "agent_id": "", "memory_type": "observation"}', "x.jsonl:2: agent_id: "),
    ],
)
def test_faults_name_their_line(line: bytes, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_events(b'{"event": "llm_call", "tokens": 3}\n' + line + b"\n", "x.jsonl")
    assert said in str(caught.value)


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read_events(b"{}\n" * 50, "x.jsonl")
    assert str(caught.value).count("x.jsonl:") == 20


def test_counts_in_the_metadata_are_shown_and_the_file_goes_before_them() -> None:
    counts = {
        "observations_per_agent": {"Ann": 5},
        "retrieval_calls": 4,
        "retrievals_per_agent": {"Ann": 4},
        "api_calls": 7,
        "calls_per_agent": {"Ann": 7},
        "tokens_per_agent": {"Ann": 1234},
    }
    stored = Transcript.from_json(game(metadata={COUNTS_KEY: counts}).to_json())
    found = plain_report(stored).metrics
    assert (found.observations_per_agent, found.retrieval_calls, found.api_calls) == ({"Ann": 5}, 4, 7)
    assert found.total_reflections is None
    (table,) = next(one for one in document(plain_report(stored)) if one.heading == "Memory and calls by agent").blocks
    assert table.headers == ("Agent", "Observations", "Reflections", "Searches", "Calls", "Tokens")
    assert table.rows[0][1:] == ("5", "not known", "4", "7", "1,234")
    mixed = transcript_metrics(stored, events=[LLMCallEvent(3)])
    assert (mixed.observations_per_agent, mixed.api_calls, mixed.tokens_per_agent) == ({"Ann": 5}, 1, {})


@pytest.mark.parametrize(
    ("counts", "place"),
    [
        ({"api_calls": -1}, "api_calls"),
        ({"calls": 1}, "calls"),
        ("many", "the object"),
        ({"tokens_per_agent": {"Ann": "x"}}, "tokens_per_agent.Ann"),
    ],
)
def test_counts_that_are_wrong_are_refused_with_their_place(counts: Any, place: str) -> None:
    with pytest.raises(InputError, match=rf"metadata\.{COUNTS_KEY}: .*{place}"):
        transcript_metrics(game(metadata=json.loads(json.dumps({COUNTS_KEY: counts}))))
