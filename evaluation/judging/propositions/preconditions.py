"""Conditions under which a proposition applies, by the name that its file gives.

A condition that does not hold makes the claim trivially true: score 9, marked as such, without asking the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from evaluation.errors import InputError
from evaluation.judging.propositions._plugins import load_plugins
from evaluation.judging.targets import Target

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
