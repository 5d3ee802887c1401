import json
from typing import Any

from evaluation.readers import read_upload
from evaluation.transcript import Message
from tests.unit.readers.reading import read, refusal


def notebook(*screens: str | list[str]) -> bytes:
    outputs: list[dict[str, Any]] = [{"output_type": "display_data", "data": {"text/plain": one}} for one in screens]
    cells = [{"cell_type": "markdown", "source": []}, {"cell_type": "code", "outputs": outputs}]
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()


def messages(*screens: str | list[str]) -> tuple[Message, ...]:
    return read(notebook(*screens), "tinytroupe").messages


def test_hyphens_at_the_end_of_a_line() -> None:
    (message,) = messages("Ann acts: [TALK]\n   > a well-\n   > known dash -\n   > and that's all\n")
    assert message.text == "a well-known dash - and that's all"


def test_a_talk_is_told_once_to_all_who_hear_it() -> None:
    said = messages(
        "\x1b[1mAnn\x1b[0m acts: \x1b[1m[\x1b[0mTALK\x1b[1m]\x1b[0m \n   > Hello\n   > all (...)",
        ["Ann acts: [TALK]\n", "   > Second."],
        "Ann --> Bob: [CONVERSATION]\n > Hello all",
        "Ann --> Cid: [CONVERSATION]\n > Hello all you",
        "Ann --> Cid: [CONVERSATION]\n > Second.",
        "Ann --> Cid: [CONVERSATION]\n > Something else.",
    )
    assert [(m.text, m.channel, m.recipients) for m in said] == [
        ("Hello all (...)", "public", ("Bob", "Cid")),
        ("Second.", "public", ("Cid",)),
        ("Something else.", "system", ("Cid",)),
    ]


def test_a_stimulus_for_several_is_one_message_a_step() -> None:
    step = "──── World step 1 of 2 ────\n"
    news = "USER --> Ann: [CONVERSATION]\n > News\nUSER --> Bob: [CONVERSATION]\n > News\n"
    said = messages("Ann acts: [THINK]\n > Hm", news, step, news)
    assert [(m.speaker, m.channel_name, m.round, m.recipients) for m in said[1:]] == [
        ("USER", "conversation", None, ("Ann", "Bob")),
        ("USER", "conversation", 1, ("Ann", "Bob")),
    ]


def test_a_notebook_without_agents_is_refused() -> None:
    assert refusal(notebook("Someone acts: TALK")).startswith("The notebook shows no agent that acts.")


def test_a_broken_notebook_names_the_place() -> None:
    data = notebook("Ann acts: [TALK]\n > Hi").replace(b'"text/plain": "Ann', b'"text/plain": 7, "x": "Ann')
    assert refusal(data).startswith("$.cells[1].outputs[0].data['text/plain']: Found the number 7, expected text.")


def test_another_notebook_is_no_simulation() -> None:
    (result,) = read_upload("x.ipynb", notebook("42"))
    assert result.format is None
