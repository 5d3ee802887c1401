#!/usr/bin/env bash
# Writes the report of the persona regression into one comment on the pull request whose head is HEAD_SHA, and updates it.
#   scripts/persona_comment.sh REPORT    # JSON of "dramaturg persona compare", perhaps a stranger's
# Needs gh with GH_TOKEN, python3, GITHUB_REPOSITORY and HEAD_SHA.
set -euo pipefail

repository="repos/$GITHUB_REPOSITORY"
python3 -m evaluation.harness.pull_request_comment "$1" > comment.md

number=$(gh api --paginate "$repository/pulls?state=open&per_page=100" \
  --jq '.[] | select(.head.sha == env.HEAD_SHA) | .number' | sed -n 1p)
if [ -z "$number" ]; then
  echo "No open pull request has this commit at its head; nothing was written."
  exit 0
fi

# Others may quote the marker; only what the workflow itself wrote is written over.
comment=$(gh api --paginate "$repository/issues/$number/comments?per_page=100" --jq '.[]
  | select(.user.login == "github-actions[bot]" and (.body | startswith("<!-- dramaturg-regression -->")))
  | .id' | sed -n 1p)
if [ -z "$comment" ]; then
  gh api "$repository/issues/$number/comments" -F body=@comment.md --silent
  echo "Wrote a comment on #$number."
else
  gh api -X PATCH "$repository/issues/comments/$comment" -F body=@comment.md --silent
  echo "Updated the comment $comment on #$number."
fi
