"""What holds for all metrics of the discussion, and messages in other languages."""

from collections.abc import Sequence
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric.discussion import Discussion, english_pack
from evaluation.rubric.metrics import (
    anti_repetition,
    coherence,
    memory_accuracy,
    personality_diversity,
    role_consistency,
    strategic_depth,
)
from evaluation.score import RowVerdict
from evaluation.text.language import message_language
from evaluation.text.tokens import tokenize
from evaluation.transcript import Elimination, Transcript, Vote
from tests.games import game_of

Line = tuple[int, str]

METRICS = (
    *(strategic_depth, coherence, personality_diversity, anti_repetition),
    *(memory_accuracy, role_consistency),
)
CAST = ("Zebulon", "Agent-Quokka", "Player 7")
FRESH = ("Xanthippe", "Unit-Mugwump", "Speaker 9")
HOSTILE = ("(a+)+$", "🦊", "田中", "A", "Winter", "**Bob**", "Agent-A", "Agent-AB")

# {0}, {1} and {2} stand for the three players.
PHRASES = (
    "I think {0} is suspicious because of the voting pattern",
    "{1} defended {2} without any evidence yesterday",
    "why did you vote for {2}?",
    "let's look at the evidence again",
    "well, {0}, that accusation makes no sense",
    "hello 👋 everyone… don’t panic",
    "hm",
    "{2}: {1}",
    "I agree with {1}, and {2}'s reasoning",
    "{0} voted for {1} last round. {2} was voted out!",
    '{1} accused you and said "no" in round 1, {2} defended {0}',
    "{2}, you are Mafia! I vote {2}",
    "who claimed villager, {0} or I? {1} never voted, did he",
)
lines = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(PHRASES)), min_size=1, max_size=14)
any_lines = st.lists(
    st.tuples(st.integers(0, 7), st.text(max_size=60) | st.sampled_from(PHRASES)), min_size=1, max_size=8
)


def play(said: Sequence[Line], names: Sequence[str] = CAST, private: Sequence[Line] = ()) -> Transcript:
    lines = [
        (names[who], text.format(*names) if text in PHRASES else text, {"channel": channel})
        for channel, spoken in (("public", said), ("private", private))
        for who, text in spoken
    ]
    sides = ({"role": "Mafia", "alignment": "mafia"}, *2 * [{"role": "Villager", "alignment": "town"}])
    return game_of(
        lines,
        {name: sides[place % 3] for place, name in enumerate(names)},
        round=2,
        votes=(Vote(round=1, voter=names[0], target=names[1]), Vote(round=1, voter=names[1])),
        eliminations=(Elimination(round=1, player=names[2], role="Villager"),),
    )


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__.split(".")[-1])
class TestEveryMetric:
    @given(said=any_lines)
    def test_rows_add_up_and_quote_the_original(self, metric: ModuleType, said: list[Line]) -> None:
        game = play(said, HOSTILE)
        result = metric.measure(game)
        assert sum(row.numerator for row in result.ledger) == result.numerator
        assert sum(row.denominator for row in result.ledger) == result.denominator
        assert result.score is None or 0 <= result.score <= 100
        assert len({row.id for row in result.ledger}) == len(result.ledger)
        for row in result.ledger:
            assert row.reason.endswith(".")
            assert (row.verdict is RowVerdict.EXCLUDED) == (row.denominator == 0)
            for evidence in row.evidence:
                message = game.message(evidence.message_id or row.message_id or "")
                assert message.text[evidence.start : evidence.end] == evidence.text != ""

    @given(said=lines)
    def test_renaming_all_players_moves_nothing(self, metric: ModuleType, said: list[Line]) -> None:
        before = metric.measure(play(said))
        after = metric.measure(play(said, FRESH))
        assert (before.score, before.numerator, before.denominator) == (after.score, after.numerator, after.denominator)

    @given(said=lines, private=lines)
    def test_private_chat_moves_nothing(self, metric: ModuleType, said: list[Line], private: list[Line]) -> None:
        alone = metric.measure(play(said))
        beside = metric.measure(play(said, private=private))
        assert beside.ledger == alone.ledger

    @given(said=lines)
    def test_measuring_twice_gives_the_same(self, metric: ModuleType, said: list[Line]) -> None:
        game = play(said)
        assert metric.measure(game) == metric.measure(Transcript.from_json(game.to_json()))


@given(said=lines)
def test_saying_everything_twice_never_raises_anti_repetition(said: list[Line]) -> None:
    once = anti_repetition.measure(play(said)).score
    twice = anti_repetition.measure(play(said * 2)).score
    if once is not None and twice is not None:
        assert twice <= once + 1e-9


def test_a_prepared_message_leaves_out_the_own_name_and_tells_names_from_words() -> None:
    game = play([(0, "Zebulon: Player 7's vote")])
    (prepared,) = Discussion.of(game).messages
    assert prepared.body_start == 9
    assert [token.text for token in prepared.tokens] == ["player", "7's", "vote"]
    assert [(mention.player, mention.start, mention.end) for mention in prepared.mentions] == [("Player 7", 9, 17)]
    assert [token.text for token in prepared.plain_tokens] == ["vote"]


NAMES = ("Anna", "Ben", "Clara")
GERMAN = "Ich glaube, Ben ist verdächtig, weil er gestern über seine Stimme gelogen hat."
ENGLISH = (
    "I think Ben is suspicious because he lied to all of us about his vote in the last round.",
    "That is not true, I never lied to you, and you have no evidence for any of that at all.",
    "The weather is nice, so we should all go to the market and have something good to eat.",
)
ITALIAN = "Penso che Ben sia sospetto, perché ieri sera ha mentito a tutti noi sulla sua scelta nel villaggio."
THAI = "ฉันคิดว่าเบนน่าสงสัยเพราะเขาโกหกเมื่อคืนนี้ตอนที่เราลงคะแนนกัน"


def game(said: Sequence[str], language: str | None = None) -> Transcript:
    return game_of([(NAMES[at % 3], text) for at, text in enumerate(said)], NAMES, language=language)


def test_a_message_in_another_language_is_left_out_and_counted() -> None:
    plain = game(ENGLISH * 4)
    with_others = game([*ENGLISH * 4, ITALIAN, THAI, ITALIAN])
    before, after = evaluate_transcript(plain).metrics, evaluate_transcript(with_others).metrics
    for name in ("strategic_depth", "coherence", "personality_diversity", "anti_repetition"):
        assert after[name].score == before[name].score
        assert "Not counted: 3 messages in another language than English." in after[name].notes
    excluded = after["strategic_depth"].ledger[12:]
    assert [(row.message_id, row.verdict) for row in excluded] == [
        (f"m{at}", RowVerdict.EXCLUDED) for at in range(12, 15)
    ]
    assert excluded[1].reason == "Not counted: only English without a model."


@pytest.mark.parametrize("said", [ITALIAN, GERMAN, "Nein, ich war zu Hause."])
@pytest.mark.parametrize("times", [3, 12])
def test_a_discussion_in_another_language_is_not_applicable_however_short(said: str, times: int) -> None:
    metrics = evaluate_transcript(game([said] * times)).metrics
    for name in ("memory_accuracy", "strategic_depth", "coherence", "role_consistency"):
        assert (metrics[name].score, metrics[name].reason) == (None, "only English without a model")


def test_words_are_counted_in_every_language_that_divides_them_by_spaces() -> None:
    assert evaluate_transcript(game([ITALIAN] * 12)).metrics["personality_diversity"].score is not None
    for said in (THAI, "私はベンが怪しいと思います。昨日の投票で嘘をついたからです。"):
        metrics = evaluate_transcript(game([said] * 12)).metrics
        assert (metrics["anti_repetition"].score, metrics["personality_diversity"].score) == (None, None)


LAUGHTER = "haha hahaha ha haha hahaha ha haha hahaha ha haha hahaha ha hahaha"
PATHS = "/tmp/a/b.png, /tmp/c/d.png, /tmp/e/f.png, /tmp/g/h.png, /tmp/i/j.png"
PEOPLE = "Ann Ben Cleo Dan Eve Fay Gus Hal Ida Jon Kim Lea Mia Ned"
LANGUAGES = {
    "en": ["ok", "Ja, nein.", "投票", LAUGHTER, PATHS, PEOPLE, "ja да"],
    "und": [GERMAN, ITALIAN],
    "ja": ["嘘です、投票します"],
    "zh": ["我们今天投票给他"],
    "ru": ["Это неправда"],
    "ko": ["나는 벤을 의심해"],
    "ar": ["أعتقد أن بن كاذب"],
}


@pytest.mark.parametrize(("expected", "text"), [(one, text) for one, texts in LANGUAGES.items() for text in texts])
def test_the_language_of_a_message(text, expected) -> None:
    assert message_language(text, tokenize(text), english_pack().stop_words) == expected
