"""What an iteration's change is compared with: one rule for every page, command and report."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.iterations.model import Iteration


def reference_of(iteration: Iteration, iterations: Sequence[Iteration]) -> Iteration | None:
    """The iteration that this one is compared with.

    Its parent where it has one; else the later of the last kept iteration and the baseline, among those before it.
    Never itself or a descendant of it. ``None`` when there is none, as for the first.

    Args:
        iteration: One of ``iterations``.
        iterations: All that there are, in any order. A parent that is not among them counts as none.
    """
    possible = _possible(iteration, iterations)
    parent = next((one for one in possible if one.name == iteration.parent), None)
    if parent is not None:
        return parent
    earlier = [one for one in possible if one.position < iteration.position and (one.is_kept or one.is_baseline)]
    return max(earlier, key=lambda one: one.position, default=None)


def baseline_before(iteration: Iteration, iterations: Sequence[Iteration]) -> Iteration | None:
    """The baseline where it stands before ``iteration``, as the second line of a comparison; else ``None``."""
    possible = _possible(iteration, iterations)
    return next((one for one in possible if one.is_baseline and one.position < iteration.position), None)


def _possible(iteration: Iteration, iterations: Sequence[Iteration]) -> list[Iteration]:
    parents = {one.name: one.parent for one in iterations}
    return [one for one in iterations if not _descends(one.name, iteration.name, parents)]


def _descends(name: str, ancestor: str, parents: dict[str, str | None]) -> bool:
    """Whether ``name`` is ``ancestor`` or was changed from it, directly or over others."""
    seen: set[str] = set()
    current: str | None = name
    while current is not None and current not in seen:
        if current == ancestor:
            return True
        seen.add(current)
        current = parents.get(current)
    return False
