"""The judge's own noise: by hand, against a known spread, and through the command with a judge that varies."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import numpy as np
import pytest

from evaluation.errors import InputError
from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges.cached import CachedJudge
from evaluation.judging.judges.scripted import ScriptedJudge
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import Dimension, Proposition
from evaluation.judging.propositions.weighted_scores import PropositionScore
from evaluation.judging.protocol import JudgementStatus, JudgeRequest
from evaluation.persona.evaluation import EvaluationPlan, evaluate_agent
from evaluation.persona.judge_noise import dimension_noise, judge_noise
from evaluation.persona.results import DimensionScore
from evaluation.store import Store
from evaluation.workflows.agents import find_subjects

FLUENCY = Dimension.FLUENCY


def items(scores: dict[str, list[float]]) -> list[PropositionScore]:
    return [
        PropositionScore(
            Proposition(key, "{{agent_name}} speaks", FLUENCY), key, JudgementStatus.SCORED, score=score, repeat=repeat
        )
        for key, own in scores.items()
        for repeat, score in enumerate(own)
    ]


def test_noise_by_hand() -> None:
    # Variances within: 2.0 (6, 8) and 0.5 (3, 4), so 1.25. Means 7 and 3.5 have the variance 6.125; half of the noise,
    # 0.625, is in it, so 5.5 lies between questions.
    found = judge_noise(items({"a": [6.0, 8.0], "b": [3.0, 4.0]}))
    assert found.questions == 2
    assert found.sd == pytest.approx(math.sqrt(1.25))
    assert found.share == pytest.approx(1.25 / 6.75)


def test_a_steady_judge_has_no_noise_and_single_answers_none_that_is_known() -> None:
    steady = judge_noise(items({"a": [6.0, 6.0], "b": [3.0, 3.0]}))
    assert (steady.sd, steady.share) == (0.0, 0.0)
    once = judge_noise(items({"a": [6.0], "b": [3.0]}))
    assert (once.questions, math.isnan(once.sd), math.isnan(once.share)) == (0, True, True)


def test_a_known_spread_is_found() -> None:
    random = np.random.default_rng(0)
    true = random.normal(5.0, 2.0, 400)
    answers = true[:, None] + random.normal(0.0, 1.0, (400, 4))
    found = judge_noise(items({str(at): row.tolist() for at, row in enumerate(answers)}))
    # A variance of 1 within and 4 between: a fifth is the judge's own.
    assert found.sd == pytest.approx(1.0, abs=0.05)
    assert found.share == pytest.approx(0.2, abs=0.03)


def test_a_dimension_has_its_repeats_an_interval_and_the_noisiest_proposition_first() -> None:
    found = dimension_noise(DimensionScore.of(FLUENCY, items({"a": [6.0, 6.2], "b": [3.0, 7.0]})))
    assert found.repeats == (4.5, pytest.approx(6.6))
    assert found.score == pytest.approx(5.55)
    assert [key for key, _ in found.propositions] == ["b", "a"]
    assert found.interval.is_known


def test_a_repeat_without_all_of_its_answers_is_left_out() -> None:
    own = items({"a": [6.0, 8.0, 7.0], "b": [3.0, 4.0]})
    missing = PropositionScore(own[0].proposition, "b", JudgementStatus.ERROR, repeat=2)
    assert DimensionScore.of(FLUENCY, [*own, missing]).repeats == (4.5, 6.0)


def test_every_repeat_is_asked_once_and_kept_under_its_number(tmp_path: Path) -> None:
    asked: list[JudgeRequest] = []

    def answer(request: JudgeRequest) -> ScoreAnswer:
        asked.append(request)
        return ScoreAnswer(reason="because", score=4 + request.repeat, confidence=0.5)

    library = PropositionLibrary.load()
    store = Store(tmp_path / "noise.duckdb")
    (subject,) = find_subjects(store, ["michael"], (), library)
    plan = EvaluationPlan([Dimension.ADHERENCE], sample_size=2, repeats=3)
    judge = CachedJudge(ScriptedJudge(answer), store.judgements, model="scripted")
    first = asyncio.run(evaluate_agent(subject, judge, library, plan))
    assert first.dimensions[Dimension.ADHERENCE].repeats != ()
    assert {item.repeat for item in first.items} == {0, 1, 2}
    number = len(asked)
    assert number == len([one for one in first.items if one.judgement])
    again = asyncio.run(evaluate_agent(subject, judge, library, plan))
    assert len(asked) == number, "the second run asks nothing"
    assert again.dimensions[Dimension.ADHERENCE].score == first.dimensions[Dimension.ADHERENCE].score
    store.close()


def test_no_repeats_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="0 repeats"):
        EvaluationPlan(repeats=0)
