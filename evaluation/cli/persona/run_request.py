"""Turn the options of ``dramaturg persona`` into a request, run it with its progress, and name its folders."""

from __future__ import annotations

from pathlib import Path

from evaluation.cli.persona.options import Mode, RecordMode, Sample, Source
from evaluation.cli.shared.options import JudgeChoice
from evaluation.cli.shared.terminal import TerminalProgress, note
from evaluation.errors import InputError
from evaluation.files.bundled import proposition_roots
from evaluation.judging.judge_config import SETTINGS_KEY, JudgeConfig, judge_config
from evaluation.judging.judges.scripted import NOTE, SCRIPTED_MODEL
from evaluation.judging.model_client.budget import Budget, spent_words
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.propositions.proposition import Dimension
from evaluation.judging.questions import Options
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.persona.results import DIMENSIONS
from evaluation.persona.subjects import Period
from evaluation.store import Store
from evaluation.workflows.persona_runs import (
    PersonaRunRequest,
    Rated,
    Wrap,
    recorded_model,
    requests_of,
    run_personas,
    told_of_names,
    unrecorded,
)


def persona_request(
    store: Store, source: Source, sample: Sample, judge: JudgeChoice, period: Period, wrap: Wrap | None = None
) -> PersonaRunRequest:
    """The request that the options make; who judges is told to the person.

    Args:
        store: Holds the judge's settings.
        source: Where answers come from.
        sample: Agents, dimensions and messages.
        judge: The model and its limits; for an estimate neither a key nor a server is needed.
        period: Only messages of that time count.
        wrap: Put around the judge of every agent.

    Raises:
        InputError: A value is not usable, or the recordings are of several models.
        JudgeError: A live judge cannot be reached.
    """
    mode = source.mode
    config = _judge_config(store, mode, judge, source.recordings)
    options = Options(is_batched=sample.is_batched, has_double_check=sample.has_double_check)
    plan = EvaluationPlan(_dimensions(sample.dimensions), sample.size, sample.seed, period, options)
    return PersonaRunRequest(
        config,
        plan,
        PropositionLibrary.load(proposition_roots(sample.propositions)),
        sample.agents,
        str(Mode.OFFLINE if mode is RecordMode.SCRIPTED else mode),
        "synthetic" if mode is Mode.SYNTHETIC else "transcripts",
        source.with_simulated,
        wrap,
    )


def run_with_progress(store: Store, request: PersonaRunRequest) -> list[Rated]:
    """All evaluations with the ids of their runs; progress goes to standard error."""
    if warning := unrecorded(store, request):
        note(warning)
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


_JUDGES: dict[Mode | RecordMode, str] = {
    Mode.MOCK: "recorded",
    Mode.LIVE: "live",
    Mode.SYNTHETIC: "live",
    Mode.OFFLINE: "offline",
    RecordMode.LIVE: "live",
    RecordMode.SCRIPTED: "offline",
}


def _judge_config(store: Store, mode: Mode | RecordMode, judge: JudgeChoice, recordings: Path | None) -> JudgeConfig:
    """The judge's configuration. Without ``model``, recordings are played of the one that made them."""
    options = {"mode": _JUDGES[mode], "recordings": recordings, **judge.config}
    config = judge_config(options, stored=store.settings.get(SETTINGS_KEY))
    if mode is Mode.MOCK and not judge.config["model"]:
        config = config.model_copy(update={"model": recorded_model(config)})
    _say_who_judges(config, is_scripted=mode is RecordMode.SCRIPTED)
    if config.mode == "live" and not judge.is_estimate:
        from evaluation.judging.judge_config import probe

        probe(config)
    return config


def _say_who_judges(config: JudgeConfig, *, is_scripted: bool) -> None:
    if is_scripted:
        note(NOTE)
    elif config.mode == "offline":
        note(
            "No language model judges: fluency, consistency and voice distinctness are counted, adherence and ideas "
            "are not scored. For a model, set OPENAI_API_KEY or give --base-url, and --mode live."
        )
    elif config.mode == "recorded":
        note(f"Recorded answers of {config.model} are played back; no model is asked.")
        if config.model == SCRIPTED_MODEL:
            note(NOTE)
    else:
        note(f"{config.model} judges{f' at {config.base_url}' if config.base_url else ''}.")


def baseline_folder(folder: Path | None) -> Path:
    """The folder to which baselines are written.

    Raises:
        InputError: None was named: the shipped ones are written over only where somebody names their folder.
    """
    if folder is None:
        raise InputError("Baselines need a place.", remedy="Name a folder with --baselines.")
    return folder
