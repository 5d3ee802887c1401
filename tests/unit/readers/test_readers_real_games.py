"""What holds for every one of the 26 real games of Mafia and Werewolf."""

from pathlib import Path

import pytest

from evaluation.readers import ReadResult, read_path, read_upload
from evaluation.transcript import Transcript

DATA = Path(__file__).parents[2] / "data"
FOLDERS = ("aiwolf", "llm_werewolf", "llmafia", "werewolf_gpt")
RESULTS = {result.name: result for folder in FOLDERS for result in read_path(DATA / folder)}

games = pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)


def transcript_of(result: ReadResult) -> Transcript:
    assert result.error is None
    assert result.transcript is not None
    return result.transcript


def test_all_are_found_and_their_companions_passed_over() -> None:
    formats = [result.format for result in RESULTS.values()]
    assert {name: formats.count(name) for name in formats} == {
        "aiwolf": 10,
        "llm-werewolf": 2,
        "llmafia": 10,
        "werewolf-gpt": 4,
    }


def test_no_two_are_the_same_game() -> None:
    transcripts = [transcript_of(result) for result in RESULTS.values()]
    assert len({transcript.id for transcript in transcripts}) == 26
    assert len({transcript.game_id for transcript in transcripts}) == 26


@games
def test_the_canonical_json_loses_nothing(result: ReadResult) -> None:
    transcript = transcript_of(result)
    (again,) = read_upload("x.json", transcript.to_json(indent=1).encode())
    assert again.format == "dramaturg-transcript"
    assert again.transcript == transcript
    assert Transcript.from_json(transcript.to_json()).id == transcript.id


@games
def test_everybody_has_a_side_and_both_sides_play(result: ReadResult) -> None:
    assert {player.alignment for player in transcript_of(result).players} == {"mafia", "town"}


@games
def test_the_winner_is_a_side(result: ReadResult) -> None:
    assert transcript_of(result).winner in ("mafia", "town")


@games
def test_only_players_discuss_and_nobody_else(result: ReadResult) -> None:
    transcript = transcript_of(result)
    assert len(transcript.discussion) >= 15
    assert {message.speaker for message in transcript.discussion} <= set(transcript.player_names)


@games
def test_rounds_and_times_never_go_back(result: ReadResult) -> None:
    messages = transcript_of(result).messages
    rounds = [message.round for message in messages if message.round is not None]
    assert rounds == sorted(rounds)
    times = [message.sent_at for message in messages if message.sent_at is not None]
    assert times == sorted(times)


@games
def test_whoever_left_the_game_got_the_most_votes_recorded(result: ReadResult) -> None:
    transcript = transcript_of(result)
    for elimination in transcript.eliminations:
        about = (elimination.round, elimination.phase)
        targets = [v.target for v in transcript.valid_votes if (v.round, v.phase) == about and v.target]
        counts = {target: targets.count(target) for target in targets}
        # A tie is broken by the game, and LLMafia's last night often ends without a recorded vote.
        assert not counts or counts.get(elimination.player, 0) == max(counts.values())


@games
def test_team_talk_is_the_mafias(result: ReadResult) -> None:
    transcript = transcript_of(result)
    speakers = {message.speaker for message in transcript.messages if message.channel == "team"}
    assert {transcript.player(name).alignment for name in speakers} <= {"mafia"}


@games
def test_nobody_votes_after_leaving_the_game(result: ReadResult) -> None:
    transcript = transcript_of(result)
    phases = {"intro": 0, "day": 1, "vote": 2, "night": 3}
    left = {e.player: (e.round or 0, phases[e.phase or ""]) for e in transcript.eliminations}
    for vote in transcript.votes:
        assert (vote.round or 0, phases[vote.phase or ""]) <= left.get(vote.voter, (99, 0))
