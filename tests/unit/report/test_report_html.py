"""Reports as HTML: what is drawn, that untrusted text stays text, and that nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from evaluation.ratings import Rating
from evaluation.report.page import Bar, Section, Table, html_page
from evaluation.store import Store
from evaluation.transcript import Cost, Message, Player, Transcript
from evaluation.workflows.iterations import comparison_html, iteration_html
from evaluation.workflows.scoring import add_evaluated

ATTACKS = (
    "<img src=http://evil.example/a onerror=alert(1)>",
    "</pre></style><script>alert(1)</script>",
    '" onload="alert(1)',
    "</title><svg onload=alert(1)>",
    "\u202ereversed\x1b[31m",
)


class Seen(HTMLParser):
    """What a browser would make of a document."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(document: str) -> Seen:
    seen = Seen()
    seen.feed(document)
    return seen


def game(name: str, text: str, rounds: int = 3) -> Transcript:
    said = [(ATTACKS[0], f"{text} in {name}"), ("Bravo", f"{ATTACKS[1]} why do you say that?")] * rounds
    return Transcript(
        game_id=f"{name} {ATTACKS[0]}",
        source_format="native",
        players=(Player(name=ATTACKS[0]), Player(name="Bravo")),
        messages=tuple(
            Message(id=f"m{n}{ATTACKS[2]}", index=n, round=1, speaker=who, text=what)
            for n, (who, what) in enumerate(said)
        ),
        cost=Cost(total_usd=1.25, cache_hit_rate=0.8),
    )


@pytest.fixture
def hostile_store(tmp_path) -> Store:
    store = Store(tmp_path / "reports.duckdb")
    store.iterations.create(ATTACKS[0], prompt_text=ATTACKS[1], change=ATTACKS[2])
    store.iterations.create(ATTACKS[3], parent=ATTACKS[0], prompt_text=ATTACKS[4], change=ATTACKS[1])
    for number in range(3):
        old, new = (
            game(f"old{number}", "I suspect Bravo because of the vote", 2 + number),
            game(f"new{number}", "Nothing"),
        )
        add_evaluated(store, old, source_name="a.json", iteration=ATTACKS[0])
        add_evaluated(store, new, source_name="b.json", iteration=ATTACKS[3])
    store.iterations.sign_off(ATTACKS[3], ATTACKS[0], ATTACKS[1])
    store.ratings.add(Rating(game("new0", "Nothing").id, ATTACKS[0], 4))
    return store


def read_policy(document: str) -> str:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', document)
    assert found
    return found.group(1)


def test_a_bar_is_as_long_as_its_share_and_its_mark_stands_at_the_threshold() -> None:
    row = ("Depth", Bar("60.0 %", 0.6, 0.8), Bar("one", 0.0))
    page = html_page(
        "Bars", [Section("", [Table(("Metric", "Mean", "None"), [row])])], datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert '60.0 %<span class="bar"><i style="width:60.0%"></i><b style="left:80.0%"></b></span>' in page
    assert 'one<span class="bar"><i style="width:0.0%"></i></span>' in page


@pytest.mark.parametrize("kind", ["iteration", "comparison"])
def test_hostile_text_stays_text_and_nothing_comes_from_elsewhere(hostile_store: Store, kind: str) -> None:
    if kind == "iteration":
        document = iteration_html(hostile_store, ATTACKS[3])
    else:
        document = comparison_html(hostile_store, ATTACKS[0], ATTACKS[3])
    assert read_policy(document) == "default-src 'none'; style-src 'unsafe-inline'"
    seen = read(document)
    assert seen.tags.isdisjoint(
        {"script", "img", "link", "a", "iframe", "object", "form", "image", "use", "foreignobject"}
    )
    assert not {name for name in seen.attributes if name.startswith("on")} | (seen.attributes & {"src", "href"})
    assert set(re.findall(r' style="([^"]*)"', document)) <= set(re.findall(r"(?:width|left):\d+\.\d%", document))
    assert "url(" not in document
    assert "@import" not in document
    assert not re.search(r"[\x00-\x08\x1b\u202e]", document)
    # What they wrote can still be read.
    assert ATTACKS[0] in "".join(seen.words)


def test_a_report_says_what_the_board_says(hostile_store: Store) -> None:
    words = " ".join("".join(read(iteration_html(hostile_store, ATTACKS[3])).words).split())
    assert "Iteration 2 of 2, 3 games." in words
    assert "Engagement rests on 1 rating of 1 game." in words
    assert "Mean cost 1.25 USD, cache hits 80 %." in words
    assert "signed off on" in words
    assert "What to change next" in words
