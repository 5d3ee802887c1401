"""``dramaturg ab``: variants of a configuration against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.shared.exit_codes import INFRASTRUCTURE
from evaluation.cli.shared.options import (
    BaseUrl,
    Concurrency,
    Database,
    JudgeMode,
    JudgeModel,
    MaxCalls,
    OutputFormat,
    TextFormat,
    Timeout,
    open_store,
    print_config_option,
)
from evaluation.cli.shared.terminal import TerminalProgress, code, markdown_table, note, safe, say, table

if TYPE_CHECKING:
    from evaluation.experiments.ab.config import ABConfig
    from evaluation.experiments.ab.results import ABTestResult, StatisticalComparison
    from evaluation.experiments.ab.runner import JudgeIdentity, Run
    from evaluation.judging.judge_config import ChosenJudge, JudgeConfig
    from evaluation.judging.judges.cached import CallBuffer
    from evaluation.judging.model_client.calls import CallLog, CallRecord
    from evaluation.judging.model_client.language_model import LLMClient
    from evaluation.store import Store
    from evaluation.transcript import Transcript


def ab(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", show_default=False, help="The test, in YAML; see --print-config.")
    ],
    output: TextFormat = OutputFormat.TABLE,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="Where runs are kept; beside CONFIG when left out."),
    ] = None,
    print_config: Annotated[  # noqa: ARG001 - its callback acts
        bool, print_config_option("evaluation.experiments.ab", "ab.yaml")
    ] = False,
    mode: JudgeMode = None,
    model: JudgeModel = None,
    base_url: BaseUrl = None,
    max_calls: MaxCalls = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    db: Database = None,
) -> None:
    """Compare variants of a configuration: on stored games, on numbers that you have, or on simulated runs.

    A winner is named only where its difference on the primary measure is significant after Holm's adjustment over all
    comparisons, and more than 10 % (or what the file says) of the larger mean. Runs that are done are kept: run it
    again to go on where a limit or a crash stopped it. Exits with 3 when runs failed.
    """
    import asyncio  # slow to import, and help needs none

    from evaluation.experiments.ab.config import ABConfig
    from evaluation.files.yaml_models import read_model

    test = read_model(config, ABConfig)
    store = open_store(db)
    place = state or config.with_suffix(".runs.jsonl")
    options = {
        "mode": mode,
        "model": model,
        "base_url": base_url,
        "max_calls": max_calls,
        "concurrency": concurrency,
        "timeout_seconds": timeout,
    }
    result = asyncio.run(_result(store, test, place, options))
    store.experiments.keep_ab_test(test.model_dump(mode="json"), result.as_dict())
    _say(result, output)
    if result.skipped:
        note(f"{result.skipped} runs wait for a new budget. Raise the limit, or run it again.")
    if result.failed:
        raise typer.Exit(INFRASTRUCTURE)


async def _result(store: Store, test: ABConfig, place: Path, options: Mapping[str, Any]) -> ABTestResult:
    from evaluation.experiments.ab import progress as ab_progress
    from evaluation.experiments.ab.runner import ExperimentRunner
    from evaluation.judging.judge_config import build_judge
    from evaluation.judging.judges.cached import CallBuffer

    judged = CallBuffer()
    config = _judge_config(store, test, options)
    judge = build_judge(config, cache=store.judgements, log=judged.add)
    asked = _asked(store, test, judge, options, config)
    test, run = _source(store, test, judge, judged, options)
    progress = TerminalProgress("run")
    async with judge.session():
        runner = ExperimentRunner(
            test,
            run,
            judge=judge if test.source != "metrics" else None,
            spent=lambda: judge.budget.known_usd,
            progress=ab_progress.FinishedRuns(place),
            asked=asked,
        )
        found = await runner.run_ab_test(
            lambda one: progress.advance(f"{one.variant} {one.run_index + 1}: {one.status}")
        )
    progress.finish()
    return found


def _judge_config(store: Store, test: ABConfig, options: Mapping[str, Any]) -> JudgeConfig:
    """The judge: options before the file, where it says anything of judging, before environment and settings."""
    from evaluation.judging.judge_config import SETTINGS_KEY, judge_config

    limits = [limit for limit in (test.max_usd, test.evaluation.max_usd) if limit is not None]
    chosen = {**options, "model": options["model"] or test.evaluation.judge_model, "max_usd": min(limits, default=None)}
    return judge_config(chosen, store.settings.get(SETTINGS_KEY))


def _speaker_config(store: Store, model: str | None, options: Mapping[str, Any]) -> JudgeConfig:
    """The model that speaks: that of the run, else the one in force."""
    from evaluation.judging.judge_config import SETTINGS_KEY, judge_config

    chosen = {**options, "mode": "live", "model": model or options["model"]}
    return judge_config(chosen, store.settings.get(SETTINGS_KEY))


def _asked(
    store: Store, test: ABConfig, judge: ChosenJudge, options: Mapping[str, Any], config: JudgeConfig
) -> JudgeIdentity:
    """The models that the runs ask; empty for numbers in the file."""
    from evaluation.experiments.ab.runner import JudgeIdentity

    if test.source == "metrics":
        return JudgeIdentity()
    return JudgeIdentity(
        judge=f"{judge.kind} {judge.model}",
        speaker=_speaker_config(store, None, options).model if test.source == "simulation" else "",
        server=config.base_url or "" if judge.client else "",
    )


def _source(
    store: Store, test: ABConfig, judge: ChosenJudge, judged: CallBuffer, options: Mapping[str, Any]
) -> tuple[ABConfig, Run]:
    """The source of the runs; the games of an iteration are listed one by one, as the runner needs them.

    Raises:
        InputError: A variant names no runs, or runs cannot be simulated for want of a model.
    """
    from evaluation.experiments.ab.sources import check_numbers, given_metrics, stored_games

    if test.source == "metrics":
        check_numbers(test)
        return test, given_metrics
    if test.source == "transcripts":
        named = {name: {"runs": _games(store, name, variant)} for name, variant in test.variants.items()}
        return test.model_copy(update={"variants": named, "base": {}}), stored_games(_loader(store))
    return test, _simulation(store, judge, judged, options)


def _simulation(store: Store, judge: ChosenJudge, judged: CallBuffer, options: Mapping[str, Any]) -> Run:
    """Simulated runs whose games are stored; they draw on the judge's budget.

    Raises:
        InputError: There is no model to speak.
    """
    from evaluation.errors import InputError
    from evaluation.experiments.ab.simulation import simulated_games
    from evaluation.judging.judge_config import build_client
    from evaluation.judging.propositions.loading import PropositionLibrary

    if judge.client is None:
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
    from evaluation.errors import InputError

    place = f"variants.{name}"
    with store.unit():
        if isinstance(variant.get("iteration"), str) and len(variant) == 1:
            store.iterations.get(variant["iteration"])
            return [str(one) for one in store.transcripts.summaries(variant["iteration"])["transcript_id"]]
        if isinstance(variant.get("transcripts"), list) and len(variant) == 1:
            return [store.transcripts.resolve(str(one)) for one in variant["transcripts"]]
    raise InputError("It names no games.", place=place, remedy="Write iteration: NAME, or transcripts: [ID, ...].")


def _loader(store: Store) -> Any:
    from evaluation.workflows.agents import player_personas

    def load(transcript_id: str) -> tuple[Transcript, dict[str, float | None], dict[str, str]]:
        with store.unit():
            transcript = store.transcripts.get(transcript_id)
            scores = {name: one.score for name, one in store.results.load(transcript_id).items()}
        return transcript, scores, player_personas(store, transcript)

    return load


def _say(result: ABTestResult, output: OutputFormat) -> None:
    if output is OutputFormat.JSON:
        from evaluation.escaping import json_text

        say(json_text(result.as_dict()))
    else:
        say("\n".join(_lines(result, is_markdown=output is OutputFormat.MARKDOWN)))


def _lines(result: ABTestResult, *, is_markdown: bool) -> Iterator[str]:
    words, draw, mark = (code, markdown_table, "## ") if is_markdown else (safe, table, "")
    yield f"{mark}{words(result.name)}\n"
    rows = []
    for name, one in result.variants.items():
        done = sum(run.status == "done" for run in one.runs)
        means = [_number(one.avg_metrics[measure]) for measure in one.avg_metrics]
        rows.append((words(name), f"{done} of {len(one.runs)}", *means))
    measures = next(iter(result.variants.values())).avg_metrics
    yield draw(("Variant", "Runs", *(words(measure) for measure in measures)), rows)
    yield ""
    yield draw(_HEADERS, [_comparison(one, words) for one in result.comparisons])
    yield f"\n{words(result.recommendation)}"
    yield from (f"- {words(reason)}" for reason in result.reasons)
    spent = "not known" if result.spent_usd is None else f"{result.spent_usd:.4f} USD"
    yield f"\nSpent: {spent}."
    for variant in result.variants.values():
        failed = [run for run in variant.runs if run.status == "failed"]
        yield from (f"- failed: {words(f'{run.variant} {run.run_index + 1}: {run.detail}')}" for run in failed)


_HEADERS = ("Measure", "A", "B", "Mean of A", "Mean of B", "B less A", "p", "Holm", "Significant", "Practical")


def _comparison(one: StatisticalComparison, words: Any) -> tuple[str, ...]:
    from evaluation.statistics.words import p_words

    return (
        words(one.metric_name),
        words(one.variant_a),
        words(one.variant_b),
        _number(one.mean_a),
        _number(one.mean_b),
        _number(one.difference),
        p_words(one.p_value),
        p_words(one.p_holm),
        _yes(one.significant),
        _yes(one.practical_difference),
    )


def _number(value: float | None) -> str:
    return "not known" if value is None or math.isnan(value) else f"{value:.4g}"


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "untestable"}[value]
