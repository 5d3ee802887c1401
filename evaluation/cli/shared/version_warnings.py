"""Warn of scores that do not compare because different versions of a metric computed them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.cli.shared.terminal import note

if TYPE_CHECKING:
    from evaluation.iterations.metric_versions import VersionMix
    from evaluation.store import Store


def stored_mixes(
    store: Store, iteration: str | None = None, among: Collection[str] | None = None
) -> tuple[VersionMix, ...]:
    """The metrics of which several versions, or another than today's, meet in the store or in one iteration."""
    from evaluation.iterations.metric_versions import version_mixes

    return version_mixes(store.results.scores(iteration), store.readers.versions(), among)


def warn_of(mixes: Sequence[VersionMix]) -> None:
    """Says on standard error which metrics and versions they are, and what to do."""
    for mix in mixes:
        note(f"warning: {mix.words}")
    if mixes:
        note("Score the outdated games again with: dramaturg reevaluate.")


def mix_dict(mix: VersionMix) -> dict[str, Any]:
    """The same as JSON-compatible data."""
    return {"metric": mix.metric, "games": dict(mix.games), "today": mix.today, "is_mixed": mix.is_mixed}
