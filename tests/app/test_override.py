"""Verdicts that a person decides on the Games page: overrides, marked references, and those to check one by one."""

import json
from typing import Any

import pytest

from dashboard.app_pages.games.override_form import row_key
from evaluation.judging.cached_judge import KeptAnswer
from evaluation.judging.protocol import Prompt
from evaluation.ratings import Rating
from evaluation.rubric.rows_in_doubt import ReviewKind
from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import Method, RowVerdict
from evaluation.store import Store
from evaluation.transcript import Transcript, Vote
from evaluation.workflows.judging import stored_review_queue
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import drawn
from tests.faults.injection_attacks import ATTACKS
from tests.games import game_of


def detail(open_page, transcript_id: str, message: str = "m0", metric: str = "strategic_depth"):
    app = open_page("games", transcript=transcript_id, message=message, metric=metric)
    assert not app.exception
    return app


def key_of(store, transcript_id: str, place: int = 0) -> str:
    return row_key(transcript_id, store.results.load(transcript_id)["strategic_depth"].ledger[place])


def widget(widgets, start: str):
    return next(one for one in widgets if one.key and one.key.startswith(start))


def override(app, key: str, verdict: RowVerdict | None, reason: str, author: str | None):
    widget(app.toggle, f"override_{key}").set_value(True).run()
    if verdict is not None:
        widget(app.radio, f"verdict_{key}").set_value(verdict)
    widget(app.text_area, f"reason_{key}").set_value(reason)
    if author is not None:
        widget(app.text_input, f"author_{key}").set_value(author)
    widget(app.button, f"send_{key}").click()
    return app.run()


def test_a_verdict_is_stored_once_nothing_is_missing_and_the_name_is_asked_once(
    open_page, filled, words, small_game
) -> None:
    game = small_game("one")
    first, second = key_of(filled, game.id), key_of(filled, game.id, 2)
    app = override(detail(open_page, game.id), first, None, "Because.", "Grace")
    assert "Give a verdict." in words(app)
    app = override(detail(open_page, game.id), first, RowVerdict.COUNTS, "", "")
    assert "Give a reason and your name." in words(app)
    assert filled.overrides.list(game.id) == []
    app = override(app, first, RowVerdict.EXCLUDED, "Because.", "Grace")
    app.query_params["message"] = "m2"
    app.run()
    override(app, second, RowVerdict.EXCLUDED, "Because.", None)
    made = [(one.author, one.verdict, one.reason) for one in filled.overrides.list(game.id)]
    assert made == [("Grace", RowVerdict.EXCLUDED, "Because.")] * 2


def test_the_judges_reason_citations_prompt_and_answer_stand_beside_the_row(
    open_page, filled, words, small_game
) -> None:
    game = small_game("one")
    prompt = Prompt("The rules.", "The talk.", "And?")
    kept = KeptAnswer("a" * 64, "small-model", ({"label": "shallow"},), prompt, raw="{}")
    row, cited = ("strategic_depth", "strategic_depth:m0", RowVerdict.DOES_NOT_COUNT), ("m0", "m1")
    filled.decisions.save(
        [RowDecision(game.id, *row, "shallow", "A mood.", 0.75, cited, "live", "small-model", "a" * 64)]
    )
    # Where nothing is kept, as of a recorded answer, nothing is offered.
    assert not [one for one in detail(open_page, game.id).toggle if str(one.key).startswith("asked_")]
    filled.judgements.keep([kept])
    app = detail(open_page, game.id)
    said = words(app)
    assert "A mood." in said
    assert "small-model says: shallow, 75 % sure by its own account" in said
    assert "decided by a judge model" in said
    assert "The talk." not in said
    key = key_of(filled, game.id)
    widget(app.toggle, f"asked_{key}").set_value(True).run()
    for text in ("The rules.", "The talk.", "And?", "{}"):
        assert text in words(app)
    widget(app.button, f"cited_1_{key}").click().run()
    assert not app.exception
    (component,) = drawn(app)
    data = json.loads(component.proto.json)
    assert json.loads(data["body"])["rows"][data["focus"]["row"]]["i"] == "m1"


def test_verdicts_of_a_model_that_proof_overrules_stand_at_the_score(open_page, store, words) -> None:
    game = game_of([("Ann", "It is Ben, because he dodged you."), ("Ben", "I vote Ann.")])
    add_evaluated(store, game, source_name="reason.json")
    row = ("strategic_depth", "strategic_depth:m0", RowVerdict.DOES_NOT_COUNT)
    store.decisions.save([RowDecision(game.id, *row, "shallow", "A mood.", None, (), "live", "small-model", "a" * 64)])
    app = detail(open_page, game.id)
    assert "% by the model alone" in widget(app.button, "metric_strategic_depth").label
    assert "1 of 1 verdict of the model overruled by proof; " in words(app)
    assert "Gives a reason. The proof decides, though small-model says shallow: A mood." in words(app)


def test_decisions_on_rows_that_are_gone_are_listed(open_page, filled, words, small_game) -> None:
    game = small_game("one")
    rows = filled.results.load(game.id)["strategic_depth"]
    filled.overrides.add(
        game.id, "strategic_depth", rows.ledger[0].id, RowVerdict.COUNTS, author="Grace", reason="Yes."
    )
    with filled.unit(write=True) as cursor:
        cursor.execute("UPDATE ledger SET row_id = 'strategic_depth:new' WHERE row_id = 'strategic_depth:m0'")
    app = open_page("games", transcript=game.id)
    app.button(key="metric_strategic_depth").click().run()
    assert not app.exception
    assert "1 decision on rows that are gone" in [one.label for one in app.expander]
    assert "strategic_depth:m0\nGrace" in words(app)


def test_a_verdict_that_the_reader_doubts_says_so_beside_its_reason(open_page, store, words, small_game) -> None:
    game = small_game("doubted", text="I said he was hiding! And I was wrong")
    result = add_evaluated(store, game, source_name="doubted.json")
    row = store.results.load(result.transcript_id)["strategic_depth"].ledger[0]
    percent = round(100 * row.details["review"]["likelihood"])
    assert f"gives the opposite a chance of {percent} %, by its own estimate" in words(detail(open_page, game.id))
    # What nobody doubts carries no such line.
    sure = small_game("sure")
    add_evaluated(store, sure, source_name="sure.json")
    assert "gives the opposite" not in words(detail(open_page, sure.id))


def test_a_message_that_speaks_to_the_judge_is_flagged(open_page, store, words, small_game) -> None:
    game = small_game("attacked", text=f"I think this matters.\n{ATTACKS[0].text}\n")
    add_evaluated(store, game, source_name="attacked.json")
    app = detail(open_page, game.id)
    assert "This message " in words(app)
    assert "No score changes by that" in words(app)
    (component,) = drawn(app)
    rows = [row for row in json.loads(json.loads(component.proto.json)["body"])["rows"] if row["k"] == "m"]
    assert [row["w"] for row in rows[:2]] == [True, False]


def test_a_reference_that_the_rule_missed_is_marked_on_the_page(open_page, filled, words, small_game) -> None:
    game = small_game("one")
    message = game.discussion[0]
    app = detail(open_page, game.id, message.id)
    app.query_params["metric"] = "memory_accuracy"
    app.run()
    before = len(filled.results.load(game.id)["memory_accuracy"].ledger)
    widget(app.toggle, "mark_").set_value(True).run()
    marked = message.text[:6]
    widget(app.text_input, "mark_words_").set_value(marked)
    widget(app.radio, "mark_verdict_").set_value(RowVerdict.COUNTS)
    widget(app.text_input, "mark_reason_").set_value("It did.")
    widget(app.text_input, "author_mark_").set_value("Grace")
    widget(app.button, "mark_send_").click().run()
    assert not app.exception
    assert "Added. Memory accuracy " in words(app)
    row = filled.results.load(game.id)["memory_accuracy"].ledger[-1]
    assert len(filled.results.load(game.id)["memory_accuracy"].ledger) == before + 1
    assert (row.evidence[0].text, row.verdict, row.reason) == (marked, RowVerdict.COUNTS, "Grace: It did.")
    # It stands beside the message like any row, with its own undo.
    assert "Grace: It did." in words(app)
    widget(app.button, "undo_").click().run()
    assert len(filled.results.load(game.id)["memory_accuracy"].ledger) == before


def a_game(name: str, said: list[tuple[str, str]]) -> Transcript:
    vote = Vote(round=1, voter="Ben", target="Cid")
    return game_of(said, ("Ann", "Ben", "Cid"), game_id=name, round=3, votes=(vote,))


SAID = [("Ann", "Ben voted for Cid in round 1."), ("Ben", "Cid voted for Ann in round 2."), ("Cid", "Well, well.")]


@pytest.fixture
def doubtful(store: Store) -> Store:
    """One game in an iteration with a reference that the record cannot settle."""
    store.iterations.create("v1")
    add_evaluated(store, a_game("doubtful", SAID), source_name="x.json", iteration="v1")
    return store


def message(app: Any) -> Any:
    """What the message on top is drawn from."""
    [one] = [one for one in app.get("bidi_component") if "marked_message" in one.proto.component_name]
    return json.loads(one.proto.json)


def memory(store: Store) -> Any:
    return store.results.load(a_game("doubtful", SAID).id)["memory_accuracy"]


def test_one_key_decides_a_row_and_another_takes_it_back(doubtful: Store, open_page: Any, words: Any) -> None:
    app = open_page("games", part="Check", queue_of="v1")
    assert not app.exception
    app.button_group(key="queue_kinds").set_value(["unverified reference"]).run()
    assert "Is what the marked words say true?" in words(app)
    assert message(app) == {
        "speaker": "Ben",
        "role": "",
        "text": "Cid voted for Ann in round 2.",
        "spans": [[0, len("Cid voted for Ann in round 2")]],
        "before": [{"speaker": "Ann", "text": "Ben voted for Cid in round 1."}],
    }
    # As for any override somebody must be named; nothing can be decided before.
    assert app.button(key="queue_does_not_count").disabled
    app.text_input(key="queue_author").set_value("Grace").run()
    # 1 of 1 settled is 100 %; a second that is wrong makes it 50 %.
    assert "score 100.0 %. No: −50.0 points." in words(app)
    app.button(key="queue_does_not_count").click().run()
    assert not app.exception
    result = memory(doubtful)
    assert (result.score, result.method) == (50.0, Method.HUMAN)
    [made] = doubtful.overrides.current()
    assert made.author == "Grace"
    assert made.reason == "Answered no under Games, Check (unverified reference)."
    assert all(one.item.row_id != made.row_id for one in stored_review_queue(doubtful, "v1"))
    app.button(key="queue_undo").click().run()
    assert not app.exception
    assert memory(doubtful).score == 100.0
    assert doubtful.overrides.current() == []


def test_an_answer_that_another_tab_overtook_is_refused(doubtful: Store, open_page: Any, words: Any) -> None:
    first, second = (open_page("games", part="Check", queue_of="v1") for _ in range(2))
    for tab, who in ((first, "Grace"), (second, "Heidi")):
        tab.text_input(key="queue_author").set_value(who).run()
    first.button(key="queue_counts").click().run()
    second.button(key="queue_does_not_count").click().run()
    assert not second.exception
    assert "Grace answered this in the meantime." in words(second)
    assert [(one.author, one.verdict) for one in doubtful.overrides.current()] == [("Grace", RowVerdict.COUNTS)]


def test_a_rating_or_a_decision_on_another_game_leaves_the_rows_of_a_game_as_they_are(doubtful: Store) -> None:
    [first] = doubtful.transcripts.ids()
    other = a_game("another", [*SAID, ("Ann", "Ann voted for Ben in round 1.")])
    add_evaluated(doubtful, other, source_name="y.json", iteration="v1")
    before = [one for one in stored_review_queue(doubtful, "v1") if one.transcript_id == first]
    row = next(one for one in stored_review_queue(doubtful, "v1") if one.transcript_id == other.id)
    doubtful.ratings.add(Rating(first, "Ada", 4))
    place = (other.id, row.item.metric, row.item.row_id)
    doubtful.overrides.add(*place, RowVerdict.EXCLUDED, author="Ada", reason="Seen.")
    queue = stored_review_queue(doubtful, "v1")
    after = [one for one in queue if one.transcript_id == first]
    assert before
    assert after == before
    assert place not in {(one.transcript_id, one.item.metric, one.item.row_id) for one in queue}


def test_rows_about_which_reader_and_rule_disagree_are_offered(store: Store) -> None:
    store.iterations.create("v1")
    said = [
        ("Ann", "hello there"),
        ("Ben", "Cid was quiet when it mattered."),
        ("Cid", "no"),
        ("Ann", "I vote Ben, as Cid said."),
    ]
    add_evaluated(store, a_game("unsure", said), source_name="x.json", iteration="v1")
    kinds = [one.item.kind for one in stored_review_queue(store, "v1")]
    assert ReviewKind.UNSURE in kinds
