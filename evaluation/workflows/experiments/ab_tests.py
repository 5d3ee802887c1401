"""Run an A/B test on stored games, on numbers in its file, or on simulated games, and store its result."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluation.corrections.config import read_config
from evaluation.errors import InputError
from evaluation.experiments.ab.config import ABConfig
from evaluation.experiments.ab.preconditions import check_runs, check_test
from evaluation.experiments.ab.progress import FinishedRuns
from evaluation.experiments.ab.results import ABTestResult
from evaluation.experiments.ab.runner import ExperimentRunner, JudgeIdentity, Run, Told, plan
from evaluation.experiments.ab.simulation import read_run, simulated_games
from evaluation.experiments.ab.sources import given_metrics, stored_games
from evaluation.experiments.estimate import Estimate, corrections_per_message
from evaluation.insight.checks.questions import CheckKind
from evaluation.judging.judge_config import (
    SETTINGS_KEY,
    ChosenJudge,
    JudgeConfig,
    build_client,
    build_estimate,
    build_judge,
    judge_config,
    price_of,
)
from evaluation.judging.judges.cached import CallBuffer
from evaluation.judging.judges.estimating import NOTHING_ASKED
from evaluation.judging.model_client.calls import CallLog, CallRecord
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.protocol import JudgeKind
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.transcript import Transcript
from evaluation.workflows.agents import player_personas


def run_ab_test(
    store: Store,
    test: ABConfig,
    finished_runs: Path,
    options: Mapping[str, Any],
    report: Told,
) -> ABTestResult:
    """Runs what is left of an A/B test, and stores the result.

    Args:
        store: Where games are read, and where simulated ones and the result go.
        test: What is compared.
        finished_runs: The file with the runs that are done, to which others are added.
        options: Mode, model, address and limits of the judge as a person chose them; ``None`` for those not given.
        report: Told of every run.

    Raises:
        InputError: A key is misspelt, a variant has no runs, no run can have a measure, or runs cannot be simulated for
            want of a model. Nothing was run then.
    """
    check_test(test)
    test = _within(test, options)
    judged = CallBuffer()
    config = _judge_config(store, test, options)
    judge = build_judge(config, cache=store.judgements, log=judged.add)
    asked = _asked(store, test, judge, options, config)
    source, run = _source(store, test, judge, judged, options)

    async def compare() -> ABTestResult:
        async with judge.session():
            runner = ExperimentRunner(
                source,
                run,
                judge=judge if test.source != "metrics" else None,
                spent=lambda: judge.budget.known_usd,
                progress=FinishedRuns(finished_runs),
                asked=asked,
            )
            return await runner.run_ab_test(report)

    result = replace(asyncio.run(compare()), finished_at=datetime.now(UTC).isoformat(timespec="seconds"))
    store.experiments.keep_ab_test(test.model_dump(mode="json"), result.as_dict())
    return result


def estimate_ab_test(store: Store, test: ABConfig, finished_runs: Path, options: Mapping[str, Any]) -> str:
    """The calls that ``run_ab_test`` would make and what they would cost, in a sentence; arguments as there.

    Of stored games they are counted, of simulated ones they are the fewest and the most.

    Raises:
        InputError: As ``run_ab_test``.
    """
    check_test(test)
    test = _within(test, options)
    config = _judge_config(store, test, options)
    judge = build_judge(config, cache=store.judgements)
    progress, asked = FinishedRuns(finished_runs), _asked(store, test, judge, options, config)
    source, run = _source(store, test, judge, CallBuffer(), options)
    if test.source == "simulation":
        runner = ExperimentRunner(source, run, judge=judge, progress=progress, asked=asked)
        return _simulation_estimate(store, test, runner, config, options)
    if test.source == "metrics" or config.mode != "live" or not test.checks:
        return NOTHING_ASKED

    async def count() -> str:
        told = []
        for member in config.members:
            counting = await build_estimate(member, store.judgements)
            await ExperimentRunner(source, run, judge=counting, progress=progress, asked=asked).run_ab_test()
            told.append(counting.words)
        return "\n".join(told)

    return asyncio.run(count())


def _simulation_estimate(
    store: Store, test: ABConfig, runner: ExperimentRunner, config: JudgeConfig, options: Mapping[str, Any]
) -> str:
    """The messages of the runs that are left, and at most everything that gate, interventions and checks may ask."""
    library, left = PropositionLibrary.load(), runner.waiting()
    messages = judged = 0
    models = {member.model for member in config.members}
    for one in left:
        settings = read_run(one.config)
        said = len(settings.personas) * settings.steps
        messages += said
        judged += said * corrections_per_message(read_config(settings.corrections), library)
        checked = math.ceil(said * test.evaluation.validation_sampling_rate) * len(CheckKind)
        judged += min(checked, test.evaluation.max_validation_calls) if test.checks else 0
        models.add(_speaker_config(store, settings.model, options).model)
    price = price_of(config) if len(models) == 1 else None
    found = Estimate(0, messages, len(config.members) * judged, 0, price)
    return f"{counted(len(left), 'run')} left; {found.words}"


def _within(test: ABConfig, options: Mapping[str, Any]) -> ABConfig:
    """The test with the lower one of its own budget and a person's."""
    limits = [limit for limit in (test.max_usd, options.get("max_usd")) if limit is not None]
    return test.model_copy(update={"max_usd": min(limits, default=None)})


def _judge_config(store: Store, test: ABConfig, options: Mapping[str, Any]) -> JudgeConfig:
    """The judge: options before the file, where it says anything of judging, before environment and settings."""
    limits = [limit for limit in (_within(test, options).max_usd, test.evaluation.max_usd) if limit is not None]
    chosen = {**options, "model": options["model"] or test.evaluation.judge_model, "max_usd": min(limits, default=None)}
    return judge_config(chosen, store.settings.get(SETTINGS_KEY))


def _speaker_config(store: Store, model: str | None, options: Mapping[str, Any]) -> JudgeConfig:
    """The model that speaks: that of the run, else the one in force."""
    chosen = {**options, "mode": "live", "model": model or options["model"]}
    return judge_config(chosen, store.settings.get(SETTINGS_KEY))


def _asked(
    store: Store, test: ABConfig, judge: ChosenJudge, options: Mapping[str, Any], config: JudgeConfig
) -> JudgeIdentity:
    """The models that the runs ask; empty for numbers in the file."""
    if test.source == "metrics":
        return JudgeIdentity()
    return JudgeIdentity(
        judge=f"{judge.kind} {judge.model}",
        speaker=_speaker_config(store, None, options).model if test.source == "simulation" else "",
        server=config.base_url or "" if judge.kind is JudgeKind.LIVE else "",
    )


def _source(
    store: Store, test: ABConfig, judge: ChosenJudge, judged: CallBuffer, options: Mapping[str, Any]
) -> tuple[ABConfig, Run]:
    """The source of the runs; the games of an iteration are listed one by one, as the runner needs them."""
    if test.source == "metrics":
        return test, given_metrics
    if test.source == "transcripts":
        named = {name: {"runs": _games(store, name, variant)} for name, variant in test.variants.items()}
        listed = test.model_copy(update={"variants": named, "base": {}})
        check_runs(listed, plan(listed))
        return listed, _games_of_store(store)
    return test, _simulation(store, judge, judged, options)


def _simulation(store: Store, judge: ChosenJudge, judged: CallBuffer, options: Mapping[str, Any]) -> Run:
    """Simulated runs whose games are stored; they draw on the judge's budget."""
    if judge.kind is not JudgeKind.LIVE:
        remedy = "Set OPENAI_API_KEY or OPENAI_BASE_URL, or take transcripts or metrics as the source."
        raise InputError("Agents need a model to speak, and there is no key or address.", remedy=remedy)

    def connect(model: str | None, log: CallLog) -> LLMClient:
        return build_client(_speaker_config(store, model, options), budget=judge.budget, log=log)

    def keep(transcript: Transcript, calls: Sequence[CallRecord]) -> None:
        with store.unit(write=True):
            store.transcripts.add(transcript, source_name="A/B test")
            store.llm_calls.add(calls)

    return simulated_games(connect, judge, PropositionLibrary.load(), keep, judged)


def _games(store: Store, name: str, variant: Mapping[str, Any]) -> list[str]:
    with store.unit():
        if isinstance(variant.get("iteration"), str) and len(variant) == 1:
            return store.transcripts.ids(variant["iteration"])
        if isinstance(variant.get("transcripts"), list) and len(variant) == 1:
            return [store.transcripts.resolve(str(one)) for one in variant["transcripts"]]
    remedy = "Write iteration: NAME, or transcripts: [ID, ...]."
    raise InputError("It names no games.", place=f"variants.{name}", remedy=remedy)


def _games_of_store(store: Store) -> Run:
    def load(transcript_id: str) -> tuple[Transcript, dict[str, float | None], dict[str, str]]:
        with store.unit():
            transcript = store.transcripts.get(transcript_id)
            scores = {name: one.score for name, one in store.results.load(transcript_id).items()}
        return transcript, scores, player_personas(store, transcript)

    return stored_games(load)
