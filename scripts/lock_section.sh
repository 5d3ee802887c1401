#!/usr/bin/env bash
# Prints sections of requirements.lock, for pip: default (what everybody needs), login, dev, audit.
set -euo pipefail
cd "$(dirname "$0")/.."
exec awk -v wanted=" $* " '/^# \[/ { name = substr($2, 2, length($2) - 2); kept = index(wanted, " " name " ") } kept' requirements.lock
