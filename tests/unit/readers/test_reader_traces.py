"""Traces of OpenTelemetry, OpenInference, Langfuse and LangSmith: who said what, once, and nothing else."""

import json
from collections import Counter
from typing import Any

import pytest

from evaluation.readers.document import Document, Limits, records
from evaluation.readers.traces.opentelemetry import otlp_calls
from evaluation.transcript import Transcript
from tests.unit.readers.reading import lines, read, refusal, results, told
from tests.unit.readers.trace_samples import LANGSMITH, SAMPLES, chat_span, export, said, span, swarm


def kinds(transcript: Transcript) -> list[tuple[str, str | None, str]]:
    return [(message.channel, message.channel_name, message.speaker) for message in transcript.messages]


def test_a_swarm_in_two_exports_of_15_spans_gives_6_entries() -> None:
    assert len(otlp_calls(records(Document(swarm(), Limits())))) == 3
    transcript = read(swarm())
    assert kinds(transcript) == [
        ("public", None, "user"),
        ("system", "get_weather", "researcher"),
        ("system", "get_weather", "get_weather"),
        ("private", "hand-off", "researcher"),
        ("system", "context", "user"),
        ("public", None, "writer"),
    ]
    assert transcript.messages[3].recipients == ("writer",)
    # The framework gives the hand-off to the writer in a prompt of its own.
    assert transcript.messages[4].reply_to == transcript.messages[3].id
    assert transcript.player("writer").persona == "You write the final packing list from the researcher's findings."
    assert transcript.player("researcher").model == "global.anthropic.claude-sonnet-5-5"
    assert transcript.game_id == "strands-js-multi_agent"
    assert "history_rewritten" not in transcript.metadata
    # Three calls; the spans of the agents carry sums of them, which are not counted again.
    assert (transcript.cost.input_tokens, transcript.cost.output_tokens) == (785 + 922 + 766, 73 + 197 + 385)


def test_indexed_attributes_and_the_name_of_the_agent_around_the_call() -> None:
    transcript = read(SAMPLES["otlp, indexed"][1])
    assert told(transcript) == [("public", "user", "Who is it?"), ("public", "Ann", "I suspect Bob.")]
    assert transcript.player("Ann").persona == "You play Mafia."


@pytest.mark.parametrize("wrap", [lambda runs: lines(*runs), lambda runs: lines({"runs": runs, "cursors": {}})])
def test_langsmith(wrap: Any) -> None:
    transcript = read(wrap(LANGSMITH))
    assert told(transcript) == [("public", "user", "Who is it?"), ("public", "ann", "Bob.")]
    assert transcript.game_id == "night-1"
    assert transcript.player("ann").persona == "You are Ann."
    assert (transcript.cost.total_usd, transcript.cost.input_tokens) == (0.01, 9)
    assert "sk-secret" not in transcript.to_json()


def test_langsmith_runs_that_stand_in_each_other() -> None:
    child = {key: value for key, value in LANGSMITH[1].items() if key not in ("trace_id", "parent_run_id")}
    assert told(read(LANGSMITH[0] | {"child_runs": [child]}))[1] == ("public", "ann", "Bob.")


def test_langfuse_rows_of_the_batch_export() -> None:
    row = {"trace_id": "t", "parent_observation_id": None, "start_time": "2026-01-01 00:00:00", "session_id": "s1"}
    asked = json.dumps(json.dumps([{"role": "user", "content": "Who is it?"}]))
    call = {"id": "b", "type": "GENERATION", "name": "llm", "parent_observation_id": "a", "input": asked}
    call |= {"output": "Bob.", "usage_details": json.dumps({"input": 3, "output": 1})}
    transcript = read(lines(row | {"id": "a", "type": "AGENT", "name": "Ann"}, row | call))
    assert told(transcript) == [("public", "user", "Who is it?"), ("public", "Ann", "Bob.")]
    assert transcript.game_id == "s1"


def test_a_langfuse_trace_without_the_observations_content_is_read_from_its_own() -> None:
    assert told(read(langfuse_trace("t", observation(1, "GENERATION"), **ASKED))) == ANSWERED


def observation(number: int, kind: str, parent: int | None = None, trace: str = "t", **more: Any) -> dict[str, Any]:
    start = f"2026-01-01T00:00:{number:02}Z"
    above = None if parent is None else f"{trace}{parent}"
    where = {"id": f"{trace}{number}", "traceId": trace, "parentObservationId": above}
    return where | {"type": kind, "name": "step", "startTime": start} | more


def langfuse_trace(trace: str, *observations: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"id": trace, "timestamp": "2026-01-01T00:00:00Z"} | more
    return {"trace": about, "observations": list(observations)}


ASKED = {"input": "Who is it?", "output": "Bob."}
ANSWERED = [("public", "user", "Who is it?"), ("public", "assistant", "Bob.")]


@pytest.mark.parametrize(
    ("root", "trace"),
    [
        (ASKED, ASKED),
        (ASKED, {"input": "Who is it?"}),
        ({"input": "Who is it?"}, ASKED),
        ({"output": "Bob."}, ASKED),
        ({}, ASKED),
        (ASKED, {}),
    ],
)
def test_a_langfuse_trace_and_its_root_that_hold_the_same_say_it_once(root: Any, trace: Any) -> None:
    assert told(read(langfuse_trace("t", observation(1, "SPAN", **root), **trace))) == ANSWERED


def test_the_traces_of_a_langfuse_session_are_each_read_from_what_they_hold() -> None:
    exports = [
        langfuse_trace("b", observation(2, "SPAN", trace="b"), **ASKED, sessionId="s"),
        langfuse_trace("a", observation(3, "SPAN", trace="a", input="And?", output="Ann."), sessionId="s"),
        langfuse_trace("c", observation(4, "GENERATION", trace="c", input="So?", output="Cid."), sessionId="s"),
    ]
    transcript = read(lines(*exports, exports[0]))
    assert [text for _, _, text in told(transcript)] == ["Who is it?", "Bob.", "And?", "Ann.", "So?", "Cid."]


def votes(*agents: str, text: str = "Pass") -> dict[str, Any]:
    return export(*(chat_span(number, agent, [said("user", "Vote!")], text) for number, agent in enumerate(agents)))


def test_genuine_repeats_stay_and_a_prompt_to_all_is_said_once() -> None:
    transcript = read(votes("Ann", "Ben", "Cid"))
    passes = [("public", name, "Pass") for name in ("Ann", "Ben", "Cid")]
    assert told(transcript) == [("public", "user", "Vote!"), *passes]
    assert transcript.messages[0].recipients == ("Ben", "Cid")
    assert transcript.cost.input_tokens == 30


def test_an_agent_that_answers_the_same_twice_said_it_twice() -> None:
    first = [said("user", "Go on")]
    second = [*first, said("assistant", "Pass"), said("user", "Go on")]
    transcript = read(export(chat_span(1, "Ann", first, "Pass"), chat_span(2, "Ann", second, "Pass")))
    assert [text for _, _, text in told(transcript)] == ["Go on", "Pass", "Go on", "Pass"]
    assert "history_rewritten" not in transcript.metadata


def test_a_history_that_was_cut_is_counted_and_brings_nothing_twice() -> None:
    first = [said("user", "One"), said("assistant", "A"), said("user", "Go on")]
    cut = [said("assistant", "B"), said("user", "Go on")]
    transcript = read(export(chat_span(1, "Ann", first, "B"), chat_span(2, "Ann", cut, "C")))
    assert [text for _, _, text in told(transcript)] == ["One", "A", "Go on", "B", "Go on", "C"]
    assert transcript.metadata["history_rewritten"] == 1


def test_an_answer_that_comes_back_as_the_others_input_is_not_said_again() -> None:
    heard = [said("user", "Ann: I suspect Bob, the baker.")]
    first = chat_span(1, "Ann", [said("user", "Who?")], "I suspect Bob, the baker.")
    transcript = read(export(first, chat_span(2, "Ben", heard, "So do I.")))
    assert [text for _, _, text in told(transcript)] == ["Who?", "I suspect Bob, the baker.", "So do I."]
    assert transcript.messages[1].recipients == ("Ben",)


def test_spans_that_were_exported_again_and_files_in_order_of_the_end() -> None:
    early, late = chat_span(1, "Ann", [said("user", "Who?")], "Bob."), chat_span(2, "Ben", [], "No.")
    unfinished = chat_span(1, "Ann", [], "") | {"endTimeUnixNano": "0"}
    transcript = read(export(late, early, unfinished, early))
    assert [text for _, _, text in told(transcript)] == ["Who?", "Bob.", "No."]


def test_a_call_that_the_framework_and_the_client_below_it_recorded_is_one() -> None:
    asked = [said("user", "Who?")]
    spans = [chat_span(1, "Ann", asked, "Bob."), chat_span(2, "Ann", asked, "Bob.", parent=1)]
    transcript = read(export(*spans))
    assert [text for _, _, text in told(transcript)] == ["Who?", "Bob."]
    assert transcript.cost.input_tokens == 10


def generations(*found: tuple[int, int | None, str, dict[str, Any]]) -> dict[str, Any]:
    said = [(number, parent, {"input": "Who?", "output": text} | more) for number, parent, text, more in found]
    return langfuse_trace("t", *(observation(number, "GENERATION", parent, **more) for number, parent, more in said))


def runs(*found: tuple[int, int | None, str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{number}",
            "trace_id": "r",
            "parent_run_id": None if parent is None else f"r{parent}",
            "name": "model",
            "run_type": "llm",
            "start_time": f"2026-01-01T00:00:{number:02}",
            "inputs": {"messages": [{"role": "user", "content": "Who?"}]},
            "outputs": {"messages": [{"role": "assistant", "content": text}]},
            **more,
        }
        for number, parent, text, more in found
    ]


LANGFUSE_USAGE = {"usageDetails": {"input": 100, "output": 5}, "totalCost": 0.01}
LANGSMITH_USAGE = {"prompt_tokens": 100, "completion_tokens": 5, "total_cost": 0.01}
RECORDED_BY = pytest.mark.parametrize(
    ("recorded", "usage"), [(generations, LANGFUSE_USAGE), (runs, LANGSMITH_USAGE)], ids=["langfuse", "langsmith"]
)


@RECORDED_BY
@pytest.mark.parametrize(
    "nesting",
    [
        [(1, None), (2, 1)],
        [(1, None), (2, 1), (3, 2)],
        # The clock of the client is behind that of the framework.
        [(2, None), (1, 2)],
    ],
)
def test_a_call_that_was_recorded_inside_itself_is_told_and_paid_once(recorded: Any, usage: Any, nesting: Any) -> None:
    transcript = read(recorded(*((number, parent, "Bob.", usage) for number, parent in nesting)))
    assert [text for _, _, text in told(transcript)] == ["Who?", "Bob."]
    assert (transcript.cost.input_tokens, transcript.cost.output_tokens, transcript.cost.total_usd) == (100, 5, 0.01)


@RECORDED_BY
def test_tokens_that_only_the_inner_record_of_a_call_has_are_kept(recorded: Any, usage: Any) -> None:
    transcript = read(recorded((1, None, "Bob.", {}), (2, 1, "Bob.", usage)))
    assert [text for _, _, text in told(transcript)] == ["Who?", "Bob."]
    assert (transcript.cost.input_tokens, transcript.cost.total_usd) == (100, 0.01)


@RECORDED_BY
@pytest.mark.parametrize("second", [(2, None, "Bob."), (2, 1, "Ann."), (2, 9, "Bob.")])
def test_calls_beside_each_other_and_other_answers_inside_stay(recorded: Any, usage: Any, second: Any) -> None:
    transcript = read(recorded((1, None, "Bob.", usage), (*second, usage)))
    assert [text for _, _, text in told(transcript)] == ["Who?", "Bob.", second[2]]
    assert transcript.cost.input_tokens == 200


@RECORDED_BY
def test_calls_that_are_each_others_parents_and_answer_the_same_are_one(recorded: Any, usage: Any) -> None:
    transcript = read(recorded((1, 2, "Bob.", usage), (2, 1, "Bob.", usage)))
    assert [text for _, _, text in told(transcript)] == ["Who?", "Bob."]


def test_equal_ids_in_two_traces_are_two_calls() -> None:
    first = generations((1, None, "Bob.", LANGFUSE_USAGE))
    second = json.loads(json.dumps(generations((1, None, "Ann.", {}), (2, 1, "Bob.", LANGFUSE_USAGE))))
    for one in second["observations"]:
        one["traceId"] = "u"
    second["trace"]["id"] = "u"
    for export_ in (first, second):
        export_["trace"]["sessionId"] = "s"
    assert Counter(text for _, _, text in told(read(lines(first, second)))) == {"Who?": 1, "Bob.": 2, "Ann.": 1}


def paid(transcript: Transcript) -> tuple[float | None, ...]:
    cost = transcript.cost
    return cost.input_tokens, cost.cached_tokens, cost.output_tokens, cost.cache_hit_rate


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input": 100, "input_cached_tokens": 80, "output": 10, "total": 190}, (180, 80, 10, 80 / 180)),
        ({"input": 100, "input_cached_tokens": 80, "output": 10, "total": 110}, (100, 80, 10, 0.8)),
        ({"input": 100, "input_cached_tokens": 80, "output": 10}, (100, 80, 10, 0.8)),
        ({"input": 100, "prompt_details.cache_read": 80, "output": 10, "total": 110}, (100, 80, 10, 0.8)),
        ({"input": 100, "prompt_details": {"cache_read": 80}, "output": 10}, (100, 80, 10, 0.8)),
        # A total of another rule says nothing, but more cached tokens than input are never part of it.
        ({"input": 100, "input_cached_tokens": 80, "output": 10, "total": 7}, (100, 80, 10, 0.8)),
        ({"input": 20, "input_cached_tokens": 80, "output": 10, "total": 30}, (100, 80, 10, 0.8)),
        # Anthropic: what was written to the cache is input as well.
        (
            {"input": 20, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 30, "output": 10, "total": 110},
            (100, 50, 10, 0.5),
        ),
        ({"input": 70, "cache_creation_input_tokens": 30, "output": 10, "total": 110}, (100, None, 10, None)),
        # Langfuse's own recorder for LangChain takes all parts out of input and output.
        ({"input": 20, "input_cache_read": 80, "output": 10, "output_reasoning": 6, "total": 116}, (100, 80, 16, 0.8)),
        ({"input": 100, "input_cache_read": 0, "output": 16, "output_reasoning": 6, "total": 116}, (100, 0, 16, 0)),
        ({"input": 100, "input_cached_tokens": "many", "output": 10, "total": [1]}, (100, None, 10, None)),
    ],
)
def test_cached_tokens_stand_in_or_beside_the_input_as_the_total_says(usage: Any, expected: Any) -> None:
    assert paid(read(generations((1, None, "Bob.", {"usageDetails": usage})))) == expected


LANGCHAIN_USAGE = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
LANGCHAIN_USAGE |= {"input_token_details": {"audio": 0, "cache_read": 80}}


@pytest.mark.parametrize(
    "outputs",
    [
        {"generations": [[{"message": {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": "said"}}]]},
        {"messages": [{"type": "human", "content": "Who?", "usage_metadata": None}, "said"]},
        {"message": "said"},
    ],
)
def test_cached_tokens_of_langchain_messages_in_langsmith(outputs: Any) -> None:
    message = {"type": "ai", "content": "Bob.", "usage_metadata": LANGCHAIN_USAGE}
    filled = json.loads(json.dumps(outputs).replace('"said"', json.dumps(message)))
    assert paid(read(runs((1, None, "", {"outputs": filled})))) == (100, 80, 10, 0.8)
    counted = {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220}
    assert paid(read(runs((1, None, "", {"outputs": filled} | counted)))) == (200, 80, 20, 0.4)


def test_cached_tokens_in_a_state_of_langgraph() -> None:
    answer = {"type": "ai", "content": "Bob.", "usage_metadata": LANGCHAIN_USAGE}
    assert paid(read({"messages": [{"type": "human", "content": "Who?"}, answer]})) == (100, 80, 10, 0.8)


def test_cached_tokens_beside_the_input_in_spans() -> None:
    for cached, total, expected in ((30, 45, (40, 30, 5, 0.75)), (8, 15, (10, 8, 5, 0.8)), (8, 23, (18, 8, 5, 8 / 18))):
        counts = {"gen_ai.usage.cache_read.input_tokens": cached, "gen_ai.usage.total_tokens": total}
        assert paid(read(export(chat_span(1, "Ann", [], "Hm.", attributes=counts)))) == expected


def test_conversations_are_games_of_their_own() -> None:
    spans = [
        chat_span(number, "Ann", [said("user", f"Game {number}")], "Hm.", trace=f"t{number}", attributes=where)
        for number, where in enumerate([{}, {"gen_ai.conversation.id": "c"}, {"gen_ai.conversation.id": "c"}])
    ]
    games = [one.transcript for one in results(export(*spans)) if one.transcript]
    assert [(game.game_id, len(game.messages)) for game in games] == [("t0", 2), ("c", 4)]


def test_keys_in_attributes_are_never_stored() -> None:
    secret = "sk-do-not-store-me"
    hidden = {
        "input.value": f"LLM(api_key='{secret}')",
        "llm.invocation_parameters": json.dumps({"api_key": secret}),
        "http.request.header.authorization": secret,
        "metadata": secret,
    }
    answer = {"openinference.span.kind": "AGENT", "output.value": '{"raw": "Bob."}'}
    spans = [chat_span(1, "Ann", [said("user", "Who?")], "Bob.", attributes=hidden)]
    spans.append(span(2, trace="t2", attributes=answer | hidden))
    for one in results(export(*spans)):
        assert secret not in one.transcript.to_json()


@pytest.mark.parametrize("time", ["soon", "-5", 10**21, 1.5, True, [1]])
def test_a_time_that_is_none_is_refused_with_its_place(time: Any) -> None:
    broken = export(chat_span(1, "Ann", [], "Hi") | {"startTimeUnixNano": time})
    assert "resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano" in refusal(broken)
    assert "expected a time in nanoseconds" in refusal(broken)


def test_parents_in_a_circle_and_parents_that_are_missing() -> None:
    spans = [chat_span(1, "Ann", [], "One", parent=2), chat_span(2, "Ben", [], "Two", parent=1)]
    assert [text for _, _, text in told(read(export(*spans)))] == ["One", "Two"]
    assert len(read(export(chat_span(1, "Ann", [], "One", parent=99))).messages) == 1


def test_calls_below_spans_that_are_not_in_the_file_are_counted() -> None:
    asked = [said("user", "Who?")]
    complete = [chat_span(1, "Ann", asked, "Bob."), chat_span(2, "Ann", [], "No.", parent=1)]
    assert "calls_without_parent" not in read(export(*complete)).metadata
    orphans = [chat_span(3, "Ben", [], "Cid.", parent=99), chat_span(4, "Ben", [], "Dan.", parent=3)]
    transcript = read(export(*complete, *orphans))
    assert transcript.metadata["calls_without_parent"] == 2
    assert len(transcript.messages) == 5
    for recorded in (generations, runs):
        assert read(recorded((1, 99, "Bob.", {}), (2, None, "No.", {}))).metadata["calls_without_parent"] == 1


def test_an_orphan_that_alone_holds_text_is_read_as_a_root() -> None:
    orphan = observation(2, "SPAN", 99, **ASKED)
    found = read(langfuse_trace("t", observation(1, "SPAN"), orphan))
    assert told(found) == ANSWERED
    assert found.metadata["calls_without_parent"] == 1
    assert told(read(langfuse_trace("t", observation(1, "SPAN", **ASKED), orphan))) == ANSWERED
    chain = {"run_type": "chain", "name": "LangGraph"}
    assert [text for _, _, text in told(read(runs((2, 99, "Bob.", chain))))] == ["Who?", "Bob."]
    both = runs((1, None, "Bob.", chain), (2, 99, "Bob.", chain))
    assert [text for _, _, text in told(read(both))] == ["Who?", "Bob."]


def test_two_thousand_spans_in_a_chain_of_parents() -> None:
    spans = [chat_span(number, "Ann", [], f"Text {number}", parent=number - 1, trace="t") for number in range(1, 2001)]
    for one in spans:
        one["attributes"] = [entry for entry in one["attributes"] if entry["key"] != "gen_ai.operation.name"]
    assert read(export(*spans)).messages


def test_messages_that_hold_json_text_deeper_than_a_file_may_be() -> None:
    deep = "[" * 5000 + "]" * 5000
    transcript = read(export(chat_span(1, "Ann", [said("user", deep)], '{"vote": "Bob"}')))
    assert [text for _, _, text in told(transcript)] == [deep, '{"vote": "Bob"}']
