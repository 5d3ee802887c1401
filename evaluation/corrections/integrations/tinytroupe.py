"""Put the gate around a TinyTroupe agent's action generator, in the place of TinyTroupe's own quality checks.

TinyTroupe (MIT, 0.6) asks ``generate_next_action(agent, current_messages)`` for ``(action or actions, role, content,
feedbacks)``. Unlike its own checks, the gate adds no similarity to the total and passes when its judge fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.corrections.integrations._message_gate import MessageGate

_JUDGED = frozenset({"TALK", "THINK"})
_DONE = {"type": "DONE", "content": "", "target": ""}


class GatedActionGenerator:
    """Takes the place of an agent's ``action_generator``; everything but the two methods is passed on to it.

    What an agent says and thinks is checked; an answer without either passes unchecked.

    Args:
        generator: The agent's own; its quality checks are turned off.
        gate: Checks the texts.
    """

    def __init__(self, generator: Any, gate: MessageGate) -> None:
        self._generator = generator
        self._gate = gate
        generator.enable_quality_checks = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def generate_next_action(
        self, agent: Any, current_messages: Sequence[Mapping[str, Any]]
    ) -> tuple[Any, Any, Any, list[str]]:
        """The action or actions that the gate commits, with role and content, and the feedback on the others."""
        made = [self._generator.generate_next_action(agent, list(current_messages))]
        if not _text(made[0][0]):
            return (*made[0][:3], [])

        def generate(feedback: str) -> str:
            if feedback:
                told = {"role": "user", "content": {"feedback": feedback}}
                made.append(self._generator.generate_next_action(agent, [*current_messages, told]))
            return _text(made[-1][0])

        persona = json.dumps(getattr(agent, "_persona", {}), ensure_ascii=False, default=str)
        result = self._gate.send(generate, agent.name, list(_history(current_messages, agent.name)), persona)
        action, role, content, *_ = made[result.committed.number if result.committed else -1]
        return action, role, content, [one.feedback for one in result.attempts if one.feedback]

    def generate_next_actions(
        self, agent: Any, current_messages: Sequence[Mapping[str, Any]]
    ) -> tuple[list[Any], Any, Any, list[str]]:
        """The same as a list that ends with DONE, as TinyTroupe's multi-action output wants it."""
        action, role, content, feedbacks = self.generate_next_action(agent, current_messages)
        actions = list(action) if isinstance(action, list) else [action]
        if not any(one.get("type") == _DONE["type"] for one in actions):
            actions.append(dict(_DONE))
            if isinstance(content, dict):
                content = {key: value for key, value in content.items() if key != "action"} | {"actions": actions}
        return actions, role, content, feedbacks


def _actions(found: Any) -> list[Mapping[str, Any]]:
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, Mapping)]


def _text(found: Any) -> str:
    """The text of the actions that talk and think; empty for none."""
    return "\n".join(str(one.get("content") or "") for one in _actions(found) if one.get("type") in _JUDGED)


def _history(messages: Sequence[Mapping[str, Any]], name: str) -> Iterator[tuple[str, str]]:
    """Messages that the agent heard and said, from those that TinyTroupe would send to the model."""
    for message in messages:
        content = message.get("content")
        if not isinstance(content, Mapping):
            continue
        for stimulus in _actions(content.get("stimuli") or []):
            yield str(stimulus.get("source") or "somebody"), str(stimulus.get("content") or "")
        text = _text(content.get("actions") or content.get("action") or [])
        if text:
            yield name, text
