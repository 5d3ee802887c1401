"""Is a model a good reader: the labelled messages that it is held against, and the figures that it gets."""

import json
import re
from typing import Any

import pytest

from benchmarks.labelled_games import LabelledSet
from benchmarks.labels import check_figures
from evaluation.errors import InputError
from evaluation.judging.judge_config import JudgeConfig, judge_config
from evaluation.store import Store
from evaluation.validity import measured
from evaluation.workflows.reader_check import (
    QUESTIONS,
    Seen,
    agreement,
    check_reader,
    estimate_check,
    shipped_labels,
)
from tests.judge_questions import numbers_asked
from tests.judge_server import JudgeServer

LABELS = {(row["game"], row["message"]): row for row in shipped_labels()}
TUNING = LabelledSet.of("tuning")


def answer(body: dict[str, Any], *, is_right: bool = True) -> str:
    """The answer of a model that knows the labels, or that sees nothing in any message."""
    text = str(body["messages"][1]["content"])
    numbers = numbers_asked(text)
    [game] = {game for game, _ in LABELS if all((game, n - 1) in LABELS for n in numbers) and said_in(game, text)}
    nothing = {"is_strategic": False, "answers": [], "acts": [], "references": []}
    entries = []
    for number in numbers:
        row = LABELS[game, number - 1] if is_right else nothing
        held = {key: row[key] for key in nothing} | {"message": number, "reason": "As it reads."}
        entries.append(held | {"answers": [one + 1 for one in row["answers"]]})
    return json.dumps({"messages": entries})


def said_in(game: str, text: str) -> bool:
    return all(f'\n"{name}"' in text for name in TUNING.games[game].player_names)


def config(url: str) -> JudgeConfig:
    return judge_config({"base_url": url, "model": "local-model"}, environment={})


def test_the_labels_are_sixty_of_tuning_games_word_for_word() -> None:
    assert len(LABELS) == 60
    assert {key: TUNING.rows[key] for key in LABELS} == LABELS
    assert {TUNING.sources[game] for game, _ in LABELS} == {"aiwolf", "llmafia", "werewolf_gpt"}


def test_the_recorded_figures_of_the_rule_are_those_of_today() -> None:
    found = {one.name: one.value for one in check_figures(None)}
    assert list(found) == list(QUESTIONS)
    recorded = measured()["check"]
    assert {name: recorded[name]["rule"] for name in found} == {name: round(v, 2) for name, v in found.items()}


def test_a_reader_that_knows_the_labels_agrees_with_them_and_one_that_sees_nothing_does_not(store: Store) -> None:
    with JudgeServer(content=answer).in_thread() as server:
        assert "5 questions, 5 calls to local-model, cost not known" in estimate_check(
            config(server.url), store.judgements
        )
        assert server.tally.asked.total() == 0
        right = check_reader(config(server.url), store.judgements)
        assert server.tally.asked.total() == 5
        again = check_reader(config(server.url), store.judgements)
        assert server.tally.asked.total() == 5
    assert [row["local-model"] for row in right.rows] == ["100 % (94 to 100 %)"] * 3 + [
        "100 % (none, all values equal)"
    ]
    assert "speech acts with target (F1). 60 of 60 labelled messages read. 5 calls, " in right.words
    assert right.words.startswith("Better than rule and built-in reader: is strategic, ")
    assert re.search(r"; [\d,]{5,} tokens read, [\d,]{4,} written\.$", right.words)
    assert "0 calls" in again.words
    with JudgeServer(content=lambda body: answer(body, is_right=False)).in_thread() as server:
        blind = check_reader(config(server.url), store.judgements)
    assert blind.words.startswith("Worse than the better of them: is strategic, answers what was said, holds a")
    # 24 of the 60 are not strategic.
    assert [row["local-model"].split(" (")[0] for row in blind.rows] == ["40 %", "25 %", "57 %", "0 %"]


def test_what_sixty_messages_cannot_tell_could_be_luck(store: Store) -> None:
    def nearly(body: dict[str, Any]) -> str:
        entries = json.loads(answer(body))["messages"]
        entries[0]["is_strategic"] = not entries[0]["is_strategic"]
        return json.dumps({"messages": entries})

    with JudgeServer(content=nearly).in_thread() as server:
        found = check_reader(config(server.url), store.judgements)
    # 55 of 60 beside 82 % of the reader.
    assert found.rows[0]["local-model"] == "92 % (82 to 96 %)"
    assert " Could be luck: is strategic. 60 of 60" in found.words


def test_what_is_not_read_is_counted_and_no_figure_is_made_of_nothing(store: Store) -> None:
    with JudgeServer(content=lambda _: "I would rather not say.").in_thread() as server:
        found = check_reader(config(server.url), store.judgements)
    assert (found.rows, found.read) == ([], 0)
    assert found.words.startswith("0 of 60 labelled messages read. 60 not read: ")


def test_without_a_model_it_says_so_before_anything_else(store: Store) -> None:
    for settings in ({}, {"mode": "recorded"}, {"mode": "live"}):
        with pytest.raises(InputError, match="No model can be asked"):
            check_reader(judge_config(settings, environment={}), store.judgements)


def test_an_accusation_with_a_case_is_an_accusation_and_acts_are_held_with_their_targets() -> None:
    acts = [{"act": "build_case", "target": "Kai"}, {"act": "ally", "target": None}]
    label = Seen.of_label({"is_strategic": True, "answers": [3], "references": [], "acts": acts})
    assert label.acts == {("build_case", "Kai"), ("accuse", "Kai"), ("ally", None)}
    other = label._replace(acts=frozenset({("accuse", "Ann"), ("accuse", "Kai")}), references=True)
    found = agreement([(label, other), (label, label)])
    assert [share for share, _ in found.values()] == [1.0, 1.0, 0.5, pytest.approx(2 * 4 / 11)]
