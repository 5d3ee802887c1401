"""YAML files: plain data, data with line numbers, and pydantic models whose errors name file, line and field."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError, WrapValidator

from evaluation.errors import InputError, own_words

LARGEST_FILE = 200_000
"""In bytes; far more than anybody writes by hand."""

_DEEPEST = 10
# The loader written in C takes a tenth of the time; PyYAML's wheels carry it, a build from source may not.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class FileProblem:
    """One thing that is wrong with a file.

    Attributes:
        file: As the person named it.
        line: From 1.
        field: Where in the file: ``propositions[2].weight``.
        text: What is wrong with which value, and what to do.
        is_warning: Whether the file can be used all the same.
    """

    file: str
    line: int
    field: str
    text: str
    is_warning: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {'warning: ' if self.is_warning else ''}{self.field}: {self.text}"


@dataclass(frozen=True, slots=True)
class Located:
    """A value with its line: a scalar, a mapping of texts to ``Located``, or a sequence of them.

    Attributes:
        twice: Keys of a mapping that occur again, with the lines of the later ones.
    """

    value: Any
    line: int
    twice: tuple[tuple[str, int], ...] = ()


class UnreadableYamlError(InputError):
    """A file holds no YAML that can be used; ``problem`` says why."""

    def __init__(self, problem: FileProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read_located(content: bytes, file: str) -> Located:
    """The document in ``content``, every value with its line.

    Nesting is limited and aliases are refused before anything is built, so that a hostile file costs nothing.

    Raises:
        UnreadableYamlError: Too large, not UTF-8, no valid YAML, several documents, or nested too deeply.
    """
    text = _decoded(content, file)
    try:
        _refuse_traps(text, file)
        loader = _LOADER(text)
        try:
            root = loader.get_single_node()
            return Located(None, 1) if root is None else _located(root, loader)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise UnreadableYamlError(_syntax(error, file)) from None
    except ValueError as error:
        raise UnreadableYamlError(
            FileProblem(file, 1, "syntax", f"A value cannot be read: {error}. Put it in quotes.")
        ) from None


def _decoded(content: bytes, file: str) -> str:
    if len(content) > LARGEST_FILE:
        size = f"{len(content):,} bytes are more than {LARGEST_FILE:,}"
        raise UnreadableYamlError(FileProblem(file, 1, "file", f"{size}. Split or shorten it."))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what = f"Byte {content[error.start]:#04x} is not UTF-8. Save the file as UTF-8."
        raise UnreadableYamlError(FileProblem(file, line, "file", what)) from None


def _refuse_traps(text: str, file: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            what = f"The alias *{event.anchor} is not supported. Write the value out."
            raise UnreadableYamlError(FileProblem(file, _line(event.start_mark), "syntax", what))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            what = f"More than {_DEEPEST} levels are nested. Nest fewer."
            raise UnreadableYamlError(FileProblem(file, _line(event.start_mark), "syntax", what))


def _line(mark: Any) -> int:
    return 1 if mark is None else int(mark.line) + 1


def _syntax(error: yaml.YAMLError, file: str) -> FileProblem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = getattr(error, "problem", None) or getattr(error, "reason", None) or "not valid"
    kind = "JSON" if file.endswith(".json") else "YAML"
    what = f"This is not {kind}: {said}. Check the indentation, the quotes and the colons just before."
    return FileProblem(file, _line(mark), "syntax", what)


def _located(node: yaml.Node, loader: Any) -> Located:
    line = _line(node.start_mark)
    if isinstance(node, yaml.MappingNode):
        entries: dict[str, Located] = {}
        twice = []
        for key_node, value_node in node.value:
            key = str(loader.construct_object(key_node)) if isinstance(key_node, yaml.ScalarNode) else "?"
            if key in entries:
                twice.append((key, _line(key_node.start_mark)))
            # A value on the next line is looked for where its key stands.
            found = _located(value_node, loader)
            entries[key] = found if found.value is not None else Located(None, _line(key_node.start_mark))
        return Located(entries, line, tuple(twice))
    if isinstance(node, yaml.SequenceNode):
        return Located([_located(entry, loader) for entry in node.value], line)
    return Located(loader.construct_object(node), line)


def entries_of(node: Located) -> Mapping[str, Located] | None:
    """The mapping in ``node``; ``None`` when it holds something else."""
    return node.value if isinstance(node.value, dict) else None


def items_of(node: Located) -> Sequence[Located] | None:
    """The sequence in ``node``; ``None`` when it holds something else."""
    return node.value if isinstance(node.value, list) else None


def shown_path(path: Path) -> str:
    """A path as people see it: below the current folder without it."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


Model = TypeVar("Model", bound=BaseModel)

_MOST_PROBLEMS = 20
_LONGEST_SHOWN = 60


class FaultyFileError(InputError):
    """A configuration file has faults; ``problems`` has one entry for each, with its line."""

    def __init__(self, problems: list[FileProblem], remedy: str = "") -> None:
        super().__init__("\n".join(str(problem) for problem in problems[:_MOST_PROBLEMS]), remedy=remedy)
        self.problems = problems


def read_model(path: Path, model: type[Model], *, remedy: str = "") -> Model:
    """The model in a file; ``remedy`` as for ``parse_model``.

    Raises:
        InputError: It cannot be read, or has faults: one line ``file:line: field: what is wrong`` for each.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"It cannot be read: {error.strerror}.", place=str(path), remedy="Correct the path.") from None
    return parse_model(content, model, shown_path(path), remedy=remedy)


def parse_model(content: bytes, model: type[Model], file: str, *, remedy: str = "") -> Model:
    """The model in the content of a file. An empty file has the defaults.

    Args:
        content: The file.
        model: What it should hold.
        file: How errors name it.
        remedy: What stands below the faults, such as where the format is described.

    Raises:
        InputError: As ``read_model``.
    """
    if file.endswith(".json"):
        # What is read below as YAML is JSON too, and its lines are known; what is sound need not be.
        with suppress(ValidationError):
            return model.model_validate_json(content)
    try:
        found, problems = check_model(read_located(content, file), model, file)
    except UnreadableYamlError as error:
        raise FaultyFileError([error.problem], remedy) from None
    if found is None:
        raise FaultyFileError(problems, remedy)
    return found


def check_model(root: Located, model: type[Model], file: str) -> tuple[Model | None, list[FileProblem]]:
    """The model in a YAML document, ``None`` when there are faults, and the faults in the order of their lines.

    Args:
        root: The document.
        model: What it should hold.
        file: How errors name it.
    """
    problems = [
        FileProblem(file, line, f"{name}.{key}" if name else key, "This field stands here twice. Remove one of them.")
        for name, node in _mappings(root, "")
        for key, line in node.twice
    ]
    found = None
    try:
        found = model.model_validate({} if root.value is None else _plain(root))
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
    """A sentence with the most similar of the known words, or one that it is a word of, with a blank before it."""
    names, word = list(known), str(value) if isinstance(value, str) and len(value) < _LONGEST_SHOWN else ""
    close = difflib.get_close_matches(word, names, n=1) or [one for one in names if word in one.split()]
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
        text = own_words(fault["msg"])
        return text if text.endswith(".") else f"{text}."
    if kind == "string_type":
        return f"{value} is not text. Put it in quotes."
    if kind in ("list_type", "tuple_type"):
        return f"{value} is not a list. Begin each entry with '- '."
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
