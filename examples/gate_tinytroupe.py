"""TinyTroupe agents behind the gate: replace an agent's action generator, and run the world as before.

With TinyTroupe installed, ``gated(agent, gate)`` is all that is needed for each agent:

    from tinytroupe.examples import create_lisa_the_data_scientist
    with MessageGate() as gate:
        lisa = gated(create_lisa_the_data_scientist(), gate)
        lisa.listen_and_act("What do you do all day?")
"""

from __future__ import annotations

from typing import Any

from evaluation.corrections.integrations import GatedActionGenerator, MessageGate


def gated(agent: Any, gate: MessageGate) -> Any:
    """The same agent, with the gate around whatever writes its actions."""
    agent.action_generator = GatedActionGenerator(agent.action_generator, gate)
    return agent
