"""Find the players whom each message of a stored transcript addresses, the figures of it, and shares of talk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from evaluation.insight._questions import spoken, thoughts
from evaluation.insight.collector import MessageEvent, MetricsCollector, ThoughtEvent, stored_counts
from evaluation.insight.metrics import SimulationMetrics
from evaluation.text.names import NameIndex
from evaluation.transcript import Message, Transcript


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
