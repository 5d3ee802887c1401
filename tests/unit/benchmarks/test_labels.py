"""The readers' labels: kept games stay closed, and the figures are what their names say."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import labels
from benchmarks.labelled_games import LabelledSet


def test_a_set_holds_no_label_of_another_half() -> None:
    tuning, kept = LabelledSet.of("tuning"), LabelledSet.of("kept", "kept source")
    assert {tuning.sources[game] for game in tuning.games} >= {"aiwolf", "llmafia", "werewolf_gpt", "bayes_avalon"}
    assert {game for game, _ in tuning.rows} == set(tuning.games)
    assert {game for game, _ in tuning.second_reading()} <= set(tuning.games)
    assert not set(tuning.games) & set(kept.games)
    assert {kept.sources[game] for game in kept.games} >= {"avalon_nlu", "llm_werewolf", "delidata"}


def test_every_public_message_is_labelled_and_every_quote_stands_in_it() -> None:
    every = LabelledSet.of("tuning", "kept", "kept source", "synthetic")
    for game_id, game in every.games.items():
        for message in game.discussion:
            row = every.rows[game_id, message.index]
            words = " ".join(message.text.split())
            assert all(" ".join(one["quote"].split()) in words for one in row["references"])
            assert all(game.messages[at].speaker != message.speaker for at in row["answers"])
            assert {one["target"] for one in row["acts"]} <= {*game.player_names, None}


def test_figures_of_a_few_answers_worked_by_hand() -> None:
    # Two of three yes and one of two no are found: (2/3 + 1/2) / 2.
    pairs = [(True, True), (True, True), (True, False), (False, False), (False, True)]
    assert labels.balanced_accuracy("x", pairs).value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert labels.f1("x", right=2, labelled=3, said=5).value == pytest.approx(0.5)
    assert labels.f1("x", right=0, labelled=0, said=0).value is None


def test_the_rule_is_measured_on_the_tuning_half() -> None:
    figures = {one.name: one.value for one in labels.measure(LabelledSet.of("tuning"), None)}
    for name in ("strategic depth: balanced accuracy", "settled references: right", "acts with target: macro F1"):
        value = figures[name]
        assert 0.25 < value < 1


def test_an_opening_of_kept_labels_is_logged(tmp_path: Path) -> None:
    log = tmp_path / "openings.csv"
    labels.log_opening("kept, reader", [labels.Figure("macro F1", 0.5, "7 acts")], log)
    labels.log_opening("kept, reader", [labels.Figure("settled", None)], log)
    first, second = csv.DictReader(log.read_text(encoding="utf-8").splitlines())
    assert (first["set"], first["figure"], first["value"]) == ("kept, reader", "macro F1", "0.5")
    assert first["opened_at"].startswith("20")
    assert first["commit"]
    assert second["value"] == ""


def test_the_labels_given_as_answers_to_the_prompts_agree_with_themselves(tmp_path: Path) -> None:
    count = labels.write_prompts(tmp_path, "tuning", messages=60)
    prompts = sorted(tmp_path.glob("*.txt"))
    # Three windows of at most twenty messages would do; no window is cut, and sources take turns.
    assert 60 <= count < 80
    assert len({path.stem.split("_of_game_")[1].partition("-")[0] for path in prompts}) >= 3
    tuning = LabelledSet.of("tuning")
    for path in prompts:
        text, game_id = path.read_text(encoding="utf-8"), path.stem.split("_of_game_")[1]
        assert text.startswith("SYSTEM\n\nYou read the public discussion")
        numbers = re.findall(r"\d+", text.split("in this order: ")[1].partition(".")[0])
        entries = [_entry(int(number), tuning.rows[game_id, int(number) - 1]) for number in numbers]
        path.with_suffix(".json").write_text(json.dumps({"messages": entries}), encoding="utf-8")
    figures = {one.name: one.value for one in labels.measure_answers(tmp_path, "tuning")}
    names = ("messages with an entry", "strategic depth: balanced accuracy", "answers: balanced accuracy")
    for name in (*names, "holds a reference: F1", "acts with target: micro F1"):
        assert figures[name] == 1.0, name


def _entry(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    references = [{**one, "reason": ""} for one in row["references"]]
    answers = [at + 1 for at in row["answers"]]
    said = {"is_strategic": row["is_strategic"], "acts": row["acts"], "references": references}
    return {"message": number, "reason": "", "answers": answers, **said}
