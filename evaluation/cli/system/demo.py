"""``dramaturg demo``: games that are played while the dashboard is open."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli.shared.options import Port
from evaluation.cli.shared.terminal import note

_ITERATION = "Demo"


def demo(
    port: Port = 8501,
    games: Annotated[int, typer.Option("--games", min=1, max=100, help="How many games are played.")] = 3,
    pace: Annotated[
        float, typer.Option("--pace", min=0.0, max=60.0, metavar="SECONDS", help="The pause after each message.")
    ] = 0.5,
    db: Annotated[
        Path | None,
        typer.Option("--db", show_default=False, help="Keep the games in this database; else in a temporary folder."),
    ] = None,
) -> None:
    """Play a scripted game live into the dashboard, until interrupted.

    Shipped games are recorded message by message into a folder, as a simulation of your own would do with the
    Recorder; the dashboard watches the folder, and open pages show each game as it grows, and its scores when it has
    ended. No model is asked.
    """
    folder = Path(tempfile.mkdtemp(prefix="dramaturg-demo-"))
    inbox = folder / "inbox"
    inbox.mkdir()
    database = folder / "demo.duckdb" if db is None else db
    note(f"Games are recorded into {inbox} and kept in {database}.")
    # The player ends by itself when this process does, whose place the server takes.
    player = ["evaluation.workflows.projects.demo", str(inbox), str(pace), str(games), str(os.getpid())]
    subprocess.Popen([sys.executable, "-P", "-m", *player], stdin=subprocess.DEVNULL)
    server = [sys.executable, "-P", "-m", "evaluation.cli.main", "serve", "--port", str(port), "--db", str(database)]
    os.execv(sys.executable, [*server, "--inbox", str(inbox), "--inbox-iteration", _ITERATION])
