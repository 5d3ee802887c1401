"""Untrusted text stays text: nothing runs, nothing is loaded, nothing becomes a link."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from evaluation.rating_desk.assignments import DiscardReason
from evaluation.rating_desk.style_check import StyleAnswer
from evaluation.ratings import Rating
from evaluation.transcript import Elimination, Transcript, Vote
from evaluation.workflows.scoring import add_evaluated
from tests.games import game_of

EVIL = "http://evil.example"
ATTACKS = (
    f'<img src={EVIL}/a.png onerror="window.pwned=1"> because',
    f"<script>window.pwned=1; fetch('{EVIL}')</script> I think",
    "<style>* { display: none !important }</style> vote",
    f"![picture]({EVIL}/p.png) [click]({EVIL}) suspicious",
    f"{EVIL}/bare is evidence",
    "javascript:alert(1) :red[red] $x^2$ :material/home: **bold** trust",
    f"<form action={EVIL}><input name=x></form> because 😀😀 vote",
)


def nasty(name: str) -> Transcript:
    player = f"<img src={EVIL}/n.png> [A]({EVIL})"
    said = [(player if n % 2 else "Bravo", attack, {"id": f"{attack}-{n}"}) for n, attack in enumerate(ATTACKS)]
    return game_of(
        said,
        {player: {"role": ATTACKS[3], "alignment": "mafia"}, "Bravo": {"role": "seer", "alignment": "town"}},
        game_id=f"{name} {ATTACKS[0]}",
        round=1,
        votes=(Vote(round=1, voter=player, target="Bravo"),),
        eliminations=(Elimination(round=1, player=player, role=ATTACKS[0]),),
    )


@pytest.fixture(scope="module")
def server(empty_server):
    store = empty_server.store
    for number, attack in enumerate((ATTACKS[0], ATTACKS[3])):
        store.iterations.create(
            attack, change=ATTACKS[4], prompt_text=ATTACKS[1], parent=ATTACKS[0] if number else None
        )
        add_evaluated(store, nasty(f"{number}"), source_name=ATTACKS[3], iteration=attack)
    store.ratings.add(Rating(nasty("0").id, ATTACKS[3], 2, (True,) * 5, ATTACKS[0]))
    store.discards.add(nasty("1").id, ATTACKS[3], DiscardReason.OTHER, ATTACKS[0])
    labels = (ATTACKS[0], ATTACKS[4])
    store.style_answers.add(
        StyleAnswer(nasty("0").id, ATTACKS[3], "Bravo", "personality", labels, ("0",), labels[0], labels[1])
    )
    store.iterations.sign_off(ATTACKS[3], ATTACKS[3], ATTACKS[4])
    store.close()
    return empty_server


def paths() -> list[str]:
    """One of each kind; that Markdown reads hostile words on no page says ``tests/app/test_hostile.py``."""
    opened = f"games?transcript={nasty('0').id}"
    return ["", opened, f"rate?rater={quote(ATTACKS[3])}&desk=My+ratings", "games?part=Check"]


def assert_inert(seen) -> None:
    page = seen.page
    assert seen.foreign == []
    assert seen.faults == []
    assert page.evaluate("() => window.pwned") is None
    # Links of ours may name a message by its id, which is untrusted text too; none may lead elsewhere.
    led_away = (
        "() => [...document.links].filter(a => a.href.includes('evil.example') && a.host !== location.host).length"
    )
    assert page.evaluate(led_away) == 0
    assert page.locator("img[src*='evil.example'], form[action*='evil.example']").count() == 0
    expect(page.locator("h1")).to_be_visible()


@pytest.mark.parametrize("path", paths(), ids=lambda path: path[:20] + path[-20:] or "overview")
def test_no_page_runs_loads_or_links_anything(server, visit, path: str) -> None:
    seen = visit(f"{server.url}/{path}")
    assert_inert(seen)


def test_marks_stand_on_the_right_letters_and_reasons_are_inert(server, visit) -> None:
    seen = visit(f"{server.url}/games?transcript={nasty('0').id}")
    page = seen.page
    last = page.locator(".message").last
    last.scroll_into_view_if_needed()
    last.locator(".badge", has_text="Depth").click()
    # "because" and "vote" stand before and after two emoji.
    expect(last.locator("mark")).to_have_text(["because", "vote"])
    expect(page.get_by_text("decided by the rule").first).to_be_visible()
    assert_inert(seen)


def test_the_lists_of_names_are_inert(server, visit) -> None:
    seen = visit(f"{server.url}/")
    seen.page.get_by_test_id("stSelectbox").first.click()
    expect(seen.page.get_by_role("option").first).to_be_visible()
    assert_inert(seen)


def test_a_refused_file_with_a_hostile_name_is_inert(server, visit) -> None:
    seen = visit(f"{server.url}/games?part=Add")
    seen.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        [
            {"name": f"![x]({EVIL}).json", "mimeType": "application/json", "buffer": b"{"},
            {"name": "nasty.json", "mimeType": "application/json", "buffer": nasty("new").to_json().encode()},
        ]
    )
    expect(seen.page.get_by_text("1 game to store, 1 refused.").first).to_be_visible()
    assert_inert(seen)
