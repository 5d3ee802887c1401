"""Mending iterations and single games: they are corrected, decided on, moved and deleted, and all of it undone."""

from __future__ import annotations

import pytest

from dashboard.shared import changes as data
from dashboard.shared.jobs import jobs
from evaluation.store import JobState
from tests.app.drawn import wait_for_jobs
from tests.app.outdated import make_outdated


def test_an_iteration_is_renamed_and_described_in_one_step_and_stays_in_the_link(open_page, filled) -> None:
    app = open_page(iteration="Baseline prompt")
    app.text_input(key="name_0_0").set_value("  Short and sweet ")
    app.text_input(key="change_0_0").set_value("Half the words")
    app.selectbox(key="target_0_0").set_value("strategic_depth")
    app.text_area(key="prompt_0_0").set_value("Be brief.")
    app.button(key="save_0_0").click().run()
    assert not app.exception
    assert app.query_params["iteration"] in ("Short and sweet", ["Short and sweet"])
    told = filled.iterations.get("Short and sweet")
    assert (told.change, told.target_metric, told.prompt_text) == ("Half the words", "strategic_depth", "Be brief.")
    assert {one.who for one in filled.iterations.history("Short and sweet")} == {"somebody at the dashboard"}


@pytest.mark.parametrize(("fate", "left"), [("Keep them, without an iteration", 5), ("Delete them too", 2)])
def test_an_iteration_is_deleted_and_undone(open_page, filled, words, fate: str, left: int) -> None:
    before = (filled.transcripts.summaries().to_csv(), filled.iterations.list(), filled.results.scores().to_csv())
    app = open_page(iteration="Baseline prompt")
    app.radio(key="fate_0_0").set_value(fate)
    app.button(key="delete_iteration_0_0").click().run()
    assert not app.exception
    assert [one.name for one in filled.iterations.list()] == ["Shorter prompt"]
    assert len(filled.transcripts.summaries()) == left
    assert "The iteration Baseline prompt" in words(app)
    app.button(key="undo_last").click().run()
    assert not app.exception
    after = (filled.transcripts.summaries().to_csv(), filled.iterations.list(), filled.results.scores().to_csv())
    assert after == before
    assert "undo_last" not in [button.key for button in app.button]


def test_what_was_deleted_comes_back_or_goes_for_ever(open_page, filled, words, small_game) -> None:
    kept = filled.deletions.delete([small_game("one").id], who="Ann")
    gone = filled.deletions.delete([small_game("two").id], who="Bob")
    app = open_page()
    assert [expander.label for expander in app.expander][-1] == "Deleted, can come back: 2"
    assert "deleted by Bob" in words(app)
    app.button(key=f"purge_{gone.id}").click().run()
    assert [one.id for one in filled.deletions.list()] == [kept.id]
    app.button(key=f"undo_{kept.id}").click().run()
    assert not app.exception
    assert sorted(filled.transcripts.summaries()["game_id"]) == ["four", "loose", "one", "three"]
    assert "Deleted, can come back" not in " ".join(expander.label for expander in app.expander)


def test_mixed_versions_are_marked_and_mended(open_page, filled, words, small_game) -> None:
    make_outdated(filled, small_game("one"))
    for page in ("games", "trends", "overview"):
        assert "Conversation coherence was computed by version 0 in 1 game and by" in words(open_page(page))
    app = open_page()
    assert "Score them again before you decide" in words(app)
    app.button(key="reevaluate").click().run()
    assert not app.exception
    wait_for_jobs()
    (job,) = [job for job in filled.jobs.list() if job.kind not in jobs.QUIET]
    assert (job.kind, job.state, job.done, job.total) == (jobs.REEVALUATE, JobState.DONE, 1, 1)
    assert "changed: Conversation coherence in 1 game" in job.message
    assert data.versions(filled).all == ()
    app.run()
    assert "several versions" not in words(app)


def test_a_game_is_renamed_gets_its_files_name_back_and_is_moved(open_page, filled, words, small_game) -> None:
    one = small_game("one").id
    app = open_page("games", transcript=one)
    app.text_input(key=f"game_name_{one}").set_value("The long night")
    app.button(key=f"rename_{one}").click().run()
    assert not app.exception
    assert "Game 1 · Baseline prompt · The long night" in words(app)
    assert "In its file it is called one" in words(app)
    app.button(key=f"original_{one}").click().run()
    assert not app.exception
    assert filled.transcripts.game_ids()[one] == "one"
    assert app.text_input(key=f"game_name_{one}").value == "one"
    app.selectbox(key=f"game_iteration_{one}").set_value("Shorter prompt")
    app.button(key=f"move_{one}").click().run()
    assert not app.exception
    assert filled.transcripts.summaries().set_index("transcript_id")["iteration"][one] == "Shorter prompt"


def test_a_deleted_game_is_gone_from_the_list_and_undo_brings_it_back(open_page, filled, words, small_game) -> None:
    before = filled.transcripts.summaries().to_csv()
    one = small_game("one").id
    app = open_page("games", transcript=one)
    app.button(key=f"delete_game_{one}").click().run()
    assert not app.exception
    assert "transcript" not in app.query_params
    assert one not in set(filled.transcripts.summaries()["transcript_id"])
    assert "Game 1 · Baseline prompt" in words(app)
    app.button(key="undo_last").click().run()
    assert not app.exception
    assert filled.transcripts.summaries().to_csv() == before
