"""Games in other languages than English, and games in several: what counts, and what is left out and said so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric.discussion import english_pack
from evaluation.score import RowVerdict
from evaluation.text.language import message_language
from evaluation.text.tokens import tokenize
from evaluation.transcript import Transcript
from tests.games import game_of

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
