"""The login in a real browser, at a real OpenID Connect provider that runs beside the server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from itsdangerous import URLSafeTimedSerializer
from playwright.sync_api import Page, expect

from evaluation.ratings import Rating
from evaluation.transcript import Transcript
from evaluation.workflows.scoring import add_evaluated
from tests.browser.hands import save_with_open_questions
from tests.dashboard_server import Server, free_port, login_secrets, wait_until_answered
from tests.games import game_of

USERS = [
    {"sub": "ada", "name": "Ada", "email": "Ada@example.org", "email_verified": True},
    {"sub": "rae", "name": "Rae <b>", "email": "rae@example.org", "email_verified": True},
    {"sub": "una", "name": "Una", "email": "ada@example.org", "email_verified": False},
]
ENDS_AT_ONCE_SECONDS = 20


@dataclass(frozen=True)
class Site:
    server: object
    provider: str

    @property
    def url(self) -> str:
        return self.server.url


def game(name: str) -> Transcript:
    said = [("Alpha", f"I think Bravo is suspicious in {name}"), ("Bravo", "Why do you say that, Alpha?")]
    players = {"Alpha": {"role": "mafia", "alignment": "mafia"}, "Bravo": {"role": "doctor"}}
    return game_of(said, players, game_id=name, round=1)


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    port = free_port()
    users = [part for user in USERS for part in ("--user-claims", json.dumps(user))]
    process = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", "-p", str(port), *users],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://localhost:{port}"
    wait_until_answered(f"{url}/.well-known/openid-configuration", process)
    yield url
    process.terminate()
    process.wait(timeout=ENDS_AT_ONCE_SECONDS)


@pytest.fixture(scope="module")
def site(provider: str, tmp_path_factory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("login")
    secrets = folder / "secrets.toml"
    server = Server(folder / "login.duckdb", options=("--secrets", str(secrets)), port=free_port())
    secrets.write_text(login_secrets(server.url, provider, admins=["ada@example.org"], raters=["sub:rae"]), "utf-8")
    store = server.store
    store.iterations.create("Baseline prompt")
    for name in ("one", "two", "three"):
        add_evaluated(store, game(name), source_name=f"{name}.json", iteration="Baseline prompt")
    store.ratings.add(Rating(game("one").id, "grace@example.org", 5))
    store.close()
    server.start()
    yield Site(server, provider)
    server.stop()


@pytest.fixture(autouse=True)
def nobody(context) -> None:
    """Every test begins logged out, in a browser that has the app's scripts already."""
    context.clear_cookies()


def log_in(page: Page, who: str) -> None:
    page.get_by_role("button", name="Log in", exact=True).click()
    page.get_by_role("button", name=who, exact=True).click()


def pages_shown(page: Page) -> set[str]:
    """The pages in the sidebar: the last line of a link, after its icon's name."""
    return {link.inner_text().splitlines()[-1] for link in page.get_by_test_id("stSidebarNavLink").all()}


def test_nobody_sees_anything_before_the_login_and_a_rater_reaches_nothing_but_the_desk(site: Site, visit) -> None:
    seen = visit(f"{site.url}/rate?rater=Ada")
    page = seen.page
    expect(page.get_by_role("button", name="Log in", exact=True)).to_be_visible()
    for secret in (b"Baseline prompt", b"one.json", b"suspicious", b"app_pages", b"grace@example.org"):
        assert secret not in seen.received
    log_in(page, "rae")
    expect(page.locator(".desk .message").first).to_be_visible()
    expect(page.get_by_text("Logged in as rater").first).to_be_visible()
    expect(page.get_by_text("Rae <b>", exact=True).first).to_be_visible()
    for path in ("settings", "review?rater=grace@example.org&desk=My+ratings"):
        page.goto(f"{site.url}/{path}")
        seen.settle()
        expect(page.get_by_text("Logged in as rater").first).to_be_visible()
    expect(page.get_by_text("You have not rated a game yet.").first).to_be_visible()
    for secret in (b"Baseline prompt", b"one.json", b"grace@example.org", b"app_pages/settings/page.py", b"mafia"):
        assert secret not in seen.received
    page.goto(f"{site.url}/")
    page.locator(".desk .message").first.wait_for()
    page.keyboard.press("4")
    save_with_open_questions(page)
    expect(page.get_by_text("Game 2 of 3").first).to_be_visible()
    assert site.server.store.ratings.all()["rater"].tolist() == ["grace@example.org", "rae@example.org"]


def test_an_admin_reaches_everything_and_logs_out(site: Site, visit) -> None:
    seen = visit(f"{site.url}/settings")
    page = seen.page
    log_in(page, "ada")
    expect(page.get_by_text("Logged in as admin").first).to_be_visible()
    assert {"Overview", "Games", "Rate", "Settings and help"} <= pages_shown(page)
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("button", name="End session").click()  # the provider asks whether to end its session, too
    expect(page.get_by_role("button", name="Log in", exact=True)).to_be_visible()
    page.goto(f"{site.url}/settings")
    expect(page.get_by_role("button", name="Log in", exact=True)).to_be_visible()


def test_a_forged_cookie_lets_nobody_in_and_who_has_no_role_is_told_so(site: Site, visit) -> None:
    claims = {"sub": "ada", "email": "ada@example.org", "email_verified": True, "is_logged_in": True}
    body = json.dumps(claims | {"origin": site.url})
    forged = URLSafeTimedSerializer("another secret of thirty-two chars!!", salt="_streamlit_user").dumps(body)
    seen = visit(site.url)
    seen.page.context.add_cookies([{"name": "_streamlit_user", "value": forged, "url": site.url}])
    seen.page.reload()
    seen.settle()
    # Una has Ada's address, but the provider does not say that it is hers.
    log_in(seen.page, "una")
    expect(seen.page.get_by_text("nobody gave you a role here").first).to_be_visible()
    expect(seen.page.get_by_text(f"You are known as una at {site.provider}.").first).to_be_visible()
    assert pages_shown(seen.page) == set()
