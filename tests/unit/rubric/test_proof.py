"""Proof outranks probability: small games in which the reader or keywords once overrode what anybody can check."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric.reader.model import shipped_reader
from evaluation.score import PROOF, LedgerRow, Method, RowVerdict
from evaluation.transcript import Alignment, Elimination, Transcript
from tests.games import game_of


def rows_of(metric: str, game: Transcript) -> Sequence[LedgerRow]:
    return evaluate_transcript(game).metrics[metric].ledger


def test_agreeing_by_name_answers() -> None:
    game = game_of(
        [
            ("Quill", "Let us share openly what each of us saw and name anything odd, so that we find the danger."),
            ("Birk", "I support Quill's plan to share openly. Let's work together against whoever threatens us."),
            ("Tove", "I agree with Quill and Birk. Open talks uncover hidden dangers, and we must stay united."),
            ("Ragna", "I fully support the idea of open talks to find any danger among us. Let's protect our town."),
            ("Odd", "I agree with the call for open talks. Sharing impressions makes us stronger."),
        ],
        round=1,
    )
    first, *rest = rows_of("coherence", game)
    assert first.verdict is RowVerdict.EXCLUDED
    assert [row.verdict for row in rest] == [RowVerdict.COUNTS] * 4
    assert all(row.method is Method.RULE for row in rest)
    assert rest[0].details[PROOF]


def test_a_debate_of_two_takes_up_each_point() -> None:
    said = (
        ("For", "Night trains cut emissions, because people can sleep while they travel."),
        ("Against", "While comfort is welcome, running half-empty coaches wastes what little budget there is."),
        ("For", "Beyond comfort, coaches fill up where the budget covers more than one evening a week."),
        ("Against", "One evening a week is all that most towns ask for, and staff refuse more."),
        ("For", "Staff can be hired for weekends, so refusing does not stop anybody."),
    )
    game = game_of([(*line, {"round": number}) for number, line in enumerate(said, start=1)])
    assert [row.verdict for row in rows_of("coherence", game)][1:] == [RowVerdict.COUNTS] * 4


@pytest.mark.parametrize(
    "text", ["Nils, you haven't contributed much so far.", "Nils, you haven't said anything useful yourself."]
)
def test_a_qualified_silence_is_not_settled(text: str) -> None:
    game = game_of([("Nils", "I think we should compare notes."), ("Berit", text)], round=1)
    rows = rows_of("memory_accuracy", game)
    assert [row.verdict for row in rows] == [RowVerdict.EXCLUDED] * len(rows)


def test_asking_somebody_about_their_suspicion_of_a_partner_accuses_nobody() -> None:
    sides: dict[str, Alignment] = {"Nils": "town", "Arne": "mafia", "Berit": "mafia", "Gro": "town"}
    text = (
        "Gro, you claim to weigh everybody's words, yet you gave no reason for your own suspicion of Arne. What did "
        "you see in Arne that made you suspicious, beyond his voice?"
    )
    game = game_of(
        [("Nils", "Arne, where were you last night?"), ("Arne", "At home. Gro worries me."), ("Berit", text)],
        {name: {"alignment": side} for name, side in sides.items()},
        round=1,
    )
    row = rows_of("role_consistency", game)[2]
    assert row.verdict is not RowVerdict.DOES_NOT_COUNT, row.reason
    assert [act["target"] for act in row.details["acts"]] == ["Gro"]


@pytest.mark.parametrize(
    "text", ["So what now?", "same", "Who else suspects Wren?", "I never said that Wren is Mafia."]
)
def test_what_is_said_at_nobody_is_no_accusation(text: str) -> None:
    sides: dict[str, Alignment] = {"Mara": "town", "Theo": "town", "Wren": "mafia"}
    players = {name: {"alignment": side} for name, side in sides.items()}
    game = game_of([("Theo", "hm"), ("Mara", text)], players, round=1)
    acts = rows_of("role_consistency", game)[1].details["acts"]
    assert not [act for act in acts if act["act"].startswith(("accuse", "build"))]


def test_nobody_accuses_a_player_who_has_left() -> None:
    sides: dict[str, Alignment] = {"Mara": "mafia", "Theo": "mafia", "Wren": "town", "Cole": "town"}
    players = {name: {"alignment": side} for name, side in sides.items()}
    out = (Elimination(round=1, phase="day", player="Theo", role="mafia"),)
    said = [
        ("Wren", "Theo is Mafia because he lied.", {"round": 1}),
        ("Mara", "Theo was Mafia, no doubt.", {"round": 2}),
    ]
    rows = rows_of("role_consistency", game_of(said, players, eliminations=out))
    assert rows[0].verdict is RowVerdict.COUNTS
    assert rows[1].verdict is RowVerdict.EXCLUDED


def test_the_reader_stands_down_on_games_unlike_those_it_knows() -> None:
    words = "zbrofil quandimer thrupple vexilore grumptious sploodge wimbrel"
    texts = [f"{words} {'lorem' * n} the {words[::-1]} and then because {words} " * 12 for n in range(1, 40)]
    game = game_of([(f"P{n % 4}", text) for n, text in enumerate(texts)], round=1, language="en")
    result = evaluate_transcript(game).metrics["strategic_depth"]
    assert result.details["stood_down"]
    assert result.remarks[-1] == "rules decide: the built-in reader knows few games like this"
    assert {row.method for row in result.ledger} == {Method.RULE}


def test_a_verdict_of_the_reader_lies_beyond_its_licence() -> None:
    reader = shipped_reader()
    said = [
        ("Ann", "I think it was raining on my holiday, anyway."),
        ("Bob", "Whoever held the lantern at dusk must have seen the door open, and Cole was the only one with it."),
        ("Cole", "I think so"),
        ("Dora", "If Cole had the lantern, he lied on the first day, and Ann covered for him twice."),
    ]
    game = game_of(said, round=1)
    rows = [row for row in rows_of("strategic_depth", game) if row.method is Method.READER]
    assert rows
    for row in rows:
        name = "yes" if row.verdict is RowVerdict.COUNTS else "no"
        assert row.details["chance"] >= reader.licences[f"strategic {name}"].limit - 1e-3 >= 0.5
