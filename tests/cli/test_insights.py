"""``dramaturg insights``: the figures of one game."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evaluation.store import Store
from tests.cli.conftest import Run, WriteGame
from tests.judge_server import JudgeServer


def test_json_holds_every_group_and_what_is_unknown_is_null(run: Run, write_game: WriteGame) -> None:
    run("import", str(write_game()))
    done = run("insights", "game-1", "--format", "json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["transcript"]["game_id"] == "game-1"
    metrics = found["metrics"]
    assert set(metrics) == {"behavioral", "memory", "network", "cost"}
    assert metrics["behavioral"]["messages_per_agent"] == {"Ann": 2, "Ben": 2, "Cid": 2}
    assert metrics["memory"]["total_reflections"] is None
    assert (metrics["cost"]["estimated_cost_usd"], metrics["cost"]["api_calls"]) == (1.0, None)


def test_a_report_in_words_and_a_config_with_a_fault(run: Run, write_game: WriteGame, tmp_path: Path) -> None:
    run("import", str(write_game()))
    done = run("insights", "game-1", "--format", "markdown")
    assert done.stdout.startswith("# `game-1`")
    assert "| Player | Messages | Addresses | Addressed by | Between others |" in done.stdout
    assert "Who addresses whom" in run("insights", "game-1").stdout
    config = tmp_path / "evaluation.yaml"
    config.write_text("seed: 1\nvalidation_sampling_rate: 30\n", encoding="utf-8")
    done = run("insights", "game-1", "--config", str(config))
    assert (done.exit_code, "evaluation.yaml:2: validation_sampling_rate" in done.stderr) == (2, True)
    config.write_text(run("insights", "--print-config").stdout, encoding="utf-8")
    assert run("insights", "game-1", "--config", str(config)).exit_code == 0


def test_checks_and_findings_are_stored(run: Run, write_game: WriteGame, database: Path) -> None:
    run("evaluate", write_game("g1", good=True), "--iteration", "first")

    def answer(body: dict[str, Any]) -> str:
        return json.dumps(
            {"themes": []} if '"themes"' in str(body) else {"reason": "so", "score": 0.9, "citations": [1]}
        )

    with JudgeServer(content=answer).in_thread() as server:
        done = run("insights", "g1", "--checks", "--themes", "--mode", "live", "--model", "m", "--base-url", server.url)
    assert done.exit_code == 0, done.stderr
    store = Store(database)
    checks = store.insights.checks()
    assert set(checks["check_type"]) == {"persona_adherence", "consistency", "coherence"}
    assert set(checks["score"].dropna()) == {0.9}
    (found,) = store.insights.findings().to_dict("records")
    assert (found["kind"], found["result"]["found"]) == ("themes", [])
