"""Find the reference of an iteration, by one rule for every page, command and report."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.iterations._iteration import Iteration


def reference_of(iteration: Iteration, iterations: Sequence[Iteration]) -> Iteration | None:
    """The iteration that this one is compared with.

    Its parent where it has one; else the later of the last kept iteration and the baseline, among those before it.
    Where neither stands before it, the latest that was the baseline at some time: promoting an iteration must not take
    away what its own change was compared with. Never itself or a descendant of it. ``None`` when there is none, as for
    the first.

    Args:
        iteration: One of ``iterations``.
        iterations: All that there are, in any order. A parent that is not among them counts as none.
    """
    parent = [one for one in iterations if one.name == iteration.parent]
    if found := _not_from(iteration, parent, iterations):
        return found[0]
    before = [one for one in iterations if one.position < iteration.position]
    decided = _not_from(iteration, [one for one in before if one.is_kept or one.is_baseline], iterations)
    former = _not_from(iteration, [one for one in before if one.was_baseline], iterations)
    return max(decided or former, key=lambda one: one.position, default=None)


def baseline_before(iteration: Iteration, iterations: Sequence[Iteration]) -> Iteration | None:
    """The baseline where it stands before ``iteration``, as the second line of a comparison; else ``None``."""
    marked = [one for one in iterations if one.is_baseline and one.position < iteration.position]
    return next(iter(_not_from(iteration, marked, iterations)), None)


def _not_from(iteration: Iteration, some: Sequence[Iteration], iterations: Sequence[Iteration]) -> list[Iteration]:
    """Those of ``some`` that are neither the iteration nor a descendant of it."""
    parents = {one.name: one.parent for one in iterations}
    return [one for one in some if not _descends(one.name, iteration.name, parents)]


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
