"""Print experiments in the terminal: the report in the layout of Table 1, scenarios and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.cli.shared.options import OutputFormat
from evaluation.cli.shared.terminal import markdown_table, safe, table

if TYPE_CHECKING:
    from evaluation.experiments.plan import ExperimentRecord

_HEADERS = ("Dimension", "T mean (sd)", "C mean (sd)", "n", "Difference", "95 % interval", "d", "p", "p Holm")
_OWN = 2
_MORE = ("p cluster", "Here", "Paper T", "Paper C", "Paper diff.", "Paper p", "Direction")


def record_text(record: ExperimentRecord, output: OutputFormat) -> str:
    """A finished experiment's report.

    Args:
        record: Of the experiment.
        output: The format.
    """
    from evaluation.experiments.conversation import is_idle, stored_activity
    from evaluation.experiments.plan import judge_of
    from evaluation.experiments.report import CAVEAT, SCRIPTED_NOTE, verdict_words

    if output is OutputFormat.JSON:
        from evaluation.escaping import json_text

        return json_text(record_dict(record))
    rows = (record.results or {}).get("rows", [])
    draw = markdown_table if output is OutputFormat.MARKDOWN else table
    head = f"{safe(record.name)} ({record.scenario}), seed {record.seed}, scale {record.scale:g}, id {record.id[:8]}"
    head += f", judged by {safe(judge_of(record))}"
    notes = [SCRIPTED_NOTE] if record.is_scripted else []
    words = verdict_words(rows)
    activity = [draw(("What happened", "Treatment", "Control"), found)] if (found := stored_activity(record)) else []
    is_published = any(row["published"] for row in rows)
    headers = (*_HEADERS, *(_MORE if is_published else _MORE[:_OWN]))
    tables = [draw(headers, [_line(row)[: len(headers)] for row in rows]), *([words] if words else []), *activity]
    idle = [_IDLE.format(name="This experiment")] if is_idle(record) else []
    return "\n\n".join([*notes, head, *tables, *idle, *_missing(rows), CAVEAT])


_IDLE = "{name}: no part of the treatment took effect, so the two sides differ by chance alone. More --steps may help."


def joint_table(records: Sequence[ExperimentRecord], output: OutputFormat) -> str:
    """All rows of several finished experiments in one table, in the layout of Table 1.

    Scripted experiments have no columns of the paper. A sentence names each whose treatment never took effect.
    """
    from evaluation.experiments.conversation import is_idle

    draw = markdown_table if output is OutputFormat.MARKDOWN else table
    rows = [(record.scenario, row) for record in records for row in (record.results or {}).get("rows", [])]
    is_published = any(row["published"] for _, row in rows)
    headers = ("Experiment", *_HEADERS, *(_MORE if is_published else _MORE[:_OWN]))
    drawn = draw(headers, [(scenario, *_line(row))[: len(headers)] for scenario, row in rows])
    return "\n\n".join([drawn, *(_IDLE.format(name=each.scenario) for each in records if is_idle(each))])


def _missing(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lost = [f"{row['label']}: {row['unscored']}" for row in rows if row["unscored"]]
    return [f"Scores that are missing: {', '.join(lost)}."] if lost else []


def record_dict(record: ExperimentRecord) -> dict[str, Any]:
    """An experiment as JSON-compatible data; arguments as for ``record_text``."""
    from evaluation.experiments.plan import judge_of
    from evaluation.experiments.report import CAVEAT

    return {
        "id": record.id,
        "scenario": record.scenario,
        "name": record.name,
        "seed": record.seed,
        "scale": record.scale,
        "layout": record.config.get("layout"),
        "model": record.config.get("model"),
        "judge": judge_of(record),
        "is_scripted": record.is_scripted,
        "status": str(record.status),
        "rows": (record.results or {}).get("rows", []),
        "activity": (record.results or {}).get("activity"),
        "caveat": CAVEAT,
    }


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    published = row["published"] or {}
    low, high = row["difference_low"], row["difference_high"]
    return (
        row["label"],
        _mean(row["treatment_mean"], row["treatment_sd"]),
        _mean(row["control_mean"], row["control_sd"]),
        f"{row['n_treatment']}/{row['n_control']}",
        _signed(row["difference"]),
        row["interval_note"] or "none" if low is None else f"{low:+.2f} to {high:+.2f}",
        _signed(row["cohens_d"]),
        _p(row["p_value"]),
        _p(row["p_holm"]),
        _p(row["p_cluster_robust"]),
        row["outcome"],
        _mean(published.get("treatment_mean"), published.get("treatment_sd")),
        _mean(published.get("control_mean"), published.get("control_sd")),
        _signed(published.get("difference")),
        published.get("p_value", "-"),
        row["direction"],
    )


def _mean(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.2f} ({'none' if sd is None else f'{sd:.2f}'})"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _p(value: float | None) -> str:
    from evaluation.statistics.words import p_words

    return p_words(float("nan") if value is None else value)


def published_text(output: OutputFormat) -> str:
    """Table 1 as its authors printed it."""
    from evaluation.experiments.table1 import published_experiments

    rows: list[dict[str, Any]] = [
        {
            "experiment": experiment.name,
            "setting": experiment.setting,
            "treatment": experiment.treatment,
            "dimension": row.dimension,
            **row.as_dict(),
        }
        for experiment in published_experiments()
        for row in experiment.rows
    ]
    if output is OutputFormat.JSON:
        from evaluation.escaping import json_text

        return json_text(rows)
    draw = markdown_table if output is OutputFormat.MARKDOWN else table
    lines = [
        (
            row["experiment"],
            row["dimension"],
            _mean(row["treatment_mean"], row["treatment_sd"]),
            _mean(row["control_mean"], row["control_sd"]),
            _signed(row["difference"]),
            row["p_value"],
        )
        for row in rows
    ]
    return draw(("Exp", "Dimension", "T mean (sd)", "C mean (sd)", "Difference", "p"), lines)
