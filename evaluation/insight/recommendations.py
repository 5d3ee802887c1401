"""Recommendations from the figures of a discussion, by fixed rules and without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.insight.collector import TalkShares
from evaluation.insight.metrics import NetworkMetrics, SimulationMetrics
from evaluation.insight.validator import CheckedSample, CheckKind
from evaluation.text.display import cost_text, counted
from evaluation.transcript import Transcript

_MOST_NAMES = 5
_DOMINATING = 0.5
_FEWEST_PLAYERS = 3
_TIMES_EVEN = 2.0
_FEWEST_HITS = 0.5


def recommendations(
    metrics: SimulationMetrics, sample: CheckedSample | None = None, *, shares: TalkShares | None = None
) -> list[str]:
    """Recommendations, those on the network first; empty when no figure is unusual."""
    return [
        *_network(metrics),
        *_share_of_talk(metrics),
        *(_domination(shares) if shares else ()),
        *_memory(metrics),
        *(_checks(sample) if sample else ()),
        *_cost(metrics),
    ]


def judge_of_its_own_words(transcript: Transcript, model: str | None) -> Iterator[str]:
    """A warning when the model that judges wrote messages of the discussion: models rate their own words higher."""
    writers = [one.name for one in transcript.players if model and one.model and _same_model(one.model, model)]
    if writers:
        words = "The judge is the model that spoke for {names}. Models rate their own words higher: take another judge."
        yield _named(words, words, writers)


def _same_model(one: str, other: str) -> bool:
    """Whether two names mean the same model, whatever provider they name before the last slash."""
    return one.rpartition("/")[2].casefold() == other.rpartition("/")[2].casefold()


def _network(metrics: SimulationMetrics) -> Iterator[str]:
    network = metrics.network
    if network is None or network.nodes < 2:
        return
    silent = [name for name in network.centrality if not metrics.messages_per_agent.get(name)]
    if silent:
        yield _named("{names} never says anything.", "{names} never say anything.", silent)
    if not network.edges:
        yield "Nobody addresses anybody by name or reply: let the prompt ask players to answer each other."
        return
    ignored = [name for name, one in network.centrality.items() if one.in_degree == 0]
    if ignored:
        remedy = " Give the others a reason to, or have fewer players."
        yield _named("Nobody addresses {names}." + remedy, "Nobody addresses any of {names}." + remedy, ignored)
    parts = network.components - sum(one.degree == 0 for one in network.centrality.values())
    if parts > 1:
        yield f"The players form {parts} groups that never address each other."
    if network.reciprocity == 0 and network.edges > 1:
        yield "Nobody whom a player addresses ever turns back to them: they talk past each other."


def _share_of_talk(metrics: SimulationMetrics) -> Iterator[str]:
    players = metrics.network.nodes if metrics.network else 0
    if players < _FEWEST_PLAYERS:
        return
    for name, count in metrics.messages_per_agent.items():
        if count > _DOMINATING * metrics.total_messages:
            yield f"{count} of {metrics.total_messages} messages come from {name}: let the others have their turn."


def _domination(shares: TalkShares) -> Iterator[str]:
    """Players with more than twice an even share of the words, where that is not half of them anyway."""
    if len(shares.words) <= 2 * _FEWEST_PLAYERS - 2:
        return
    for name in shares.words:
        domination, share = shares.domination(name), shares.share_of_words(name)
        if domination is not None and share is not None and domination > _TIMES_EVEN:
            times = f"{domination:.1f} times an even share"
            yield f"{name} says {share:.0%} of the words, {times}: let the others have their turn."


def _memory(metrics: SimulationMetrics) -> Iterator[str]:
    rate = metrics.retrieval_hit_rate
    if rate is not None and rate < _FEWEST_HITS:
        yield f"Only {rate:.0%} of the searches of memory find anything: look at what agents store."


def _checks(sample: CheckedSample) -> Iterator[str]:
    for check in CheckKind:
        scored = [one for one in sample.results if one.check_type is check and one.passed is not None]
        passed = sum(bool(one.passed) for one in scored)
        if scored and passed < len(scored):
            name = check.value.replace("_", " ")
            reached = f"{passed} of {len(scored)} checked messages reach {scored[0].threshold:g} on {name}"
            yield f"{reached}: read the reasons."
    if left := sample.drawn - sample.checked:
        yield (
            f"{counted(left, 'message')} drawn for checks did not fit into the budget: raise max_validation_calls "
            "or max_usd, or lower validation_sampling_rate."
        )


def _cost(metrics: SimulationMetrics) -> Iterator[str]:
    if metrics.unpriced_calls:
        yield f"The price of {metrics.unpriced_calls} calls is not known: put it into pricing.yaml."


def _named(one: str, several: str, names: Sequence[str]) -> str:
    """The sentence about one or about several, the first of their names in the place of ``{names}``."""
    listed_names = ", ".join(names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return (one if len(names) == 1 else several).replace("{names}", listed_names + more)


UNKNOWN = "not known"


Line = tuple[str, str]


def network_lines(network: NetworkMetrics | None) -> Iterator[Line]:
    """Sentences on the network, and on the part of the players between which distances are measured."""
    if network is None:
        yield "Network", UNKNOWN
        return
    yield "Players", f"{network.nodes}"
    yield "Who addressed whom", f"{network.edges} of {network.nodes * (network.nodes - 1)} possible"
    if network.reciprocity is not None:
        mutual = round(network.edges * network.reciprocity / 2)
        one_way = network.edges - 2 * mutual
        yield "Pairs", f"{mutual} mutual, {one_way} one-way"
    yield "Answered", _share(network.reciprocity)
    parts = "all linked" if network.is_connected else f"in {network.components} parts that never address each other"
    yield "Connected", parts
    yield "Clustering", _number(network.clustering_coefficient, "(0 to 1)", 2)
    measured = "" if network.is_connected else f", among the {network.measured_nodes} players of the largest part"
    yield "Mean distance", _number(network.avg_path_length, f"steps{measured}", 2)
    steps = "step" if network.diameter == 1 else "steps"
    yield "Largest distance", _number(network.diameter, f"{steps}{measured}", 0)


def cost_lines(metrics: SimulationMetrics) -> Iterator[Line]:
    """Tokens, calls and money, as far as they are known."""
    yield "Tokens", _number(metrics.total_tokens, "", 0)
    yield "Calls", _number(metrics.api_calls, "", 0)
    unpriced = f", without {metrics.unpriced_calls} calls of unknown price" if metrics.unpriced_calls else ""
    cost = metrics.estimated_cost_usd
    yield "Cost", UNKNOWN if cost is None else f"{cost_text(cost)}{unpriced}"


def memory_lines(metrics: SimulationMetrics) -> Iterator[Line]:
    """Sentences on the agents' memories; stored games have none."""
    observations = metrics.observations_per_agent
    yield "Observations", _number(sum(observations.values()) if observations is not None else None, "", 0)
    yield "Reflections", _number(metrics.total_reflections, "", 0)
    yield "Searches of memory", _number(metrics.retrieval_calls, "", 0)
    yield "Searches that found something", _share(metrics.retrieval_hit_rate)


AGENT_HEADERS = ("Agent", "Observations", "Reflections", "Searches", "Calls", "Tokens")


def agent_rows(metrics: SimulationMetrics) -> list[tuple[str, ...]]:
    """Memory and calls of each agent, below ``AGENT_HEADERS``; empty where nothing is known of any of them."""
    figures = (
        metrics.observations_per_agent,
        metrics.reflections_per_agent,
        metrics.retrievals_per_agent,
        metrics.calls_per_agent,
        metrics.tokens_per_agent,
    )
    names = dict.fromkeys(name for counts in figures if counts for name in counts)
    return [
        (name, *(UNKNOWN if counts is None else f"{counts.get(name, 0):,}" for counts in figures)) for name in names
    ]


def _number(value: float | None, unit: str, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{value:,.{digits}f} {unit}".rstrip()


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0%}"
