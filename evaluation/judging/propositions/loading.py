"""Load proposition files, and select the propositions that apply to an agent or a channel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.errors import InputError
from evaluation.files.bundled import proposition_root
from evaluation.files.yaml_lines import LARGEST_FILE, FileProblem, shown_path
from evaluation.judging.propositions._file_faults import CheckedFile, check_text
from evaluation.judging.propositions.proposition import DEFAULT_AGENT, Dimension, Proposition

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
        for root in roots or (proposition_root(),):
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
        known_agents: As for :func:`evaluation.judging.propositions._file_faults.check_text`.
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
