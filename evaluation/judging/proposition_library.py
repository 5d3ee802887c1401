"""Load proposition files, report every fault with its line, and select the propositions that apply to an agent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from evaluation.errors import InputError
from evaluation.files.bundled import shipped
from evaluation.files.yaml_files import (
    LARGEST_FILE,
    FileProblem,
    Located,
    UnreadableYamlError,
    check_model,
    did_you_mean,
    entries_of,
    explained,
    field_names,
    items_of,
    read_located,
    shown_path,
)
from evaluation.judging.propositions import (
    DEFAULT_AGENT,
    ENVIRONMENT_DIMENSIONS,
    VARIABLES,
    Dimension,
    Proposition,
    TargetType,
    has_stray_braces,
    registered,
    variables_of,
)

LARGEST_WINDOW = 10_000
"""The most messages that a window may begin or end with."""

_ASKED_OF_MESSAGES = frozenset({Dimension.CONSISTENCY, Dimension.SUITABILITY})
"""Dimensions whose claims are asked of single messages whether or not they name {{action}}."""
_OWN_MESSAGES = frozenset({Dimension.CONSISTENCY, Dimension.FLUENCY})
"""Dimensions in which a judge sees nothing that others said."""
_LONGEST_ID = 100
_LONGEST_TEXT = 2_000


def _one_of(value: Any, known: Collection[str], what: str, heading: str) -> Any:
    if isinstance(value, str) and value in known:
        return value
    raise ValueError(f"{ascii(value)[:60]} is {what}.{did_you_mean(value, known)} {heading} {', '.join(known)}.")


def _choice(kind: type[StrEnum]) -> BeforeValidator:
    words = [str(each) for each in kind]
    return BeforeValidator(lambda value: _one_of(value, words, "not known", "Choose from"))


def _precondition(value: Any) -> Any:
    return _one_of(value, registered(), "no registered precondition", "Registered are")


def _claim(claim: str) -> str:
    for name in sorted(variables_of(claim) - VARIABLES.keys()):
        known = ", ".join(f"{{{{{variable}}}}}" for variable in VARIABLES)
        raise ValueError(f"{{{{{name}}}}} is not a variable.{did_you_mean(name, VARIABLES)} Known are {known}.")
    if has_stray_braces(claim):
        raise ValueError("Double braces enclose no name. Write variables like {{agent_name}}.")
    return claim


def _listed(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        raise ValueError("It does not hold a list. Begin each proposition with '- id: ...'.")
    return value


_Id = Annotated[
    str,
    StringConstraints(min_length=1, max_length=_LONGEST_ID, pattern=r"^[\p{L}\p{N}_-]+$"),
    explained(f"not an id. Use letters, digits, '-' and '_', at most {_LONGEST_ID}, as text."),
]
_Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST_TEXT),
    explained(f"not text of 1 to {_LONGEST_TEXT:,} characters. Write a sentence, in quotes where it holds a colon."),
]
_Flag = Annotated[bool, Field(strict=True), explained("neither true nor false. Write true or false, without quotes.")]
_Count = Annotated[
    int,
    Field(strict=True, ge=0, le=LARGEST_WINDOW),
    explained(f"not a number of messages. Give a whole number from 0 to {LARGEST_WINDOW:,}."),
]
_Weight = Annotated[
    float,
    Field(strict=True, ge=0, le=1, allow_inf_nan=False),
    explained("not a weight. Give a number from 0 (does not count) to 1."),
]


class _FilePart(BaseModel):
    """A part of the file in which a field without a value counts as left out."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nothing(cls, body: Any) -> Any:
        known = field_names(cls)
        if not isinstance(body, dict):
            return body
        return {key: value for key, value in body.items() if value is not None or key not in known}


class _Entry(_FilePart):
    """One proposition; the fields are those of ``Proposition`` under the file's names."""

    id: _Id
    claim: Annotated[_Text, AfterValidator(_claim)]
    weight: _Weight = 1.0
    recommendations_for_improvement: _Text = ""
    is_inverted: Annotated[_Flag, Field(alias="inverted")] = False
    has_double_check: Annotated[_Flag, Field(alias="double_check")] = False
    precondition: Annotated[str | None, BeforeValidator(_precondition)] = None


class _File(_FilePart):
    """A proposition file."""

    dimension: Annotated[Dimension, _choice(Dimension)]
    agent_id: _Id
    includes_personas: Annotated[_Flag, Field(alias="include_personas")] = True
    target_type: Annotated[TargetType, _choice(TargetType)] = TargetType.AGENT
    first_n: _Count | None = None
    last_n: _Count | None = None
    propositions: Annotated[list[_Entry], BeforeValidator(_listed)]


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
    problems: list[FileProblem] = field(default_factory=list)

    @property
    def errors(self) -> list[FileProblem]:
        """The faults that keep the file from being used."""
        return [problem for problem in self.problems if not problem.is_warning]


def check_text(content: bytes, file: str, *, known_agents: Collection[str] | None = None) -> CheckedFile:
    """Check the content of a proposition file and read it.

    Args:
        content: The file.
        file: Its name as people know it. In a folder named after a dimension, folder and name must agree with what
            the file says about itself.
        known_agents: An agent that is not among them is warned of; ``None`` leaves that out.
    """
    result = CheckedFile(file)
    try:
        root = read_located(content, file)
    except UnreadableYamlError as error:
        result.problems.append(error.problem)
        return result
    found, result.problems = check_model(root, _File, file)
    head = _Head(file, root)
    result.problems += [*head.disagreements(), *head.unknown_agents(known_agents), *head.faulty_entries()]
    result.problems.sort(key=lambda problem: problem.line)
    result.dimension, result.agent_id = head.dimension, head.agent_id
    if found is not None and not result.errors:
        common = {name: value for name, value in found if name != "propositions"}
        result.propositions = tuple(
            Proposition(**common, **dict(entry), source=f"{file}:{item.line}")
            for entry, item in zip(found.propositions, head.items, strict=True)
        )
    return result


class _Head:
    """Rules between fields, each checked on its own, so that a fault in one field hides no other."""

    def __init__(self, file: str, root: Located) -> None:
        self._file = file
        self._entries: Mapping[str, Located] = entries_of(root) or {}
        named = self._value("dimension")
        self.dimension = Dimension(named) if named in tuple(Dimension) else None
        self.agent_id = str(self._value("agent_id") or "")
        self._target = self._value("target_type") or TargetType.AGENT
        self.items = items_of(self._entries["propositions"]) or () if "propositions" in self._entries else ()

    def _value(self, name: str) -> Any:
        value = self._entries[name].value if name in self._entries else None
        return value if isinstance(value, str | int) else None

    def _fault(self, name: str, text: str, *, is_warning: bool = False) -> FileProblem:
        at = self._entries.get(name) or self._entries["dimension"]
        return FileProblem(self._file, at.line, name, text, is_warning)

    def disagreements(self) -> Iterator[FileProblem]:
        """Between the fields of the file's head, and between them and where the file lies."""
        wanted = TargetType.ENVIRONMENT if self.dimension in ENVIRONMENT_DIMENSIONS else TargetType.AGENT
        if self.dimension and self._target in set(TargetType) and self._target != wanted:
            text = f"{str(self._target)!r} does not fit {self.dimension}. Write 'target_type: {wanted}'."
            yield self._fault("target_type", text)
        if (self._value("first_n"), self._value("last_n")) == (0, 0):
            yield self._fault("last_n", "With first_n and last_n 0 the judge sees nothing. Raise one of them.")
        path = Path(self._file)
        if path.parent.name not in tuple(Dimension):
            return
        if self.dimension and self.dimension != path.parent.name:
            text = f"{str(self.dimension)!r} stands in the folder {path.parent.name!r}. Move the file or correct it."
            yield self._fault("dimension", text)
        if self.agent_id and self.agent_id != path.stem:
            text = f"{self.agent_id!r} stands in a file named {path.stem!r}. Rename the file or correct it."
            yield self._fault("agent_id", text)

    def unknown_agents(self, known: Collection[str] | None) -> Iterator[FileProblem]:
        """The warning that the file is about an agent that nobody knows yet."""
        if known is None or self.agent_id in ("", DEFAULT_AGENT, *known):
            return
        close = did_you_mean(self.agent_id, known)
        text = f"No agent {self.agent_id!r} is known.{close} It applies once there is one."
        yield self._fault("agent_id", text, is_warning=True)

    def _never_holding(self, entries: Mapping[str, Located], name: str) -> Iterator[FileProblem]:
        """A precondition, or a variable's value, that what is judged can never have."""
        claim, condition = entries.get("claim"), entries.get("precondition")
        variables = variables_of(str(claim.value)) if claim else frozenset()
        if variables - VARIABLES.keys():
            # A misspelt variable may be the one that is missed below.
            return
        named = str(condition.value) if condition else ""
        is_channel = self._target == TargetType.ENVIRONMENT
        is_of_messages = bool(variables & {"action", "recipient_name"}) or self.dimension in _ASKED_OF_MESSAGES
        reason = ""
        if is_channel and named in ("is_direct_message", "is_long_enough", "was_addressed"):
            reason = "in a channel no single message of one agent is judged"
        elif not is_channel and named == "has_several_speakers":
            reason = "only the agent itself is judged; it belongs to 'target_type: environment'"
        elif named == "was_addressed" and self.dimension in _OWN_MESSAGES:
            reason = f"{self.dimension} is judged by the agent's own messages alone"
        elif named in ("is_direct_message", "is_long_enough") and not is_of_messages:
            reason = "the claim is about everything the agent said; name {{action}} to ask it of each message"
        if condition and reason:
            text = f"{named} can never hold: {reason}. The claim would always count as true."
            yield FileProblem(self._file, condition.line, f"{name}.precondition", text)
        if claim and not is_channel and "recipient_name" in variables and named != "is_direct_message":
            text = "{{recipient_name}} has no value in public messages. Add 'precondition: is_direct_message'."
            yield FileProblem(self._file, claim.line, f"{name}.claim", text)
        if claim and not is_channel and "channel_name" in variables and not is_of_messages:
            text = "{{channel_name}} has no value for an agent that speaks in several channels. Name {{action}}, too."
            yield FileProblem(self._file, claim.line, f"{name}.claim", text, is_warning=True)

    def faulty_entries(self) -> Iterator[FileProblem]:
        """Propositions that contradict each other or the head."""
        first_lines: dict[str, int] = {}
        for position, item in enumerate(self.items):
            entries = entries_of(item) or {}
            name = f"propositions[{position}]"
            if (own := entries.get("id")) and isinstance(own.value, str):
                if own.value in first_lines:
                    text = f"{own.value!r} stands on line {first_lines[own.value]} too. Choose another id."
                    yield FileProblem(self._file, item.line, f"{name}.id", text)
                first_lines.setdefault(own.value, item.line)
            if (claim := entries.get("claim")) and self._target == TargetType.ENVIRONMENT:
                for word in sorted(variables_of(str(claim.value)) & {"agent_name", "action", "recipient_name"}):
                    text = f"{{{{{word}}}}} belongs to one agent, and this is about a channel."
                    yield FileProblem(self._file, claim.line, f"{name}.claim", f"{text} Name the speakers in general.")
            yield from self._never_holding(entries, name)
            if (flag := entries.get("inverted")) and flag.value is True and self.dimension is Dimension.IDEAS_QUANTITY:
                text = "Ideas are counted, not marked, so nothing can be turned round. Remove it."
                yield FileProblem(self._file, flag.line, f"{name}.inverted", text)


_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class PropositionLibrary:
    """All propositions of one or more folders.

    Attributes:
        by_file: The propositions of each dimension and agent id, in their order.
    """

    by_file: Mapping[tuple[Dimension, str], tuple[Proposition, ...]]

    @classmethod
    def load(cls, roots: Sequence[Path] = ()) -> PropositionLibrary:
        """The propositions in ``roots``, the shipped ones when left out; a later folder overrides an earlier by id.

        Raises:
            InputError: A file is faulty; the message lists the faults.
            InfrastructureError: The shipped folder is missing.
        """
        merged: dict[tuple[Dimension, str], tuple[Proposition, ...]] = {}
        for root in roots or (shipped("propositions"),):
            for path in proposition_files(root):
                checked = check_file(path)
                if checked.errors or checked.dimension is None:
                    raise _faulty(checked.errors)
                key = (checked.dimension, checked.agent_id)
                merged[key] = _overridden(merged.get(key, ()), checked.propositions)
        return cls(merged)

    def propositions_for(self, dimension: Dimension, agent_ids: Iterable[str] = ()) -> tuple[Proposition, ...]:
        """The defaults of a dimension with what the agent's own files add or override by id.

        Args:
            dimension: Which claims.
            agent_ids: Whose files count besides the defaults, in rising authority (a personality type, then the agent).
        """
        found: tuple[Proposition, ...] = ()
        for agent_id in (DEFAULT_AGENT, *agent_ids):
            found = _overridden(found, self.by_file.get((dimension, agent_id), ()))
        return found

    @property
    def agent_ids(self) -> tuple[str, ...]:
        """The agents that have propositions of their own, sorted."""
        return tuple(sorted({agent_id for _, agent_id in self.by_file} - {DEFAULT_AGENT}))


def _overridden(base: tuple[Proposition, ...], own: tuple[Proposition, ...]) -> tuple[Proposition, ...]:
    # A dict keeps the place of what is replaced, so the defaults stay first and in their order.
    return tuple({proposition.id: proposition for proposition in (*base, *own)}.values())


def proposition_files(root: Path) -> list[Path]:
    """The YAML files in a folder and its sub-folders, sorted; the file itself when ``root`` is one."""
    if root.is_file():
        return [root]
    return sorted(path for path in root.rglob("*") if path.suffix in (".yaml", ".yml") and path.is_file())


def check_file(path: Path, *, known_agents: Collection[str] | None = None) -> CheckedFile:
    """Checks one file; one that cannot be opened is a fault of line 1.

    Args:
        path: The file.
        known_agents: As for :func:`evaluation.judging.proposition_library.check_text`.
    """
    name = shown_path(path)
    try:
        with path.open("rb") as file:
            # One byte more than allowed is enough to know.
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        problem = FileProblem(name, 1, "file", f"It cannot be opened: {error.strerror}. Check the path.")
        return CheckedFile(name, problems=[problem])
    return check_text(content, name, known_agents=known_agents)


def _faulty(problems: Sequence[FileProblem]) -> InputError:
    listed = "\n".join(str(problem) for problem in problems[:_MOST_SHOWN])
    return InputError(
        f"A proposition file cannot be used:\n{listed}\n",
        remedy="Correct it; 'dramaturg propositions check' lists every fault.",
    )
