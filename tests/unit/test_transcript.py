"""The canonical model: what it refuses, what its id covers, and that its JSON loses nothing."""

import json
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from evaluation.errors import BrokenTranscriptError, JSONParseError, OpenQuestionError
from evaluation.transcript import Cost, Transcript, Vote, build_transcript
from tests.any_transcript import transcripts

NAMES = ("Agent-Alpha", "Agent-Bravo", "Agent-Charlie")


def message(index: int, text: str = "Hello", **fields: Any) -> dict[str, Any]:
    return {"id": f"m{index}", "index": index, "speaker": NAMES[index % 3], "text": text, "round": 1} | fields


def body(**fields: Any) -> dict[str, Any]:
    return {
        "game_id": "g",
        "source_format": "native",
        "players": [{"name": name} for name in NAMES],
        "messages": [message(0), message(1)],
    } | fields


def transcript(**fields: Any) -> Transcript:
    return build_transcript(Transcript, body(**fields))


def test_the_time_of_export_does_not_change_the_id() -> None:
    early = transcript(exported_at=datetime(2026, 1, 1, tzinfo=UTC))
    late = transcript(exported_at=datetime(2026, 2, 1, tzinfo=UTC))
    assert early.id == late.id
    assert transcript(messages=[message(0, "Goodbye")]).id != early.id


def test_discussion_holds_public_talk_only() -> None:
    said = [message(0), message(1, "It is over for Bravo.")]
    said += [message(2, "Skip"), message(3, " Over. "), message(4, "   ")]
    said += [message(5, channel="team"), message(6, channel="private")]
    said.append(message(7, channel="system", speaker="Moderator"))
    assert [m.id for m in transcript(messages=said).discussion] == ["m0", "m1"]


def test_a_later_vote_in_the_same_round_and_phase_replaces_the_earlier() -> None:
    votes = [Vote(round=1, voter=NAMES[0], target=NAMES[1]), Vote(round=1, voter=NAMES[0], target=NAMES[2])]
    other_round = Vote(round=2, voter=NAMES[0], target=NAMES[1])
    assert transcript(votes=[*votes, other_round]).valid_votes == (votes[1], other_round)


@pytest.mark.parametrize(
    ("cost", "known"),
    [
        (Cost(), False),
        (Cost(total_usd=0, input_tokens=0, cached_tokens=0, output_tokens=0), False),
        (Cost(total_usd=0, input_tokens=10), True),
        (Cost(total_usd=0.5), True),
    ],
)
def test_a_cost_of_zeros_is_unknown(cost: Cost, known: bool) -> None:
    assert cost.is_known is known


@pytest.mark.parametrize(
    ("fields", "place", "value"),
    [
        ({"messages": []}, "$.messages", "at least 1"),
        ({"players": []}, "$.players", "at least 1"),
        ({"players": [{"name": "A"}, {"name": "A"}]}, "", "'A' occurs twice"),
        ({"messages": [message(0), message(0)]}, "", "'m0' occurs twice"),
        ({"messages": [message(0, speaker="Stranger")]}, "", "'Stranger'"),
        ({"messages": [message(0) | {"index": 3}]}, "", "expected 0"),
        ({"messages": [message(0, "\ud800")]}, "$.messages[0].text", "U+D800"),
        ({"votes": [{"voter": "Nobody"}]}, "", "'Nobody'"),
        ({"eliminations": [{"player": "Nobody"}]}, "", "'Nobody'"),
        ({"cost": {"cache_hit_rate": 70}}, "$.cost.cache_hit_rate", "less than or equal to 1"),
        ({"cost": {"total_usd": float("nan")}}, "$.cost.total_usd", "finite"),
        ({"surprise": 1}, "$.surprise", "Unknown key"),
    ],
)
def test_a_contradiction_is_refused_with_its_place(fields: dict[str, Any], place: str, value: str) -> None:
    with pytest.raises(BrokenTranscriptError) as caught:
        transcript(**fields)
    assert caught.value.place == place
    assert value in caught.value.message
    assert caught.value.remedy


def test_errors_survive_a_process_boundary() -> None:
    error = BrokenTranscriptError("wrong", place="$.x", remedy="Mend it.")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (BrokenTranscriptError, "$.x: wrong. Mend it.")
    question = OpenQuestionError("open", place="$.x")
    question.asked = frozenset({("speaker", "Ann")})
    assert pickle.loads(pickle.dumps(question)).asked == question.asked
    assert pickle.loads(pickle.dumps(JSONParseError("wrong", raw="{"))).raw == "{"


@pytest.mark.parametrize("document", ["{", "[]", "{}", json.dumps({"format": "dramaturg-transcript", "version": 9})])
def test_another_document_is_no_canonical_transcript(document: str) -> None:
    with pytest.raises(BrokenTranscriptError):
        Transcript.from_json(document)


@given(transcripts())
def test_canonical_json_loses_nothing(original: Transcript) -> None:
    restored = Transcript.from_json(original.to_json())
    assert restored == original
    assert restored.id == original.id
