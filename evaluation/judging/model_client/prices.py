"""Prices of models: those that litellm lists, and those of a pricing.yaml."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, RootModel


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per token: read, read from the provider's cache, written."""

    input: float
    cached: float
    output: float

    def cost(self, input_tokens: float, cached_tokens: float, output_tokens: float) -> float:
        """The cost of these tokens; cached ones are among the ``input_tokens``."""
        cached = min(cached_tokens, input_tokens)
        return (input_tokens - cached) * self.input + cached * self.cached + output_tokens * self.output


_LITELLM_PRICES = "model_prices_and_context_window_backup.json"


def listed_price(model: str) -> Price | None:
    """The price in the price map that ships with litellm, read without importing litellm; ``None`` if not in it."""
    entries = _price_map()
    entry = entries.get(model)
    if entry is None:
        # Many models are listed without their provider ("anthropic/claude-haiku-4-5" as "claude-haiku-4-5").
        provider, _, name = model.partition("/")
        bare = entries.get(name)
        entry = bare if bare is not None and bare.get("litellm_provider") == provider else None
    if not entry or entry.get("input_cost_per_token") is None:
        return None
    read = float(entry["input_cost_per_token"])
    cached = entry.get("cache_read_input_token_cost")
    written = float(entry.get("output_cost_per_token") or 0.0)
    return Price(read, read if cached is None else float(cached), written)


@cache
def _price_map() -> dict[str, dict[str, Any]]:
    package = find_spec("litellm")
    if package is None or package.origin is None:
        return {}
    entries: dict[str, dict[str, Any]] = json.loads(Path(package.origin).with_name(_LITELLM_PRICES).read_bytes())
    return entries


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
    # Imported here, so that looking up an answer needs no YAML.
    from evaluation.files.yaml_files import read_model

    entries = read_model(path, RootModel[dict[str, _Entry]], remedy=_SHAPE).root
    return {name: _price(entry) for name, entry in entries.items()}


def _price(entry: _Entry) -> Price:
    cached = entry.input if entry.cached is None else entry.cached
    return Price(entry.input / _MILLION, cached / _MILLION, entry.output / _MILLION)
