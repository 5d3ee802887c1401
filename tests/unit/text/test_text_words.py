"""Words, stems, normal forms, languages, searches and display of text."""

import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InputError
from evaluation.escaping import cut, lone_surrogate, well_formed
from evaluation.text.display import cost_text, counted, grouped, listed, number_or_none, quoted, shortened
from evaluation.text.language import detect_language, language_code
from evaluation.text.normal import fold, normalise
from evaluation.text.tokens import excerpt, pattern, phrases, sentences, stem, tokenize


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 games"), (1, "1 game"), (2, "2 games"), (12_000, "12,000 games"), (2.5, "2.5 games"), (3.0, "3 games")],
)
def test_a_count_has_its_noun(count: float, words: str) -> None:
    assert counted(count, "game") == words
    assert grouped(count) == words.split()[0]


@pytest.mark.parametrize(
    ("parts", "words"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_an_enumeration(parts: list[str], words: str) -> None:
    assert listed(parts) == words


def test_many_quoted_words_are_counted() -> None:
    assert quoted(["a", "b"]) == '"a" and "b"'
    assert quoted(["a", "b", "c"], most=2) == '"a", "b" and 1 more'


def test_a_short_line_has_no_line_ends_and_the_limit_counts_the_ellipsis() -> None:
    assert shortened("a\n b", 3) == "a b"
    assert shortened("a\n bcd", 4) == "a b…"
    assert cut("a\nbcd", 3) == "a\n…"


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_nothing(value: float | None) -> None:
    assert number_or_none(value) is None


def test_half_of_a_pair_is_found_and_replaced() -> None:
    assert (lone_surrogate("café"), lone_surrogate("caf\udce9!")) == (None, 3)
    assert (well_formed("café 😀"), well_formed("caf\udce9!")) == ("café 😀", "caf?!")


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (None, "not known"),
        (0.0, "0 USD"),
        (0.0000123, "0.0000123 USD"),
        (0.00002, "0.00002 USD"),
        (0.5, "0.50 USD"),
        (0.99999, "1.00 USD"),
        (1.754, "1.75 USD"),
        (1234.5, "1,234.50 USD"),
        # An amount beside a limit of whole dollars: "$3.00 failed" for 3.004 reads like a mistake.
        (3.004, "3.004 USD"),
        (1.9996, "1.9996 USD"),
        (3.0, "3.00 USD"),
        (3.14159, "3.14 USD"),
    ],
)
def test_costs_have_significant_digits_and_cents(usd: float | None, text: str) -> None:
    assert cost_text(usd) == text


GERMAN = "Ich glaube, dass Anna verdächtig ist, weil sie gestern gegen Peter gestimmt hat und nichts erklärt."
FRENCH = "Je pense que Marie est suspecte parce qu'elle n'a rien dit hier et que personne ne la défend."
JAPANESE = "私は田中さんが怪しいと思います。昨日は何も言わなかったし、今日も静かです。みんなで投票しましょう。"
ENGLISH = "I think the villagers are wrong and we should vote for someone else because they have no evidence."
CHAT = "lol idk sus af vote bob pls omg gg kai u sus bro go vote him out now ok haha ez"
OTHERS = (
    *(GERMAN, FRENCH, "Nein, ich war zu Hause.", "Ik was gisteren niet in het dorp."),
    *("No es verdad, yo estaba en mi casa.", "Io non sono il lupo!", "Jag tror att det var han."),
)
SHORT = ("", "Hi Bob", "gg", "Skip.", "Alright, who is it?", "u sus bro")
LANGUAGES = {"en": (ENGLISH, CHAT, *SHORT), "und": OTHERS, "ja": (JAPANESE,)}


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize(("language", "text"), [(one, text) for one, texts in LANGUAGES.items() for text in texts])
def test_english_is_told_from_other_languages_however_short_the_text(language: str, text: str, times: int) -> None:
    assert detect_language([text] * times) == language


@pytest.mark.parametrize(
    ("given", "code"), [("en", "en"), ("en-US", "en"), (" English ", "en"), ("de_AT", "de"), ("ja", "ja")]
)
def test_names_of_languages(given: str, code: str) -> None:
    assert language_code(given) == code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don’t know.", ["i", "don't", "know"]),
        ("Agent-Alpha's vote", ["agent", "alpha's", "vote"]),
        ("snake_case _Bob_ **bold**", ["snake", "case", "bob", "bold"]),
        ("3.5 in round 2", ["3", "5", "in", "round", "2"]),
        ("'quoted' rock 'n' roll", ["quoted", "rock", "n", "roll"]),
        ("École ﬁne Straße", ["école", "fine", "strasse"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("😀 🤔!", []),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [token.text for token in tokenize(text)] == words


def test_spans_are_code_points_of_the_original() -> None:
    # 0 is the woman's head, 1 the joiner, 2 the computer, 3 the space: "vote" stands at 4 to 8, "DON’T" at 10 to 15.
    text = "👩‍💻 vote… DON’T"
    assert [(token.text, token.start, token.end) for token in tokenize(text)] == [("vote", 4, 8), ("don't", 10, 15)]


@given(st.text(max_size=200))
def test_tokens_are_ordered_and_stand_where_they_say(text: str) -> None:
    previous = 0
    for token in tokenize(text):
        assert previous <= token.end
        assert token.start < token.end <= len(text)
        assert token.text in normalise(text[token.start : token.end]).text.replace("_", " ")
        previous = token.start


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who? Me! Fine.", ["Who?", "Me!", "Fine."]),
        ("Wait... what", ["Wait...", "what"]),
        ("Dr. Smith said e.g. that. Yes", ["Dr. Smith said e.g. that.", "Yes"]),
        ("He said no. Then left", ["He said no.", "Then left"]),
        ('"Sure." she said', ['"Sure."', "she said"]),
        ("version 3.5 is out", ["version 3.5 is out"]),
        ("first line\n\n- second", ["first line", "- second"]),
        ("私は村人です。本当？はい", ["私は村人です。", "本当？", "はい"]),
        ("  ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(alphabet="ab .!?\n\"'…。", max_size=80))
def test_sentences_hold_everything_but_white_space(text: str) -> None:
    inside = "".join(text[start:end] for start, end in sentences(text))
    assert "".join(inside.split()) == "".join(text.split())


def test_long_runs_stay_linear() -> None:
    # A pattern that retries from every full stop would need ten billion steps.
    assert sentences("." * 100_000 + "x") == ((0, 100_001),)
    assert len(sentences(".!" * 50_000)) == 1
    assert len(tokenize("a'" * 100_000)) == 1


def test_words_and_phrases_in_quotes() -> None:
    assert phrases('doctor "voted for"') == ("doctor", "voted for")
    assert phrases("“voted   for” «the mayor»") == ("voted for", "the mayor")
    assert phrases('he said "vote now') == ("he", "said", "vote now")
    assert phrases('Vote vote "VOTE"') == ("Vote",)


@pytest.mark.parametrize("query", ["", "   ", '"', '"" ""', "x" * 501, " ".join(f"w{n}" for n in range(21))])
def test_what_cannot_be_searched_for_is_refused(query: str) -> None:
    with pytest.raises(InputError):
        phrases(query)


@given(st.text(max_size=60))
def test_every_pattern_finds_its_own_phrase(text: str) -> None:
    try:
        wanted = phrases(text)
    except InputError:
        return
    for phrase in wanted:
        assert re.search(pattern(phrase), f"before {phrase} after")


def test_a_pattern_takes_text_literally_in_any_case_over_line_ends() -> None:
    assert re.search(pattern("voted for (me)"), "VOTED\n  for (ME)")
    assert not re.search(pattern("a.c"), "abc")


def test_an_excerpt_shows_the_place_that_was_found() -> None:
    text = "x" * 300 + " she Voted for Bob " + "y" * 300
    shown = excerpt(text, ("voted for",), 60)
    # "Voted" starts at character 305; a third of 60 stands before it, so the excerpt runs from 285 to 345.
    assert shown == "…" + "x" * 14 + " she Voted for Bob " + "y" * 25 + "…"
    assert excerpt("short\ntext", ("text",), 60) == "short text"
    assert excerpt("x" * 90, ("nothing",), 10) == "x" * 9 + "…"
    assert excerpt("x" * 90 + "end", ("end",), 10) == "…xxxxxxend"


@given(st.text(max_size=400), st.text(min_size=1, max_size=5), st.integers(3, 80))
def test_an_excerpt_is_never_longer_than_allowed(text: str, wanted: str, length: int) -> None:
    assert len(excerpt(text, (wanted,), length)) <= length


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello THERE", "hello there"),
        ("don’t", "don't"),
        ("Agent‑Alpha and Agent\u2010B", "agent-alpha and agent-b"),
        ("ﬁne…", "fine..."),
        ("Straße", "strasse"),
        ("e\u0301cole", "\u00e9cole"),
        ("ＡＢＣ", "abc"),
        ("so\u00adft\u200bly", "softly"),
        ("가", "가"),
        ("", ""),
    ],
)
def test_what_is_unified(text: str, expected: str) -> None:
    assert normalise(text).text == expected


def test_spans_lead_back_to_the_original() -> None:
    # "fine" stands at 2 to 6 in the copy "e fine"; in the original the ligature is one character: 2 to 5.
    text = "é ﬁne 👩‍💻 x"
    copy = normalise(text)
    start = copy.text.index("fine")
    assert copy.original_span(start, start + 4) == (2, 5)
    position = copy.text.index("x")
    first, last = copy.original_span(position, position + 1)
    assert text[first:last] == "x"


def test_an_empty_span_stays_empty() -> None:
    copy = normalise("aé")
    assert copy.original_span(1, 1) == (1, 1)
    assert copy.original_span(2, 2) == (2, 2)
    assert normalise("").original_span(0, 0) == (0, 0)


@given(st.text(max_size=60))
def test_every_character_leads_to_a_span_whose_normal_form_holds_it(text: str) -> None:
    copy = normalise(text)
    previous = 0
    for position, character in enumerate(copy.text):
        start, end = copy.original_span(position, position + 1)
        assert previous <= start < end <= len(text)
        assert character in normalise(text[start:end]).text
        previous = start


@given(st.text(alphabet=st.characters(categories=["L", "M", "N", "P", "Zs"]), max_size=20))
def test_pieces_are_normalised_like_the_whole(text: str) -> None:
    if max((len(run) for run in _mark_runs(text)), default=0) < 30:
        assert normalise(text).text == fold(text)


def _mark_runs(text: str) -> list[str]:
    return "".join("m" if unicodedata.combining(c) else " " for c in text).split()


def test_long_runs_of_marks_stay_linear() -> None:
    # Canonical ordering of 200,000 marks in one run would take minutes.
    copy = normalise("a" + "\u0301\u0323" * 100_000)
    assert len(copy.text) > 100_000


@pytest.mark.parametrize(
    ("left", "right"), [("voting", "votes"), ("accused", "accusing"), ("patterns", "pattern"), ("player's", "players")]
)
def test_forms_of_a_word_share_a_stem(left: str, right: str) -> None:
    assert stem(left) == stem(right)
