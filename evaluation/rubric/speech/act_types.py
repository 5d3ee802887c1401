"""The speech acts of the rubric's table, as values (rubric 1.0, metric 4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ActKind(StrEnum):
    """The speech acts of the rubric's table."""

    ACCUSE = "accuse"
    ACCUSE_AGGRESSIVELY = "accuse_aggressively"
    DEFEND = "defend"
    QUESTION = "question"
    ANALYSE_VOTES = "analyse_votes"
    ANALYSE = "analyse"
    """Appears helpful and analytical without a case against anybody."""
    BUILD_CASE = "build_case"
    ALLY = "ally"
    DEFLECT = "deflect"
    DEFEND_SELF = "defend_self"
    """Rejects a suspicion against oneself."""
    REVEAL_ROLE = "reveal_role"


ACCUSATIONS = frozenset({ActKind.ACCUSE, ActKind.ACCUSE_AGGRESSIVELY, ActKind.BUILD_CASE})


@dataclass(frozen=True, slots=True)
class SpeechAct:
    """One act.

    Attributes:
        kind: What is done.
        target: The player at whom it is aimed; ``None`` for acts without one.
        start: Where the words that show it begin, in code points of the original text.
        end: Where they end, exclusive.
        grounded: Whether the message gives grounds for it in the same sentence or the ones beside it.
        is_mild: Whether it only remarks on conduct ("you are quiet"), which a question takes the sting out of.
        has_case: Whether the grounds are the target's conduct, words or votes, not what the speaker saw at night.
        is_vote: Whether it calls for a vote or announces one.
        role: For a revealed role: ``evil``, ``town`` or the town role, as written.
    """

    kind: ActKind
    target: str | None
    start: int
    end: int
    grounded: bool = False
    is_vote: bool = False
    is_mild: bool = False
    has_case: bool = False
    role: str = ""
