"""Claims with variables: ``"{{agent_name}} speaks naturally"``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from evaluation.errors import InputError

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
    "channel_name": "Its messages stand in several channels, or in one without a name: leave {{channel_name}} out.",
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
