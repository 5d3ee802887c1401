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
    output: Rows = ListFormat.TABLE,
) -> None:
    """List the latest messages that were checked, newest first; as JSON with all attempts, scores and reasons."""
    from evaluation.workflows.agents import KnownAgents

    store = open_store()
    agent = agent and KnownAgents.of(store).resolve(agent, with_silent=True)
    found = store.corrections.messages(agent, run=run, limit=limit)
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


@app.command()
def config(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id or name.")],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
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
