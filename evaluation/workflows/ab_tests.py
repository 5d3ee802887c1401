"""Run A/B tests on models, store every run as soon as it is done, and go on after a stop, as background jobs too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from string import Template
from typing import Any

from evaluation.errors import InputError
from evaluation.experiments.ab_runner import (
    ABConfig,
    ExperimentRunner,
    Run,
    RunOutcome,
    check_test,
    plan,
    simulated_games,
    stored_games,
)
from evaluation.experiments.estimate import Estimate, ModelUse, simulated_uses
from evaluation.experiments.results import StudyResult
from evaluation.experiments.study import StudyStatus
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.judge_config import (
    SETTINGS_KEY,
    ChosenJudge,
    JudgeConfig,
    build_client,
    build_estimate,
    build_judge,
    judge_config,
)
from evaluation.judging.live_judge import ESTIMATED
from evaluation.judging.model_client.budget import Budget, BudgetSpentError
from evaluation.judging.model_client.calls import CallLog, CallRecord
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.protocol import JudgeKind
from evaluation.progress import ProgressCallback, no_progress
from evaluation.rubric.definitions import COHERENCE, DEFINITIONS
from evaluation.rubric.verdict import MetricScore
from evaluation.score import PERCENT
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.transcript import Transcript
from evaluation.workflows.agents import player_personas


def run_ab_test(
    store: Store,
    test: ABConfig,
    options: Mapping[str, Any],
    report: ProgressCallback = no_progress,
    *,
    budget: Budget | None = None,
) -> StudyResult:
    """Runs what is left of an A/B test, and stores every run as soon as it is done, and the result.

    A run is known by its own settings: a file that changed, or another test, keeps what it has in common.

    Args:
        store: Where games and runs that are done are read, and where simulated ones and the result go.
        test: What is compared.
        options: Mode, model, address and limits of the judge as a person chose them; ``None`` for those not given.
        report: Told of progress.
        budget: Shared with whoever may stop the test; made of the limits in force when left out.

    Raises:
        InputError: A key is misspelt, a variant has no runs, no run can have a measure, or runs cannot be simulated for
            want of a model. Nothing was run then.
    """
    judged = CallBuffer()
    config = ab_judge_config(store, test, options)
    judge = build_judge(config, cache=store.judgements, log=judged.add, budget=budget)
    keep = partial(store.experiments.add_run, test.id)
    runner = _runner(store, test, options, config, judge, judged, judge=judge, budget=judge.budget, keep=keep)
    store.experiments.begin(test)

    async def compare() -> StudyResult:
        async with judge.session():
            return await runner.run_ab_test(report)

    result = asyncio.run(compare())
    store.experiments.end(test.id, StudyStatus.COMPLETED, result)
    return result


def estimate_ab_test(store: Store, test: ABConfig, options: Mapping[str, Any]) -> Estimate:
    """The expected calls of what is left of an A/B test; nobody is asked, and nothing is stored.

    Args:
        store: Where games, personas, kept answers and runs that are done are.
        test: What is compared.
        options: As for ``run_ab_test``.

    Raises:
        InputError: As ``run_ab_test``.
    """
    config = ab_judge_config(store, test, options)
    judge = build_judge(config)
    counting = build_estimate(config, store.judgements) if config.mode == "live" else None
    simulated: list[ModelUse] = []
    library = PropositionLibrary.load()

    async def count(variant: dict[str, Any], _seed: int) -> RunOutcome:
        speaker = _speaker_config(store, variant.get("model"), options)
        evaluation = test.evaluation if test.is_checked else None
        simulated.extend(simulated_uses(variant, speaker, config if counting else None, evaluation, library))
        raise BudgetSpentError(ESTIMATED)

    instead = count if test.source == "simulation" else None
    runner = _runner(store, test, options, config, judge, CallBuffer(), instead, judge=counting or judge)
    runs = asyncio.run(runner.run_ab_test()).runs
    known = sum(each.is_resumed for each in runs)
    before = f", {known:,} of them done before" if known else ""
    if counting:
        use = (counting.calls, counting.calls, counting.tokens_read, counting.tokens_written)
        simulated.append(ModelUse(config, *use))
    return Estimate(f"{counted(len(runs), 'run')}{before}", tuple(simulated))


def _runner(
    store: Store,
    test: ABConfig,
    options: Mapping[str, Any],
    config: JudgeConfig,
    chosen: ChosenJudge,
    judged: CallBuffer,
    instead: Run | None = None,
    **parts: Any,
) -> ExperimentRunner:
    """The runner of a test with its runs from the store or a model, or with ``instead`` in the place of these."""
    check_test(test)
    if test.source == "transcripts":
        listed = _listed(store, test)
        run = _games_of_store(store, [one for variant in listed.variants.values() for one in variant["runs"]])
    else:
        base = {**test.base, "model": _speaker_config(store, test.base.get("model"), options).model}
        listed, run = test.model_copy(update={"base": base}), _simulation(store, chosen, judged, options)
    known = {run.key: run for run in store.experiments.runs() if run.key}
    # The judge that the runs ask, with its address where it is one's own.
    address = (chosen.model, config.base_url or "") if chosen.kind is JudgeKind.LIVE else ()
    return ExperimentRunner(listed, instead or run, known=known, asked=" ".join((chosen.kind, *address)), **parts)


def planned_runs(store: Store, test: ABConfig) -> int:
    """The number of runs of a test.

    Raises:
        InputError: A variant names no games, has no runs, or is wrong.
    """
    return len(plan(_listed(store, test) if test.source == "transcripts" else test))


def ab_judge_config(store: Store, test: ABConfig, options: Mapping[str, Any]) -> JudgeConfig:
    """The judge: options before the file, where it says anything of judging, before environment and settings."""
    limits = [usd for usd in (options.get("max_usd"), test.max_usd, test.evaluation.max_usd) if usd is not None]
    model = options.get("model") or test.evaluation.judge_model
    chosen = {**options, "model": model, "max_usd": min(limits, default=None)}
    return judge_config(chosen, store.settings.get(SETTINGS_KEY))


def _speaker_config(store: Store, model: str | None, options: Mapping[str, Any]) -> JudgeConfig:
    """The model that speaks: that of the run, else the one in force."""
    options = {**options, "mode": "live", "model": model or options.get("model")}
    return judge_config(options, store.settings.get(SETTINGS_KEY))


def _listed(store: Store, test: ABConfig) -> ABConfig:
    """The test with its stored games listed one by one."""
    named = {name: {"runs": _games(store, name, variant)} for name, variant in test.variants.items()}
    return test.model_copy(update={"variants": named, "base": {}})


def _simulation(store: Store, judge: ChosenJudge, judged: CallBuffer, options: Mapping[str, Any]) -> Run:
    """Simulated runs whose games are stored; they draw on the judge's budget."""
    if judge.kind is not JudgeKind.LIVE:
        remedy = "Set OPENAI_API_KEY or OPENAI_BASE_URL, or take transcripts as the source."
        raise InputError("Agents need a model to speak, and there is no key or address.", remedy=remedy)

    def connect(model: str | None, log: CallLog) -> LLMClient:
        return build_client(_speaker_config(store, model, options), budget=judge.budget, log=log)

    def keep(transcript: Transcript, calls: Sequence[CallRecord]) -> None:
        with store.unit(write=True):
            store.transcripts.add(transcript, source_name="A/B test")
            store.llm_calls.add(calls)

    return simulated_games(connect, judge, PropositionLibrary.load(), keep, judged)


def _games(store: Store, name: str, variant: Mapping[str, Any]) -> list[str]:
    place, remedy = f"variants.{name}", "Write iteration: NAME, or transcripts: [ID, ...]."
    with store.unit():
        match variant:
            case {"iteration": str(iteration), **others} if not others:
                found = store.transcripts.ids(iteration)
            case {"transcripts": list(games), **others} if not others:
                found = [store.transcripts.resolve(str(one)) for one in games]
            case _:
                raise InputError("It names no games.", place=place, remedy=remedy)
    if not found:
        raise InputError("It has no games.", place=place, remedy="Give it one, or remove the variant.")
    return found


def _games_of_store(store: Store, games: Sequence[str]) -> Run:
    originals = store.transcripts.originals(games)

    def load(transcript_id: str) -> tuple[Transcript, Mapping[str, MetricScore], dict[str, str], str]:
        with store.unit():
            transcript = store.transcripts.get(transcript_id)
            scores = store.results.metric_scores(transcript_id=transcript_id)[transcript_id]
        return transcript, scores, player_personas(store, transcript), originals.get(transcript_id, "")

    return stored_games(load)


def iterations_test(before: str, after: str, target: str | None = None) -> str:
    """A configuration, as YAML, that compares the games of two iterations on the scores that are computed.

    Args:
        before: Name of the earlier iteration.
        after: Name of the later one.
        target: The metric that the change was made for, which decides; coherence where none of them was named.
    """
    text = (files("evaluation.experiments") / "ab_iterations.yaml").read_text("utf-8")
    is_known = target is not None and DEFINITIONS[target].scale == PERCENT
    primary = f"primary: {target}" if is_known else f"# primary: not chosen, so it is {COHERENCE.name}"
    measures = "\n".join(f"  {name}: higher" for name, one in DEFINITIONS.items() if one.scale == PERCENT)
    # JSON is YAML, so a name in quotes stays what it is.
    names = {"name": f"{before} and {after}", "before": before, "after": after}
    quoted = {key: json.dumps(name, ensure_ascii=False) for key, name in names.items()}
    return Template(text).substitute(quoted, measures=measures, primary=primary)
