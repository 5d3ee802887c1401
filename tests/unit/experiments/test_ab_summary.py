"""The words of an A/B test's result, and runs that fail by errors that are not ours."""

from __future__ import annotations

from typing import Any

from evaluation.experiments.ab_summary import ab_summary, runs_by_status
from evaluation.text.display import significant_text


def test_numbers_keep_their_significant_digits() -> None:
    numbers = (0, 0.00001234, 0.61, -0.5, 1234.5, 9.999, 100, None, float("nan"))
    shown = ["0", "0.0000123", "0.61", "-0.5", "1,230", "10", "100", "not known", "not known"]
    assert [significant_text(number) for number in numbers] == shown


def test_runs_are_told_by_status_and_reason() -> None:
    runs = [{"status": "skipped", "detail": "budget"}] * 6 + [{"status": "done", "detail": ""}] * 2
    assert runs_by_status(runs) == "2 done, 6 skipped: budget"
    assert runs_by_status([*runs, {"status": "failed", "detail": "x"}]) == "2 done, 1 failed, 6 skipped: budget"


def _pair(measure: str, a: str, b: str, *, significant: bool | None, favours: str | None = None) -> dict[str, Any]:
    more = {"n_a": 3, "n_b": 1, "mean_a": 4.0, "mean_b": 6.0, "difference": 2.0, "interval": {}, "p_holm": None}
    judged = {"significant": significant, "practical_difference": True, "favours": favours}
    return {"metric_name": measure, "variant_a": a, "variant_b": b, **more, **judged}


def test_measures_say_what_they_show_and_the_deciding_one_what_the_decision_rests_on() -> None:
    pairs = [
        _pair("q", "x", "y", significant=False),
        _pair("q", "x", "z", significant=True, favours="z"),
        _pair("cost", "x", "y", significant=None),
        _pair("speed", "x", "y", significant=False),
    ]
    found = ab_summary({"comparisons": pairs, "primary": "q"})
    assert found.measures == [
        {"Measure": "q", "Better beyond luck": "z (than x)", "x": "4", "y": "6", "z": "6"},
        {"Measure": "cost", "Better beyond luck": "cannot be tested", "x": "4", "y": "6"},
        {"Measure": "speed", "Better beyond luck": "could be luck", "x": "4", "y": "6"},
    ]
    assert found.basis == "q: x 4 (3 runs), y 6 (1 run) and z 6 (1 run). No difference beyond luck on 2 other measures."
    other = ab_summary({"comparisons": pairs, "primary": "cost"})
    assert [row["Measure"] for row in other.measures] == ["cost", "q", "speed"]
    assert other.basis.endswith("Differences beyond luck on other measures: q.")
    assert ab_summary({}).basis == ""
