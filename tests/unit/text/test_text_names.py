"""Who is named in a message: metrics.md, "Name matching is one shared piece"."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.text.names import NameIndex

PHONETIC = ("Agent-Alpha", "Agent-Bravo", "Agent-Charlie", "Agent-Echo", "Agent-E", "Agent-EF")
PEOPLE = ("Winter", "Angel", "Gray", "Lee", "Charlie", "Bailey")


def found(names: tuple[str, ...], text: str) -> list[tuple[str, str]]:
    """Player and wording of every mention."""
    return [(mention.player, text[mention.start : mention.end]) for mention in NameIndex.of(names).mentions(text)]


def players(names: tuple[str, ...], text: str) -> list[str]:
    return [player for player, _ in found(names, text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AGENT-ALPHA, agent-bravo", [("Agent-Alpha", "AGENT-ALPHA"), ("Agent-Bravo", "agent-bravo")]),
        ("Agent‑Alpha’s claim", [("Agent-Alpha", "Agent‑Alpha")]),
        ("Agent Alpha and AgentBravo", [("Agent-Alpha", "Agent Alpha"), ("Agent-Bravo", "AgentBravo")]),
        ("I trust Alpha", [("Agent-Alpha", "Alpha")]),
        ("Bravo's vote", [("Agent-Bravo", "Bravo")]),
        ("@echo hi", [("Agent-Echo", "echo")]),
        ("voted for echo", [("Agent-Echo", "echo")]),
        ("this is an echo chamber", []),
        ("Agent-EF is not Agent-E", [("Agent-EF", "Agent-EF"), ("Agent-E", "Agent-E")]),
        ("plan E, or an agent e of theirs", []),
        ("every agent and all Agents", []),
    ],
)
def test_full_names_and_suffixes(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(PHONETIC, text) == expected


WORDS = {
    "": "winter is coming|Winter is coming|i don't like winter, a gray sky|the angel of death|I LIKE GRAY SKIES",
    "Winter": "I think Winter did it|Winter, what do you say?|winter said nothing|Winter is suspicious",
    "Lee": "hey lee",
    "Angel": "@angel|did angel vote?",
    "Gray": "gray|lets vote gray out|Gray's argument is weak|I think it's gray",
    "Winter, Gray": "i vote for winter and gray",
}


@pytest.mark.parametrize(
    ("expected", "text"), [(who, text) for who, texts in WORDS.items() for text in texts.split("|")]
)
def test_names_that_are_words_need_a_context(expected: str, text: str) -> None:
    assert ", ".join(players(PEOPLE, text)) == expected


STATEMENTS = (
    "should explain|has to go|knows something|wants us to lose|changed the story|contradicted himself|is the one|"
    "is fine|is lying|seems nervous|was quiet|can't be trusted|doesn't add up|still hasn't answered|"
    "never really answered|worries me|hesitated|makes no sense|explain your vote"
)


@pytest.mark.parametrize("name", ["Alpha", "Winter", "Lee", "Bailey"])
@pytest.mark.parametrize("said", STATEMENTS.split("|"))
@pytest.mark.parametrize("form", ["{} {}.", "Hm. {} {}", "**{}** {}!"])
def test_another_name_changes_nothing_at_a_sentences_start(name: str, said: str, form: str) -> None:
    player = "Agent-Alpha" if name == "Alpha" else name
    assert found(("Agent-Alpha", "Winter", "Lee", "Bailey"), form.format(name, said)) == [(player, name)]


THINGS = (
    "Winter is going to be cold|Winter's coming|Winter ended|Winter brings snow|Winter's cold grip|Gray skies ahead|"
    "Hope so|May is a month|Will vote now"
)


@pytest.mark.parametrize("text", THINGS.split("|"))
def test_sentences_that_begin_with_the_thing(text: str) -> None:
    assert players(("Winter", "Gray", "Angel", "Hope", "May", "Will"), text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Winter's demise is a loss", ["Winter"]),
        ("Winter's the one", ["Winter"]),
        ("Winter came to the discussion late", ["Winter"]),
        ("winter should explain", ["Winter"]),
        ("winter can be hard", []),
        ("Will should explain, May has to go", ["Will", "May"]),
    ],
)
def test_sentences_that_begin_with_the_player(text: str, expected: list[str]) -> None:
    assert players(("Winter", "May", "Will"), text) == expected


@pytest.mark.parametrize(
    ("name", "text", "is_named"),
    [
        ("Agent-Echo", "Echo by the door, as always", True),
        ("EchoBot", "Echo at forty percent", True),
        ("unit_7-echo", "Echo again", True),
        ("Agent-Echo", "echo at forty percent", False),
        ("Agent-Echo", "the echo of it", False),
        ("Agent-Will", "Will you vote?", False),
        # What stands beside a title or a given name is an ordinary name.
        ("Mr Gray", "Gray skies", False),
        ("Dr. Strange", "Strange that nobody spoke", False),
        ("Winter Kovac", "Winter weather", False),
        ("WinterKovac", "Winter weather", False),
    ],
)
def test_a_code_name_needs_a_capital_only(name: str, text: str, is_named: bool) -> None:
    assert players((name, "Zoltan"), text) == ([name] if is_named else [])


def test_the_words_of_all_names_without_labels() -> None:
    words = NameIndex(("Agent-Alpha", "Anna Kovac", "AdrianMorgan", "Jo Kovac", "Player 1", "Winter")).words
    # "Jo" is too short to stand for anybody, so "Kovac" is all there is to "Jo Kovac".
    assert words.sole == {"alpha", "winter", "kovac"}
    assert words.parts == {"anna", "adrianmorgan", "adrian", "morgan"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Will you vote?", []),
        ("I will vote, the vote will count", []),
        ("may I ask", []),
        ("Will voted for May", ["Will", "May"]),
        ("I trust Will", ["Will"]),
        ("vote for will", ["Will"]),
        ("you are right and I agree", []),
    ],
)
def test_names_that_are_function_words(text: str, expected: list[str]) -> None:
    assert players(("Will", "May", "You", "I"), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("charlei is sus", ["Charlie"]),
        ("charlies first move", ["Charlie"]),
        ("Baily's vote", ["Bailey"]),
        ("how charming, a barley field", []),
        ("wintr is it", ["Winter"]),
        ("lea le leee", []),
        ("grai", []),
    ],
)
def test_misspellings_of_longer_names_are_mended_unless_they_are_words(text: str, expected: list[str]) -> None:
    assert players(PEOPLE, text) == expected


def test_kinds_of_mentions() -> None:
    mentions = NameIndex(PHONETIC).mentions("Agent-Alpha, Bravo, Charlei")
    assert [(mention.player, mention.kind) for mention in mentions] == [
        ("Agent-Alpha", "full"),
        ("Agent-Bravo", "part"),
        ("Agent-Charlie", "fuzzy"),
    ]


def test_names_that_resemble_each_other_are_never_mended() -> None:
    assert players(("Marianne", "Marianna"), "mariannee did it") == []


def test_numbered_players() -> None:
    names = ("Player 1", "Player 2", "Player 10")
    assert found(names, "Player 10, player 1's vote, player2") == [
        ("Player 10", "Player 10"),
        ("Player 1", "player 1"),
        ("Player 2", "player2"),
    ]
    assert players(names, "every Player has 1 vote; round 2; the player. 10 of us") == []


def test_first_and_last_names_count_when_only_one_player_has_them() -> None:
    names = ("Anna Kovac", "Anna Smit", "Jo Li")
    assert players(names, "Kovac said that smit said") == ["Anna Kovac", "Anna Smit"]
    assert players(names, "Anna said, and Jo, and Li") == []


def test_a_full_name_beats_a_part_of_another() -> None:
    names = ("Adrian", "AdrianMorgan", "LeeAdrian")
    named = ["Adrian", "AdrianMorgan", "LeeAdrian", "AdrianMorgan"]
    assert players(names, "Adrian, Adrian Morgan, LeeAdrian, Morgan") == named


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("C++", "I accuse C++!"),
        (".*", "look at .* now"),
        ("[Bot](x)", "what does [Bot](x) say"),
        ("**Star**", "and **Star** too"),
        ("a|b", "it is a|b, surely"),
        ("🦊", "I trust🦊completely"),
        ("👩‍💻", "vote 👩‍💻"),
        ("田中", "私は田中さんが怪しい"),
        ("Ольга", "мне кажется ОЛЬГА молчит"),
        ("José", "I trust Jose\u0301 here"),
        ("O'Brien", "O’Brien's vote"),
        ("x" * 200, "is it " + "X" * 200 + "?"),
        ("(a+)+$", "so (a+)+$ it is"),
        ("Dr. Strange", "I trust Dr. Strange"),
        ("A", "I think A did it"),
        ("7", "vote for 7"),
    ],
)
def test_hostile_names(name: str, text: str) -> None:
    assert players((name, "Zoltan"), text) == [name]


def test_names_that_begin_alike() -> None:
    assert players(("C+", "C++", "C"), "C++ or C+ or C#?") == ["C++", "C+"]
    assert players(("🦊", "🦊🦊"), "🦊🦊 🦊") == ["🦊🦊", "🦊"]


def test_single_letters_are_no_names_without_a_context() -> None:
    assert players(("A", "B"), "A bad plan, a b c") == []
    assert players(("A", "B"), "I voted for A and B") == ["A", "B"]


def test_names_that_differ_in_case_only_are_told_apart_by_it() -> None:
    assert players(("Kai", "kai"), "Kai or kai or KAI") == ["Kai", "kai"]


def test_mentions_from_a_position_on() -> None:
    text = "Agent-Alpha: Agent-Bravo lies"
    assert [m.player for m in NameIndex(PHONETIC).mentions(text, 13)] == ["Agent-Bravo"]


@pytest.mark.parametrize(
    ("speaker", "text", "body"),
    [
        ("Agent-E", "Agent-E: hello", "hello"),
        ("Agent-E", "**Agent-E:** hello", "hello"),
        ("Agent-E", "**Agent-E**: hello", "hello"),
        ("Agent-E", "[agent e]: hello", "hello"),
        ("Agent-E", "Agent-E: Agent-E: hello", "hello"),
        ("Agent-E", "Agent-E hello: you", "Agent-E hello: you"),
        ("Agent-Echo", "Echo: hello", "hello"),
        ("Agent-E", "Agent-EF: hello", "Agent-EF: hello"),
        ("Agent-E", "hello: Agent-E", "hello: Agent-E"),
        ("田中", "田中：はい", "はい"),
        ("José", "Jose\u0301: hi", "hi"),
        ("(a+)+$", "(a+)+$: hi", "hi"),
        ("Agent-E", "Agent-E:", ""),
        ("Agent-E", "", ""),
    ],
)
def test_the_own_name_before_a_message(speaker: str, text: str, body: str) -> None:
    assert text[NameIndex((*PHONETIC, "田中", "José", "(a+)+$")).body_start(text, speaker) :] == body


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4, unique=True),
    st.text(max_size=80),
    st.integers(0, 3),
)
def test_mentions_are_ordered_apart_and_inside_the_text(names: list[str], text: str, which: int) -> None:
    text = f"{text} {names[which % len(names)]} {text}"
    index = NameIndex(names)
    previous = 0
    for mention in index.mentions(text):
        assert previous <= mention.start < mention.end <= len(text)
        assert mention.player in names
        previous = mention.end
    assert 0 <= index.body_start(text, names[0]) <= len(text)


def test_hostile_texts_stay_linear() -> None:
    index = NameIndex(["Agent-A", "(a+)+$", "🦊", "aaaa", "Player 1"])
    repeated = {"(": 50_000, "a": 50_000, "agent-": 10_000, "Agent-A: ": 5_000, "🦊": 20_000, "player 1 ": 5_000}
    for text in (unit * times for unit, times in repeated.items()):
        index.mentions(text)
        index.body_start(text, "Agent-A")
