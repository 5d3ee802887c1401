"""Write scores to trackers of experiments, MLflow and Weights & Biases, as one run an iteration.

Both are optional: what is written is made here as plain values first, and only the last step needs the library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evaluation.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9_. /-]+")
WITHOUT_ITERATION = "without iteration"


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """One run of a tracker.

    Attributes:
        name: The iteration's.
        tags: Where the numbers come from.
        metrics: ``<metric>/mean``, ``<metric>/passed`` (share of games from 0 to 1) and ``<metric>/games``.
        steps: ``<metric>/score``, the score of each game in the order in which they were added.
    """

    name: str
    tags: Mapping[str, str]
    metrics: Mapping[str, float]
    steps: Mapping[str, list[float]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The run as plain data."""
        steps = {name: list(values) for name, values in self.steps.items()}
        return {"name": self.name, "tags": dict(self.tags), "metrics": dict(self.metrics), "steps": steps}


def tracked_runs(results: pd.DataFrame) -> list[TrackedRun]:
    """A run for each iteration in a table of results.

    Args:
        results: As :func:`~evaluation.writers.tables.results_table` gives it. Scores that are pending are left out.
    """
    runs = []
    known = results.assign(iteration=results["iteration"].fillna("").replace("", WITHOUT_ITERATION))
    for name, held in known.groupby("iteration", sort=False):
        metrics: dict[str, float] = {}
        steps: dict[str, list[float]] = {}
        scored = held[held["score"].notna()]
        for metric, rows in scored.groupby("metric", sort=False):
            metrics[f"{metric}/mean"] = float(rows["score"].mean())
            metrics[f"{metric}/passed"] = float((rows["status"] == "passed").mean())
            metrics[f"{metric}/games"] = float(len(rows))
            # Not the metric's bare name: MLflow keeps files, and that is the folder of the three above.
            steps[f"{metric}/score"] = [float(score) for score in rows["score"]]
        versions = sorted({str(version) for version in held["version"].dropna()})
        tags = {"source": "dramaturg", "iteration": str(name), "metric_versions": ", ".join(versions)}
        runs.append(TrackedRun(str(name), tags, metrics, steps))
    return runs


def log_to_mlflow(runs: list[TrackedRun], *, experiment: str, uri: str | None = None) -> int:
    """Writes the runs to MLflow and returns how many.

    Args:
        runs: The runs.
        experiment: The experiment's name; made where it is missing.
        uri: The tracking store; MLflow's own setting where left out.

    Raises:
        InputError: MLflow is not installed, or its store cannot be used.
    """
    try:
        import mlflow
    except ImportError:
        raise _not_installed("MLflow", "mlflow") from None
    try:
        return _log_to_mlflow(mlflow.MlflowClient(tracking_uri=uri), runs, experiment)
    except mlflow.exceptions.MlflowException as error:
        remedy = "Check --uri; a database as a store needs: pip install sqlalchemy alembic."
        raise InputError(f"MLflow cannot take the runs: {error}", place=uri or "", remedy=remedy) from error


def _log_to_mlflow(client: Any, runs: list[TrackedRun], experiment: str) -> int:
    found = client.get_experiment_by_name(experiment)
    experiment_id = found.experiment_id if found is not None else client.create_experiment(experiment)
    for run in runs:
        made = client.create_run(experiment_id, tags=dict(run.tags), run_name=run.name)
        for name, value in run.metrics.items():
            client.log_metric(made.info.run_id, _NOT_FOR_NAMES.sub("-", name), value)
        for name, values in run.steps.items():
            for step, value in enumerate(values):
                client.log_metric(made.info.run_id, _NOT_FOR_NAMES.sub("-", name), value, step=step)
        client.set_terminated(made.info.run_id)
    return len(runs)


def log_to_wandb(runs: list[TrackedRun], *, project: str) -> int:
    """Writes the runs to Weights & Biases, into the folder or server that its own settings name; returns how many.

    Raises:
        InputError: wandb is not installed.
    """
    try:
        import wandb
    except ImportError:
        raise _not_installed("Weights & Biases", "wandb") from None
    for run in runs:
        held = wandb.init(project=project, name=run.name, config=dict(run.tags), reinit="finish_previous")
        longest = max((len(values) for values in run.steps.values()), default=0)
        for step in range(longest):
            held.log({name: values[step] for name, values in run.steps.items() if step < len(values)}, step=step)
        held.summary.update(dict(run.metrics))
        held.finish()
    return len(runs)


def _not_installed(name: str, extra: str) -> InputError:
    return InputError(f"{name} is not installed.", remedy=f"Install it: pip install 'dramaturg[{extra}]'.")
