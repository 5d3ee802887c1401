"""The examples do what their texts say."""

import asyncio
import json
import re
import runpy
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evaluation import Recorder
from evaluation.corrections.config import CorrectionConfig
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import DEFAULT_AGENT, Dimension, Proposition
from evaluation.judging.protocol import JudgeRequest
from evaluation.readers import read_path
from evaluation.store import Store
from evaluation.workflows.message_gate import MessageGate
from tests.judge_server import JudgeServer

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_gated_chat(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    database = tmp_path / "chat.duckdb"
    monkeypatch.setattr(sys, "argv", ["gated_chat.py", "--db", str(database)])
    runpy.run_path(str(EXAMPLES / "gated_chat.py"), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("   (sent back to michael: 1. Adherence: scored 2 of 9, needed 7.")
    assert said[1] == "michael: Let me tell you how I once saved this whole office.   [passed_after_retry]"
    assert said[2] == "dwight: Rule one: nobody leaves before the beets are counted.   [passed]"
    logged = Store(database).corrections.messages()
    assert [(one.result.agent, len(one.result.attempts)) for one in logged] == [("dwight", 1), ("michael", 2)]


LIKE_AN_ASSISTANT, LIKE_MICHAEL = "As an assistant, I can list three options.", "I run this office, and it loves me."


def test_the_gate_around_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "gate_one_message.py"), run_name="__main__")
    line = "Let me tell you how I once saved this whole office. [passed_after_retry]\n"
    assert capsys.readouterr().out == line + line


def speaker_and_judge(body: dict[str, Any]) -> str:
    """Speaks as an assistant until it is told what was wrong, and judges that 2, anything else 8."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    if "judge strictly and fairly" not in text:
        return LIKE_MICHAEL if "was not sent" in text else LIKE_AN_ASSISTANT
    mark = {"reason": "[M2] shows it", "score": 2 if LIKE_AN_ASSISTANT in text else 8, "confidence": 0.9}
    items = re.findall(r"^\[P(\d+)\]", text, re.MULTILINE)
    return json.dumps({"answers": [{"item": int(item), **mark} for item in items]} if items else mark)


def test_the_gate_around_an_openai_client(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgeServer(content=speaker_and_judge).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setattr(sys, "argv", ["gate_openai_client.py", "local-model"])
        runpy.run_path(str(EXAMPLES / "gate_openai_client.py"), run_name="__main__")
    assert capsys.readouterr().out == f"{LIKE_MICHAEL}\n"


class Generator:
    """Writes actions in the shape of TinyTroupe's action generator."""

    enable_quality_checks = True

    def __init__(self, *texts: str) -> None:
        self._texts = iter(texts)
        self.told: list[list[dict[str, Any]]] = []

    def generate_next_action(
        self, _: Any, messages: list[dict[str, Any]]
    ) -> tuple[Any, str, dict[str, Any], list[str]]:
        assert not self.enable_quality_checks
        self.told.append(messages)
        text = next(self._texts)
        action = {"type": "TALK" if text else "DONE", "content": text, "target": "Lisa"}
        return action, "assistant", {"action": action}, []


class Agent:
    def __init__(self, generator: Generator) -> None:
        self.name = "Oscar"
        self._persona = {"name": "Oscar", "style": "An architect who talks of buildings."}
        self.action_generator: Any = generator


def test_the_gate_around_a_tinytroupe_agent() -> None:
    def judge(request: JudgeRequest) -> ScoreAnswer:
        assert "An architect who talks of buildings." in request.prompt.text
        assert "What do you do?" in request.prompt.text
        mark = 2 if LIKE_AN_ASSISTANT in request.prompt.text else 8
        return ScoreAnswer(reason="So it reads.", score=mark, confidence=0.9)

    gated = runpy.run_path(str(EXAMPLES / "gate_tinytroupe.py"))["gated"]
    heard = [{"role": "user", "content": {"stimuli": [{"source": "Lisa", "content": "What do you do?"}]}}]
    claim = Proposition("in-character", "{{action}} sounds like {{agent_name}}.", Dimension.ADHERENCE)
    library = PropositionLibrary({(Dimension.ADHERENCE, DEFAULT_AGENT): (claim,)})
    with MessageGate(ScriptedJudge(judge), library=library) as gate:
        generator = Generator(LIKE_AN_ASSISTANT, "I draw houses.")
        oscar = gated(Agent(generator), gate)
        action, role, content, feedbacks = oscar.action_generator.generate_next_action(oscar, heard)
        assert (action["type"], action["content"]) == ("TALK", "I draw houses.")
        assert (role, content["action"]) == ("assistant", action)
        assert len(feedbacks) == 1
        assert feedbacks[0] == generator.told[1][-1]["content"]["feedback"]
        silent = gated(Agent(Generator("")), gate)
        assert silent.action_generator.generate_next_action(silent, heard)[0]["type"] == "DONE"


def test_a_program_that_has_no_other_text_loses_no_message_and_does_not_hang() -> None:
    claim = Proposition("in-character", "{{action}} sounds like {{agent_name}}.", Dimension.ADHERENCE)
    library = PropositionLibrary({(Dimension.ADHERENCE, DEFAULT_AGENT): (claim,)})
    drafts = iter(["the only one"])
    judge = ScriptedJudge(lambda _: ScoreAnswer(reason="no", score=1, confidence=1.0))
    with MessageGate(judge, library=library) as gate:
        assert gate.send(lambda _: next(drafts), "michael").text == "the only one"


def test_a_recorded_game_is_a_transcript_that_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(sys, "argv", ["record_a_game.py", str(tmp_path), "local"])
    with JudgeServer(
        content=lambda body: f"I heard {len(body['messages'][0]['content'])} letters."
    ).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        runpy.run_path(str(EXAMPLES / "record_a_game.py"), run_name="__main__")
    (result,) = read_path(tmp_path)
    assert capsys.readouterr().out.strip() == str(next(tmp_path.glob("*.jsonl")))
    assert [(each.speaker, each.round) for each in result.transcript.messages] == [
        (name, number) for number in (1, 2, 3) for name in ("Ann", "Ben")
    ]
    assert (result.transcript.cost.output_tokens or 0) > 0


@pytest.fixture
def frameworks() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / "record_frameworks.py"))


def recorded(folder: Path, play: Callable[[Recorder], object]) -> list[tuple[str, str, str]]:
    """What was said in a recorded game: speaker, text and channel."""
    with Recorder(folder, game_id="g") as recorder:
        play(recorder)
    assert recorder.path is not None
    (found,) = read_path(recorder.path)
    assert found.transcript is not None, found.error
    return [(one.speaker, one.text, one.channel) for one in found.transcript.messages]


# The shapes are those of the frameworks' own message objects; the frameworks are not installed with Dramaturg.
def test_autogen_is_recorded(frameworks: dict[str, Any], tmp_path: Path) -> None:
    usage = SimpleNamespace(prompt_tokens=10, completion_tokens=3)

    def event(kind: str, source: str, text: str, used: object = None) -> SimpleNamespace:
        return SimpleNamespace(type=kind, source=source, to_text=lambda: text, models_usage=used)

    async def stream() -> AsyncIterator[SimpleNamespace]:
        yield event("TextMessage", "user", "Play.")
        yield event("ModelClientStreamingChunkEvent", "Ann", "I sus")
        yield event("ThoughtEvent", "Ann", "It must be Ben.")
        yield event("TextMessage", "Ann", "I suspect Ben.", usage)
        yield event("ToolCallRequestEvent", "Ben", "[]")
        yield event("HandoffMessage", "Ben", "Over to Ann.")
        yield SimpleNamespace(messages=[], stop_reason="done")

    said = recorded(tmp_path, lambda recorder: asyncio.run(frameworks["record_autogen"](stream(), recorder)))
    assert said == [
        ("user", "Play.", "public"),
        ("Ann", "It must be Ben.", "private"),
        ("Ann", "I suspect Ben.", "public"),
        ("Ben", "Over to Ann.", "public"),
    ]


def test_langgraph_is_recorded(frameworks: dict[str, Any], tmp_path: Path) -> None:
    def message(kind: str, content: object, name: str | None = None) -> SimpleNamespace:
        usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13} if kind == "ai" else None
        return SimpleNamespace(type=kind, content=content, name=name, usage_metadata=usage)

    updates = [
        {"supervisor": {"messages": [message("human", "Play."), message("ai", "", "Ann")]}},
        {"ann": {"messages": [message("ai", "I suspect Ben.")]}, "checkpoint": None},
        {"ben": {"messages": [message("tool", "42"), message("ai", [{"type": "text", "text": "Why me?"}], "Ben")]}},
    ]
    said = recorded(tmp_path, lambda recorder: frameworks["record_langgraph"](updates, recorder))
    assert said == [("ann", "I suspect Ben.", "public"), ("Ben", "Why me?", "public")]


def test_crewai_is_recorded(frameworks: dict[str, Any], tmp_path: Path) -> None:
    def play(recorder: Recorder) -> None:
        task_done = frameworks["record_crewai"](recorder)
        for agent, raw in (("Detective", "It was Ben."), ("Ben", "It was not.")):
            task_done(SimpleNamespace(agent=agent, raw=raw, description="Say who it was."))

    assert recorded(tmp_path, play) == [("Detective", "It was Ben.", "public"), ("Ben", "It was not.", "public")]


def test_tinytroupe_is_recorded(frameworks: dict[str, Any], tmp_path: Path) -> None:
    def act(kind: str, content: str) -> dict[str, str]:
        return {"type": kind, "content": content, "target": ""}

    steps = [
        {"Lisa": [act("THINK", "Hm."), act("TALK", "Hello, Oscar."), act("DONE", "")]},
        {"Oscar": [act("TALK", "Hi.")]},
    ]
    said = recorded(tmp_path, lambda recorder: frameworks["record_tinytroupe"](steps, recorder))
    assert said == [("Lisa", "Hm.", "private"), ("Lisa", "Hello, Oscar.", "public"), ("Oscar", "Hi.", "public")]


def test_a_loop_of_steps_is_recorded(frameworks: dict[str, Any], tmp_path: Path) -> None:
    class Entity:
        def __init__(self, name: str) -> None:
            self.name = name
            self.heard: list[str] = []

        def act(self, action_spec: str) -> str:
            return f"{action_spec} {len(self.heard)}"

        def observe(self, observation: str) -> None:
            self.heard.append(observation)

    entities = [Entity("Ann"), Entity("Ben")]
    said = recorded(
        tmp_path, lambda recorder: frameworks["record_steps"](entities, recorder, rounds=2, action_spec="Heard")
    )
    heard = [("Ann", "Heard 0"), ("Ben", "Heard 1"), ("Ann", "Heard 1"), ("Ben", "Heard 2")]
    assert [(who, text) for who, text, _ in said] == heard


def test_a_simulation_of_ones_own_with_all_three_corrections(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "own.duckdb"
    monkeypatch.setattr(sys, "argv", ["simulation_with_corrections.py", "--db", str(path)])
    runpy.run_path(str(EXAMPLES / "simulation_with_corrections.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "[passed_after_retry]" in said
    assert "(anti-convergence)" in said
    assert "(Ann avoids repeated phrases)" in said
    store = Store(path)
    assert store.corrections.agents() == {"ann": 5, "bob": 5}
    # What is stored for an agent counts the next time.
    store.corrections.configure("Ann", CorrectionConfig())
    store.corrections.configure("bob", CorrectionConfig())
    store.close()
    runpy.run_path(str(EXAMPLES / "simulation_with_corrections.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "1 Ann: As an assistant, I can list three options. [None]" in said
    assert "(" not in said
