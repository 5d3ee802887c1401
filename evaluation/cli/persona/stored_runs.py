"""Show stored runs of ``dramaturg persona``: the list of all, and every score of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evaluation.cli.shared.options import ListFormat, open_store
from evaluation.cli.shared.terminal import note, safe, say, shortened, table
from evaluation.errors import NotFoundError
from evaluation.escaping import json_text
from evaluation.store import Store
from evaluation.workflows.agents import KnownAgents

if TYPE_CHECKING:
    import pandas as pd


def list_runs(agent: str | None, output: ListFormat) -> None:
    """Prints the stored runs, the latest last; those of one agent where one is named."""
    runs = _runs(open_store(), agent)
    if output is ListFormat.JSON:
        say(json_text(_records(runs)))
    elif runs.empty:
        note("No agent was evaluated yet. Begin with: dramaturg persona run.")
    else:
        headers = ("Run", "Agent", "Status", "Overall", "Sample", "Mode", "Model", "Begun (UTC)")
        say(table(headers, [_run_row(row) for row in runs.to_dict("records")]))


def show_run(run: str, agent: str | None, output: ListFormat) -> None:
    """Prints every score of a run with its message and the judge's reason.

    Raises:
        NotFoundError: No run, or several, have an id that begins like that.
    """
    store = open_store()
    runs = _runs(store, agent)
    found = [row for row in runs.to_dict("records") if run and str(row["run_id"]).startswith(run.lower())]
    if len(found) != 1:
        many = "Several runs have" if found else "No run has"
        remedy = "See them with: dramaturg persona show."
        raise NotFoundError(f"{many} an id that begins with {run!r}.", remedy=remedy)
    key = str(found[0]["run_id"])
    scores, failures = store.evaluations.scores(key), store.evaluations.failures(key)
    if output is ListFormat.JSON:
        say(json_text({"run_id": key, "scores": _records(scores), "failures": _records(failures)}))
        return
    say("  ".join(part for part in _run_row(found[0]) if part))
    for row in scores.to_dict("records"):
        mark = f", {row['mark']}" if row["mark"] else ""
        say(f"\n{row['dimension']}, {safe(row['proposition_id'])}: {row['score']:g}{mark}")
        if isinstance(row["context_snippet"], str) and row["context_snippet"]:
            say(f"  about: {safe(row['context_snippet'])}")
        say("\n".join(f"  {safe(line)}" for line in str(row["reasoning"]).splitlines()))
    for row in failures.to_dict("records"):
        say(f"\n{row['dimension']}, {safe(row['proposition_id'])}: no score\n  {safe(str(row['reason']))}")


def _runs(store: Store, agent: str | None) -> pd.DataFrame:
    return store.evaluations.runs(agent and KnownAgents.of(store).resolve(agent, with_silent=True, with_channels=True))


def _records(rows: pd.DataFrame) -> Any:
    return json.loads(rows.to_json(orient="records", date_format="iso"))


def _run_row(row: Mapping[Any, Any]) -> tuple[str, ...]:
    overall = row["overall_score"]
    return (
        str(row["run_id"]),
        shortened(row["display_name"], 30),
        str(row["status"]),
        f"{overall:.2f}" if isinstance(overall, float) and overall == overall else "n/a",
        str(row["sample_size"]),
        *(value if isinstance(value := row[name], str) else "" for name in ("mode", "model")),
        f"{row['created_at']:%Y-%m-%d %H:%M}",
    )
