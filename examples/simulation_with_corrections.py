"""A simulation of your own with all three corrections: ``python examples/simulation_with_corrections.py``.

Gate, interventions and repetition suppression follow what the page *Agents, Checks* stored for each agent;
without ``--db`` they follow ``CONFIG``. Agents and judge are scripts here: in your program ``speak`` asks your model,
and ``build_judge(judge_config())`` of ``evaluation.judging.judge_config`` is the judge.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.interventions import configured, run_interventions
from evaluation.corrections.repetition import suppression_prompt
from evaluation.judging.answers import CheckAnswer, ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.propositions import Target, TargetType, TrajectoryEvent
from evaluation.judging.protocol import JudgeRequest
from evaluation.store import Store
from evaluation.workflows.message_gate import MessageGate

CONFIG = CorrectionConfig(
    gate_adherence_enabled=True, anti_convergence_enabled=True, repetition_suppression_enabled=True
)
AGREED = "I agree, we should plan the market stall with great care."
STEPS = 5


def judge(request: JudgeRequest) -> ScoreAnswer | CheckAnswer:
    """Marks an assistant's offer 2 and everything else 8, and finds that the speakers agree."""
    if request.answer is CheckAnswer:
        return CheckAnswer(reason="They say the same.", holds=True, confidence=0.9)
    good = 2 if "As an assistant" in request.prompt.user.splitlines()[-2] else 8
    # Of what names a fault, a low mark is good.
    is_fault = any(words in request.claim for words in ("contradicts", "computer assistant"))
    return ScoreAnswer(reason="So it reads.", score=9 - good if is_fault else good, confidence=0.9)


class Person:
    """An agent of the simulation; ``agent_id``, ``target`` and ``nudge`` are what interventions need of it."""

    def __init__(self, agent_id: str, name: str, persona: str) -> None:
        self.agent_id, self.name, self.persona = agent_id, name, persona
        self.heard: list[TrajectoryEvent] = []
        self.thoughts: list[str] = []

    @property
    def target(self) -> Target:
        """The agent with everything that it said and heard."""
        return Target(TargetType.AGENT, self.name, tuple(self.heard), {self.name: self.persona})

    def nudge(self, thought: str) -> None:
        """Keeps a thought for the next message."""
        self.thoughts.append(thought)

    def speak(self, feedback: str, thoughts: tuple[str, ...], advice: str | None) -> str:
        """Asks your model, with all of them in the prompt; here a script."""
        if thoughts or advice:
            return f"{self.name} here, and I see it another way: {len(self.heard)} stalls are too many."
        return AGREED if feedback or len(self.heard) % 3 else "As an assistant, I can list three options."


async def simulate(store: Store, people: list[Person]) -> list[str]:
    """The conversation, one message of each agent in every step, with what corrected it."""
    steering = ScriptedJudge(judge)
    gate = MessageGate(steering, store=store)
    lines = []
    for step in range(STEPS):
        configs = {person.agent_id: store.corrections.config(person.agent_id) for person in people}
        for done in await run_interventions(configured(people, configs), steering):
            lines += [f"   ({done.name})"] if done.is_applied else []
        for person in people:
            own = [event.text for event in person.heard if event.is_action]
            config = configs[person.agent_id]
            advice = None
            if config.repetition_suppression_enabled:
                advice = suppression_prompt(own, config.repetition_threshold)
            thoughts, person.thoughts = tuple(person.thoughts), []

            async def write(
                feedback: str,
                person: Person = person,
                thoughts: tuple[str, ...] = thoughts,
                advice: str | None = advice,
            ) -> str:
                return person.speak(feedback, thoughts, advice)

            history = [(event.speaker, event.text) for event in person.heard]
            sent = await gate.send_async(write, person.name, history, person.persona)
            for other in people:
                number = f"m{len(other.heard)}"
                other.heard.append(TrajectoryEvent("market", number, person.name, sent.text, other is person))
            lines += [f"   ({person.name} avoids repeated phrases)"] if advice else []
            lines.append(f"{step + 1} {person.name}: {sent.text} [{sent.outcome}]")
    return lines


def main(path: Path) -> None:
    """Simulates with the settings in a database, and prints what was said and what corrected it."""
    store = Store(path)
    people = [Person("ann", "Ann", "Ann sells honey and hates crowds."), Person("bob", "Bob", "Bob bakes rye bread.")]
    for person in people:
        if store.corrections.stored_config(person.name) is None:
            store.corrections.configure(person.name, CONFIG)
    print("\n".join(asyncio.run(simulate(store, people))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Two scripted agents under all three corrections.")
    parser.add_argument("--db", type=Path, help="a database of Dramaturg with settings, which also gets the log")
    if chosen := parser.parse_args().db:
        main(chosen)
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "simulation.duckdb")
