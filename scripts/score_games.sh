#!/usr/bin/env bash
# The GitHub action's entry: scores the games of a checkout by `dramaturg evaluate --gate`, whose exit code it ends with.
#
# With games of before the change it compares, by `dramaturg compare --gate`.
#
#   INPUT_FOLDER, INPUT_BEFORE, INPUT_GATE, INPUT_READING   as in action.yml
#   DRAMATURG                  the command, where it is installed already
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

fail() {
    printf '::error::%s\n' "$1"
    exit 3
}

if [ -z "${DRAMATURG:-}" ]; then
    # -I: Python would else take modules from the current folder, which is the checkout of a stranger's proposal.
    environment=${RUNNER_TEMP:-/tmp}/dramaturg-environment
    python3 -I -m venv "$environment" || fail "A virtual environment cannot be made."
    # With the versions and hashes that its tests ran with.
    "$environment/bin/python" -I -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
        -r <(bash "$here/scripts/lock_section.sh" default) || fail "The packages cannot be installed."
    "$environment/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation "$here" \
        || fail "Dramaturg cannot be installed."
    DRAMATURG=$environment/bin/dramaturg
fi

read -ra reading <<< "${INPUT_READING:-}"
if [ -n "${INPUT_BEFORE:-}" ]; then
    "$DRAMATURG" compare --gate --format markdown "${reading[@]}" -- "$INPUT_BEFORE" "${INPUT_FOLDER:-games}" \
        | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
    exit "${PIPESTATUS[0]}"
fi
"$DRAMATURG" evaluate --no-store --gate "${INPUT_GATE:-automatic}" --format markdown "${reading[@]}" -- "${INPUT_FOLDER:-games}" \
    | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "${PIPESTATUS[0]}"
