"""Format counts, enumerations, short lines and missing numbers for people and for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from evaluation.escaping import cut


def counted(count: float, noun: str) -> str:
    """A count with its noun: "1 game", "3 games", "12,000 messages", "2.5 games"."""
    return f"{grouped(count)} {noun}{'' if count == 1 else 's'}"


def grouped(number: float) -> str:
    """A number with commas between thousands: "12,000"; one decimal where it is not whole: "2.5"."""
    return f"{int(number):,}" if float(number).is_integer() else f"{number:,.1f}"


def half_up(value: float, digits: int) -> float:
    """A number rounded as people round: 4.25 is 4.3, where ``round`` says 4.2. Noise of floating point is left out."""
    return float(Decimal(f"{value:.12g}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def fixed(value: float, digits: int = 1, *, signed: bool = False) -> str:
    """A number with that many decimals, rounded by :func:`half_up`: "4.3", "+1.1", "\u22120.4"."""
    return f"{half_up(value, digits):{'+' if signed else ''}z.{digits}f}".replace("-", "\u2212")


def significant_text(number: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """A number with that many significant digits and no exponent: "0.0000123", "0.61", "1,230"; "not known" for none.

    Nothing but 0 is ever written as 0, so that small costs can be told apart.
    """
    value = number_or_none(number)
    if value is None:
        return "not known"
    places = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    rounded = round(value, places)
    text = f"{rounded:{'+' if signed and rounded else ''},.{min(max(places, 0), _MOST_PLACES)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_MOST_PLACES = 100


def cost_text(usd: float | None) -> str:
    """US dollars in significant digits, cents at least: "0.0000123 USD", "0.50 USD", "1,234.56 USD", "0 USD"."""
    value = number_or_none(usd)
    if not value:
        return significant_text(value) if value is None else "0 USD"
    whole, _, rest = (significant_text(value) if abs(value) < 1 else dollars(value)).partition(".")
    return f"{whole}.{rest.ljust(2, '0')} USD"


def dollars(usd: float) -> str:
    """An amount with cents, and the digits that tell it from a limit of whole dollars: "1,234.56", "3.004"."""
    digits = telling_digits(usd, round(usd), 2)
    return f"{half_up(usd, digits):,.{digits}f}"


def telling_digits(value: float, limit: float, least: int) -> int:
    """Decimals, ``least`` or more, that show on which side of ``limit`` a value lies: 79.97 is not 80.0."""
    side = (value > limit) - (value < limit)
    for digits in range(least, _MOST_DIGITS):
        shown = half_up(value, digits)
        if (shown > limit) - (shown < limit) == side:
            return digits
    return _MOST_DIGITS


_MOST_DIGITS = 9


def listed(parts: Sequence[str]) -> str:
    """The parts as an enumeration: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def quoted(words: Sequence[str], most: int = 5) -> str:
    """Quoted words as an enumeration, shortened after ``most``: ``"think", "trust" and 3 more``."""
    shown = [f'"{word}"' for word in words[:most]]
    return listed([*shown, f"{len(words) - most} more"] if len(words) > most else shown)


def shortened(text: str, limit: int) -> str:
    """``text`` on one line, cut to ``limit`` characters with an ellipsis."""
    return cut(" ".join(text[: 4 * limit].split()), limit)


def number_or_none(value: float | None) -> float | None:
    """The number; ``None`` for a missing, undefined (NaN) or infinite one, as JSON has no word for these."""
    return None if value is None or not math.isfinite(value) else float(value)


def json_data(value: Any) -> Any:
    """A value as JSON holds it: dataclasses by field, enums and times as text, NaN and infinity as ``None``."""
    # Takes a sixth of the time of ``dramaturg --help`` to import.
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, inf_nan_mode="null", fallback=dict)


def picked_data(one: object, *names: str) -> dict[str, Any]:
    """These attributes by their names, their values as :func:`json_data` gives them."""
    found: dict[str, Any] = json_data({name: getattr(one, name) for name in names})
    return found


def time_words(moment: datetime | None, zone: tzinfo | None = None) -> str:
    """A moment to the minute: "2026-05-01 14:05"; empty where it is not known.

    Args:
        moment: With its time zone.
        zone: In which it is told; ``None`` for this computer's.
    """
    return "" if moment is None else f"{datetime.fromtimestamp(moment.timestamp(), zone):%Y-%m-%d %H:%M}"
