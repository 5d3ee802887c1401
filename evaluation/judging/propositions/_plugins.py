"""Load modules of other people that register preconditions: from the environment and entry points."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock

from evaluation.errors import InputError

PLUGINS_VARIABLE = "DRAMATURG_PLUGINS"
"""Names modules, or paths of ``.py`` files, with commas."""

ENTRY_POINTS = "dramaturg.plugins"
"""The group of entry points whose modules are imported."""

_LOCK = RLock()
_LOADING: list[str] = []
_LOADED: dict[str, InputError | None] = {}
_POINTS: list[EntryPoint] = []

# The faults of somebody's module when it is imported; what else it raises is shown as it is.
_FAULTS = (ImportError, OSError, SyntaxError, NameError, AttributeError, TypeError, ValueError, LookupError, InputError)


def load_plugins() -> None:
    """Imports every module that the environment or an installed package names; each once.

    A module that cannot be used is not imported again: the same error is raised each time.

    Raises:
        InputError: One cannot be imported, or what it registers is refused.
    """
    with _LOCK:
        if _LOADING:
            return  # A plug-in asks for what is registered while it is imported.
        if "" not in _LOADED:
            _POINTS.extend(entry_points(group=ENTRY_POINTS))
            _LOADED[""] = None
        for point in _POINTS:
            _load(f"entry point {point.name} ({point.value})", point.load)
        for name in filter(None, map(str.strip, os.environ.get(PLUGINS_VARIABLE, "").split(","))):
            _load(name, lambda name=name: _import(name))  # type: ignore[misc]


def _load(name: str, load: Callable[[], object]) -> None:
    if name not in _LOADED:
        _LOADING.append(name)
        try:
            load()
            _LOADED[name] = None
        except _FAULTS as error:
            _LOADED[name] = _unusable(name, error)
        finally:
            _LOADING.pop()
    if (fault := _LOADED[name]) is not None:
        raise fault


def _import(name: str) -> None:
    if name.endswith(".py"):
        _load_file(Path(name).expanduser())
    else:
        import_module(name)


def _load_file(path: Path) -> None:
    name = f"dramaturg_plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python module")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def _unusable(place: str, error: Exception) -> InputError:
    words = str(error).rstrip(".")
    return InputError(
        f"The plug-in cannot be loaded: {words}.", place=place, remedy=f"Correct {PLUGINS_VARIABLE} or the module."
    )
