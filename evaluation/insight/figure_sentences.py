"""The figures of a game as sentences, for the reader of its report."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.insight.addressing import TalkShares
from evaluation.insight.metrics import NetworkMetrics, SimulationMetrics
from evaluation.text.display import cost_text, counted, listed

UNKNOWN = "not known"


class UntrustedText(str):
    """Untrusted text in a cell: a renderer makes it harmless."""

    __slots__ = ()


Line = tuple[str, str]


def activity_lines(metrics: SimulationMetrics) -> Iterator[Line]:
    """Messages and lengths, and who talks most."""
    yield "Messages", f"{metrics.total_messages:,}"
    yield "Mean length", _number(metrics.avg_response_length, "characters")
    yield "Talks most", _talks_most(metrics)
    if metrics.thoughts_per_agent:
        yield "Private thoughts", f"{sum(metrics.thoughts_per_agent.values()):,}, in no other figure"


def _talks_most(metrics: SimulationMetrics) -> str:
    """The players who said most; that nobody speaks, or only one, in words."""
    counts = metrics.messages_per_agent
    if not counts:
        return "nobody says anything"
    if len(counts) == 1:
        return UntrustedText(f"only {next(iter(counts))} says anything")
    most = max(counts.values())
    names = [name for name, count in counts.items() if count == most]
    if len(names) == len(counts):
        return f"all {len(counts)} speakers alike, {counted(most, 'message')} each"
    each = "" if len(names) == 1 else " each"
    return UntrustedText(f"{listed(names)}, {most} of {metrics.total_messages} messages{each}")


def share_lines(shares: TalkShares) -> Iterator[Line]:
    """The players who dominate, relative to an even share."""
    if len(shares.words) > 1 and any(shares.words.values()):
        most = max(shares.words.values())
        names = [name for name, count in shares.words.items() if count == most]
        times = shares.domination(names[0]) or 0.0
        yield "Largest share of words", UntrustedText(f"{listed(names)}, {times:.1f} times an even share")


def network_lines(network: NetworkMetrics | None) -> Iterator[Line]:
    """Sentences on the network, and on the part of the players between which distances are measured."""
    if network is None:
        yield "Network", UNKNOWN
        return
    yield "Players", f"{network.nodes}"
    yield "Arrows from one to another", f"{network.edges} of {network.nodes * (network.nodes - 1)} possible"
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
        (UntrustedText(name), *(UNKNOWN if counts is None else f"{counts.get(name, 0):,}" for counts in figures))
        for name in names
    ]


def sections(metrics: SimulationMetrics, shares: TalkShares) -> Iterator[tuple[str, list[Line]]]:
    """All of it, by heading."""
    yield "Activity", [*activity_lines(metrics), *share_lines(shares)]
    yield "Who addresses whom", [*network_lines(metrics.network)]
    yield "Memory", [*memory_lines(metrics)]
    yield "Cost", [*cost_lines(metrics)]


def _number(value: float | None, unit: str, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{value:,.{digits}f} {unit}".rstrip()


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0%}"
