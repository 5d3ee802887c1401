"""Turns of a chat, and messages of models in the shapes of five families as turns.

The families are OpenTelemetry's GenAI parts, OpenAI (chats and Responses), LangChain, Bedrock and Anthropic blocks, and
Gemini contents. What one message holds decides, not which tool recorded it: exports mix them. Nothing is refused here:
a value that is none of these gives no turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation.errors import InputError
from evaluation.files.strict_json import parse_json
from evaluation.readers.document import Limits

_LIMITS = Limits()

_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "gpt": "assistant", "developer": "system"}
_ROLES |= {"function": "tool"}
_KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"})
_TEXTS = frozenset({"text", "input_text", "output_text", "markdown", "refusal"})
_THOUGHTS = frozenset({"reasoning", "thinking", "thought", "reasoning_content", "reasoningContent"})
_CALLS = frozenset({"tool_call", "tool_use", "toolUse", "function_call", "functionCall", "server_tool_call"})
_RESULTS = frozenset(
    {"tool_call_response", "tool_result", "toolResult", "function_call_output", "functionResponse"}
    | {"server_tool_call_response"}
)
# Blocks that stand under their own name instead of beside a type: Bedrock's and Gemini's.
_WRAPPED = ("toolUse", "toolResult", "functionCall", "functionResponse", "reasoningContent")
_LISTS = ("messages", "contents", "output", "input", "choices", "candidates", "generations")
_ARGUMENTS = ("arguments", "input", "args", "tool_input")
_ANSWERS = ("response", "result", "output", "content")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model asks for.

    Attributes:
        name: The tool.
        arguments: As the file gives them: an object, or text.
        call_id: Joins it with its result; empty where the file gives none.
    """

    name: str
    arguments: Any
    call_id: str = ""

    @property
    def key(self) -> str:
        """The call's id, else its name and arguments, to find the same call again in a history."""
        return self.call_id or self.text

    @property
    def text(self) -> str:
        """The call as it is read: ``search({"query": "wolves"})``."""
        return f"{self.name}({'' if self.arguments in (None, '') else as_text(self.arguments)})"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of a tool; ``name`` is empty where only the call tells it."""

    text: str
    call_id: str = ""
    name: str = ""


@dataclass(slots=True)
class ChatTurn:
    """One message of a model's input or output.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        name: The speaker where the message names one.
        texts: Its texts in their order; ``[image]`` and the like in the place of what is not text.
        thoughts: Reasoning that the others did not hear.
        calls: Tools that it asks for.
        results: Results of tools that it brings.
    """

    role: str
    name: str | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The texts, one after the other on lines of their own."""
        return "\n".join(text for text in self.texts if text.strip())

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in it that anybody could read."""
        return not (self.text or self.thoughts or self.calls or self.results)

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for the same message as a model's output and in the history of a later call.

        Calls and results are known by their ids, since their form differs between the two; thoughts are left out of
        many histories.
        """
        if self.calls or self.results:
            return ("tool", *(call.key for call in self.calls), *(one.call_id or one.text for one in self.results))
        return (self.role, normalised(self.text))


def normalised(text: str) -> str:
    """The text for comparing: runs of white space as one space."""
    return " ".join(text.split())


def as_text(value: Any) -> str:
    """A value as text: texts as they are, anything else as JSON; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def unpacked(value: Any) -> Any:
    """The value in JSON text, also where that was encoded twice; any other value as it is."""
    for _ in range(2):
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
            break
        try:
            value = parse_json(value, _LIMITS)
        except InputError:
            break
    return value


def text_in(fields: Mapping[str, Any], *keys: str) -> str:
    """The first text that is not empty under one of the keys; else an empty text."""
    values = map(fields.get, keys)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


def turns_of(value: Any, role: str) -> list[ChatTurn]:
    """The turns in the input or output of a call to a model.

    Args:
        value: Text, JSON text, a message, a list of messages or of blocks, or a provider's request or response.
        role: Whose they are where no role stands in them.
    """
    held = unpacked(value)
    turns = [turn for turn in _turns(held, role, 0) if not turn.is_empty]
    if turns or (isinstance(held, dict) and any(key in held for key in _LISTS)):
        return turns
    # Text that happens to be JSON is still text; an answer may be an object of any shape, but a prompt's may hold keys.
    is_said = isinstance(value, str) or (isinstance(held, dict) and role == "assistant")
    return [ChatTurn(role, texts=[as_text(value)])] if is_said and as_text(value).strip() and held else []


def parts_turn(parts: Any, role: str) -> ChatTurn:
    """One turn of the blocks of one message."""
    turn = ChatTurn(role)
    _add_content(unpacked(parts), turn)
    return turn


def _turns(value: Any, role: str, depth: int) -> Iterator[ChatTurn]:
    if isinstance(value, str):
        yield ChatTurn(role, texts=[value])
    elif isinstance(value, dict) and depth < 10:
        yield from _of_object(value, role, depth)
    elif isinstance(value, list):
        # A batch: one list of messages for each prompt. Others than the first are other conversations.
        is_batch = bool(value) and isinstance(value[0], list)
        if not is_batch and not any(map(_is_message, value)):
            yield parts_turn(value, role)
        for one in value[:1] if is_batch else value if any(map(_is_message, value)) else ():
            yield from _turns(one, role, depth + 1)


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    is_item = _kind(value) in ("function_call", "function_call_output", "message") or {"lc", "kwargs"} <= value.keys()
    return is_item or _role(value) is not None or "message" in value


def _of_object(value: Mapping[str, Any], role: str, depth: int) -> Iterator[ChatTurn]:
    if isinstance(value.get("lc"), int) and isinstance(value.get("kwargs"), dict):
        names = value.get("id")
        kind = names[-1] if isinstance(names, list) and names and isinstance(names[-1], str) else ""
        yield from _turns({"type": kind} | value["kwargs"], role, depth + 1)
    elif isinstance(value.get("message"), (dict, str)) and _role(value) is None:
        yield from _turns(value["message"], role, depth + 1)
    elif _role(value) is not None or _kind(value) in _CALLS | _RESULTS:
        yield _message(value, role)
    elif _kind(value) in _THOUGHTS:
        yield parts_turn([value], "assistant")
    elif held := [key for key in _LISTS if isinstance(value.get(key), (list, dict)) and value[key]]:
        yield from _of_request(value, held[0], role, depth)
    elif any(key in value for key in ("content", "parts", "text", "tool_calls")):
        yield _message(value, role)


def _of_request(value: Mapping[str, Any], key: str, role: str, depth: int) -> Iterator[ChatTurn]:
    for prompt in ("instructions", "system", "systemInstruction", "system_instruction"):
        if value.get(prompt) and key != "choices":
            content = value[prompt]
            yield parts_turn(content.get("parts") if isinstance(content, dict) else content, "system")
    held = value[key]
    if key in ("choices", "candidates", "generations") and isinstance(held, list):
        # Several are alternatives, of which the first was used.
        first = held[0][0] if isinstance(held[0], list) and held[0] else held[0]
        inner = first.get("content") if key == "candidates" and isinstance(first, dict) else first
        yield from _turns(inner, "assistant", depth + 1)
    else:
        yield from _turns(held, role, depth + 1)


def _role(value: Mapping[str, Any]) -> str | None:
    """The role that a message states, by a role or by LangChain's type; ``None`` where it states none."""
    stated = (one for key in ("role", "type") if isinstance(one := value.get(key), str))
    # LangChain's classes are called "HumanMessage" and "AIMessageChunk".
    words = (one.casefold().removesuffix("chunk").removesuffix("message") for one in stated)
    return next((role for word in words if (role := _ROLES.get(word, word)) in _KNOWN_ROLES), None)


def _message(value: Mapping[str, Any], role: str) -> ChatTurn:
    turn = ChatTurn(_role(value) or role, name=text_in(value, "name").strip() or None)
    if _kind(value) in _CALLS | _RESULTS:
        return parts_turn([value], "assistant" if _kind(value) in _CALLS else "tool")
    content = next((value[key] for key in ("parts", "content", "contents", "text") if value.get(key)), None)
    if isinstance(content, str) and content.lstrip().startswith("[{"):
        content = unpacked(content) if turn.role != "tool" else content
    if turn.role == "tool" and not _holds_results(content):
        # Some exports list the definitions of tools among the messages.
        is_definition = isinstance(content, dict) and content.get("type") == "function"
        if not is_definition and content is not None:
            call_id = _id(value, "tool_call_id", "id", "call_id")
            turn.results.append(ToolResult(_result_text(content), call_id, turn.name or ""))
        turn.name = None
        return turn
    add_message(value, content, turn)
    return turn


def add_message(value: Mapping[str, Any], content: Any, turn: ChatTurn) -> None:
    """Adds the content of a message, and the thoughts, the refusal and the calls that stand beside it."""
    _add_content(content, turn)
    turn.thoughts += filter(None, (text_in(value, key) for key in ("reasoning_content", "reasoning", "thought")))
    turn.texts += filter(None, [text_in(value, "refusal")])
    extra = value.get("additional_kwargs")
    calls = value.get("tool_calls") or (extra.get("tool_calls") if isinstance(extra, dict) else None)
    known = {call.key for call in turn.calls}
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict) and (made := _call(call)).key not in known:
            turn.calls.append(made)
    if isinstance(value.get("function_call"), dict):
        turn.calls.append(_call(value["function_call"]))


def _kind(part: Mapping[str, Any]) -> str:
    """The type that a block states; empty where it states none."""
    kind = part.get("type")
    return kind if isinstance(kind, str) else ""


def _holds_results(content: Any) -> bool:
    blocks = content if isinstance(content, list) else [content]
    return any(isinstance(one, dict) and (_kind(one) in _RESULTS or _wrapper(one)) for one in blocks)


def _wrapper(block: Mapping[str, Any]) -> str | None:
    return next((key for key in _WRAPPED if isinstance(block.get(key), dict)), None)


def _add_content(content: Any, turn: ChatTurn) -> None:
    for part in content if isinstance(content, list) else [content]:
        _add_part(part, turn)


def _add_part(part: Any, turn: ChatTurn) -> None:
    if isinstance(part, str):
        turn.texts.append(part)
        return
    if not isinstance(part, dict):
        return
    if isinstance(part.get("message_content"), dict):
        part = part["message_content"]
    if name := _wrapper(part):
        part = {"type": name} | {key: value for key, value in part[name].items() if key != "type"}
    kind = _kind(part)
    if kind in _CALLS:
        turn.calls.append(_call(part))
    elif kind in _RESULTS:
        turn.results.append(_result(part))
    elif kind in _THOUGHTS or part.get("thought") is True:
        turn.thoughts += filter(None, [_thought(part)])
    elif kind in _TEXTS or not kind:
        turn.texts.append(_plain(part))
    else:
        turn.texts.append(f"[{kind[:40]}]")


def _plain(part: Mapping[str, Any]) -> str:
    return text_in(part, "text", "content", "refusal") or (as_text(part["json"]) if "json" in part else "")


def _thought(part: Mapping[str, Any]) -> str:
    inner, summary = part.get("reasoningText"), part.get("summary")
    if (found := text_in(part, "content", "text", "thinking", "reasoning", "thought")) or isinstance(inner, dict):
        return found or text_in(inner or {}, "text")
    return "\n".join(_plain(one) for one in summary if isinstance(one, dict)) if isinstance(summary, list) else ""


def _call(call: Mapping[str, Any]) -> ToolCall:
    """A call; the function stands in it, or one level below."""
    outer = call["tool_call"] if isinstance(call.get("tool_call"), dict) else call
    inner = outer["function"] if isinstance(outer.get("function"), dict) else outer
    arguments = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    name = text_in(inner, "name", "tool_name", "function") or "tool"
    return ToolCall(name, arguments, _id(outer, "call_id", "id", "toolUseId", "tool_call_id"))


def _result(part: Mapping[str, Any]) -> ToolResult:
    answer = next((part[key] for key in _ANSWERS if part.get(key) is not None), None)
    call_id = _id(part, "tool_use_id", "toolUseId", "call_id", "id", "tool_call_id")
    return ToolResult(_result_text(answer), call_id, text_in(part, "name"))


def _result_text(answer: Any) -> str:
    """The answer of a tool; blocks of text as their texts."""
    if not isinstance(answer, list) or not all(isinstance(one, (dict, str)) for one in answer):
        return as_text(answer)
    is_blocks = all(isinstance(one, str) or {"text", "json", "type"} & set(one) for one in answer)
    return parts_turn(answer, "tool").text if is_blocks else as_text(answer)


def _id(fields: Mapping[str, Any], *keys: str) -> str:
    """An id as text, also where it is a number or a list of ids."""
    value = next((fields[key] for key in keys if fields.get(key) not in (None, "")), None)
    return as_text(value)[:500]
