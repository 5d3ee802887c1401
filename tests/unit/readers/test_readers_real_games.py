"""Every real file in ``tests/data``: read as it was agreed, and what holds for every game of Mafia and Werewolf.

``real_files.json`` holds the readings; those of the first games of each format were counted by hand in the files.
``python -m tests.unit.readers.test_readers_real_games`` writes it anew: look at the difference then.
"""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluation.readers import ReadResult, read_path
from evaluation.transcript import Transcript
from tests.unit.readers.reading import DATA

FILE = Path(__file__).with_name("real_files.json")
AGREED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
FOLDERS = ("aiwolf", "llm_werewolf", "llmafia", "werewolf_gpt")
OTHERS = ("inspect_logs", "tinytroupe/simple_chat.ipynb", "traces")


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:12]


def reading(result: ReadResult) -> dict[str, Any]:
    """What a file says; texts and metadata as a digest, so that no word may change unnoticed."""
    game = result.transcript
    if game is None:
        return {"format": result.format, "error": str(result.error)}
    said = Counter(f"{m.channel} {m.channel_name or ''}".strip() for m in game.messages)
    body = game.model_dump(mode="json")
    return {
        "format": result.format,
        "players": [
            " ".join(str(one) for one in (p.name, p.role, p.alignment, p.model, p.is_alive) if one is not None)
            for p in game.players
        ],
        "messages": dict(sorted(said.items())),
        "rounds": dict(sorted(Counter(str(m.round) for m in game.discussion).items())),
        "votes": [f"{v.round} {v.phase}: {v.voter} -> {v.target}" for v in game.votes],
        "gone": [f"{e.round} {e.phase}: {e.player}, {e.role}" for e in game.eliminations],
        "winner": game.winner,
        "cost": game.cost.model_dump(exclude_none=True) if game.cost else None,
        "asked": [question.words for question in result.questions],
        "words": digest(body["messages"]),
        "rest": digest([body[key] for key in ("players", "votes", "eliminations", "metadata", "started_at")]),
    }


def readings() -> dict[str, Any]:
    found = (result for place in (*FOLDERS, *OTHERS) for result in read_path(DATA / place))
    return {result.name: reading(result) for result in found}


RESULTS = {result.name: result for folder in FOLDERS for result in read_path(DATA / folder)}
GAMES = {name: result.transcript for name, result in RESULTS.items() if result.transcript is not None}

games = pytest.mark.parametrize("transcript", GAMES.values(), ids=GAMES)


def test_every_real_file_is_read_as_agreed() -> None:
    found = readings()
    assert {name: found[name] for name in found if found[name] != AGREED.get(name)} == {}
    assert found.keys() == AGREED.keys()
    assert len({game.id for game in GAMES.values()}) == len(GAMES) == 26


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


if __name__ == "__main__":
    written = (f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in readings().items())
    FILE.write_text("{\n" + ",\n".join(written) + "\n}\n", encoding="utf-8")
