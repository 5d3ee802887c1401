"""Speech acts: what the rules see a message do, against the readers' labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from benchmarks.labels import Figure, Key, Opened, agreement
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.speech.readings import read

Acts = Mapping[Key, frozenset[tuple[str, str | None]]]
"""Message -> its acts, each with its target."""

FEWEST_EXAMPLES = 10
"""An act with fewer labels does not enter the macro average."""
_IMPLY_ACCUSE = frozenset({"accuse_aggressively", "build_case"})


def measure(opened: Opened) -> Iterator[Figure]:
    """Per act and in the mean: precision, recall and F1 over (message, act, target); and who takes what for what.

    ``build_case`` and ``accuse_aggressively`` imply ``accuse`` at the same target, on both sides of the comparison:
    readers were asked to label it, rules give the narrower acts in its place. The macro F1 is the mean over the acts
    with ten labels or more. Kappa is over (message, act) with the set of targets as the answer.
    """
    first, second = _labelled(opened, "first"), _labelled(opened, "second")
    rules = {key: acts for key, acts in _by_rules(opened).items() if key in first}
    yield from _compare("rules", first, rules, opened)
    yield from _confusion(first, rules)
    twice = {key: acts for key, acts in first.items() if key in second}
    yield from _compare("second reading", twice, second, opened)


def _compare(name: str, labelled: Acts, given: Acts, opened: Opened) -> Iterator[Figure]:
    wanted = Counter(act for acts in labelled.values() for act, _ in acts)
    found = Counter(act for acts in given.values() for act, _ in acts)
    both = Counter(act for key, acts in labelled.items() for act, _ in acts & given.get(key, frozenset()))
    scores = {}
    for act in sorted(wanted | found):
        scores[act] = 2 * both[act] / (wanted[act] + found[act])
        counts = f"precision {_share(both[act], found[act])}, recall {_share(both[act], wanted[act])}"
        yield Figure(f"{name}: {act}, F1", scores[act], f"{counts}, {wanted[act]} labels")
    common = [score for act, score in scores.items() if wanted[act] >= FEWEST_EXAMPLES]
    mean = sum(common) / len(common) if common else None
    yield Figure(f"{name}: macro F1", mean, f"{len(common)} acts with {FEWEST_EXAMPLES} labels or more")
    pairs = [
        (key[0], _targets(acts, act), _targets(given.get(key, ()), act))
        for key, acts in labelled.items()
        for act in sorted(wanted)
    ]
    yield from agreement(f"{name}: acts with targets", pairs, opened)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def _targets(acts: Collection[tuple[str, str | None]], act: str) -> frozenset[str | None]:
    return frozenset(target for kind, target in acts if kind == act)


def _confusion(labelled: Acts, given: Acts) -> Iterator[Figure]:
    """For each labelled act: how often the rules see it, at another target, see another act, or see none."""
    for act in sorted({act for acts in labelled.values() for act, _ in acts}):
        seen: Counter[str] = Counter()
        for key, acts in labelled.items():
            for target in _targets(acts, act):
                seen.update(_seen_as(act, target, given.get(key, frozenset())))
        words = ", ".join(f"{other} {count}" for other, count in seen.most_common())
        yield Figure(f"confusion: {act} is seen as", None, words)


def _seen_as(act: str, target: str | None, given: Collection[tuple[str, str | None]]) -> list[str]:
    if (act, target) in given:
        return ["itself"]
    if any(kind == act for kind, _ in given):
        return ["itself at another target"]
    return sorted({kind for kind, _ in given}) or ["nothing"]


def _implied(acts: Collection[tuple[str, str | None]]) -> frozenset[tuple[str, str | None]]:
    return frozenset([*acts, *(("accuse", target) for act, target in acts if act in _IMPLY_ACCUSE)])


def _labelled(opened: Opened, reading: Any) -> Acts:
    return {
        key: _implied({(one["act"], one["target"]) for one in row["acts"]})
        for key, row in opened.labels("acts", reading).items()
    }


def _by_rules(opened: Opened) -> Acts:
    return {
        (game_id, reading.message.index): _implied({(str(act.kind), act.target) for act in reading.acts})
        for game_id, game in opened.games.items()
        for reading in read(Discussion.of(game))
    }
