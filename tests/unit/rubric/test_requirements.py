"""What a pattern needs is found in its source, and nothing that it matches is lost by that."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.labelled_games import load_games
from evaluation.rubric._grammar import Needs, Pattern, PatternSet, grammar_for, patterns_for
from evaluation.rubric._passage import Passage, Scene
from evaluation.rubric.discussion import Discussion

GRAMMAR = grammar_for("en")
assert GRAMMAR is not None
SECTIONS = [("memory", "patterns"), ("memory", "times"), ("memory", "sights"), ("speech_acts", "patterns")]
SECTIONS += [("speech_acts", "grounds"), ("speech_acts", "no_grounds")]
EVERY_CLASS = frozenset(GRAMMAR.characters.values())


def shipped(name: str, section: str) -> tuple[PatternSet, list[Pattern]]:
    found = patterns_for(name, "en", section)
    return found, found.tried_on(EVERY_CLASS)


@pytest.mark.parametrize(
    ("expression", "required", "longest"),
    [
        ("a", ["a"], 1),
        ("a?b", ["b"], 2),
        ("[ab]{2,3}c{0,4}", ["ab"], 7),
        ("(?P<verb>a|bc)d", ["d", "ab"], 3),
        ("(a|b?)c", ["c"], 2),
        ("(?:ab){0,1}[^x]", [], 3),
        ("(?<!a)b(?=[cd])(?!e)", ["b", "cd"], 4),
        ("a[ab]", ["a"], 2),
    ],
)
def test_what_an_expression_needs(expression: str, required: list[str], longest: int) -> None:
    needs = Needs.of(expression)
    assert list(needs.required) == [frozenset(one) for one in required]
    assert needs.longest == longest


def test_only_expressions_with_a_slow_beginning_are_searched_around_a_pivot() -> None:
    assert Needs.of("[ab]c").pivot is None
    assert Needs.of("(?P<verb>a)c").pivot is None
    assert Needs.of("a{0,2}").pivot is None
    for slow in ("a?[cd]e", "(ab|c)e", "(?P<verb>(a|b)?c)e"):
        assert Needs.of(slow).pivot is not None


@pytest.mark.parametrize("expression", ["a*", "a+b", r"\w"])
def test_an_expression_of_other_constructs_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="not supported"):
        Needs.of(expression)


@pytest.mark.parametrize(("name", "section"), SECTIONS)
def test_no_match_in_a_real_message_is_lost(name: str, section: str) -> None:
    tried, every = shipped(name, section)
    matches = 0
    for _, game in load_games()[::4]:
        for prepared in Discussion.of(game).messages:
            passage = Passage(prepared, GRAMMAR, None, Scene(prepared.message.speaker, None, ()))
            ranks = {pattern.rank for pattern in tried.tried_on(passage.symbols)}
            for pattern in every:
                wanted = [match.span() for match in pattern.regex.finditer(passage.code)]
                assert pattern.rank in ranks or not wanted
                assert [match.span() for match in pattern.find(passage.code)] == wanted
                matches += len(wanted)
    assert matches


@given(st.data())
def test_no_match_in_a_long_hostile_message_is_lost(data: st.DataObject) -> None:
    """Messages of the words that a pattern is made of, among long stretches of others, hold many near misses."""
    name, section = data.draw(st.sampled_from(SECTIONS))
    tried, every = shipped(name, section)
    pattern = data.draw(st.sampled_from(every))
    own = sorted(set(pattern.regex.pattern) & EVERY_CLASS)
    stretch = st.text(st.sampled_from(own), max_size=20)
    gap = st.integers(0, 40).map(lambda count: GRAMMAR.characters["other"] * count)
    code = "".join(data.draw(st.lists(stretch | gap, max_size=12)))
    wanted = [match.span() for match in pattern.regex.finditer(code)]
    assert [match.span() for match in pattern.find(code)] == wanted
    assert not wanted or pattern in tried.tried_on(set(code))


def test_a_match_is_found_far_into_a_long_message() -> None:
    pattern = GRAMMAR.pattern("(did|have)? skip{0,2} voted (?=name)", {})
    voted, name, other = (GRAMMAR.characters[one] for one in ("voted", "name", "other"))
    code = other * 200 + voted + name + other * 200
    assert pattern.needs.pivot is not None
    assert [match.span() for match in pattern.find(code)] == [(200, 201)]
    assert isinstance(next(pattern.find(code)), re.Match)
