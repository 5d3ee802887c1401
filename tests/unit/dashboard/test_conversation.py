"""What the chat view sends to the browser, and what it believes of what comes back."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dashboard.app_pages.games.ledger import by_message, folded
from dashboard.shared.chat.conversation import (
    Aim,
    Conversation,
    chat_data,
    focus_on,
    read_open,
    rows_by_message,
    utf16_span,
)
from evaluation.rubric.definitions import ANTI_REPETITION, COHERENCE, MEMORY_ACCURACY, STRATEGIC_DEPTH
from evaluation.score import Evidence, LedgerRow, MetricResult, RowVerdict, decided, summarise
from evaluation.transcript import Elimination, Transcript, Vote
from tests.games import game_of


def javascript_slice(text: str, start: int, end: int) -> str:
    """``text.slice(start, end)`` as a browser does it, in UTF-16 units."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", errors="surrogatepass")


@given(text=st.text(alphabet="aé😀𝒳 中", max_size=40), data=st.data())
def test_a_span_marks_the_same_characters_in_the_browser(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert javascript_slice(text, *utf16_span(text, start, end)) == text[start:end]


def transcript() -> Transcript:
    said = [
        ("Alpha", "😀 I trust Bravo", {"id": "a", "round": 1}),
        ("Bravo", "I trust you too", {"id": "b", "round": 1, "reply_to": "a"}),
        ("Alpha", "kill Bravo", {"id": "n", "round": 1, "phase": "night", "channel": "team"}),
        ("Moderator", "Bravo was the seer", {"id": "s", "round": 1, "channel": "system"}),
        ("Alpha", "Over", {"id": "k", "round": 2}),
        ("Alpha", "I trust nobody now", {"id": "c", "round": 2}),
    ]
    vote = Vote(round=1, voter="Alpha", target="Bravo")
    return game_of(
        said,
        {"Alpha": {"role": "mafia", "alignment": "mafia"}, "Bravo": {"role": "seer", "alignment": "town"}},
        votes=(vote, vote.model_copy(update={"phase": "night"})),
        eliminations=(Elimination(round=1, player="Bravo", role="seer"),),
    )


def results() -> dict[str, MetricResult]:
    depth = [
        decided("d:a", "message", True, "Holds trust.", message_id="a", evidence=(Evidence(4, 9, "trust"),)),
        decided("d:b", "message", False, "Nothing.", message_id="b", refers_to="a"),
    ]
    memory = [
        decided("m:1", "claim", True, "So it was.", message_id="c"),
        decided("m:2", "claim", False, "Not so.", message_id="c"),
        decided("m:3", "claim", None, "Nobody knows.", message_id="c"),
    ]
    shared = (Evidence(2, 7, "trust"), Evidence(4, 9, "trust", "a"))
    coherence = [decided("c:b", "message", True, "Shares.", message_id="b", evidence=shared)]
    places = (Evidence(2, 9, "I trust", "a"), Evidence(0, 7, "I trust", "c"), Evidence(2, 13, "trust nobody", "c"))
    phrase = LedgerRow("r:1", "phrase", RowVerdict.DOES_NOT_COUNT, "Twice.", None, None, 1, 2, evidence=places)
    of = {MEMORY_ACCURACY: memory, STRATEGIC_DEPTH: depth, COHERENCE: coherence, ANTI_REPETITION: [phrase]}
    return {metric.name: summarise(metric, rows) for metric, rows in of.items()}


def row(data: dict, message_id: str) -> dict:
    return next(row for row in data["rows"] if row.get("i") == message_id)


def shown(*, roles_hidden: bool) -> dict:
    return chat_data(transcript(), rows_by_message(results()), roles_hidden=roles_hidden)


def test_rounds_votes_and_eliminations_stand_in_their_places() -> None:
    kinds = [(row["k"], row.get("i", row["x"])) for row in shown(roles_hidden=False)["rows"]]
    # The engine's control word "Over" is left out; the vote at night lies after the night's last message.
    assert kinds == [
        ("r", "Round 1"),
        ("m", "a"),
        ("m", "b"),
        ("m", "n"),
        ("v", "Choices at night in round 1"),
        ("m", "s"),
        ("v", "Votes in round 1"),
        ("e", "Bravo (seer) left the game, voted out with 1 of 1 vote"),
        ("r", "Round 2"),
        ("m", "c"),
    ]


def test_a_ballot_is_told_in_words() -> None:
    votes = [Vote(round=1, voter=voter, target=target) for voter, target in (("Alpha", "Bravo"), ("Bravo", None))]
    game = transcript().model_copy(update={"votes": tuple(votes), "eliminations": ()})
    [ballot] = [row for row in chat_data(game, {}, roles_hidden=False)["rows"] if row["k"] == "v"]
    assert ballot["l"] == ["Alpha votes for Bravo (1 of 2)", "Bravo votes for nobody (1 of 2)"]


def test_a_message_tells_what_it_answers_and_how_strongly() -> None:
    strong = {"link_strength": 82.6, "link_words": ["trust"]}
    rows = {
        "b": {"coherence": [decided("c:b", "message", True, "Is.", message_id="b", refers_to="a", details=strong)]},
        "c": {"coherence": [decided("c:c", "message", False, "No.", message_id="c", details={"link_strength": 12.4})]},
    }
    data = chat_data(transcript(), rows, roles_hidden=False)
    said = {row["i"]: row for row in data["rows"] if row["k"] == "m"}
    place = next(at for at, row in enumerate(data["rows"]) if row.get("i") == "a")
    assert said["b"]["f"] == [place, 83]
    assert said["c"]["f"] == [-1, 12]
    assert said["a"]["f"] is None


def test_hiding_roles_hides_everything_that_tells_them() -> None:
    data = shown(roles_hidden=True)
    assert [speaker["role"] for speaker in data["speakers"]] == [None] * len(data["speakers"])
    told = str(data["rows"])
    for secret in ("seer", "kill Bravo", "mafia"):
        assert secret not in told
    assert [row["x"] for row in data["rows"] if row["k"] in "ve"] == [
        "Votes in round 1",
        "Bravo left the game, voted out with 1 of 1 vote",
    ]


def test_badges_carry_verdict_spans_and_what_they_rest_on() -> None:
    data = shown(roles_hidden=False)
    names = [metric["name"] for metric in data["metrics"]]
    badges = {names[badge[0]]: badge[1:] for badge in row(data, "b")["b"]}
    place_of_a = next(place for place, entry in enumerate(data["rows"]) if entry.get("i") == "a")
    assert badges["strategic_depth"] == [1, [], [], [place_of_a], ""]
    # "trust" in the cited message starts after an emoji: code points 4 to 9 are UTF-16 units 5 to 10.
    assert badges["coherence"] == [0, [[2, 7]], [[place_of_a, 5, 10]], [], ""]


def test_several_claims_become_one_badge_with_a_tally_and_the_worst_verdict() -> None:
    data = shown(roles_hidden=False)
    badge = next(badge for badge in row(data, "c")["b"] if data["metrics"][badge[0]]["name"] == "memory_accuracy")
    assert (badge[1], badge[5]) == (1, "1 of 2 count")


def test_a_repeated_phrase_concerns_the_messages_that_repeat_it() -> None:
    concerning = rows_by_message(results())
    assert "anti_repetition" not in concerning["a"]
    assert len(concerning["c"]["anti_repetition"]) == 1
    data = shown(roles_hidden=False)
    badge = next(badge for badge in row(data, "c")["b"] if data["metrics"][badge[0]]["name"] == "anti_repetition")
    # Its two places in the message, 0 to 7 and 2 to 13, overlap: one mark.
    assert badge[2] == [[0, 13]]


def test_the_focus_is_a_row_that_is_shown() -> None:
    data = shown(roles_hidden=True)
    # "n" is team chat, which is hidden: no row.
    assert focus_on(data["rows"], Aim("n", "coherence"))["row"] == -1
    assert focus_on(data["rows"], Aim(None, None)) == {"row": -1, "metric": -1, "count": 1, "glance": False}
    focus = focus_on(data["rows"], Aim("c", "coherence", 2, is_glance=True))
    assert (focus["count"], focus["glance"]) == (2, True)
    assert data["rows"][focus["row"]]["i"] == "c"
    assert data["metrics"][focus["metric"]]["name"] == "coherence"


def test_the_version_changes_whenever_anything_that_is_drawn_does() -> None:
    def version(results: dict[str, MetricResult], *, roles_hidden: bool = False) -> str:
        return Conversation.of(transcript(), rows_by_message(results), roles_hidden=roles_hidden).version

    assert version(results()) == version(results())
    overridden = results()
    row = overridden[STRATEGIC_DEPTH.name].ledger[0]
    changed = replace(row, verdict=RowVerdict.DOES_NOT_COUNT, numerator=0.0)
    overridden[STRATEGIC_DEPTH.name] = summarise(STRATEGIC_DEPTH, [changed])
    assert len({version(results()), version(overridden), version(results(), roles_hidden=True)}) == 3


def test_only_known_messages_and_metrics_are_believed() -> None:
    game = transcript()
    assert read_open({"message": "a", "metric": "coherence", "narrow": True}, game) == ("a", "coherence")
    assert read_open({"message": "a", "metric": None}, game) == read_open({"message": "a"}, game) == ("a", None)
    pairs = [("zzz", "coherence"), ("a", "<img>"), (["a"], "coherence"), ("a", 3), (None, None)]
    for forged in (None, "a", {}, *({"message": message, "metric": metric} for message, metric in pairs)):
        assert read_open(forged, game) is None


def test_a_ledger_keeps_the_rows_of_a_message_together_and_begins_with_what_fails() -> None:
    counts, fails, out = RowVerdict.COUNTS, RowVerdict.DOES_NOT_COUNT, RowVerdict.EXCLUDED
    held = [("a", out), ("b", out), ("b", counts), ("c", counts), ("c", fails), ("d", counts)]
    rows = [LedgerRow(f"m:{place}", "claim", verdict, "", message) for place, (message, verdict) in enumerate(held)]
    assert [(row.message_id, row.verdict) for row in by_message(rows)] == [
        *(("c", fails), ("c", counts)),
        *(("b", counts), ("b", out)),
        ("d", counts),
        ("a", out),
    ]
    # What does not count stands last, together where its reason is the same.
    assert [[row.message_id for row in held] for held in folded(by_message(rows))] == [
        *(["c"], ["c"], ["b"], ["d"]),
        ["b", "a"],
    ]
