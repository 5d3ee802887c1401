"""Find settings that name servers or files: in a file from elsewhere they may send keys to somebody."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.errors import InputError
from evaluation.store.backup._rows import quoted_name, tables_of
from evaluation.text.display import shortened

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LONGEST_WORDS = 300
_NAMES = frozenset({"base_url", "pricing", "recordings"})
"""What settings of a judge call an address or a file; see ``JudgeConfig``."""


@dataclass(frozen=True, slots=True)
class StoredAddress:
    """One address in a setting.

    Attributes:
        setting: The key of the setting.
        name: Where it stands in it: ``base_url``, or ``options.base_url``.
        address: The address itself, as it is stored.
    """

    setting: str
    name: str
    address: str

    @property
    def words(self) -> str:
        """The address with its place: ``judge.base_url = http://localhost:8080/v1``; shortened where it is long."""
        return shortened(f"{'.'.join(filter(None, (self.setting, self.name)))} = {self.address}", _LONGEST_WORDS)


def addresses_in(connection: DuckDBPyConnection, catalog: str) -> tuple[StoredAddress, ...]:
    """The addresses in the settings of an attached database, in the order of their keys.

    Raises:
        InputError: A setting cannot be read.
    """
    if ("main", "settings") not in tables_of(connection, catalog):
        return ()
    query = f'SELECT key, CAST(value AS text) FROM "{quoted_name(catalog)}".main.settings ORDER BY key'
    return tuple(found for key, value in connection.execute(query).fetchall() for found in _in_setting(key, value))


def _in_setting(key: str, value: str) -> Iterator[StoredAddress]:
    try:
        left = deque[tuple[str, str, object]]([("", "", json.loads(value))])
    except (ValueError, RecursionError):
        raise InputError(f"It cannot be used as a backup: the setting {key!r} cannot be read.") from None
    while left:
        place, name, held = left.popleft()
        if isinstance(held, dict):
            left += [(f"{place}.{inner}".removeprefix("."), inner, one) for inner, one in held.items()]
            left += [(place, "", inner) for inner in held]
        elif isinstance(held, list):
            left += [(place, name, one) for one in held]
        elif isinstance(held, str) and held and (name in _NAMES or _is_address(held)):
            yield StoredAddress(key, place, held)


def _is_address(text: str) -> bool:
    """Whether anything that reads addresses could take it for one: they skip spaces and line ends inside."""
    return "://" in "".join(text.split())
