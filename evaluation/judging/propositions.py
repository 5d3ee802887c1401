"""Propositions, the targets that they are asked about, and the preconditions under which they apply."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from importlib import import_module
from typing import Protocol, TypeVar

from evaluation.errors import InputError
from evaluation.judging.answers import HIGHEST_SCORE
from evaluation.judging.fencing import as_message, as_name

VARIABLES: Mapping[str, str] = {
    "agent_name": "the agent's display name",
    "action": "the message that is judged",
    "channel_name": "the channel that the message was sent in",
    "recipient_name": "who a direct message went to",
}
"""What a claim may name, and what stands in its place."""

_REMEDIES: Mapping[str, str] = {
    "agent_name": "A claim about a channel cannot name one agent: write the names, or 'the speakers'.",
    "action": "A claim about a whole channel cannot speak of one action: leave {{action}} out.",
    "channel_name": "Its messages stand in several channels: leave {{channel_name}} out, or ask about one {{action}}.",
    "recipient_name": "Only direct messages have a recipient: add 'precondition: is_direct_message'.",
}
_VARIABLE = re.compile(r"\{\{[ \t]{0,10}([A-Za-z_][A-Za-z0-9_]{0,60})[ \t]{0,10}\}\}")


class MissingVariableError(InputError):
    """A claim names a variable that has no value for what is judged."""


@lru_cache(maxsize=1024)
def variables_of(claim: str) -> frozenset[str]:
    """The names between double braces in a claim, known or not."""
    return frozenset(_VARIABLE.findall(claim))


def has_stray_braces(claim: str) -> bool:
    """Whether double braces are left that enclose no name."""
    rest = _VARIABLE.sub("", claim)
    return "{{" in rest or "}}" in rest


def fill(claim: str, values: Mapping[str, str], *, place: str = "") -> str:
    """The claim with its variables replaced, once: braces inside a value stay as they are.

    Args:
        claim: The claim as its file states it.
        values: By variable. Untrusted text must have been made safe for the place where the claim will stand.
        place: The proposition's id or file and line, for the error.

    Raises:
        MissingVariableError: A variable has no value.
    """
    missing = sorted(name for name in variables_of(claim) if name not in values)
    if missing:
        name = missing[0]
        remedy = _REMEDIES.get(name, f"Known are {', '.join(VARIABLES)}.")
        raise MissingVariableError(f"There is no value for {{{{{name}}}}}.", place=place, remedy=remedy)
    return _VARIABLE.sub(lambda found: values[found[1]], claim)


def fill_known(claim: str, values: Mapping[str, str]) -> str:
    """The claim with those of its variables replaced that have a value; for people, where no judge is asked."""
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), claim)


DEFAULT_AGENT = "_default"
"""The ``agent_id`` of the propositions that apply to every agent."""


class Dimension(StrEnum):
    """The subject of a set of propositions. ``suitability`` is asked by the action gate only."""

    ADHERENCE = "adherence"
    CONSISTENCY = "consistency"
    FLUENCY = "fluency"
    CONVERGENCE = "convergence"
    IDEAS_QUANTITY = "ideas_quantity"
    SUITABILITY = "suitability"


class TargetType(StrEnum):
    """Whether propositions are about one agent, or about everybody in a channel."""

    AGENT = "agent"
    ENVIRONMENT = "environment"


ENVIRONMENT_DIMENSIONS = frozenset((Dimension.CONVERGENCE, Dimension.IDEAS_QUANTITY))
"""The dimensions of a whole channel; all others are about one agent."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a trajectory that a judge sees: the first and the last messages, each at most once."""

    first_n: int
    last_n: int


EVALUATION_WINDOW = Window(10, 100)
"""The specification's default for a claim about a whole trajectory."""

ACTION_WINDOW = Window(5, 10)
"""The specification's default for a claim about one action."""


@dataclass(frozen=True, slots=True)
class Proposition:
    """One claim, as its file states it.

    Attributes:
        id: Unique within its dimension; an agent's file overrides a default by it.
        claim: With template variables such as ``{{agent_name}}``.
        weight: Importance from 0 to 1.
        is_inverted: Whether a high mark is bad: the score is then 9 less the mark.
        recommendations_for_improvement: What to tell an agent that scores low; empty for nothing.
        has_double_check: Whether the judge is asked to reconsider.
        precondition: Name of a registered function; ``None`` when the claim always applies.
        first_n: As in the file; ``None`` takes the default of its kind.
        last_n: The same for the end of the trajectory.
        source: The file and line that it stands in, for people.
    """

    id: str
    claim: str
    dimension: Dimension
    agent_id: str = DEFAULT_AGENT
    weight: float = 1.0
    is_inverted: bool = False
    includes_personas: bool = True
    target_type: TargetType = TargetType.AGENT
    first_n: int | None = None
    last_n: int | None = None
    recommendations_for_improvement: str = ""
    has_double_check: bool = False
    precondition: str | None = None
    source: str = field(default="", compare=False)

    @property
    def is_about_an_action(self) -> bool:
        """Whether the claim is asked of each message (it names ``{{action}}``) instead of a whole trajectory."""
        return "action" in variables_of(self.claim)

    @property
    def is_asked_of_messages(self) -> bool:
        """Whether any variable of the claim belongs to a single message: the action, or who was addressed."""
        return not {"action", "recipient_name"}.isdisjoint(variables_of(self.claim))

    @property
    def window(self) -> Window:
        """The judge's window: the file's numbers, else 5 and 10 for one action, 10 and 100 for a trajectory."""
        default = ACTION_WINDOW if self.is_about_an_action else EVALUATION_WINDOW
        return Window(
            default.first_n if self.first_n is None else self.first_n,
            default.last_n if self.last_n is None else self.last_n,
        )

    def score_of(self, mark: int, *, is_marked: bool = False) -> int:
        """The score that a judge's mark amounts to, 0 to 9.

        Args:
            mark: From 0 to 9.
            is_marked: Whether the mark is a 9 for missing data or a precondition that does not hold; such a 9 says
                nothing about the agent and is never turned round.
        """
        return HIGHEST_SCORE - mark if self.is_inverted and not is_marked else mark


@dataclass(frozen=True, slots=True)
class TrajectoryEvent:
    """One message as the target lived through it.

    Attributes:
        transcript_id: The transcript that holds the message; ``message_id`` is unique within it.
        speaker: As named in the transcript; untrusted, as is ``text``.
        is_action: Whether the target said it (in a channel: any of its speakers); otherwise it is a stimulus.
        channel_name: ``None`` where the transcript names no channel; a claim calls it "public" or "private" then.
        recipients: Who it was addressed to; empty for everybody.
        is_private: Whether only its recipients could read it.
    """

    transcript_id: str
    message_id: str
    speaker: str
    text: str
    is_action: bool
    channel_name: str | None = None
    recipients: tuple[str, ...] = ()
    is_private: bool = False
    sent_at: datetime | None = None

    @property
    def reference(self) -> str:
        """Unique over all transcripts: what citations of persona judgements resolve to."""
        return f"{self.transcript_id}:{self.message_id}"

    @property
    def is_direct(self) -> bool:
        """Whether it is a direct message: private, and to one person."""
        return self.is_private and len(self.recipients) == 1


@dataclass(frozen=True, slots=True)
class Target:
    """The subject that a judge examines.

    Attributes:
        name: Display name of the agent, or of the channel; untrusted.
        trajectory: What was said, in order, each message once. With an ``action``, only what came before it.
        personas: Persona texts by display name: the agent's own, or those of a channel's speakers; untrusted.
        action: The message that is judged; ``None`` when the whole trajectory is.
    """

    kind: TargetType
    name: str
    trajectory: tuple[TrajectoryEvent, ...]
    personas: Mapping[str, str] = field(default_factory=dict)
    action: TrajectoryEvent | None = None

    @property
    def events(self) -> tuple[TrajectoryEvent, ...]:
        """The trajectory with the judged action at its end."""
        return self.trajectory if self.action is None else (*self.trajectory, self.action)

    def at(self, position: int) -> Target:
        """The same target when the message at ``position`` of the trajectory had just been said."""
        return replace(self, trajectory=self.trajectory[:position], action=self.trajectory[position])


def message_reference(reference: str) -> tuple[str, str]:
    """Transcript id and message id of an ``Event.reference``."""
    transcript_id, _, message_id = reference.partition(":")
    return transcript_id, message_id


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


PLUGINS_VARIABLE = "DRAMATURG_PLUGINS"
"""Names modules, with commas."""


@cache
def load_plugins() -> None:
    """Imports every module that the environment names.

    Raises:
        InputError: One cannot be imported.
    """
    for name in filter(None, map(str.strip, os.environ.get(PLUGINS_VARIABLE, "").split(","))):
        try:
            import_module(name)
        except (ImportError, SyntaxError, NameError, AttributeError, TypeError, ValueError, LookupError) as error:
            problem = f"The plug-in cannot be loaded: {str(error).rstrip('.')}."
            raise InputError(problem, place=name, remedy=f"Correct {PLUGINS_VARIABLE} or the module.") from None


FEWEST_WORDS = 5


class Precondition(Protocol):
    """Called with named arguments, as in the specification (after TinyTroupe, arXiv:2507.09788)."""

    def __call__(self, *, target: Target, additional_context: str, claim_variables: Mapping[str, str]) -> bool: ...


_Function = TypeVar("_Function", bound=Precondition)
_REGISTERED: dict[str, Precondition] = {}


def register(name: str) -> Callable[[_Function], _Function]:
    """Registers the decorated function under ``name``, for ``precondition:`` in proposition files.

    Raises:
        InputError: The name is taken.
    """

    def keep(function: _Function) -> _Function:
        if name in _REGISTERED:
            raise InputError(f"The precondition {name!r} exists already.", remedy="Choose another name.")
        _REGISTERED[name] = function
        return function

    return keep


def registered() -> tuple[str, ...]:
    """The names that a proposition file may use, sorted; those of plug-ins are loaded first.

    Raises:
        InputError: A plug-in cannot be loaded.
    """
    load_plugins()
    return tuple(sorted(_REGISTERED))


def precondition_named(name: str) -> Precondition:
    """The function registered under ``name``.

    Raises:
        InputError: There is none, or a plug-in cannot be loaded.
    """
    if name not in _REGISTERED:
        load_plugins()
    if name not in _REGISTERED:
        raise InputError(f"There is no precondition {name!r}.", remedy=f"Registered are {', '.join(registered())}.")
    return _REGISTERED[name]


@register("has_spoken_before")
def has_spoken_before(*, target: Target, **_: object) -> bool:
    """The agent said something before the message that is judged, so that there is something to agree with."""
    return any(event.is_action for event in target.trajectory)


@register("has_several_messages")
def has_several_messages(*, target: Target, **_: object) -> bool:
    """The agent said at least two messages, so that repetition is possible."""
    return sum(event.is_action for event in target.events) >= 2


@register("has_several_speakers")
def has_several_speakers(*, target: Target, **_: object) -> bool:
    """At least two people speak, so that voices can be compared."""
    return len({event.speaker for event in target.events if event.is_action}) >= 2


@register("has_persona")
def has_persona(*, target: Target, **_: object) -> bool:
    """A persona of the judged agent is known."""
    return any(text.strip() for text in target.personas.values())


@register("is_direct_message")
def is_direct_message(*, target: Target, **_: object) -> bool:
    """The judged message went to one person only."""
    return target.action is not None and target.action.is_direct


@register("is_long_enough")
def is_long_enough(*, target: Target, **_: object) -> bool:
    """The judged message has five words or more: less says little about a manner of speaking."""
    return target.action is not None and len(target.action.text.split()) >= FEWEST_WORDS


@register("was_addressed")
def was_addressed(*, target: Target, **_: object) -> bool:
    """Whether another agent spoke before the judged message, so that there is something to react to."""
    return any(not event.is_action for event in target.trajectory)
