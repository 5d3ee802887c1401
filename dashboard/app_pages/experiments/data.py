"""Tables for the Experiments page: experiments, A/B tests, and Table 1. Independent of Streamlit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dashboard.shared.clicked_marks import MarkTarget, MarkTargets
from dashboard.shared.comparison_tables import signed
from dashboard.shared.local_time import local_time
from evaluation.escaping import cut
from evaluation.experiments.ab_runner import ABConfig
from evaluation.experiments.estimate import Estimate
from evaluation.experiments.results import RunResult, Side, StatisticalComparison, joined
from evaluation.experiments.study import Study, StudyStatus
from evaluation.experiments.tables import (
    PublishedRow,
    published_rows,
    row_words,
    verdict_words,
)
from evaluation.files.yaml_files import parse_model
from evaluation.judging.propositions import Dimension
from evaluation.rubric.definitions import DEFINITIONS, score_words
from evaluation.score import PERCENT
from evaluation.statistics.words import change_words
from evaluation.store import Store
from evaluation.text.display import counted, fixed
from evaluation.workflows.ab_tests import estimate_ab_test

_SIDES: Mapping[str, str] = {Side.CONTROL: "without", Side.TREATMENT: "with"}
_MOST_RUNS = 200
_LONGEST_NAME = 16


@dataclass(frozen=True, slots=True)
class ShownStudy:
    """A study with its runs as far as they are stored."""

    study: Study
    runs: tuple[RunResult, ...]

    @property
    def is_test(self) -> bool:
        """Whether it is an A/B test."""
        return isinstance(self.study.plan, ABConfig)

    @property
    def progress(self) -> str:
        """Words on its progress: "2 of 4 conversations are evaluated"."""
        if isinstance(self.study.plan, ABConfig):
            done = sum(run.status == "done" for run in self.runs)
            return f"{done} of {counted(len(self.runs), 'run')} are done"
        evaluated = sum(bool(run.scores) for run in self.runs)
        return f"{evaluated} of {2 * len(self.study.plan.rooms)} conversations are evaluated"

    @property
    def title(self) -> str:
        """The name; of an experiment the speaker, when it began, and its status while it is not done; untrusted."""
        plan, is_done = self.study.plan, self.study.status == StudyStatus.COMPLETED
        if isinstance(plan, ABConfig):
            return plan.name
        speaker, words = "Script" if plan.is_scripted else plan.model, "" if is_done else f", … {self.progress}"
        return f"{speaker}: {plan.name}, {local_time(self.study.created_at)}{words}"

    @property
    def games(self) -> dict[str, str]:
        """A readable name for each game, by transcript: "pair 3, with the treatment"; "short answers, run 2"."""
        found = {}
        for run in sorted(self.runs, key=lambda run: (run.run_index, run.variant)):
            number = run.run_index + 1
            found[run.transcript_id] = (
                f"{run.variant}, run {number}"
                if self.is_test
                else f"pair {number}, {_SIDES[run.variant]} the treatment"
            )
        return {game: name for game, name in found.items() if game}


def shown_studies(store: Store, kind: str) -> list[ShownStudy]:
    """The latest studies of a kind, the newest first."""
    with store.unit():
        return [
            ShownStudy(one, tuple(one.result.runs or joined(store.experiments.runs(one.id))))
            for one in store.experiments.all(kind)[:_MOST_RUNS]
        ]


def table1_words(found: Sequence[ShownStudy]) -> str:
    """Tell in a sentence how far our latest runs by a model agree with the paper."""
    words = verdict_words(_latest_by_experiment(found).values())
    return words or "No model has run one of the paper's four experiments here, so nothing can be compared yet."


def _latest_by_experiment(found: Sequence[ShownStudy]) -> dict[str, Study]:
    """The latest finished run by a model of each published experiment; a script's says nothing about agents."""
    done = [one.study for one in reversed(found) if one.study.result.comparisons]
    names = {study.id: study.experiment.scenario.published for study in done if not study.experiment.is_scripted}
    return {name: study for study in done if (name := names.get(study.id))}


def read_test(store: Store, content: str) -> tuple[ABConfig, Estimate]:
    """The test of a configuration, and the expected calls of what is left of it.

    Raises:
        InputError: It has faults, one line ``file:line: field: what is wrong`` for each; or it can give no result.
    """
    name = "ab.json" if content.lstrip().startswith("{") else "ab.yaml"
    test = parse_model(content.encode("utf-8"), ABConfig, name)
    return test, estimate_ab_test(store, test, {})


def is_drawn(measure: str) -> bool:
    """Whether the picture of an A/B test has a measure: a metric in percent."""
    return measure in DEFINITIONS and DEFINITIONS[measure].scale == PERCENT


Row = tuple[dict[str, Any], MarkTargets]
"""A row for ``cockpit_rows.js``, and what its marks open."""


def mark_rows(shown: ShownStudy) -> list[Row]:
    """The two arms of a study, a dot for each run, open for those of the first.

    Of an experiment in every dimension, of an A/B test on each metric in percent, the deciding one first. None of a
    test of more variants.
    """
    result = shown.study.result
    if not shown.is_test:
        published = published_rows(shown.study.experiment)
        return [_mark_row(one, shown, published.get(one.metric_name)) for one in result.comparisons]
    found = result.comparisons if len(result.variants) == 2 else ()
    return [_mark_row(one, shown) for one in found if is_drawn(one.metric_name)]


def _mark_row(one: StatisticalComparison, shown: ShownStudy, published: PublishedRow | None = None) -> Row:
    """A row without threshold; the band is where the mean after may truly lie, by the range of the difference."""
    metric = DEFINITIONS.get(one.metric_name)
    is_count = one.metric_name == Dimension.IDEAS_QUANTITY
    means = [(fmean(found), run) for run in shown.runs if (found := run.values(one.metric_name).values())]
    sides = [[(value, run) for value, run in means if run.variant == name] for name in (one.variant_a, one.variant_b)]
    low, high = one.interval.low, one.interval.high
    most = 100.0 if metric else 9.0
    if is_count:
        most = math.ceil(max([9.0, one.mean_a + (high or 0.0), *(value for value, _ in means)]))

    def value_words(mean: float) -> str:
        if math.isnan(mean):
            return "no score"
        return score_words(metric, mean) if metric else f"{fixed(mean)}{'' if is_count else ' of 9'}"

    def share(value: float) -> float | None:
        return None if math.isnan(value) else min(1.0, max(0.0, value / most))

    # Two values on a scale cannot differ by more than it is long.
    is_known = low is not None and high is not None and not math.isnan(one.mean_a)
    ends = [max(-most, min(most, end)) for end in (low, high) if end is not None] if is_known else []
    paper = f"paper: {change_words(0.0, published.difference, '')}" if published else ""
    axis = "" if most in (9, 100) else f"axis 0 to {most:g}"
    span = f"true change {' to '.join(fixed(end, signed=True) for end in ends)}" if ends else ""
    aim = "; ".join(filter(None, (span, paper, axis)))
    told = one.words if shown.is_test else row_words(one)
    before, after = (one.variant_a, one.variant_b) if shown.is_test else ("without", "with the treatment")
    names = [f"{cut(side, _LONGEST_NAME)}, run" if shown.is_test else f"{side}, pair" for side in (before, after)]
    texts = {
        "before": f"{before}: {value_words(one.mean_a)}",
        "after": f"{after}: {value_words(one.mean_b)}",
        "current": value_words(one.mean_b),
        "change": change_words(one.mean_a, one.mean_b, "%" if metric else ""),
        "outcome": told if is_count else signed(one.outcome, told),
    }
    row = {
        "label": one.label,
        "words": f"{one.label}: {texts['after']}, {texts['before']}; {texts['outcome']}; {aim}.",
        "before": share(one.mean_a),
        "after": share(one.mean_b),
        "interval": [share(one.mean_a + end) for end in ends] or None,
        "texts": texts | {"threshold": aim},
        "games": [
            {"place": share(value), "label": f"{name} {run.run_index + 1}: {value_words(value)}", "isBefore": is_before}
            for name, side, is_before in zip(names, sides, (True, False), strict=True)
            for value, run in side
        ],
    }
    opened, games = (
        [MarkTarget(metric.name if metric else "", run.transcript_id) for _, run in side] for side in sides
    )
    return row, {
        "metric": tuple(games[:1]),
        "after": tuple(games[:1]),
        "before": tuple(opened[:1]),
        "game": (*opened, *games),
    }


def stored_games(store: Store, games: Mapping[str, str]) -> dict[str, str]:
    """Those of the games that are still stored, by transcript id, with what they are called."""
    known = set(store.transcripts.ids())
    return {key: name for key, name in games.items() if key in known}
