"""Settings by key: the thresholds of today's verdicts, the size limits of imports, and who reads them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evaluation.errors import InputError
from evaluation.judging.judge_config import SETTINGS_KEY
from evaluation.readers.document import Limits
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS, DEFINITIONS
from evaluation.store._bulk_rows import require_text
from evaluation.store.transactions import StorePart

if TYPE_CHECKING:
    pass

_THRESHOLDS = "thresholds"
_TEST_SIZE = "test_size"
DEFAULT_TEST_SIZE = 3
_LARGEST_TEST_SIZE = 100
_LIMITS = "import_limits"
_JUDGE_IMPORTS = "judge_imports"
_LARGEST_FACTOR = 20


class Settings(StorePart):
    """Reads and changes settings. Keys of providers are never among them: they come from the environment."""

    def get(self, key: str, default: Any = None) -> Any:
        """The value stored under ``key``, else ``default``; also where another program stored what no setter takes."""
        found = self._store.rows("SELECT value FROM settings WHERE key = ?", [key])
        return json.loads(found[0][0]) if found and setting_fault(key, found[0][0]) is None else default

    def set(self, key: str, value: Any) -> None:
        """Stores a JSON-compatible value under ``key``, in place of what was there.

        Raises:
            InputError: The value cannot be written as JSON.
        """
        require_text(key=key)
        try:
            packed = json.dumps(value, ensure_ascii=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"The value cannot be stored: {error}.", place=key) from None
        self._store.write("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", [key, packed])

    def thresholds(self) -> dict[str, float]:
        """Today's threshold of every metric, in the rubric's order; the rubric's own where none was set."""
        chosen = self.get(_THRESHOLDS, {})
        return {name: float(chosen.get(name, default)) for name, default in DEFAULT_THRESHOLDS.items()}

    def set_threshold(self, metric: str, value: float | None) -> None:
        """Changes a threshold for verdicts from now on; ``None`` returns to the rubric's.

        Raises:
            InputError: No such metric, or a value outside its scale.
        """
        _check_threshold(metric, value)
        with self._store.unit(write=True, join=True):
            chosen = {name: held for name, held in self.get(_THRESHOLDS, {}).items() if name != metric}
            self.set(_THRESHOLDS, chosen if value is None else chosen | {metric: float(value)})
            self._store.results.judge_again(metric, self.thresholds()[metric])

    def test_size(self) -> int:
        """Number of games that form a test of an iteration; the rubric's 3 where nothing was set."""
        return int(self.get(_TEST_SIZE, DEFAULT_TEST_SIZE))

    def set_test_size(self, games: int) -> None:
        """Changes how many games form a test, for all iterations from now on.

        Raises:
            InputError: Less than one game, or more than a hundred.
        """
        _check_test_size(games)
        self.set(_TEST_SIZE, games)

    def judges_imports(self) -> bool:
        """Whether a model reads every game that is imported; not where nothing was set."""
        return bool(self.get(_JUDGE_IMPORTS, False))

    def set_judges_imports(self, is_on: bool) -> None:
        """Changes whether a model reads every game that is imported."""
        self.set(_JUDGE_IMPORTS, is_on)

    def limits(self) -> Limits:
        """Size limits of imports; the defaults where nothing was set."""
        chosen = self.get(_LIMITS, {})
        known = asdict(Limits())
        return Limits(**{name: int(value) for name, value in chosen.items() if name in known})

    def set_limits(self, values: Mapping[str, int | None]) -> None:
        """Changes limits by the names of their fields; ``None`` returns to the default. The others stay.

        Raises:
            InputError: No such limit, or a value below 1 or above twenty times the default.
        """
        for name, value in values.items():
            _check_limit(name, value)
        with self._store.unit(write=True, join=True):
            held = self.get(_LIMITS, {}) | dict(values)
            self.set(_LIMITS, {name: value for name, value in held.items() if value is not None})


def setting_fault(key: str, text: str) -> str | None:
    """Why a stored setting cannot be used, in words; ``None`` where it can be, or where its key is not known.

    Args:
        key: The key.
        text: The JSON that is stored under it.
    """
    try:
        value = json.loads(text)
        check = _CHECKS.get("order:" if key.startswith("order:") else key)
        if check is not None:
            check(value)
    except RecursionError:
        return "it is nested too deeply"
    except InputError as error:
        return error.message
    except (ValueError, TypeError, AttributeError):
        return "it does not have the shape of that setting"
    return None


def _require(value: object, *kinds: type) -> None:
    if type(value) not in kinds:
        raise TypeError


def _check_thresholds(value: dict[str, Any]) -> None:
    _require(value, dict)
    for metric, threshold in value.items():
        if metric in DEFINITIONS:
            _require(threshold, int, float)
            _check_threshold(metric, threshold)


def _check_limits(value: dict[str, Any]) -> None:
    _require(value, dict)
    for name, limit in value.items():
        if name in asdict(Limits()):
            _require(limit, int)
            _check_limit(name, limit)


def _check_threshold(metric: str, value: float | None) -> None:
    definition = DEFINITIONS.get(metric)
    if definition is None:
        raise InputError(f"{metric!r} is not a metric.", remedy=f"Choose from {', '.join(DEFINITIONS)}.")
    scale = definition.scale
    if value is not None and not (math.isfinite(value) and scale.low <= value <= scale.high):
        raise InputError(
            f"{value:g} is not on the scale of {definition.label}.",
            remedy=f"Give a number from {scale.low:g} to {scale.high:g}.",
        )


def _check_test_size(games: int) -> None:
    _require(games, int)
    if not 1 <= games <= _LARGEST_TEST_SIZE:
        raise InputError(
            f"{games} games cannot form a test.",
            place=_TEST_SIZE,
            remedy=f"Give a whole number from 1 to {_LARGEST_TEST_SIZE}; the rubric's is {DEFAULT_TEST_SIZE}.",
        )


_CHECKS: Mapping[str, Callable[[Any], None]] = {
    _THRESHOLDS: _check_thresholds,
    _TEST_SIZE: _check_test_size,
    _LIMITS: _check_limits,
    _JUDGE_IMPORTS: lambda value: _require(value, bool),
    SETTINGS_KEY: lambda value: _require(value, dict, type(None)),
    "order:": lambda value: _require(value, dict),
}
"""What the known settings hold; the fields of a judge's are checked where they are used."""


def _check_limit(name: str, value: int | None) -> None:
    defaults = asdict(Limits())
    if name not in defaults:
        raise InputError(f"{name!r} is not a limit.", remedy=f"Choose from {', '.join(defaults)}.")
    largest = _LARGEST_FACTOR * defaults[name]
    if value is not None and not 1 <= value <= largest:
        raise InputError(
            f"{value:,} cannot be the limit.",
            place=name,
            remedy=f"Give a whole number from 1 to {largest:,}; the default is {defaults[name]:,}.",
        )
