"""Reading the YAML files that come with the code."""

from __future__ import annotations

from typing import Any

import yaml

# The loader written in C takes a tenth of the time; PyYAML's wheels carry it, a build from source may not.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> Any:
    """The document in ``text``, plain data only."""
    return yaml.load(text, Loader=_LOADER)
