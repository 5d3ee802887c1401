"""Results of an A/B test.

Source: ADR-010, ``RunResult``, ``VariantResults``, ``StatisticalComparison``, ``ABTestResult``.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from evaluation.errors import InputError
from evaluation.experiments.ab.config import Better
from evaluation.statistics import Interval

RunStatus = Literal["done", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run.

    Attributes:
        variant: Of which variant.
        run_index: From 0.
        seed: The seed that it got.
        status: Only ``done`` has metrics. ``failed``: it could not be run. ``skipped``: a limit was reached.
        metrics: By name; ``None`` where a figure is not known.
        validations: Checks of its messages, as ``ValidationResult.as_dict`` gives them.
        detail: Why it failed or was skipped.
        reference: The stored transcript that it is; empty for none.
        is_resumed: Whether it was run by an earlier call.
    """

    variant: str
    run_index: int
    seed: int
    status: RunStatus
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    validations: tuple[Mapping[str, Any], ...] = ()
    detail: str = ""
    reference: str = ""
    is_resumed: bool = False

    def value(self, measure: str) -> float:
        """The run's value, NaN where it has none."""
        found = self.metrics.get(measure)
        return math.nan if found is None else float(found)

    def as_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class VariantResults:
    """All runs of a variant.

    Attributes:
        avg_metrics: Mean over the runs that have a value; ``None`` where none has.
        validation_pass_rate: Passed over scored checks of all its runs together; ``None`` when none was scored.
    """

    variant_name: str
    runs: tuple[RunResult, ...]
    avg_metrics: Mapping[str, float | None]
    validation_pass_rate: float | None

    @property
    def verdicts(self) -> list[bool]:
        """Whether each scored check of all its runs passed."""
        return [bool(one["passed"]) for run in self.runs for one in run.validations if one["passed"] is not None]

    def as_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON, with the counts that a report needs beside them."""
        return {
            "variant_name": self.variant_name,
            "runs": [one.as_dict() for one in self.runs],
            "runs_by_status": dict(Counter(one.status for one in self.runs)),
            "avg_metrics": dict(self.avg_metrics),
            "validation_pass_rate": self.validation_pass_rate,
            "checks_passed": sum(self.verdicts),
            "checks_scored": len(self.verdicts),
        }


@dataclass(frozen=True, slots=True)
class StatisticalComparison:
    """One measure of two variants, b minus a.

    Attributes:
        better: Which direction is better.
        n_a: Runs of a with a value.
        n_b: The same of b.
        mean_a: Their mean, NaN without a value.
        mean_b: The same of b.
        difference: Of the means.
        interval: Of the difference, Welch's at 95 %.
        p_value: Welch's t-test, two-sided; NaN where no test is possible.
        p_holm: The same, adjusted over all pairs and measures of the A/B test.
        significant: Whether ``p_holm`` is at most 0.05; ``None`` where no test is possible.
        practical_difference: Whether the difference is more than the configured share (10 %) of the larger mean. The
            ADR calls this significant; it is not.
        paired_p: The sign-flip test over runs with the same seed, exact up to 16 of them; ``None`` without pairs. It
            decides nothing.
        effect_size: Cohen's d, NaN where there is none.
        detectable: The smallest difference that so many runs would find in 8 of 10 tests; NaN when unknown.
        runs_needed: On each side, to find a difference as large as this; ``None`` when that has no answer.
        favours: The variant that is better by a significant difference; ``None`` for neither.
        reason: Why no test is possible; empty where one is.
    """

    metric_name: str
    better: Better
    variant_a: str
    variant_b: str
    n_a: int
    n_b: int
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval
    p_value: float
    p_holm: float
    significant: bool | None
    practical_difference: bool | None
    paired_p: float | None
    effect_size: float
    detectable: float
    runs_needed: int | None
    favours: str | None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON: NaN is null."""
        return {
            name: _plain(value.as_dict() if isinstance(value := getattr(self, name), Interval) else value)
            for name in self.__dataclass_fields__
        }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True, slots=True)
class ABTestResult:
    """The whole test.

    Attributes:
        variants: By name, in the order of the file.
        comparisons: Every pair of variants on every measure.
        primary: The measure that decides.
        winner: The best variant; ``None`` when the runs do not show one.
        recommendation: One sentence on what to do.
        reasons: What speaks for it and against it.
        spent_usd: What the runs and their judging cost; ``None`` when a price is not known.
        finished_at: When the last run ended, ISO 8601; empty when nobody noted it.
    """

    name: str
    variants: Mapping[str, VariantResults]
    comparisons: tuple[StatisticalComparison, ...]
    primary: str
    winner: str | None
    recommendation: str
    reasons: tuple[str, ...]
    spent_usd: float | None = 0.0
    finished_at: str = ""

    @property
    def failed(self) -> int:
        """Runs that could not be run."""
        return self._count("failed")

    @property
    def skipped(self) -> int:
        """Runs that a limit did not allow."""
        return self._count("skipped")

    def _count(self, status: str) -> int:
        return sum(run.status == status for variant in self.variants.values() for run in variant.runs)

    def as_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON."""
        return {
            "name": self.name,
            "finished_at": self.finished_at,
            "variants": {name: one.as_dict() for name, one in self.variants.items()},
            "comparisons": [one.as_dict() for one in self.comparisons],
            "primary": self.primary,
            "winner": self.winner,
            "recommendation": self.recommendation,
            "reasons": list(self.reasons),
            "failed": self.failed,
            "skipped": self.skipped,
            "spent_usd": self.spent_usd,
        }


_REMEDY = "Restore the file, or name another one with --state to start again."


class FinishedRuns:
    """The runs that are done, by key; they are kept in memory only without a file.

    Args:
        path: The file; made by the first run.
        known: Runs that are done besides those in the file.

    Raises:
        InputError: The file holds something else.
    """

    def __init__(self, path: Path | None = None, known: Mapping[str, RunResult] | None = None) -> None:
        self._path = path
        self._done = {**(known or {}), **({} if path is None else _read(path))}

    def find(self, key: str) -> RunResult | None:
        """The run under that key, if it is done."""
        return self._done.get(key)

    def in_memory(self) -> FinishedRuns:
        """A copy that keeps further runs in memory only."""
        return FinishedRuns(known=self._done)

    def keep(self, key: str, run: RunResult) -> None:
        """Stores a run; it is safe when this returns.

        Raises:
            InputError: The file cannot be written.
        """
        self._done[key] = run
        if self._path is None:
            return
        line = run_line(key, run)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a+b") as file:
                file.write(_separator(file) + line.encode("ascii") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"Runs cannot be kept: {error.strerror}.", place=str(self._path)) from None


def run_line(key: str, run: RunResult) -> str:
    """A run under its key as JSON in one line."""
    return json.dumps({"key": key, **run.as_dict()}, ensure_ascii=True)


def _separator(file: Any) -> bytes:
    """A line end where a killed run left half a line."""
    if not file.seek(0, os.SEEK_END):
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def _read(path: Path) -> dict[str, RunResult]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The runs so far cannot be read: {error}.", place=str(path), remedy=_REMEDY) from None
    found = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            parsed = parsed_run(line)
            if parsed is not None:
                found[parsed[0]] = parsed[1]
            elif not _is_half(line):
                raise InputError("This is not a run of an A/B test.", place=f"{path}:{number}", remedy=_REMEDY)
    return found


def _is_half(line: str) -> bool:
    """Whether a line begins like one of ``run_line`` and lacks its end, as a killed process leaves it."""
    return line.startswith('{"key": "') and not line.endswith("}")


def parsed_run(line: str) -> tuple[str, RunResult] | None:
    """The key and the run in a line of ``run_line``; ``None`` when it is none."""
    try:
        body = json.loads(line)
        return str(body["key"]), _run(body)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _run(body: Mapping[str, Any]) -> RunResult:
    metrics = {str(name): None if value is None else float(value) for name, value in body["metrics"].items()}
    return RunResult(
        variant=str(body["variant"]),
        run_index=int(body["run_index"]),
        seed=int(body["seed"]),
        status="done",
        metrics=metrics,
        validations=tuple([dict(one) for one in body["validations"]]),
        reference=str(body["reference"]),
        is_resumed=True,
    )
