"""Persona dimensions of plug-ins: declared once, judged or computed like the five that come with Dramaturg."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.errors import InputError
from evaluation.judging.propositions._plugins import load_plugins, loading_plugin
from evaluation.judging.propositions.file_faults import check_text
from evaluation.judging.propositions.proposition import (
    DEFAULT_AGENT,
    HIGHEST_SCORE,
    Dimension,
    Proposition,
    TargetType,
    add_dimension,
)
from evaluation.judging.targets import Target

MarkFunction = Callable[[Target], tuple[int, str] | None]
"""Gives a mark from 0 to 9 with its reason for what an agent said, or for a channel; ``None`` where it cannot tell."""

_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
_LONGEST_LABEL = 30
_LONGEST_TEXT = 300
_REMEDY = "Correct the plug-in's declare_dimension."


@dataclass(frozen=True, slots=True)
class OwnDimension:
    """A persona dimension that a plug-in declares.

    Attributes:
        label: As tables and pages call it.
        description: What it measures, in a sentence.
        propositions: As a proposition file lists them; empty for a function.
        function: Gives the mark in place of a judge; ``None`` for propositions.
        plugin: The module that declared it, as ``DRAMATURG_PLUGINS`` names it.
    """

    dimension: Dimension
    label: str
    description: str
    target_type: TargetType
    propositions: tuple[Mapping[str, Any], ...]
    function: MarkFunction | None
    plugin: str

    def mark_of(self, target: Target) -> tuple[int, str] | None:
        """The function's mark of a target with its reason; ``None`` where it cannot tell.

        Raises:
            InputError: The function gives something else.
        """
        found = None if self.function is None else self.function(target)
        if found is None:
            return None
        mark, reason = found if isinstance(found, tuple) and len(found) == 2 else (found, "")
        is_mark = isinstance(mark, int) and not isinstance(mark, bool) and 0 <= mark <= HIGHEST_SCORE
        if not is_mark or not isinstance(reason, str) or not reason.strip():
            raise InputError(
                f"The function of the dimension {self.dimension} gave {found!r:.60}.",
                place=self.plugin,
                remedy=f"Return a whole number from 0 to {HIGHEST_SCORE} and a reason, or None.",
            )
        return mark, reason


_OWN: dict[Dimension, OwnDimension] = {}
_CHECKED: dict[Dimension, tuple[Proposition, ...]] = {}


def declare_dimension(
    name: str,
    *,
    description: str,
    label: str = "",
    target_type: str = "agent",
    propositions: Sequence[Mapping[str, Any]] = (),
    function: MarkFunction | None = None,
) -> Dimension:
    """Declares a persona dimension beside the five that come with Dramaturg; call it when the plug-in is imported.

    Args:
        name: Lower-case letters, digits and "_"; stands in commands, JSON, the store and baselines.
        description: What it measures, in a sentence.
        label: As tables and pages call it; made of the name when left out.
        target_type: "agent", or "environment" for everybody in a channel.
        propositions: Claims for a judge, with the keys of a proposition file (id, claim, weight, inverted, ...).
        function: Computes the mark of what an agent said (or of a channel) in place of a judge.

    Raises:
        InputError: The name is taken, or something else cannot be used.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r:.60} is not a name of a dimension.", remedy="Use 2 to 40 lower-case letters, digits and '_'."
        )
    if name in (*Dimension, *_OWN):
        raise InputError(f"The dimension {name!r} exists already.", remedy="Choose another name.")
    if target_type not in set(TargetType):
        raise InputError(
            f"{target_type!r:.60} is not a target type of the dimension {name!r}.",
            remedy=f"Choose from {', '.join(TargetType)}.",
        )
    called = label or name.replace("_", " ").capitalize()
    for what, text, most in (("label", called, _LONGEST_LABEL), ("description", description, _LONGEST_TEXT)):
        if not isinstance(text, str) or not text.strip() or len(text) > most or not text.isprintable():
            raise InputError(
                f"The dimension {name!r} has no usable {what}.", remedy=f"Give a text of 1 to {most} characters."
            )
    if bool(propositions) == (function is not None) or (function is not None and not callable(function)):
        raise InputError(
            f"The dimension {name!r} needs either propositions or a function.", remedy="Give exactly one of them."
        )
    kind = TargetType(target_type)
    made = add_dimension(name, kind)
    _OWN[made] = OwnDimension(made, called, description, kind, tuple(propositions), function, loading_plugin() or name)
    return made


def own_dimensions() -> tuple[OwnDimension, ...]:
    """The dimensions of plug-ins in the order of their declaration.

    Raises:
        InputError: A plug-in cannot be loaded.
    """
    load_plugins()
    return tuple(_OWN.values())


def own_dimension(dimension: Dimension) -> OwnDimension | None:
    """The declaration of a plug-in's dimension; ``None`` for those that come with Dramaturg."""
    return next((each for each in own_dimensions() if each.dimension == dimension), None)


def is_computed(dimension: Dimension) -> bool:
    """Whether a plug-in's function gives the marks of a dimension, so that no judge is asked."""
    own = own_dimension(dimension)
    return own is not None and own.function is not None


def own_propositions() -> dict[Dimension, tuple[Proposition, ...]]:
    """The propositions that plug-ins declare for everybody; of a function one that says what it measures.

    Raises:
        InputError: A plug-in cannot be loaded, or its propositions have faults; names plug-in, dimension and fault.
    """
    for each in own_dimensions():
        if each.dimension not in _CHECKED:
            _CHECKED[each.dimension] = _propositions(each)
    return dict(_CHECKED)


def _propositions(own: OwnDimension) -> tuple[Proposition, ...]:
    listed = list(own.propositions) or [{"id": str(own.dimension), "claim": own.description}]
    file = {
        "dimension": str(own.dimension),
        "agent_id": DEFAULT_AGENT,
        "target_type": str(own.target_type),
        "propositions": listed,
    }
    try:
        checked = check_text(json.dumps(file).encode(), f"plug-in {own.plugin}")
    except (TypeError, ValueError) as error:
        raise _faulty(own, str(error)) from None
    if checked.errors:
        raise _faulty(own, "; ".join(f"{fault.field}: {fault.text}" for fault in checked.errors))
    return checked.propositions


def _faulty(own: OwnDimension, fault: str) -> InputError:
    words = f"The propositions of the dimension {own.dimension} cannot be used: {fault.rstrip('.')}."
    return InputError(words, place=own.plugin, remedy=_REMEDY)
