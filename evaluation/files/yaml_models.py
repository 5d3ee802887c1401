"""Read YAML and JSON files that people write into pydantic models; every fault is reported with its line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError, WrapValidator

from evaluation.errors import InputError
from evaluation.files.yaml_lines import (
    FileProblem,
    Located,
    UnreadableYamlError,
    entries_of,
    items_of,
    read_located,
    shown_path,
)

Model = TypeVar("Model", bound=BaseModel)

_MOST_PROBLEMS = 20
_LONGEST_SHOWN = 60


class FaultyFileError(InputError):
    """A configuration file has faults; ``problems`` has one entry for each, with its line."""

    def __init__(self, problems: list[FileProblem], remedy: str = "") -> None:
        super().__init__("\n".join(str(problem) for problem in problems[:_MOST_PROBLEMS]), remedy=remedy)
        self.problems = problems


def read_model(path: Path, model: type[Model], *, remedy: str = "", context: Any = None) -> Model:
    """The model in a file; ``remedy`` and ``context`` as for ``parse_model``.

    Raises:
        InputError: It cannot be read, or has faults: one line ``file:line: field: what is wrong`` for each.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"It cannot be read: {error.strerror}.", place=str(path), remedy="Correct the path.") from None
    return parse_model(content, model, shown_path(path), remedy=remedy, context=context)


def parse_model(content: bytes, model: type[Model], file: str, *, remedy: str = "", context: Any = None) -> Model:
    """The model in the content of a file. An empty file has the defaults.

    Args:
        content: The file.
        model: What it should hold.
        file: How errors name it.
        remedy: What stands below the faults, such as where the format is described.
        context: For the model's validators.

    Raises:
        InputError: As ``read_model``.
    """
    if file.endswith(".json"):
        # What is read below as YAML is JSON too, and its lines are known; what is sound need not be.
        with suppress(ValidationError):
            return model.model_validate_json(content, context=context)
    try:
        found, problems = check_model(read_located(content, file), model, file, context=context)
    except UnreadableYamlError as error:
        raise FaultyFileError([error.problem], remedy) from None
    if found is None:
        raise FaultyFileError(problems, remedy)
    return found


def check_model(
    root: Located, model: type[Model], file: str, *, context: Any = None
) -> tuple[Model | None, list[FileProblem]]:
    """The model in a YAML document, ``None`` when there are faults, and the faults in the order of their lines.

    Args:
        root: The document.
        model: What it should hold.
        file: How errors name it.
        context: For the model's validators.
    """
    problems = [
        FileProblem(file, line, f"{name}.{key}" if name else key, "This field stands here twice. Remove one of them.")
        for name, node in _mappings(root, "")
        for key, line in node.twice
    ]
    found = None
    try:
        found = model.model_validate({} if root.value is None else _plain(root), context=context)
    except ValidationError as error:
        problems += [_problem(file, root, model, fault) for fault in error.errors(include_url=False)]
    return None if problems else found, sorted(problems, key=lambda problem: problem.line)


def explained(what: str) -> WrapValidator:
    """A validator that replaces pydantic's message for a value by ``'<value> is <what>'``."""

    def check(value: Any, validate: Any) -> Any:
        try:
            return validate(value)
        except ValidationError:
            raise ValueError(f"{_shown(value)} is {what}") from None

    return WrapValidator(check)


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """A sentence with the most similar of the known words, with a blank before it; empty when none is similar."""
    is_word = isinstance(value, str) and len(value) < _LONGEST_SHOWN
    close = difflib.get_close_matches(str(value), list(known), n=1) if is_word else []
    return f" Do you mean {str(close[0])!r}?" if close else ""


def _problem(file: str, root: Located, model: type[BaseModel], fault: Any) -> FileProblem:
    """A fault of pydantic at its line: that of the value, or of what should hold it."""
    node: Located = root
    names: list[str] = []
    for part in fault["loc"]:
        step = (entries_of(node) or {}).get(str(part)) if isinstance(part, str) else _item(node, part)
        names.append(f"[{part}]" if isinstance(part, int) else f".{part}" if names else str(part))
        if step is None:
            break
        node = step
    return FileProblem(file, node.line, "".join(names) or "file", _text(fault, model))


def _text(fault: Any, model: type[BaseModel]) -> str:
    kind, place, value = fault["type"], fault["loc"], _shown(fault["input"])
    if kind == "missing":
        return f"It is missing. Add '{place[-1]}: ...'."
    if kind == "extra_forbidden":
        known = field_names(_model_at(model, place[:-1]))
        return f"This field is not known.{did_you_mean(place[-1], known)} Known are {', '.join(known)}."
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        inner = _model_at(model, place)
        required = [name for name, field in inner.model_fields.items() if field.is_required()]
        first = [*required, *inner.model_fields][0].replace("root", "name")
        dash = "- " if place and isinstance(place[-1], int) else ""
        return f"This is not a mapping. Begin it with '{dash}{first}: ...'."
    if kind == "value_error":
        text = fault["msg"].removeprefix("Value error, ")
        return text if text.endswith(".") else f"{text}."
    special = {
        "string_type": "is not text. Put it in quotes.",
        "list_type": "is not a list. Begin each entry with '- '.",
        "tuple_type": "is not a list. Begin each entry with '- '.",
    }
    if kind in special:
        return f"{value} {special[kind]}"
    return f"{fault['msg'].replace('Input should be', 'It should be').removesuffix('.')}, not {value}."


def _shown(value: object) -> str:
    kind = "A mapping" if isinstance(value, dict) else "A list" if isinstance(value, list) else ""
    return kind or ascii(value)[:_LONGEST_SHOWN]


def field_names(model: type[BaseModel]) -> list[str]:
    """The names that a file uses for the fields of a model."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_at(model: type[BaseModel], place: Iterable[int | str]) -> type[BaseModel]:
    """The model that describes the mapping at a place."""
    for part in place:
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        field = fields.get(str(part)) or fields.get("root")
        model = next(_models_in(field.annotation), model) if field else model
    return model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


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
