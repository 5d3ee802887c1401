"""Recommendations from the figures of a discussion, by fixed rules and without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.insight.addressing import TalkShares
from evaluation.insight.metrics import SimulationMetrics
from evaluation.insight.validator import CheckedSample, CheckKind
from evaluation.text.display import counted
from evaluation.transcript import Transcript

_MOST_NAMES = 5
_DOMINATING = 0.5
_FEWEST_PLAYERS = 3
_TIMES_EVEN = 2.0
_FEWEST_HITS = 0.5


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One of our own sentences with names in it.

    Attributes:
        words: With ``{names}`` where they stand; no other braces.
        names: Untrusted text; a renderer makes them harmless.
    """

    words: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The whole sentence, the names as they are."""
        return self.words.replace("{names}", ", ".join(self.names))


def recommendations(
    metrics: SimulationMetrics, sample: CheckedSample | None = None, *, shares: TalkShares | None = None
) -> list[Recommendation]:
    """Recommendations, those on the network first; empty when no figure is unusual."""
    return [
        *_network(metrics),
        *_share_of_talk(metrics),
        *(_domination(shares) if shares else ()),
        *_memory(metrics),
        *(_checks(sample) if sample else ()),
        *_cost(metrics),
    ]


def judge_of_its_own_words(transcript: Transcript, model: str | None) -> Iterator[Recommendation]:
    """A warning when the model that judges wrote messages of the discussion: models rate their own words higher."""
    writers = [one.name for one in transcript.players if model and one.model and _same_model(one.model, model)]
    if writers:
        words = "The judge is the model that spoke for {names}. Models rate their own words higher: take another judge."
        yield _named(words, words, writers)


def _same_model(one: str, other: str) -> bool:
    """Whether two names mean the same model, whatever provider they name before the last slash."""
    return one.rpartition("/")[2].casefold() == other.rpartition("/")[2].casefold()


def _network(metrics: SimulationMetrics) -> Iterator[Recommendation]:
    network = metrics.network
    if network is None or network.nodes < 2:
        return
    silent = [name for name in network.centrality if not metrics.messages_per_agent.get(name)]
    if silent:
        yield _named("{names} never says anything.", "{names} never say anything.", silent)
    if not network.edges:
        yield Recommendation(
            "Nobody addresses anybody by name or reply: let the prompt ask players to answer each other."
        )
        return
    ignored = [name for name, one in network.centrality.items() if one.in_degree == 0]
    if ignored:
        remedy = " Give the others a reason to, or have fewer players."
        yield _named("Nobody addresses {names}." + remedy, "Nobody addresses any of {names}." + remedy, ignored)
    parts = network.components - sum(one.degree == 0 for one in network.centrality.values())
    if parts > 1:
        yield Recommendation(f"The players form {parts} groups that never address each other.")
    if network.reciprocity == 0 and network.edges > 1:
        yield Recommendation("Nobody whom a player addresses ever turns back to them: they talk past each other.")


def _share_of_talk(metrics: SimulationMetrics) -> Iterator[Recommendation]:
    players = metrics.network.nodes if metrics.network else 0
    if players < _FEWEST_PLAYERS:
        return
    for name, count in metrics.messages_per_agent.items():
        if count > _DOMINATING * metrics.total_messages:
            share = f"{count} of {metrics.total_messages} messages come from {{names}}"
            yield Recommendation(f"{share}: let the others have their turn.", (name,))


def _domination(shares: TalkShares) -> Iterator[Recommendation]:
    """Players with more than twice an even share of the words, where that is not half of them anyway."""
    if len(shares.words) <= 2 * _FEWEST_PLAYERS - 2:
        return
    for name in shares.words:
        domination, share = shares.domination(name), shares.share_of_words(name)
        if domination is not None and share is not None and domination > _TIMES_EVEN:
            words = f"{{names}} says {share:.0%} of the words, {domination:.1f} times an even share"
            yield Recommendation(f"{words}: let the others have their turn.", (name,))


def _memory(metrics: SimulationMetrics) -> Iterator[Recommendation]:
    rate = metrics.retrieval_hit_rate
    if rate is not None and rate < _FEWEST_HITS:
        yield Recommendation(f"Only {rate:.0%} of the searches of memory find anything: look at what agents store.")


def _checks(sample: CheckedSample) -> Iterator[Recommendation]:
    for check in CheckKind:
        scored = [one for one in sample.results if one.check_type is check and one.passed is not None]
        passed = sum(bool(one.passed) for one in scored)
        if scored and passed < len(scored):
            name = check.value.replace("_", " ")
            yield Recommendation(
                f"{passed} of {len(scored)} checked messages reach {scored[0].threshold:g} on {name}: read the reasons."
            )
    if left := sample.drawn - sample.checked:
        yield Recommendation(
            f"{counted(left, 'message')} drawn for checks did not fit into the budget: raise max_validation_calls "
            "or max_usd, or lower validation_sampling_rate."
        )


def _cost(metrics: SimulationMetrics) -> Iterator[Recommendation]:
    if metrics.unpriced_calls:
        yield Recommendation(f"The price of {metrics.unpriced_calls} calls is not known: put it into pricing.yaml.")


def _named(one: str, several: str, names: Sequence[str]) -> Recommendation:
    more = len(names) - _MOST_NAMES
    words = one if len(names) == 1 else several
    if more > 0:
        words = words.replace("{names}", f"{{names}} and {more} more")
    return Recommendation(words, tuple(names[:_MOST_NAMES]))
