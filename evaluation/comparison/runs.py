"""Two evaluation runs of agents side by side: each dimension game by game, and the propositions that moved most."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from evaluation.judged_by import JudgedBy
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.statistics.comparison import Comparison, Measure, Outcome, compare
from evaluation.statistics.words import sizes_words
from evaluation.text.display import listed

if TYPE_CHECKING:
    import pandas as pd

MOST = 8
_EXAMPLES = 3
_SMALLEST = 0.05


@dataclass(frozen=True, slots=True)
class Run:
    """An evaluation run: of whom, by whom, and what it came to.

    Attributes:
        scores: Each dimension's score, 0 to 9 (a mean count for ideas); dimensions without one are missing.
        judge: Kind and model: "live: gpt-4o-mini".
        agent_id: Of the agent or channel, by which pages know it.
        instructions: Versions of the prompts and temperatures that its answers came from; empty where not on record.
    """

    id: str
    agent: str
    judge: str
    sample_size: int
    created_at: datetime
    scores: Mapping[Dimension, float]
    agent_id: str = ""
    instructions: str = ""

    @property
    def model(self) -> str:
        """The model in ``judge``; empty where none is named."""
        return self.judge.partition(": ")[2]

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Run:
        """Build it from a row of ``Evaluations.runs``."""
        packed = json.loads(row["scores"]) if isinstance(row["scores"], str) else {}
        scores = {Dimension(key): float(one["score"]) for key, one in packed.items() if one.get("score") is not None}
        judge = ": ".join(str(part) for part in (row["judge"], row["model"]) if isinstance(part, str) and part)
        size = row["sample_size"]
        return cls(
            str(row["run_id"]),
            str(row["display_name"]),
            judge,
            int(size) if isinstance(size, int | float) and not math.isnan(size) else 0,
            row["created_at"],
            scores,
            str(row["agent_id"]),
            str(row["instructions"]),
        )

    @property
    def judged_by(self) -> JudgedBy:
        """Its judge; recorded answers are those of their model."""
        return JudgedBy(self.model or self.judge, self.instructions)

    def has_judge_of(self, other: Run) -> bool:
        """Whether both were judged alike."""
        return self.judged_by.is_like(other.judged_by)


def of_one_judge(runs: Iterable[Run]) -> list[Run]:
    """The runs of the judge of most of them, of several such judges that of the latest run; only these compare."""
    known = list(runs)
    groups = ([run for run in known if run.has_judge_of(each)] for each in known)
    return max(groups, key=lambda group: (len(group), max(run.created_at for run in group)), default=[])


def runs_apart_words(runs: Mapping[str, Run], beside: Run) -> str:
    """Name the runs that are not compared with another, as their judges differ; empty where all compare.

    "Run 1 stands apart: judged by offline: rules-2, not by live: gpt-4o-mini. Verdicts of different judges do not
    compare."

    Args:
        runs: By what each is called, which may be untrusted text.
        beside: The run that they would be compared with.
    """
    apart = {name: run for name, run in runs.items() if not run.has_judge_of(beside)}
    if not apart:
        return ""
    theirs = listed(sorted({_judge_words(run, beside) for run in apart.values()}))
    its = " or ".join(sorted({_judge_words(beside, run) for run in apart.values()}))
    stand = "stands" if len(apart) == 1 else "stand"
    return (
        f"{listed(list(apart))} {stand} apart: judged by {theirs}, not by {its}. Verdicts of different judges do not "
        "compare."
    )


def _judge_words(run: Run, other: Run) -> str:
    """The judge of a run; with its instructions where only these differ from the other's."""
    is_same_model = run.judged_by.name == other.judged_by.name
    return (run.judge or "nobody") + (f" ({run.instructions})" if is_same_model else "")


@dataclass(frozen=True, slots=True)
class RunExample:
    """One message's score on a proposition in both runs, with the later run's reason; NaN where a run did not ask."""

    transcript_id: str
    message_id: str
    before: float
    after: float
    reason: str


@dataclass(frozen=True, slots=True)
class RunMover:
    """A proposition whose mean changed: claim and reasons are untrusted text; ``is_inverted`` as in its file."""

    dimension: Dimension
    claim: str
    is_inverted: bool
    before: float
    after: float
    examples: tuple[RunExample, ...]

    @property
    def change(self) -> float:
        """After minus before, in points of 9."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The changes from one run to another.

    Attributes:
        comparison: Every dimension's difference, a value for each game (the weighted mean over propositions there). A
            dimension that is judged over a whole trajectory has none, and so no test.
        movers: The propositions that both runs asked and that moved most, the largest first.
    """

    before: Run
    after: Run
    comparison: Comparison
    movers: tuple[RunMover, ...]


def compare_runs(before: Run, after: Run, rows: tuple[pd.DataFrame, pd.DataFrame]) -> RunComparison:
    """Compares two runs; a game is the unit of sampling, and games that both runs saw are pairs.

    Args:
        before: The control.
        after: The treatment.
        rows: Their scores, as ``Evaluations.scores`` gives them.
    """
    measures = {str(dimension): _measure(dimension, rows) for dimension in DIMENSIONS}
    return RunComparison(before, after, compare(measures), tuple(_movers(*rows))[:MOST])


def finding_words(found: RunComparison) -> str:
    """The changes in a sentence: "better beyond luck on Adherence (3 games against 3)."

    "no change beyond luck: Adherence could be luck" where there is none. Dimensions without a score in either run are
    left out; empty when all are.
    """
    scored = found.before.scores.keys() | found.after.scores.keys()
    names: dict[Outcome, list[str]] = {outcome: [] for outcome in Outcome}
    for one in found.comparison.values():
        if (dimension := Dimension(one.name)) in scored:
            names[one.outcome].append(LABELS[dimension])
    proven = [f"{one.words} on {listed(names[one])}" for one in (Outcome.BETTER, Outcome.WORSE) if names[one]]
    others = [f"{listed(names[one])} {one.words}" for one in (Outcome.NO_EVIDENCE, Outcome.UNTESTABLE) if names[one]]
    told = "; ".join(proven + others)
    if not told:
        return ""
    sides = [(one.after.n, one.before.n) for one in found.comparison.values()]
    after, before = (max(counts) for counts in zip(*sides, strict=True))
    games = f" ({sizes_words(after, before)})" if after and before else ""
    return f"{told}{games}." if proven else f"{NO_CHANGE}{told}{games}."


NO_CHANGE = "no change beyond luck: "
"""How :func:`finding_words` begins where no dimension changed beyond luck."""


def general_claim(claim: str, message: str) -> str:
    """A claim about many messages without the one that it quotes: "A message is one that only Ann would write".

    Args:
        claim: As it is stored, with a message in it, or as a file has it, with a variable.
        message: The message, or the variable, that stands in the claim; empty for none.
    """
    if not message:
        return claim
    told = re.sub(
        rf"(?:the message )?(?<!\w){re.escape(message)}(?!\w)", "a message", claim, count=1, flags=re.IGNORECASE
    )
    return told[:1].upper() + told[1:]


def _measure(dimension: Dimension, rows: tuple[pd.DataFrame, pd.DataFrame]) -> Measure:
    # What was asked of a whole trajectory is not a game.
    old, new = ({key: value for key, value in by_game(part, dimension).items() if key} for part in rows)
    shared = [key for key in old if key in new]
    limits = None if dimension is Dimension.IDEAS_QUANTITY else (0.0, 9.0)
    return Measure(list(old.values()), list(new.values()), [(old[key], new[key]) for key in shared], limits)


def by_game(rows: pd.DataFrame, dimension: Dimension) -> dict[str, float]:
    """A dimension's score in each game: the weighted mean over propositions of the means over messages.

    Args:
        rows: ``dimension``, ``proposition_id``, ``weight``, ``score``, ``transcript_id`` (empty for a trajectory).
        dimension: The one that is wanted.

    Returns:
        Transcript id ("" for trajectories) -> score; games whose propositions weigh nothing are left out.
    """
    own = rows[rows["dimension"] == str(dimension)]
    games = own["transcript_id"].fillna("")
    means = own.groupby([games, own["proposition_id"]], sort=False).agg({"score": "mean", "weight": "first"})
    means["product"] = means["score"] * means["weight"]
    sums = means.groupby(level=0, sort=False)[["product", "weight"]].sum()
    sums = sums[sums["weight"] > 0]
    return dict(zip(map(str, sums.index), (sums["product"] / sums["weight"]).tolist(), strict=True))


def _movers(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[RunMover]:
    key = ["dimension", "proposition_id"]
    old, new = before.groupby(key)["score"].mean(), after.groupby(key)["score"].mean()
    changes = (new - old).dropna()
    first = after.drop_duplicates(key).set_index(key)
    for dimension, proposition in changes.abs().sort_values(ascending=False, kind="stable").index[:MOST]:
        place = (dimension, proposition)
        if abs(changes[place]) >= _SMALLEST:
            sides = [_of(rows, dimension, proposition) for rows in (before, after)]
            examples = tuple(_examples(*sides))
            row = first.loc[place]
            claim, is_inverted = claim_of(row), bool(row["is_inverted"])
            yield RunMover(Dimension(dimension), claim, is_inverted, float(old[place]), float(new[place]), examples)


def claim_of(row: Mapping[Any, Any] | pd.Series) -> str:
    """The claim of a stored score in words that hold for every message that it was asked of."""
    return general_claim(str(row["claim"]), str(row["context_snippet"]) if isinstance(row["message_id"], str) else "")


def _of(rows: pd.DataFrame, dimension: str, proposition: str) -> pd.DataFrame:
    own = rows[(rows["dimension"] == dimension) & (rows["proposition_id"] == proposition) & rows["message_id"].notna()]
    return own.drop_duplicates(["transcript_id", "message_id"]).set_index(["transcript_id", "message_id"])


def _examples(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[RunExample]:
    both = before[["score"]].rename(columns={"score": "was"}).join(after[["score", "reasoning"]], how="inner")
    moved = (both["score"] - both["was"]).abs().sort_values(ascending=False, kind="stable")
    for place in moved[moved > 0].index[:_EXAMPLES]:
        row = both.loc[place]
        yield RunExample(str(place[0]), str(place[1]), float(row["was"]), float(row["score"]), str(row["reasoning"]))
