"""The five scorers: what each asks of whom, and the scores that follow. All sums by hand."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evaluation.judging.answers import Answer, Idea, IdeasAnswer, ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.proposition_scores import Mark
from evaluation.judging.propositions import Dimension, TargetType
from evaluation.judging.protocol import JudgeKind, Judgement, JudgeRequest
from evaluation.judging.questions import Options
from evaluation.persona.agents import Agent, SpeakerMap, shipped_cast
from evaluation.persona.dimensions import vocabulary_evidence
from evaluation.persona.evaluation import EvaluationPlan, PersonaEvaluation, evaluate_agent
from evaluation.persona.subjects import Sources, Subject, subject_of
from evaluation.transcript import Transcript
from tests.games import game_of

Script = Callable[[JudgeRequest], Answer | str | None]
START = datetime(2025, 3, 1, tzinfo=UTC)
ANN = Agent("ann", "Ann", persona="A baker.")
ROOM = Agent("channel:public", "public", TargetType.ENVIRONMENT)
FILES = {
    "adherence": "target_type: agent\npropositions:\n"
    "- {id: whole, claim: '{{agent_name}} bakes', weight: 1.0}\n"
    "- {id: each, claim: '{{action}} is floury', weight: 0.5}\n",
    "consistency": "target_type: agent\ninclude_personas: false\npropositions:\n"
    "- {id: same, claim: 'One speaker', precondition: has_spoken_before}\n",
    "fluency": "target_type: agent\ninclude_personas: false\npropositions:\n"
    "- {id: dull, claim: '{{agent_name}} repeats', inverted: true}\n",
    "convergence": "target_type: environment\ninclude_personas: false\npropositions:\n"
    "- {id: apart, claim: 'Voices differ'}\n",
    "ideas_quantity": "target_type: environment\ninclude_personas: false\npropositions:\n"
    "- {id: ideas, claim: 'List ideas'}\n",
}


@pytest.fixture
def library(tmp_path: Path) -> PropositionLibrary:
    for dimension, body in FILES.items():
        path = tmp_path / dimension / "_default.yaml"
        path.parent.mkdir()
        path.write_text(f"dimension: {dimension}\nagent_id: _default\n{body}", encoding="utf-8")
    return PropositionLibrary.load([tmp_path])


def talk(game: str, *lines: tuple[str, str], day: int = 0) -> Transcript:
    times = [{"sent_at": START + timedelta(days=day, minutes=at)} for at in range(len(lines))]
    return game_of([(*line, time) for line, time in zip(lines, times, strict=True)], game_id=game)


GAME = talk("g", ("Ann", "Flour first."), ("Bob", "Why?"), ("Ann", "Because dough."), ("Ann", "And salt."))


def subject(agent: Agent, *games: Transcript) -> Subject:
    return subject_of(agent, Sources(games or (GAME,), SpeakerMap(), shipped_cast(), {agent.id: agent}))


def mark(score: int, *, missing: bool = False) -> ScoreAnswer:
    return ScoreAnswer(reason="So.", score=score, confidence=1.0, citations=[1], data_missing=missing)


def evaluate(
    found: Subject, script: Script, library: PropositionLibrary, plan: EvaluationPlan | None = None
) -> PersonaEvaluation:
    return asyncio.run(evaluate_agent(found, ScriptedJudge(script), library, plan))


def asked(
    found: Subject, score: int, library: PropositionLibrary, *dimensions: Dimension, sample_size: int | None = None
) -> tuple[PersonaEvaluation, Sequence[JudgeRequest]]:
    """The evaluation by a judge that gives everything this score, and what it was asked."""
    judge = ScriptedJudge(lambda _: mark(score))
    plan = EvaluationPlan(dimensions) if sample_size is None else EvaluationPlan(dimensions, sample_size=sample_size)
    return asyncio.run(evaluate_agent(found, judge, library, plan)), judge.asked


def test_adherence_is_asked_once_of_the_whole_and_once_per_message(library: PropositionLibrary) -> None:
    marks = {"whole": 8, "each: Ann, message m0": 3, "each: Ann, message m2": 5, "each: Ann, message m3": 7}

    def script(request: JudgeRequest) -> ScoreAnswer:
        return mark(next(score for key, score in marks.items() if request.subject.startswith(key)))

    plan = EvaluationPlan([Dimension.ADHERENCE])
    result = evaluate(subject(ANN), script, library, plan).dimensions[Dimension.ADHERENCE]
    # whole 8 at weight 1; each (3 + 5 + 7) / 3 = 5 at weight 0.5: (8 + 2.5) / 1.5 = 7.
    assert result.score == pytest.approx(7.0)
    assert [(item.proposition.id, item.reference.partition(":")[2], item.score) for item in result.items] == [
        ("whole", "", 8.0),
        ("each", "m0", 3.0),
        ("each", "m2", 5.0),
        ("each", "m3", 7.0),
    ]
    assert result.items[2].snippet == "Because dough."
    assert result.items[0].snippet == "Flour first."


def test_adherence_shows_the_persona_and_what_came_before_only(library: PropositionLibrary) -> None:
    _, requests = asked(subject(ANN), 5, library, Dimension.ADHERENCE)
    whole, first, second, _ = (request.prompt.text for request in requests)
    assert "A baker." in whole
    assert "acts: And salt." in whole
    assert "Bob" not in first
    assert "[M2] Bob --> Ann: Why?" in second
    assert "And salt." not in second


def test_adherence_without_a_persona_is_not_scored_and_nobody_is_asked(library: PropositionLibrary) -> None:
    result, requests = asked(subject(Agent("bob", "Bob")), 9, library, Dimension.ADHERENCE)
    assert requests == []
    scored = result.dimensions[Dimension.ADHERENCE]
    assert scored.score is None
    assert scored.reason.startswith("No persona of Bob is known")
    assert result.overall_score is None
    assert not result.has_failed


def test_consistency_pairs_every_message_with_the_agents_earlier_ones(library: PropositionLibrary) -> None:
    judge = ScriptedJudge(lambda request: mark(6 if "m2" in request.subject else 2))
    result = asyncio.run(evaluate_agent(subject(ANN), judge, library, EvaluationPlan([Dimension.CONSISTENCY])))
    scored = result.dimensions[Dimension.CONSISTENCY]
    # m0 has nothing before it and makes no pair: (6 + 2) / 2 = 4.
    assert [item.reference.partition(":")[2] for item in scored.items] == ["m2", "m3"]
    assert (scored.score, scored.marked) == (4.0, 0)
    last = judge.asked[-1]
    assert "Why?" not in last.prompt.text
    assert "A baker." not in last.prompt.text
    assert last.offline.groups == (("Flour first.", "Because dough."), ("And salt.",))


def test_marked_nines_count_but_are_shown_apart(library: PropositionLibrary) -> None:
    found, plan = subject(ANN), EvaluationPlan([Dimension.CONSISTENCY])
    marks = {True: mark(9, missing=True), False: mark(3)}
    scored = evaluate(found, lambda request: marks["m2" in request.subject], library, plan).dimensions
    # (9 + 3) / 2 = 6 with the nine for missing data, 3 without.
    result = scored[Dimension.CONSISTENCY]
    assert (result.score, result.score_without_marked, result.marked) == (6.0, 3.0, 1)
    assert [item.mark for item in result.items] == [Mark.DATA_MISSING, Mark.NONE]
    nothing = evaluate(found, lambda _: mark(9, missing=True), library, plan).dimensions[Dimension.CONSISTENCY]
    assert (nothing.score, nothing.marked) == (None, 2)
    assert nothing.reason == "every score is a 9 for missing data or a precondition that does not hold"


def test_fluency_shows_the_agents_own_words_with_what_recurs(library: PropositionLibrary) -> None:
    game = talk("g", ("Ann", "I think that we bake."), ("Bob", "No."), ("Ann", "I think that we rest."))
    result, (request,) = asked(subject(ANN, game), 7, library, Dimension.FLUENCY)
    # The claim is inverted: 9 - 7 = 2.
    assert result.dimensions[Dimension.FLUENCY].score == 2.0
    assert ": No." not in request.prompt.text
    assert "Of the three-word phrases after the first, 67% stand in an earlier one." in request.prompt.text
    assert (request.offline.dimension, request.offline.is_inverted) == ("fluency", True)


def test_what_is_counted_is_what_a_model_would_see(library: PropositionLibrary) -> None:
    game = talk("g", *[("Ann", f"Line number {number}.") for number in range(200)])
    _, (pair, own) = asked(subject(ANN, game), 7, library, Dimension.CONSISTENCY, Dimension.FLUENCY, sample_size=1)
    # The first 10 and the last 100 messages; of a pair those before the later one, if there are so many.
    assert len(own.offline.groups[0]) == 110
    assert own.offline.groups[0][9:11] == ("Line number 9.", "Line number 100.")
    assert len(pair.offline.groups[0]) == min(110, len(pair.messages) - 1)
    assert "110 messages." in own.prompt.user


def test_convergence_and_ideas_are_means_over_conversations(library: PropositionLibrary) -> None:
    other = talk("h", ("Ann", "Tea."), ("Bob", "Milk."), day=1)

    def script(request: JudgeRequest) -> Answer:
        is_first = "Flour first." in request.prompt.text
        if request.answer is IdeasAnswer:
            texts = ("Bake", "bakes", "Rest") if is_first else ("Bake",)
            return IdeasAnswer(ideas=[Idea(text=text, citations=[1]) for text in texts])
        return mark(8 if is_first else 3)

    found = subject(ROOM, GAME, other)
    _, requests = asked(found, 5, library, Dimension.CONVERGENCE)
    assert "2 speakers. Two of them share" in requests[0].prompt.user
    result = evaluate(found, script, library)
    assert list(result.dimensions) == [Dimension.CONVERGENCE, Dimension.IDEAS_QUANTITY]
    # (8 + 3) / 2 = 5.5; "Bake" and "bakes" are one idea, so 2 and 1 ideas: 1.5.
    assert result.dimensions[Dimension.CONVERGENCE].score == 5.5
    assert result.dimensions[Dimension.IDEAS_QUANTITY].score == 1.5
    # Ideas are counted and stay out of the overall score.
    assert result.overall_score == 5.5
    assert result.sample_size == 2


def test_an_agent_has_three_dimensions_and_their_mean(library: PropositionLibrary) -> None:
    marks = {"adherence": 8, "consistency": 5, "fluency": 1}
    result = evaluate(subject(ANN), lambda request: mark(marks[request.purpose]), library)
    # Adherence 8; consistency 5; fluency 9 - 1 = 8: (8 + 5 + 8) / 3 = 7.
    assert result.overall_score == pytest.approx(7.0)
    assert result.judges == ((JudgeKind.SCRIPTED, "scripted"),)
    # Four questions on adherence, two pairs, one on fluency.
    assert result.usage.calls == 7


def test_the_sample_bounds_what_is_asked(library: PropositionLibrary) -> None:
    game = talk("g", *[("Ann", f"Line {number}.") for number in range(50)])
    plan = EvaluationPlan([Dimension.ADHERENCE], sample_size=4, seed=3)
    result, again = (evaluate(subject(ANN, game), lambda _: mark(5), library, plan) for _ in range(2))
    assert result.sample_size == 4
    assert len(result.dimensions[Dimension.ADHERENCE].items) == 1 + 4
    assert [item.reference for item in again.items] == [item.reference for item in result.items]


def test_errors_and_refusals_have_no_score_and_are_no_zeros(library: PropositionLibrary) -> None:
    result = evaluate(subject(ANN), lambda request: "broken" if request.purpose == "fluency" else None, library)
    assert [each.score for each in result.dimensions.values()] == [None, None, None]
    assert result.dimensions[Dimension.FLUENCY].reason == "broken"
    assert result.dimensions[Dimension.ADHERENCE].reason == "not in the script"
    assert result.has_failed
    assert all(item.score is None for item in result.items)


def test_options_reach_every_question_and_progress_is_told(library: PropositionLibrary) -> None:
    judge = ScriptedJudge(lambda _: mark(5))
    told: list[tuple[int, Judgement]] = []
    plan = EvaluationPlan([Dimension.ADHERENCE], options=Options(is_batched=True, has_double_check=True))
    asyncio.run(evaluate_agent(subject(ANN), judge, library, plan, report=lambda at, said: told.append((at, said))))
    assert all(request.double_check and request.batch_group for request in judge.asked)
    assert [position for position, _ in told] == [0, 1, 2, 3]


def test_vocabularies_side_by_side() -> None:
    # Without function words: {flour, dough, salt} and {salt, wind}; shared 1 of 4 = 25 %.
    assert vocabulary_evidence({"Ann": ["Flour, dough!", "Salt."], "Bob": ["Salt wind, salt."]}) == (
        "2 speakers. Two of them share 25% of their words on average, Ann and Bob most (25%).\n"
        "Ann: 3 words, 3 different; only they say: dough, flour.\n"
        "Bob: 3 words, 2 different; only they say: wind."
    )
    assert vocabulary_evidence({"Ann": ["alone"]}) == ""
