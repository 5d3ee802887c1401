"""Judges against people's blind marks: hand-worked figures, the words for them, and marks that are only ever added."""

from __future__ import annotations

import asyncio
import math

import pytest

from evaluation.agreement.calibration import (
    calibration_words,
    calibrations,
    wrong_propositions,
)
from evaluation.errors import InputError
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import Dimension
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.ratings import BlindMark
from evaluation.store import Store
from evaluation.workflows.agents import find_subjects
from evaluation.workflows.persona_runs import evaluate_persona
from evaluation.workflows.ratings.calibration import context_of


def mark(key: str, judge: int, person: int | None, rater: str = "Ann", proposition: str = "p") -> BlindMark:
    return BlindMark(key, "m", "fluency", proposition, "Claim", judge, rater, person)


def test_figures_are_those_of_the_pairs() -> None:
    # Judge 2 4 6 8, people 1 4 7 8: means 5 and 5, variances 5 and 7.5, covariance (12 + 1 + 2 + 9) / 4 = 6.
    # Kappa 2 * 6 / (5 + 7.5 + 0) = 0.96; all within one point; the commonest mark (1) is near one of four.
    (found,) = calibrations([mark("a", 2, 1), mark("b", 4, 4), mark("c", 6, 7), mark("d", 8, 8)])
    assert found.kappa.value == pytest.approx(0.96)
    assert (found.bias.value, found.close.value, found.floor_close) == (0.0, 1.0, 0.25)
    assert (found.marks, found.judgements, found.is_calibrated) == (4, 4, False)
    assert math.isnan(found.ceiling_kappa)


def test_two_people_on_one_judgement_are_the_ceiling() -> None:
    own = [mark("a", 9, 2), mark("a", 9, 2, "Bob"), mark("b", 9, 8), mark("b", 9, 8, "Bob")]
    (found,) = calibrations(own)
    assert (found.ceiling_kappa, found.ceiling_judgements, found.judgements) == (1.0, 2, 2)


def test_the_worst_proposition_comes_first_and_who_cannot_tell_does_not_count() -> None:
    own = [mark(f"{at}", 5, 5, proposition="right") for at in range(3)]
    own += [mark(f"x{at}", 9, 3, proposition="wrong") for at in range(3)]
    own += [mark("y", 9, None, proposition="right"), mark("z", 9, 0, proposition="rare")]
    found = wrong_propositions(own)
    assert [(one.proposition_id, one.bias, one.distance, one.marks) for one in found] == [
        ("wrong", 6.0, 6.0, 3),
        ("right", 0.0, 0.0, 3),
    ]


def test_a_judge_is_calibrated_from_thirty_marks_on() -> None:
    counts = {("m", "fluency"): 30, ("m", "adherence"): 29}
    assert calibration_words(counts, ["m"], ["fluency"]).startswith("Calibrated: people marked at least 30")
    words = calibration_words(counts, ["m"], ["fluency", "adherence"])
    assert words.startswith("Not calibrated:")
    assert "(Adherence 29; 30 each are needed)" in words
    assert calibration_words(counts, [], ["fluency"]) == ""


def test_marks_are_given_blind_once_by_each_person_and_the_latest_holds() -> None:
    store, library = Store(":memory:"), PropositionLibrary.load()
    subjects = find_subjects(store, ["michael"], (), library)
    plan = EvaluationPlan((Dimension.FLUENCY, Dimension.CONSISTENCY), 2, 0)
    judge = build_judge(judge_config({"mode": "offline"}))

    async def run() -> None:
        async for _ in evaluate_persona(store, subjects, lambda _: judge, library, plan):
            pass

    asyncio.run(run())
    marks = store.calibration_marks
    asked = marks.next_for("Ann")
    assert asked is not None
    assert context_of(store, asked)
    with pytest.raises(InputError, match="not a mark"):
        marks.add(asked, "Ann", 10)
    marks.add(asked, "Ann", 3, "line 2")
    marks.add(asked, "Ann", 4, "line 3")
    (held,) = marks.all()
    assert (held.mark, held.evidence, held.judge_mark) == (4, "line 3", asked.judge_mark)
    following = marks.next_for("Ann")
    assert following is not None
    assert following.judgement_key != asked.judgement_key
    seen = set()
    while (another := marks.next_for("Bob")) is not None:
        assert another.judgement_key not in seen
        seen.add(another.judgement_key)
        marks.add(another, "Bob", None)
    assert asked.judgement_key in seen
    assert sum(store.calibration_marks.counts().values()) == 1
