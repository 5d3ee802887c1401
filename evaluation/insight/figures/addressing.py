"""Find the players whom each message of a stored transcript addresses, and the figures of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from evaluation.insight.figures.collector import MetricsCollector
from evaluation.insight.figures.events import LLMCallEvent, MessageEvent
from evaluation.insight.figures.metrics import SimulationMetrics
from evaluation.text.names import NameIndex
from evaluation.transcript import Message, Transcript


def message_events(transcript: Transcript) -> Iterator[MessageEvent]:
    """One event per message of the players, in order; words to the game engine are left out.

    A message addresses the author of the message that it answers, the players whom its text names, and in a private
    conversation its recipients. To name a player is to draw them in, also when it is about them rather than to them.
    """
    names = NameIndex.of(transcript.player_names)
    players = frozenset(transcript.player_names)
    for message in transcript.messages:
        if message.channel != "system" and not message.is_control:
            receivers = dict.fromkeys(_receivers(message, transcript, names))
            yield MessageEvent(
                message.speaker,
                message.text,
                tuple(name for name in receivers if name in players and name != message.speaker),
            )


def _receivers(message: Message, transcript: Transcript, names: NameIndex) -> Iterator[str]:
    answered = transcript.message(message.reply_to) if message.reply_to else None
    if answered is not None:
        yield answered.speaker
    if message.channel == "private":
        yield from message.recipients
    start = names.body_start(message.text, message.speaker)
    yield from (mention.player for mention in names.mentions(message.text, start))


def transcript_metrics(transcript: Transcript, calls: Iterable[LLMCallEvent] = ()) -> SimulationMetrics:
    """The figures of a stored game. Memory is unknown in it, and cost is what the file says of the whole game.

    Args:
        transcript: The game.
        calls: What is known of the calls that wrote its messages, where it was simulated here.
    """
    collector = MetricsCollector(transcript.player_names)
    for event in message_events(transcript):
        collector.add(event)
    for call in calls:
        collector.add(call)
    found, cost = collector.get_metrics(), transcript.cost
    if cost is None:
        return found
    tokens = [count for count in (cost.input_tokens, cost.output_tokens) if count is not None]
    return replace(found, total_tokens=sum(tokens) if tokens else None, estimated_cost_usd=cost.total_usd)
