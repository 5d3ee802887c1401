"""Checks one proposition file: every fault with its line, and the propositions where there is none."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.judging import propositions_values as values
from evaluation.judging.propositions import (
    DEFAULT_AGENT,
    ENVIRONMENT_DIMENSIONS,
    Dimension,
    Proposition,
    TargetType,
)
from evaluation.judging.propositions_yaml import (
    Located,
    Problem,
    UnreadableYamlError,
    entries_of,
    items_of,
    read_located,
)
from evaluation.judging.templates import VARIABLES, has_stray_braces, variables_of

FILE_FIELDS = ("dimension", "agent_id", "include_personas", "target_type", "first_n", "last_n", "propositions")
PROPOSITION_FIELDS = (
    "id",
    "claim",
    "weight",
    "recommendations_for_improvement",
    "inverted",
    "double_check",
    "precondition",
)
_REQUIRED = object()
_Check = Callable[[Any], Any]


@dataclass(slots=True)
class CheckedFile:
    """A proposition file after checking.

    Attributes:
        propositions: Empty when there is any error.
        problems: By line; warnings among them do not stand in the way.
    """

    file: str
    dimension: Dimension | None = None
    agent_id: str = ""
    propositions: tuple[Proposition, ...] = ()
    problems: list[Problem] = field(default_factory=list)

    @property
    def errors(self) -> list[Problem]:
        """What keeps the file from being used."""
        return [problem for problem in self.problems if not problem.is_warning]


def check_text(content: bytes, file: str, *, known_agents: Collection[str] | None = None) -> CheckedFile:
    """Checks the content of a proposition file and reads it.

    Args:
        content: The file.
        file: Its name as people know it. In a folder named after a dimension, folder and name must agree with what
            the file says about itself.
        known_agents: An agent that is not among them is warned of; ``None`` leaves that out.
    """
    checker = _Checker(file, known_agents)
    try:
        checker.run(read_located(content, file))
    except UnreadableYamlError as error:
        checker.result.problems.append(error.problem)
    checker.result.problems.sort(key=lambda problem: problem.line)
    if checker.result.errors:
        checker.result.propositions = ()
    return checker.result


class _Checker:
    def __init__(self, file: str, known_agents: Collection[str] | None) -> None:
        self._known_agents = known_agents
        self.result = CheckedFile(file)
        self._path = ""

    def run(self, root: Located) -> None:
        entries = entries_of(root)
        if entries is None:
            self._fault(root.line, "file", "This is no mapping. Begin with 'dimension: adherence'.")
            return
        self._keys(root, FILE_FIELDS)
        common = self._common(root)
        listed = entries.get("propositions")
        if listed is None:
            self._fault(root.line, "propositions", "It is missing. List at least one proposition with id and claim.")
        elif not items_of(listed):
            self._fault(listed.line, "propositions", "It holds no list. Begin each proposition with '- id: ...'.")
        else:
            self._propositions(items_of(listed) or (), common)

    def _common(self, root: Located) -> dict[str, Any]:
        dimension = self._take(root, "dimension", values.dimension, _REQUIRED)
        agent_id = self._take(root, "agent_id", values.identifier, _REQUIRED)
        common = {
            "dimension": dimension,
            "agent_id": agent_id,
            "includes_personas": self._take(root, "include_personas", values.flag, True),
            "target_type": self._take(root, "target_type", values.target_type, TargetType.AGENT),
            "first_n": self._take(root, "first_n", values.count, None),
            "last_n": self._take(root, "last_n", values.count, None),
        }
        self.result.dimension, self.result.agent_id = dimension, agent_id or ""
        self._agreement(root, common)
        return common

    def _agreement(self, root: Located, common: dict[str, Any]) -> None:
        """What must hold between fields, and between the file and where it lies."""
        dimension, agent_id = common["dimension"], common["agent_id"]
        lines = {name: node.line for name, node in (entries_of(root) or {}).items()}
        if dimension and common["target_type"]:
            self._fitting_target(dimension, common["target_type"], lines)
        if common["first_n"] == 0 and common["last_n"] == 0:
            self._fault(
                lines["last_n"], "last_n", "With first_n and last_n 0 the judge sees nothing. Raise one of them."
            )
        path = Path(self.result.file)
        if path.parent.name in set(Dimension):
            if dimension and dimension != path.parent.name:
                what = f"{str(dimension)!r} stands in the folder {path.parent.name!r}. Move the file or correct it."
                self._fault(lines["dimension"], "dimension", what)
            if agent_id and agent_id != path.stem:
                what = f"{agent_id!r} stands in a file named {path.stem!r}. Rename the file or correct it."
                self._fault(lines["agent_id"], "agent_id", what)
        if agent_id and agent_id != DEFAULT_AGENT and self._known_agents is not None:
            self._warn_of_unknown(agent_id, lines["agent_id"])

    def _fitting_target(self, dimension: Dimension, target: TargetType, lines: dict[str, int]) -> None:
        wanted = TargetType.ENVIRONMENT if dimension in ENVIRONMENT_DIMENSIONS else TargetType.AGENT
        if target is not wanted:
            line = lines.get("target_type", lines["dimension"])
            what = f"{str(target)!r} does not fit {dimension}. Write 'target_type: {wanted}'."
            self._fault(line, "target_type", what)

    def _warn_of_unknown(self, agent_id: str, line: int) -> None:
        known = self._known_agents or ()
        if agent_id not in known:
            what = (
                f"No agent {agent_id!r} is known.{values.did_you_mean(agent_id, known)} It applies once there is one."
            )
            self.result.problems.append(Problem(self.result.file, line, "agent_id", what, is_warning=True))

    def _propositions(self, items: Collection[Located], common: dict[str, Any]) -> None:
        found = []
        first_lines: dict[str, int] = {}
        for position, item in enumerate(items):
            self._path = f"propositions[{position}]"
            if entries_of(item) is None:
                self._fault(item.line, "", "This is no mapping. Begin it with '- id: ...'.")
                continue
            self._keys(item, PROPOSITION_FIELDS)
            own = self._proposition(item, common)
            name = own["id"]
            if name in first_lines:
                self._fault(item.line, "id", f"{name!r} stands on line {first_lines[name]} too. Choose another id.")
            elif name:
                first_lines[name] = item.line
            if None not in (name, own["claim"], own["weight"], common["dimension"], common["agent_id"]):
                found.append((item.line, common | own))
        if not self.result.errors:
            self.result.propositions = tuple(
                [Proposition(**fields, source=f"{self.result.file}:{line}") for line, fields in found]
            )

    def _proposition(self, item: Located, common: dict[str, Any]) -> dict[str, Any]:
        own = {
            "id": self._take(item, "id", values.identifier, _REQUIRED),
            "claim": self._take(item, "claim", values.text, _REQUIRED),
            "weight": self._take(item, "weight", values.weight, 1.0),
            "is_inverted": self._take(item, "inverted", values.flag, False),
            "recommendations_for_improvement": self._take(item, "recommendations_for_improvement", values.text, ""),
            "has_double_check": self._take(item, "double_check", values.flag, False),
            "precondition": self._take(item, "precondition", values.precondition, None),
        }
        if own["claim"]:
            self._claim(own["claim"], (entries_of(item) or {})["claim"].line, common)
        if own["is_inverted"] and common["dimension"] is Dimension.IDEAS_QUANTITY:
            line = (entries_of(item) or {})["inverted"].line
            self._fault(line, "inverted", "Ideas are counted, not marked, so nothing can be turned round. Remove it.")
        return own

    def _claim(self, claim: str, line: int, common: dict[str, Any]) -> None:
        names = variables_of(claim)
        for name in sorted(names - VARIABLES.keys()):
            known = ", ".join(f"{{{{{variable}}}}}" for variable in VARIABLES)
            what = f"{{{{{name}}}}} is no variable.{values.did_you_mean(name, VARIABLES)} Known are {known}."
            self._fault(line, "claim", what)
        if has_stray_braces(claim):
            self._fault(line, "claim", "Double braces enclose no name. Write variables like {{agent_name}}.")
        if common["target_type"] is TargetType.ENVIRONMENT:
            for name in sorted(names & {"agent_name", "action", "recipient_name"}):
                what = (
                    f"{{{{{name}}}}} belongs to one agent, and this is about a channel. Name the speakers in general."
                )
                self._fault(line, "claim", what)

    def _keys(self, node: Located, known: tuple[str, ...]) -> None:
        for name, value in (entries_of(node) or {}).items():
            if name not in known:
                what = f"This field is not known.{values.did_you_mean(name, known)} Known are {', '.join(known)}."
                self._fault(value.line, name, what)
        for name, line in node.twice:
            self._fault(line, name, "This field stands here twice. Remove one of them.")

    def _take(self, node: Located, name: str, check: _Check, default: Any) -> Any:
        value = (entries_of(node) or {}).get(name)
        if value is not None and value.value is not None:
            try:
                return check(value.value)
            except values.WrongValueError as error:
                self._fault(value.line, name, str(error))
                return None
        if default is not _REQUIRED:
            return default
        line = node.line if value is None else value.line
        self._fault(line, name, f"It is missing. Add '{name}: ...'.")
        return None

    def _fault(self, line: int, name: str, text: str) -> None:
        where = ".".join(filter(None, (self._path, name)))
        self.result.problems.append(Problem(self.result.file, line, where, text))
