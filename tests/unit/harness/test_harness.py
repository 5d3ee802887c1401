"""Runs of evaluations: who is found, and what is stored when something breaks."""

import asyncio
from collections.abc import Callable

import pytest

from evaluation.errors import NotFoundError, StoreError
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension, TargetType
from evaluation.judging.protocol import Judge, Judgement
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import EvaluationPlan, PersonaEvaluation
from evaluation.store import Store
from evaluation.workflows.agents import KnownAgents, find_subjects
from evaluation.workflows.persona_runs import evaluate_persona
from tests.games import game_of

ALL = tuple(Dimension)


def put(store: Store, game: str, *lines: tuple[str, str], channel: str = "kitchen") -> None:
    said = [(who, text, {"channel_name": channel}) for who, text in lines]
    store.transcripts.add(game_of(said, game_id=game), source_name=game)


def found(store: Store, *references: str, dimensions: tuple[Dimension, ...] = ALL) -> list[str]:
    subjects = find_subjects(store, references, dimensions, PropositionLibrary.load())
    return [subject.agent.id for subject in subjects]


def run(store: Store, judge_for: Callable[[str], Judge], *references: str) -> list[PersonaEvaluation]:
    library, plan = PropositionLibrary.load(), EvaluationPlan([Dimension.FLUENCY])

    async def collect() -> list[PersonaEvaluation]:
        subjects = find_subjects(store, references, plan.dimensions, library)
        return [each async for _, each in evaluate_persona(store, subjects, judge_for, library, plan, mode="offline")]

    return asyncio.run(collect())


def answering(score: int) -> ScriptedJudge:
    return ScriptedJudge(lambda _: ScoreAnswer(reason="So.", score=score, confidence=1.0))


def test_names_lead_to_agents(store: Store) -> None:
    put(store, "g", ("Ann Lee", "Hello."), ("Michael Scott", "Hi."))
    store.agents.save(Agent("boss", "Big Boss"))
    store.agents.map_speaker("Ann Lee", "boss")
    known = KnownAgents.of(store)
    for agent_id, names in {"boss": ("boss", "Ann Lee", "Big Boss"), "michael": ("michael", "Michael Scott")}.items():
        assert [known.resolve(name) for name in names] == [agent_id] * len(names)
    assert known.resolve("jim") == "jim"
    assert known.ids[:2] == ["boss", "michael"]
    with pytest.raises(NotFoundError, match=r"Nobody called 'Pam' speaks anywhere\. Choose from: boss, michael"):
        known.resolve("Pam")


def test_a_channel_is_named_like_one_and_no_speaker_becomes_it(store: Store) -> None:
    put(store, "g", ("Kitchen", "I am a person."), ("Ann", "I see."))
    store.evaluations.begin(Agent("channel:kitchen", "Kitchen", TargetType.ENVIRONMENT), EvaluationPlan())
    assert found(store, "Kitchen", dimensions=(Dimension.FLUENCY,)) == ["kitchen"]


def test_agents_bring_the_channels_that_they_speak_in(store: Store) -> None:
    put(store, "g", ("Ann", "Hello."), ("Bob", "Hi."))
    put(store, "h", ("Cid", "Ho."), channel="attic")
    assert found(store, "ann", "ann") == ["ann", "channel:kitchen"]
    assert found(store, "ann", dimensions=(Dimension.ADHERENCE,)) == ["ann"]
    assert found(store, "all") == ["ann", "bob", "cid", "channel:kitchen", "channel:attic"]
    assert found(store, "channel:attic") == ["channel:attic"]


def test_stored_transcripts_come_before_shipped_ones(store: Store) -> None:
    put(store, "g", ("Michael", "Stored words only."), ("Ann", "Indeed they are."))
    (michael,) = find_subjects(store, ["michael"], (), PropositionLibrary.load())
    assert sum(len(each.positions) for each in michael.portrayals) == 1
    assert found(store, "all") == ["michael", "ann", "channel:kitchen"]


def test_conversations_of_experiments_are_left_out_unless_asked_for(store: Store) -> None:
    for name, source_format in (("real", "native"), ("room", "simulation")):
        store.transcripts.add(game_of([("Ann", f"Hello from {name}.")], source_format=source_format), source_name=name)
    for with_simulated, count in ((False, 1), (True, 2)):
        (subject,) = find_subjects(store, ["ann"], (), PropositionLibrary.load(), with_simulated=with_simulated)
        assert sum(len(each.positions) for each in subject.portrayals) == count


def test_every_run_is_stored_before_the_next_begins(store: Store) -> None:
    put(store, "g", ("Ann", "Hello."), ("Bob", "Hi."))
    seen: list[list[str]] = []

    def judge_for(run_id: str) -> Judge:
        seen.append(store.evaluations.runs()["status"].tolist())
        assert store.evaluations.runs()["run_id"].tolist()[-1] == run_id
        return answering(6)

    evaluations = run(store, judge_for, "ann", "bob")
    assert seen == [["running"], ["completed", "running"]]
    assert [each.agent.id for each in evaluations] == ["ann", "bob"]


class _Broken:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def judge(self, requests: object, *, report: object = None) -> list[Judgement]:
        raise self._error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreError("The disk is full."), "The run was broken off. The disk is full."),
        (KeyboardInterrupt(), "The run was broken off."),
    ],
)
def test_a_run_that_breaks_is_stored_as_failed_and_the_error_goes_on(
    store: Store, error: BaseException, said: str
) -> None:
    put(store, "g", ("Ann", "Hello."), ("Bob", "Hi."))
    judges = iter([answering(6), _Broken(error)])
    with pytest.raises(type(error)):
        run(store, lambda _: next(judges), "ann", "bob")
    rows = store.evaluations.runs().to_dict("records")
    assert [(row["agent_id"], row["status"]) for row in rows] == [("ann", "completed"), ("bob", "failed")]
    assert rows[1]["error"] == said
