"""``dramaturg persona``: agents by name, without a key and with a server, and what is stored of it."""

import json
from pathlib import Path
from typing import Any

from evaluation.persona.agents import Agent
from evaluation.store import Store
from tests.games import game_of
from tests.judge_server import JudgeServer, plausible_answer

OFFICE = ("--agents", "michael,dwight")
OFFLINE = ("--mode", "offline")


def evaluated(done: Any) -> dict[str, Any]:
    return {each["agent"]["id"]: each for each in json.loads(done.stdout)}


def score_or_ideas(body: dict[str, Any]) -> str:
    if "list the different ideas" in str(body["messages"]):
        return json.dumps({"ideas": [{"text": "Sell a sash", "citations": [1]}, {"text": "Sing", "citations": []}]})
    return plausible_answer(body)


def put(database: Path, *lines: tuple[str, str], channel: str | None = None) -> None:
    store = Store(database)
    said = [(who, text, {"channel_name": channel}) for who, text in lines]
    store.transcripts.add(game_of(said, list(dict.fromkeys(who for who, _ in lines))), source_name="talk")
    store.close()


def test_without_a_key_the_offline_judge_scores_what_can_be_counted_and_says_so(run: Any, database: Path) -> None:
    done = run("eval", "run", *OFFICE, *OFFLINE, "--format", "json")
    assert done.exit_code == 0
    assert "No language model judges" in done.stderr
    found = evaluated(done)
    assert list(found) == ["michael", "dwight", "channel:conference-room", "channel:sales-floor"]
    michael = found["michael"]["dimensions"]
    assert list(michael) == ["adherence", "consistency", "fluency"]
    assert michael["adherence"]["score"] is None
    assert michael["adherence"]["reason"] == "needs an LLM judge"
    assert 0 <= michael["fluency"]["score"] <= 9
    assert found["michael"]["judges"] == [{"kind": "offline", "model": "rules-2"}]
    assert list(found["channel:conference-room"]["dimensions"]) == ["convergence", "ideas_quantity"]
    runs = Store(database).evaluations.runs()
    assert runs["agent_id"].tolist() == list(found)
    assert set(runs["mode"]) == {"offline"}
    assert set(runs["status"]) == {"completed"}


def test_a_persona_that_is_used_only_because_names_coincide_is_told_with_the_way_out(
    run: Any, database: Path, tmp_path: Path
) -> None:
    put(database, ("Michael", "The nets are torn."), ("Ida", "We sail at four."))
    told = run("persona", "run", "--agents", "all", *OFFLINE).stderr
    assert "Because names coincide, personas that come with Dramaturg count where a transcript gives none: " in told
    assert "Michael (as Michael Scott); if they are others, import agents" in told
    # Nobody is told of it whom it does not concern: other agents, other dimensions, agents of the shipped transcripts.
    for arguments in (("--agents", "ida"), ("--agents", "all", "--dimensions", "fluency"), ("--agents", "dwight")):
        assert "names coincide" not in run("persona", "run", *arguments, *OFFLINE).stderr
    # The way that is told works.
    (tmp_path / "agent.json").write_text('{"name": "A fisher", "persona": "Mends nets.", "speakers": ["Michael"]}')
    assert run("agents", "import", tmp_path / "agent.json").exit_code == 0
    done = run("persona", "run", "--agents", "all", *OFFLINE, "--format", "json")
    assert "names coincide" not in done.stderr
    assert {"a-fisher", "ida"} <= set(evaluated(done)) <= {"a-fisher", "ida", "channel:public"}


def test_players_of_one_game_who_would_be_one_agent_are_named(run: Any, database: Path, tmp_path: Path) -> None:
    put(database, ("Bob", "The nets are torn."), ("bob", "Mend them then."), ("Ida", "We sail at four."))
    told = "'Bob' and 'bob' speak in one game and count as one agent, bob;"
    ask = ("persona", "run", "--dimensions", "fluency", *OFFLINE, "--format", "json", "--agents")
    assert told in run(*ask, "all").stderr
    assert told not in run(*ask, "ida").stderr
    (tmp_path / "agent.json").write_text('{"name": "Little Bob", "speakers": ["bob"]}', encoding="utf-8")
    assert run("agents", "import", tmp_path / "agent.json").exit_code == 0
    done = run(*ask, "all")
    assert "count as one agent" not in done.stderr
    assert set(evaluated(done)) == {"bob", "little-bob", "ida"}


def test_dimensions_sample_and_window_are_chosen(run: Any, database: Path) -> None:
    done = run(
        "eval", "run", *OFFLINE, "--agents", "Jim Halpert", "--dimensions", "consistency", "--sample-size", 2,
        "--since", "2025-03-05", "--until", "2025-03-10T23:59:59", "--format", "json",
    )  # fmt: skip
    (jim,) = evaluated(done).values()
    assert list(jim["dimensions"]) == ["consistency"]
    assert jim["sample_size"] == 2
    assert (jim["window_start"], jim["window_end"]) == ("2025-03-05T00:00:00", "2025-03-10T23:59:59")
    games = {item["message"].partition(":")[2].rpartition("-")[0] for item in jim["dimensions"]["consistency"]["items"]}
    assert games <= {"copier-afternoon", "client-dinner"}
    (row,) = Store(database).evaluations.runs().to_dict("records")
    assert str(row["window_start"]) == "2025-03-05 00:00:00+00:00"


def test_by_default_those_are_evaluated_who_have_a_persona_or_propositions(run: Any, database: Path) -> None:
    put(database, ("Ann", "Hello to you all."), ("Bob", "Hello to you, too."))
    store = Store(database)
    store.agents.save(Agent("bob", "Bob", persona="A baker."))
    store.close()
    found = list(evaluated(run("eval", "run", *OFFLINE, "--dimensions", "adherence", "--format", "json")))
    assert found == ["bob", "michael", "dwight", "jim", "lisa-carter", "oscar"]


def test_wrong_usage_is_refused(run: Any) -> None:
    for arguments, told in (
        (("--agents", "nobody"), "Nobody called 'nobody' speaks anywhere. Choose from: michael, dwight,"),
        (("--dimensions", "charm"), "'charm' is not a dimension. Choose from adherence, consistency,"),
        (("--since", "2025-02-01", "--until", "2025-01-01"), "begins (2025-02-01T00:00:00) after its end"),
    ):
        done = run("eval", "run", *arguments)
        assert (done.exit_code, told in done.stderr) == (2, True), done.stderr


def test_recorded_answers_are_played_without_a_model_and_give_the_same_scores(run: Any, tmp_path: Path) -> None:
    recordings = tmp_path / "jim.jsonl"
    chosen = ("--agents", "jim", "--sample-size", 2, "--model", "m")
    with JudgeServer(content=score_or_ideas).in_thread() as server:
        recorded = run("eval", "record", recordings, *chosen, "--base-url", server.url)
    assert recorded.exit_code == 0
    played = run("eval", "run", "--mode", "mock", "--recordings", recordings, *chosen)
    assert played.exit_code == 0
    assert "Recorded answers of m are played back; no model is asked." in played.stderr
    # The last column says who judged.
    scores = [[line.split()[:-1] for line in done.stdout.splitlines()[2:5]] for done in (recorded, played)]
    assert scores[0] == scores[1]
    assert "Jim Halpert" in played.stdout


def test_a_model_judges_every_dimension_and_is_asked_once(run: Any, database: Path) -> None:
    with JudgeServer(content=score_or_ideas).in_thread() as server:
        address = ("--mode", "live", "--model", "m", "--base-url", server.url)
        arguments = ("eval", "run", *OFFICE, *address, "--format", "json")
        done = run(*arguments)
        asked = server.tally.asked.total()
        again = run(*arguments)
        assert server.tally.asked.total() == asked > 0
    assert done.exit_code == 0
    found = evaluated(done)
    assert all(0 <= each["score"] <= 9 for each in found["michael"]["dimensions"].values())
    assert found["channel:sales-floor"]["dimensions"]["ideas_quantity"]["score"] == 2.0
    assert found["michael"]["token_usage"]["input_tokens"] > 0
    assert evaluated(again)["michael"]["overall_score"] == found["michael"]["overall_score"]
    assert evaluated(again)["michael"]["token_usage"]["input_tokens"] == 0


def test_a_judge_that_answers_nonsense_is_exit_code_3_and_no_score(run: Any, database: Path) -> None:
    with JudgeServer(content=lambda _: "I think that he is quite fluent.").in_thread() as server:
        chosen = ("--agents", "jim", "--dimensions", "fluency", "--mode", "live")
        done = run("eval", "run", *chosen, "--base-url", server.url)
    assert done.exit_code == 3
    assert "error: Jim Halpert, Fluency: the judge failed: 3 of 3 were not judged: " in done.stderr
    assert "n/a" in done.stdout
    (row,) = Store(database).evaluations.runs().to_dict("records")
    assert row["status"] == "failed"
