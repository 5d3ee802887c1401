"""Quality gate of ``evaluate`` for CI: decide whether a run is good enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from evaluation.cli.shared.terminal import note

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation
    from evaluation.rubric.verdict import Verdict


class Gate(StrEnum):
    """Conditions that every transcript must meet to pass.

    ``full``: its verdict is passed, engagement included. ``automatic``: it may still pass once people have rated it (at
    least 4 of the 6 metrics without engagement pass, 5 of the 7 can apply, the cost is not known to be over the limit).
    """

    FULL = "full"
    AUTOMATIC = "automatic"


class GateCounter:
    """Watches evaluations go by and remembers whether all of them passed.

    Args:
        gate: What is asked; ``None`` lets everything through.
    """

    def __init__(self, gate: Gate | None) -> None:
        self._gate = gate
        self.failed = 0

    def watch(self, evaluations: Iterable[Evaluation]) -> Iterator[Evaluation]:
        """The same evaluations; each that fails the gate is named on standard error, with the reasons."""
        for evaluation in evaluations:
            if self._gate is not None:
                self._check(evaluation, _verdict(evaluation, self._gate))
            yield evaluation

    def _check(self, evaluation: Evaluation, verdict: Verdict) -> None:
        from evaluation.rubric.verdict import VerdictStatus

        if verdict.status is not VerdictStatus.PASSED:
            self.failed += 1
            transcript = evaluation.transcript
            reasons = " ".join(verdict.reasons)
            note(f"gate: {transcript.id[:8]} ({transcript.game_id}) {verdict.status}: {reasons}")


def _verdict(evaluation: Evaluation, gate: Gate) -> Verdict:
    from evaluation.rubric.verdict import judge_automatic, known_usd

    if gate is Gate.FULL:
        return evaluation.verdict
    return judge_automatic(evaluation.metrics, known_usd(evaluation.transcript.cost))
