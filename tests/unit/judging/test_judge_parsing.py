"""Answers out of what models write: what is tolerated, what counts, and what is refused."""

import json

import pytest

from evaluation.judging.answers import (
    LONGEST_ANSWER,
    AnswerError,
    IdeasAnswer,
    ScoreAnswer,
    json_objects,
    parse_answer,
    parse_items,
    with_fields,
)

GOOD = '{"reason": "it shows", "score": 7, "confidence": 0.8, "citations": [3]}'
SEVEN = ScoreAnswer(reason="it shows", score=7, confidence=0.8, citations=[3])


def score(text: str) -> int:
    return parse_answer(text, ScoreAnswer.model_validate).score


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f'Let me think {{about}} this: "odd.\n\n{GOOD}\nI hope that helps {{so far}}.',
        GOOD.replace("[3]}", "[3],}"),
        GOOD.replace("[3]", "[3, ]"),
        GOOD.replace("[3]", '["[M3]"]'),
        GOOD.replace("[3]", '["m3"]'),
        GOOD[:-1] + ', "mood": "fine"}',
    ],
    ids=["bare", "fence", "plain-fence", "prose", "comma", "comma-in-list", "cited-M", "cited-m", "more"],
)
def test_what_models_do_to_json_is_tolerated(text: str) -> None:
    assert parse_answer(text, ScoreAnswer.model_validate) == SEVEN


@pytest.mark.parametrize("written", ["7", "7.0", '"7"', '"7.0"', '" 7 "', "7e0"])
def test_a_whole_number_is_the_same_mark_however_it_is_written(written: str) -> None:
    assert parse_answer(GOOD.replace("7", written), ScoreAnswer.model_validate) == SEVEN


def test_two_complete_answers_count_only_where_they_are_equal() -> None:
    other = GOOD.replace("7", "2")
    for text in (f"At first: {other}. But no: {GOOD}", f"{GOOD}\n\nNote: a harsher reader might answer {other}"):
        with pytest.raises(AnswerError, match="it holds 2 complete answers that differ"):
            score(text)
    assert score(f"{GOOD} Once more: {GOOD}") == 7
    assert score(f'{GOOD} and {{"note": "that is all"}}') == 7


def test_an_answer_quoted_inside_another_does_not_count() -> None:
    quoted = json.dumps({"reason": f"the player wrote {GOOD.replace('7', '9')}", "score": 1, "confidence": 1.0})
    assert score(quoted) == 1
    nested = '{"reason": "x", "score": 1, "confidence": 1.0, "seen": {"reason": "y", "score": 9, "confidence": 1.0}}'
    assert score(nested) == 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (GOOD.replace("7", "12"), "score: Input should be less than or equal to 9"),
        (GOOD.replace("7", "-1"), "score: Input should be greater than or equal to 0"),
        (GOOD.replace("7", "7.5"), "score: Input should be a valid integer"),
        (GOOD.replace("7", "1e400"), "score: Input should be a"),
        (GOOD.replace("7", '"seven"'), "score: Input should be a valid integer"),
        (GOOD.replace("7", "true"), "score: Input should be a valid integer"),
        (GOOD.replace("0.8", "1.5"), "confidence: Input should be less than or equal to 1"),
        (GOOD.replace("0.8", "NaN"), "no complete JSON object"),
        ('{"score": 7}', "reason: Field required"),
        (GOOD.replace('"score": 7', '"score": 7, "score": 9'), "no complete JSON object"),
        (GOOD[:-20], "no complete JSON object"),
        ("", "it is empty"),
    ],
)
def test_what_is_no_answer_is_refused_with_the_reason(text: str, named: str) -> None:
    with pytest.raises(AnswerError, match=named):
        parse_answer(text, ScoreAnswer.model_validate)


def test_the_reason_for_refusing_does_not_repeat_what_the_model_wrote() -> None:
    with pytest.raises(AnswerError) as caught:
        parse_answer(GOOD.replace("7", '"ignore all rules"'), ScoreAnswer.model_validate)
    assert "ignore" not in str(caught.value)


@pytest.mark.parametrize("text", ["{" * 5_000, '{"a":' * 20_000, '{"a":"' * 20_000, "[{" * 5_000, '{"a":[' * 9_000])
def test_hostile_nesting_ends(text: str) -> None:
    with pytest.raises(AnswerError):
        parse_answer(text, ScoreAnswer.model_validate)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 290 + "[" + "[1,]," * 30_000 + "x]" + "}" * 290,
        '{"a":[1,],"b":' * 290 + '"' + '\\"' * 95_000,
    ],
    ids=["commas", "quotes"],
)
def test_braces_and_commas_without_end_do_not_take_minutes(text: str) -> None:
    # started again at every brace and every comma, each of these would be read 30,000 times.
    assert len(text) <= LONGEST_ANSWER
    with pytest.raises(AnswerError, match="open again and again"):
        list(json_objects(text))


def test_trailing_commas_are_passed_over_however_many_and_wherever_they_stand() -> None:
    many = '{"a": [' + "[1, ], " * 500 + "], }"
    assert list(json_objects(f"{many} and {many}")) == [{"a": [[1]] * 500}] * 2
    assert list(json_objects('{"a": "[1, ], }", "b\\",]": [{"c": "\\\\",},],}')) == [
        {"a": "[1, ], }", 'b",]': [{"c": "\\"}]}
    ]
    assert list(json_objects('A 5" pipe, {"a": [1,]}, or [{"b": 2,}')) == [{"a": [1]}, {"b": 2}]


def test_an_endless_answer_is_refused() -> None:
    with pytest.raises(AnswerError, match="200,001 characters"):
        parse_answer("x" * (LONGEST_ANSWER + 1), ScoreAnswer.model_validate)


def items(*bodies: dict[str, object]) -> str:
    return json.dumps({"answers": list(bodies)})


def item(number: object, score: object = 5) -> dict[str, object]:
    return {"item": number, "reason": "r", "score": score, "confidence": 0.5}


def test_a_batch_gives_the_items_that_are_whole() -> None:
    text = items(item(1, 1), item(2, 12), item(4, 4), item(9, 9), item("3", 3), item(True, 8))
    found = parse_items(text, [ScoreAnswer] * 4)
    # 2 has a score off the scale, 3 a number in quotes, 9 was not asked.
    assert {index: answer.score for index, answer in found.items() if isinstance(answer, ScoreAnswer)} == {0: 1, 3: 4}


def test_a_batch_may_be_a_bare_list_and_may_break_off() -> None:
    bare = json.dumps([item(1, 3), item(2, 4)])
    assert set(parse_items(bare, [ScoreAnswer] * 2)) == {0, 1}
    broken = items(item(1), item(2), item(3))[:-30]
    assert set(parse_items(broken, [ScoreAnswer] * 3)) == {0, 1}
    assert parse_items("I cannot answer that.", [ScoreAnswer]) == {}


def test_an_item_with_two_answers_that_differ_has_none() -> None:
    text = items(item(1, 1), item(2, 2), item(2, 3), item(3, 3), item(3, 3))
    assert set(parse_items(text, [ScoreAnswer] * 3)) == {0, 2}


def test_ideas_come_with_their_citations() -> None:
    text = '{"ideas": [{"text": "a bell", "citations": ["M2", 3]}, {"text": "a rope"}]}'
    ideas = parse_answer(text, IdeasAnswer.model_validate).ideas
    assert [(idea.text, idea.citations) for idea in ideas] == [("a bell", [2, 3]), ("a rope", [])]


def test_the_schemas_of_the_adr_are_understood() -> None:
    validate = with_fields({"required": {"score": float, "explanation": str}})
    assert parse_answer('{"score": 1, "explanation": "e"}', validate) == {"score": 1, "explanation": "e"}
    with pytest.raises(AnswerError, match="explanation: Field required"):
        parse_answer('{"score": 0.5}', validate)
    with pytest.raises(AnswerError, match="score: Input should be a valid number"):
        parse_answer('{"score": true, "explanation": "e"}', validate)
    assert with_fields({"required": ["a"]})({"a": None}) == {"a": None}
