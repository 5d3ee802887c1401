"""Wrap an OpenAI client so that every chat completion passes the gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.corrections.integrations._message_gate import MessageGate
from evaluation.errors import InputError

ChatMessages = Sequence[Mapping[str, Any]]


class GatedClient:
    """Asks an OpenAI client for chat completions and returns the one that the gate commits.

    A completion without text, such as a call of a tool, passes unchecked.

    Args:
        client: ``openai.OpenAI(...)`` for ``create``, ``openai.AsyncOpenAI(...)`` for ``create_async``.
        gate: Checks the texts.
        agent: The agent that the model plays.
        persona: Its description; the conversation's system messages when left out.
    """

    def __init__(self, client: Any, gate: MessageGate, agent: str, persona: str = "") -> None:
        self._completions = client.chat.completions
        self._gate = gate
        self._agent = agent
        self._persona = persona

    def create(self, messages: ChatMessages, **options: Any) -> Any:
        """The completion whose text is sent; takes what ``client.chat.completions.create`` takes.

        Raises:
            InputError: ``stream`` is on: a text can be checked only as a whole.
        """
        _refuse_stream(options)
        first = self._completions.create(messages=messages, **options)
        if not _text(first):
            return first
        made = [first]

        def generate(feedback: str) -> str:
            if feedback:
                made.append(self._completions.create(messages=[*messages, _told(feedback)], **options))
            return _text(made[-1])

        result = self._gate.send(generate, self._agent, self._history(messages), self._persona_in(messages))
        return made[result.committed.number] if result.committed else made[-1]

    async def create_async(self, messages: ChatMessages, **options: Any) -> Any:
        """Like ``create``, with an asynchronous client."""
        _refuse_stream(options)
        first = await self._completions.create(messages=messages, **options)
        if not _text(first):
            return first
        made = [first]

        async def generate(feedback: str) -> str:
            if feedback:
                made.append(await self._completions.create(messages=[*messages, _told(feedback)], **options))
            return _text(made[-1])

        history, persona = self._history(messages), self._persona_in(messages)
        result = await self._gate.send_async(generate, self._agent, history, persona)
        return made[result.committed.number] if result.committed else made[-1]

    def _history(self, messages: ChatMessages) -> list[tuple[str, str]]:
        return [
            (self._agent if one["role"] == "assistant" else str(one.get("name") or "user"), one["content"])
            for one in messages
            if one["role"] in {"assistant", "user"} and isinstance(one.get("content"), str)
        ]

    def _persona_in(self, messages: ChatMessages) -> str:
        said = [one["content"] for one in messages if one["role"] == "system" and isinstance(one.get("content"), str)]
        return self._persona or "\n".join(said)


def _text(completion: Any) -> str:
    return completion.choices[0].message.content or ""


def _told(feedback: str) -> dict[str, str]:
    return {"role": "user", "content": feedback}


def _refuse_stream(options: Mapping[str, Any]) -> None:
    if options.get("stream"):
        raise InputError("A stream cannot be checked.", place="stream", remedy="Leave stream out.")
