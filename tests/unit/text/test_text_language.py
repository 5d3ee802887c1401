"""Which language a discussion is in, and when that is left open."""

from __future__ import annotations

import pytest

from evaluation.text.language import detect_language, language_code

GERMAN = "Ich glaube, dass Anna verdächtig ist, weil sie gestern gegen Peter gestimmt hat und nichts erklärt."
FRENCH = "Je pense que Marie est suspecte parce qu'elle n'a rien dit hier et que personne ne la défend."
JAPANESE = "私は田中さんが怪しいと思います。昨日は何も言わなかったし、今日も静かです。みんなで投票しましょう。"
ENGLISH = "I think the villagers are wrong and we should vote for someone else because they have no evidence."
CHAT = "lol idk sus af vote bob pls omg gg kai u sus bro go vote him out now ok haha ez"


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize(
    ("text", "language"),
    [(GERMAN, "und"), (FRENCH, "und"), (JAPANESE, "ja"), (ENGLISH, "en"), (CHAT, "en")],
)
def test_english_is_told_from_other_languages_however_short_the_text(text: str, language: str, times: int) -> None:
    assert detect_language([text] * times) == language


@pytest.mark.parametrize(
    "text",
    [
        "Nein, ich war zu Hause.",
        "Ik was gisteren niet in het dorp.",
        "No es verdad, yo estaba en mi casa.",
        "Io non sono il lupo!",
        "Jag tror att det var han.",
    ],
)
def test_one_sentence_in_another_language_is_not_english(text: str) -> None:
    assert detect_language([text]) == "und"


@pytest.mark.parametrize("text", ["", "Hi Bob", "gg", "Skip.", "Alright, who is it?", "u sus bro"])
def test_what_is_too_short_to_tell_and_short_english_is_english(text: str) -> None:
    assert detect_language([text]) == "en"


@pytest.mark.parametrize(
    ("given", "code"), [("en", "en"), ("en-US", "en"), (" English ", "en"), ("de_AT", "de"), ("ja", "ja")]
)
def test_names_of_languages(given: str, code: str) -> None:
    assert language_code(given) == code
