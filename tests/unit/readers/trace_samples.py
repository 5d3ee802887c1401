"""One file of each format of traces and frameworks: real ones, else made after the documentation."""

import json
from typing import Any

from tests.unit.readers.reading import DATA, lines

TRACES = DATA / "traces"


def real(name: str) -> bytes:
    return (TRACES / name).read_bytes()


def swarm() -> bytes:
    """One trace that was exported in two parts, the root with the second."""
    return lines(*(json.loads(real(f"otel_genai/swarm_events_req-00{part}.json")) for part in (1, 2)))


def attribute(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"key": key, "value": {"arrayValue": {"values": [{"stringValue": one} for one in value]}}}
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


def span(number: int, parent: int | None = None, name: str = "chat", trace: str = "t1", **more: Any) -> dict[str, Any]:
    """A span as OTLP writes it; its attributes are given with ``_`` in the place of dots in ``attributes``."""
    attributes = more.pop("attributes", {})
    return {
        "traceId": trace,
        "spanId": f"s{number}",
        "parentSpanId": "" if parent is None else f"s{parent}",
        "name": name,
        "startTimeUnixNano": str((1_700_000_000 + number) * 10**9),
        "endTimeUnixNano": str((1_700_000_001 + number) * 10**9),
        "attributes": [attribute(key, value) for key, value in attributes.items()],
        **more,
    }


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": list(spans)}]}]}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def chat_span(number: int, agent: str, inputs: list[Any], output: str, **more: Any) -> dict[str, Any]:
    fields = {
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": agent,
        "gen_ai.input.messages": json.dumps(inputs),
        "gen_ai.output.messages": json.dumps([said("assistant", output)]),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
    }
    return span(number, attributes=fields | more.pop("attributes", {}), **more)


def chosen(kind: str, text: str) -> dict[str, Any]:
    """A message as LangChain packs it."""
    return {"lc": 1, "type": "constructor", "id": ["x", kind], "kwargs": {"content": text}}


PROMPTS = {"prompt.0": ("system", "You play Mafia."), "prompt.1": ("user", "Who is it?")}
PARTS = PROMPTS | {"completion.0": ("assistant", "I suspect Bob.")}
CALL = {f"gen_ai.{part}.role": role for part, (role, _) in PARTS.items()}
CALL |= {f"gen_ai.{part}.content": text for part, (_, text) in PARTS.items()}
INDEXED = export(
    span(1, name="Ann.agent", attributes={"traceloop.span.kind": "agent", "traceloop.entity.name": "Ann"}),
    span(2, 1, attributes={"llm.request.type": "chat"} | CALL),
)
LANGSMITH = [
    {
        "id": "r0", "trace_id": "r0", "name": "LangGraph", "run_type": "chain",
        "dotted_order": "20260101T000000000000Zr0", "start_time": "2026-01-01T00:00:00",
        "extra": {"metadata": {"thread_id": "night-1"}}, "session_id": "the project",
        "inputs": {"messages": [{"type": "human", "content": "Who is it?"}]}, "outputs": {"messages": []},
    },
    {
        "id": "r1", "trace_id": "r0", "parent_run_id": "r0", "name": "ChatOpenAI", "run_type": "llm",
        "dotted_order": "20260101T000000000000Zr0.20260101T000001000000Zr1", "start_time": "2026-01-01T00:00:01",
        "extra": {"metadata": {"langgraph_node": "ann", "ls_model_name": "m", "api_key": "sk-secret"}},
        "inputs": {"messages": [[chosen("SystemMessage", "You are Ann."), chosen("HumanMessage", "Who is it?")]]},
        "outputs": {"generations": [[{"message": chosen("AIMessage", "Bob.")}]]},
        "prompt_tokens": 9, "completion_tokens": 2, "total_cost": 0.01,
    },
]  # fmt: skip


def thread(source: str, text: Any, kind: str = "TextMessage", **more: Any) -> dict[str, Any]:
    return {"source": source, "type": kind, "content": text} | more


MANAGER = {
    "type": "RoundRobinManagerState",
    "message_thread": [
        thread("user", "Who is it?", created_at="2026-01-01T00:00:00Z"),
        thread("Ann", "Bob was silent.", "ThoughtEvent"),
        thread("Ann", "Bob.", models_usage={"prompt_tokens": 4, "completion_tokens": 1}),
        thread("Ann", ["Ben"], "SelectSpeakerEvent"),
        thread("Ann", "Your turn, Ben.", "HandoffMessage", target="Ben"),
        thread("Ben", "Bob."),
    ],
}
COPY = {"agent_state": {"llm_context": {"messages": [{"type": "UserMessage", "content": "copy"}]}}}
STATES = {"RoundRobinGroupChatManager/x": MANAGER, "Ann/x": COPY}
TEAM_STATE = {"type": "TeamState", "version": "1.0.0", "agent_states": STATES}
TASK = {"timestamp": "2026-01-01 10:00:00", "task_name": "hunt", "task": "Find the wolf.", "agent": "Seer"}
CREWAI_JSON = [TASK | {"status": "started"}, TASK | {"status": "completed", "output": "It is Bob."}]


def step(number: int, name: str, kind: str, summary: str, **more: Any) -> dict[str, Any]:
    about = {"step": number, "timestamp": "", "entity_name": name, "entry_type": kind, "summary": summary}
    return about | more


CONCORDIA = {
    "content_store": {"h1": 'Ann -- "Shall we?"'},
    "entries": [
        step(1, "game master", "game_master", "It is night."),
        step(1, "Ann", "entity", "", timestamp="2026-01-01T00:00:00", deduplicated_data={"action": {"_ref": "h1"}}),
        step(2, "Ben", "entity", "Let us go."),
    ],
    "entity_memories": {},
}


SAMPLES: dict[str, tuple[str, bytes]] = {
    "otlp, newer": ("opentelemetry", real("otel_genai/tool_use_messages.json")),
    "otlp, newer in attributes": ("opentelemetry", real("otel_genai/chat_attributes.json")),
    "otlp, older": ("opentelemetry", swarm()),
    "otlp, indexed": ("opentelemetry", lines(INDEXED)),
    "otlp, logs": ("opentelemetry", real("otel_genai/log_events_cloudwatch.json")),
    "otlp, openinference": ("opentelemetry", real("openinference/smolagents_manager_and_search_agent.json")),
    "otlp, crewai": ("opentelemetry", real("crewai/two_agents_otlp.jsonl")),
    "phoenix": ("phoenix", real("openinference/client_span_tool_calls.json")),
    "langfuse": ("langfuse", real("langfuse/pydantic-ai-tools-2025-12-04.json")),
    "langsmith": ("langsmith", lines(*LANGSMITH)),
    "langgraph": ("langgraph", real("langgraph/state_messages.json")),
    "autogen": ("autogen", real("autogen/handoff_history.json")),
    "autogen, team": ("autogen", lines(TEAM_STATE)),
    "crewai": ("crewai", lines(CREWAI_JSON)),
    "concordia": ("concordia", real("concordia/pub_coordination_mini.html")),
    "concordia, json": ("concordia", lines(CONCORDIA)),
}
