"""A/B tests from the page: their configuration, its faults, the estimate, and the job."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedWorld
from tests.app.drawn import wait_for_jobs
from tests.judge_server import JudgeServer, scripted

VIEW = {"experiments_view": "A/B tests", "start_ab": "true"}
SIMULATED = f"""
name: Steps
source: simulation
base: {{model: {SCRIPTED_MODEL}, steps: 2, personas: [{{name: Ann}}, {{name: Ben}}]}}
variants: {{two: {{}}, three: {{steps: 3}}}}
runs_per_variant: 2
measures: {{total_messages: higher}}
primary: total_messages
checks: false
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with JudgeServer(content=scripted(ScriptedWorld().answer)).in_thread() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("DRAMATURG_MODEL", SCRIPTED_MODEL)
        yield running


def test_a_simulated_test_is_estimated_first_keeps_its_limit_and_goes_on(open_page, store, words, server) -> None:
    app = open_page("experiments", **VIEW)
    app.text_area(key="ab_text").set_value(SIMULATED).run()
    assert "4 runs: 20 calls, at most 26,000 tokens to read and 1,400 to write, cost not known." in words(app)
    assert server.tally.asked.total() == 0
    app.number_input(key="ab_calls").set_value(8)
    app.button(key="start_ab_test").click().run()
    wait_for_jobs()
    app.run()
    assert not app.exception
    assert "Runs: 1 done, 3 skipped: budget." in words(app)
    assert "It goes on as it was started, with at most 8 calls from now on." in words(app)
    assert len(store.transcripts.ids()) == 1
    app.button(key="go_on_ab_test").click().run()
    wait_for_jobs()
    app.run()
    assert "Runs: 2 done, 2 skipped: budget." in words(app)
    assert server.tally.asked.total() <= 16
