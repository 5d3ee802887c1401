"""Show people what a judge saw, without its answer; tell for any scores whether their judge is calibrated."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.agreement.calibration import calibration_words
from evaluation.errors import NotFoundError
from evaluation.judging.guard.fencing import FENCE
from evaluation.persona.results import PersonaEvaluation
from evaluation.store import Store
from evaluation.store.ratings.calibration_marks import JudgedClaim

_MESSAGES_BEFORE = 10


def context_of(store: Store, asked: JudgedClaim) -> str:
    """The context that the judge read, where its prompt is kept; else messages up to the one in question.

    Untrusted text.
    """
    kept = store.judgements.lookup([asked.judgement_key]).get(asked.judgement_key)
    if kept is not None:
        return kept.prompt.user.replace(FENCE, "---")
    if asked.transcript_id and asked.message_id:
        try:
            messages = store.transcripts.get(asked.transcript_id).messages
        except NotFoundError:
            return asked.snippet
        places = [place for place, message in enumerate(messages) if message.id == asked.message_id]
        if places:
            shown = messages[max(places[0] - _MESSAGES_BEFORE, 0) : places[0] + 1]
            return "\n".join(f"{message.speaker}: {message.text}" for message in shown)
    return asked.snippet


def calibration_of(store: Store, evaluations: Iterable[PersonaEvaluation]) -> str:
    """Whether the judges of these evaluations are calibrated, in words."""
    found = list(evaluations)
    models = {model for each in found for _, model in each.judges}
    dimensions = {str(key) for each in found for key, one in each.dimensions.items() if one.score is not None}
    return calibration_words(store.calibration_marks.counts(), models, dimensions)
