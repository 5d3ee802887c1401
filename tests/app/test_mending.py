"""Mending iterations and games, undone again; and two tabs or two clicks on the same thing."""

from typing import Any

import pytest

from dashboard.shared import changes as data
from dashboard.shared.jobs import jobs
from evaluation.iterations.iteration import Fate
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS
from evaluation.store import JobState, Store
from tests.app.drawn import wait_for_jobs
from tests.app.outdated import make_outdated


def test_an_iteration_is_renamed_and_described_in_one_step_and_stays_in_the_link(open_page, filled) -> None:
    app = open_page(iteration="Baseline prompt")
    # The menu has actions alone; each form is a view of its own.
    app.button(key="manage_edit").click().run()
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
    app = open_page(iteration="Baseline prompt", manage="Delete")
    app.radio(key="fate_0_0").set_value(fate)
    app.button(key="delete_iteration_0_0").click().run()
    assert not app.exception
    assert [one.name for one in filled.iterations.list()] == ["Shorter prompt"]
    assert "manage" not in app.query_params, "the decision is shown again, not the form of another iteration"
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


NAME = "Shorter prompt"
FIRST = "1_0"
"""The forms of the second iteration before anything about it was changed."""


def description(store: Store, name: str = NAME) -> tuple[str, str, str | None]:
    one = store.iterations.get(name)
    return one.change, one.prompt_text, one.target_metric


def save(tab: Any, place: str = FIRST, **fields: str) -> Any:
    for key, value in fields.items():
        box = tab.text_area if key == "prompt" else tab.text_input
        box(key=f"{key}_{place}").set_value(value)
    tab.button(key=f"save_{place}").click().run()
    assert not tab.exception
    return tab


def test_a_form_that_another_tab_overtook_saves_what_it_changed_and_nothing_else(open_page, filled) -> None:
    ann, ben = open_page(rater="Ann", manage="Description"), open_page(rater="Ben", manage="Description")
    save(ann, change="Half the words")
    save(ben, prompt="Be brief.")
    assert description(filled) == ("Half the words", "Be brief.", "coherence")


def test_the_same_field_changed_in_two_tabs_is_refused_and_keeps_both_texts(open_page, filled, words) -> None:
    long = "Say what you saw, and whom you suspect. " * 10
    ann, ben = open_page(rater="Ann", manage="Description"), open_page(rater="Ben", manage="Description")
    save(ann, prompt=long)
    save(ben, prompt="Be brief.", change="Half the words")
    assert description(filled) == ("Shorter", long, "coherence")
    said = words(ben)
    assert "Prompt text: changed by Ann since you opened the form." in said
    assert "Prompt text: not saved. Save again to put yours in its place." in said
    # All of it, in place of 80 characters.
    assert long in [block.value for block in ben.code]
    assert ben.text_area(key="prompt_1_1").value == "Be brief."
    assert ben.text_input(key="change_1_1").value == "Half the words"
    save(ben, "1_1")
    assert description(filled) == ("Half the words", "Be brief.", "coherence")


def test_a_description_typed_for_an_iteration_that_was_renamed_or_deleted_is_not_lost(open_page, filled, words) -> None:
    ann, ben = open_page(manage="Description"), open_page(manage="Description")
    filled.iterations.rename(NAME, "Brief", who="Cleo")
    save(ann, change="Half the words")
    assert description(filled, "Brief")[0] == "Half the words"
    filled.deletions.delete_iteration("Brief", who="Cleo", with_games=False)
    save(ben, prompt="Be brief, be kind.")
    assert "This iteration was deleted in the meantime. You had typed:\nPrompt text: Be brief, be kind." in words(ben)


def test_thresholds_limits_and_the_judge_saved_in_two_tabs_keep_what_each_changed(open_page, filled) -> None:
    ann, ben = open_page("settings"), open_page("settings")
    ann.number_input(key="threshold_coherence").set_value(61.0)
    ann.run().button(key="save_settings").click().run()
    ben.number_input(key="threshold_engagement").set_value(2.0)
    ben.run().button(key="save_settings").click().run()
    assert filled.settings.thresholds() == DEFAULT_THRESHOLDS | {"coherence": 61.0, "engagement": 2.0}
    ann.number_input(key="limit_players").set_value(9)
    ann.run().button(key="save_settings").click().run()
    ben.number_input(key="limit_files").set_value(7)
    ben.run().button(key="save_settings").click().run()
    limits = filled.settings.limits()
    assert (limits.players, limits.files) == (9, 7)
    ann.text_input(key="judge_model").set_value("gpt-x")
    ann.run().button(key="save_settings").click().run()
    ben.number_input(key="judge_calls").set_value(12)
    ben.run().button(key="save_settings").click().run()
    assert filled.settings.get("judge") == {"model": "gpt-x", "max_calls": 12}


def decide(tab: Any, fate: Fate, why: str = "Reads better", **others: str) -> Any:
    tab.radio(key=f"fate_of_{FIRST}").set_value(fate)
    tab.text_input(key=f"why_{FIRST}").set_value(why)
    for key, value in others.items():
        tab.text_input(key=f"{key}_{FIRST}").set_value(value)
    tab.button(key=f"decide_now_{FIRST}").click().run()
    assert not tab.exception
    return tab


def test_a_second_click_records_nothing_and_another_decision_is_refused(open_page, filled, words) -> None:
    first, second, ben = (
        open_page(rater="Ann"),
        open_page(rater="Ann"),
        open_page(rater="Ben"),
    )
    decide(first, Fate.KEPT)
    decide(second, Fate.KEPT)
    assert "not possible" not in words(second)
    decide(ben, Fate.REVERTED, "Too short")
    assert [(one.who, one.fate) for one in filled.iterations.decisions(NAME)] == [("Ann", Fate.KEPT)]
    assert "Ann kept it on" in words(ben)
    assert "What you pressed was not recorded. Your text: Too short" in words(ben)
    # The same for taking it back; somebody else is told who did.
    late = open_page(rater="Ben")
    for tab in (first, second):
        tab.button(key="undecide_1_1").click().run()
        assert "not possible" not in words(tab)
    told = words(late.button(key="undecide_1_1").click().run())
    assert "UTC. What you pressed was not recorded." in told
    assert "Ann took back that it was kept on" in told
    assert [one.is_withdrawal for one in filled.iterations.decisions(NAME)] == [False, True]


def test_a_second_click_signs_off_once(open_page, filled, words) -> None:
    tabs = [open_page(rater="Ann", manage="Baseline and sign-off") for _ in range(2)]
    for tab in tabs:
        tab.button(key=f"sign_{FIRST}").click().run()
        assert "not possible" not in words(tab)
    assert len(filled.iterations.sign_offs(NAME)) == 1
    # Nor is it withdrawn twice.
    tabs = [open_page(rater="Ann", manage="Baseline and sign-off") for _ in range(2)]
    for tab in tabs:
        tab.text_input(key=f"withdraw_{FIRST}_1_note").set_value("Dull on second sight")
        tab.button(key=f"withdraw_{FIRST}_1").click().run()
        assert "not possible" not in words(tab)
    assert [(one.note, one.is_withdrawal) for one in filled.iterations.sign_offs(NAME)][1:] == [
        ("Dull on second sight", True)
    ]


EVIL = '\U0001f600 "Bob" <i>\u202e'


def test_a_decision_under_a_name_that_cannot_be_used_is_not_recorded(open_page, filled, words) -> None:
    tab = decide(open_page(), Fate.KEPT, decided_by=EVIL)
    assert filled.iterations.decisions(NAME) == []
    (told,) = [line for line in words(tab).splitlines() if "turns text around" in line]
    assert "\\" not in told
    assert "\U0001f600" in told
    tab.button(key="manage_flag").click().run()
    tab.button(key=f"sign_{FIRST}").click().run()
    tab.text_input(key=f"signer_{FIRST}").set_value(EVIL)
    tab.button(key=f"sign_{FIRST}").click().run()
    assert filled.iterations.sign_offs(NAME) == []


def test_a_text_beyond_its_limit_is_told_and_kept(open_page, filled, words) -> None:
    tab = decide(open_page(), Fate.KEPT, "x" * 2300)
    assert filled.iterations.decisions(NAME) == []
    assert "2,300 characters, at most 2,000." in words(tab)
    tab.button(key="manage_edit").click().run()
    save(tab, name="y" * 300)
    assert "300 characters, at most 200." in words(tab)
    # A browser drops what is pasted beyond a limit of the input itself.
    assert {box.proto.max_chars for box in tab.text_input} == {0}


def test_names_of_raters_are_checked_and_meant_once(open_page, filled, words) -> None:
    app = open_page("team", rater="Lea")
    app.text_area(key="team_names").set_value("grace\nBen\nben \nBEN").run()
    app.button(key="team_assign").click().run()
    assert not app.exception
    # The only game that waits, by two raters: Grace, who rated before, and Ben.
    assert {one.rater for one in filled.rating_assignments.current()} == {"Grace", "Ben"}
    app.text_area(key="team_names").set_value("\u202eevil").run()
    assert "turns text around" in words(app)
    assert "team_assign" not in [button.key for button in app.button]
