#!/usr/bin/env bash
# Installs sections of requirements.lock and Dramaturg itself into .venv; says what to install by apt when something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=$(mktemp)
trap 'rm -f "$lock"' EXIT
bash scripts/lock_section.sh "$@" > "$lock"
python=${PYTHON:-python3}
seldom='/(tests?|proxy|graph_objs|validators|sklearn|statsmodels|xarray|matplotlib|fontTools|mypy|pip|setuptools)/'

missing() {
    printf 'dramaturg: %s\n  Install it with: %s\n' "$1" "$2" >&2
    exit 1
}

command -v "$python" >/dev/null || missing "python3 is missing." "sudo apt install python3 python3-venv"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
    || missing "$("$python" --version) is too old: 3.11 or newer is needed." "sudo apt install python3.11 python3.11-venv, then make PYTHON=python3.11 ..."
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing "Python's venv module is missing." "sudo apt install python3-venv"

[ -x .venv/bin/python ] || "$python" -m venv .venv
echo "Installing the packages of requirements.lock ($*) into .venv (a minute or two the first time) ..." >&2
# The lock names every package with its hash: there is nothing to resolve.
if command -v uv >/dev/null; then
    uv pip install --quiet --compile-bytecode --python .venv/bin/python --no-deps --require-hashes -r "$lock"
    uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .
else
    # Half of pip's time went into compiling.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes -r "$lock"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    # On all processors, and only what is used: the rest is compiled should anything ever import it. A few packages carry
    # templates that are no Python.
    .venv/bin/python -m compileall -q -j 0 -x "$seldom" .venv/lib || true
fi
# Compiled once here, so that the first command starts as fast as every later one.
.venv/bin/python -m compileall -q evaluation dashboard
