"""The agents that come with Dramaturg: known by name, with a persona, propositions and something to say."""

from __future__ import annotations

import pytest

from evaluation.files.bundled import persona_root, proposition_root
from evaluation.judging.proposition_library import PropositionLibrary, check_file, proposition_files
from evaluation.judging.propositions import Dimension
from evaluation.persona.agents import SpeakerMap, persona_text, shipped_cast
from evaluation.transcript import Transcript

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
    files = proposition_files(proposition_root())
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
        assert "MIT License" in (persona_root() / folder / "LICENSE").read_text("utf-8")
    assert "synthetic" in (persona_root() / "office" / "LICENSE").read_text("utf-8")
