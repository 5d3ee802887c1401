"""Prices of tokens from the user's own price list."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, RootModel

from evaluation.files.yaml_models import read_model
from evaluation.judging.model_client.usage import Price

_MILLION = 1_000_000
_SHAPE = (
    "See docs/judging.md: a model's name, and below it input, output and, if it differs, cached, in USD per million."
)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)


def read_prices(path: Path) -> Mapping[str, Price]:
    """The prices in a ``pricing.yaml``, by the model's name.

    Raises:
        InputError: The file cannot be read or is not as described.
    """
    entries = read_model(path, RootModel[dict[str, _Entry]], remedy=_SHAPE).root
    return {name: _price(entry) for name, entry in entries.items()}


def _price(entry: _Entry) -> Price:
    cached = entry.input if entry.cached is None else entry.cached
    return Price(entry.input / _MILLION, cached / _MILLION, entry.output / _MILLION)
