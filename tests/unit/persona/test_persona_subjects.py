"""Who is an agent: names, speakers, portrayals, and the cast that is shipped."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InputError
from evaluation.files.bundled import shipped
from evaluation.judging.proposition_library import PropositionLibrary, check_file, proposition_files
from evaluation.judging.propositions import Dimension, TargetType
from evaluation.persona.agents import LONGEST_PERSONA, Agent, SpeakerMap, persona_text, read_agent_file, shipped_cast
from evaluation.persona.subjects import ALWAYS, Period, Sources, by_time, channels_of, everybody, subject_of
from evaluation.text.agent_names import agent_name, slug_of
from evaluation.transcript import Transcript
from tests.games import Line, game_of

START = datetime(2025, 3, 1, 12, tzinfo=UTC)


def talk(
    game: str,
    lines: list[tuple[str, str]],
    *,
    day: int = 0,
    channel: str | None = None,
    players: Mapping[str, Mapping[str, Any]] | Sequence[str] = (),
    extra: Sequence[Line] = (),
) -> Transcript:
    about = [{"channel_name": channel, "sent_at": START + timedelta(days=day, minutes=at)} for at in range(len(lines))]
    said = [(*line, fields) for line, fields in zip(lines, about, strict=True)]
    names = players or list(dict.fromkeys(speaker for speaker, _ in lines))
    return game_of([*said, *extra], names, game_id=game, source_format="native")


def sources(*transcripts: Transcript, period: Period = ALWAYS, **chosen: str) -> Sources:
    return Sources(transcripts, SpeakerMap(chosen), shipped_cast(), {}, period)


def texts(agent: Agent, found: Sources) -> list[list[str]]:
    return [[event.text for event in each.target.trajectory] for each in subject_of(agent, found).portrayals]


SLUGS = {"Michael Scott": "michael-scott", "  Agent_A!! ": "agent-a", "ÉLODIE": "élodie", "李雷": "李雷"}
SLUGS |= {"../../etc": "etc"}


@pytest.mark.parametrize(("name", "slug"), SLUGS.items())
def test_a_slug_of_a_name(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@pytest.mark.parametrize(
    "names",
    [
        ("मीना", "मोना", "मैना", "मन"),
        ("C", "C++", "C#", "C&"),
        ("Player 😀", "Player 😡", "Player", "Player 👨\u200d👩", "Player 👨👩"),
        ("Ann", "Ann ❤", "@Ann"),
        ("all", "All of them"),
    ],
)
def test_names_that_differ_in_signs_are_different_agents(names: tuple[str, ...]) -> None:
    assert len({slug_of(name) for name in names}) == len(names)
    assert "all" not in {slug_of(name) for name in names}


@pytest.mark.parametrize(
    "spellings",
    [
        ("Michael Scott", "michael  scott ", "MICHAEL_SCOTT", "michael-scott"),
        ("Zoë", unicodedata.normalize("NFD", "Zoë"), "ZOË"),
        ("Bob", "Bo\u200bb", "\u200eBob"),
        ("मीना", unicodedata.normalize("NFD", "मीना"), "मीना "),
        ("C++", "c++"),
    ],
)
def test_spellings_of_one_name_are_one_agent(spellings: tuple[str, ...]) -> None:
    assert len({slug_of(name) for name in spellings}) == 1


NO_NAMES = ["", "  ", "\u200b", " \u2060\u200d", "\u3164", "a\x00b", "A\x1b[31m", "B\nC", "\ud800", "channel:xyz"]


@pytest.mark.parametrize("name", [*NO_NAMES, "Channel:", "a\x85x"])
def test_what_is_no_name_of_an_agent_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        agent_name(name)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (" Michael Scott ", "Michael Scott"),
        ("\u200eBo\u200bb", "Bob"),
        (unicodedata.normalize("NFD", "Zoë"), "Zoë"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("Ann, the channel: boss", "Ann, the channel: boss"),
        ("all", "all"),
        ("😀", "😀"),
    ],
)
def test_a_name_is_kept_composed_and_without_what_nobody_sees(name: str, kept: str) -> None:
    assert agent_name(name) == kept


@given(st.text(max_size=200))
def test_every_slug_fits_a_file_name_and_names_no_channel(name: str) -> None:
    slug = slug_of(name)
    assert slug
    assert not set(slug) & set("/\\:. ")


def test_an_agent_is_everything_its_speakers_say_by_time() -> None:
    late = talk("g2", [("Ann", "third"), ("Bob", "fourth")], day=1)
    early = talk("g1", [("Bob", "first"), ("Ann", "second")])
    found = sources(late, early)
    assert [agent.id for agent in everybody(found)] == ["bob", "ann", "channel:public"]
    assert texts(Agent("ann", "Ann"), found) == [["first", "second", "third", "fourth"]]
    (portrayal,) = subject_of(Agent("ann", "Ann"), found).portrayals
    assert portrayal.positions == [1, 2]


def test_an_agent_with_another_personality_in_each_game_is_another_portrayal() -> None:
    games = [
        talk("g1", [("A", "one")], players={"A": {"personality": "analytical"}}),
        talk("g2", [("A", "two")], day=1, players={"A": {"personality": "Aggressive"}}),
        talk("g3", [("A", "three")], day=2, players={"A": {"personality": "analytical"}}),
        talk("g4", [("A", "four")], day=3, players={"A": {"personality": "a grumpy sailor"}}),
        talk("g5", [("A", "five")], day=4, players={"A": {"persona": {"job": "baker"}}}),
    ]
    found = subject_of(Agent("a", "A"), sources(*games)).portrayals
    said = [[event.text for event in each.target.trajectory] for each in found]
    assert said == [["one", "three"], ["two"], ["four"], ["five"]]
    assert [each.personality for each in found] == ["analytical", "aggressive", None, None]
    assert found[0].target.personas["A"].startswith("This player argues from evidence.")
    assert [each.target.personas["A"] for each in found[2:]] == ["a grumpy sailor", "job: baker"]


def test_what_a_person_gave_outranks_the_transcript_and_that_what_is_shipped() -> None:
    game = talk("g", [("Jim", "x")], players={"Jim": {"persona": "A fisherman."}})
    given = subject_of(Agent("jim", "Jim", persona="A baker."), sources(game)).portrayals[0].target
    assert given.personas == {"Jim": "A baker."}
    assert subject_of(Agent("jim", "Jim"), sources(game)).portrayals[0].target.personas == {"Jim": "A fisherman."}
    shipped = subject_of(Agent("jim", "Jim"), sources(talk("g", [("Jim", "x")]))).portrayals[0].target
    assert shipped.personas["Jim"].startswith("Jim Halpert sells paper")
    assert subject_of(Agent("kim", "Kim"), sources(talk("g", [("Kim", "x")]))).portrayals[0].target.personas == {}


def test_thoughts_control_words_and_what_others_hear_alone_are_left_out() -> None:
    extra: list[Line] = [
        ("Ann", "I am the wolf.", {"channel": "private"}),
        ("Bob", "Psst, Ann.", {"channel": "private", "recipients": ("Ann",)}),
        ("Bob", "Psst, Cid.", {"channel": "private", "recipients": ("Cid",)}),
        ("Narrator", "Night falls.", {"channel": "system"}),
        ("Bob", "We strike.", {"channel": "team"}),
    ]
    game = talk("g", [("Ann", "Hello."), ("Ann", "Skip"), ("Ann", " "), ("Bob", "Hi."), ("Cid", "Ho.")], extra=extra)
    assert texts(Agent("ann", "Ann"), sources(game)) == [["Hello.", "Hi.", "Ho.", "Psst, Ann.", "Night falls."]]
    assert texts(Agent("bob", "Bob"), sources(game))[0][-1] == "We strike."


def test_a_channel_has_a_portrayal_for_each_conversation() -> None:
    games = [
        talk("g1", [("Ann", "a"), ("Bob", "b")], channel="Tea Room"),
        talk("g2", [("Cid", "c")], day=1, channel="Tea Room"),
        talk("g3", [("Dan", "d")], day=2),
    ]
    found = sources(*games)
    (tea, public) = (agent for agent in everybody(found) if agent.kind is TargetType.ENVIRONMENT)
    assert (tea.id, tea.display_name, public.id) == ("channel:tea-room", "Tea Room", "channel:public")
    assert texts(tea, found) == [["a", "b"], ["c"]]
    assert texts(public, found) == [["d"]]
    assert [agent.id for agent in channels_of({"dan", "cid"}, found)] == ["channel:tea-room", "channel:public"]
    assert all(event.is_action for each in subject_of(tea, found).portrayals for event in each.target.trajectory)


def test_a_period_takes_messages_by_their_time() -> None:
    game = talk("g", [("Ann", "zero"), ("Ann", "one"), ("Ann", "two")])
    period = Period(START + timedelta(minutes=1), START + timedelta(minutes=1))
    assert texts(Agent("ann", "Ann"), sources(game, period=period)) == [["one"]]
    late = Period(since=START + timedelta(days=9))
    assert everybody(sources(game, period=late)) == []
    assert subject_of(Agent("ann", "Ann"), sources(game, period=late)).portrayals == ()


def test_messages_without_a_time_have_that_of_their_transcript_or_none() -> None:
    game = game_of([("Ann", "Hi.")])
    (message,) = game.messages
    assert ALWAYS.holds(game, message)
    assert not Period(since=START).holds(game, message)
    dated = game.model_copy(update={"started_at": START.replace(tzinfo=None)})
    assert Period(since=START).holds(dated, message)
    assert [each.started_at is None for each in by_time([game, dated])] == [False, True]


def test_a_persona_as_lines() -> None:
    persona = {"name": "Ann", "likes": ["tea", {"place": "sea"}], "job": {"title": "cook", "years": None}, "none": []}
    assert persona_text(persona) == ("name: Ann\nlikes:\n  - tea\n    place: sea\njob:\n  title: cook")
    assert persona_text("  text ") == "text"
    assert persona_text(None) == ""
    assert persona_text("x" * (LONGEST_PERSONA + 5)).endswith("x\n(cut: 5 more characters)")
    nested: dict[str, object] = {}
    for _ in range(50):
        nested = {"a": nested, "b": 1}
    assert "(more)" in persona_text(nested)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "x.json: line 1, column 2: Not valid JSON: Expecting property name"),
        (b"\xff{}", "x.json: The text is not UTF-8."),
        (b"[" * 100_000, "x.json: The JSON is nested deeper than 100 levels. Hand in an agent file"),
        (b"[" * 900 + b"]" * 900, "x.json: The JSON is nested deeper than 100 levels. Hand in an agent file"),
        (b'{"persona": {"name": "Sur", "x": "\\ud83d"}}', "x.json: $.persona.x: The text holds half of a surrogate"),
        (b'{"persona": {"name": "Ann", "age": NaN}}', "x.json: $.persona.age: NaN is not a number that can be stored."),
        (b'{"name": "Odd", "x": -Infinity}', "x.json: $.x: -Infinity is not a number that can be stored."),
        (b'{"persona": {"name": "Ann",\n"name": "Bob"}}', "x.json:2: persona.name: This field stands here twice."),
        (b"[]", "x.json:1: file: This is not a mapping."),
        (b'{"age": 3}', "x.json:1: persona: It is missing. Add 'name: ...'."),
        (b'{\n"persona":\n{"age": 3}}', "x.json:3: persona.name: It is missing. Add 'name: ...'."),
        (b'{"persona": {"age": 3,\n"name": " "}}', "x.json:2: persona.name: ' ' is not a name."),
        # Too large for a look at its lines.
        (b'{"persona": {"x": "' + b"a" * 300_000 + b'"}}', "x.json: persona.name: Field required."),
    ],
)
def test_a_file_that_is_no_agent(content: bytes, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read_agent_file(content, "x.json")
    assert str(caught.value).startswith(expected)


CAST = ("michael", "dwight", "jim", "lisa-carter", "oscar")
TYPES = ("analytical", "aggressive", "cautious", "social", "suspicious")


def test_the_cast_is_the_promised_one() -> None:
    cast = shipped_cast()
    assert tuple(cast.members) == CAST
    assert tuple(cast.personalities) == TYPES
    assert cast.ids == CAST + TYPES


@pytest.mark.parametrize("agent_id", CAST)
def test_every_agent_has_a_persona_propositions_and_messages(agent_id: str) -> None:
    cast = shipped_cast()
    member = cast.members[agent_id]
    assert len(persona_text(member.agent.persona)) > 300
    own = PropositionLibrary.load().by_file[Dimension.ADHERENCE, agent_id]
    assert len(own) >= 3
    assert any(proposition.is_inverted for proposition in own) or agent_id == "oscar"
    speakers = SpeakerMap(known=cast.by_slug)
    said = [
        message
        for transcript in cast.transcripts_of([agent_id])
        for message in transcript.discussion
        if speakers.agent_id(message.speaker) == agent_id
    ]
    assert len(said) >= 4


def test_every_shipped_proposition_file_is_faultless_and_of_somebody_known() -> None:
    files = proposition_files(shipped("propositions"))
    assert len(files) == 16
    problems = [
        str(problem) for path in files for problem in check_file(path, known_agents=shipped_cast().ids).problems
    ]
    assert problems == []


def test_every_shipped_claim_has_an_advice_and_no_id_stands_twice() -> None:
    claims = [each for own in PropositionLibrary.load().by_file.values() for each in own]
    assert len({each.id for each in claims}) == len(claims)
    silent = [each.id for each in claims if not each.recommendations_for_improvement]
    assert silent == ["ideas-distinct"]


def test_shipped_transcripts_are_read_once_and_say_what_they_are() -> None:
    transcripts = shipped_cast().transcripts_of(["michael", "jim", "oscar", "nobody"])
    assert len(transcripts) == 6
    office = [each for each in transcripts if each.game_id.startswith("office-")]
    assert [each.metadata.get("synthetic") for each in office] == [True] * 5
    assert all(isinstance(each, Transcript) for each in transcripts)


def test_a_licence_lies_beside_every_set() -> None:
    for folder in ("office", "tinytroupe"):
        assert "MIT License" in (shipped("data/personas") / folder / "LICENSE").read_text("utf-8")
    assert "synthetic" in (shipped("data/personas") / "office" / "LICENSE").read_text("utf-8")
