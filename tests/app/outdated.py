"""A game as an older version of Dramaturg scored it."""

from dataclasses import dataclass, replace
from typing import Any

from evaluation.engines.scoring import evaluate_transcript
from evaluation.store import Store
from evaluation.transcript import Transcript


@dataclass(frozen=True)
class Results:
    """An evaluation as an older version of Dramaturg might have made it."""

    transcript: Transcript
    metrics: Any
    failures: tuple[()] = ()


def make_outdated(store: Store, transcript: Transcript) -> None:
    results = dict(evaluate_transcript(transcript).metrics)
    old = results["coherence"]
    results["coherence"] = replace(old, definition=replace(old.definition, version="0"), score=1.0)
    store.results.save([Results(transcript, results)])
