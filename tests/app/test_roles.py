"""Roles on pages and actions: what a rater reaches, what is refused where it is done, and names without a login."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from tests.app.drawn import tables
from tests.dashboard_server import login_secrets

SECRETS = login_secrets(admins=["ada@example.org"], raters=["rae@example.org"])


def claims(who: str) -> dict[str, object]:
    return {"is_logged_in": True, "sub": who, "name": "A name of choice", "email": f"{who}@example.org"} | {
        "email_verified": True
    }


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Path]:
    """A login is configured for the app under test."""
    path = tmp_path / "secrets.toml"
    path.write_text(SECRETS, "utf-8")
    before = config.get_option("secrets.files")
    config.set_option("secrets.files", [str(path)])
    yield path
    config.set_option("secrets.files", before)


@pytest.fixture
def visit(open_page):
    """Opens a page, and opens it again as somebody who logged in."""

    def open_(who: str, page: str = "overview", **parameters: str):
        app = open_page(page, **parameters)
        app.user = claims(who)
        return app.run()

    return open_


def test_the_store_refuses_sessions_of_raters_but_takes_their_ratings(login, filled) -> None:
    def script() -> None:
        import streamlit as st

        from dashboard.app_pages.rate import desk_state
        from dashboard.shared import resources
        from evaluation.errors import NotAllowedError

        store = resources.store()
        desk = desk_state.DeskState("rae@example.org")
        desk_state.take_next(store, desk)
        desk_state.keep_draft(
            store, desk, {"token": desk.data["token"], "answers": [None] * 5, "comment": "x", "rev": 1}
        )
        desk_state.submit(store, desk, {"token": desk.data["token"], "score": 4, "answers": [None] * 5, "comment": ""})
        st.text(store.rating_queue.progress("rae@example.org").rated)
        try:
            store.iterations.create("Made by a rater")
        except NotAllowedError as error:
            st.text(str(error))

    probe = AppTest.from_function(script)
    probe.user = claims("rae")
    probe.run()
    assert not probe.exception
    assert [one.value for one in probe.text] == [
        "1",
        "You may not change what is stored, but for your own ratings. Ask an admin.",
    ]
    assert "Made by a rater" not in {one.name for one in filled.iterations.list()}


def test_a_rater_imports_their_own_sheet_only_and_sees_no_records_of_others(login, filled, visit, words, table) -> None:
    app = visit("rae", "rate", desk="My ratings", sheets="true")
    assert not app.exception
    assert [button.label for button in app.get("download_button")] == ["My ratings"]
    assert "Grace" not in words(app)
    assert len(tables(app)) == 0
    app.file_uploader(key="sheet").set_value(("s.csv", b"game,rater,score\none,Grace,5\n", "text/csv")).run()
    assert "is somebody else" in table(app)
    app.file_uploader(key="sheet").set_value(("s.csv", b"game,score\none,5\n", "text/csv")).run()
    app.button(key="sheet_store").click().run()
    assert "1 rating stored." in words(app)
    assert [one.score for one in filled.ratings.every("rae@example.org")] == [5]


def test_a_login_that_is_configured_wrongly_lets_nobody_in(login, filled, open_page, words) -> None:
    login.write_text(SECRETS.replace("client_id", "client"), "utf-8")
    app = open_page("settings")
    assert "nobody is let in" in words(app)
    assert "client_id is missing" in words(app)
    assert len(app.title) == 1
