"""Load the propositions in force, and save versions of them in the store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from evaluation.errors import InputError
from evaluation.files.bundled import proposition_roots
from evaluation.judging.propositions.file_faults import CheckedFile, check_text
from evaluation.judging.propositions.loading import PropositionLibrary, proposition_files
from evaluation.judging.propositions.proposition import (
    ENVIRONMENT_DIMENSIONS,
    Dimension,
    Proposition,
    TargetType,
    known_dimensions,
)
from evaluation.store import Store
from evaluation.store.agents.proposition_versions import PropositionVersion

Saved = Mapping[tuple[Dimension, str], tuple[Proposition, ...]]


def proposition_library(store: Store | None, folder: Path | None) -> PropositionLibrary:
    """The propositions in force, for every command and page that evaluates agents.

    Args:
        store: Its saved versions replace what plug-ins and the shipped folder have for the same dimension and agent.
            ``None`` where there is no database yet.
        folder: The person's own (``--propositions``, ``DRAMATURG_PROPOSITIONS``); has precedence over both, by id.

    Raises:
        InputError: A file, a plug-in or a saved version is faulty; the message lists the faults.
    """
    return PropositionLibrary.load(proposition_roots(folder), _saved(store) if store is not None else None)


def _saved(store: Store) -> Saved:
    found = {}
    for version in store.proposition_versions.in_force():
        # The plug-in that declared the dimension may be gone, and nothing is asked about it then.
        if version.dimension in known_dimensions():
            dimension = Dimension(version.dimension)
            found[dimension, version.agent_id] = _usable(check_version(version)).propositions
    return found


def check_version(version: PropositionVersion) -> CheckedFile:
    """The propositions of a saved version, checked like any file; nothing for one that took the shipped ones again."""
    return check_propositions(version.content or "", Dimension(version.dimension), version.agent_id)


def check_propositions(text: str, dimension: Dimension, agent_id: str) -> CheckedFile:
    """The text of a proposition file for a dimension and an agent, checked like any file."""
    return check_text(text.encode("utf-8", "replace"), f"{dimension}/{agent_id}.yaml")


def _usable(checked: CheckedFile) -> CheckedFile:
    if checked.errors:
        raise InputError(
            f"Saved propositions cannot be used: {checked.errors[0]}",
            remedy="Correct them on the Personas page, or restore an older version there.",
        )
    return checked


def shipped_propositions(dimension: Dimension, agent_id: str) -> tuple[Proposition, ...]:
    """The propositions that come with Dramaturg or a plug-in for a dimension and an agent, without saved versions."""
    return PropositionLibrary.load().by_file.get((dimension, agent_id), ())


def editable_propositions(store: Store, dimension: Dimension, agent_id: str) -> tuple[Proposition, ...]:
    """The propositions that the editor begins with: the saved version in force, else the shipped ones."""
    versions = store.proposition_versions.history(dimension, agent_id)
    if versions and versions[-1].content is not None:
        return check_version(versions[-1]).propositions
    return shipped_propositions(dimension, agent_id)


def file_with_precedence(folder: Path | None, dimension: Dimension, agent_id: str) -> Path | None:
    """The file of the person's own folder for a dimension and an agent; ``None`` where it has none."""
    if folder is None or not folder.is_dir():
        return None
    for path in proposition_files(folder):
        checked = check_text(path.read_bytes(), path.name)
        if (checked.dimension, checked.agent_id) == (dimension, agent_id):
            return path
    return None


def save_propositions(
    store: Store, dimension: Dimension, agent_id: str, text: str | None, *, who: str, after: int
) -> PropositionVersion:
    """Saves propositions as a new version, which every later evaluation of agents asks.

    Args:
        store: Where to.
        dimension: The dimension of the propositions.
        agent_id: The agent that they apply to; ``_default`` for everybody.
        text: A whole proposition file; ``None`` takes the shipped ones again.
        who: The person who saves.
        after: The number of the version that the person began with; 0 for none.

    Raises:
        InputError: The file has errors, or another version was saved since.
    """
    if text is not None:
        checked = _usable(check_propositions(text, dimension, agent_id))
        if (checked.dimension, checked.agent_id) != (dimension, agent_id):
            raise InputError("The file is about another dimension or agent.", remedy="Correct its head.")
    return store.proposition_versions.add(dimension, agent_id, text, who, after=after)


def proposition_text(dimension: Dimension, agent_id: str, propositions: tuple[Proposition, ...]) -> str:
    """Propositions as the text of a proposition file; what has its default value is left out of it."""
    is_environment = dimension in ENVIRONMENT_DIMENSIONS
    first = propositions[0] if propositions else None
    head = {
        "dimension": str(dimension),
        "agent_id": agent_id,
        "include_personas": None if first is None or first.includes_personas else False,
        "target_type": str(TargetType.ENVIRONMENT if is_environment else TargetType.AGENT),
        "first_n": first.first_n if first else None,
        "last_n": first.last_n if first else None,
        "propositions": [_entry(each) for each in propositions],
    }
    known = {name: value for name, value in head.items() if value is not None}
    return yaml.safe_dump(known, sort_keys=False, allow_unicode=True, width=100)


def _entry(proposition: Proposition) -> dict[str, object]:
    fields = {
        "id": proposition.id,
        "claim": proposition.claim,
        "weight": float(proposition.weight),
        "inverted": proposition.is_inverted or None,
        "double_check": proposition.has_double_check or None,
        "precondition": proposition.precondition,
        "recommendations_for_improvement": proposition.recommendations_for_improvement or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
