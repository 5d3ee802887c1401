"""What is proven and what the shipped reader says of it."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from benchmarks.reader import reader_as_bytes
from evaluation.engines.scoring import evaluate_transcript
from evaluation.errors import InputError
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader._features import BUCKETS, hashed_ngrams
from evaluation.rubric.reader.model import Reader, shipped_reader
from evaluation.score import PROOF, LedgerRow, Method, RowVerdict, Status
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


def test_a_plan_is_no_open_reference_to_the_past() -> None:
    said = [("Ann", "I vote Bob."), ("Bob", "That is a lie."), ("Cole", "Bob is out.")]
    for text, count in (("I will watch who voted with Bob.", 0), ("I will ask Ann, since she voted for Bob.", 1)):
        rows = rows_of("memory_accuracy", game_of([*said, ("Dora", text)], round=1))
        assert len([row for row in rows if row.message_id == "m3"]) == count, text


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


def test_a_keyword_stands_only_where_the_reader_does_not_doubt_it_and_the_row_says_so() -> None:
    reader = shipped_reader()
    said = [
        ("Ann", "I believe that staying calm is the best approach."),
        ("Bob", "I believe that staying calm is the best approach, as I have said. Anger will not help the village."),
        ("Cole", "It could be Ann. I believe that they are guilty, but let's analyze it more."),
        ("Dora", "I suspect Bob, who voted for Cole and then defended him."),
        ("Ann", "hello there, nice evening"),
    ]
    game = game_of(said, round=1)
    chances = [one.strategic for one in reader.read(Discussion.of(game))]
    told = [(row, chance) for row, chance in zip(rows_of("strategic_depth", game), chances, strict=True)]
    told = [(row, chance) for row, chance in told if row.method is Method.RULE]
    for row, chance in told:
        by_rule = row.details["rule"]["verdict"] if row.verdict is RowVerdict.EXCLUDED else row.verdict
        name = "no" if by_rule == RowVerdict.COUNTS else "yes"
        is_doubted = reader.licences[f"strategic {name}"].chance(chance) >= 0.4
        assert (row.verdict is RowVerdict.EXCLUDED) == is_doubted
        assert is_doubted == row.reason.endswith("left open.")
        assert "the built-in reader" in row.reason
    assert len({row.verdict for row, _ in told}) > 1


def build(said: Sequence[tuple[str, str]], roles: Mapping[str, Alignment] | None = None) -> Transcript:
    return game_of(said, {name: {"alignment": (roles or {}).get(name)} for name, _ in said}, round=1)


GAME = build(
    [
        ("Ann", "hello everybody, nice evening"),
        ("Bob", "Cole voted for Dora in round 1 and now he says he trusts her, so one of the two stories is false."),
        ("Cole", "That is not what I said, Bob. I only voted for Dora because you did."),
        ("Dora", "lol"),
        ("Ann", "I think it was raining on my holiday, anyway."),
    ],
    roles={"Ann": "town", "Bob": "town", "Cole": "mafia", "Dora": "town"},
)


def test_n_grams_of_a_text_do_not_depend_on_the_texts_beside_it() -> None:
    alone = hashed_ngrams(["you voted for bob"])
    among = hashed_ngrams(["", "something else", "you voted for bob", "bob"])
    assert np.array_equal(alone.buckets, among.buckets[among.starts[2] : among.starts[3]])
    assert alone.buckets.max() < BUCKETS
    weights, idf = np.ones((BUCKETS, 2), dtype=np.float32), np.ones(BUCKETS, dtype=np.float32)
    sums = among.sums(weights, idf)
    assert sums.shape == (4, 2)
    # With weights of one, the sum over the norm is the root of the number of distinct n-grams.
    assert sums[2, 0] == pytest.approx(len(alone.buckets) ** 0.5, rel=1e-4)


def test_the_same_discussion_is_always_read_alike() -> None:
    reader = shipped_reader()
    again = Reader.load(reader_as_bytes(reader))
    first, second = (one.read(Discussion.of(GAME)) for one in (reader, again))
    assert len(first) == 5
    for one, other in zip(first, second, strict=True):
        assert one.strategic == pytest.approx(other.strategic, abs=1e-3)
        assert 0 <= one.strategic <= 1


def test_decisions_keep_what_the_rule_said_and_the_score_to_the_letter() -> None:
    rule = evaluate_transcript(GAME, reader=None).metrics
    read = evaluate_transcript(GAME, reader=shipped_reader()).metrics
    depth = read["strategic_depth"]
    assert depth.details["by_rule"]["score"] == rule["strategic_depth"].score
    assert depth.details["reader"] == shipped_reader().name
    for row, before in zip(depth.ledger, rule["strategic_depth"].ledger, strict=True):
        assert row.id == before.id
        if row.method is Method.READER:
            assert row.details["rule"]["verdict"] == str(before.verdict)
            assert 0.4 < row.details["chance"] <= 1
    # The rule is taken in by "I think"; the case against Cole has no keyword of the rubric but is one.
    verdicts = [row.verdict for row in depth.ledger]
    assert verdicts[1] is RowVerdict.COUNTS
    assert verdicts[4] is RowVerdict.DOES_NOT_COUNT
    assert verdicts[3] is RowVerdict.DOES_NOT_COUNT


def test_references_that_only_the_reader_sees_are_open_and_make_no_game_wait() -> None:
    said = [
        "Ann dodged every question of mine.",
        "Times as noted. You gave Golf the point before the answer had cooled.",
    ]
    game = build([("Ann", "hi"), *(("Bob", one) for one in said), ("Ann", "I suspect you, as you never answered.")])
    by_rule = evaluate_transcript(game, reader=None).metrics["memory_accuracy"]
    assert (by_rule.status, by_rule.ledger) == (Status.PASSED, ())
    read = evaluate_transcript(game, reader=shipped_reader()).metrics["memory_accuracy"]
    assert read.ledger
    # What it takes for none rather than for one is none.
    assert all((row.method, row.verdict) == (Method.READER, RowVerdict.EXCLUDED) for row in read.ledger)
    assert all(row.details["chance"] >= 0.5 for row in read.ledger)
    assert (read.status, read.reason[:15]) == (Status.NOT_APPLICABLE, "references seen")


def test_a_file_that_is_no_reader_is_refused() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, about=np.array([1, 2]))
    for content in (b"", b"PK\x03\x04", buffer.getvalue(), reader_as_bytes(shipped_reader())[:5000]):
        with pytest.raises(InputError, match="not a reader"):
            Reader.load(content, "team.npz")
