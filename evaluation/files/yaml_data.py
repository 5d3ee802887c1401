"""Read the YAML files that ship with the code."""

from __future__ import annotations

from typing import Any


def parse_yaml(text: str) -> Any:
    """The document in ``text``, plain data only.

    Raises:
        yaml.YAMLError: It is none.
    """
    # Imported here, as most commands read no YAML.
    import yaml

    # The loader written in C takes a tenth of the time; PyYAML's wheels carry it, a build from source may not.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text, Loader=loader)
