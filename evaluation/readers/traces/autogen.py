"""Reads AutoGen: messages of AgentChat and of its core, results of runs, saved team states, and what it prints.

On the console each message stands between rules, below "Ann (to chat_manager):"; names inside a message are its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from evaluation.files.strict_json import shorten
from evaluation.readers._draft import OpenDraft
from evaluation.readers._turns import ChatTurn, ToolCall, as_text, parts_turn, text_in
from evaluation.readers._who_speaks import BROKEN_OFF
from evaluation.readers.document import Document, FileReader, Node, first_record, records
from evaluation.readers.traces._conversation import call_transcript
from evaluation.readers.traces.calls import Span, agent_name, usage_of
from evaluation.transcript import Transcript

FORMAT = "autogen"

_TYPE = re.compile(r"\w+(?:Message|Event)")
_CORE = frozenset({"UserMessage", "AssistantMessage", "SystemMessage", "FunctionExecutionResultMessage"})
_NOT_SAID = frozenset(
    {"ModelClientStreamingChunkEvent", "UserInputRequestedEvent", "SelectSpeakerEvent", "SelectorEvent"}
    | {"MemoryQueryEvent", "CodeGenerationEvent"}
)
# A limit of messages or turns is an ordinary end, and so is what the team was told to stop at.
_BROKEN_OFF = re.compile(r"\b(?:errors?|exception|time(?:d)? ?out|time limit|token)\b", re.IGNORECASE)
_RULE = re.compile(r"(?m)^-{80}$")
_ASIDE = r"(?:Next speaker: [^\n]*|>{8} [^\n]*|\*{80}|Starting [^\n]*)"
_PRINTED = re.compile(
    rf"\s*(?:{_ASIDE}\s+)*(?P<name>[^\n():]{{1,60}}) \(to (?P<to>[^\n():]{{1,60}})\):\n(?P<text>.*)", re.DOTALL
)
_A_RULE = "-" * 80
_LEAST_PRINTED = 2


def _recognises(document: Document) -> bool:
    first = first_record(document)
    return _is_message(first) or _thread(first) is not None or _is_printed(document)


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or "content" not in value:
        return False
    return value["type"] in _CORE or ("source" in value and _TYPE.fullmatch(value["type"]) is not None)


def _thread(value: Any) -> list[Any] | None:
    """The messages of a result or of a saved team; ``None`` where it is neither."""
    if not isinstance(value, dict):
        return None
    if value.get("type") == "TeamState" and isinstance(value.get("agent_states"), dict):
        # The manager's thread is the conversation; each agent keeps a copy of its own.
        states = (state for state in value["agent_states"].values() if isinstance(state, dict))
        threads = (held for state in states if isinstance(held := state.get("message_thread"), list))
        return max(threads, key=len, default=[])
    held = value.get("messages")
    return held if isinstance(held, list) and held and _is_message(held[0]) else None


def _read(document: Document) -> Transcript:
    if _is_printed(document):
        return _read_printed(document)
    first = first_record(document)
    metadata: dict[str, Any] = {}
    if _is_message(first):
        calls = list(_calls(records(document)))
    else:
        thread = _thread(first) or []
        calls = list(_calls(Node(one, f"$.messages[{place}]") for place, one in enumerate(thread)))
        stopped = Node(first)["stop_reason"].text_or_none()
        if stopped and _BROKEN_OFF.search(stopped):
            metadata[BROKEN_OFF] = f"a limit or an error ({shorten(stopped)})"
    return call_transcript(FORMAT, calls, document.limits, game_id=document.game_id(FORMAT), metadata=metadata)


def _calls(messages: Iterator[Node]) -> Iterator[Span]:
    instructions: list[ChatTurn] = []
    latest_results = ""
    for node in messages:
        kind, turn = node["type"].text(), _turn(node)
        if kind in _NOT_SAID or turn.is_empty:
            continue
        if turn.role == "system":
            instructions.append(turn)
            continue
        if turn.results:
            latest_results = "\n".join(result.text for result in turn.results)
        elif kind == "ToolCallSummaryMessage" and turn.text == latest_results:
            # It repeats what the tool answered as if the agent had said it.
            continue
        is_model = turn.role == "assistant" and turn.name not in ("user", "User")
        inputs, start = list(instructions) if is_model else [], node["created_at"].time_or_none()
        usage = usage_of(node["models_usage"].value)
        yield Span(agent=agent_name(turn.name), start=start, inputs=inputs, outputs=[turn], usage=usage)


def _turn(node: Node) -> ChatTurn:
    kind, content = node["type"].text(), node["content"].value
    turn = _content(kind, content)
    turn.name = node["source"].name_or_none() or ("user" if kind == "UserMessage" else None)
    if kind == "HandoffMessage" and (target := node["target"].name_or_none()):
        turn.calls.append(
            ToolCall(f"handoff_to_{target}", {"message": turn.text}, node["id"].identifier_or_none() or node.path)
        )
        turn.texts = []
    if thought := text_in(node.fields(), "thought"):
        turn.thoughts.append(thought)
    return turn


def _content(kind: str, content: Any) -> ChatTurn:
    if kind == "SystemMessage":
        return ChatTurn("system", texts=[as_text(content)])
    if kind in ("FunctionExecutionResultMessage", "ToolCallExecutionEvent"):
        return parts_turn([_typed(one, "tool_result") for one in content] if isinstance(content, list) else [], "tool")
    if kind == "ThoughtEvent":
        return ChatTurn("assistant", thoughts=[as_text(content)])
    if isinstance(content, list):
        is_calls = kind in ("AssistantMessage", "ToolCallRequestEvent")
        return parts_turn([_typed(one, "tool_call") if is_calls else one for one in content], "assistant")
    return ChatTurn("assistant", texts=[as_text(content)])


def _typed(part: Any, kind: str) -> Any:
    return part | {"type": kind} if isinstance(part, dict) else part


def _is_printed(document: Document) -> bool:
    found = [_PRINTED.match(block) for block in _RULE.split(document.text)]
    return found[0] is not None and sum(one is not None for one in found) >= _LEAST_PRINTED


def _read_printed(document: Document) -> Transcript:
    turns: list[tuple[str, str, str]] = []
    for block in _RULE.split(document.text):
        if found := _PRINTED.match(block):
            turns.append((found["name"], found["to"], found["text"]))
        elif not re.fullmatch(rf"\s*(?:{_ASIDE}\s*)*", block):
            # A rule inside a message.
            name, to, text = turns.pop()
            turns.append((name, to, f"{text}{_A_RULE}{block}"))
    names = {name for name, _, _ in turns}
    draft = OpenDraft(document.limits)
    for name, to, text in turns:
        if text.lstrip().startswith("exitcode: "):
            draft.tool(name, text.strip(), "code")
        elif text.strip():
            # A manager who passes on to all is one to whom several write and who says nothing of his own.
            is_apart = len(names) > 2 and to in names and not to.endswith("manager")
            draft.say(name, text.strip(), "private" if is_apart else "public", recipients=(to,) if is_apart else ())
    return draft.build_open(FORMAT, document.game_id(FORMAT))


READER = FileReader(FORMAT, _recognises, _read)
