"""Benchmarks: labels, generated games, the training of the reader, and a sample of a corpus."""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import generate, labels, werewolf_among_us
from benchmarks.labelled_games import LabelledSet
from benchmarks.reader import NEVER, licence_limit, train
from benchmarks.reader_examples import LabelledGame, Labels
from evaluation.readers import read_path
from evaluation.rubric.discussion import Discussion
from tests.unit.rubric.test_proof import build


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


COUNT = 40


def test_the_same_seed_gives_the_same_games_however_many_are_generated() -> None:
    assert list(generate.generate(3, seed=7)) == list(generate.generate(5, seed=7))[:3]


def test_written_games_are_read_as_native(tmp_path: Path) -> None:
    paths = generate.write(tmp_path, 10)
    results = read_path(tmp_path)
    assert [result.name for result in results] == [f"{tmp_path.name}/{path.name}" for path in sorted(paths)]
    assert {result.format for result in results} == {"native"}
    transcripts = [result.transcript for result in results if result.transcript is not None]
    assert len({transcript.id for transcript in transcripts}) == 10
    assert all(transcript.votes and transcript.cost is not None for transcript in transcripts)


@pytest.mark.long
def test_a_reader_learns_what_it_is_shown() -> None:
    texts = [
        ("Ann", "because the vote shows it"),
        ("Bob", "ok"),
        ("Ann", "so the reason is plain"),
        ("Bob", "haha"),
    ] * 6
    game = build(texts)
    labels = {
        one.index: Labels("ok" not in one.text and "haha" not in one.text, (), frozenset()) for one in game.discussion
    }
    reader = train([LabelledGame(game, "a", labels), LabelledGame(game, "b", labels)], "team")
    said = reader.read(Discussion.of(game))
    assert [one.strategic >= 0.5 for one in said[:4]] == [True, False, True, False]
    assert reader.name.startswith("team-")
    # One source of games and few rows give no licence for anything.
    assert all(one.limit > 1 for name, one in reader.licences.items() if name != "reference")


def test_a_licence_is_the_lowest_chance_beyond_which_sources_are_right_on_average() -> None:
    chances = np.repeat(np.array([0.95, 0.85, 0.75, 0.65], dtype=np.float32), 20)
    sources = np.array(["a", "b"] * 40)
    right = np.ones(80, dtype=bool)
    # From 0.65 on 65 of 80 rows are right, from 0.75 on 57 of 60.
    right[60:75] = False
    right[40:46:2] = False
    limit, told = licence_limit(chances, right, sources, 0.85)
    assert 0.65 < limit <= 0.75
    assert (told["right"], told["said"]) == (57, 60)


def test_many_rows_of_one_source_do_not_outvote_the_others_and_one_bad_source_does_not_forbid_all() -> None:
    chances = np.full(100, 0.9, dtype=np.float32)
    large = np.array(["a"] * 90 + ["b"] * 10)
    right = np.array([True] * 90 + [False] * 10)
    # 90 of 100 rows are right, but on average a source has one half.
    assert licence_limit(chances, right, large)[0] == NEVER
    even = np.array([name for name in "abcdefghij" for _ in range(10)])
    assert licence_limit(chances, right, even)[0] == 0.5


@pytest.mark.parametrize(("source", "rows"), [("synthetic 1", 50), ("real", 29)])
def test_rows_of_written_games_alone_and_few_rows_give_no_licence(source: str, rows: int) -> None:
    chances, sources = np.full(rows, 0.9, dtype=np.float32), np.array([source] * rows)
    assert licence_limit(chances, np.ones(rows, dtype=bool), sources)[0] == NEVER


SAID = (
    ("Mitchell", "I'm the Seer and I looked at Jane.", "Identity Declaration"),
    ("Jane", "Mitchell is definitely the werewolf!", "Accusation"),
    ("Luke", "Hm.", "No Strategy"),
    ("Luke", " ", "No Strategy"),
)
DIALOGUE = [
    {"Rec_Id": number, "speaker": speaker, "utterance": text, "annotation": [label]}
    for number, (speaker, text, label) in enumerate(SAID, start=1)
]


def test_a_sample_in_the_shape_of_the_corpus_is_measured(tmp_path: Path) -> None:
    (tmp_path / "Youtube").mkdir()
    (tmp_path / "Youtube" / "test.json").write_text(json.dumps([{"Game_ID": "Game1", "Dialogue": DIALOGUE}]))
    (game, labels), *others = werewolf_among_us.games(tmp_path, "test")
    assert not others
    assert [message.text for message in game.discussion] == [one["utterance"] for one in DIALOGUE[:3]]
    assert labels[1] == {"Accusation"}
    figures = {one.name: one for one in werewolf_among_us.measure([(game, labels)])}
    assert figures["rule: Accusation"].value == 1
    assert figures["rule: Identity Declaration"].value == 1
    assert figures["reader: mean F1"].value is not None
