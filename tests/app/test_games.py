"""The Games page: its list, one game with its ledgers, what files become, what they leave open, and the report."""

import json

import pytest

from dashboard.app_pages.games.add_games import proposed_name
from dashboard.app_pages.games.add_games import test_words as words_on_tests
from dashboard.shared.comparison_tables import METRIC_LABELS
from dashboard.shared.formatting import score_text, without_unit
from dashboard.shared.jobs import jobs
from evaluation.ratings import Rating
from evaluation.readers import read_uploads
from evaluation.readers.import_report import ImportOutcome, planned
from evaluation.rubric.definitions import DEFINITIONS
from evaluation.store import JobState
from evaluation.transcript import Transcript, build_transcript
from evaluation.workflows.iterations import stored_board
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import data_of, drawn, tables, wait_for_jobs


def listed_games(app) -> list[dict]:
    (component,) = drawn(app)
    return json.loads(component.proto.json)["rows"]


def test_the_list_shows_every_game_with_its_scores(open_page, filled, words) -> None:
    app = open_page("games")
    assert not app.exception
    assert "5 games: " in words(app)
    baseline = [f"Game {number} · Baseline prompt" for number in (1, 2, 3)]
    # The newest version first, its games in their order, and games of none last.
    assert [row["label"] for row in listed_games(app)] == ["Game 1 · Shorter prompt", *baseline, "loose"]
    listed = listed_games(open_page("games", order="Order of adding"))
    assert [row["label"] for row in listed] == [*baseline, "Game 1 · Shorter prompt", "loose"]


def test_the_games_of_an_iteration_stand_below_its_name_with_the_means_of_the_board(open_page, filled) -> None:
    board = stored_board(filled)
    groups = [row["group"] for row in data_of(open_page("games"), "game_rows")["rows"] if row["group"]]
    assert [name for name, *_ in groups] == ["Shorter prompt", "Baseline prompt", "No iteration"]
    for name, *means in groups[:2]:
        for metric, mean in zip(DEFINITIONS, means, strict=True):
            score = board[name].means[metric].score
            assert mean == ("" if score is None else without_unit(score_text(score, DEFINITIONS[metric].scale)))
    # Where a rater must not see a game's ratings, nobody gives them away as a mean.
    filled.ratings.add(Rating(filled.transcripts.ids()[0], "Lin", 3))
    hidden = [row["group"] for row in data_of(open_page("games", rater="Lin"), "game_rows")["rows"] if row["group"]]
    assert [group[0] for group in hidden if group[-1]] == []
    # In another order, and of a part of the games, there is none.
    for query in ({"order": "Lowest strategic depth"}, {"find": "one"}):
        rows = data_of(open_page("games", **query), "game_rows")["rows"]
        assert not any(row["group"] for row in rows), query


def test_two_games_stand_by_age_below_their_names(open_page, filled, store) -> None:
    ids = {label: one for one, label in store.transcripts.game_names().items()}
    older, newer = "Game 2 · Baseline prompt", "Game 1 · Shorter prompt"
    shown = open_page("games", transcript=ids[newer], beside=ids[older])
    marks = data_of(shown, "cockpit_rows")
    assert marks["legend"][:2] == [f"○ {older}", f"● {newer}"]
    assert [row["label"] for row in marks["rows"]] == [one.label for one in DEFINITIONS.values()]
    # One finder for both conversations, each below its own name.
    assert [one["title"] for one in data_of(shown, "chat_view")["games"]] == [older, newer]


def test_a_list_of_many_games_is_shown_page_by_page(open_page, store, small_game) -> None:
    store.transcripts.add_many([(small_game(f"number {n}"), f"{n}.json") for n in range(1, 61)])
    assert [row["label"] for row in listed_games(open_page("games"))] == [f"number {n}" for n in range(60, 10, -1)]
    assert [row["label"] for row in listed_games(open_page("games", games_page="2"))] == [
        f"number {n}" for n in range(10, 0, -1)
    ]
    # A filter that leaves fewer pages than the address asks for shows the last of them.
    found = listed_games(open_page("games", games_page="2", find="number 7"))
    assert [row["label"] for row in found] == ["number 7"]


def test_a_metric_that_could_not_be_computed_says_so(open_page, store, small_game) -> None:
    store.transcripts.add(small_game("unscored"), source_name="unscored.json")
    app = open_page("games", transcript=small_game("unscored").id)
    assert not app.exception
    assert sum("no score" in one.label for one in app.button) == 6


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"transcript": "0000000000000000"}, "That game is not here"),
        ({"beside": "nothing"}, "That game is not here."),
        ({"message": "nope", "metric": "strategic_depth"}, "A label under a message tells why"),
        ({"message": "nope", "metric": "nonsense"}, "A label under a message tells why"),
    ],
)
def test_a_link_to_what_is_not_there_says_so(open_page, filled, words, small_game, query, said) -> None:
    app = open_page("games", **({"transcript": small_game("one").id} | query))
    assert not app.exception
    assert said in words(app)


def test_a_link_names_a_game_by_the_first_digits_of_its_id_as_commands_print_them(
    open_page, filled, words, small_game
) -> None:
    one, two = (small_game(name).id[:8] for name in ("one", "two"))
    whole = open_page("games", transcript=small_game("one").id)
    begun = open_page("games", transcript=one)
    assert not begun.exception
    assert words(begun) == words(whole)
    assert [one.key for one in begun.button] == [one.key for one in whole.button]
    assert "That game is not here" not in words(open_page("games", transcript=one, beside=two))
    desk = open_page("rate", rater="Ada", game=two)
    assert "This game was picked" in data_of(desk, "rating_desk")["progress"]
    assert "is not here any more" not in words(desk)


def test_what_fails_stands_beside_a_game_until_a_message_is_chosen(open_page, filled, small_game, words) -> None:
    game = small_game("one").id
    app = open_page("games", transcript=game)
    first = app.button(key="first_failing_coherence")
    assert first.label == "Conversation coherence: 6 of 7 messages"
    assert "Says nearly word for word" in words(app)
    # A reason may tell a role.
    assert "Says nearly word for word" not in words(open_page("games", transcript=game, blind="true"))
    first.click().run()
    assert (app.query_params["message"], app.query_params["metric"]) == ("m2", "coherence")
    assert "What fails in this game" not in words(app)


def test_a_run_that_was_broken_off_says_so_above_its_scores(open_page, store, small_game, words) -> None:
    game = small_game("one").model_dump() | {"metadata": {"broken_off": "an error (no more tokens)"}}
    transcript = build_transcript(Transcript, game)
    add_evaluated(store, transcript, source_name="one.json")
    said = words(open_page("games", transcript=transcript.id))
    assert "This run was broken off by an error (no more tokens)." in said


def upload(app, *games, bad: bytes | None = None):
    files = [(f"{game.game_id}.json", game.to_json().encode(), "application/json") for game in games]
    if bad is not None:
        files.append(("broken.json", bad, "application/json"))
    app.file_uploader[0].set_value(files).run()
    return app


def start(app, store) -> None:
    """Presses the button and waits until the job has ended."""
    app.button(key="start").click().run()
    wait_for_jobs()
    assert [job.state for job in store.jobs.list() if job.kind == jobs.EVALUATE][:1] == [JobState.DONE]


def test_a_pasted_game_is_read_like_a_file(open_page, store, words) -> None:
    app = open_page("games", part="Add")
    app.text_area[0].set_value("Ann: I vote Ben, he lied.\nBen: Why me, Ann?\nAnn: You voted for Cid.").run()
    assert "1 game to store." in words(app)
    app.segmented_control(key="where").set_value("No iteration").run()
    start(app, store)
    assert list(store.transcripts.summaries()["players"]) == [2]
    assert app.text_area[0].value == "", "the same text is not offered again"


def test_what_is_kept_is_not_shown_as_left_out_and_missing_votes_are_told(open_page, words) -> None:
    app = open_page("games", part="Add")
    said = "Players: Ann (Seer), Ben (Mafia), Cid (Villager)\nAnn: Who is it?\nBen: Not me.\nCid: Nor me.\n"
    app.text_area[0].set_value(f"{said}[private] Ben to Cid: Trust me.\nAnn: So?").run()
    columns = {one.markdown[0].value: one for one in app.columns if one.markdown}
    kept = "1 message with recipients that are not all players is private."
    assert kept in columns["**Understood**"].text[0].value
    assert list(columns) == ["**Understood**", "**What is missing**"]
    assert "Nothing is asked, and nothing was left out." in words(app)
    # The warnings that validating the same file gives.
    no_votes = "No votes were found, so memory accuracy cannot verify claims about them."
    assert no_votes in columns["**What is missing**"].text[0].value
    assert "The cost is unknown, so it cannot be judged." in words(app)
    app.text_area[0].set_value(f"{said}Ann: I vote Ben.").run()
    assert '1 vote taken from speech ("I vote Ben."): ' in words(app)
    assert no_votes not in words(app)


@pytest.mark.parametrize(
    ("files", "proposed"),
    [
        (["prompt-v5-1.json", "prompt-v5-2.json"], "prompt-v5"),
        (["Prompt v5.zip/a.json", "Prompt v5.zip/b.json"], "Prompt v5"),
        (["shorter game 1.txt", "shorter game 12.txt"], "shorter game"),
        (["one.json", "two.json"], ""),
        (["Taken.json"], ""),
        (["pasted.txt"], ""),
        (["game-1.json", "game-2.json"], ""),
    ],
)
def test_a_name_is_proposed_from_what_the_files_share(files: list[str], proposed: str) -> None:
    assert proposed_name(files, ["Taken"]) == proposed


def test_the_next_iteration_is_changed_from_the_one_it_was_begun_from(open_page, filled, small_game, words) -> None:
    app = upload(open_page("games", part="Add", changed_from="Baseline prompt"), small_game("five"))
    assert app.selectbox(key="new_parent").value == "Baseline prompt"
    lowest = METRIC_LABELS[str(stored_board(filled)["Baseline prompt"].lowest)]
    assert f"Without a target the lowest metric of the reference decides: {lowest}." in words(app)
    app.text_input(key="new_name").set_value("v3").run()
    start(app, filled)
    assert app.query_params.get("changed_from") is None
    assert filled.iterations.get("v3").parent == "Baseline prompt"


@pytest.mark.parametrize(
    ("name", "said"), [("Taken", "There is an iteration"), ("tAKEN ", "looks like"), ("x" * 201, "1 to ")]
)
def test_a_name_that_cannot_be_used_is_told_as_soon_as_it_is_there(
    open_page, store, small_game, words, name: str, said: str
) -> None:
    store.iterations.create("Taken")
    app = upload(open_page("games", part="Add"), small_game("one"))
    app.text_input(key="new_name").set_value(name).run()
    assert said in words(app)
    assert app.button(key="start").disabled
    app.text_input(key="new_name").set_value("Free").run()
    assert said not in words(app)
    assert not app.button(key="start").disabled


def test_a_name_that_is_taken_meanwhile_is_refused_and_nothing_lost(open_page, store, small_game, words) -> None:
    app = upload(open_page("games", part="Add"), small_game("one"))
    app.text_input(key="new_name").set_value("Taken").run()
    store.iterations.create("Taken")
    app.button(key="start").click().run()
    assert not app.exception
    said = words(app)
    assert "There is an iteration 'Taken' already" in said
    assert "1 game to store" in said
    assert store.jobs.list() == []
    assert store.imports.list() == [], "a start that is refused leaves no report"


def test_the_same_content_is_reported_and_not_stored_twice(open_page, store, small_game, words, table) -> None:
    add_evaluated(store, small_game("one"), source_name="one.json")
    app = upload(open_page("games", part="Add"), small_game("one"), small_game("two"), small_game("two"))
    assert "1 game to store, 1 stored already, left as it is, 1 twice in these files, taken once." in words(app)
    assert "– stored already" in table(app)
    assert "– twice in these files" in table(app)


def test_a_near_copy_of_a_stored_game_is_told_before_it_is_stored(open_page, store, small_game, table) -> None:
    data = small_game("one").model_dump()

    def told(name: str, first: str) -> Transcript:
        said = [one | {"text": f"{one['text']} {at}"} for at, one in enumerate(data["messages"])]
        return build_transcript(
            Transcript, data | {"messages": [said[0] | {"text": first}, *said[1:]], "game_id": name}
        )

    add_evaluated(store, told("one", "So it begins."), source_name="one.json")
    copy = told("again", "Once more it begins.")
    app = upload(open_page("games", part="Add"), copy, small_game("two"))
    assert "≈ nearly the same as one" in table(app)
    assert "✓ new" in table(app)


def test_games_may_join_an_existing_iteration(open_page, filled, small_game) -> None:
    app = upload(open_page("games", part="Add"), small_game("five"))
    app.segmented_control(key="where").set_value("An existing one").run()
    start(app, filled)
    assert list(filled.transcripts.summaries("Shorter prompt")["game_id"]) == ["four", "five"]
    # The comparison is the next step; switching is the browser's, so the button is what is seen here.
    assert app.run().button(key="compare_imported").label == "Compare"


GERMAN = b"wer,was,tag\nAnn,Guten Morgen,1\nBen,Hallo Ann,2\n"


def hand_in(app, *files):
    app.file_uploader[0].set_value([(name, data, "text/csv") for name, data in files]).run()
    assert not app.exception
    return app


def choose(app, **columns: str):
    """Chooses columns by the position of their name in the option's text."""
    for field, column in columns.items():
        box = app.selectbox(key=f"column_0_{field}")
        box.set_value(next(place for place, text in enumerate(box.options) if text.endswith(column)) - 1)
    app.run()
    assert not app.exception
    return app


def score_loose(app) -> None:
    app.segmented_control(key="where").set_value("No iteration").run()
    app.button(key="start").click().run()
    wait_for_jobs()


def test_the_choice_is_kept_to_for_all_tables_of_the_heading(open_page, store, words) -> None:
    app = hand_in(open_page("games", part="Add"), ("a.csv", GERMAN), ("b.csv", GERMAN.replace(b"Morgen", b"Abend")))
    choose(app, speaker="wer", text="was", round="tag")
    assert "2 games to store." in words(app)
    score_loose(app)
    ids = store.transcripts.summaries()["transcript_id"]
    assert {message.text for key in ids for message in store.transcripts.get(key).messages} == {
        "Guten Morgen",
        "Guten Abend",
        "Hallo Ann",
    }


def test_the_report_is_there_after_a_reload_and_can_be_saved(open_page, store, small_game, words, table) -> None:
    app = hand_in(
        open_page("games", part="Add"),
        ("one.json", small_game("one").to_json().encode()),
        ("broken.json", b'{"gameId": '),
    )
    score_loose(app)
    (report,) = store.imports.list()
    assert (report.counts[ImportOutcome.STORED], report.counts[ImportOutcome.REFUSED]) == (1, 1)
    assert report.seconds is not None
    app = open_page("games", part="Add")
    said = words(app)
    assert "1 game: 1 stored. 1 refused. It took" in said
    assert "broken.json" in said
    assert "✓ stored" in "".join(str(frame.to_string()) for frame in tables(app))
    labels = [element.proto.label for element in app.get("download_button")]
    assert labels == ["Save as JSON", "Save as CSV"]


def test_a_cancelled_import_tells_what_was_stored_and_the_end_of_other_work_leaves_it_open(store, small_game) -> None:
    games = [small_game(name) for name in ("one", "two")]
    files = [(f"{game.game_id}.json", game.to_json().encode()) for game in games]
    store.imports.save(planned(read_uploads(files), ()))
    jobs.end(store, store.jobs.create(jobs.SAMPLES, "Loading the sample games", 2).id)
    assert store.imports.list()[0].seconds is None
    job = store.jobs.create(jobs.EVALUATE, "Scoring uploaded games", 2)
    add_evaluated(store, games[0], source_name="one.json")
    jobs.end(store, job.id)
    (report,) = store.imports.list()
    assert [line.outcome for line in report.lines] == [ImportOutcome.STORED, ImportOutcome.NOT_STORED]
    assert report.seconds is not None


def test_limits_of_the_settings_hold_and_are_told(open_page, store, words, small_game) -> None:
    store.settings.set_limits({"messages": 5, "file_bytes": 3 * 1024 * 1024})
    app = open_page("games", part="Add")
    help_ = app.file_uploader[0].proto.help
    # What a browser may send is a setting of the server, which an AppTest does not start.
    assert "MB a file or zip as it is sent, 3 MB a transcript file" in help_
    assert "5 messages a game" in help_
    hand_in(app, ("one.json", small_game("one").to_json().encode()))
    assert "The game has 8 messages, more than 5." in words(app)


@pytest.mark.parametrize(
    ("before", "added", "size", "expected"),
    [
        (3, 4, 3, "With these 4 games it has 7: 2 full tests, 1 of 3 games for the next."),
        (0, 3, 3, "With these 3 games: 1 full test."),
        (0, 1, 3, "With this game: no full test yet, 1 of 3 games for the next."),
        (1, 1, 1, "With this game it has 2: 2 full tests."),
    ],
)
def test_tests_in_words(before: int, added: int, size: int, expected: str) -> None:
    assert words_on_tests(before, added, size).endswith(expected)


CHAT = "01/06/2024, 10:00 - Ann: Hello\n02/06/2024, 10:01 - Bob: Good morning, Ann\n"


def test_a_date_that_can_be_read_two_ways_keeps_a_game_from_being_stored(open_page, store, words) -> None:
    app = hand_in(open_page("games", part="Add"), ("chat.txt", CHAT.encode()))
    said = words(app)
    assert "1 question to answer before these games are stored." in said
    assert 'Does "01/06/2024, 10:00" name the day or the month first?' in said
    assert not [button for button in app.button if button.key == "start"]
    app.segmented_control(key="answer_0").set_value("month-first").run()
    assert "1 game to store." in words(app)
    score_loose(app)
    (key,) = store.transcripts.summaries()["transcript_id"]
    assert [message.sent_at.month for message in store.transcripts.get(key).messages] == [1, 2]


def test_an_answer_is_about_the_files_that_are_there(open_page, words) -> None:
    app = hand_in(open_page("games", part="Add"), ("chat.txt", CHAT.encode()))
    app.segmented_control(key="answer_0").set_value("month-first").run()
    app.file_uploader[0].set_value([]).run()
    assert "Who speaks, to whom, when" not in words(app)
    hand_in(app, ("chat.txt", CHAT.encode()))
    assert "1 question to answer before these games are stored." in words(app)
