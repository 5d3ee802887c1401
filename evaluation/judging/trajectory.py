"""Trajectories as text: what an agent did and met, or what was said in a channel, in order and each message once.

The format is the specification's, ``Agent acts: [MESSAGE]`` for what the target said and ``Speaker --> Agent:
[STIMULUS]`` for what reached it, with the words in the place of the brackets. Every message has a number, ``[M12]``, by
which a judge cites it. TinyTroupe prints a channel once
per listener, and repeats messages when the windows of its beginning and end overlap; both would be counted twice by a
judge, so neither happens here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.judging.guard.fencing import as_message, as_name
from evaluation.judging.propositions.proposition import TargetType, Window
from evaluation.judging.targets import Target, TrajectoryEvent

LONGEST_MESSAGE = 4_000
"""Characters of one message that a judge sees; how many are left out is said."""

_QUOTE = "| "
_EVERYBODY = "everybody"
_NAMELESS = "somebody"


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event with the number by which it is cited: its place in the whole trajectory, from 1."""

    number: int
    event: TrajectoryEvent


def windowed(events: Sequence[TrajectoryEvent], window: Window) -> tuple[Numbered, ...]:
    """The first and the last events of ``window``, in order, each once even where the two overlap."""
    first_of_last = max(len(events) - window.last_n, window.first_n, 0)
    positions = [*range(min(window.first_n, len(events))), *range(first_of_last, len(events))]
    return tuple([Numbered(position + 1, events[position]) for position in positions])


def trajectory_text(target: Target, shown: Sequence[Numbered], total: int) -> str:
    """The events as the judge reads them, without fences.

    Args:
        target: Whose trajectory it is.
        shown: From :func:`windowed`.
        total: How many events there are in all, so that what is left out at the end is said too.
    """
    return "\n".join(_lines(target, shown, total)) or "(nothing was said)"


def _lines(target: Target, shown: Sequence[Numbered], total: int) -> Iterator[str]:
    last = 0
    transcript_id = shown[0].event.transcript_id if shown else ""
    for each in shown:
        yield from _omitted(each.number - last - 1)
        if each.event.transcript_id != transcript_id:
            transcript_id = each.event.transcript_id
            yield "(another conversation begins)"
        yield event_text(target, each)
        last = each.number
    yield from _omitted(total - last)


def _omitted(count: int) -> Iterator[str]:
    if count > 0:
        yield f"({count} message{'' if count == 1 else 's'} left out)"


def event_text(target: Target, numbered: Numbered) -> str:
    """One event in a line: its number, who did what to whom, and the words; further lines of them are quoted.

    A name has no colon here, so that the words begin behind the first one.
    """
    event = numbered.event
    speaker = _label(event.speaker)
    if event.is_action:
        head = f"{speaker} acts"
    else:
        listener = _label(target.name) if target.kind is TargetType.AGENT else _EVERYBODY
        head = f"{speaker} --> {listener}"
    return f"[M{numbered.number}] {head}: {_words(event.text)}"


def _label(name: str) -> str:
    # A quotation mark before a colon looks like the key of a JSON object and would be neutralised.
    return as_name(name).replace(":", " ").replace("-->", " ").rstrip("\"' ") or _NAMELESS


def _words(text: str) -> str:
    words = as_message(text[:LONGEST_MESSAGE])
    cut = len(text) - LONGEST_MESSAGE
    quoted = words.removeprefix(_QUOTE)
    return f"{quoted}\n{_QUOTE}(cut: {cut:,} more characters)" if cut > 0 else quoted
