"""Writes messages that passed as examples for fine-tuning, one chat a line in the form that OpenAI takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluation.score import MetricResult, RowVerdict
from evaluation.transcript import Message, Player, Transcript

MOST_BEFORE = 40
"""Messages before the one to learn that an example holds."""


def fine_tuning_lines(
    games: Iterable[tuple[Transcript, Mapping[str, MetricResult]]], *, most_before: int = MOST_BEFORE
) -> Iterator[str]:
    """One line for each message that passed, with its line end.

    A message passed when at least one metric counted it and none has a row against it; messages that no metric has
    looked at are left out. Each example holds what the player is (persona and role), the public messages before as the
    user's, each with its speaker's name, and the message itself as the assistant's.
    """
    for transcript, results in games:
        passed = passed_messages(results.values())
        for position, message in enumerate(transcript.discussion):
            if message.id in passed:
                yield _line(transcript, transcript.discussion[max(position - most_before, 0) : position], message)


def passed_messages(results: Iterable[MetricResult]) -> frozenset[str]:
    """The ids of the messages that at least one metric counts and none has a row against."""
    counted: set[str] = set()
    failed: set[str] = set()
    for result in results:
        for row in result.ledger:
            if row.message_id is None:
                continue
            if row.verdict is RowVerdict.COUNTS:
                counted.add(row.message_id)
            elif row.verdict is RowVerdict.DOES_NOT_COUNT:
                failed.add(row.message_id)
    return frozenset(counted - failed)


def _line(transcript: Transcript, before: tuple[Message, ...], message: Message) -> str:
    chat: list[dict[str, Any]] = [{"role": "system", "content": _instructions(transcript.player(message.speaker))}]
    for earlier in before:
        own = earlier.speaker == message.speaker
        text = earlier.text if own else f"{earlier.speaker}: {earlier.text}"
        chat.append({"role": "assistant" if own else "user", "content": text})
    if not before:
        chat.append({"role": "user", "content": "You speak first."})
    chat.append({"role": "assistant", "content": message.text})
    # Only the last message is to be learnt; others of the same player may be among those that failed.
    for entry in chat[:-1]:
        if entry["role"] == "assistant":
            entry["weight"] = 0
    return json.dumps({"messages": chat}, ensure_ascii=False) + "\n"


def _instructions(player: Player) -> str:
    persona: Any = player.persona
    told = persona if isinstance(persona, str) else json.dumps(persona, ensure_ascii=False) if persona else ""
    parts = [f"You are {player.name}.", f"Your role: {player.role}." if player.role else "", told]
    return "\n".join(part for part in parts if part)
