"""Reports on discussions, what docs say of them, and properties that hold for any."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from evaluation.insight._questions import QualityAnswer, QuoteItem, QuotesAnswer
from evaluation.insight.config import EvaluationConfig
from evaluation.insight.evaluation_report import EvaluationReport, Wanted, plain_report, report_on
from evaluation.insight.report_sections import discussion_markdown
from evaluation.judging.answers import Answer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.protocol import JudgeRequest
from evaluation.text.display import cost_text
from evaluation.transcript import Cost
from tests.games import game_of

HOSTILE = "<img src=x onerror=alert(1)> [a](https://evil.example) | `b` ![p](https://evil.example/p)\u202e"
PLAYERS = (HOSTILE, "Bob", "Cy")


@pytest.fixture(scope="module")
def report() -> EvaluationReport:
    texts = ((0, "I agree with Bob, good point."), (1, f"No. {HOSTILE}"), (0, "Bob, that is bad."), (0, "Anyway."))
    cost = Cost(total_usd=0.25, input_tokens=700, output_tokens=77)
    said = [(PLAYERS[who], text) for who, text in texts]
    transcript = game_of(said, PLAYERS, game_id=HOSTILE, language="en", cost=cost)
    config = EvaluationConfig(validation_sampling_rate=1.0)
    wanted = Wanted(checks=True, criteria=HOSTILE)
    judge = ScriptedJudge(script)
    return asyncio.run(
        report_on(transcript, judge, wanted, judged_by={"kind": "live", "model": HOSTILE}, config=config)
    )


def script(request: JudgeRequest) -> Answer:
    if request.answer is QualityAnswer:
        return QualityAnswer(reason=HOSTILE, score=0.25 if "bad" in request.prompt.user else 0.75)
    quote = QuoteItem(agent_id="Bob", content="no. <img", relevance_score=0.5, context=HOSTILE)
    return QuotesAnswer(quotes=[quote, QuoteItem(agent_id="Bob", content=HOSTILE + "!?x", relevance_score=1)])


def cells_of(text: str) -> list[str]:
    """The cells of all tables of a Markdown report, code spans opened."""
    rows = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [cell.strip("`") for row in rows for cell in row]


def test_the_tables_hold_the_numbers_of_the_json(report: EvaluationReport) -> None:
    found = json.loads(json.dumps(report.as_dict()))
    cells = cells_of(discussion_markdown(report))
    network, cost = found["metrics"]["network"], found["metrics"]["cost"]
    pairs = list(pairwise(cells))
    assert ("Tokens", str(cost["total_tokens"])) in pairs
    assert ("Cost", cost_text(cost["estimated_cost_usd"])) in pairs
    assert ("Who addressed whom", f"{network['edges']} of 6 possible") in pairs
    bob = cells[cells.index("Between others") :]
    assert bob[bob.index("Bob") + 4] == f"{network['centrality']['Bob']['betweenness']:.2f}"
    scores = [one["score"] for one in found["validations"] if one["score"] is not None]
    shown = [score for verdict, score in pairs if verdict in ("passed", "failed")]
    assert [f"{one:.2f}" for one in scores] == shown
    assert found["sample"] == {"messages": 4, "drawn": 4, "checked": 4}
    assert found["extractions"]["sentiment"]["Bob"]["telling"] == 1
    assert [one["content"] for one in found["extractions"]["quotes"]["found"]] == ["No. <img"]
    assert len(found["extractions"]["quotes"]["refused"]) == 1


def test_what_stands_out_is_said_by_name(report: EvaluationReport) -> None:
    advice = [one.words for one in report.recommendations]
    assert "{names} never says anything." in advice
    assert "3 of 4 messages come from {names}: let the others have their turn." in advice
    assert any("reach 0.5 on coherence" in one for one in advice)


def test_a_discussion_in_another_language_has_no_sentiment(report: EvaluationReport) -> None:
    found = plain_report(game_of([("Ada", "No. Das ist gut.")], language="de"))
    assert found.as_dict()["extractions"] == {"sentiment": None}
    assert "Not counted" in discussion_markdown(found)


PAGE = (Path(__file__).parents[3] / "docs" / "insights.md").read_text("utf-8")
NAMED, RENAMED = PAGE.partition("## ADR-010")[2].split("\n| ADR-010 |")
ROWS = [
    [re.findall(r"`([\w.]+)`", cell) for cell in line.split("|")[1:4]] for line in NAMED.splitlines() if "| `" in line
]
OURS = [f"{module}.{name}.{member}" for (name,), (module,), members in ROWS for member in members]
OURS += [
    name for line in RENAMED.splitlines() if "| `" in line for name in re.findall(r"`([\w.]+)`", line.split("|")[2])
]


def test_the_table_is_read_whole() -> None:
    assert len(OURS) > 90


@pytest.mark.parametrize("name", OURS)
def test_every_name_of_the_table_is_there(name: str) -> None:
    # A class begins with a capital letter; what has none is a function at the end.
    module, names = re.fullmatch(r"([a-z_0-9.]+)\.([A-Z]\w*(?:\.\w+)?|\w+)", name).groups()
    found = importlib.import_module(f"evaluation.{module}")
    for part in names.split("."):
        fields = {**getattr(found, "__dataclass_fields__", {}), **getattr(found, "model_fields", {})}
        found = fields[part] if part in fields else getattr(found, part)


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, {})
    # "Ben, what do you think?" has 23 characters; the second variant is 0.8 warmer with a spread of 0.1.
    assert capsys.readouterr().out.splitlines() == ["23.0", "warm"]
