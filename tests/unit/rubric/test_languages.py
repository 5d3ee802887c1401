"""Games in other languages than English, and games in several: what counts, and what is left out and said so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.rubric._language_pack import language_pack
from evaluation.rubric.controls import link_strengths
from evaluation.rubric.discussion import Discussion
from evaluation.score import RowVerdict
from evaluation.text.language import language_code, message_language
from evaluation.text.tokens import tokenize
from evaluation.transcript import Message, Player, Transcript

NAMES = ("Anna", "Ben", "Clara")
# Per language: three messages, of which the first two argue and the second answers the first; then their keywords.
SAID = {
    "de": (
        "Ich glaube, Ben ist verdächtig, weil er gestern über seine Stimme gelogen hat.",
        "Das stimmt nicht! Du beschuldigst mich ohne einen Beweis, ich war die ganze Nacht zu Hause.",
        "Heute scheint die Sonne und wir gehen alle zusammen ins schöne Wirtshaus am Markt.",
    ),
    "es": (
        "Creo que Ben es sospechoso porque ayer nos mintió a todos sobre su voto.",
        "No es verdad. Me acusas sin ninguna prueba, yo estaba en mi casa toda la noche.",
        "Hoy hace sol en la plaza, así que vamos todos juntos a comer algo rico al mercado.",
    ),
    "fr": (
        "Je pense que Ben est suspect parce qu'il nous a menti hier soir sur son vote.",
        "C'est faux. Tu m'accuses sans la moindre preuve, j'étais chez moi toute la nuit.",
        "Il fait beau sur la place du village, allons tous ensemble manger au marché.",
    ),
    "pt": (
        "Eu acho que o Ben é suspeito porque ele mentiu para todos nós sobre o voto dele.",
        "Não é verdade. Você me acusa sem nenhuma prova, eu estava em casa a noite toda.",
        "Hoje faz sol na praça, então vamos todos juntos comer alguma coisa boa no mercado.",
    ),
    "ja": (
        "私はベンが怪しいと思います。昨日の投票で嘘をついたからです。",
        "違います。証拠もないのに、なぜ私を疑うのですか。私は家にいました。",
        "今日は天気がとても良いので、みんなで市場へ行って何か食べましょう。",
    ),
    "zh": (
        "我觉得小本很可疑，因为他昨天投票的时候对大家撒谎了。",
        "不对，你没有证据就怀疑我，我昨天整个晚上都在家里休息。",
        "今天天气很好，大家一起去市场吃点东西，然后回家睡觉吧。",
    ),
}
KEYWORDS = {
    "de": ({"believe", "suspicious", "because", "vote"}, {"accuse", "evidence", "vote"}),
    "es": ({"believe", "suspicious", "because", "vote"}, {"accuse", "evidence"}),
    "fr": ({"think", "suspicious", "because", "vote"}, {"accuse", "evidence"}),
    "pt": ({"think", "suspicious", "because", "vote"}, {"accuse", "evidence"}),
    "ja": ({"think", "suspicious", "vote"}, {"suspicious", "evidence"}),
    "zh": ({"think", "suspicious", "because", "vote"}, {"suspicious", "evidence"}),
}
ENGLISH = (
    "I think Ben is suspicious because he lied to all of us about his vote in the last round.",
    "That is not true, I never lied to you, and you have no evidence for any of that at all.",
    "The weather is nice, so we should all go to the market and have something good to eat.",
)
ITALIAN = "Penso che Ben sia sospetto, perché ieri sera ha mentito a tutti noi sulla sua scelta nel villaggio."
THAI = "ฉันคิดว่าเบนน่าสงสัยเพราะเขาโกหกเมื่อคืนนี้ตอนที่เราลงคะแนนกัน"


def game(said: Sequence[str], language: str | None = None) -> Transcript:
    messages = [
        Message(id=f"m{at}", index=at, speaker=NAMES[at % 3], text=text, channel="public")
        for at, text in enumerate(said)
    ]
    return Transcript(
        game_id="g", source_format="test", language=language, players=[Player(name=n) for n in NAMES], messages=messages
    )


@pytest.mark.parametrize("language", SAID)
def test_a_language_with_a_pack_is_found_and_scored(language) -> None:
    metrics = evaluate_transcript(found := game(SAID[language] * 4)).metrics
    assert Discussion.of(found).language == language
    rows = metrics["strategic_depth"].ledger
    for row, expected in zip(rows, KEYWORDS[language], strict=False):
        assert expected <= set(row.details["keywords"]), row.reason
    assert rows[2].verdict is RowVerdict.DOES_NOT_COUNT
    assert metrics["strategic_depth"].score == pytest.approx(200 / 3)
    for name in ("coherence", "personality_diversity", "anti_repetition"):
        assert metrics[name].score is not None, (name, metrics[name].reason)
    assert metrics["coherence"].ledger[1].verdict is RowVerdict.COUNTS
    for name in ("memory_accuracy", "role_consistency"):
        assert metrics[name].reason == f"unsupported language: {language}"
    strengths = [link.strength for link in link_strengths(found) if link.strength is not None]
    assert len(strengths) >= 10


@pytest.mark.parametrize("language", SAID)
def test_evidence_stands_on_the_words_of_the_original(language) -> None:
    for row in evaluate_transcript(found := game(SAID[language])).metrics["strategic_depth"].ledger:
        for one in row.evidence:
            assert found.message(row.message_id).text[one.start : one.end] == one.text


@pytest.mark.parametrize("language", SAID)
def test_words_of_the_original_are_found_in_order_without_overlap(language) -> None:
    for prepared in Discussion.of(game(SAID[language], language)).messages:
        ends = 0
        for token in prepared.tokens:
            assert ends <= token.start < token.end <= len(prepared.message.text)
            ends = token.end


def test_each_message_is_read_in_its_own_language() -> None:
    # English most of all, so that the game is; every third message is in another language that has a pack.
    others = [SAID[language][0] for language in SAID]
    mixed = [text for other in others for text in (ENGLISH[0], other, ENGLISH[1])]
    found = game(mixed)
    assert Discussion.of(found).language == "en"
    assert [prepared.pack.language for prepared in Discussion.of(found).messages[1::3]] == list(SAID)
    result = evaluate_transcript(found).metrics["strategic_depth"]
    assert (result.score, result.notes) == (100.0, ())


def test_a_message_in_an_unsupported_language_is_left_out_and_counted() -> None:
    plain = game(ENGLISH * 4)
    with_others = game([*ENGLISH * 4, ITALIAN, THAI, ITALIAN])
    before, after = evaluate_transcript(plain).metrics, evaluate_transcript(with_others).metrics
    for name in ("strategic_depth", "coherence", "personality_diversity", "anti_repetition"):
        assert after[name].score == before[name].score
        assert "Not counted: 3 messages in unsupported languages: it (2) and th (1)." in after[name].notes
    excluded = after["strategic_depth"].ledger[12:]
    assert [(row.message_id, row.verdict) for row in excluded] == [
        (f"m{at}", RowVerdict.EXCLUDED) for at in range(12, 15)
    ]
    assert excluded[1].reason == "Not counted: unsupported language: th."


def test_a_discussion_in_an_unsupported_language_is_not_applicable_as_a_whole() -> None:
    metrics = evaluate_transcript(game([ITALIAN] * 12)).metrics
    assert metrics["strategic_depth"].reason == "unsupported language: it"
    assert metrics["personality_diversity"].score is not None
    assert evaluate_transcript(game([THAI] * 12)).metrics["anti_repetition"].score is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ok", "en"),
        ("Ja, nein.", "en"),
        ("投票", "en"),
        ("haha hahaha ha haha hahaha ha haha hahaha ha haha hahaha ha hahaha", "en"),
        ("Это неправда", "ru"),
        ("나는 벤을 의심해", "ko"),
        ("أعتقد أن بن كاذب", "ar"),
        ("ja да", "en"),
        ("嘘です、投票します", "ja"),
        ("我们今天投票给他", "zh"),
        ("/tmp/a/b.png, /tmp/c/d.png, /tmp/e/f.png, /tmp/g/h.png, /tmp/i/j.png", "en"),
        ("Ann Ben Cleo Dan Eve Fay Gus Hal Ida Jon Kim Lea Mia Ned", "en"),
    ],
)
def test_a_message_that_cannot_tell_is_in_the_language_of_the_discussion(text, expected) -> None:
    pack = language_pack("en")
    assert pack is not None
    assert message_language(text, tokenize(text), "en", pack.stop_words) == expected


def test_a_message_in_the_alphabet_of_the_discussion_is_in_its_language() -> None:
    assert message_language("Це неправда", tokenize("Це неправда"), "uk", frozenset()) == "uk"


@pytest.mark.parametrize(
    ("named", "expected"),
    [("Español", "es"), ("français", "fr"), ("日本語", "ja"), ("Chinese (Simplified)", "zh"), ("zh_Hant-TW", "zh")],
)
def test_languages_are_known_by_the_names_that_files_use(named, expected) -> None:
    assert language_code(named) == expected


def test_ideographs_alone_are_japanese_in_a_japanese_discussion() -> None:
    assert message_language("投票先未定", tokenize("投票先未定"), "ja", frozenset()) == "ja"


@pytest.mark.parametrize(
    "text", ["投\u200b票" * 50, "か\u3099" * 90, "ｱ" * 60 + "ﾞ" * 60, "'" * 50 + "j'''''accuse", "𠮷野家" * 40]
)
@pytest.mark.parametrize("language", ["ja", "zh", "fr"])
def test_hostile_text_is_cut_without_a_fault(text, language) -> None:
    (prepared,) = Discussion.of(game([text], language)).messages
    assert all(0 <= token.start < token.end <= len(text) for token in prepared.tokens)


def test_packs_have_the_keywords_of_the_rubric_alone() -> None:
    english = language_pack("en")
    assert english is not None
    for language in SAID:
        pack = language_pack(language)
        assert pack is not None
        assert set(pack.strategic_forms.values()) == set(english.strategic_forms.values())
        assert pack.bare_keywords <= set(pack.strategic_forms)
