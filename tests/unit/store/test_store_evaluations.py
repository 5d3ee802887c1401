"""Evaluations of agents in the store: runs with their scores, and what goes with an agent or a run."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evaluation.errors import InputError, NotFoundError
from evaluation.judging.answers import Answer, Idea, IdeasAnswer, ScoreAnswer
from evaluation.judging.cached_judge import KeptAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension, TargetType
from evaluation.judging.protocol import JudgeRequest, Prompt
from evaluation.persona.agents import Agent, SpeakerMap, shipped_cast
from evaluation.persona.evaluation import EvaluationPlan, PersonaEvaluation, evaluate_agent
from evaluation.persona.subjects import Period, Sources, everybody, subject_of
from evaluation.store import Store


@pytest.fixture(scope="module")
def evaluations() -> dict[str, PersonaEvaluation]:
    """The office, judged by a script: adherence of the second proposition is broken, ideas are listed."""

    def script(request: JudgeRequest) -> Answer | str | None:
        if request.answer is IdeasAnswer:
            return IdeasAnswer(ideas=[Idea(text="Sell a sash", citations=[1]), Idea(text="Sing", citations=[99])])
        if request.subject.startswith("adherence-manner"):
            return "no answer"
        return ScoreAnswer(reason="Because \u2026", score=6, confidence=0.25, citations=[1])

    cast = shipped_cast()
    sources = Sources(cast.transcripts_of(["michael"]), SpeakerMap(known=cast.by_slug), cast, {})
    library, judge = PropositionLibrary.load(), ScriptedJudge(script)
    return {
        agent.id: asyncio.run(evaluate_agent(subject_of(agent, sources), judge, library, EvaluationPlan(sample_size=3)))
        for agent in everybody(sources)
    }


def stored(store: Store, evaluation: PersonaEvaluation, plan: EvaluationPlan | None = None) -> str:
    run_id = store.evaluations.begin(evaluation.agent, plan or EvaluationPlan(sample_size=3), mode="offline")
    store.evaluations.finish(run_id, evaluation)
    return run_id


def test_a_run_knows_the_prompts_and_the_temperature_that_its_answers_came_from(
    store: Store, evaluations: dict[str, PersonaEvaluation]
) -> None:
    stored(store, evaluations["michael"])
    assert store.evaluations.runs()["instructions"].tolist() == [""]
    key = next(item.judgement.key for each in evaluations["michael"].dimensions.values() for item in each.items)
    store.judgements.keep(
        [KeptAnswer(key, "small", ({},), Prompt("s", "u", "q"), "propositions-2", parameters={"temperature": 0.0})]
    )
    assert store.evaluations.runs()["instructions"].tolist() == ["propositions-2, temperature 0.0"]


def test_a_run_comes_back_as_it_went_in(store: Store, evaluations: dict[str, PersonaEvaluation]) -> None:
    michael = evaluations["michael"]
    period = Period(datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 12, 31))
    run_id = stored(store, michael, EvaluationPlan(sample_size=3, seed=7, period=period))
    (row,) = store.evaluations.runs("michael").to_dict("records")
    assert (row["run_id"], row["agent_id"], row["display_name"], row["kind"]) == (
        run_id,
        "michael",
        "Michael Scott",
        "agent",
    )
    assert (row["status"], row["sample_size"], row["seed"], row["mode"]) == ("completed", 3, 7, "offline")
    assert list(row["dimensions"]) == [str(dimension) for dimension in Dimension][:5]
    assert row["overall_score"] == pytest.approx(michael.overall_score, abs=1e-6)
    assert row["window_start"] == datetime(2025, 1, 1, tzinfo=UTC)
    assert row["window_end"] == datetime(2025, 12, 31, tzinfo=UTC)
    assert (row["judge"], row["model"], row["is_baseline"]) == ("scripted", "scripted", False)
    assert json.loads(row["token_usage"])["input_tokens"] == 0
    summary = json.loads(row["scores"])["adherence"]
    assert summary["score"] == pytest.approx(michael.dimensions[Dimension.ADHERENCE].score)
    assert (summary["unscored"], summary["marked"]) == (1, 0)


def test_every_score_has_its_reason_its_message_and_its_citations(
    store: Store, evaluations: dict[str, PersonaEvaluation]
) -> None:
    michael = evaluations["michael"]
    scores = store.evaluations.scores(stored(store, michael))
    assert len(scores) == sum(item.score is not None for item in michael.items)
    inverted = scores[scores["proposition_id"] == "michael-never-boring"].iloc[0]
    assert (inverted["raw_score"], inverted["score"], inverted["is_inverted"]) == (6, 3.0, True)
    assert inverted["claim"] == "Michael Scott gives a dry, factual answer."
    assert (inverted["reasoning"], inverted["confidence"], inverted["weight"]) == (
        "Because \u2026",
        0.25,
        pytest.approx(0.8),
    )
    about_one = scores[scores["proposition_id"] == "adherence-action"].iloc[0]
    assert about_one["message_id"].startswith(("monday-", "copier-", "client-", "birthday-", "flat-"))
    (citation,) = json.loads(about_one["citations"])
    assert citation.count(":") == 1
    first_of_all = scores[scores["mark"] != ""]
    assert set(first_of_all["mark"]) <= {"precondition"}
    assert set(first_of_all["raw_score"]) <= {9}


def test_what_could_not_be_scored_is_kept_apart(store: Store, evaluations: dict[str, PersonaEvaluation]) -> None:
    run_id = stored(store, evaluations["michael"])
    (failure,) = store.evaluations.failures(run_id).to_dict("records")
    assert failure == {
        "dimension": "adherence",
        "proposition_id": "adherence-manner",
        "subject": "Michael Scott, 1 time",
        "status": "error",
        "reason": "no answer",
    }
    assert "adherence-manner" not in set(store.evaluations.scores(run_id)["proposition_id"])


def test_ideas_are_a_count_of_any_size_with_their_list(store: Store, evaluations: dict[str, PersonaEvaluation]) -> None:
    room = evaluations["channel:conference-room"]
    scores = store.evaluations.scores(stored(store, room))
    ideas = scores[scores["dimension"] == "ideas_quantity"]
    assert list(ideas["score"]) == [2.0, 2.0]
    listed = json.loads(ideas.iloc[0]["ideas"])
    assert [idea["text"] for idea in listed] == ["Sell a sash", "Sing"]
    assert len(listed[0]["citations"]) == 1
    assert listed[1]["citations"] == []
    assert store.agents.get("channel:conference-room").kind is TargetType.ENVIRONMENT
    items = room.dimensions[Dimension.IDEAS_QUANTITY].items
    many = replace(
        room,
        dimensions={
            Dimension.IDEAS_QUANTITY: replace(
                room.dimensions[Dimension.IDEAS_QUANTITY], items=(replace(items[0], score=250.0),)
            )
        },
    )
    assert store.evaluations.scores(stored(store, many))["score"].max() == 250.0


def test_a_run_that_scores_nothing_has_failed(store: Store) -> None:
    cast = shipped_cast()
    sources = Sources(cast.transcripts_of(["jim"]), SpeakerMap(known=cast.by_slug), cast, {})
    subject = subject_of(sources.agent("jim"), sources)
    broken = asyncio.run(evaluate_agent(subject, ScriptedJudge(lambda _: "boom"), PropositionLibrary.load()))
    stored(store, broken)
    (row,) = store.evaluations.runs().to_dict("records")
    assert row["status"] == "failed"
    assert row["error"].startswith("adherence: boom")
    assert store.evaluations.latest().empty


def test_a_run_that_was_broken_off(store: Store) -> None:
    run_id = store.evaluations.begin(Agent("ann", "Ann"), EvaluationPlan())
    assert store.evaluations.runs()["status"].tolist() == ["running"]
    store.evaluations.fail(run_id, "The server went away.")
    (row,) = store.evaluations.runs().to_dict("records")
    assert (row["status"], row["error"]) == ("failed", "The server went away.")


def test_the_latest_run_of_each_agent_and_baselines(store: Store, evaluations: dict[str, PersonaEvaluation]) -> None:
    first = stored(store, evaluations["michael"])
    second = stored(store, evaluations["michael"])
    other = stored(store, evaluations["jim"])
    assert store.evaluations.latest()["run_id"].tolist() == [second, other]
    assert store.evaluations.latest(["jim"])["run_id"].tolist() == [other]
    store.evaluations.mark_baseline(first)
    assert store.evaluations.runs("michael")["is_baseline"].tolist() == [True, False]


def test_personas_are_given_changed_and_taken_back(store: Store, evaluations: dict[str, PersonaEvaluation]) -> None:
    stored(store, evaluations["michael"])
    persona = {"name": "Mike", "likes": ["tea", 3], "\u00e9": None}
    store.agents.save(replace(store.agents.get("michael"), persona=persona))
    assert store.agents.get("michael").persona == persona
    store.agents.save(replace(store.agents.get("michael"), display_name="Mike", persona="A text."))
    assert store.agents.get("michael") == Agent("michael", "Mike", persona="A text.")
    store.agents.ensure([Agent("michael", "Other"), Agent("new", "New")])
    assert store.agents.get("michael").display_name == "Mike"
    store.agents.save(replace(store.agents.get("michael"), persona=None))
    assert store.agents.get("michael").persona is None
    with pytest.raises(InputError, match="more than 1,000,000 characters"):
        store.agents.save(Agent("michael", "Mike", persona="x" * 1_000_001))
    with pytest.raises(NotFoundError):
        store.agents.get("nobody")
    with pytest.raises(InputError):
        store.agents.save(Agent(" ", "x"))


TABLES = ("agents", "runs", "evaluation_runs", "evaluation_scores", "correction_logs", "agent_evaluation_config")
RUN = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def two_agents() -> Store:
    """Two agents with an evaluation of two scores, a config and a correction each, the corrections in one run."""
    two_agents = Store(":memory:")
    with two_agents.unit(write=True) as cursor:
        cursor.execute("INSERT INTO runs (id, kind) VALUES (?, 'simulation')", [RUN])
        for agent in ("ann", "bob"):
            cursor.execute("INSERT INTO agents (id, display_name) VALUES (?, ?)", [agent, agent])
            cursor.execute("INSERT INTO agent_evaluation_config (agent_id) VALUES (?)", [agent])
            cursor.execute(
                "INSERT INTO evaluation_runs (agent_id, dimensions, sample_size) VALUES (?, ['fluency'], 2)", [agent]
            )
            cursor.execute(
                """INSERT INTO correction_logs (agent_id, run_id, original_text, attempt_number, outcome)
                VALUES (?, ?, 'hello', 1, 'passed')""",
                [agent, RUN],
            )
        cursor.execute(
            """INSERT INTO evaluation_scores (evaluation_run_id, dimension, proposition_id, score, reasoning)
            SELECT id, 'fluency', 'p' || n, 7, 'because' FROM evaluation_runs, range(2) numbers(n)"""
        )
    return two_agents


def counts(two_agents: Store) -> dict[str, int]:
    with two_agents.unit() as cursor:
        return {table: len(cursor.execute(f"SELECT 1 FROM {table}").fetchall()) for table in TABLES}


ALL = dict(zip(TABLES, (2, 1, 2, 4, 2, 2), strict=True))


def test_an_agent_goes_with_all_that_is_its_own(two_agents: Store) -> None:
    assert counts(two_agents) == ALL
    two_agents.agents.delete("ann")
    assert counts(two_agents) == dict(zip(TABLES, (1, 1, 1, 2, 1, 1), strict=True))
    two_agents.agents.delete("bob")
    assert counts(two_agents) == dict.fromkeys(TABLES, 0) | {"runs": 1}


def test_an_evaluation_run_goes_with_its_scores(two_agents: Store) -> None:
    with two_agents.unit() as cursor:
        row = cursor.execute("SELECT id FROM evaluation_runs WHERE agent_id = 'ann'").fetchone()
    assert row is not None
    two_agents.evaluations.delete(str(row[0]))
    assert counts(two_agents) == ALL | {"evaluation_runs": 1, "evaluation_scores": 2}


def test_the_corrections_of_a_run_stay_without_it(two_agents: Store) -> None:
    two_agents.corrections.delete_run(RUN)
    assert counts(two_agents) == ALL | {"runs": 0}
    with two_agents.unit() as cursor:
        assert cursor.execute("SELECT DISTINCT run_id FROM correction_logs").fetchall() == [(None,)]
