"""Play shipped games again, message by message, through the recorder, as a running simulation would.

``dramaturg demo`` starts ``python -m evaluation.workflows.projects.demo FOLDER SECONDS GAMES PARENT`` beside the
dashboard.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from evaluation.errors import InputError
from evaluation.files.bundled import sample_root
from evaluation.readers import read_path
from evaluation.recorder import Recorder
from evaluation.transcript import Transcript

_SCRIPTS = "native/prompt-v4"


def scripted_games() -> list[Transcript]:
    """The shipped games that are played, the shortest first.

    Raises:
        InputError: None of them can be read; the installation is damaged.
    """
    found = [one.transcript for one in read_path(sample_root() / _SCRIPTS) if one.transcript is not None]
    if not found:
        raise InputError("The games of the demonstration are missing.", remedy="Install Dramaturg again.")
    return sorted(found, key=lambda game: (len(game.messages), game.id))


def play(folder: Path, script: Transcript, game_id: str, wait: Callable[[], bool], say: Callable[[str], None]) -> Path:
    """Records a game into a folder as if it happened now.

    Args:
        folder: Where the transcript goes when the game ends; until then its journal grows there.
        script: The players, messages, votes and eliminations.
        game_id: The name of the game.
        wait: Called after each message; ``False`` ends the game early.
        say: Called with each message as a line.

    Returns:
        The transcript.
    """
    recorder = Recorder(folder, game_id=game_id, language=script.language, metadata={"demo_of": script.game_id})
    with recorder:
        for player in script.players:
            recorder.player(player.name, player.role, alignment=player.alignment, personality=player.personality)
        for message in script.messages:
            recorder.message(
                message.speaker,
                message.text,
                round=message.round,
                phase=message.phase,
                channel=message.channel,
                recipients=message.recipients,
                reply_to=message.reply_to,
                message_id=message.id,
            )
            say(f"{message.speaker}: {message.text}")
            if not wait():
                break
        else:
            _finish(recorder, script)
    return recorder.path


def _finish(recorder: Recorder, script: Transcript) -> None:
    for vote in script.votes:
        recorder.vote(vote.voter, vote.target, round=vote.round, phase=vote.phase, justification=vote.justification)
    for out in script.eliminations:
        recorder.eliminate(out.player, role=out.role, round=out.round, phase=out.phase)
    if script.cost is not None:
        recorder.cost(usd=script.cost.total_usd)


def play_beside(folder: Path, seconds: float, games: int, parent: int) -> int:
    """Plays one game after the other, as long as the process ``parent`` lives; returns how many were played."""
    from evaluation.escaping import shortened

    pause = threading.Event()

    def wait() -> bool:
        pause.wait(seconds)
        return os.getppid() == parent

    scripts = scripted_games()
    for number in range(1, games + 1):
        script = scripts[(number - 1) % len(scripts)]
        _print(f"Game {number} of {games} begins.")
        play(folder, script, f"demo-{number}", wait, lambda line: _print(f"  {shortened(line, 100)}"))
        if os.getppid() != parent:
            return number - 1
        _print(f"Game {number} has ended; open pages show it in a few seconds.")
    return games


def _print(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main(arguments: Sequence[str]) -> int:
    """Plays as long as the process that started this one lives."""
    folder, seconds, games, parent = arguments
    try:
        play_beside(Path(folder), float(seconds), int(games), int(parent))
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
