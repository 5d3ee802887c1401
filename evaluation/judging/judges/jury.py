"""A judge that asks several models the same question, and reports how far they agree."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from statistics import fmean, median_low
from typing import Any, Literal

from evaluation.judging.judges._judgements import unscored
from evaluation.judging.model_client.check_limits import current_limits
from evaluation.judging.model_client.usage import Usage
from evaluation.judging.protocol import Judge, JudgeKind, Judgement, JudgementStatus, JudgeRequest, Report
from evaluation.text.display import counted

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
        """One judgement per request, in order; members are asked at the same time.

        In a check of the gate every member may be asked as often as a single judge; the re-ask is one for all of them.
        """
        if (limits := current_limits()) is not None:
            limits.first_calls *= len(self._members)
        said = await asyncio.gather(*(judge.judge(requests) for _, judge in self._members))
        found = []
        for position, (request, *own) in enumerate(zip(requests, *said, strict=True)):
            found.append(self._verdict(request, own))
            if report:
                report(position, found[-1])
        return found

    def _verdict(self, request: JudgeRequest, said: Sequence[Judgement]) -> Judgement:
        scored = [one for one in said if one.is_scored]
        # Members to whom data was missing gave no mark: they outvote the others, or their nines do not count.
        missing = [one for one in scored if one.is_data_missing]
        is_data_missing = 2 * len(missing) > len(scored)
        answered = missing if is_data_missing else [one for one in scored if not one.is_data_missing]
        usage = sum((one.usage for one in said), Usage())
        marks = tuple([(one.model, one.score) for one in answered if one.score is not None])
        chosen = self._chosen(answered, [mark for _, mark in marks])
        if 2 * len(scored) < len(said) or chosen is None:
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
            is_data_missing=is_data_missing,
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


@dataclass(frozen=True, slots=True)
class JuryAgreement:
    """Agreement of a jury's members over the questions that two or more of them answered.

    Attributes:
        models: The members.
        questions: How many.
        same: Share of pairs of members that gave the same mark, 0 to 1.
        near: Share that were at most one point apart.
        apart: Mean distance in points of the 0 to 9 scale.
    """

    models: tuple[str, ...]
    questions: int
    same: float
    near: float
    apart: float

    @property
    def words(self) -> str:
        """The agreement in a sentence."""
        return (
            f"Jury of {', '.join(self.models)}: over {counted(self.questions, 'question')} two members gave the same "
            f"mark {self.same:.0%} of the time, were at most one point apart {self.near:.0%}, and {self.apart:.1f} "
            "points on average."
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible; ``of_dict`` reads it."""
        return asdict(self)

    @classmethod
    def of_dict(cls, stored: Mapping[str, Any]) -> JuryAgreement:
        """The agreement that ``as_dict`` wrote."""
        return cls(**{**stored, "models": tuple(stored["models"])})


def jury_agreement(judgements: Iterable[Judgement]) -> JuryAgreement | None:
    """The agreement of a jury's members over these judgements; ``None`` where no jury was asked."""
    found = [one.jury for one in judgements if len(one.jury) > 1]
    apart = [abs(first - second) for marks in found for (_, first), (_, second) in combinations(marks, 2)]
    if not apart:
        return None
    same, near = (sum(each <= limit for each in apart) / len(apart) for limit in (0, 1))
    models = tuple(dict.fromkeys(model for marks in found for model, _ in marks))
    return JuryAgreement(models, len(found), same, near, fmean(apart))


def jury_words(judgements: Iterable[Judgement]) -> str:
    """The same in words; empty where no jury was asked."""
    found = jury_agreement(judgements)
    return "" if found is None else found.words
