"""Dramaturg's library: transcripts in, scores with their evidence out.

The names below are the public interface. They are imported on first use, so that importing the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation, evaluate_many, evaluate_transcript
    from evaluation.errors import DramaturgError, InfrastructureError, InputError
    from evaluation.iterations.board import Board
    from evaluation.iterations.keep_or_revert import Decision
    from evaluation.judging.proposition_library import PropositionLibrary
    from evaluation.persona.evaluation import PersonaEvaluation, evaluate_agent
    from evaluation.ratings import Rating
    from evaluation.readers import Answers, ReadResult, read_path, read_upload, transcript_of
    from evaluation.rubric.verdict import Verdict
    from evaluation.score import Evidence, LedgerRow, MetricResult
    from evaluation.store import Store
    from evaluation.transcript import Message, Player, Transcript, Vote
    from evaluation.workflows.iterations import stored_board
    from evaluation.workflows.persona_runs import evaluate_persona

_NAMES = {
    "evaluation.engines.scoring": ("Evaluation", "evaluate_many", "evaluate_transcript"),
    "evaluation.errors": ("DramaturgError", "InfrastructureError", "InputError"),
    "evaluation.iterations.board": ("Board",),
    "evaluation.iterations.keep_or_revert": ("Decision",),
    "evaluation.judging.proposition_library": ("PropositionLibrary",),
    "evaluation.persona.evaluation": ("PersonaEvaluation", "evaluate_agent"),
    "evaluation.ratings": ("Rating",),
    "evaluation.readers": ("Answers", "ReadResult", "read_path", "read_upload", "transcript_of"),
    "evaluation.rubric.verdict": ("Verdict",),
    "evaluation.score": ("Evidence", "LedgerRow", "MetricResult"),
    "evaluation.store": ("Store",),
    "evaluation.transcript": ("Message", "Player", "Transcript", "Vote"),
    "evaluation.workflows.iterations": ("stored_board",),
    "evaluation.workflows.persona_runs": ("evaluate_persona",),
}

__all__ = [
    "Answers",
    "Board",
    "Decision",
    "DramaturgError",
    "Evaluation",
    "Evidence",
    "InfrastructureError",
    "InputError",
    "LedgerRow",
    "Message",
    "MetricResult",
    "PersonaEvaluation",
    "Player",
    "PropositionLibrary",
    "Rating",
    "ReadResult",
    "Store",
    "Transcript",
    "Verdict",
    "Vote",
    "evaluate_agent",
    "evaluate_many",
    "evaluate_persona",
    "evaluate_transcript",
    "read_path",
    "read_upload",
    "stored_board",
    "transcript_of",
]


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _NAMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
