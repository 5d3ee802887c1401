"""Messages that the gate checked, for pictures and looks at the Agents page."""

from __future__ import annotations

from evaluation.corrections.gate import Attempt, DimensionCheck, GateOutcome, GateResult, MessageScore
from evaluation.store import Store

_TEXTS = (
    "As an assistant, I can list three options for the sales meeting: a speech, a game, or a long lunch.",
    "Three options, in order: a speech, a game, or lunch. Let me know which one you would like to choose.",
    "I once won this whole office over with nothing but a harmonica and a tray of ribs. We do that again.",
)
_REASON = (
    "The message lists options like a help desk, while the persona tells stories about himself and wants to be liked."
)


def _attempt(number: int, adherence: float | None, fluency: float | None, feedback: str = "") -> Attempt:
    scores = {"adherence": adherence, "fluency": fluency}
    checks = tuple(
        DimensionCheck(name, 7.0, MessageScore(score, _REASON if score else "no answer within 5 s", _advice(score)))
        for name, score in scores.items()
    )
    return Attempt(number, _TEXTS[number], checks, 0.62 if number == 1 else 0.2, number == 1, feedback)


def _advice(score: float | None) -> tuple[str, ...]:
    return ("Drop the list and tell a story of your own.",) if score and score < 7 else ()


def log_checked_messages(store: Store) -> None:
    """One message and more for each outcome, of two agents."""
    told = (
        "This message was not sent and nobody has read it (attempt 1):\n   ...\n1. Adherence: scored 3 of 9, needed 7."
    )
    first, second, third = _attempt(0, 3, 8, told), _attempt(1, 6, 7, told), _attempt(2, 9, 8)
    fine, silent = _attempt(0, 8, 9), _attempt(0, None, None)
    for agent in ("michael", "michael", "michael", "dwight"):
        store.corrections.add(GateResult(agent, fine, GateOutcome.PASSED, (fine,)))
    store.corrections.add(GateResult("dwight", silent, GateOutcome.TIMEOUT_PASS_THROUGH, (silent,)))
    store.corrections.add(GateResult("dwight", first, GateOutcome.FORCED_THROUGH, (first,)))
    store.corrections.add(GateResult("michael", second, GateOutcome.CORRECTED, (first, second)))
    passed = GateResult("michael", third, GateOutcome.PASSED_AFTER_RETRY, (first, second, third))
    store.corrections.add(passed)
