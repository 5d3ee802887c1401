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
    from evaluation.recorder import Recorder
    from evaluation.rubric.verdict import Verdict
    from evaluation.score import Evidence, LedgerRow, MetricResult
    from evaluation.store import Store
    from evaluation.transcript import Message, Player, Transcript, Vote
    from evaluation.workflows.iterations import stored_board
    from evaluation.workflows.persona_runs import evaluate_persona

_HOMES = {
    "Answers": "evaluation.readers",
    "Board": "evaluation.iterations.board",
    "Decision": "evaluation.iterations.keep_or_revert",
    "DramaturgError": "evaluation.errors",
    "Evaluation": "evaluation.engines.scoring",
    "Evidence": "evaluation.score",
    "InfrastructureError": "evaluation.errors",
    "InputError": "evaluation.errors",
    "LedgerRow": "evaluation.score",
    "Message": "evaluation.transcript",
    "MetricResult": "evaluation.score",
    "PersonaEvaluation": "evaluation.persona.evaluation",
    "Player": "evaluation.transcript",
    "PropositionLibrary": "evaluation.judging.proposition_library",
    "Rating": "evaluation.ratings",
    "ReadResult": "evaluation.readers",
    "Recorder": "evaluation.recorder",
    "Store": "evaluation.store",
    "Transcript": "evaluation.transcript",
    "Verdict": "evaluation.rubric.verdict",
    "Vote": "evaluation.transcript",
    "evaluate_agent": "evaluation.persona.evaluation",
    "evaluate_many": "evaluation.engines.scoring",
    "evaluate_persona": "evaluation.workflows.persona_runs",
    "evaluate_transcript": "evaluation.engines.scoring",
    "read_path": "evaluation.readers",
    "read_upload": "evaluation.readers",
    "stored_board": "evaluation.workflows.iterations",
    "transcript_of": "evaluation.readers",
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
    "Recorder",
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
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
