"""An A/B test from its form to its result: it goes on while another page is open, and can be cancelled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from evaluation.simulation.scripted_world import SCRIPTED_MODEL, ScriptedWorld
from tests.browser.hands import settle
from tests.scripted_server import ScriptedServer

FORM = "experiments?experiments_view=A%2FB%20tests&start_ab=true"
TEST = f"""name: Steps
source: simulation
base: {{model: {SCRIPTED_MODEL}, steps: 2, personas: [{{name: Ann}}, {{name: Ben}}]}}
variants: {{two: {{}}, three: {{steps: 3}}}}
runs_per_variant: 3
measures: {{total_messages: higher}}
primary: total_messages
checks: false
"""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    for name in ("OPENAI_API_KEY", "DRAMATURG_JUDGE", "DRAMATURG_PRICING"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer(ScriptedWorld().answer, latency_seconds=0.3).in_thread() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("DRAMATURG_MODEL", SCRIPTED_MODEL)
        yield server


def write(page: Page, text: str) -> None:
    """Puts a configuration into the form."""
    area = page.get_by_role("textbox", name="Configuration (YAML or JSON)")
    area.fill(text)
    area.press("Control+Enter")
    settle(page)


def test_a_test_starts_from_the_page_goes_on_elsewhere_and_opens_when_it_is_done(serve, visit, model) -> None:
    server = serve()
    seen = visit(f"{server.url}/{FORM}")
    page = seen.page
    write(page, TEST.replace("simulation", "simulatoin"))
    expect(page.get_by_text("ab.yaml:2: source").first).to_be_visible()
    write(page, TEST)
    # Two agents in 2 and in 3 steps, three runs of each.
    expect(page.get_by_text("6 runs: 30 calls").first).to_be_visible()
    assert model.asked == 0
    page.get_by_role("button", name="Run the A/B test").click()
    expect(page.get_by_text("It is at work:").first).to_be_visible()
    page.get_by_role("link", name="Settings and help").click()
    expect(page.get_by_text("A/B test: done").first).to_be_visible(timeout=60_000)
    assert model.asked == 30
    page.get_by_role("link", name="Experiments").click()
    settle(page)
    page.get_by_role("button", name="A/B tests", exact=True).or_(
        page.get_by_role("radio", name="A/B tests")
    ).first.click()
    expect(page.get_by_text("Runs: 6 done.").first).to_be_visible()
    assert (seen.faults, seen.foreign) == ([], [])


@pytest.mark.long
def test_a_cancelled_test_keeps_what_is_done_and_goes_on(serve, visit, model) -> None:
    server = serve()
    seen = visit(f"{server.url}/{FORM}")
    page = seen.page
    write(page, TEST)
    page.get_by_role("button", name="Run the A/B test").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("skipped: cancelled").first).to_be_visible(timeout=60_000)
    asked = model.asked
    assert asked < 30
    page.get_by_role("button", name="Go on with it").click()
    expect(page.get_by_text("Runs: 6 done.").first).to_be_visible(timeout=60_000)
    assert (seen.faults, seen.foreign) == ([], [])
