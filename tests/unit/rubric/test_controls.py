"""Controls and companions: hand-worked numbers, properties, and the fast paths against the metrics themselves."""

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.labelled_games import load_games
from benchmarks.planted_faults import renamed, with_order, with_speakers
from evaluation.engines.scoring import SCORERS
from evaluation.rubric.at_chance import (
    BETTER,
    COULD_BE_LUCK,
    TOO_FEW,
    control_words,
    is_above_chance,
    metrics_above_chance,
    summarise_controls,
)
from evaluation.rubric.controls import (
    Aims,
    PermutedRecord,
    Voices,
    against_chance,
    arrangements,
    compute_controls,
    deal_speakers,
    deals,
    score_of_roles,
    score_of_speakers,
    with_roles,
    without_prefixes,
)
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.link_strength import link_strengths, percentiles
from evaluation.rubric.metrics import coherence, memory_accuracy, personality_diversity, role_consistency
from evaluation.rubric.reader.decisions import acts_read, decide
from evaluation.rubric.reader.model import SHIPPED
from evaluation.rubric.speech import read
from evaluation.score import AT_CHANCE
from evaluation.transcript import Alignment, Player, Transcript, Vote
from tests.games import discussion
from tests.long import mostly_long

BY_SOURCE = dict(load_games())
GAMES = sorted((game for _, game in load_games()), key=lambda game: game not in BY_SOURCE.values())
SHORT_GAMES = [game for game in GAMES if 20 < len(game.discussion) <= 40][:3]
KEYS = {"value", "chance", "difference", "z", "p", "draws", "reason", "companion"}
COMPANION_KEYS = {"name", "value", "chance", "difference", "z", "p", "draws"}
DRAWS = 4


@pytest.mark.parametrize("game", mostly_long(GAMES, len(BY_SOURCE)))
def test_the_scores_of_copies_are_the_metrics_own(game: Transcript) -> None:
    plain = without_prefixes(game)
    discussion = Discussion.of(plain)
    words = [prepared.plain_words for prepared in discussion.messages]
    speakers = [message.speaker for message in plain.discussion]
    readings = role_consistency.supported_acts(read(Discussion.of(game)), Discussion.of(game))
    record = PermutedRecord(game)
    random = np.random.default_rng(1)
    names = game.player_names
    for sources in islice(deals(game.players, random), DRAWS):
        order = random.permutation(len(discussion.messages)).tolist()
        expected = coherence.measure(with_order(plain, order)).score
        assert coherence.score_of_order(discussion, order) == pytest.approx(expected)
        dealt = deal_speakers(speakers, [len(one) for one in words], random)
        expected = personality_diversity.measure(with_speakers(plain, dealt)).score
        assert score_of_speakers(words, dealt) == (expected if expected is None else pytest.approx(expected))
        copy = with_roles(game, sources)
        held = {player.name: player for player in copy.players}
        expected = role_consistency.measure(copy).score
        assert score_of_roles(readings, held) == (expected if expected is None else pytest.approx(expected))
        permuted = dict(zip(names, (names[at] for at in random.permutation(len(names))), strict=True))
        result = memory_accuracy.measure(renamed(game, permuted))
        assert record.settled(permuted) == (result.numerator, result.denominator)


def test_a_message_in_another_language_has_no_part_in_the_control_of_memory() -> None:
    italian = "Non credo che qualcuno abbia mentito stasera, quindi dovremmo andare a dormire e parlarne domani."
    known = GAMES[0].discussion[3]
    messages = [one.model_copy(update={"text": italian}) if one is known else one for one in GAMES[0].messages]
    game = GAMES[0].model_copy(update={"messages": tuple(messages)})
    result = memory_accuracy.measure(game)
    names = {name: name for name in game.player_names}
    assert PermutedRecord(game).settled(names) == (result.numerator, result.denominator)


def test_every_control_has_every_key_and_is_the_same_twice() -> None:
    game = SHORT_GAMES[0]
    results = {name: measure(game) for name, measure in SCORERS.items()}
    controls = compute_controls(game, results)
    assert list(controls) == list(SCORERS)
    assert controls == compute_controls(Transcript.from_json(game.to_json()), results)
    for control in controls.values():
        assert set(control) == KEYS
        assert control["companion"] is None or set(control["companion"]) == COMPANION_KEYS
        assert control["p"] is not None or control["reason"]


def test_an_order_that_is_told_from_chance_is_called_so() -> None:
    game = GAMES[0]
    control = compute_controls(game, {"coherence": coherence.measure(game)})["coherence"]
    assert control["companion"]["p"] == pytest.approx(1 / 201)
    assert control["companion"]["chance"] == pytest.approx(50, abs=1)
    # The rule gives copies in random order more than the game itself, which only its companion tells from them.
    said = control_words("coherence", control["value"], control)
    assert said.startswith(f"{AT_CHANCE}: {SAME_MESSAGES} 87 %; link strength ")
    assert not is_above_chance(control)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([("Ann", "Bob, who is it?"), ("Bob", "Me, Ann.")] * 5, "fewer than 12 messages"),
        ([("Ann", "Bob, who is it?")] * 12, "nothing to score"),
    ],
)
def test_what_cannot_be_computed_says_why(messages: Sequence[tuple[str, str]], reason: str) -> None:
    game = discussion(messages, players=("Ann", "Bob"), language="en")
    control = compute_controls(game, {"coherence": coherence.measure(game)})["coherence"]
    assert control == dict.fromkeys(KEYS) | {"reason": reason, "companion": control["companion"]}
    assert control["companion"] == dict.fromkeys(COMPANION_KEYS) | {"name": "link_strength"}


def test_all_arrangements_of_two_evil_among_five_are_enumerated_once() -> None:
    players = [Player(name=name, alignment="mafia" if name in "AB" else "town") for name in "ABCDE"]
    assert arrangements(players) == 10
    dealt = list(deals(players, np.random.default_rng(5)))
    evil = {tuple(players[source].alignment for source in sources) for sources in dealt}
    assert len(dealt) == len(evil) == 10
    assert list(range(5)) in dealt


def test_p_of_an_enumeration_counts_the_original_among_the_best() -> None:
    # 3 of 10 arrangements reach 90, the original is one of them.
    assert against_chance(90, [90, 95, 90, *[50.0] * 7], enumerated=True)["p"] == 0.3


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50), st.floats(0, 100))
def test_p_lies_between_one_of_all_draws_and_one(draws: list[float], real: float) -> None:
    found = against_chance(real, draws)
    assert 1 / (len(draws) + 1) <= found["p"] <= 1
    assert found["difference"] == pytest.approx(real - found["chance"])


def test_without_spread_there_is_no_z() -> None:
    assert against_chance(80, [60, 60, 60]) == {
        "value": 80,
        "chance": 60,
        "difference": 20,
        "z": None,
        "p": 0.25,
        "draws": 3,
    }


def test_a_message_nearer_to_what_was_just_said_than_elsewhere_has_a_high_percentile() -> None:
    # Ann's message at place 2 is like Bob's at place 1 alone: 1 after it, 0.7 and 0.49 later, and 0 after the first.
    similar = np.eye(5)
    similar[2, 1] = similar[1, 2] = 1.0
    speakers = np.array([1, 1, 0, 1, 1])
    assert percentiles(similar, speakers)[2] == 100.0


def test_a_burst_does_not_lower_the_links_of_others() -> None:
    similar = np.random.default_rng(6).random((6, 6))
    similar = similar + similar.T
    once = percentiles(similar, np.array([0, 1, 0, 1, 0, 1]))
    burst = [0, 1, 2, 3, 4, 4, 4, 5]
    again = percentiles(similar[np.ix_(burst, burst)], np.array([0, 1, 0, 1, 0, 0, 0, 1]))
    assert once[4] == pytest.approx(again[4])


def test_links_name_the_words_that_carry_them_as_written() -> None:
    chat = [("Ann", "The lantern story is odd."), ("Bob", "Which lantern, Ann?"), ("Ann", "Vote now."), ("Bob", "Yes.")]
    first, second, *_ = link_strengths(discussion(chat, language="en"))
    assert (first.strength, first.words) == (None, ())
    assert second.words == ("lantern",)


def test_voice_distance_is_within_less_between() -> None:
    similar = np.full((10, 10), np.nan)
    similar[0, 4] = similar[4, 0] = 0.5  # One player.
    similar[0, 5] = similar[5, 0] = 0.1  # Two.
    similar[4, 9] = similar[9, 4] = 0.3  # Two.
    voices = Voices(similar)
    assert voices.distance(np.array([0, 1, 1, 1, 0, 1, 1, 1, 1, 1])) == pytest.approx(100 * (0.5 - 0.2))
    assert voices.distance(np.zeros(10, dtype=np.int64)) is None


def test_direction_is_what_town_hits_less_what_mafia_hits() -> None:
    sides: dict[str, Alignment | None] = {"A": "mafia", "B": "mafia", "C": "town", "D": "town"}
    # Town: 2 of 3 at Mafia; Mafia: 0 of 1. Nobody accuses.
    aims = Aims((("C", "A"), ("D", "B"), ("D", "C"), ("A", "D")), ())
    assert aims.direction(sides) == pytest.approx(200 / 3)


def test_night_votes_and_votes_for_oneself_aim_at_nobody() -> None:
    game = discussion([("Ann", "Hello.")], players=("Ann", "Bob"))
    votes = (Vote(voter="Ann", target="Bob", phase="Night", round=1), Vote(voter="Bob", target="Bob", round=1))
    assert Aims.of(game.model_copy(update={"votes": votes}), ()).votes == ()


def control_of(
    chance: float | None, p: float | None, reason: str | None = None, beside: Mapping[str, float] | None = None
) -> dict[str, object]:
    side = beside and {**dict.fromkeys(COMPANION_KEYS), "name": "link_strength", **beside}
    difference = None if chance is None else 90 - chance
    found = {"chance": chance, "difference": difference, "p": p, "reason": reason, "companion": side}
    return dict.fromkeys(KEYS) | found


LINK, SAME_MESSAGES = "link strength 66, scrambled 50", "with the same messages in random order it is"
LINKED = {"value": 66, "chance": 50, "p": 0.01}


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (control_of(60, 0.01, beside=LINKED), f"{BETTER} ({LINK}; {SAME_MESSAGES} 60 %)"),
        (control_of(99, 0.9), f"{AT_CHANCE}: {SAME_MESSAGES} 99 %"),
        (control_of(89.5, 0.01), f"{AT_CHANCE}: {SAME_MESSAGES} 90 %"),
        (
            control_of(90, 0.6, beside=LINKED),
            f"{AT_CHANCE}: {SAME_MESSAGES} 90 %; link strength 66, scrambled 50",
        ),
        # The companion speaks where the score alone is not compared, above chance or not.
        (
            control_of(80, 0.2, "too few to tell", beside=LINKED | {"p": 0.4}),
            f"{COULD_BE_LUCK} ({LINK}; {SAME_MESSAGES} 80 %)",
        ),
        (
            control_of(24, 0.6) | {"value": 23.8, "difference": -0.2},
            f"{AT_CHANCE}: {SAME_MESSAGES} 24 %, compared with 24 % by the rule without reply ids",
        ),
        (control_of(89, 0.3), f"{COULD_BE_LUCK} ({SAME_MESSAGES} 89 %)"),
        (control_of(60, 0.01), f"{BETTER} ({SAME_MESSAGES} 60 %)"),
        # Too few arrangements are neither "no better" nor a lead that could be luck.
        (
            control_of(80, 0.2, TOO_FEW, beside=LINKED | {"p": 0.4}),
            f"{TOO_FEW} it from scrambled copies ({LINK}; {SAME_MESSAGES} 80 %)",
        ),
        (
            control_of(90, 0.2, TOO_FEW, beside=LINKED | {"p": 0.4}),
            f"{AT_CHANCE}, {TOO_FEW} more: {SAME_MESSAGES} 90 %; {LINK}",
        ),
        (control_of(None, None, "one speaker"), "not compared with scrambled copies: one speaker"),
        (control_of(80, 0.2, "too few to tell"), "not compared with scrambled copies: too few to tell"),
        (control_of(None, None, "no chance level"), ""),
        ({"status": "pending"}, "not compared with scrambled copies yet"),
        (None, "not compared with scrambled copies yet"),
    ],
)
def test_a_control_in_words(control: dict[str, object] | None, words: str) -> None:
    assert control_words("coherence", 90.0, control) == words
    assert control_words("coherence", None, control) == ""


def test_a_rate_stands_before_its_unit() -> None:
    side = dict.fromkeys(COMPANION_KEYS) | {"name": "repetition_rate", "value": 4.25}
    control = control_of(None, None, "no chance level") | {"companion": side}
    assert control_words("anti_repetition", 90.0, control) == "4.2 % repeated within 500 words"
    assert summarise_controls([control]).words == "mean 4.2 % repeated within 500 words"


def test_the_controls_of_several_games_in_words() -> None:
    clear = control_of(60, 0.5, beside={"value": 70, "chance": 50, "p": 0.01})
    unclear = control_of(60, 0.5, beside={"value": 54, "chance": 50, "p": 0.2})
    told = f"{AT_CHANCE}: above them beyond luck in 1 of 2 games, mean link strength 62 (scrambled 50)"
    assert summarise_controls([clear, unclear]).words == told
    assert summarise_controls([clear, clear, unclear]).words.startswith("better than scrambled copies in 2 of 3 games")
    assert summarise_controls([control_of(None, None, "one speaker")]).words == ""
    assert summarise_controls([]).words == ""
    # Both together: a control of 60 lies 30 points below, one of 120 as many above.
    even = summarise_controls([clear, control_of(120, 0.9)])
    words = f"{AT_CHANCE}, which reach 90 %, mean link strength 70 (scrambled 50)"
    assert (even.is_at_chance, even.words) == (True, words)
    waiting = summarise_controls([clear, unclear, None, {"status": "pending"}])
    assert waiting.words == f"{told}, 2 games not compared with scrambled copies yet"
    # Score 90 less 60 by chance, in both; link strength (70 + 54) / 2 less 50.
    assert waiting.as_dict() == {
        "games": 4,
        "pending": 2,
        "compared": 2,
        "above_chance": 1,
        "chance": 60.0,
        "difference": 30.0,
        "is_at_chance": True,
        "companion": {"name": "link_strength", "value": 62.0, "chance": 50.0, "difference": 12.0},
        "words": waiting.words,
    }


def test_metrics_above_chance_are_counted_among_those_that_were_compared() -> None:
    above = {"p": 0.01, "reason": None, "companion": None}
    below = {"p": 0.5, "reason": None, "companion": {"p": 0.2}}
    beside = {"p": None, "reason": "no chance level", "companion": {"p": 0.02}}
    without = {"p": None, "reason": "no chance level", "companion": None}
    assert metrics_above_chance([above, below, beside, without, None]) == "2 of 3"
    assert metrics_above_chance([None, without]) == "pending"
    assert metrics_above_chance([without]) == metrics_above_chance([]) == ""


@pytest.mark.parametrize("game", SHORT_GAMES, ids=lambda game: game.game_id)
def test_roles_dealt_again_are_scored_by_the_acts_that_the_reader_sees(game: Transcript) -> None:
    dealt = with_roles(game, next(iter(deals(game.players, np.random.default_rng(6)))))
    expected = decide(role_consistency.measure(dealt), dealt, SHIPPED).score
    readings = role_consistency.supported_acts(acts_read(Discussion.of(game), SHIPPED), Discussion.of(game))
    assert score_of_roles(readings, {player.name: player for player in dealt.players}) == expected
