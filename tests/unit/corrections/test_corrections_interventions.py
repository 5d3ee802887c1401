"""Interventions: what lets them act, in which order it is looked at, and what they do."""

import asyncio
from collections.abc import Sequence

import pytest

from evaluation.corrections.config import CorrectionConfig
from evaluation.corrections.interventions import (
    Execution,
    Intervention,
    InterventionBatch,
    anti_convergence,
    configured,
    nudge_for,
    nudges,
    run_interventions,
    variety,
)
from evaluation.judging.answers import CheckAnswer, ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.propositions import Dimension, Proposition, Target, TargetType, TrajectoryEvent

Line = tuple[str, str]
SAID: tuple[Line, ...] = (("Michael", "I agree with the plan"), ("Dwight", "I agree with the plan"))


class Agent:
    """An agent that hears everything."""

    def __init__(self, name: str, said: Sequence[Line] = SAID) -> None:
        self.agent_id = name.lower()
        self.box: list[str] = []
        events = tuple(
            TrajectoryEvent("t", f"m{i}", who, text, who == name, "office") for i, (who, text) in enumerate(said)
        )
        self.target = Target(TargetType.AGENT, name, events, {name: f"{name}'s persona"})

    def nudge(self, thought: str) -> None:
        self.box.append(thought)


def yes(holds: bool = True) -> ScriptedJudge:
    return ScriptedJudge(lambda request: CheckAnswer(reason="so it is", holds=holds, confidence=1, citations=[]))


def scoring(mark: int) -> ScriptedJudge:
    return ScriptedJudge(lambda request: ScoreAnswer(reason="seen", score=mark, confidence=1))


def run(intervention: Intervention, judge: ScriptedJudge) -> Execution:
    return asyncio.run(intervention.execute(judge))


def marking(agent: Agent) -> Intervention:
    return Intervention(agent).set_effect(lambda agents: [each.nudge("now") for each in agents] and None)


DIVERGENCE = Proposition("divergence", "The voices differ.", Dimension.CONVERGENCE, includes_personas=False)


def test_every_setter_can_be_chained() -> None:
    agent = Agent("Michael")
    made = Intervention(agent)
    assert made.set_textual_precondition("x").set_functional_precondition(bool).set_effect(print) is made
    assert made.set_propositional_precondition(DIVERGENCE, 5) is made
    batch = InterventionBatch.create_for_each([agent, Agent("Dwight")])
    assert batch.set_textual_precondition("x").set_functional_precondition(bool).set_effect(print) is batch
    assert batch.set_propositional_precondition(DIVERGENCE) is batch
    assert [len(each.targets) for each in batch] == [1, 1]


def test_without_preconditions_the_effect_takes_place() -> None:
    agent = Agent("Michael")
    assert run(marking(agent), yes()).is_applied
    assert agent.box == ["now"]


def test_all_must_hold_and_what_is_free_is_looked_at_first() -> None:
    agent, judge = Agent("Michael"), yes()
    found = run(
        marking(agent).set_textual_precondition("It rains.").set_functional_precondition(lambda _: False), judge
    )
    assert (found.is_applied, found.reasons) == (False, ("the function says no",))
    assert judge.asked == []
    judge = yes(holds=False)
    found = run(marking(agent).set_textual_precondition("It rains.").set_functional_precondition(lambda _: True), judge)
    assert found.reasons == ("the function says yes", "the judge says no: so it is")
    assert agent.box == []


def test_the_judge_of_a_text_sees_the_window_and_no_persona() -> None:
    agent, judge = Agent("Michael", [("Dwight", f"line {i}") for i in range(30)]), yes()
    intervention = Intervention(agent, first_n=2, last_n=3).set_textual_precondition("It rains.")
    assert not run(intervention, judge).is_applied, "there is nothing to apply"
    (request,) = judge.asked
    assert sorted(request.messages) == [1, 2, 28, 29, 30]
    assert "persona" not in request.prompt.text
    assert "It rains." in request.prompt.text


@pytest.mark.parametrize(("mark", "acts"), [(4, True), (5, False), (9, False)])
def test_a_high_score_says_that_nothing_needs_to_be_done(mark: int, acts: bool) -> None:
    found = run(marking(Agent("Michael")).set_propositional_precondition(DIVERGENCE, threshold=5), scoring(mark))
    assert found.is_applied is acts
    assert found.reasons == (f"scored {mark} of 9, acts below 5: seen",)


@pytest.mark.parametrize("holds", [True, False])
def test_a_proposition_without_threshold_is_checked(holds: bool) -> None:
    assert run(marking(Agent("Michael")).set_propositional_precondition(DIVERGENCE), yes(holds)).is_applied is holds


@pytest.mark.parametrize("threshold", [None, 5.0])
def test_a_judge_without_an_answer_lets_nothing_act(threshold: float | None) -> None:
    silent = ScriptedJudge(lambda request: None)
    found = run(marking(Agent("Michael")).set_propositional_precondition(DIVERGENCE, threshold), silent)
    assert not found.is_applied
    assert "not in the script" in found.reasons[0]
    assert not run(marking(Agent("Michael")).set_textual_precondition("x"), silent).is_applied


def test_interventions_run_once_each_in_order() -> None:
    agent, order = Agent("Michael"), []
    made = [Intervention(agent, name=name).set_effect(lambda _, name=name: order.append(name)) for name in "abc"]
    assert [one.name for one in asyncio.run(run_interventions(made, yes()))] == list("abc")
    assert order == list("abc")


def test_agreement_is_judged_only_when_words_are_alike() -> None:
    # The two messages are the same: overlap 1, at or above any threshold.
    agents, judge = [Agent("Michael"), Agent("Dwight")], yes()
    assert run(anti_convergence(agents, CorrectionConfig()), judge).is_applied
    assert agents[0].box == [nudge_for("michael", "different")]
    assert agents[1].box == [nudge_for("dwight", "different")]
    different = [Agent("Michael", [("Michael", "one two"), ("Dwight", "three four")])]
    judge = yes()
    assert not run(anti_convergence(different, CorrectionConfig()), judge).is_applied
    assert judge.asked == []


def test_the_threshold_of_convergence_is_reached_by_equality() -> None:
    # One of two messages consents: 0.8 / 2. No word is shared.
    agent = Agent("Michael", [("Michael", "Absolutely, honey."), ("Dwight", "Beets grow.")])
    assert run(anti_convergence([agent], CorrectionConfig(convergence_threshold=0.4)), yes()).is_applied
    assert not run(anti_convergence([agent], CorrectionConfig(convergence_threshold=0.41)), yes()).is_applied


def test_variety_waits_for_seven_messages_of_the_agent_itself() -> None:
    six = Agent("Jim", [("Jim", f"line {i}") for i in range(6)] + [("Dwight", "x")] * 9)
    seven = Agent("Michael", [("Michael", f"line {i}") for i in range(7)])
    done = asyncio.run(run_interventions(variety([six, seven], CorrectionConfig()), yes()))
    assert [one.is_applied for one in done] == [False, True]
    assert seven.box == [nudge_for("michael", "new")]
    assert six.box == []


def test_everything_is_off_by_default_and_configured_agent_by_agent() -> None:
    agents = [Agent("Michael"), Agent("Dwight"), Agent("Jim")]
    assert configured(agents, {}) == []
    on = CorrectionConfig(anti_convergence_enabled=True, variety_intervention_enabled=True)
    made = configured(agents, {"michael": on, "dwight": on})
    assert [(one.name, len(one.targets)) for one in made] == [("anti-convergence", 2), ("variety", 1), ("variety", 1)]


def test_nudges_know_the_character() -> None:
    assert {"michael", "dwight", "jim"} < set(nudges())
    assert all(set(kinds) == {"different", "new"} for kinds in nudges().values())
    assert nudge_for("stranger", "new") == nudges()["_default"]["new"]
    assert nudge_for("jim", "new") == nudges()["jim"]["new"]
    for name, words in {"michael": "tell a story", "dwight": "Assert your authority", "jim": "witty remark"}.items():
        assert words in nudge_for(name, "different")
    texts = [text for kinds in nudges().values() for text in kinds.values()]
    assert len(set(texts)) == len(texts)
