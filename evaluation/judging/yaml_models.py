"""Configuration files in YAML whose every fault is named with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from evaluation.errors import InputError
from evaluation.judging.propositions_yaml import Located, Problem, entries_of, items_of, read_located, shown_path

Model = TypeVar("Model", bound=BaseModel)

_MOST_PROBLEMS = 20


class FaultyFileError(InputError):
    """A configuration file has faults; ``problems`` has one entry for each, with its line."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems[:_MOST_PROBLEMS]))
        self.problems = problems


def read_model(path: Path, model: type[Model]) -> Model:
    """The model in a file.

    Raises:
        InputError: It cannot be read, or has faults: one line ``file:line: field: what is wrong`` for each.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"It cannot be read: {error.strerror}.", place=str(path), remedy="Correct the path.") from None
    return parse_model(content, model, shown_path(path))


def parse_model(content: bytes, model: type[Model], file: str) -> Model:
    """The model in the content of a file; ``file`` is how errors name it. An empty file has the defaults.

    Raises:
        InputError: As ``read_model``.
    """
    root = read_located(content, file)
    problems = [
        Problem(file, line, f"{name}.{key}" if name else key, "It stands twice. Remove one of the two.")
        for name, node in _mappings(root, "")
        for key, line in node.twice
    ]
    if problems:
        raise FaultyFileError(problems)
    try:
        return model.model_validate({} if root.value is None else _plain(root))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
        raise FaultyFileError([_problem(file, root, fault["loc"], fault) for fault in faults]) from None


def _problem(file: str, root: Located, place: tuple[int | str, ...], fault: Any) -> Problem:
    """A fault of pydantic at its line: that of the value, or of what should hold it."""
    node = root
    names: list[str] = []
    for part in place:
        step = (entries_of(node) or {}).get(str(part)) if isinstance(part, str) else _item(node, part)
        names.append(f"[{part}]" if isinstance(part, int) else f".{part}" if names else str(part))
        if step is None:
            break
        node = step
    known = {"missing": "It is missing. Add it.", "extra_forbidden": "There is no such setting. Check its spelling."}
    text = known.get(fault["type"]) or _sentence(fault["msg"])
    return Problem(file, node.line, "".join(names) or "file", text)


def _sentence(message: str) -> str:
    text = message.removeprefix("Value error, ").replace("Input should be", "It should be")
    return text if text.endswith(".") else f"{text}."


def _item(node: Located, position: int) -> Located | None:
    items = items_of(node)
    return items[position] if items is not None and 0 <= position < len(items) else None


def _mappings(node: Located, name: str) -> list[tuple[str, Located]]:
    entries, items = entries_of(node), items_of(node)
    if entries is not None:
        found = [(name, node)]
        for key, each in entries.items():
            found += _mappings(each, f"{name}.{key}" if name else key)
        return found
    return [one for place, each in enumerate(items or []) for one in _mappings(each, f"{name}[{place}]")]


def _plain(node: Located) -> Any:
    entries, items = entries_of(node), items_of(node)
    if entries is not None:
        return {key: _plain(each) for key, each in entries.items()}
    return [_plain(each) for each in items] if items is not None else node.value
