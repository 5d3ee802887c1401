"""One message that the gate checked, as it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evaluation.corrections.attempts import GateOutcome, GateResult


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A checked message with its outcome and time.

    Attributes:
        id: Of the group that its attempts are logged under.
        at: When it was logged, in UTC.
        result: Its attempts with their checks. The messages it was compared with are not kept, and neither is whether a
            check was trivial.
        run: Id of the run or experiment that it was checked in; empty when none was named.
    """

    id: str
    at: datetime
    result: GateResult
    run: str = ""

    @property
    def was_sent(self) -> bool:
        """Whether a text was sent; without ``continue_on_failure`` none is when no attempt passed."""
        return self.result.committed is not None

    @property
    def outcome(self) -> GateOutcome:
        """The outcome of the message; messages that were not checked are not logged."""
        assert self.result.outcome is not None
        return self.result.outcome
