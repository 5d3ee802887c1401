"""Preconditions of propositions: the registered functions, own ones from plug-in files among them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from typing import Protocol, TypeVar

from evaluation.errors import InputError
from evaluation.judging.propositions import Target

PLUGINS_VARIABLE = "DRAMATURG_PLUGINS"
"""Names modules, or paths of ``.py`` files, with commas."""


_LOCK = RLock()
_LOADING: list[str] = []


# The faults of somebody's module when it is imported; what else it raises is shown as it is.
_FAULTS = (ImportError, OSError, SyntaxError, NameError, AttributeError, TypeError, ValueError, LookupError, InputError)


def load_plugins() -> None:
    """Imports every module that the environment names, each once; one that cannot be used raises the same each time.

    Raises:
        InputError: One cannot be imported, or what it registers is refused.
    """
    with _LOCK:
        if _LOADING:
            return  # A plug-in asks for what is registered while it is imported.
        for name in filter(None, map(str.strip, os.environ.get(PLUGINS_VARIABLE, "").split(","))):
            if (fault := _load(name)) is not None:
                raise fault


@cache
def _load(name: str) -> InputError | None:
    """Imports a plug-in; the fault where it cannot be used."""
    _LOADING.append(name)
    try:
        if name.endswith(".py"):
            _load_file(Path(name).expanduser())
        else:
            import_module(name)
    except _FAULTS as error:
        problem = f"The plug-in cannot be loaded: {str(error).rstrip('.')}."
        return InputError(problem, place=name, remedy=f"Correct {PLUGINS_VARIABLE} or the module.")
    finally:
        _LOADING.pop()
    return None


def _load_file(path: Path) -> None:
    name = f"dramaturg_plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python module")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


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
