"""Compare the personas in a pull request's workflow, and keep one comment on the pull request up to date.

    dramaturg persona comment check FOLDER [OPTION]...   # runs dramaturg persona compare, writes FOLDER/...
    dramaturg persona comment post FOLDER                # writes or updates the pull request's comment
    python -m evaluation.harness.github_comment ...      # the same where only Python is installed

``check`` runs on the branch of whoever proposes a change, without any token. ``post`` runs elsewhere, on the main
branch's code and with a token, and treats what ``check`` left behind as an untrusted file. The module needs nothing but
Python. Exit codes are those of ``dramaturg``: 0 fine, 1 regression, 2 wrong usage, 3 something else is broken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from evaluation.harness.pull_request_comment import MARKER, comparison_markdown

REPORT = "comparison.json"
COMMENT = "comment.md"
BAD_USAGE = 2
BROKEN = 3

_AUTHOR = "github-actions[bot]"
_LARGEST_REPORT = 10_000_000
_PAGE = 100
_MOST_PAGES = 50
_TIMEOUT_SECONDS = 30
_LONGEST_PROBLEM = 2_000


class CommentError(Exception):
    """A comment that cannot be written: the reason and the remedy."""


def check(folder: Path, options: Sequence[str]) -> int:
    """Compares the personas with their baselines, writes report and comment, and gives the comparison's exit code."""
    command = [str(Path(sys.executable).with_name("dramaturg")), "persona", "compare", "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
    sys.stderr.write(done.stderr)
    report = _parsed(done.stdout)
    if "verdict" not in report:
        report = {"verdict": "broken", "rows": [], "problem": done.stderr[-_LONGEST_PROBLEM:]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / REPORT).write_text(json.dumps(report), encoding="utf-8")
    (folder / COMMENT).write_text(comparison_markdown(report) + "\n", encoding="utf-8")
    return done.returncode


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def post(folder: Path, environment: Mapping[str, str]) -> str:
    """Writes the comment on the pull request, or updates the one that is there; returns what was done."""
    report = _report(folder / REPORT)
    body = comparison_markdown(report)
    api = GitHub(environment)
    number = _pull_request(api, _event(environment))
    if number is None:
        return "No open pull request has this commit at its head; nothing was written."
    author = environment.get("COMMENT_AUTHOR", _AUTHOR)
    mine = next((each["id"] for each in api.comments(number) if _is_ours(each, author)), None)
    if mine is None:
        api.send("POST", f"issues/{number}/comments", {"body": body})
        return f"Wrote a comment on #{number}."
    api.send("PATCH", f"issues/comments/{mine}", {"body": body})
    return f"Updated the comment {mine} on #{number}."


def _report(path: Path) -> dict[str, Any]:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST_REPORT:
        return {}
    return _parsed(path.read_text(encoding="utf-8", errors="replace"))


def _event(environment: Mapping[str, str]) -> dict[str, Any]:
    path = environment.get("GITHUB_EVENT_PATH", "")
    if not path or not Path(path).is_file():
        raise CommentError("GITHUB_EVENT_PATH names no file. Run this in GitHub Actions, or set it to an event's JSON.")
    return _parsed(Path(path).read_text(encoding="utf-8"))


def _pull_request(api: GitHub, event: Mapping[str, Any]) -> int | None:
    """The open pull request that the run was for. Only the event tells, never the report: that may be forged."""
    if isinstance(event.get("pull_request"), dict):
        return int(event["pull_request"]["number"])
    run = event.get("workflow_run")
    if not isinstance(run, dict):
        raise CommentError("The event is neither a pull request nor the end of a workflow's run.")
    owner = (run.get("head_repository") or {}).get("owner", {}).get("login", "")
    head = urlencode({"state": "open", "head": f"{owner}:{run['head_branch']}", "per_page": _PAGE})
    found = [each for each in api.send("GET", f"pulls?{head}") if each["head"]["sha"] == run["head_sha"]]
    return int(found[0]["number"]) if found else None


def _is_ours(comment: Mapping[str, Any], author: str) -> bool:
    """Whether this script wrote it: anybody can write the marker, nobody can take the author's name."""
    login = (comment.get("user") or {}).get("login")
    return login == author and str(comment.get("body", "")).startswith(MARKER)


class GitHub:
    """The few calls of GitHub's interface that are needed, for one repository."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        missing = [name for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN") if not environment.get(name)]
        if missing:
            raise CommentError(f"{' and '.join(missing)} must be set in the environment.")
        address = environment.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
        self._base = f"{address}/repos/{environment['GITHUB_REPOSITORY']}"
        self._token = environment["GITHUB_TOKEN"]

    def comments(self, number: int) -> Iterator[dict[str, Any]]:
        """All comments on a pull request, page by page."""
        for page in range(1, _MOST_PAGES + 1):
            found = self.send("GET", f"issues/{number}/comments?{urlencode({'per_page': _PAGE, 'page': page})}")
            yield from found
            if len(found) < _PAGE:
                return

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer to a call, as JSON."""
        request = Request(
            f"{self._base}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode("utf-8"),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "dramaturg",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        try:
            with urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
                return json.load(answer)
        except HTTPError as error:
            error.close()
            hint = " Does the workflow have 'pull-requests: write'?" if error.code in (401, 403) else ""
            raise CommentError(f"GitHub answered {error.code} to {method} {path}.{hint}") from None
        except (URLError, TimeoutError, ValueError) as error:
            raise CommentError(f"GitHub could not be asked ({method} {path}): {error}.") from None


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Does what the command line says; returns the exit code."""
    match arguments:
        case ["check", folder, *options]:
            return check(Path(folder), options)
        case ["post", folder]:
            try:
                sys.stdout.write(f"{post(Path(folder), environment)}\n")
            except CommentError as error:
                sys.stderr.write(f"error: {error}\n")
                return BROKEN
            return 0
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return BAD_USAGE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
