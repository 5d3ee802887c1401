"""Score games and store them: each game's transcript, results and failures in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.engines.scoring import Evaluation, ScoreFailure
    from evaluation.rubric.reader.model import Reader
    from evaluation.rubric.verdict import Verdict
    from evaluation.score import MetricResult
    from evaluation.store import Added, Store
    from evaluation.store.result_rows import ScoredRows
    from evaluation.store.transcript_rows import TranscriptRows
    from evaluation.transcript import Transcript


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A scored transcript as rows of plain values: a tenth of the work of sending its results between processes.

    Attributes:
        transcript: The rows of the transcript.
        scores: Its results and failures.
        engagement: Engagement without ratings, which is pending and not stored; ``None`` when that failed.
        verdict: The verdict on all of them.
    """

    transcript: TranscriptRows
    scores: ScoredRows
    engagement: MetricResult | None
    verdict: Verdict

    @classmethod
    def of(cls, evaluation: Evaluation) -> GameRecord:
        """The evaluation, packed."""
        from evaluation.store.result_rows import ScoredRows

        scores = ScoredRows.of(evaluation.transcript.id, evaluation.metrics, evaluation.failures)
        return cls._with(evaluation, scores)

    @classmethod
    def scored(cls, transcript: Transcript, thresholds: Mapping[str, float], reader: Reader) -> GameRecord:
        """Scores a transcript and packs it; each result is packed before the next metric is computed.

        A result as objects takes many times the memory that it takes packed, which counts in a game of many messages.
        """
        from evaluation.engines.scoring import evaluate_transcript
        from evaluation.store.result_rows import ResultRows, ScoredRows

        results: list[ResultRows] = []

        def pack(result: MetricResult) -> MetricResult:
            if not ResultRows.is_stored(result):
                return result
            results.append(ResultRows.of(transcript.id, result))
            return replace(result, ledger=())

        evaluation = evaluate_transcript(transcript, thresholds=thresholds, reader=reader, replace_result=pack)
        scores = ScoredRows.of_rows(transcript.id, results, evaluation.metrics, evaluation.failures)
        return cls._with(evaluation, scores)

    @classmethod
    def _with(cls, evaluation: Evaluation, scores: ScoredRows) -> GameRecord:
        from evaluation.rubric.definitions import ENGAGEMENT
        from evaluation.store.transcript_rows import TranscriptRows

        transcript = TranscriptRows.of(evaluation.transcript)
        return cls(transcript, scores, evaluation.metrics.get(ENGAGEMENT.name), evaluation.verdict)

    @property
    def failures(self) -> tuple[ScoreFailure, ...]:
        """The metrics that could not be computed."""
        return self.scores.failures

    def evaluation(self, transcript: Transcript, thresholds: Mapping[str, float]) -> Evaluation:
        """The evaluation of ``transcript`` again; its results are unpacked when one of them is asked for."""
        from evaluation.engines.scoring import Evaluation

        return Evaluation(transcript, _Unpacked(self), self.verdict, self.failures, dict(thresholds))


class _Unpacked(Mapping[str, "MetricResult"]):
    """Results by metric in the rubric's order, unpacked when the first is asked for: an import asks for none."""

    def __init__(self, game: GameRecord) -> None:
        self._game = game

    @cached_property
    def _results(self) -> dict[str, MetricResult]:
        from evaluation.rubric.definitions import DEFINITIONS

        found = {one.values["metric"]: one.unpack() for one in self._game.scores.results}
        if self._game.engagement is not None:
            found[self._game.engagement.name] = self._game.engagement
        return {name: found[name] for name in DEFINITIONS if name in found}

    def __getitem__(self, name: str) -> MetricResult:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)


def score_games(
    transcripts: Sequence[Transcript], *, thresholds: Mapping[str, float], reader: Reader
) -> list[GameRecord]:
    """Scores a batch of games and packs each into the rows that the store takes.

    Any process may do it: it touches no store. The same games and thresholds always give the same rows.

    Args:
        transcripts: The games of the batch.
        thresholds: By metric; the rubric's where one is left out.
        reader: Decides the rows of the metrics that read.

    Returns:
        One packed game per transcript, in their order.
    """
    from evaluation.engines.garbage_collection import collection_paused

    with collection_paused():
        return [GameRecord.scored(each, thresholds, reader) for each in transcripts]


@dataclass(frozen=True, slots=True)
class AddedGame:
    """Outcome of scoring and storing a game.

    Attributes:
        is_new: False when the same content was stored before.
        failures: The metrics of a new game that could not be computed.
        is_restored: It had been deleted, and is back with what was known of it.
        iteration: The iteration that it belongs to.
    """

    is_new: bool
    failures: tuple[ScoreFailure, ...] = ()
    is_restored: bool = False
    iteration: str | None = None


def add_evaluated(store: Store, transcript: Transcript, *, source_name: str, iteration: str | None = None) -> AddedGame:
    """Scores a transcript and stores both in one transaction; what is stored already is neither scored nor changed."""
    from evaluation.store.transcripts import iterations_of

    with store.unit() as cursor:
        known = iterations_of(cursor, [transcript.id])
        thresholds, reader = store.settings.thresholds(), store.readers.chosen()
    if known:
        return AddedGame(is_new=False, iteration=known[transcript.id])
    packed = GameRecord.scored(transcript, thresholds, reader)
    return store_games(store, [(packed, source_name)], iteration=iteration)[0]


def store_games(
    store: Store, games: Sequence[tuple[GameRecord, str]], *, iteration: str | None = None, updates_known: bool = False
) -> list[AddedGame]:
    """Stores transcripts and their results in one transaction: all or none. All ways of importing end here.

    Args:
        store: Where to.
        games: Each with the name of the file that it comes from; no two with the same content.
        iteration: The iteration for games that have none. A game stays in the iteration that it has.
        updates_known: Whether the iteration is created where it does not exist, and a game that was stored before gets
            these results and, if it has none, the iteration. Otherwise nothing of such a game changes, and an
            iteration that was deleted meanwhile does not come back.

    Raises:
        NotFoundError: There is no such iteration, and none is to be created.
    """
    from evaluation.store.transcripts import iterations_of
    from evaluation.store.trash_tables import trashed

    with store.unit(write=True) as cursor:
        ids = [game.transcript.id for game, _ in games]
        known, deleted = iterations_of(cursor, ids), set(trashed(cursor, ids))
        # A game stays in the iteration that it has, which is not a reason to create another one.
        if updates_known and iteration is not None and any(known.get(each) is None for each in ids):
            store.iterations.ensure(iteration)
        added: list[Added] = []
        # The games of an iteration stand in the order in which they came, be they new, moved there or back.
        for is_new, group in groupby(games, key=lambda one: one[0].transcript.id not in known.keys() | deleted):
            items = [(game.transcript, name) for game, name in group]
            for part in [items] if is_new else [[item] for item in items]:
                stays = known.get(part[0][0].id) is not None
                added += store.transcripts.add_many(part, iteration=None if stays else iteration)
                if updates_known and iteration is not None and added[-1].iteration is None:
                    store.iterations.assign(added[-1].transcript_id, iteration)
                    added[-1] = replace(added[-1], iteration=iteration)
        pairs = [(game, one) for (game, _), one in zip(games, added, strict=True)]
        store.results.save_rows([game.scores for game, one in pairs if one.is_new or updates_known])
    return [
        AddedGame(one.is_new, game.failures if one.is_new else (), one.is_restored, one.iteration)
        for game, one in pairs
    ]
