"""The examples do what their texts say."""

import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.corrections.config import CorrectionConfig
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import DEFAULT_AGENT, Dimension, Proposition
from evaluation.judging.protocol import JudgeRequest
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
