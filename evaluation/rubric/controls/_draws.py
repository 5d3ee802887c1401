"""The distribution of a number under random rearrangement, and the percentile of the real value in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.transcript import Transcript

DRAWS = 200
"""How many copies are drawn; up to so many arrangements are enumerated instead."""
LEAST_P = 0.05
"""Where even the best arrangement cannot reach this, nothing can be told."""
TOO_FEW = "too few arrangements to tell"

_KEYS = ("chance", "difference", "z", "p", "draws")
CONTROL_KEYS = (*_KEYS, "reason")
"""What every control holds besides its companion."""
COMPANION_KEYS = ("name", "value", *_KEYS)
"""What every companion holds."""
# What differs by less is the same number, computed in another order.
_SAME = 1e-9


def generator(transcript: Transcript, purpose: int) -> np.random.Generator:
    """The random numbers of one purpose, the same for the same transcript."""
    return np.random.default_rng([int(transcript.id, 16), purpose])


def against_chance(real: float, draws: Sequence[float], *, enumerated: bool = False) -> dict[str, Any]:
    """The place of ``real`` among the numbers that chance gives.

    Args:
        real: The number of the transcript as it is.
        draws: The numbers of its copies; those equal to the original stay in.
        enumerated: Whether ``draws`` are all arrangements there are, the original included.

    Returns:
        ``chance`` (their mean), ``difference`` (real - chance), ``z`` (in standard deviations, ``ddof`` 0; ``None``
        without spread), ``p`` (one-sided: the share of arrangements at least as good where all were enumerated, else
        (1 + draws at least as good) / (draws + 1)) and ``draws``. All ``None`` without any draw.
    """
    if not len(draws):
        return dict.fromkeys(_KEYS)
    values = np.asarray(draws, dtype=float)
    chance, spread = float(values.mean()), float(values.std())
    as_good = int((values >= real - _SAME).sum())
    p = as_good / len(values) if enumerated else (1 + as_good) / (len(values) + 1)
    z = (real - chance) / spread if spread > _SAME else None
    return {"chance": chance, "difference": real - chance, "z": z, "p": p, "draws": len(values)}


def control(found: Mapping[str, Any] | None, reason: str | None, companion: Mapping[str, Any] | None) -> dict[str, Any]:
    """A control with all its keys; those that could not be computed are ``None``."""
    return {**dict.fromkeys(_KEYS), **(found or {}), "reason": reason, "companion": companion and dict(companion)}


def no_control(reason: str) -> dict[str, Any]:
    """A control with all its keys that could not be computed."""
    return control(None, reason, None)


def companion(name: str, value: float | None, found: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A companion with all its keys; those that could not be computed are ``None``."""
    return {"name": name, "value": value, **dict.fromkeys(_KEYS), **(found or {})}
