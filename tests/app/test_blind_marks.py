"""Marking a judge's claims blind at the desk, and what the Agreement and Personas pages then say of the judge."""

from __future__ import annotations

from dashboard.app_pages.review.sections import JUDGE, VIEW
from evaluation.agreement.calibration import FEWEST_MARKS


def test_a_claim_is_marked_without_seeing_the_judge_and_the_judge_is_held_against_it(
    open_page, filled, words, table, run_of
) -> None:
    store = filled
    run_of(store, "alpha", 6)
    app = open_page("review", rater="Ada", **{VIEW: JUDGE})
    assert not app.exception
    said = words(app)
    assert "You have marked 0 claims." in said
    # What the judge said is told nowhere before the mark is given.
    assert "It is 6." not in said
    assert "6 of 9" not in said
    app.button(key="save_blind_mark").click().run()
    assert "Choose a mark from 0 to 9" in words(app)
    app.button_group(key="blind_mark").set_value(4)
    app.text_input(key="blind_evidence").set_value("line 1")
    app.button(key="save_blind_mark").click().run()
    assert not app.exception
    assert "You have marked 1 claim." in words(app)
    (held,) = store.calibration_marks.all()
    assert (held.rater, held.mark, held.judge_mark, held.evidence) == ("Ada", 4, 6, "line 1")
    app.button(key="skip_blind_mark").click().run()
    assert [one.mark for one in store.calibration_marks.all()] == [4, None]
    agreement = open_page("agreement")
    assert not agreement.exception
    assert "Judges against people" in words(agreement)
    personas = open_page("personas", agent="alpha")
    assert not personas.exception
    assert f"{FEWEST_MARKS} each are needed" in words(personas)
