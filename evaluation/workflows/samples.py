"""Add the shipped sample games to a store, scored and with their ratings."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from evaluation.corrections.config import CorrectionConfig
from evaluation.experiments.ab_runner import ABConfig
from evaluation.files.bundled import parse_yaml, shipped
from evaluation.files.locations import Location
from evaluation.files.yaml_files import parse_model
from evaluation.iterations.iteration import Fate
from evaluation.judging.judge_config import JudgeConfig, build_judge
from evaluation.judging.judges_without_model import OfflineJudge
from evaluation.progress import ProgressCallback, no_progress
from evaluation.ratings import Rating, parse_answers
from evaluation.readers import read_transcripts
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS
from evaluation.store import Added, Store
from evaluation.store.corpus import Corpus
from evaluation.store.result_rows import ControlRow, ScoredGame
from evaluation.workflows.ab_tests import iterations_test, run_ab_test
from evaluation.workflows.iterations import record_decision
from evaluation.workflows.judging import judge_stored
from evaluation.workflows.message_gate import MessageGate
from evaluation.workflows.persona_runs import EXAMPLE_AGENTS, evaluate_example, recorded_model
from evaluation.workflows.scoring import add_evaluated, store_games
from evaluation.workflows.studies import connection, example_plan, run_experiment

RATINGS_FILE = "ratings.csv"
READ_GAME = "werewolf_gpt/gpt-4-002.md"
"""The game of which the recordings hold a reading."""

_MANIFEST = "manifest.yaml"
SCORED_FOLDER = ".scored"
CONTROLS_FILE = "controls.json"
_TALK = "sample_talk.yaml"
_CONTROL_ROWS = TypeAdapter(dict[str, list[ControlRow]])


class SampleDecision(BaseModel):
    """A person's decision on the change of a sample iteration."""

    choice: Fate
    who: str
    reason: str
    note: str = ""


class SampleIteration(BaseModel):
    """One prompt version among the samples; ``games`` in the order in which they were played."""

    name: str
    parent: str | None = None
    prompt_text: str = ""
    change: str = ""
    target_metric: str | None = None
    baseline: bool = False
    games: list[Path]
    decision: SampleDecision | None = None


class SampleManifest(BaseModel):
    """The shipped games: those of iterations, and those that belong to none. All paths are absolute."""

    iterations: list[SampleIteration]
    games: list[Path]


def load_manifest() -> SampleManifest:
    """Which shipped game belongs to which iteration."""
    folder = shipped("data/samples")
    held = parse_yaml((folder / _MANIFEST).read_text("utf-8"))
    for part in (held, *held["iterations"]):
        part["games"] = [folder / relative for relative in part["games"]]
    return SampleManifest.model_validate(held)


@dataclass(frozen=True, slots=True)
class LoadedSamples:
    """Number of samples found and stored; games and ratings stored before are not counted as new.

    Attributes:
        incomplete: How many of the new games have a metric that could not be computed.
    """

    games: int
    new_games: int
    new_ratings: int
    incomplete: int = 0


def load_samples(store: Store, progress: ProgressCallback = no_progress) -> LoadedSamples:
    """Stores the shipped games, those of an iteration in one transaction, with their recorded scores.

    Games without such are scored, one transaction each. Doing it again changes nothing.

    Args:
        store: Where to.
        progress: Told how far it is. An exception that it raises stops the loading; what is stored stays.

    Raises:
        InputError: A shipped file is damaged.
    """
    manifest = load_manifest()
    planned = planned_games(manifest)
    created = _create_iterations(store, manifest.iterations)
    progress(0, len(planned))
    scored = recorded_scores() if store.settings.thresholds() == DEFAULT_THRESHOLDS else {}
    added: list[Added] = []
    ids: dict[str, str] = {}
    for iteration, group in groupby(planned, key=lambda one: one[1]):
        games = [path for path, _ in group]
        known = [path for path in games if _relative(path) in scored]
        stored = store_games(store, [(scored[_relative(path)], path.name) for path in known], iteration=iteration)
        _add_controls(store, [one.transcript_id for one in stored if one.is_new])
        added += stored
        ids |= {_relative(path): scored[_relative(path)].transcript_id for path in known}
        for path in (one for one in games if one not in known):
            for transcript in read_transcripts(path):
                added.append(add_evaluated(store, transcript, source_name=path.name, iteration=iteration))
                ids[_relative(path)] = transcript.id
            progress(len(ids), len(planned))
        progress(len(ids), len(planned))
    new = [game for game in added if game.is_new]
    new_ratings = _add_ratings(store, ids)
    _record_decisions(store, created)
    return LoadedSamples(len(planned), len(new), new_ratings, sum(bool(game.failures) for game in new))


def planned_games(manifest: SampleManifest) -> list[tuple[Path, str | None]]:
    """Every shipped game with the iteration that it belongs to, in the order of loading."""
    games: list[tuple[Path, str | None]] = [(path, one.name) for one in manifest.iterations for path in one.games]
    return [*games, *((path, None) for path in manifest.games)]


def _relative(path: Path) -> str:
    return path.relative_to(shipped("data/samples")).as_posix()


def recorded_scores() -> dict[str, ScoredGame]:
    """The shipped games as they are scored, by path below the samples; empty where the metrics are of other versions.

    Raises:
        InfrastructureError: The file with the scores is damaged.
    """
    corpus = Corpus(Location.of(str(shipped("data/samples") / SCORED_FOLDER)))
    return {name: game for file in corpus.files() for game, name, _ in corpus.read(file)}


def recorded_controls() -> dict[str, list[ControlRow]]:
    """The comparisons of the shipped games with scrambled copies, by transcript."""
    return _CONTROL_ROWS.validate_json((shipped("data/samples") / SCORED_FOLDER / CONTROLS_FILE).read_bytes())


def _add_controls(store: Store, transcript_ids: Sequence[str]) -> None:
    """Stores the recorded comparisons, so that no score counts as passed until a job has found it at chance."""
    controls = recorded_controls() if transcript_ids else {}
    with store.unit(write=True):
        for key in transcript_ids:
            store.controls.save(key, controls.get(key, ()))


def _create_iterations(store: Store, iterations: Sequence[SampleIteration]) -> list[SampleIteration]:
    """Creates those that are missing, and returns them."""
    known = {iteration.name for iteration in store.iterations.list()}
    missing = [one for one in iterations if one.name not in known]
    for one in missing:
        store.iterations.create(
            one.name,
            parent=one.parent,
            prompt_text=one.prompt_text,
            change=one.change,
            target_metric=one.target_metric,
        )
        if one.baseline:
            store.iterations.promote(one.name)
    return missing


def _record_decisions(store: Store, iterations: Sequence[SampleIteration]) -> None:
    """Records what was decided, once the games and ratings that it rests on are stored."""
    for one in iterations:
        if (made := one.decision) is not None:
            record_decision(store, one.name, made.choice, who=made.who, reason=made.reason, note=made.note)


def _add_ratings(store: Store, ids: dict[str, str]) -> int:
    with (shipped("data/samples") / RATINGS_FILE).open(encoding="utf-8", newline="") as file:
        ratings = [_rating(row, ids[row["transcript"]]) for row in csv.DictReader(file)]
    with store.unit(write=True):
        return sum(store.ratings.add(rating) for rating in ratings)


def _rating(row: dict[str, str], transcript_id: str) -> Rating:
    return Rating(
        transcript_id,
        row["rater"],
        float(row["score"]),
        parse_answers(row["answers"]),
        row["comment"],
        # A fixed time and token: a person's own rating is always the newer one, and loading again adds nothing.
        created_at=datetime(2025, 1, 1, tzinfo=UTC),
        token=f"sample:{transcript_id}:{row['rater']}",
    )


def load_examples(store: Store) -> None:
    """Stores one example of everything that is not a game; where there is one of a kind already, nothing is added.

    Two evaluations of three agents and the reading of a game by recorded answers, the smallest experiment by a script,
    an A/B test of the first two sample iterations, and an agent whose repetitions the gate sends back. None asks a
    model.
    """
    read_example(store)
    if store.evaluations.runs().empty:
        evaluate_example(store)
    if not store.experiments.all():
        plan = example_plan()
        config, provider = connection(plan, {}, None)
        run_experiment(store, plan, config, provider=provider)
        _compare_iterations(store)
    if not store.corrections.agents():
        _correct_example(store)


def read_example(store: Store) -> None:
    """Has one game of no iteration read by recorded answers, if it is stored and nobody has read it."""
    (transcript,) = read_transcripts(shipped("data/samples") / READ_GAME)
    if transcript.id in store.transcripts.ids() and not store.decisions.current(transcript.id):
        played = JudgeConfig(mode="recorded")
        judge = build_judge(played.model_copy(update={"model": recorded_model(played)}))
        # A caller such as a notebook may have an event loop of its own.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(judge_stored, store, [transcript.id], judge).result()


def _compare_iterations(store: Store) -> None:
    """Runs an A/B test on the games of the first two sample iterations, where they are stored."""
    names = [one.name for one in load_manifest().iterations][:2]
    if set(names) <= {one.name for one in store.iterations.list()}:
        target = store.iterations.get(names[1]).target_metric
        test = parse_model(iterations_test(names[0], names[1], target).encode(), ABConfig, "sample.yaml")
        run_ab_test(store, test, {})


def _correct_example(store: Store) -> None:
    """Sends the drafts of a made-up talk through the gate, which checks how far a message repeats the ones before."""
    config = CorrectionConfig(gate_similarity_enabled=True)
    history: list[tuple[str, str]] = []
    with MessageGate(OfflineJudge(), config, store=store) as gate:
        for turn in parse_yaml((files("evaluation.workflows") / _TALK).read_text("utf-8")):
            history.append((turn["speaker"], turn["text"]))
            sent = gate.send(partial(_next_draft, iter(turn["drafts"])), EXAMPLE_AGENTS[0], history)
            history.append((EXAMPLE_AGENTS[0], sent.text))


def _next_draft(drafts: Iterator[str], _feedback: str) -> str:
    return next(drafts)
