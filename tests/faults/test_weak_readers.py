"""Games read by weak models, over a real connection: what is usable is kept, the rest asked for once more."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.rubric_judge.game_reading import JudgedGame, read_game
from tests.games import game_of
from tests.judge_server import Content, Fault, JudgeServer

QUOTED = 'Ben\u2019s vote was \u00abodd\u00bb, and he said "I am no wolf" twice'
SAID = (("Ann", "Hello."), ("Ben", "I vote Cid."), ("Cid", "Why me?"), ("Ann", f"{QUOTED}."), ("Ben", "I'm not."))
GAME = game_of((*SAID, ("Cid", "Hm.")), ("Ann", "Ben", "Cid"), language="en", round=1)
Entry = dict[str, Any]


def entry(number: int, **fields: Any) -> Entry:
    nothing = {"reason": f"Grund {number}: er zweifelt.", "is_strategic": number % 2 == 1}
    return {"message": number, **nothing, "answers": [], "acts": [], "references": [], **fields}


def asked(body: dict[str, Any]) -> list[int]:
    listed = re.findall(r"in this order: ([\d, ]+)\.", str(body["messages"][1]["content"]))[-1]
    return [int(number) for number in listed.split(", ")]


def read(first: Callable[[Sequence[int]], str], then: Callable[[Sequence[int]], str]) -> tuple[JudgedGame, list[Any]]:
    """The reading by a model that answers so at first and otherwise afterwards, and what it was asked about."""
    questions: list[Any] = []

    def content(body: dict[str, Any]) -> str:
        questions.append((asked(body), body["max_tokens"]))
        return (first if len(questions) == 1 else then)(questions[-1][0])

    return by(content), questions


def by(content: Content, **more: Any) -> JudgedGame:
    with JudgeServer(content=content, **more).in_thread() as server:
        judge = build_judge(judge_config({"mode": "live", "base_url": server.url, "model": "weak"}))
        return asyncio.run(read_game(GAME, evaluate_transcript(GAME).metrics, judge))


def whole(numbers: Sequence[int]) -> str:
    return json.dumps({"messages": [entry(number) for number in numbers]}, indent=1)


HALVES = {
    "half of the messages": lambda numbers: whole(numbers[:3]),
    "broken off": lambda numbers: whole(numbers)[: whole(numbers).index('"message": 4') + 30],
    "a list without braces": lambda numbers: json.dumps([entry(number) for number in numbers[:3]]),
    "one entry a line": lambda numbers: "Sure!\n" + "\n".join(json.dumps(entry(number)) for number in numbers[:3]),
    "two answers about one message": lambda numbers: json.dumps(
        {"messages": [*map(entry, numbers), *(entry(number, is_strategic=number % 2 == 0) for number in numbers[3:])]}
    ),
}


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_the_usable_half_is_kept_and_only_the_rest_is_asked_once_more(half: Callable[[Sequence[int]], str]) -> None:
    found, questions = read(half, whole)
    assert [numbers for numbers, _ in questions] == [[1, 2, 3, 4, 5, 6], [4, 5, 6]]
    # As many tokens as for all six: what was cut off for want of room would be cut off again.
    assert questions[1][1] >= questions[0][1]
    assert [one.is_strategic for one in found.said.values()] == [True, False] * 3
    assert dict(found.unread) == {}


def test_a_half_that_never_comes_is_left_open_and_counted() -> None:
    found, questions = read(HALVES["half of the messages"], lambda _: whole([1, 2]))
    assert len(questions) == 2
    assert list(found.said) == ["m0", "m1", "m2"]
    assert found.unread == {"the answer left the message out, or garbled it": 3}
    rows = {one.row_id for one in found.decisions if one.metric == "strategic_depth"}
    assert rows == {f"strategic_depth:m{number}" for number in range(3)}


def test_an_answer_that_ran_out_of_tokens_keeps_its_whole_entries() -> None:
    text = whole(range(1, 7))
    choice = {
        "index": 0,
        "finish_reason": "length",
        "message": {"role": "assistant", "content": text[: len(text) // 2]},
    }
    body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "weak", "choices": [choice]})
    questions: list[list[int]] = []

    def cut(request: dict[str, Any], _: int) -> Fault | None:
        questions.append(asked(request))
        return Fault("cut off", body=body.encode()) if len(questions) == 1 else None

    found = by(lambda request: whole(asked(request)), misbehave=cut)
    assert questions == [[1, 2, 3, 4, 5, 6], [3, 4, 5, 6]]
    assert (len(found.said), dict(found.unread)) == (6, {})


@pytest.mark.parametrize(
    "quote",
    [
        "Ben's vote was \u201codd\u201d",
        "\u201eBen\u2018s vote was 'odd'\u201c",
        "\u00abBen\u2032s vote was \u2039odd\u203a\u00bb",
        "Ben`s vote was ``odd''",
        '\\"Ben\\\'s vote was \\"odd\\"\\"',
        "**Ben's vote was odd**",
        "\u300cBen\uff07s vote was \uff02odd\uff02\u300d",
    ],
)
def test_a_quote_is_found_whatever_marks_a_model_puts_into_it(quote: str) -> None:
    reference = {"quote": quote, "kind": "vote", "reason": "Er sagt es.", "verdict": "accurate"}
    found = by(lambda _: json.dumps({"messages": [*map(entry, (1, 2, 3, 5, 6)), entry(4, references=[reference])]}))
    [span] = [(one.start, one.end) for one in found.said["m3"].references]
    assert QUOTED[slice(*span)].strip("\u00bb") == "Ben\u2019s vote was \u00abodd"
    assert found.said["m3"].reason == "Grund 4: er zweifelt."
    assert not found.left_out


def test_other_words_are_no_quote_of_a_message() -> None:
    for quote in ("Bens votes were odd", "Ben\u2019s votewas odd", "\u00ab\u00bb", "odd, I am", ""):
        reference = {"quote": quote, "kind": "vote", "reason": "", "verdict": "accurate"}
        found = by(
            lambda _, one=reference: json.dumps(
                {"messages": [*map(entry, (1, 2, 3, 5, 6)), entry(4, references=[one])]}
            )
        )
        assert found.said["m3"].references == (), quote
