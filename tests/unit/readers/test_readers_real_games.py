"""What holds for every one of the 26 real games of Mafia and Werewolf."""

import pytest

from evaluation.readers import read_path
from evaluation.transcript import Transcript
from tests.unit.readers.reading import DATA, read

FOLDERS = ("aiwolf", "llm_werewolf", "llmafia", "werewolf_gpt")
RESULTS = {result.name: result for folder in FOLDERS for result in read_path(DATA / folder)}
GAMES = {name: result.transcript for name, result in RESULTS.items() if result.transcript is not None}

games = pytest.mark.parametrize("transcript", GAMES.values(), ids=GAMES)


def test_all_are_found_once_and_their_companions_passed_over() -> None:
    formats = [result.format for result in RESULTS.values()]
    expected = {"aiwolf": 10, "llm-werewolf": 2, "llmafia": 10, "werewolf-gpt": 4}
    assert {name: formats.count(name) for name in formats} == expected
    assert len({game.id for game in GAMES.values()}) == len({game.game_id for game in GAMES.values()}) == 26


@games
def test_the_canonical_json_loses_nothing(transcript: Transcript) -> None:
    assert read(transcript.to_json(indent=1), "dramaturg-transcript") == transcript
    assert Transcript.from_json(transcript.to_json()).id == transcript.id


@games
def test_both_sides_play_one_wins_and_only_players_discuss(transcript: Transcript) -> None:
    assert {player.alignment for player in transcript.players} == {"mafia", "town"}
    assert transcript.winner in ("mafia", "town")
    assert len(transcript.discussion) >= 15
    assert {message.speaker for message in transcript.discussion} <= set(transcript.player_names)
    team = {message.speaker for message in transcript.messages if message.channel == "team"}
    assert {transcript.player(name).alignment for name in team} <= {"mafia"}


@games
def test_rounds_and_times_never_go_back(transcript: Transcript) -> None:
    rounds = [message.round for message in transcript.messages if message.round is not None]
    assert rounds == sorted(rounds)
    times = [message.sent_at for message in transcript.messages if message.sent_at is not None]
    assert times == sorted(times)


@games
def test_whoever_left_the_game_got_the_most_votes_and_votes_no_more(transcript: Transcript) -> None:
    phases = {"intro": 0, "day": 1, "vote": 2, "night": 3}
    left = {}
    for elimination in transcript.eliminations:
        about = (elimination.round, elimination.phase)
        targets = [v.target for v in transcript.valid_votes if (v.round, v.phase) == about and v.target]
        counts = {target: targets.count(target) for target in targets}
        # A tie is broken by the game, and LLMafia's last night often ends without a recorded vote.
        assert not counts or counts.get(elimination.player, 0) == max(counts.values())
        left[elimination.player] = (elimination.round or 0, phases[elimination.phase or ""])
    for vote in transcript.votes:
        assert (vote.round or 0, phases[vote.phase or ""]) <= left.get(vote.voter, (99, 0))
