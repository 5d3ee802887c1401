"""Parse YAML with the line numbers that a checker needs for its messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from evaluation.errors import InputError

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
