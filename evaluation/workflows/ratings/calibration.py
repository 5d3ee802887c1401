"""Show people what a judge saw, without its answer; tell for any scores whether their judge is calibrated."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.agreement.calibration import calibration_words
from evaluation.comparison.runs import Run
from evaluation.errors import NotFoundError
from evaluation.experiments.experiment import ExperimentRecord
from evaluation.experiments.plan import judge_of
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


def calibration_of(store: Store | None, evaluations: Iterable[PersonaEvaluation]) -> str:
    """Whether the judges of these evaluations are calibrated, in words.

    Args:
        store: Holds people's marks; ``None`` where there are none.
        evaluations: Those that are shown.
    """
    return _words(
        store,
        [
            (model, str(key))
            for each in evaluations
            for _, model in each.judges
            for key, one in each.dimensions.items()
            if one.score is not None
        ],
    )


def calibration_of_runs(store: Store, runs: Iterable[Run]) -> str:
    """The same of stored runs; those that did not come to their end have no scores and are not told of."""
    return _words(store, [(run.model, str(key)) for run in runs for key in run.scores])


def calibration_of_experiments(store: Store, records: Iterable[ExperimentRecord]) -> str:
    """The same of the reports of experiments; empty before their end."""
    return _words(
        store,
        [
            (judge_of(each), str(row["dimension"]))
            for each in records
            for row in (each.results or {}).get("rows", [])
            if row["treatment_mean"] is not None or row["control_mean"] is not None
        ],
    )


def _words(store: Store | None, scored: Iterable[tuple[str, str]]) -> str:
    """The words for each pair of a model and a dimension that it scored."""
    by_model: dict[str, list[str]] = {}
    for model, dimension in scored:
        if model:
            by_model.setdefault(model, []).append(dimension)
    if not by_model:
        return ""
    counts = {} if store is None else store.calibration_marks.counts()
    told = [calibration_words(counts, [model], by_model[model]) for model in sorted(by_model)]
    return " ".join(filter(None, told))
