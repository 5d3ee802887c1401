"""Score the games of a folder and compare them with those of another commit, for a pull request."""

from __future__ import annotations

import io
import math
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.errors import InfrastructureError, InputError
from evaluation.harness.games_comment import GAMES_KIND
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.rubric.verdict import VerdictStatus, apply_thresholds, judge_automatic, known_usd
from evaluation.score import PERCENT
from evaluation.statistics.comparison import Difference, Measure, Outcome, compare
from evaluation.workflows.projects.configuration import ProjectConfiguration, ProjectGate
from evaluation.workflows.scoring import Tally, evaluate_paths

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation

METRICS = tuple(name for name in DEFINITIONS if name != ENGAGEMENT.name)
"""What can be computed without people."""

_GIT_TIMEOUT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class ScoredGame:
    """A game of one side of a pull request.

    Attributes:
        name: Its file, relative to the folder with games; with the game's id where a file holds several.
        content: Equal for games with the same content.
        scores: By metric, NaN for one without a score.
        passed: How many of the six metrics pass.
        status: Whether it may still pass once people have rated it.
        reasons: Why, in words.
    """

    name: str
    content: str
    scores: Mapping[str, float]
    passed: int
    status: str
    reasons: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether the gate lets it through."""
        return self.status == str(VerdictStatus.PASSED)


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """The games of a folder beside those of the commit that it is compared with.

    Attributes:
        configuration: What they are held against.
        base: The commit, as it was named; ``None`` when there is none to compare with.
        before: Games of that commit.
        after: Games of the folder.
        remarks: What was said about files: those that cannot be read, and games that a file repeats.
        refused: How many files of the folder cannot be read.
        incomplete: How many of its games lack a metric that could not be computed.
    """

    configuration: ProjectConfiguration
    base: str | None
    before: tuple[ScoredGame, ...]
    after: tuple[ScoredGame, ...]
    remarks: tuple[str, ...] = ()
    refused: int = 0
    incomplete: int = 0

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Each metric's difference, adjusted together; empty without games on both sides."""
        if not self.before or not self.after:
            return ()
        return compare({name: self._measure(name) for name in METRICS}).differences

    @property
    def fallen(self) -> tuple[str, ...]:
        """Metrics that are worse beyond chance, or whose mean fell by more than it may."""
        limit = math.inf if self.configuration.max_drop is None else self.configuration.max_drop
        # A drop of exactly the limit is fine, however the means were rounded.
        return tuple(
            one.name for one in self.differences if one.outcome is Outcome.WORSE or -one.difference > limit + 1e-9
        )

    @property
    def failed(self) -> tuple[ScoredGame, ...]:
        """Games that the gate does not let through."""
        has_gate = self.configuration.gate is not ProjectGate.NONE
        return tuple(game for game in self.after if not game.passes) if has_gate else ()

    @property
    def verdict(self) -> str:
        """``failed``, or ``first`` when nothing was there to compare with, or ``fine``."""
        if self.failed or self.fallen:
            return "failed"
        return "fine" if self.before else "first"

    def _measure(self, name: str) -> Measure:
        old = {game.name: game.scores[name] for game in self.before}
        pairs = [(old[game.name], game.scores[name]) for game in self.after if game.name in old]
        scale = DEFINITIONS[name].scale
        before, after = ([game.scores[name] for game in side] for side in (self.before, self.after))
        return Measure(before, after, pairs, scale.limits, "%" if scale == PERCENT else "")

    def as_dict(self) -> dict[str, Any]:
        """The report, from which the comment is written; numbers are ``None`` where there is none."""
        names = self.configuration.iterations
        return {
            "kind": GAMES_KIND,
            "verdict": self.verdict,
            "base": self.base,
            "gate": str(self.configuration.gate),
            "max_drop": self.configuration.max_drop,
            "sides": {"before": names.base, "after": names.proposed},
            "counts": {"before": len(self.before), "after": len(self.after)},
            "metrics": list(self._metrics()),
            "games": list(self._games()),
            "remarks": list(self.remarks),
        }

    def _metrics(self) -> Iterator[dict[str, Any]]:
        differences = {one.name: one for one in self.differences}
        fallen = set(self.fallen)
        for name in METRICS:
            one = differences.get(name)
            after = [game.scores[name] for game in self.after if not math.isnan(game.scores[name])]
            yield {
                "name": name,
                "label": DEFINITIONS[name].label,
                "threshold": self.configuration.thresholds.get(name, DEFINITIONS[name].threshold),
                "before": _number(one.before.mean) if one else None,
                "after": sum(after) / len(after) if after else None,
                "change": _number(one.difference) if one else None,
                "outcome": str(one.outcome) if one else None,
                "has_fallen": name in fallen,
            }

    def _games(self) -> Iterator[dict[str, Any]]:
        before = {game.name: game for game in self.before}
        failed = {game.name for game in self.failed}
        for game in self.after:
            old = before.pop(game.name, None)
            state = "new" if old is None else "same" if old.content == game.content else "changed"
            yield {
                "name": game.name,
                "state": state,
                "before": old.passed if old else None,
                "after": game.passed,
                "has_failed": game.name in failed,
                "reasons": list(game.reasons) if game.name in failed else [],
            }
        for gone in before.values():
            yield {"name": gone.name, "state": "gone", "before": gone.passed, "after": None, "has_failed": False}


def compare_with_base(
    project: Path,
    configuration: ProjectConfiguration,
    *,
    base: str | None = None,
    note: Callable[[str], None],
    jobs: int = 1,
) -> ProposedChange:
    """Scores the project's games, and those of ``base`` with the same thresholds.

    Args:
        project: The folder that the configuration's paths start from.
        configuration: What the games are held against.
        base: A commit of the repository that the project lies in. ``None`` compares with nothing; so does a commit
            that holds no such folder.
        note: Called with each remark on a file.
        jobs: How many processes compute.

    Raises:
        InputError: The folder or the commit is missing, the folder holds no game that can be read, or a link in it
            leads out of the project: what a stranger proposes must not show files of the machine that scores it.
        InfrastructureError: git is not installed or fails.
    """
    folder = project / configuration.games
    if not folder.is_dir():
        raise InputError("There is no such folder.", place=str(folder), remedy="Set games in dramaturg.toml.")
    _require_inside(folder, project)
    remarks: list[str] = []

    def remember(remark: str) -> None:
        remarks.append(remark)
        note(remark)

    tally = Tally(note=remember)
    after = tuple(_scored(folder, configuration, tally, jobs))
    if not after:
        raise InputError("It holds no game that can be read.", place=str(folder), remedy="; ".join(remarks[:3]))
    before: tuple[ScoredGame, ...] = ()
    if base is not None:
        with tempfile.TemporaryDirectory(prefix="dramaturg-base-") as place:
            earlier = _folder_of_commit(project, configuration.games, base, Path(place))
            if earlier is not None:
                old = Tally(note=lambda remark: note(f"{base}: {remark}"))
                before = tuple(_scored(earlier, configuration, old, jobs))
    return ProposedChange(
        configuration, base if before else None, before, after, tuple(remarks), tally.refused, tally.incomplete
    )


def _require_inside(folder: Path, project: Path) -> None:
    root = project.resolve()
    for place in (folder, *folder.rglob("*")):
        if place.is_symlink() and not place.resolve().is_relative_to(root):
            raise InputError(
                "This link leads out of the project.", place=str(place), remedy="Put the file itself there."
            )


def _scored(folder: Path, configuration: ProjectConfiguration, tally: Tally, jobs: int) -> Iterator[ScoredGame]:
    seen: set[str] = set()
    for found in evaluate_paths([folder], tally, jobs=jobs):
        tally.incomplete += bool(found.evaluation.failures)
        name = found.source_name.removeprefix(f"{folder.name}/")
        if name in seen:
            name = f"{name} ({found.evaluation.transcript.game_id})"
        seen.add(name)
        yield _as_game(name, found.evaluation, configuration)


def _as_game(name: str, evaluation: Evaluation, configuration: ProjectConfiguration) -> ScoredGame:
    scores = apply_thresholds(evaluation.metrics, configuration.thresholds)
    verdict = judge_automatic(scores, known_usd(evaluation.transcript.cost))
    values = {each: scores[each].score if each in scores else None for each in METRICS}
    return ScoredGame(
        name,
        evaluation.transcript.id,
        {each: math.nan if value is None else value for each, value in values.items()},
        verdict.passed_count,
        str(verdict.status),
        verdict.reasons,
    )


def _folder_of_commit(project: Path, games: str, base: str, place: Path) -> Path | None:
    """A copy of the folder as it is in the commit; ``None`` when the commit does not hold it."""
    known = _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if known.stderr:
        raise InfrastructureError(f"git cannot read the repository: {known.stderr.decode(errors='replace').strip()}.")
    if known.returncode:
        raise InputError(
            f"{base!r} is not a commit of this repository.",
            place="--base",
            remedy="Fetch it first: git fetch origin BRANCH; in GitHub Actions, check out with fetch-depth: 0.",
        )
    commit = known.stdout.decode().strip()
    if _git(project, "cat-file", "-e", f"{commit}:./{games}").returncode:
        return None
    packed = _git(project, "archive", "--format=tar", f"{commit}:./{games}")
    if packed.returncode:
        raise InfrastructureError(f"git archive failed: {packed.stderr.decode(errors='replace').strip()}.")
    # Under the name of the folder itself: names of games begin with it.
    target = place / Path(games).name
    target.mkdir()
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        # What the branch of a stranger holds may lead elsewhere: only plain files and folders are of use.
        archive.extractall(target, (each for each in archive if each.isfile() or each.isdir()), filter="data")
    return target


def _git(project: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", "-C", str(project), *arguments], capture_output=True, timeout=_GIT_TIMEOUT_SECONDS, check=False
        )
    except FileNotFoundError:
        raise InfrastructureError("git is not installed.", remedy="Install it, or leave out --base.") from None
    except subprocess.TimeoutExpired:
        raise InfrastructureError(f"git {arguments[0]} takes more than {_GIT_TIMEOUT_SECONDS} s.") from None


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
