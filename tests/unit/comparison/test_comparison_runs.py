"""Two evaluation runs compared: a value for each game, pairs of games, and the propositions that moved."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from evaluation.comparison.runs import (
    Run,
    by_game,
    compare_runs,
    finding_words,
    general_claim,
    of_one_judge,
    runs_apart_words,
)
from evaluation.judging.propositions import Dimension
from evaluation.statistics.comparison import Outcome

RUN = Run("r", "Ann", "live: small", 3, datetime(2026, 5, 1, tzinfo=UTC), {Dimension.ADHERENCE: 6.0})


def rows(*scores: tuple[str, str | None, str | None, float, float]) -> pd.DataFrame:
    """Proposition, game, message, weight, score; all of adherence."""
    columns = ["proposition_id", "transcript_id", "message_id", "weight", "score"]
    fixed = {"dimension": "adherence", "claim": "claim", "reasoning": "why", "context_snippet": ""}
    return pd.DataFrame(scores, columns=columns).assign(is_inverted=False, **fixed)


def test_a_game_is_the_weighted_mean_over_propositions_of_means_over_messages() -> None:
    first = (("a", "g1", "m1", 1.0, 4.0), ("a", "g1", "m2", 1.0, 8.0), ("b", "g1", "m1", 3.0, 2.0))
    found = by_game(rows(*first, ("c", "g2", "m1", 0, 9)), Dimension.ADHERENCE)
    # a: (4 + 8) / 2 = 6 with weight 1; b: 2 with weight 3; (6 + 6) / 4 = 3. g2 has no weight.
    assert found == {"g1": 3.0}
    assert by_game(rows(("a", None, None, 1.0, 5.0)), Dimension.ADHERENCE) == {"": 5.0}
    assert by_game(rows(), Dimension.FLUENCY) == {}


def test_runs_are_compared_over_games_and_paired_where_both_saw_one() -> None:
    before = rows(*(("a", f"g{n}", "m1", 1.0, score) for n, score in enumerate((3.0, 4.0, 3.0, 4.0))))
    after = rows(*(("a", f"g{n}", "m1", 1.0, score) for n, score in enumerate((7.0, 8.0, 8.0, 8.0, 7.0))))
    found = compare_runs(RUN, RUN, (before, after))
    adherence = found.comparison["adherence"]
    assert (adherence.before.n, adherence.after.n) == (4, 5)
    # (7 + 8 + 8 + 8 + 7) / 5 - 3.5 = 7.6 - 3.5
    assert adherence.difference == pytest.approx(4.1)
    assert adherence.outcome is Outcome.BETTER
    # (4 + 4 + 5 + 4) / 4
    assert (adherence.paired.n, adherence.paired.difference) == (4, 4.25)
    assert found.comparison["fluency"].outcome is Outcome.UNTESTABLE
    # Neither run has a score of fluency, so nothing is said about it.
    assert finding_words(found) == "better beyond luck on Adherence (5 games against 4)."
    (mover,) = found.movers
    assert (mover.before, mover.after) == (3.5, pytest.approx(7.6))
    # The largest move first: g2 went from 3 to 8.
    largest = mover.examples[0]
    assert (largest.transcript_id, largest.before, largest.after) == ("g2", 3.0, 8.0)


def test_a_run_is_read_from_its_row() -> None:
    packed = '{"adherence": {"score": 5.5}, "fluency": {"score": null}}'
    row = {"run_id": "1", "agent_id": "ann", "display_name": "Ann", "instructions": ""}
    row |= {"judge": "live", "model": "small", "sample_size": 20.0}
    run = Run.of(row | {"created_at": RUN.created_at, "scores": packed})
    assert (run.judge, run.sample_size, run.scores) == ("live: small", 20, {Dimension.ADHERENCE: 5.5})
    bare = Run.of(row | {"judge": None, "model": None, "sample_size": float("nan"), "created_at": None, "scores": None})
    assert (bare.judge, bare.sample_size, bare.scores) == ("", 0, {})


def test_only_runs_of_one_judge_compare_and_a_sentence_says_which_stand_apart() -> None:
    rules = replace(RUN, id="a", judge="offline: rules-2")
    played = replace(RUN, id="b", judge="recorded: small")
    older = replace(RUN, id="c", instructions="propositions-1, temperature 0")
    newer = replace(RUN, id="d", instructions="propositions-2, temperature 0")
    # Recorded answers are their model's, and what is not on record counts as equal.
    assert RUN.has_judge_of(played)
    assert RUN.has_judge_of(older)
    assert not RUN.has_judge_of(rules)
    assert not older.has_judge_of(newer)
    assert of_one_judge([rules, RUN, played]) == [RUN, played]
    # As many of each: the latest run decides.
    assert of_one_judge([replace(rules, created_at=RUN.created_at + timedelta(days=1)), RUN])[0].id == "a"
    assert of_one_judge([]) == []
    assert runs_apart_words({"Run 1": RUN, "Run 2": played}, RUN) == ""
    assert runs_apart_words({"Run 1": rules, "Run 2": RUN}, RUN) == (
        "Run 1 stands apart: judged by offline: rules-2, not by live: small. "
        "Verdicts of different judges do not compare."
    )
    assert runs_apart_words({"Run 1": older}, newer) == (
        "Run 1 stands apart: judged by live: small (propositions-1, temperature 0), not by live: small "
        "(propositions-2, temperature 0). Verdicts of different judges do not compare."
    )


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The message I do. is one that only Ann would write.", "A message is one that only Ann would write."),
        ("In I do., Ann changes her mind.", "In a message, Ann changes her mind."),
        ("Ann speaks.", "Ann speaks."),
    ],
)
def test_a_claim_about_many_messages_quotes_none(claim: str, told: str) -> None:
    assert general_claim(claim, "I do.") == told
    assert general_claim(claim, "") == claim
