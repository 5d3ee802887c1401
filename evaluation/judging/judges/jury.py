"""A judge that asks several models the same question, and reports how far they agree."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean, median_low
from typing import Literal

from evaluation.judging.judges._judgements import unscored
from evaluation.judging.model_client.usage import Usage
from evaluation.judging.protocol import Judge, JudgeKind, Judgement, JudgementStatus, JudgeRequest, Report

JuryRule = Literal["mean", "majority"]


def jury_name(models: Sequence[str], rule: JuryRule) -> str:
    """The name under which a jury's judgements are filed."""
    return f"jury of {', '.join(models)} ({rule})"


class JuryJudge:
    """Asks every member, and makes one judgement of what they say.

    The mark is the mean of the members' marks, rounded to a whole one, or the one that most of them gave; where several
    marks are equally frequent, the median of all, the lower one of two. A question that fewer than half of the members
    answered is an error. Of lists of ideas that of median length counts, of yes and no what most said; where they are
    equally many, there is no answer.

    Args:
        members: By model.
        rule: How marks become one.
        kind: Which kind of judges the members are.
    """

    def __init__(
        self, members: Sequence[tuple[str, Judge]], rule: JuryRule = "mean", *, kind: JudgeKind = JudgeKind.LIVE
    ) -> None:
        self._members = tuple(members)
        self._rule: JuryRule = rule
        self._kind = kind
        self.model = jury_name([model for model, _ in members], rule)

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order; members are asked at the same time."""
        said = await asyncio.gather(*(judge.judge(requests) for _, judge in self._members))
        found = []
        for position, (request, *own) in enumerate(zip(requests, *said, strict=True)):
            found.append(self._verdict(request, own))
            if report:
                report(position, found[-1])
        return found

    def _verdict(self, request: JudgeRequest, said: Sequence[Judgement]) -> Judgement:
        answered = [one for one in said if one.is_scored]
        usage = sum((one.usage for one in said), Usage())
        marks = tuple([(one.model, one.score) for one in answered if one.score is not None])
        chosen = self._chosen(answered, [mark for _, mark in marks])
        if 2 * len(answered) < len(said) or chosen is None:
            failed = [one for one in said if not one.is_scored]
            detail = "; ".join(f"{one.model}: {one.detail}" for one in failed) or "the members are equally divided"
            status = failed[0].status if len(failed) == len(said) else JudgementStatus.ERROR
            return replace(unscored(request, status, detail, judge=self._kind, model=self.model), usage=usage)
        return replace(
            chosen,
            key=request.key(self.model),
            judge=self._kind,
            model=self.model,
            score=None if chosen.score is None else self._mark([mark for _, mark in marks]),
            reason=_reasons(answered, chosen),
            confidence=_mean([one.confidence for one in answered]),
            is_data_missing=2 * sum(one.is_data_missing for one in answered) > len(answered),
            usage=usage,
            is_cached=all(one.is_cached for one in said),
            jury=marks,
        )

    def _mark(self, marks: Sequence[int]) -> int:
        if self._rule == "mean":
            return math.floor(fmean(marks) + 0.5)
        first, *others = Counter(marks).most_common(2)
        return median_low(marks) if others and others[0][1] == first[1] else first[0]

    def _chosen(self, answered: Sequence[Judgement], marks: Sequence[int]) -> Judgement | None:
        """The member's judgement whose citations and kind of answer count; ``None`` without a majority."""
        if marks:
            wanted = self._mark(marks)
            return min(answered, key=lambda one: abs((one.score or 0) - wanted))
        if not answered or (answered[0].holds is None and answered[0].label is None):
            return sorted(answered, key=lambda one: len(one.ideas))[(len(answered) - 1) // 2] if answered else None
        votes = Counter((one.holds, one.label) for one in answered)
        vote, count = votes.most_common(1)[0]
        if 2 * count <= len(answered):
            return None
        return next(one for one in answered if (one.holds, one.label) == vote)


def _reasons(answered: Sequence[Judgement], chosen: Judgement) -> str:
    if chosen.score is None:
        return chosen.reason
    return " ".join(f"[{one.model}: {one.score} of 9] {one.reason}" for one in answered)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def jury_words(judgements: Iterable[Judgement]) -> str:
    """The agreement of a jury's members over these judgements, in words; empty where no jury was asked."""
    found = [one.jury for one in judgements if len(one.jury) > 1]
    apart = [abs(first - second) for marks in found for (_, first), (_, second) in combinations(marks, 2)]
    if not apart:
        return ""
    same, near = (sum(each <= limit for each in apart) / len(apart) for limit in (0, 1))
    models = dict.fromkeys(model for marks in found for model, _ in marks)
    return (
        f"Jury of {', '.join(models)}: over {len(found)} questions two members gave the same mark {same:.0%} of the "
        f"time, were at most one point apart {near:.0%}, and {fmean(apart):.1f} points on average."
    )
