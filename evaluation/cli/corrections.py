"""``dramaturg corrections``: what the gate did to messages, and what is corrected for each agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.exit_codes import command_group
from evaluation.cli.options import ListFormat, Rows, open_store
from evaluation.cli.terminal import note, say, say_json, shortened, table

if TYPE_CHECKING:
    from evaluation.corrections.config import CorrectionConfig
    from evaluation.corrections.gate import Attempt, LoggedMessage
    from evaluation.corrections.statistics import FailureRate
    from evaluation.store.corrections import Corrections

app = command_group("See what the gate did to messages before they were sent; say what is corrected for an agent.")

Agent = Annotated[
    str | None, typer.Option("--agent", metavar="AGENT", help="Only this agent's messages, by its id or name.")
]

Run = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="Only messages of this run or experiment, by its id or first digits."),
]

_SHORT_ID = 8
_TEXT_LENGTH = 60


@app.command("list")
def list_messages(
    agent: Agent = None,
    run: Run = None,
    limit: Annotated[int, typer.Option(min=1, help="The latest so many.")] = 50,
    stats: Annotated[
        bool,
        typer.Option("--stats", help="Instead count outcomes, and how often texts fall short in each check."),
    ] = False,
    output: Rows = ListFormat.TABLE,
) -> None:
    """List the latest messages that were checked, newest first; as JSON with all attempts, scores and reasons."""
    from evaluation.workflows.agents import KnownAgents

    store = open_store()
    corrections = store.corrections
    agent = agent and KnownAgents.of(store).resolve(agent, with_silent=True)
    if stats:
        _say_statistics(corrections, agent, run, output)
        return
    found = corrections.messages(agent, run=run, limit=limit)
    if output is ListFormat.JSON:
        say_json([_message(one) for one in found])
        return
    rows = [
        [
            one.id[:_SHORT_ID],
            f"{one.at:%Y-%m-%d %H:%M:%S}",
            shortened(one.result.agent, 20),
            one.run[:_SHORT_ID] or "-",
            one.outcome if one.was_sent else f"{one.outcome}, nothing sent",
            len(one.result.attempts),
            shortened(one.result.text or "(nothing sent)", _TEXT_LENGTH),
        ]
        for one in found
    ]
    say(table(("Id", "When (UTC)", "Agent", "Run", "Outcome", "Attempts", "Sent"), rows))


def _say_statistics(corrections: Corrections, agent: str | None, run: str | None, output: ListFormat) -> None:
    from evaluation.corrections.statistics import OUTCOME_MEANINGS, failure_rates, gate_statistics, statistics_words

    results = [one.result for one in corrections.messages(agent, run=run)]
    statistics, rates = gate_statistics(results), failure_rates(results)
    outcomes = statistics.outcomes
    if output is ListFormat.JSON:
        say_json(
            {
                "messages": len(results),
                "outcomes": {str(name): count for name, count in outcomes.items()},
                "original_success_rate": statistics.original_success_rate,
                "retries": statistics.retries,
                "regeneration_failure_rate": statistics.regeneration_failure_rate,
                "mean_total": statistics.mean_total,
                "calls_per_message": statistics.calls_per_message,
                "usd_per_message": statistics.usd_per_message,
                "breaker_open": statistics.breaker_open,
                "checks": [_rate(one) for one in rates],
            }
        )
        return
    say(f"The latest {len(results):,} of {corrections.count(agent):,} checked messages.\n")
    say(
        table(("Outcome", "Messages", "Meaning"), [(each, outcomes[each], OUTCOME_MEANINGS[each]) for each in outcomes])
    )
    say("\n" + table(("Statistic", "Value"), statistics_words(statistics)))
    if rates:
        headers = ("Check", "Texts", "Below", "Judged", "95 % interval", "Mean", "No answer")
        say("\n" + table(headers, [_rate_row(one) for one in rates]))


def _rate(one: FailureRate) -> dict[str, Any]:
    return {
        "check": one.check,
        "texts": "rewritten" if one.is_retry else "first",
        "failed": one.failed,
        "judged": one.judged,
        "unanswered": one.unanswered,
        "interval": [one.interval.low, one.interval.high],
        "mean": one.mean,
    }


def _rate_row(one: FailureRate) -> list[object]:
    low, high = one.interval.low, one.interval.high
    interval = one.interval.note if low is None or high is None else f"{100 * low:.0f} to {100 * high:.0f} %"
    mean = "none" if one.mean is None else f"{one.mean:.2f}"
    return [one.check, "rewritten" if one.is_retry else "first", one.failed, one.judged, interval, mean, one.unanswered]


@app.command()
def config(
    agent: Annotated[str, typer.Argument(metavar="AGENT", show_default=False, help="The agent's id or name.")],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            show_default=False,
            help="Change a setting, such as gate_fluency_enabled=true; NAME= returns to the default. May be given "
            "several times: all of them are changed, or none.",
        ),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Back to all defaults first: everything off.")] = False,
    output: Rows = ListFormat.TABLE,
) -> None:
    """Show every setting of an agent beside its default, or change some."""
    from evaluation.corrections.config import CorrectionConfig
    from evaluation.corrections.statistics import default_of, settings
    from evaluation.workflows.agents import KnownAgents

    store = open_store()
    corrections = store.corrections
    agent_id = KnownAgents.of(store).resolve(agent, with_silent=True)
    held = CorrectionConfig() if reset else corrections.config(agent_id)
    if changes:
        held = _changed(held, changes)
        corrections.configure(agent_id, held)
    elif reset:
        corrections.forget(agent_id)
    if changes or reset:
        note(f"{agent_id}: stored.")
    rows = [(name, getattr(held, name), default_of(name), setting) for name, setting in settings().items()]
    if output is ListFormat.JSON:
        say_json([{"name": name, "value": value, "default": default} for name, value, default, _ in rows])
        return
    cells = [(name, one.shown(value), one.shown(default), one.meaning) for name, value, default, one in rows]
    say(table(("Setting", "Value", "Default", "Meaning"), cells))


def _changed(held: CorrectionConfig, changes: list[str]) -> CorrectionConfig:
    from evaluation.corrections.config import read_config

    values: dict[str, Any] = held.model_dump()
    for change in changes:
        name, separator, text = change.partition("=")
        if not separator:
            raise typer.BadParameter(f"{change!r} is not of the form NAME=VALUE.", param_hint="--set")
        values.pop(name, None)
        if text:
            values[name] = _value(text)
    return read_config(values)


def _value(text: str) -> object:
    """The typed value in the type of the configuration; other text stays as it is and is refused by name."""
    words = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _message(one: LoggedMessage) -> dict[str, Any]:
    return {
        "id": one.id,
        "at": one.at.isoformat(),
        "agent": one.result.agent,
        "run": one.run or None,
        "outcome": str(one.outcome),
        "was_sent": one.was_sent,
        "sent": one.result.text if one.result.committed else None,
        "attempts": [_attempt(each) for each in one.result.attempts],
    }


def _attempt(one: Attempt) -> dict[str, Any]:
    return {
        "number": one.number,
        "text": one.text,
        "checks": {
            check.dimension: {
                "score": check.found.score,
                "threshold": check.threshold,
                "reasoning": check.found.reasoning,
                "recommendations": list(check.found.recommendations),
                "calls": check.found.calls,
                "cost_usd": check.found.cost_usd,
                "breaker_open": check.found.is_breaker_open,
            }
            for check in one.checks
        },
        "similarity": one.similarity,
        "is_similar": one.is_similar,
        "total": one.total,
        "feedback": one.feedback,
    }
