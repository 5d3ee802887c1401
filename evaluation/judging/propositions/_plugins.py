"""Load modules of other people that register preconditions: from an environment variable and from entry points."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from evaluation.errors import InputError

PLUGINS_VARIABLE = "DRAMATURG_PLUGINS"
"""Names modules, or paths of ``.py`` files, with commas."""

ENTRY_POINTS = "dramaturg.plugins"
"""The group of entry points whose modules are imported."""


def load_plugins() -> None:
    """Imports every module that the environment or an installed package names; each once.

    Raises:
        InputError: One cannot be imported.
    """
    _load_entry_points()
    for name in filter(None, map(str.strip, os.environ.get(PLUGINS_VARIABLE, "").split(","))):
        _load(name)


@cache
def _load_entry_points() -> None:
    for point in entry_points(group=ENTRY_POINTS):
        try:
            point.load()
        except ImportError as error:
            raise _unusable(f"entry point {point.name} ({point.value})", error) from None


@cache
def _load(name: str) -> None:
    try:
        if name.endswith(".py"):
            _load_file(Path(name).expanduser())
        else:
            import_module(name)
    except (ImportError, OSError, SyntaxError) as error:
        raise _unusable(name, error) from None


def _load_file(path: Path) -> None:
    name = f"dramaturg_plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python module")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def _unusable(place: str, error: Exception) -> InputError:
    return InputError(
        f"The plug-in cannot be loaded: {error}.", place=place, remedy=f"Correct {PLUGINS_VARIABLE} or the module."
    )
