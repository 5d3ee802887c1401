"""TinyTroupe agents behind the gate, in place of their own checks: ``lisa = gated(lisa, MessageGate())``."""

import json
from typing import Any

from evaluation.workflows.message_gate import MessageGate


def gated(agent: Any, gate: MessageGate) -> Any:
    """The same agent; what it says and thinks is judged before it is done."""
    generator = agent.action_generator
    generator.enable_quality_checks, ask = False, generator.generate_next_action

    def generate_next_action(agent: Any, messages: list[Any]) -> tuple[Any, Any, Any, list[str]]:
        made: list[Any] = []

        def write(feedback: str) -> str:
            told = [{"role": "user", "content": {"feedback": feedback}}] if feedback else []
            made.append(ask(agent, [*messages, *told]))
            return _said(made[-1][0])

        turns = [each for each in messages if isinstance(each["content"], dict)]
        history = [pair for each in turns for pair in _turn(agent, **each) if pair[1]]
        result = gate.send(write, agent.name, history, json.dumps(agent._persona, default=str))
        action, role, content, *_ = made[result.committed.number if result.committed else -1]
        return action, role, content, [attempt.feedback for attempt in result.attempts if attempt.feedback]

    generator.generate_next_action = generate_next_action
    return agent


def _turn(agent: Any, content: dict[str, Any], **_: Any) -> list[tuple[str, str]]:
    heard = [(one["source"], one["content"]) for one in content.get("stimuli") or ()]
    return [*heard, (agent.name, _said(content.get("actions") or content.get("action") or ()))]


def _said(found: Any) -> str:
    acts = [found] if isinstance(found, dict) else found
    return "\n".join(one["content"] for one in acts if one["type"] in {"TALK", "THINK"})
