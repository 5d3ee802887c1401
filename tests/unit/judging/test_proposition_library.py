"""Proposition files: faults with their lines, and the shipped ones."""

from pathlib import Path

import pytest

from evaluation.errors import InputError
from evaluation.judging.proposition_library import CheckedFile, PropositionLibrary, check_text
from evaluation.judging.propositions import (
    ACTION_WINDOW,
    EVALUATION_WINDOW,
    Dimension,
    Proposition,
    TargetType,
    Window,
    precondition_named,
    register,
    registered,
)

SPECIFICATION = b"""\
dimension: adherence        # Which dimension this proposition set evaluates
agent_id: michael           # Which agent (or '_default' for universal)
include_personas: true      # Include persona spec in judge context (default: true)
target_type: agent          # 'agent' | 'environment' (default: 'agent')
first_n: 5                  # First N actions of trajectory as context (default: 10)
last_n: 10                  # Last N actions of trajectory as context (default: 100)
propositions:
  - id: michael-self-centered
    claim: "{{agent_name}} makes conversations about themselves"
    weight: 1.0             # 0-1, importance for this character
    recommendations_for_improvement: "Reference yourself and your importance."
  - id: michael-never-boring
    claim: "{{agent_name}} would NEVER give a dry, factual response"
    weight: 0.8
    inverted: true          # Anti-pattern: high score from LLM = bad, flipped (9 - raw)
"""


def checked(text: str, file: str = "f.yaml", known: list[str] | None = None) -> CheckedFile:
    return check_text(text.encode(), file, known_agents=known)


def faults(text: str, file: str = "f.yaml", known: list[str] | None = None) -> list[str]:
    return [str(problem) for problem in checked(text, file, known).problems]


def one(line: str, claim: str = "c") -> str:
    """A file that is fine but for ``line``, which is its fifth."""
    return f"dimension: adherence\nagent_id: _default\npropositions:\n  - id: a\n{line}\n    claim: '{claim}'\n"


def test_the_example_of_the_specification() -> None:
    result = check_text(SPECIFICATION, "michael.yaml")
    assert result.problems == []
    assert result.propositions == (
        Proposition(
            id="michael-self-centered",
            claim="{{agent_name}} makes conversations about themselves",
            dimension=Dimension.ADHERENCE,
            agent_id="michael",
            weight=1.0,
            includes_personas=True,
            target_type=TargetType.AGENT,
            first_n=5,
            last_n=10,
            recommendations_for_improvement="Reference yourself and your importance.",
        ),
        Proposition(
            id="michael-never-boring",
            claim="{{agent_name}} would NEVER give a dry, factual response",
            dimension=Dimension.ADHERENCE,
            agent_id="michael",
            weight=0.8,
            is_inverted=True,
            first_n=5,
            last_n=10,
        ),
    )
    assert [proposition.source for proposition in result.propositions] == ["michael.yaml:8", "michael.yaml:12"]


def test_what_is_left_out_gets_the_specifications_defaults() -> None:
    text = (
        "dimension: adherence\nagent_id: _default\npropositions:\n- {id: a, claim: c}\n- {id: b, claim: '{{action}}'}"
    )
    about_all, about_one = checked(text).propositions
    assert about_all.includes_personas
    assert about_all.target_type is TargetType.AGENT
    assert (about_all.weight, about_all.is_inverted, about_all.has_double_check) == (1.0, False, False)
    assert about_all.window == EVALUATION_WINDOW == Window(10, 100)
    assert about_one.window == ACTION_WINDOW == Window(5, 10)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    weight: 1.01", "weight: 1.01 is not a weight. Give a number from 0 (does not count) to 1."),
        ("    weight: true", "weight: True is not a weight."),
        ("    inverted: 'yes'", "inverted: 'yes' is neither true nor false. Write true or false"),
        (
            "    precondition: has_spoken",
            "precondition: 'has_spoken' is no registered precondition. Do you mean 'has_spoken_before'?",
        ),
        ("    wieght: 1", "wieght: This field is not known. Do you mean 'weight'?"),
        ("    id: b", "id: This field stands here twice. Remove one of them."),
        ("    recommendations_for_improvement: [a]", "recommendations_for_improvement: A list is not text"),
    ],
)
def test_a_fault_of_a_proposition(line: str, expected: str) -> None:
    (said,) = faults(one(line))
    assert said.startswith(f"f.yaml:5: propositions[0].{expected}")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("{{agent}} lies", "{{agent}} is not a variable. Do you mean 'agent_name'? Known are {{agent_name}}, "),
        ("{{ agent_name lies", "Double braces enclose no name. Write variables like {{agent_name}}."),
        ("   ", "'   ' is not text of 1 to 2,000 characters."),
        ("x" * 2001, "is not text of 1 to 2,000 characters."),
    ],
)
def test_a_fault_of_a_claim(claim: str, expected: str) -> None:
    (said,) = faults(one("    weight: 1", claim))
    assert said.startswith("f.yaml:6: propositions[0].claim: ")
    assert expected in said


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            "dimension: adherance\nagent_id: a",
            "1: dimension: 'adherance' is not known. Do you mean 'adherence'? Choose from adherence,",
        ),
        ("dimension: adherence\nagent_id: a b", "2: agent_id: 'a b' is not an id. Use letters, digits, '-' and '_'"),
        ("agent_id: a", "1: dimension: It is missing. Add 'dimension: ...'."),
        ("dimension: adherence\nagent_id: ../a", "2: agent_id: '../a' is not an id."),
        (
            "dimension: adherence\nagent_id: a\nfirst_n: -1",
            "3: first_n: -1 is not a number of messages. Give a whole number from 0 to 10,000.",
        ),
        (
            "dimension: adherence\nagent_id: a\nfirst_n: 0\nlast_n: 0",
            "4: last_n: With first_n and last_n 0 the judge sees nothing.",
        ),
        (
            "dimension: adherence\nagent_id: a\ntarget_type: group",
            "3: target_type: 'group' is not known. Choose from agent, environment.",
        ),
        (
            "dimension: adherence\nagent_id: a\ntarget_type: environment",
            "3: target_type: 'environment' does not fit adherence. Write 'target_type: agent'.",
        ),
        (
            "dimension: convergence\nagent_id: _default",
            "1: target_type: 'agent' does not fit convergence. Write 'target_type: environment'.",
        ),
        ("dimension: adherence\nagent_id: a\nweight: 1", "3: weight: This field is not known."),
    ],
)
def test_a_fault_of_the_head(head: str, expected: str) -> None:
    (said,) = faults(f"{head}\npropositions:\n- {{id: x, claim: c}}")
    assert said.startswith(f"f.yaml:{expected}")


def test_an_unknown_agent_is_a_warning_and_the_file_counts() -> None:
    result = checked("dimension: fluency\nagent_id: bob\npropositions:\n- {id: a, claim: c}", known=[])
    assert [problem.is_warning for problem in result.problems] == [True]
    assert len(result.propositions) == 1


def test_a_channel_that_a_run_may_not_know_is_a_warning() -> None:
    head = "dimension: fluency\nagent_id: _default\npropositions:\n"
    (warned,) = checked(f"{head}- {{id: a, claim: 'in {{{{channel_name}}}}'}}").problems
    assert (warned.is_warning, warned.field) == (True, "propositions[0].claim")
    assert checked(f"{head}- {{id: a, claim: 'as {{{{action}}}} in {{{{channel_name}}}}'}}").problems == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "f.yaml:1: dimension: It is missing. Add 'dimension: ...'."),
        (b"- a", "f.yaml:1: file: This is not a mapping."),
        (b"a: [1\nb: 2", "f.yaml:2: syntax: This is not YAML:"),
        (b"a: 1\nb: \xff", "f.yaml:2: file: Byte 0xff is not UTF-8. Save the file as UTF-8."),
        (b"a: &x 1\nb: *x", "f.yaml:2: syntax: The alias *x is not supported. Write the value out."),
        (b"[" * 100_000, "f.yaml:1: syntax: More than 10 levels are nested."),
        (b"a" * 200_001, "f.yaml:1: file: 200,001 bytes are more than 200,000."),
        (b"a: !!python/object:os.system x", "f.yaml:1: syntax: This is not YAML:"),
        (b"a: 2024-99-99", "f.yaml:1: syntax: A value cannot be read: month must be in 1..12. Put it in quotes."),
        (b"dimension: fluency\nagent_id: a", "f.yaml:1: propositions: It is missing."),
        (b"dimension: fluency\nagent_id: a\npropositions: []", "f.yaml:3: propositions: It does not hold a list."),
    ],
)
def test_files_that_hold_no_propositions(content: bytes, expected: str) -> None:
    result = check_text(content, "f.yaml")
    assert str(result.errors[0]).startswith(expected)
    assert result.propositions == ()


def test_a_claim_about_a_channel_names_no_single_agent() -> None:
    text = (
        "dimension: convergence\nagent_id: _default\ntarget_type: environment\n"
        "propositions:\n- {id: a, claim: '{{agent_name}} in {{channel_name}}'}"
    )
    (said,) = faults(text)
    assert said.startswith("f.yaml:5: propositions[0].claim: {{agent_name}} belongs to one agent")


def test_ideas_cannot_be_inverted() -> None:
    text = (
        "dimension: ideas_quantity\nagent_id: _default\ntarget_type: environment\n"
        "propositions:\n- id: a\n  claim: c\n  inverted: true"
    )
    (said,) = faults(text)
    assert said.startswith("f.yaml:7: propositions[0].inverted: Ideas are counted")


def test_a_file_agrees_with_where_it_lies() -> None:
    text = "dimension: fluency\nagent_id: bob\npropositions:\n- {id: a, claim: c}"
    assert faults(text, "x/adherence/ann.yaml") == [
        "x/adherence/ann.yaml:1: dimension: 'fluency' stands in the folder 'adherence'. Move the file or correct it.",
        "x/adherence/ann.yaml:2: agent_id: 'bob' stands in a file named 'ann'. Rename the file or correct it.",
    ]
    assert faults(text, "x/notes/ann.yaml") == []


def write(root: Path, name: str, *propositions: str, dimension: str = "fluency") -> None:
    path = root / dimension / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = "\n".join(f"- {each}" for each in propositions)
    path.write_text(f"dimension: {dimension}\nagent_id: {name}\npropositions:\n{listed}\n", encoding="utf-8")


def test_an_agents_file_adds_and_overrides_by_id(tmp_path: Path) -> None:
    write(tmp_path, "_default", "{id: a, claim: default a}", "{id: b, claim: default b}")
    write(tmp_path, "ann", "{id: c, claim: ann c}", "{id: a, claim: ann a, weight: 0.5}")
    library = PropositionLibrary.load([tmp_path])
    found = library.propositions_for(Dimension.FLUENCY, ["ann"])
    # What is replaced keeps its place; what is added comes after the defaults.
    assert [(each.id, each.claim) for each in found] == [("a", "ann a"), ("b", "default b"), ("c", "ann c")]
    others = library.propositions_for(Dimension.FLUENCY, ["bob"])
    assert [each.claim for each in others] == ["default a", "default b"]
    assert library.propositions_for(Dimension.ADHERENCE) == ()
    assert library.agent_ids == ("ann",)


def test_the_agent_outranks_its_personality_type_and_a_later_folder_an_earlier(tmp_path: Path) -> None:
    write(tmp_path / "shipped", "_default", "{id: a, claim: default}")
    write(tmp_path / "shipped", "social", "{id: a, claim: type}", "{id: b, claim: type}")
    write(tmp_path / "own", "ann", "{id: a, claim: agent}")
    write(tmp_path / "own", "_default", "{id: d, claim: own default}")
    library = PropositionLibrary.load([tmp_path / "shipped", tmp_path / "own"])
    found = library.propositions_for(Dimension.FLUENCY, ["social", "ann"])
    assert [(each.id, each.claim) for each in found] == [("a", "agent"), ("d", "own default"), ("b", "type")]


def test_preconditions_are_registered_once() -> None:
    with pytest.raises(InputError, match="'has_persona' exists already"):
        register("has_persona")(precondition_named("has_persona"))
    with pytest.raises(InputError, match="There is no precondition 'nothing'"):
        precondition_named("nothing")
    assert list(registered()) == sorted(registered())


@pytest.mark.parametrize(
    ("dimension", "claim", "precondition", "told"),
    [
        ("convergence", "They agree.", "is_direct_message", "is_direct_message can never hold"),
        ("convergence", "They agree.", "has_several_speakers", ""),
        ("adherence", "{{agent_name}} is kind.", "has_several_speakers", "has_several_speakers can never hold"),
        ("adherence", "{{agent_name}} is kind.", "is_long_enough", "name {{action}} to ask it of each message"),
        ("adherence", "{{action}} is kind.", "is_long_enough", ""),
        ("adherence", "{{acton}} is kind.", "is_long_enough", "{{acton}} is not a variable"),
        ("fluency", "{{action}} is kind.", "was_addressed", "by the agent's own messages alone"),
        ("adherence", "Kind to {{recipient_name}}.", "is_direct_message", ""),
        ("adherence", "Kind to {{recipient_name}}.", "has_persona", "has no value in public messages"),
    ],
)
def test_what_can_never_hold_or_has_no_value_is_named(dimension: str, claim: str, precondition: str, told: str) -> None:
    target = "environment" if dimension == "convergence" else "agent"
    text = (
        f"dimension: {dimension}\nagent_id: _default\ntarget_type: {target}\npropositions:\n"
        f'  - id: p\n    claim: "{claim}"\n    precondition: {precondition}\n'
    )
    problems = check_text(text.encode(), "own.yaml").problems
    assert [told in problem.text for problem in problems] == [True] * bool(told)
    assert all(problem.line in (6, 7) for problem in problems)


def test_every_dimension_has_defaults() -> None:
    # Loading raises where a shipped file is faulty.
    shipped = PropositionLibrary.load().by_file
    assert {dimension for dimension, agent_id in shipped if agent_id == "_default"} == {*Dimension}
    assert not any(claim.includes_personas for claim in shipped[Dimension.CONVERGENCE, "_default"])
