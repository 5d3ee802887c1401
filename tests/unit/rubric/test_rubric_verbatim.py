"""The rubric's own sentences come out as it says, with the reader on, in any place of a game and under any names."""

import re
from collections.abc import Mapping, Sequence

import pytest

from evaluation.engines.scoring import evaluate_transcript
from evaluation.score import LedgerRow, RowVerdict
from evaluation.transcript import Alignment, Elimination, Vote
from tests.games import Line, game_of

MAFIA: Alignment = "mafia"
TOWN: Alignment = "town"

# Alpha and Bravo are Mafia; Charlie, Delta, Echo and Foxtrot are not.
NAMES = {
    "agents": ("Agent-Alpha", "Agent-Bravo", "Agent-Charlie", "Agent-Delta", "Agent-Echo", "Agent-Foxtrot"),
    "people": ("Mara", "Theo", "Wren", "Felix", "Lena", "Cole"),
}
PLACES = ("Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot")
CONTEXTS: Mapping[str, Sequence[tuple[str, str]]] = {
    "first message": (),
    "after greetings": (
        ("Echo", "Hello everyone, nice to meet you all!"),
        ("Delta", "Hi! Looking forward to this game."),
        ("Foxtrot", "Good evening."),
    ),
    "after an accusation": (
        ("Delta", "I think Foxtrot is hiding something. He never answers."),
        ("Foxtrot", "That is not true."),
    ),
    "heated round": (
        ("Delta", "Foxtrot, you are lying!!"),
        ("Foxtrot", "ME? You have been on my case since we sat down, it is ridiculous."),
        ("Echo", "Both of you stop shouting. One of you is Mafia and we all know it."),
        ("Delta", "Vote Foxtrot now or we lose this!"),
    ),
    "new round": (("Delta", "Let's vote then."), ("Foxtrot", "Fine.")),
    "after a question": (("Foxtrot", "So what does everybody make of it?"),),
}
ALL_CONTEXTS = [(names, context) for names in NAMES for context in CONTEXTS]


def named(text: str, names: Sequence[str]) -> str:
    """The text with the places' names replaced by those of the players."""
    players = dict(zip(PLACES, names, strict=True))
    return re.sub(rf"(?:Agent-)?({'|'.join(PLACES)})", lambda place: players[place[1]], text)


def row_of(metric: str, speaker: str, text: str, names: str, context: str, **record: object) -> LedgerRow:
    """The row of a metric on the text, said by the player of that place after the context."""
    players = NAMES[names]
    rounds = 2 if context == "new round" else 1
    said: list[Line] = [(named(who, players), named(what, players), {"round": 1}) for who, what in CONTEXTS[context]]
    said.append((named(speaker, players), named(text, players), {"round": rounds}))
    sides = {name: {"alignment": MAFIA if at < 2 else TOWN} for at, name in enumerate(players)}
    game = game_of(said, sides, **record)
    last = game.messages[-1].id
    rows = [row for row in evaluate_transcript(game).metrics[metric].ledger if row.message_id == last]
    assert len(rows) <= 1
    return rows[0]


VERDICTS = {True: RowVerdict.COUNTS, False: RowVerdict.DOES_NOT_COUNT, None: RowVerdict.EXCLUDED}

# Speaker, text, whether it fits the role (None: no signal).
ROLE_LINES: Sequence[tuple[str, str, bool | None]] = (
    ("Alpha", "I think you're jumping to conclusions about Agent-Bravo. We don't have solid evidence yet", True),
    ("Echo", "Agent-Charlie voted for Agent-Delta without explanation. That's suspicious", True),
    ("Alpha", "I think Agent-Echo is definitely Mafia!", False),
    ("Charlie", "Let's not be too hasty", False),
    ("Alpha", "that seems hasty", True),
    ("Alpha", "That seems hasty, Delta.", True),
    ("Alpha", "let's not jump to conclusions", True),
    ("Alpha", "Let's look at the evidence.", True),
    ("Alpha", "I think you're being too harsh on Bravo", True),
    ("Alpha", "Bravo is Mafia.", False),
    ("Alpha", "I am Mafia.", False),
    ("Charlie", "Delta and Bravo voted together", True),
    ("Charlie", "I think Delta is Mafia because he changed his vote", True),
    ("Charlie", "I think Delta is Mafia because he lied.", True),
    ("Charlie", "Why did you vote for Bravo?", True),
    ("Charlie", "I trust Delta's reasoning", True),
    ("Charlie", "Let's not jump to conclusions", False),
    # The four sentences beside the table.
    ("Alpha", "Voting Foxtrot would be a mistake", True),
    ("Charlie", "We, the Mafia hunters, have work to do.", None),
    ("Alpha", "I was Mafia last game", None),
    ("Alpha", "Hello from me, as your friendly neighbourhood Mafia", False),
)


@pytest.mark.parametrize(("names", "context"), ALL_CONTEXTS)
@pytest.mark.parametrize(("speaker", "text", "fits"), ROLE_LINES, ids=[line[1] for line in ROLE_LINES])
def test_role_consistency(speaker: str, text: str, fits: bool | None, names: str, context: str) -> None:
    row = row_of("role_consistency", speaker, text, names, context)
    assert row.verdict is VERDICTS[fits], row.reason


def test_voting_somebody_would_be_a_mistake_defends_them() -> None:
    row = row_of("role_consistency", "Alpha", "Voting Foxtrot would be a mistake", "people", "first message")
    assert [(act["act"], act["target"]) for act in row.details["acts"]] == [("defend", "Cole")]


DEPTH_LINES = (
    ("I think Agent-Alpha is suspicious because they defended Agent-Bravo without evidence", True),
    ("I agree with that", False),
    ("Bravo is Mafia because he lied.", True),
    ("because you were silent", True),
    ("cuz you were silent", True),
    ("Nobody voted for me in round 1.", False),
)


@pytest.mark.parametrize(("names", "context"), ALL_CONTEXTS)
@pytest.mark.parametrize(("text", "counts"), DEPTH_LINES, ids=[line[0] for line in DEPTH_LINES])
def test_strategic_depth(text: str, counts: bool, names: str, context: str) -> None:
    row = row_of("strategic_depth", "Charlie", text, names, context)
    assert row.verdict is VERDICTS[counts], row.reason


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize(
    "text", ["I think it's him, he was the last to answer.", "Look who voted with whom.", "hmm ok", "Wren is odd."]
)
def test_strategic_depth_does_not_depend_on_the_place(text: str, names: str) -> None:
    verdicts = {row_of("strategic_depth", "Charlie", text, names, context).verdict for context in CONTEXTS}
    assert len(verdicts) == 1


@pytest.mark.parametrize(
    ("names", "context"), [one for one in ALL_CONTEXTS if one[1] not in ("first message", "new round")]
)
def test_coherence(names: str, context: str) -> None:
    generic = row_of("coherence", "Charlie", "Let's analyze the evidence carefully", names, context)
    assert generic.verdict is RowVerdict.DOES_NOT_COUNT, generic.reason
    text = "I disagree with Foxtrot. Their accusation doesn't match the voting pattern"
    if context != "heated round":
        assert row_of("coherence", "Charlie", text, names, context).verdict is RowVerdict.COUNTS
    text = "I disagree with Delta. Their accusation doesn't match the voting pattern"
    if context in ("after an accusation", "heated round", "after greetings"):
        assert row_of("coherence", "Charlie", text, names, context).verdict is RowVerdict.COUNTS


def memory_row(text: str, names: str, context: str, *, is_shown: bool) -> LedgerRow:
    """The row on a claim about round 1, said in round 2, where the record shows the event or another one."""
    players = NAMES[names]
    target = 1 if is_shown else 4
    votes = tuple(
        Vote(round=1, voter=players[voter], target=players[whom])
        for voter, whom in ((0, target), (2, 5), (3, 5), (4, 5), (5, 3))
    )
    defence = f"I don't think {players[3]} is Mafia, {players[3]} has been honest."
    said: list[Line] = [(players[2], defence if is_shown else "Hm.", {"round": 1})]
    said += [(named(who, players), named(what, players), {"round": 2}) for who, what in CONTEXTS[context]]
    said.append((players[4], named(text, players), {"round": 2}))
    out = (Elimination(round=1, phase="night", player="Nobody-Here"),)
    game = game_of(said, (*players, "Nobody-Here"), votes=votes, eliminations=out)
    last = game.messages[-1].id
    (row,) = [row for row in evaluate_transcript(game).metrics["memory_accuracy"].ledger if row.message_id == last]
    return row


MEMORY_LINES = (
    "Agent-Alpha voted for Agent-Bravo in Round 1",
    "Agent-Charlie defended Agent-Delta last round",
)


@pytest.mark.parametrize(("names", "context"), ALL_CONTEXTS)
@pytest.mark.parametrize("text", MEMORY_LINES)
@pytest.mark.parametrize("is_shown", [True, False])
def test_memory_accuracy(text: str, is_shown: bool, names: str, context: str) -> None:
    row = memory_row(text, names, context, is_shown=is_shown)
    assert row.verdict is VERDICTS[is_shown], row.reason


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_vague_reference_is_inaccurate(context: str) -> None:
    row = memory_row("Someone said that Bravo lied in round 1.", "people", context, is_shown=True)
    assert row.verdict is RowVerdict.DOES_NOT_COUNT
