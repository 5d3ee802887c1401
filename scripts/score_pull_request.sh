#!/usr/bin/env bash
# The GitHub action's entry: scores the games of a checkout, compares them with the base branch, and comments.
#
#   INPUT_FOLDER, INPUT_CONFIG, INPUT_BASE   as in action.yml; empty for the configuration's, and the pull request's base
#   INPUT_COMMENT                            "true" to write a comment; needs GITHUB_TOKEN
#   DRAMATURG                                the command, where it is installed already
#
# Everything else comes from GitHub's own variables. The exit code is that of `dramaturg ci check`.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
report=${RUNNER_TEMP:-/tmp}/dramaturg-report

fail() {
    printf '::error::%s\n' "$1"
    exit 3
}

# Nothing but the comment needs it.
token=${GITHUB_TOKEN:-}
unset GITHUB_TOKEN

if [ -z "${DRAMATURG:-}" ]; then
    # -I: Python would else take modules from the current folder, which is the checkout of a stranger's proposal.
    environment=${RUNNER_TEMP:-/tmp}/dramaturg-environment
    python3 -I -m venv "$environment" || fail "A virtual environment cannot be made."
    # With the versions and hashes that its tests ran with.
    "$environment/bin/python" -I -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
        -r "$here/requirements.lock" || fail "The packages cannot be installed."
    "$environment/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation "$here" \
        || fail "Dramaturg cannot be installed."
    DRAMATURG=$environment/bin/dramaturg
fi

arguments=(ci check --report "$report")
[ -n "${INPUT_CONFIG:-}" ] && arguments+=(--config "$INPUT_CONFIG")

base=${INPUT_BASE:-${GITHUB_BASE_REF:-}}
if [ -n "$base" ]; then
    # A checkout may hold one commit only; of the base no more than its files is needed.
    if git rev-parse --verify --quiet --end-of-options "refs/remotes/origin/$base^{commit}" >/dev/null \
        || git fetch --quiet --no-tags --depth=1 origin "+refs/heads/$base:refs/remotes/origin/$base" 2>/dev/null; then
        arguments+=("--base=origin/$base")
    elif git rev-parse --verify --quiet --end-of-options "$base^{commit}" >/dev/null; then
        arguments+=("--base=$base")
    else
        fail "The base '$base' can neither be fetched nor found."
    fi
fi
[ -n "${INPUT_FOLDER:-}" ] && arguments+=(-- "$INPUT_FOLDER")

# What is left of an earlier run must not be taken for this one's.
rm -rf "$report"
"$DRAMATURG" "${arguments[@]}"
code=$?

if [ -f "$report/comment.md" ]; then
    [ -n "${GITHUB_STEP_SUMMARY:-}" ] && cat "$report/comment.md" >>"$GITHUB_STEP_SUMMARY"
    [ -n "${GITHUB_OUTPUT:-}" ] && printf 'report=%s\nexit-code=%s\n' "$report" "$code" >>"$GITHUB_OUTPUT"
    case "${GITHUB_EVENT_NAME:-}" in
        pull_request | pull_request_target | workflow_run)
            if [ "${INPUT_COMMENT:-}" = true ]; then
                # The token of a branch from a fork cannot write. That is no reason to fail: the table is on the run's page.
                GITHUB_TOKEN=$token "$DRAMATURG" ci comment --report "$report" \
                    || printf '::warning::The comment was not written; the table is on the page of the run.\n'
            fi
            ;;
    esac
fi
exit "$code"
