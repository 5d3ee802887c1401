"""Environments of their own under ``build/`` for tools that Dramaturg is held against and never depends on."""

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[3]


def install(requirements: Path, name: str) -> Path:
    """Makes the environment ``build/<name>``, unless it is there with the same requirements.

    Args:
        requirements: What pip is to install; ``-e .`` in it is this checkout.
        name: The folder's.

    Returns:
        The folder of its programs, ``python`` among them.

    Raises:
        CalledProcessError: It cannot be made.
    """
    environment = _ROOT / "build" / name
    programs, ready = environment / "bin", environment / "ready.txt"
    wanted = requirements.read_text("utf-8")
    if not (ready.is_file() and ready.read_text("utf-8") == wanted):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], check=True)
        command = [str(programs / "python"), "-m", "pip", "install", "--quiet", "-r", str(requirements)]
        subprocess.run(command, check=True, cwd=_ROOT)
        ready.write_text(wanted, encoding="utf-8")
    return programs
