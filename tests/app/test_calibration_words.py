"""Every page that shows a judged score says whether its judge is calibrated, and stops saying "not" once it is."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from evaluation.experiments.plan import ExperimentPlan
from evaluation.experiments.scenario import scenario_named
from evaluation.judging.judge_config import judge_config
from evaluation.simulation.scripted.provider import ScriptedProvider
from evaluation.simulation.scripted.world import SCRIPTED_MODEL, Effects, ScriptedWorld
from evaluation.store import Store
from evaluation.store.ratings.calibration_marks import JudgedClaim
from evaluation.workflows.experiments.jobs import run_as_job

CONFIG = judge_config({"mode": "live", "model": SCRIPTED_MODEL}, environment={})
WORDS = "Not calibrated: people marked too few judgements of scripted"
PAGES = (
    ("personas", {"agent": "alpha"}),
    ("compare", {"of": "Evaluation runs"}),
    ("trends", {"as": "Personas", "agent": "alpha"}),
    ("experiments", {}),
    ("experiments", {"experiments_view": "Table 1"}),
)


@pytest.fixture(autouse=True)
def without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DRAMATURG_JUDGE", "DRAMATURG_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def judged(filled: Store, run_of: Callable[[Store, str, int], str]) -> Store:
    for score in (6, 3):
        run_of(filled, "alpha", score)
    scenario = scenario_named("brainstorming-difficult-variety")
    plan = ExperimentPlan(scenario, SCRIPTED_MODEL, 0.01, 0, steps=8, sample_size=1, is_batched=True, effects=Effects())
    run_as_job(filled, plan, CONFIG, provider=ScriptedProvider(ScriptedWorld()))
    return filled


def test_every_page_with_judged_scores_says_it(
    open_page: Callable[..., AppTest], judged: Store, words: Callable[[AppTest], str]
) -> None:
    for page, parameters in PAGES:
        app = open_page(page, **parameters)
        assert not app.exception, page
        assert WORDS in words(app), (page, parameters)


def test_a_calibrated_judge_is_told_so(
    open_page: Callable[..., AppTest],
    filled: Store,
    run_of: Callable[[Store, str, int], str],
    words: Callable[[AppTest], str],
) -> None:
    for score in (6, 3):
        run_of(filled, "alpha", score)
    model = str(filled.evaluations.runs()["model"].iloc[0])
    for dimension in ("adherence", "consistency"):
        for at in range(30):
            key = f"{dimension}-{at}"
            filled.calibration_marks.add(JudgedClaim(key, model, dimension, "p", "C", 5, "A", "W", "", ""), "Ann", 5)
    for page, parameters in PAGES[:3]:
        said = words(open_page(page, **parameters))
        assert f"Calibrated: people marked at least 30 judgements of {model} blind in each dimension." in said, page
        assert "Not calibrated" not in said, page


def test_the_file_of_a_comparison_says_it(judged: Store) -> None:
    from evaluation.comparison.json_output import run_comparison_data
    from evaluation.workflows.ratings.calibration import calibration_of_runs
    from evaluation.workflows.reports import stored_run_comparison

    first, second = judged.evaluations.runs("alpha")["run_id"].tolist()
    found = stored_run_comparison(judged, first, second)
    words = calibration_of_runs(judged, [found.before, found.after])
    assert WORDS in json.loads(json.dumps(run_comparison_data(found, words), default=str))["calibration"]
