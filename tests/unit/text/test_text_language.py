"""Which language a discussion is in, and when that is left open."""

from __future__ import annotations

import pytest

from evaluation.text.language import detect_language, language_code

GERMAN = "Ich glaube, dass Anna verdächtig ist, weil sie gestern gegen Peter gestimmt hat und nichts erklärt."
FRENCH = "Je pense que Marie est suspecte parce qu'elle n'a rien dit hier et que personne ne la défend."
JAPANESE = "私は田中さんが怪しいと思います。昨日は何も言わなかったし、今日も静かです。みんなで投票しましょう。"
ENGLISH = "I think the villagers are wrong and we should vote for someone else because they have no evidence."
CHAT = "lol idk sus af vote bob pls omg gg kai u sus bro go vote him out now ok haha ez"


@pytest.mark.parametrize(
    ("text", "language"),
    [(GERMAN, "de"), (FRENCH, "fr"), (JAPANESE, "ja"), (ENGLISH, "en"), (CHAT, "en")],
)
def test_a_longer_text_is_recognised(text: str, language: str) -> None:
    assert detect_language([text] * 5) == language


def test_under_fifty_words_it_is_english() -> None:
    # The German sentence has 16 words: three times is 48, four times is 64.
    assert detect_language([GERMAN] * 3) == "en"
    assert detect_language([GERMAN] * 4) == "de"
    assert detect_language([]) == "en"


@pytest.mark.parametrize(
    ("given", "code"), [("en", "en"), ("en-US", "en"), (" English ", "en"), ("de_AT", "de"), ("ja", "ja")]
)
def test_names_of_languages(given: str, code: str) -> None:
    assert language_code(given) == code
