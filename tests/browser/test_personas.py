"""The Agents page: marks of the profile open what was judged; the form saves and restores."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evaluation.judging.judge_config import JudgeConfig
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.questions import Options
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.store import Store
from evaluation.workflows.agents import KnownAgents
from evaluation.workflows.persona_runs import PersonaRunRequest, evaluate_example, run_personas
from tests.browser.accessibility import findings
from tests.browser.conftest import _running
from tests.browser.hands import settle
from tests.browser.test_cockpit import mark
from tests.dashboard_server import Server


def test_what_is_chosen_in_a_popover_is_legible_in_the_dark(sample_server, visit) -> None:
    page = visit(f"{sample_server.url}/agents", theme="dark").page
    page.get_by_role("button", name="Evaluate agents").first.click()
    expect(page.locator("[data-tag]").first).to_be_visible()
    settle(page)
    assert [one for one in findings(page, ["color-contrast"]) if "<span title=" in one] == []


@pytest.fixture(scope="module")
def agent_of_games(tmp_path_factory: pytest.TempPathFactory, sample_database: Path) -> tuple[Path, str]:
    """A database with runs of shipped agents and one, by rules, of a player of the sample games."""
    path = tmp_path_factory.mktemp("personas") / "personas.duckdb"
    shutil.copyfile(sample_database, path)
    # The browser's driver keeps an event loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        return path, thread.submit(_evaluate, Store(path)).result()


def _evaluate(store: Store) -> str:
    evaluate_example(store)
    spoken = KnownAgents.of(store).spoken
    agent = max(spoken, key=lambda one: len(spoken[one]))
    library = PropositionLibrary.load()
    plan = EvaluationPlan(sample_size=12, options=Options(is_batched=True))
    run_personas(store, PersonaRunRequest(JudgeConfig(mode="offline"), plan, library, [agent], "offline"))
    store.close()
    return agent


@pytest.fixture(scope="module")
def persona_server(agent_of_games: tuple[Path, str]) -> Iterator[Server]:
    yield from _running(agent_of_games[0], None)


def opened(visit, server: Server, agent: str, *, width: int = 1280, more: str = ""):
    seen = visit(f"{server.url}/agents?agent={agent}{more}", width=width, height=1600)
    expect(mark(seen.page, "0:metric:0")).to_be_visible()
    seen.settle()
    return seen


def click_mark(page: Page, name: str) -> None:
    box = mark(page, name).locator("circle").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_marks_open_the_judgements_behind_them_and_these_their_message(
    persona_server, agent_of_games, visit, width
) -> None:
    agent = agent_of_games[1]
    seen = opened(visit, persona_server, agent, width=width)
    page = seen.page
    # Fluency is scored by rules; the first claim's dot opens what was judged of it.
    row = [one.get_attribute("aria-label") or "" for one in page.locator(".picture-box .row:not(.head)").all()]
    place = next(number for number, words in enumerate(row) if words.startswith("Consistency"))
    click_mark(page, f"{place}:game:0")
    page.wait_for_url(re.compile("judged=consistency.*claim=|claim=.*judged=consistency"))
    seen.settle()
    page.get_by_role("button", name="Read it in the conversation").first.click()
    page.wait_for_url(re.compile(r"/games\?.*message="))
    assert seen.faults == []


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_an_earlier_point_opens_its_run(persona_server, visit, width) -> None:
    seen = opened(visit, persona_server, "michael", width=width)
    click_mark(seen.page, "1:history:0")
    seen.page.wait_for_url(re.compile("run=[0-9a-f-]+.*judged=consistency|judged=consistency.*run=[0-9a-f-]+"))
    expect(seen.page.get_by_text("10 messages").first).to_be_visible()
    assert seen.faults == []


def test_a_mark_of_two_runs_opens_the_judgements_of_its_run(persona_server, visit) -> None:
    seen = visit(f"{persona_server.url}/agents?agents=Runs&agent=dwight", width=1280)
    expect(seen.page.get_by_text("○ Run 1", exact=True)).to_be_visible()
    mark(seen.page, "0:before:0").focus()
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url(re.compile("run=[0-9a-f-]+.*judged=adherence|judged=adherence.*run=[0-9a-f-]+"))
    expect(seen.page.locator("input[value^='Run 1 of ']")).to_be_visible()
    assert seen.faults == []


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_a_row_of_all_agents_shows_that_agent_and_a_claim_opens_in_place(persona_server, visit, width) -> None:
    seen = opened(visit, persona_server, "michael", width=width)
    page = seen.page
    page.get_by_role("button", name="Jim Halpert", exact=True).click()
    page.wait_for_url(re.compile("agent=jim"))
    seen.settle()
    expect(page.get_by_role("button", name="Jim Halpert", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".st-key-agent_name").get_by_text("Jim Halpert")).to_be_visible()
    claim = page.get_by_role("table").get_by_role("button", name="speaks naturally")
    claim.click()
    page.wait_for_url(re.compile("claim=.*judged=fluency|judged=fluency.*claim="))
    seen.settle()
    expect(claim).to_have_attribute("aria-pressed", "true")
    row, verdict = claim.bounding_box(), page.locator(".st-key-claims_chosen").bounding_box()
    assert row
    assert verdict
    assert 0 < verdict["y"] - row["y"] < 120
    assert seen.faults == []


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.long)])
def test_what_is_checked_is_a_line_a_check_with_all_limits_in_one_column(persona_server, visit, width) -> None:
    seen = visit(f"{persona_server.url}/agents?agents=Checks&agent=dwight", width=width)
    page = seen.page
    page.get_by_role("button", name="Choose what is checked").click()
    page.wait_for_url(re.compile("choose_checks=true"))
    expect(page.get_by_text("What is checked for Dwight Schrute")).to_be_visible()
    seen.settle()
    fields = [one.bounding_box() for one in page.get_by_test_id("stNumberInputContainer").all()]
    assert len({(round(one["x"]), round(one["width"])) for one in fields if one}) == 1
    expect(page.get_by_role("button", name="Save")).to_be_in_viewport()
    page.get_by_role("button", name="Checked messages").click()
    page.wait_for_url(re.compile("agent=dwight(?!.*choose_checks)"))
    assert seen.faults == []
