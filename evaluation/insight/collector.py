"""Collects the figures of a running simulation from its events.

Source: ADR-010, ``MetricsCollector``, with its running average of lengths corrected.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from evaluation.errors import InputError
from evaluation.insight._questions import spoken, thoughts
from evaluation.insight.metrics import (
    NetworkMetrics,
    SimulationCounts,
    SimulationMetrics,
    interaction_graph,
    network_metrics,
)
from evaluation.judging.answers import describe
from evaluation.text.names import NameIndex
from evaluation.transcript import Message, Transcript

if TYPE_CHECKING:
    import networkx as nx

    class Topology(Protocol):
        """ADR-010's wrapper of a graph."""

        graph: nx.Graph[str]
        _directed: bool


MemoryType = Literal["observation", "reflection"]


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """A message was sent. ``receivers`` are those it addresses, each once; empty when it speaks to nobody by name.

    A single receiver may be given as a string.
    """

    sender: str
    content: str
    receivers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.receivers, str):
            # A string is a sequence too: without this, "Ben" would be three receivers.
            object.__setattr__(self, "receivers", (self.receivers,) if self.receivers else ())


@dataclass(frozen=True, slots=True)
class ThoughtEvent:
    """An agent wrote something that nobody else could hear; it is counted apart from messages."""

    agent_id: str


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """An agent remembered something. ``importance`` is on the memory system's own scale, ``None`` where it has none.

    Raises:
        InputError: The importance is not a finite number, or the type is neither "observation" nor "reflection".
    """

    agent_id: str
    memory_type: MemoryType
    importance: float | None = None

    def __post_init__(self) -> None:
        if self.memory_type not in get_args(MemoryType):
            raise InputError(
                f"There is no memory type {self.memory_type!r}.", remedy='Take "observation" or "reflection".'
            )
        _check_number("importance", self.importance, -math.inf)


@dataclass(frozen=True, slots=True)
class RetrievalEvent:
    """An agent searched its memory and found ``results_count`` entries."""

    agent_id: str
    results_count: int

    def __post_init__(self) -> None:
        _check_number("results_count", self.results_count)


@dataclass(frozen=True, slots=True)
class LLMCallEvent:
    """A model was asked. ``estimated_cost`` is in US dollars, ``None`` where the model's price is not known."""

    tokens: int
    estimated_cost: float | None = None
    agent_id: str | None = None

    def __post_init__(self) -> None:
        _check_number("tokens", self.tokens)
        _check_number("estimated_cost", self.estimated_cost)


def _check_number(name: str, value: float | None, least: float = 0.0) -> None:
    if value is not None and not (math.isfinite(value) and value >= least):
        need = "a finite number" if least < 0 else "0 or more"
        raise InputError(f"The {name} {value} of an event is not {need}.", remedy="Leave out what is not known.")


Event = MessageEvent | ThoughtEvent | MemoryEvent | RetrievalEvent | LLMCallEvent
_Kind = TypeVar("_Kind", bound=Event)


COUNTS_KEY = "simulation_counts"
"""The key in a transcript's metadata."""


def with_counts(transcript: Transcript, metrics: SimulationMetrics) -> Transcript:
    """The transcript with what was counted while it was simulated; it gets another id."""
    known = {one.name: getattr(metrics, one.name) for one in fields(SimulationCounts)}
    counts: dict[str, Any] = {name: value for name, value in known.items() if value is not None}
    held = {name: getattr(transcript, name) for name in Transcript.model_fields}
    return Transcript.model_validate({**held, "metadata": {**transcript.metadata, COUNTS_KEY: counts}})


def stored_counts(transcript: Transcript) -> SimulationCounts:
    """Counts made while the transcript was simulated; every field is ``None`` where nothing is stored.

    Raises:
        InputError: The metadata hold something else under the key; names the field.
    """
    try:
        return TypeAdapter(SimulationCounts).validate_python(transcript.metadata.get(COUNTS_KEY, {}))
    except ValidationError as error:
        remedy = "Correct the file and import it again; docs/insights.md describes the key."
        raise InputError(f"{describe(error)}.", place=f"metadata.{COUNTS_KEY}", remedy=remedy) from None


class MetricsCollector:
    """Counts events; ``get_metrics`` may be asked at any time.

    Args:
        players: Everybody who takes part, those too who never speak: they are nodes of the network.
    """

    def __init__(self, players: Iterable[str] = ()) -> None:
        self._players = tuple(dict.fromkeys(players))
        self._topology: NetworkMetrics | None = None
        self.reset()

    def compute_network_metrics(self, topology: nx.Graph[str] | Topology) -> None:
        """Measures this graph, of who can reach whom, in place of the one of who addresses whom.

        Args:
            topology: Directed or not, connected or not, empty or not; or an object that holds such a graph, as in
                ADR-010. A later change of it does not count.

        Raises:
            InputError: It is neither.
        """
        self._topology = network_metrics(_graph_in(topology))

    def reset(self) -> None:
        """Forgets every event and the topology, for the next run with the same players."""
        self._topology = None
        self._events: list[Event] = []

    def add(self, event: Event) -> None:
        """Counts one event."""
        self._events.append(event)

    async def on_message(self, event: MessageEvent) -> None:
        """Counts a message, its length and whom it addresses; for an event bus that awaits its listeners."""
        self.add(event)

    async def on_memory_added(self, event: MemoryEvent) -> None:
        """Counts an observation or a reflection, apart from each other."""
        self.add(event)

    async def on_memory_retrieval(self, event: RetrievalEvent) -> None:
        """Counts a search and whether it found something."""
        self.add(event)

    async def on_llm_call(self, event: LLMCallEvent) -> None:
        """Counts a call, its tokens, and its price where that is known."""
        self.add(event)

    def get_metrics(self) -> SimulationMetrics:
        """A snapshot; later events do not change it."""
        messages, thoughts, memories = self._of(MessageEvent), self._of(ThoughtEvent), self._of(MemoryEvent)
        searches, calls = self._of(RetrievalEvent), self._of(LLMCallEvent)
        pairs = Counter((one.sender, receiver) for one in messages for receiver in dict.fromkeys(one.receivers))
        observations = Counter(one.agent_id for one in memories if one.memory_type == "observation")
        reflections = Counter(one.agent_id for one in memories if one.memory_type == "reflection")
        importances = [one.importance for one in memories if one.importance is not None]
        prices = [call.estimated_cost for call in calls if call.estimated_cost is not None]
        tokens, calls_made = Counter[str](), Counter(call.agent_id for call in calls if call.agent_id is not None)
        for call in calls:
            tokens.update({} if call.agent_id is None else {call.agent_id: call.tokens})
        return SimulationMetrics(
            total_messages=len(messages),
            messages_per_agent=dict(Counter(one.sender for one in messages)),
            avg_response_length=sum(len(one.content) for one in messages) / len(messages) if messages else None,
            interaction_matrix=dict(pairs),
            thoughts_per_agent=dict(Counter(one.agent_id for one in thoughts)),
            observations_per_agent=dict(observations) if memories else None,
            reflections_per_agent=dict(reflections) if memories else None,
            total_reflections=reflections.total() if memories else None,
            avg_memory_importance=sum(importances) / len(importances) if importances else None,
            retrieval_calls=len(searches) or None,
            retrievals_per_agent=dict(Counter(one.agent_id for one in searches)) if searches else None,
            retrieval_hit_rate=sum(one.results_count > 0 for one in searches) / len(searches) if searches else None,
            network=self._network([one.sender for one in messages], pairs),
            total_tokens=sum(call.tokens for call in calls) if calls else None,
            tokens_per_agent=dict(tokens) if calls else None,
            api_calls=len(calls) or None,
            calls_per_agent=dict(calls_made) if calls else None,
            estimated_cost_usd=sum(prices) if prices else None,
            unpriced_calls=len(calls) - len(prices) if calls else None,
        )

    def _of(self, kind: type[_Kind]) -> list[_Kind]:
        return [event for event in self._events if isinstance(event, kind)]

    def _network(self, senders: list[str], pairs: Mapping[tuple[str, str], int]) -> NetworkMetrics | None:
        if self._topology is not None or not senders:
            return self._topology
        return network_metrics(interaction_graph([*self._players, *senders], pairs))


def _graph_in(topology: nx.Graph[str] | Topology) -> nx.Graph[str]:
    import networkx as nx

    # A graph of networkx has an attribute of that name, too: a dict of its own attributes.
    graph = topology if isinstance(topology, nx.Graph) else getattr(topology, "graph", None)
    if not isinstance(graph, nx.Graph):
        raise InputError(
            f"{type(topology).__name__} holds no graph.",
            place="compute_network_metrics",
            remedy="Give a networkx graph, or an object with one as its attribute 'graph'.",
        )
    is_directed = getattr(topology, "_directed", graph.is_directed())
    return graph if is_directed else graph.to_undirected()


@dataclass(frozen=True, slots=True)
class TalkShares:
    """The words and turns of every player.

    Attributes:
        words: Words by player, silent ones included.
        turns: Turns by player: messages in a row by the same player are one.
    """

    words: Mapping[str, int]
    turns: Mapping[str, int]

    def share_of_words(self, player: str) -> float | None:
        """The player's share of all words, 0 to 1; ``None`` without words."""
        total = sum(self.words.values())
        return self.words[player] / total if total else None

    def domination(self, player: str) -> float | None:
        """The player's share of words relative to an even share: 1 is even, 2 twice as much; ``None`` without words."""
        share = self.share_of_words(player)
        return None if share is None else share * len(self.words)

    @property
    def most_talkative(self) -> tuple[list[str], float]:
        """The players with most words, as far as one digit of domination shows, and that; none and 0 without words."""
        times = {player: round(self.domination(player) or 0.0, 1) for player in self.words}
        most = max(times.values(), default=0.0)
        return [player for player in times if times[player] == most > 0], most


def talk_shares(transcript: Transcript) -> TalkShares:
    """The shares of a game, of what players said to others."""
    words = dict.fromkeys(transcript.player_names, 0)
    turns = dict.fromkeys(transcript.player_names, 0)
    last = None
    for message in spoken(transcript):
        words[message.speaker] += len(message.text.split())
        turns[message.speaker] += message.speaker != last
        last = message.speaker
    return TalkShares(words, turns)


def message_events(transcript: Transcript) -> Iterator[MessageEvent]:
    """One event for each message that a player said to others, in order, with those it addresses."""
    for message, addressed in addressed_players(transcript):
        yield MessageEvent(message.speaker, message.text, addressed)


def addressed_players(transcript: Transcript) -> Iterator[tuple[Message, tuple[str, ...]]]:
    """Each message that a player said to others, in order (``spoken``), with the players that it addresses.

    A message addresses the author of the message that it answers, the players whom its text names, and its recipients,
    unless these are all the others; a team's messages are for the whole team. Of two players each addresses the other.
    To name a player is to draw them in, also when it is about them rather than to them.
    """
    names = NameIndex.of(transcript.player_names)
    for message in spoken(transcript):
        others = [name for name in transcript.player_names if name != message.speaker]
        addressed = set(_receivers(message, transcript, names)) if len(others) > 1 else set(others)
        yield message, tuple([name for name in others if name in addressed])


def _receivers(message: Message, transcript: Transcript, names: NameIndex) -> Iterator[str]:
    answered = transcript.message(message.reply_to) if message.reply_to else None
    if answered is not None:
        yield answered.speaker
    is_for_all = {message.speaker, *message.recipients}.issuperset(transcript.player_names)
    if message.channel != "team" and not is_for_all:
        yield from message.recipients
    start = names.body_start(message.text, message.speaker)
    yield from (mention.player for mention in names.mentions(message.text, start))


def transcript_metrics(transcript: Transcript) -> SimulationMetrics:
    """The figures of a stored game.

    Memory and calls are what the simulation counted and stored with the game; the cost is what the file says of the
    whole game, where it says anything. What none of them says is unknown.

    Raises:
        InputError: What is stored with the game as counts cannot be read.
    """
    counts = stored_counts(transcript)
    collector = MetricsCollector(transcript.player_names)
    for event in message_events(transcript):
        collector.add(event)
    for message in thoughts(transcript):
        collector.add(ThoughtEvent(message.speaker))
    found, cost = replace(collector.get_metrics(), **asdict(counts)), transcript.cost
    if cost is None:
        return found
    tokens = [count for count in (cost.input_tokens, cost.output_tokens) if count is not None]
    return replace(found, total_tokens=sum(tokens) if tokens else None, estimated_cost_usd=cost.total_usd)
