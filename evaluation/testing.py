"""Assertions about agents and discussions, for the test suites of other projects.

    from evaluation.testing import assert_persona, assert_rubric

    def test_michael_stays_in_character():
        assert_persona("michael", recordings="evals/recordings", baselines="evals/baselines")

A failed assertion names the agent, the dimension, the score and its limit, the messages behind it, and the next step.
A judge that fails does not fail an assertion; it raises a ``JudgeError``.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from os import PathLike
from pathlib import Path

from pydantic import JsonValue

from evaluation.engines.scoring import Evaluation, evaluate_transcript
from evaluation.errors import InputError, JudgeError
from evaluation.files.bundled import proposition_root
from evaluation.harness.regression import (
    FAILURES,
    MAX_DROP,
    NOTHING_COMPARED,
    Baseline,
    BaselineComparison,
    BaselineRow,
    RegressionOutcome,
    behind,
    behind_words,
    compare,
    read_baselines,
    row_words,
)
from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.proposition_files import PropositionLibrary
from evaluation.judging.propositions import Dimension
from evaluation.judging.protocol import Judge
from evaluation.judging.questions import Options
from evaluation.persona.agents import Agent
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.persona.evaluation import DEFAULT_SAMPLE_SIZE, EvaluationPlan, PersonaEvaluation, evaluate_agent
from evaluation.persona.subjects import Subject
from evaluation.readers import read_transcripts
from evaluation.rubric.definitions import DEFINITIONS, score_words
from evaluation.score import LedgerRow, RowVerdict, Status
from evaluation.store import Store
from evaluation.transcript import Transcript
from evaluation.workflows.agents import find_subjects
from evaluation.workflows.persona_runs import recorded_model

__all__ = ["assert_persona", "assert_rubric"]

Place = str | PathLike[str]


def assert_persona(
    agent: str,
    *,
    transcripts: Iterable[Transcript] | Place | None = None,
    persona: JsonValue = None,
    at_least: Mapping[str, float] | None = None,
    baselines: Place | None = None,
    max_drop: float = MAX_DROP,
    dimensions: Sequence[str] = (),
    judge: Judge | None = None,
    recordings: Place | None = None,
    propositions: Place | None = None,
    sample_size: int = DEFAULT_SAMPLE_SIZE,
    seed: int = 0,
    require_baseline: bool = True,
) -> PersonaEvaluation:
    """The agent's evaluation; fails unless it scores what is wanted, and not below its baseline.

    Args:
        agent: Its id, or its name in the transcripts; ``channel:<name>`` for a channel.
        transcripts: What it said: transcripts, or a file or folder of them; the shipped ones when left out.
        persona: Who it is, as a text or a mapping; when left out, as the transcripts say.
        at_least: The least score by dimension, 0 to 9 (of ideas their number).
        baselines: A folder with golden baselines, one of the agent's among them.
        max_drop: By how much a score may fall below it; exactly so much is fine.
        dimensions: Which are judged; those of ``at_least`` and of the baseline when left out.
        judge: Who judges. When left out: ``recordings``, if given; else a model, if the environment holds a key or an
            address; else mere counting.
        recordings: A file or folder with recorded answers of one model.
        propositions: A folder with propositions of your own; they add to the shipped ones.
        sample_size: At most how many messages are judged one by one.
        seed: Chooses them.
        require_baseline: Whether it fails when no score can be held against ``baselines``.

    Raises:
        AssertionError: A score is too low, fell, or is missing, or nothing could be compared.
        JudgeError: The judge failed, or an answer is not recorded.
        InputError: Nothing is asked for, a name or a file is wrong, or there is no baseline.
    """
    __tracebackhide__ = True
    library = PropositionLibrary.load([proposition_root(), *([Path(propositions)] if propositions else [])])
    subject = _subject(agent, transcripts, persona, library)
    least = {_dimension(name): score for name, score in (at_least or {}).items()}
    baseline = _baseline(subject.agent, baselines)
    if not least and baseline is None:
        raise InputError("Nothing is asked of the agent.", place=subject.agent.id, remedy="Give at_least or baselines.")
    chosen = {_dimension(name) for name in dimensions} or {*least, *(baseline.dimensions if baseline else ())}
    asked = tuple([each for each in DIMENSIONS if each in chosen | set(least)])
    plan = EvaluationPlan(asked, sample_size, seed, options=Options(is_batched=True))
    coroutine = evaluate_agent(subject, judge or _judge(recordings), library, plan)
    # In a thread of its own, because an asynchronous test has an event loop already.
    with ThreadPoolExecutor(max_workers=1) as pool:
        evaluation = pool.submit(asyncio.run, coroutine).result()
    comparison = compare(
        [evaluation],
        {baseline.key: baseline} if baseline else {},
        plan,
        max_drop=max_drop,
        requires_baseline=require_baseline and baseline is not None,
    )
    if complaints := _complaints(evaluation, comparison, least):
        raise AssertionError("\n\n".join(complaints))
    return evaluation


def _subject(
    agent: str, transcripts: Iterable[Transcript] | Place | None, persona: JsonValue, library: PropositionLibrary
) -> Subject:
    with closing(Store(":memory:")) as store:
        if transcripts is not None:
            found = read_transcripts(transcripts) if isinstance(transcripts, str | PathLike) else transcripts
            store.transcripts.add_many([(each, each.game_id) for each in found])
        (subject,) = find_subjects(store, [agent], (), library)
        if persona is not None:
            store.agents.save(replace(subject.agent, persona=persona))
            (subject,) = find_subjects(store, [subject.agent.id], (), library)
        return subject


def _judge(recordings: Place | None) -> Judge:
    if recordings is None:
        return build_judge(judge_config())
    config = judge_config({"mode": "recorded", "recordings": Path(recordings)})
    return build_judge(config.model_copy(update={"model": recorded_model(config)}))


def _baseline(agent: Agent, baselines: Place | None) -> Baseline | None:
    """The agent's baseline in a folder; ``None`` where no folder is named."""
    if baselines is None:
        return None
    found = read_baselines(Path(baselines)).get((agent.id, "transcripts"))
    if found is None:
        raise InputError(
            f"{agent.display_name} has no baseline.",
            place=str(baselines),
            remedy=f"Make one with: dramaturg persona baseline --baselines FOLDER --agents {shlex.quote(agent.id)}",
        )
    return found


def _complaints(
    evaluation: PersonaEvaluation, comparison: BaselineComparison, least: Mapping[Dimension, float]
) -> list[str]:
    """Scores that fell below the baseline or are too low; or why nothing was compared where it had to be.

    Raises:
        JudgeError: Something was not judged.
    """
    drop = comparison.max_drop
    if broken := comparison.having({RegressionOutcome.ERROR}):
        raise JudgeError("\n".join(row_words(row, drop) for row in broken))
    found = [_fallen(row, drop) for row in comparison.having(FAILURES)]
    found += [each for key, score in least.items() if (each := _too_low(evaluation, key, score))]
    if not found and comparison.has_failed:
        remedy = "What to do: ask as the baseline was asked, or make the baseline again like this."
        return [f"{row_words(row, drop)}\n{remedy}" for row in comparison.rows] or [NOTHING_COMPARED]
    return found


def _fallen(row: BaselineRow, max_drop: float) -> str:
    remedy = (
        "What to do: mend the persona or, if the change is wanted, make the baseline again with "
        f"`dramaturg persona baseline --agents {shlex.quote(row.agent_id)}`."
    )
    return "\n".join([row_words(row, max_drop), *map(behind_words, row.behind), remedy])


def _dimension(name: str) -> Dimension:
    if name not in DIMENSIONS:
        raise InputError(f"{name!r} is not a dimension.", remedy=f"Choose from {', '.join(DIMENSIONS)}.")
    return Dimension(name)


def _too_low(evaluation: PersonaEvaluation, dimension: Dimension, least: float) -> str:
    """The complaint about a score; empty when it is high enough."""
    score = evaluation.dimensions.get(dimension)
    who = f"{evaluation.agent.display_name}, {LABELS[dimension]}"
    if score is None or score.score is None:
        why = score.reason if score else "agents have no voice distinctness and no ideas, and channels nothing else"
        return f"{who}: not scored, at least {least:g} wanted: {why}"
    if score.score >= least:
        return ""
    told = [behind_words(each) for each in behind(score.items, {})]
    remedy = "What to do: mend what these messages show, or want less."
    return "\n".join([f"{who}: {score.score:.2f}, at least {least:g} wanted", *told, remedy])


_MOST_SHOWN = 5
_LONGEST_SHOWN = 200


def assert_rubric(
    transcript: Transcript | Place, *, metrics: Sequence[str] = (), at_least: Mapping[str, float] | None = None
) -> Evaluation:
    """The discussion's evaluation; fails unless it passes the rubric's metrics.

    Args:
        transcript: The discussion, or the file of one.
        metrics: Which ones must pass, by the rubric's thresholds; every one that has a score when left out.
        at_least: Thresholds of your own by metric, on its scale; these metrics must pass, too.

    Raises:
        AssertionError: A metric fails, or one that was named has no score.
        InputError: A metric is unknown, or the file cannot be read or holds several discussions.
    """
    __tracebackhide__ = True
    limits = dict(at_least or {})
    for name in (*metrics, *limits):
        if name not in DEFINITIONS:
            raise InputError(f"{name!r} is not a metric.", remedy=f"Choose from {', '.join(DEFINITIONS)}.")
    found = [transcript] if isinstance(transcript, Transcript) else read_transcripts(transcript)
    if len(found) != 1:
        raise InputError(f"There are {len(found)} discussions.", place=str(transcript), remedy="Name one of them.")
    evaluation = evaluate_transcript(found[0], thresholds=limits)
    scored = [name for name, each in evaluation.metrics.items() if each.score is not None]
    checked = list(dict.fromkeys((*metrics, *limits))) or scored
    if not checked:
        raise AssertionError(f"{evaluation.transcript.game_id}: no metric has a score.")
    if complaints := [each for name in checked if (each := _complaint(evaluation, name))]:
        raise AssertionError("\n\n".join(complaints))
    return evaluation


def _complaint(evaluation: Evaluation, name: str) -> str:
    """The complaint about a metric; empty when it passes."""
    definition = DEFINITIONS[name]
    what = f"{evaluation.transcript.game_id}, {definition.label}"
    metric = evaluation.metrics.get(name)
    if metric is None:
        why = next((each.why for each in evaluation.failures if each.metric == name), "it was not computed")
        return f"{what}: could not be computed: {why}"
    if metric.status is Status.PASSED:
        return ""
    if metric.score is None:
        return f"{what}: {str(metric.status).replace('_', ' ')}: {metric.reason or 'it has no score'}"
    lines = [f"{what}: {score_words(definition, metric.score)}, threshold {metric.threshold:g}"]
    against = [row for row in metric.ledger if row.verdict is RowVerdict.DOES_NOT_COUNT]
    lines += [_row_words(evaluation.transcript, row) for row in against[:_MOST_SHOWN]]
    if len(against) > _MOST_SHOWN:
        lines.append(f"  and {len(against) - _MOST_SHOWN} more")
    return "\n".join([*lines, "What to do: look at these rows; `dramaturg evaluate --format json` prints all of them."])


def _row_words(transcript: Transcript, row: LedgerRow) -> str:
    """The place, reason and words of a row; a phrase stands in several messages."""
    if row.message_id is None:
        places = list(dict.fromkeys(each.message_id for each in row.evidence if each.message_id))[:_MOST_SHOWN]
        see = f" See {', '.join(places)}." if places else ""
        return f"  {row.player or row.id}: {row.reason}{see}"
    message = transcript.message(row.message_id)
    said = json.dumps(message.text[:_LONGEST_SHOWN], ensure_ascii=False) if message else ""
    return f"  {row.message_id}: {row.reason} {said}".rstrip()
