"""Hostile words in every place that takes words: Markdown reads none of them, on any page."""

import asyncio
import json

import pytest

from evaluation.corrections.action_gate import Attempt, GateOutcome, GateResult
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.experiment import ExperimentPlan, scenario_named
from evaluation.experiments.results import RunResult, StudyResult, study_result
from evaluation.experiments.study import StudyStatus
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.ratings import Rating
from evaluation.rubric.verdict import MetricScore
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import RowVerdict, Status
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.agents import find_subjects
from evaluation.workflows.persona_runs import evaluate_persona
from evaluation.workflows.scoring import add_evaluated
from tests.app.conftest import HOSTILE, _game
from tests.app.drawn import assert_inert

OTHER = f"{HOSTILE}2"


def nasty(name: str) -> Transcript:
    """A game with a hostile player who says hostile things."""
    text = _game(name, text=f"I think {HOSTILE} because").to_json()
    return Transcript.from_json(json.dumps(json.loads(text.replace('"Alpha"', json.dumps(HOSTILE)))))


def judge(store: Store, *dimensions: Dimension) -> None:
    """Evaluates the hostile agent by a judge whose reasons are hostile."""

    async def evaluate() -> None:
        library = PropositionLibrary.load()
        subjects = find_subjects(store, [HOSTILE], dimensions, library)
        answer = ScoreAnswer(reason=HOSTILE, score=6, confidence=0.5)
        scripted = ScriptedJudge(lambda _: answer, model=HOSTILE)
        plan = EvaluationPlan(sample_size=3, dimensions=dimensions)
        async for _ in evaluate_persona(store, subjects, lambda _: scripted, library, plan, mode="live"):
            pass

    asyncio.run(evaluate())


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, str]]:
    """A database with hostile words everywhere; and ids of what is in it."""
    store = Store(tmp_path_factory.mktemp("hostile") / "hostile.duckdb")
    store.iterations.create(HOSTILE, change=HOSTILE, prompt_text=f"Play.\n{HOSTILE}")
    store.iterations.create(OTHER, parent=HOSTILE, change=HOSTILE, prompt_text="Play.")
    for name in "abcd":
        add_evaluated(store, nasty(name), source_name=HOSTILE, iteration=HOSTILE if name < "c" else OTHER)
        store.transcripts.rename(nasty(name).id, HOSTILE + name)
    first, second, third, gone = (nasty(name).id for name in "abcd")
    store.iterations.rename(HOSTILE, f"{HOSTILE}3", who=HOSTILE)
    store.iterations.sign_off(OTHER, HOSTILE, HOSTILE)
    store.deletions.delete([gone], who=HOSTILE)
    for rater, score in ((HOSTILE, 2), ("Grace", 5)):
        store.ratings.add(Rating(third, rater, score, comment=HOSTILE))
    row, cited = ("strategic_depth", "strategic_depth:m0", RowVerdict.DOES_NOT_COUNT), ("m0", "m1")
    store.decisions.save([RowDecision(first, *row, HOSTILE[:200], HOSTILE, 0.75, cited, "live", HOSTILE, "a" * 64)])
    overridden = (first, "strategic_depth", "strategic_depth:m2", RowVerdict.COUNTS)
    store.overrides.add(*overridden, author=HOSTILE, reason=HOSTILE)
    judge(store, Dimension.ADHERENCE)
    tried = Attempt(0, HOSTILE, feedback=HOSTILE)
    agent = str(store.evaluations.latest()["agent_id"].iloc[0])
    store.corrections.add(GateResult(agent, tried, GateOutcome.PASSED, (tried,)))
    plan = ExperimentPlan(scenario_named("brainstorming-difficult-variety"), HOSTILE, 0.01, 0)
    store.experiments.begin(plan)
    store.experiments.end(plan.id, StudyStatus.FAILED, StudyResult(error=HOSTILE))
    variants = {
        name: [
            RunResult(name, at, scored={"coherence": MetricScore(Status.PASSED, value + at, 90.0)}) for at in range(3)
        ]
        for name, value in (("short", 6.0), (HOSTILE[:200], 70.5))
    }
    result = study_result(variants, {"coherence": "higher"}, primary="coherence")
    assert result.winner == HOSTILE[:200]
    test = ABConfig(name=HOSTILE[:200], source="transcripts", variants={key: {} for key in variants})
    store.experiments.begin(test)
    store.experiments.end(test.id, StudyStatus.COMPLETED, result)
    store.close()
    return store.path.read_bytes(), {"first": first, "second": second, "agent": agent}


@pytest.mark.parametrize(
    ("page", "query"),
    [
        *(("overview", {"panel": panel}) for panel in ("Reasons", "Messages", "Prompt", "Games", "Numbers")),
        ("overview", {"overview": "All iterations"}),
        ("games", {}),
        ("games", {"part": "Check"}),
        *(("games", {"transcript": "{first}", "message": message}) for message in ("m0", "m2")),
        ("games", {"transcript": "{first}", "show": "Ledger"}),
        ("games", {"transcript": "{first}", "show": "Insights"}),
        ("games", {"transcript": "{first}", "beside": "{second}"}),
        ("rate", {"rater": HOSTILE, "desk": "My ratings"}),
        ("team", {"rater": "Lea"}),
        ("team", {"team": "Agreement", "differ": "Rule, judge and person differ"}),
        ("trends", {"trends": "Cost and behaviour"}),
        *(("agents", {"agents": view, "agent": "{agent}"}) for view in ("Profiles", "Runs", "Checks")),
        ("experiments", {}),
        ("experiments", {"experiments_view": "A/B tests"}),
        ("settings", {}),
    ],
)
def test_no_page_reads_hostile_words_as_markdown(open_page, database, planted, page, query) -> None:
    data, ids = planted
    database.write_bytes(data)
    assert_inert(open_page(page, **{name: value.format(**ids) for name, value in query.items()}))
