"""Evaluate agents as the options of ``dramaturg persona`` say: scores, comparisons, baselines and recordings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evaluation.cli._persona_options import (
    Mode,
    Source,
    sample_options,
    source_options,
)
from evaluation.cli.exit_codes import GATE_FAILED, INFRASTRUCTURE
from evaluation.cli.options import JudgeChoice, OutputFormat, judge_options, listed_names, open_store
from evaluation.cli.rendering import print_json_list
from evaluation.cli.terminal import TerminalProgress, note, say, say_json, table
from evaluation.errors import InputError
from evaluation.escaping import shortened
from evaluation.files.bundled import proposition_roots
from evaluation.harness.pull_request_comment import HEADERS, comparison_markdown, row_cells, row_remarks
from evaluation.harness.regression import (
    FAILURES,
    BaselineComparison,
    RegressionOutcome,
    read_baselines,
    row_words,
)
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, judge_config, probe
from evaluation.judging.judges_without_model import RecordingJudge
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension
from evaluation.judging.questions import Options
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.persona.subjects import ALWAYS, Period
from evaluation.store import Store
from evaluation.text.display import picked_data
from evaluation.workflows.persona_runs import (
    PersonaRunRequest,
    Rated,
    Wrap,
    compare_with_baselines,
    estimate_personas,
    known_baselines,
    recorded_model,
    requests_of,
    run_personas,
    told_of_names,
    write_baselines,
)

if TYPE_CHECKING:
    from evaluation.persona.evaluation import DimensionScore, PersonaEvaluation


_Evaluated = tuple[PersonaRunRequest, list[Rated]]


def run_evaluations(
    output: OutputFormat,
    period: Period = ALWAYS,
    *,
    max_drop: float,
    requires_baseline: bool,
    is_comparison: bool = False,
) -> None:
    """Evaluates, prints the scores, and ends with the exit code of the comparison with the baselines.

    ``is_comparison`` prints every score beside its baseline in their place.
    """
    source = source_options.value()
    known = known_baselines(source.baselines)
    if done := _evaluate(source, period):
        comparison = compare_with_baselines(*done, known, max_drop, requires_baseline=requires_baseline)
        if is_comparison:
            _print_comparison(comparison, output)
        else:
            _print_scores(done[1], comparison, output, source.mode)
        _finish(comparison)


def make_baselines() -> None:
    """Evaluates, prints every score beside the baseline that it replaces, and writes the new baselines.

    Raises:
        InputError: No folder was named: the shipped ones are written over only where somebody names their folder.
    """
    source = source_options.value()
    if source.baselines is None:
        raise InputError("Baselines need a place.", remedy="Name a folder with --baselines.")
    before = read_baselines(source.baselines)
    if not (done := _evaluate(source)):
        return
    comparison = compare_with_baselines(*done, before)
    _print_comparison(comparison, "table")
    if comparison.verdict == "error":
        note("No baseline was written.")
        _finish(comparison)
    for path in write_baselines(open_store(), *done, source.baselines):
        note(f"Written: {path}")


_NAME_A_FILE = "Name a file that ends in .jsonl, where you may write."


def record_answers(to: Path) -> None:
    """Evaluates with a model, and adds its answers to a file of recordings as they come.

    Raises:
        InputError: The file cannot be written; nobody was asked.
    """
    if to.is_dir():
        raise InputError("The recordings go into one file, and this is a folder.", place=str(to), remedy=_NAME_A_FILE)
    there = next(one for one in (to, *to.absolute().parents) if one.exists())
    if not (there == to or there.is_dir()) or not os.access(there, os.W_OK):
        raise InputError("The recordings cannot be written there.", place=str(to), remedy=_NAME_A_FILE)
    if not (done := _evaluate(Source("live"), wrap=lambda judge: RecordingJudge(judge, to))):
        return
    _print_scores(done[1], None, "table", "live")
    note(f"Recorded: {to}")
    if failed := [item.detail for _, each in done[1] for item in each.items if item.status == "error"]:
        note(f"{len(failed)} judgements failed; the first: {shortened(failed[0], 300)}")
        raise typer.Exit(INFRASTRUCTURE)


def _evaluate(source: Source, period: Period = ALWAYS, wrap: Wrap | None = None) -> _Evaluated | None:
    """The evaluations that the options ask for; ``None`` where they ask for an estimate, which is printed.

    Who judges is told to the person. For an estimate neither a key nor a server is needed.

    Raises:
        InputError: A value is not usable, or the recordings are of several models.
        JudgeError: A live judge cannot be reached.
    """
    store, judge, sample = open_store(), judge_options.value(), sample_options.value()
    config = _judge_config(store, source.mode, judge, source.recordings)
    options = Options(is_batched=not sample.individual, has_double_check=sample.double_check)
    dimensions = _dimensions(listed_names(sample.dimensions))
    plan = EvaluationPlan(dimensions, sample.sample_size, sample.seed, period, options)
    request = PersonaRunRequest(
        config,
        plan,
        PropositionLibrary.load(proposition_roots(sample.propositions)),
        listed_names(sample.agents),
        str(source.mode),
        "synthetic" if source.mode == "synthetic" else "transcripts",
        source.simulated,
        wrap,
    )
    if judge.estimate:
        say(estimate_personas(store, request))
        return None
    return request, _run_with_progress(store, request)


def _print_scores(rated: list[Rated], comparison: BaselineComparison | None, output: OutputFormat, mode: str) -> None:
    if output == "json":
        # Of recordings the output is the same every time; the runs stand under Agents, Runs.
        print_json_list(evaluation_dict(None if mode == "mock" else key, each) for key, each in rated)
    elif output == "markdown" and comparison is not None:
        _print_comparison(comparison, output)
    elif not rated:
        note("There is nobody to evaluate. Name agents with --agents, or 'all' for everybody who is stored.")
    else:
        say(evaluation_table(rated, comparison))


def _print_comparison(comparison: BaselineComparison, output: OutputFormat) -> None:
    if output == "json":
        say_json(comparison.as_dict())
    elif output == "markdown":
        say(comparison_markdown(comparison.as_dict()))
    else:
        say(comparison_table(comparison))


def _finish(comparison: BaselineComparison) -> None:
    """Says on standard error what failed, and ends with the code for it."""
    errors = comparison.having({RegressionOutcome.ERROR})
    for row in [*errors, *comparison.having(FAILURES)]:
        note(f"{row.outcome}: {row_words(row, comparison.max_drop)}")
    if errors:
        raise typer.Exit(INFRASTRUCTURE)
    if comparison.verdict == "nothing_compared":
        note("Nothing was compared: no score could be compared with a baseline.")
    if comparison.has_failed:
        raise typer.Exit(GATE_FAILED)


def _run_with_progress(store: Store, request: PersonaRunRequest) -> list[Rated]:
    """All evaluations with the ids of their runs; progress goes to standard error."""
    for sentence in told_of_names(store, request):
        note(sentence)
    budget = Budget(usd=request.config.max_usd, calls=request.config.max_calls)
    # Of a run that takes no time nobody asks how much is left, and of answers yet to be written nobody knows.
    is_timed = request.config.mode == "live" and request.source != "synthetic"
    total = sum(map(len, requests_of(store, request))) if is_timed else 0
    progress = TerminalProgress("judgement", total=total, spent=lambda: spent_words(budget))
    rated = run_personas(
        store, request, budget=budget, report=lambda _, judgement: progress.advance(judgement.model), announce=note
    )
    progress.finish()
    return rated


def _dimensions(chosen: list[str]) -> tuple[Dimension, ...]:
    """The dimensions of those names, in the specification's order; all for none."""
    for name in chosen:
        if name not in DIMENSIONS:
            raise InputError(f"{name!r} is not a dimension.", remedy=f"Choose from {', '.join(DIMENSIONS)}.")
    return tuple([each for each in DIMENSIONS if not chosen or each in chosen])


def _judge_config(store: Store, mode: Mode, judge: JudgeChoice, recordings: Path | None) -> JudgeConfig:
    """The judge's configuration. Without ``model``, recordings are played of the one that made them."""
    judges = {"mock": "recorded", "synthetic": "live"}
    options = {"mode": judges.get(mode, mode), "recordings": recordings, **judge.config}
    config = judge_config(options, stored=store.settings.get(SETTINGS_KEY))
    if mode == "mock" and not judge.config["model"]:
        config = config.model_copy(update={"model": recorded_model(config)})
    _say_who_judges(config)
    if config.mode == "live" and not judge.estimate:
        probe(config)
    return config


def _say_who_judges(config: JudgeConfig) -> None:
    if config.mode == "offline":
        note(
            "No language model judges: fluency, consistency and voice distinctness are counted, adherence and ideas "
            "are not scored. For a model, set OPENAI_API_KEY or give --base-url, and --mode live."
        )
    elif config.mode == "recorded":
        note(f"Recorded answers of {config.model} are played back; no model is asked.")
    else:
        note(f"{config.model} judges{f' at {config.base_url}' if config.base_url else ''}.")


_LONGEST_NAME = 30
_LONGEST_REASON = 160


def evaluation_table(evaluations: Sequence[Rated], comparison: BaselineComparison | None = None) -> str:
    """Scores 0 to 9 (ideas: a count), one line per agent or channel, and below what has no score and why.

    Args:
        evaluations: In the order of the lines.
        comparison: With baselines; what fell or is gone is said below, with the rule.
    """
    rows = [(shortened(each.agent.display_name, _LONGEST_NAME), *_cells(each)) for _, each in evaluations]
    remarks = [*_remarks(evaluations)]
    if comparison is not None:
        remarks += [f"{row.outcome}: {row_words(row, comparison.max_drop)}" for row in comparison.having(FAILURES)]
        remarks.append(comparison.rule)
    return "\n".join(
        [table(("Agent", *LABELS.values(), "Overall", "Sample", "Judge"), rows), *(f"  {line}" for line in remarks)]
    )


def _cells(evaluation: PersonaEvaluation) -> tuple[str, ...]:
    overall = "n/a" if evaluation.overall_score is None else f"{evaluation.overall_score:.2f}"
    judges = ", ".join(dict.fromkeys(str(kind) for kind, _ in evaluation.judges)) or "none"
    scores = [_cell(evaluation.dimensions.get(each)) for each in DIMENSIONS]
    return (*scores, overall, str(evaluation.sample_size), judges)


def _cell(score: DimensionScore | None) -> str:
    """A score; with the one without marked nines where these change it; empty where the dimension does not apply."""
    if score is None:
        return ""
    if score.score is None:
        return "n/a"
    digits = 1 if score.dimension is Dimension.IDEAS_QUANTITY else 2
    shown = f"{score.score:.{digits}f}"
    without = "" if score.score_without_marked is None else f"{score.score_without_marked:.{digits}f}"
    return shown if without in ("", shown) else f"{shown} ({without} without 9s)"


def _remarks(evaluations: Sequence[Rated]) -> Iterator[str]:
    for _, evaluation in evaluations:
        for score in evaluation.dimensions.values():
            name = f"{evaluation.agent.display_name}, {score.dimension}"
            if score.score is None:
                yield shortened(f"{name}: not scored: {score.reason}", _LONGEST_REASON)
            elif score.unscored:
                why = score.unscored[0].detail
                yield shortened(
                    f"{name}: {len(score.unscored)} of {len(score.items)} not scored: {why}", _LONGEST_REASON
                )
            if score.marked and score.score is not None:
                yield shortened(
                    f"{name}: {score.marked} of {len(score.items)} are 9s for missing data or a precondition that does "
                    "not hold",
                    _LONGEST_REASON,
                )


def comparison_table(comparison: BaselineComparison) -> str:
    """Every score beside its baseline, and below what fell, what is gone and what is new."""
    rows = comparison.as_dict()["rows"]
    remarks = [line for row in rows for line in row_remarks(row, shortened)]
    cells = [row_cells(row, shortened) for row in rows]
    return "\n".join([table(HEADERS, cells), *(f"  {line}" for line in (*remarks, comparison.rule))])


def evaluation_dict(run_id: str | None, evaluation: PersonaEvaluation) -> dict[str, Any]:
    """An evaluation with everything behind it, as the JSON output shows it; without a run's id where none is told."""
    period, used = evaluation.period, evaluation.usage
    return {
        "run_id": run_id,
        "agent": {
            "id": evaluation.agent.id,
            "name": evaluation.agent.display_name,
            "kind": str(evaluation.agent.kind),
        },
        **picked_data(evaluation, "overall_score", "sample_size", "seed"),
        "dimensions": {str(key): _dimension_dict(each) for key, each in evaluation.dimensions.items()},
        "window_start": period.since.isoformat() if period.since else None,
        "window_end": period.until.isoformat() if period.until else None,
        "judges": [{"kind": str(kind), "model": model} for kind, model in evaluation.judges],
        "token_usage": {
            "input_tokens": round(used.input_tokens),
            "output_tokens": round(used.output_tokens),
            "cached_tokens": round(used.cached_tokens),
            "cost_usd": used.known_usd,
        },
    }


def _dimension_dict(score: DimensionScore) -> dict[str, Any]:
    return {
        **picked_data(score, "score", "score_without_marked", "marked", "reason"),
        "unscored": len(score.unscored),
        "items": [item.as_dict() for item in score.items],
    }
