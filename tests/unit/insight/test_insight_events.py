"""Events of a simulation, and what a simulation counted as it is stored with its game."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.errors import InputError
from evaluation.insight.addressing import transcript_metrics
from evaluation.insight.collector import COUNTS_KEY, LLMCallEvent
from evaluation.insight.evaluation_report import plain_report
from evaluation.report import document
from evaluation.transcript import Message, Player, Transcript


def game(**changes: Any) -> Transcript:
    messages = tuple(Message(id=f"m{at}", index=at, speaker=who, text="Tea.") for at, who in enumerate(("Ann", "Ben")))
    fields = {"game_id": "g", "source_format": "native", "players": (Player(name="Ann"), Player(name="Ben"))}
    return Transcript.model_validate({**fields, "messages": messages, **changes})


def test_counts_in_the_metadata_are_shown_and_events_go_before_them() -> None:
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
    # The calls are counted already.
    assert transcript_metrics(stored, [LLMCallEvent(3)]).api_calls == 7


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
