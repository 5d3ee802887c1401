"""``dramaturg insights``: activity, who addresses whom, cost, and what a judge says of one game."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.exit_codes import INFRASTRUCTURE
from evaluation.cli.options import (
    JudgeMode,
    OutputFormat,
    TranscriptReference,
    judge_options,
    open_store,
    print_config_option,
)
from evaluation.cli.terminal import note, say, say_json, table
from evaluation.escaping import safe

if TYPE_CHECKING:
    from evaluation.insight.evaluation_report import EvaluationReport
    from evaluation.insight.validator import EvaluationConfig
    from evaluation.judging.judge_config import JudgeConfig
    from evaluation.store import Store


@judge_options
def insights(
    transcript: TranscriptReference,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="A table to read, JSON for programs, or Markdown.")
    ] = "table",
    checks: Annotated[
        bool, typer.Option("--checks", help="Have a judge check a sample of messages: persona, consistency, coherence.")
    ] = False,
    topic: Annotated[str | None, typer.Option(metavar="TEXT", help="Extract each player's opinion on this.")] = None,
    themes: Annotated[bool, typer.Option("--themes", help="Extract the recurring themes.")] = False,
    quotes: Annotated[str | None, typer.Option(metavar="TEXT", help="Extract the quotes that fit this.")] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Thresholds, limits and sample; see --print-config.")
    ] = None,
    print_config: Annotated[  # noqa: ARG001 - its callback acts
        bool, print_config_option("evaluation.insight", "evaluation.yaml")
    ] = False,
    mode: JudgeMode = None,
) -> None:
    """Show who talks how much, who addresses whom, what a game cost, and what its figures suggest looking at.

    What the file does not say is "not known" (null in JSON), never 0. Checks, opinions, themes and quotes ask a model
    and may cost money, and their answers are stored; without a key they are "not scored". Exits with 3 when an answer
    could not be used.
    """
    import asyncio  # slow to import, and help needs none

    from evaluation.insight.evaluation_report import Wanted
    from evaluation.judging.judge_config import build_judge
    from evaluation.judging.live_judge import NOTHING_ASKED
    from evaluation.workflows.judging import estimate_insights, insight_report

    store, asked = open_store(), judge_options.value()
    settings = _settings(config)
    wanted = Wanted(checks=checks, topic=topic, themes=themes, criteria=quotes)
    with store.unit():
        game = store.transcripts.get(store.transcripts.resolve(transcript))
    # What a model would cost is asked most before there is a key.
    options = {"mode": mode or ("live" if asked.is_estimate else None), **asked.config}
    judged_by = None if wanted.is_nothing else _judge_config(store, settings if config else None, options)
    if asked.is_estimate:
        if judged_by is None or judged_by.mode != "live":
            say(NOTHING_ASKED)
        else:
            say(estimate_insights(store, [game.id], wanted, settings, judged_by).words)
        return
    chosen = None if judged_by is None else build_judge(judged_by, cache=store.judgements)

    async def ask() -> EvaluationReport:
        async with chosen.session() if chosen else nullcontext():
            return await insight_report(store, game, chosen, wanted, settings)

    report = asyncio.run(ask())
    _print(report, output)
    if report.has_errors:
        note("Some answers could not be used; the report names them.")
        raise typer.Exit(INFRASTRUCTURE)


def _settings(path: Path | None) -> EvaluationConfig:
    from evaluation.files.yaml_files import read_model
    from evaluation.insight.validator import EvaluationConfig

    return EvaluationConfig() if path is None else read_model(path, EvaluationConfig)


def _judge_config(store: Store, settings: EvaluationConfig | None, options: dict[str, Any]) -> JudgeConfig:
    """The judge: options before the file before the environment before stored settings."""
    from evaluation.judging.judge_config import SETTINGS_KEY, judge_config

    if settings is not None:
        options["model"] = options["model"] or settings.judge_model
        options["max_usd"] = settings.max_usd if options["max_usd"] is None else options["max_usd"]
    return judge_config(options, store.settings.get(SETTINGS_KEY))


def _print(report: EvaluationReport, output: OutputFormat) -> None:
    if output == "json":
        say_json(report.as_dict())
    elif output == "table":
        say("\n".join(_lines(report)))
    else:
        from evaluation.insight.report_sections import discussion_markdown

        say(discussion_markdown(report))


def _lines(report: EvaluationReport) -> Iterator[str]:
    from evaluation.insight.report_sections import Table, document

    yield safe(report.transcript["game_id"])
    for section in document(report):
        yield f"\n{section.heading}\n"
        for block in section.blocks:
            if isinstance(block, Table):
                yield table(block.headers, block.rows)
            elif isinstance(block, list):
                yield from (f"- {safe(str(one))}" for one in block)
            else:
                yield str(block)
