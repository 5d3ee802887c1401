"""The readers' labels: the kept half stays closed, and the figures are what their names say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchmarks import labelled_acts, labelled_references, labels


@pytest.fixture(scope="module")
def tuning() -> labels.Opened:
    return labels.Opened.of("tuning")


def test_the_tuning_half_holds_no_message_of_a_kept_game(tuning: labels.Opened) -> None:
    assert {one.half for one in tuning.drawn} == {"tuning"}
    assert len(tuning.games) == 13
    for set_name, drawn in (("references", 153), ("acts", 225)):
        for reading in ("first", "second"):
            found = tuning.labels(set_name, reading)
            assert {game for game, _ in found} <= set(tuning.games)
            assert len(found) <= drawn


def test_kappa_is_cohens(tuning: labels.Opened) -> None:
    games = sorted(tuning.games)[:4]
    # 3 of 4 equal; each says "a" half of the time in one and 3/4 in the other: expected 1/2 x 3/4 + 1/2 x 1/4 = 1/2.
    pairs = [(games[0], "a", "a"), (games[1], "a", "a"), (games[2], "b", "b"), (games[3], "b", "a")]
    value, _ = labels.kappa(pairs, tuning)
    assert value == pytest.approx((0.75 - 0.5) / (1 - 0.5))


def test_figures_are_shares_between_0_and_1(tuning: labels.Opened) -> None:
    figures = {one.name: one.value for one in (*labelled_references.measure(tuning), *labelled_acts.measure(tuning))}
    for name in ("rules: precision of settled verdicts", "rules: recall, settled by both", "rules: macro F1"):
        value = figures[name]
        assert value is not None
        assert 0 < value <= 1


@pytest.mark.parametrize("set_name", ["coherence", "depth"])
def test_rows_are_held_against_the_readers_messages_of_the_tuning_half(tuning: labels.Opened, set_name: str) -> None:
    drawn = [one for one in tuning.drawn if one.set_name == set_name]
    first, *others = labels.measures()[set_name](tuning)
    assert first.words.startswith(f"{len(drawn)} messages")
    values = {one.name: one.value for one in (first, *others)}
    balanced = values["balanced accuracy"]
    assert balanced is not None
    assert 0.7 < balanced <= 1
    floor, equal = (
        values["both readings: floor, always the commonest answer"],
        values["both readings: share of equal answers"],
    )
    assert floor is not None
    assert equal is not None
    assert floor < equal


def test_an_opening_of_the_kept_half_is_logged(tmp_path: Path) -> None:
    log = tmp_path / "openings.csv"
    labels.log_opening("acts", [labels.Figure("macro F1", 0.5, "7 acts")], log)
    labels.log_opening("acts", [labels.Figure("kappa", None)], log)
    first, second = csv.DictReader(log.read_text(encoding="utf-8").splitlines())
    assert (first["set"], first["figure"], first["value"]) == ("acts", "macro F1", "0.5")
    assert first["opened_at"].startswith("20")
    assert first["commit"]
    assert second["value"] == ""
