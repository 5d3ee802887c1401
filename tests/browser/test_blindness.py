"""Blindness: everything that a browser receives on the Rate page before a form is sent, taken apart and searched.

The games hold a mark in every place that a rater must not see. What came over the websocket is decoded message by
message, down to the tables in it; what came over HTTP is read as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message import Message as Protobuf
from playwright.sync_api import Page, Response, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from evaluation.ratings import Rating
from evaluation.store import JobState, Store
from evaluation.transcript import Cost, Elimination, Transcript, Vote
from evaluation.workflows.scoring import add_evaluated
from tests.browser.hands import save_with_open_questions, settle
from tests.dashboard_server import Server
from tests.games import game_of

COST = 1.8372
WITHHELD = {
    "role": "qxrole",
    "alignment": '"mafia"',
    "personality": "qxpersonality",
    "persona": "qxpersona-",
    "model": "qxmodel",
    "note on a player": "qxplayernote",
    "who is human": "is_human",
    "team chat": "qxteam",
    "private message": "qxprivate",
    "moderator": "qxmoderator",
    "revealed role": "qxrevealed",
    "vote": "qxvote",
    "note on a message": "qxmessagenote",
    "winner": "qxwinner",
    "cost": str(COST),
    "note on the game": "qxgamenote",
    "format": "qxformat",
    "name of the game": "qxgame-",
    "file": "qxfile",
    "iteration": "qxiteration",
    "prompt": "qxprompt",
    "the change made": "qxchange",
    "another rater": "qxrater",
    "another rater's comment": "qxcomment",
    "who overrode": "qxauthor",
    "why": "qxreason",
    "remark of a job": "qxjob",
    "reason of an automatic verdict": "names nobody",
    "name of a metric": "Strategic depth",
    "verdict": "passed",
}
# What the page of the game shows once it is rated: that the marks stand for something, and can be found where they are.
AFTERWARDS = ("role", "revealed role", "team chat", "private message", "moderator", "iteration", "name of a metric")


def game(number: int) -> Transcript:
    noted = {"round": 1, "metadata": {"note": "qxmessagenote"}}
    said = [
        ("Alpha", f"I suspect Bravo, who voted late in game {number}.", {"id": "qxmessagenote-0"} | noted),
        ("Alpha", "qxteam: let us kill Charlie tonight.", {"channel": "team"} | noted),
        ("Moderator", "qxmoderator: Charlie died and was qxrevealed.", {"channel": "system"} | noted),
        ("Bravo", "Why do you say that about me, Alpha?", noted),
        ("Bravo", "qxprivate: I only pretend.", {"channel": "private"} | noted),
        ("Alpha", "Because of the evidence, Bravo. You defend everybody.", noted),
    ]
    secrets = {"role": "qxrole", "personality": "qxpersonality", "persona": {"bio": "qxpersona-bio"}}
    secrets |= {"model": "qxmodel", "metadata": {"note": "qxplayernote"}}
    return game_of(
        said,
        {
            "Alpha": {"alignment": "mafia"} | secrets,
            "Bravo": {"alignment": "town", "is_human": True} | secrets,
            "Charlie": {"alignment": "town"} | secrets,
        },
        game_id=f"qxgame-{number}",
        source_format="qxformat",
        votes=(Vote(round=1, voter="Alpha", target="Bravo", justification="qxvote"),),
        eliminations=(Elimination(round=1, phase="night", player="Charlie", role="qxrevealed"),),
        winner="qxwinner",
        cost=Cost(total_usd=COST, input_tokens=9000),
        metadata={"note": "qxgamenote"},
    )


def plant(store: Store) -> None:
    store.iterations.create("qxiteration", prompt_text="qxprompt", change="qxchange")
    store.iterations.create("another iteration")
    for number in (1, 2):
        held = game(number)
        add_evaluated(store, held, source_name=f"qxfile-{number}.json", iteration="qxiteration")
        store.ratings.add(Rating(held.id, "qxrater", 5, comment="qxcomment"))
        row = next(row for row in store.results.load(held.id)["strategic_depth"].ledger)
        store.overrides.add(held.id, "strategic_depth", row.id, "does_not_count", author="qxauthor", reason="qxreason")
    job = store.jobs.create("evaluate", "Scoring uploaded games", 3)
    store.jobs.update(job.id, done=1, state=JobState.FAILED, message="qxjob")


@dataclass
class Ear:
    """Everything that a page received, as text."""

    page: Page
    frames: list[bytes]
    responses: list[Response]

    bodies: list[str] = field(default_factory=list)

    def heard(self) -> str:
        # A browser forgets the bodies of a page that it left, so ask before leaving.
        self.bodies += map(body_of, self.responses)
        self.responses.clear()
        return "\n".join([*self.bodies, *(piece for frame in self.frames for piece in unpacked(frame))])


def unpacked(frame: bytes) -> Iterator[str]:
    """The frame as it is, and every text and table in it."""
    yield frame.decode("utf-8", "replace")
    yield from texts(ForwardMsg.FromString(frame))


def texts(message: Protobuf) -> Iterator[str]:
    for kind, value in message.ListFields():
        for one in value if kind.is_repeated and not hasattr(value, "items") else [value]:
            if isinstance(one, Protobuf):
                yield from texts(one)
            elif isinstance(one, bytes):
                yield table_text(one)
            else:
                yield str(one)


def table_text(packed: bytes) -> str:
    try:
        return pa.ipc.open_stream(packed).read_all().to_pandas().to_string()
    except pa.ArrowInvalid:
        return packed.decode("utf-8", "replace")


def body_of(response: Response) -> str:
    # A redirect has none; the app's own scripts are the same for everybody, and hold what the front end can ever say.
    if response.status >= 300 or "/static/" in response.url:
        return response.url
    return f"{response.url}\n{response.text()}"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[object]:
    made = Server(tmp_path_factory.mktemp("blind") / "blind.duckdb")
    plant(made.store)
    made.store.close()
    made.start()
    yield made
    made.stop()


@pytest.fixture
def listen(context, server) -> Iterator[object]:
    opened: list[Page] = []

    def open_(path: str, server: Any = server) -> Ear:
        page = context.new_page()
        opened.append(page)
        ear = Ear(page, [], [])
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: ear.frames.append(bytes(frame))))
        page.on("response", lambda response: ear.responses.append(response))
        page.goto(f"{server.url}/{path}")
        return ear

    yield open_
    for page in opened:
        page.close()


def rest(page: Page) -> None:
    page.locator(".desk .message").first.wait_for()
    page.wait_for_function(
        "() => document.querySelector(\"[data-testid='stApp']\").dataset.testScriptState === 'notRunning'"
    )


def test_before_a_form_is_sent_nothing_withheld_reaches_the_browser_and_afterwards_it_does(server, listen) -> None:
    first = server.store.transcripts.get(server.store.rating_queue.next_unrated("Ada"))
    ear = listen(f"rate?rater=Ada&iteration=another%20iteration&transcript={first.id}")
    page = ear.page
    rest(page)
    page.keyboard.press("4")
    page.keyboard.press("y")
    page.get_by_label("Comment, if you like").fill("a draft")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Page, setting, metric, iteration or game").press("ArrowDown")
    expect(page.get_by_role("option", name="Games", exact=True)).to_be_visible()
    page.keyboard.press("5")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("radio", name="4 Engaging")).to_be_checked()
    ear.heard()
    page.reload()
    rest(page)
    heard = ear.heard()
    # First that the right thing was looked at: the conversation did come, of the game whose turn it was.
    assert first.discussion[0].text in heard
    withheld = WITHHELD | {"id": first.id}
    assert {what for what, mark in withheld.items() if mark in heard.replace(f"transcript={first.id}", "")} == set()
    save_with_open_questions(page)
    expect(page.get_by_text("Game 2 of 2").first).to_be_visible()
    assert {what for what, mark in WITHHELD.items() if mark in ear.heard()} == set()

    after = listen("rate?rater=Ada&desk=My+ratings&sheets=true")
    expect(after.page.get_by_text("You rated 1 game").first).to_be_visible()
    expect(after.page.get_by_text(server.store.transcripts.name(first.id)).first).to_be_visible()
    opened = listen(f"games?transcript={first.id}")
    opened.page.locator(".badge").first.wait_for()
    settle(opened.page)
    shown = opened.heard()
    assert ", ".join(what for what in AFTERWARDS if WITHHELD[what] not in shown) == ""
