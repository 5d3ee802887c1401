"""What to try next: the rubric's troubleshooting actions for the metrics that need them most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluation.data_file import parse_yaml
from evaluation.errors import InfrastructureError
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.rubric.ranking import lowest_first
from evaluation.rubric.verdict import COST_LIMIT_USD, Scored
from evaluation.rubric.wording import score_words, shortfall_words, telling_digits
from evaluation.score import Status

COST = "cost"
_FILE = Path(__file__).with_name("advice.yaml")


@dataclass(frozen=True, slots=True)
class Advice:
    """What to try for one metric, or for the cost.

    Attributes:
        about: The metric's name, or ``cost``.
        finding: Why it is mentioned, in words: "76.0 %, below the threshold of 80 %".
        is_failing: False for a metric that passes and is only the lowest of all.
        actions: One change each; the rubric asks for one at a time.
    """

    about: str
    label: str
    finding: str
    is_failing: bool
    actions: tuple[str, ...]


def advise(metrics: Mapping[str, Scored], total_usd: float | None = None) -> tuple[Advice, ...]:
    """Advice on a transcript, a test or an iteration: what fails, the lowest first; if nothing does, the lowest.

    A cost above 3.00 USD comes before all else. Empty when no metric has a score and the cost is in order.

    Args:
        metrics: By name, with the thresholds to judge by.
        total_usd: What it cost in US dollars; ``None`` when unknown.
    """
    return (*_on_cost(total_usd), *_on_metrics(metrics))


def _on_cost(total_usd: float | None) -> Iterator[Advice]:
    if total_usd is not None and total_usd > COST_LIMIT_USD:
        digits = telling_digits(total_usd, COST_LIMIT_USD, 2)
        finding = f"${total_usd:,.{digits}f}, above the limit of ${COST_LIMIT_USD:.2f}"
        yield Advice(COST, "Cost", finding, True, troubleshooting()[COST])


def _on_metrics(metrics: Mapping[str, Scored]) -> Iterator[Advice]:
    ranked = lowest_first(metrics)
    failing = [name for name in ranked if metrics[name].status is Status.FAILED]
    for name in failing or ranked[:1]:
        definition, metric = DEFINITIONS[name], metrics[name]
        assert metric.score is not None  # lowest_first names only metrics that have one
        if failing:
            finding = shortfall_words(definition, metric.score, metric.threshold)
        else:
            finding = f"{score_words(definition, metric.score)}, the closest to its threshold"
        yield Advice(name, definition.label, finding, bool(failing), troubleshooting()[name])


@cache
def troubleshooting() -> Mapping[str, tuple[str, ...]]:
    """All actions by metric name, and by ``cost``.

    Raises:
        InfrastructureError: The data file that comes with Dramaturg is damaged.
    """
    actions = parse_yaml(_FILE.read_text(encoding="utf-8"))
    expected = {*DEFINITIONS, COST}
    if not isinstance(actions, dict) or set(actions) != expected or not all(map(_are_sentences, actions.values())):
        raise InfrastructureError(
            f"It must hold a list of sentences for each of {', '.join(sorted(expected))}.",
            place=str(_FILE),
            remedy="Install Dramaturg again.",
        )
    return {name: tuple(sentences) for name, sentences in actions.items()}


def _are_sentences(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, str) and part.strip() for part in value)
