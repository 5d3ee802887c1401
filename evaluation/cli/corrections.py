"""``dramaturg corrections``: what is corrected for each agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluation.cli.exit_codes import command_group
from evaluation.cli.options import ListFormat, Rows, open_store
from evaluation.cli.terminal import note, say, say_json, table

if TYPE_CHECKING:
    from evaluation.corrections.config import CorrectionConfig

app = command_group("What is corrected for an agent. The Agents page, Checks, shows what was corrected.")


@app.callback()
def corrections() -> None:
    """Keeps ``config`` a command of its own."""


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
