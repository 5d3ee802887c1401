"""What an open tab still gives somebody who is no admin any more: every page, download, fragment, button and event."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

import httpx
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent

from dashboard import access_checks
from evaluation.access import Role, may
from evaluation.rating_desk.assignments import DiscardReason
from evaluation.ratings import Rating
from evaluation.store import Store
from tests.dashboard_server import COOKIE_SECRET, Server, free_port, login_secrets
from tests.faults.tab import LOGIN_COOKIE, Tab, events_of, is_login_cookie, login_body, login_cookie, signed

# Where the address is not the title in small letters.
ADDRESSES = {"Overview": "", "Settings and help": "settings"}
PROBES = ("health", "metrics", "script-health-check")


@dataclass
class Site:
    server: Server
    secrets: Path
    logins: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.server.url

    def name_admin(self, who: str) -> None:
        raters = ["rae@example.org", "roy@example.org"]
        text = login_secrets(self.url, "http://localhost:9", admins=[f"{who}@example.org"], raters=raters)
        fresh = self.secrets.with_suffix(".new")
        fresh.write_text(text, "utf-8")
        fresh.replace(self.secrets)

    def log_in(self, who: str, number: int) -> str:
        """The cookie of a login; the same one for every tab of the login with this number."""
        if (who, number) not in self.logins:
            self.logins[who, number] = login_cookie(self.url, COOKIE_SECRET, self.claims(who, number))
        return self.logins[who, number]

    def claims(self, who: str, number: int) -> dict[str, object]:
        claims = {"sub": who, "iss": "http://localhost:9", "email": f"{who}@example.org", "email_verified": True}
        return claims | {"iat": number}


def in_chunks(site: Site, who: str, number: int) -> dict[str, str]:
    """The same login as a browser holds it when it is too long for one cookie."""
    body = login_body(site.url, site.claims(who, number))
    parts = [body[:100], body[100:]]
    found = {LOGIN_COOKIE: signed(f"chunks-{len(parts)}", COOKIE_SECRET)}
    return found | {
        name: signed(part, COOKIE_SECRET, salt=name)
        for name, part in ((f"{LOGIN_COOKIE}_{i}", part) for i, part in enumerate(parts, 1))
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, sample_database: Path) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("wire")
    secrets = folder / "secrets.toml"
    server = Server(folder / "wire.duckdb", options=("--secrets", str(secrets)), port=free_port())
    made = Site(server, secrets)
    made.name_admin("ada")
    shutil.copyfile(sample_database, server.database)
    store = server.store
    game = store.transcripts.summaries()["transcript_id"].iloc[0]
    store.ratings.add(Rating(game, "grace@example.org", 5, comment="Told nobody else"))
    store.close()
    server.start()
    yield made
    server.stop()
    store.close()


@pytest.fixture
def tab(site: Site) -> Iterator[Callable[..., Tab]]:
    """Opens a tab of somebody who logged in; who is admin is put back after the test."""
    opened: list[Tab] = []

    def open_(who: str, number: int = 0) -> Tab:
        opened.append(Tab(site.url, site.log_in(who, number) if who else ""))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()
    site.name_admin("ada")


def test_an_admin_who_became_a_rater_gets_no_ratings_of_others(site: Site, tab: Any) -> None:
    site.name_admin("rae")
    seen = tab("rae").open("rate", "desk=My+ratings&sheets=true")
    own, *everybody = seen.downloads()
    assert len(everybody) == 2
    assert all(b"Told nobody else" in (seen.file(one.deferred_file_id) or b"") for one in everybody)
    site.name_admin("ada")
    assert [seen.file(one.deferred_file_id) for one in everybody] == [None, None]
    assert seen.file(own.deferred_file_id) is not None


def test_logging_out_in_one_tab_ends_the_others_of_that_login(site: Site, tab: Any) -> None:
    open_one, other, elsewhere = tab("ada", 1), tab("ada", 1), tab("ada", 2)
    (backup,) = [one for one in open_one.open("settings").downloads() if one.label == "Download a backup"]
    (log_out,) = [one for one in other.open("overview").buttons() if one.label == "Log out"]
    other.press(log_out.id)
    assert other.redirect
    assert open_one.file(backup.deferred_file_id) is None
    assert [one.label for one in open_one.open("settings").buttons()] == ["Log in"]
    # The cookie of a login that was ended is worth nothing any more, whoever kept it.
    assert [one.label for one in tab("ada", 1).open("settings").buttons()] == ["Log in"]
    assert len(elsewhere.open("settings").downloads()) == 1


def test_an_ended_login_stays_ended_whatever_else_the_browser_sends(site: Site, tab: Any) -> None:
    open_one = tab("ada", 3)
    cookie = site.logins["ada", 3]
    (log_out,) = [one for one in open_one.open("overview").buttons() if one.label == "Log out"]
    open_one.press(log_out.id)
    # The last character of a signature holds two bits that say nothing, so four letters are the same one.
    spellings = [cookie[:-1] + letter for letter in ascii_letters + digits + "-_"]
    same = [one for one in spellings if one != cookie and is_login_cookie(one, COOKIE_SECRET)]
    assert len(same) == 3
    tricks: list[tuple[str, dict[str, str]]] = [
        *((one, {}) for one in same),
        (cookie, {"_streamlit_userX": "1"}),
        (cookie, {"_streamlit_user_1": "1"}),
        (cookie, {"_streamlit_user_tokens": "1"}),
        ("", in_chunks(site, "ada", 3)),
    ]
    for spelled, others in tricks:
        seen = Tab(site.url, spelled, others)
        try:
            assert [one.label for one in seen.open("settings").buttons()] == ["Log in"], (spelled, others)
        finally:
            seen.close()


def test_files_are_taken_from_nobody_who_may_not_send_them(site: Site, tab: Any) -> None:
    content = b"x" * 1_000_000
    for visitor in (tab(""), tab("una")):
        assert visitor.open("games", "?part=Add").session_id
        assert visitor.upload(content) == 403
    admin, rater = tab("ada").open("games", "?part=Add"), tab("rae").open("rate")
    assert (admin.upload(content), rater.upload(content)) == (204, 204)
    site.name_admin("eve")
    assert (admin.upload(content), rater.upload(content)) == (403, 204)


def test_a_download_belongs_to_whoever_has_the_page_that_made_it(site: Site, tab: Any) -> None:
    seen = tab("ada").open("settings")
    (backup,) = [one for one in seen.downloads() if one.label == "Download a backup"]
    address = site.url + seen.file_address(backup.deferred_file_id)
    assert httpx.get(address).status_code == 404
    for who, status in (("rae", 404), ("ada", 200)):
        assert httpx.get(address, cookies={LOGIN_COOKIE: site.log_in(who, 7)}).status_code == status


def test_nobody_asks_for_or_sends_into_the_page_of_another(site: Site, tab: Any) -> None:
    admin, rater = tab("ada").open("settings"), tab("rae").open("rate")
    (backup,) = [one for one in admin.downloads() if one.label == "Download a backup"]
    message = BackMsg()
    message.backend_operation_request.request_id = "request"
    message.backend_operation_request.session_id = rater.session_id
    message.backend_operation_request.deferred_file.file_id = backup.deferred_file_id
    rater.tell(message)
    # Made as long after it as the one that was asked for would take.
    assert admin.file(backup.deferred_file_id)
    assert "backend_operation_response" not in rater.open("rate").kinds
    admin.close()
    rater.tell(message)
    later = tab("ada").open("settings")
    assert later.file(next(one.deferred_file_id for one in later.downloads() if one.label == backup.label))
    assert "backend_operation_response" not in rater.open("rate").kinds
    other = tab("ada").open("games", "?part=Add")
    assert (rater.upload(b"x", other.session_id), other.upload(b"x")) == (403, 204)


def test_no_answer_may_be_shown_in_a_frame_of_another_page(site: Site) -> None:
    for path in ("/", "/_stcore/health", "/_stcore/metrics", "/media/x.png", "/nowhere"):
        found = httpx.get(site.url + path)
        assert found.headers.get_list("content-security-policy") == ["frame-ancestors 'self'"], path
    assert httpx.get(f"{site.url}/_stcore/host-config").json()["allowedOrigins"] == []


def test_a_configuration_file_in_the_folder_makes_nobody_an_admin(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / "others.toml").write_text(site.secrets.read_text("utf-8").replace("ada@", "rae@"), "utf-8")
    (tmp_path / ".streamlit" / "config.toml").write_text(
        f"""
        [server]
        trustedUserHeaders = {{ "X-Email" = "email", "X-Verified" = "email_verified" }}
        enableXsrfProtection = false
        corsAllowedOrigins = ["http://evil.test"]
        [secrets]
        files = ["{tmp_path / "others.toml"}"]
        [client]
        allowedOrigins = ["http://evil.test"]
        """,
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    server = Server(tmp_path / "other.duckdb", options=("--secrets", str(site.secrets)), port=free_port())
    server.start()
    try:
        claims = {**site.claims("rae", 0), "email_verified": True}
        rater = Tab(server.url, login_cookie(server.url, COOKIE_SECRET, claims)).open("settings")
        assert rater.downloads() == []
        rater.close()
        headers = {"X-Email": "ada@example.org", "X-Verified": "true"}
        stranger = Tab(server.url, more_headers=headers).open("settings")
        assert [one.label for one in stranger.buttons()] == ["Log in"]
        stranger.close()
        told = httpx.get(f"{server.url}/_stcore/host-config", headers={"Origin": "http://evil.test"})
        assert told.json()["allowedOrigins"] == []
        assert "access-control-allow-origin" not in told.headers
    finally:
        server.stop()


def test_addresses_write_no_control_characters_into_the_log(site: Site) -> None:
    before = site.server.log.stat().st_size
    for path in ("/media/a%0A2026 forged%1B[31m.png", "/_stcore/x%0D%0Aforged", "/component/a%0Aforged/b"):
        assert httpx.get(site.url + path).status_code == 404
    httpx.get(f"{site.url}/oauth2callback?error=x%0Aforged%1B[31m&state=y%0Aforged&error_description=z%0Aforged")
    told = site.server.log.read_bytes()[before:]
    assert b"\nforged" not in told
    assert b"\n2026 forged" not in told
    assert b"\x1b" not in told


def test_what_tells_about_the_server_is_closed(site: Site) -> None:
    found = {name: httpx.get(f"{site.url}/_stcore/{name}", trust_env=False).status_code for name in PROBES}
    assert found == {"health": 200, "metrics": 404, "script-health-check": 404}


def test_nothing_drawn_for_an_admin_works_for_somebody_without_a_role(site: Site, tab: Any) -> None:
    tabs = [(title, tab("ada").open(page, query)) for title, page, query in _places(site.server.store)]
    site.server.store.close()
    assert {title for title, _ in tabs} == set(access_checks.PAGES)
    before = _stored(site.server.store)
    site.name_admin("eve")
    counts: Counter[str] = Counter()
    drawn, tried = set[str]().union(*(seen.fragments for _, seen in tabs)), set[str]()
    for title, seen in tabs:
        counts += _try_everything(title, seen, tried)
    assert tried == drawn
    assert _stored(site.server.store) == before
    # What is on the pages was tried, and not an empty screen.
    assert min(counts[kind] for kind in ("download", "fragment", "event", "button")) >= 12, counts


def test_agreement_is_closed_to_a_rater_whatever_their_queue_holds(site: Site, tab: Any) -> None:
    store, roy = site.server.store, "roy@example.org"
    game = store.transcripts.summaries()["transcript_id"].iloc[0]
    store.rating_assignments.add([(game, roy)], who="ada@example.org")
    store.close()
    seen = tab("roy").open("agreement")
    assert b"grace@example.org" not in seen.received
    # Putting everything aside, or rating it, opens nothing.
    store.discards.add(game, roy, DiscardReason.NO_DISCUSSION, "")
    store.ratings.add(Rating(game, roy, 3))
    assert store.rating_queue.progress(roy).waiting == 0
    store.close()
    for seen in (tab("roy").open("agreement"), tab("roy").open("review", "?desk=Team"), tab("roy").open("team")):
        assert next(one.heading.body for one in seen.elements if one.HasField("heading")) == "Rate"
        assert b"grace@example.org" not in seen.received


def test_every_role_reaches_the_pages_that_the_table_says(site: Site, tab: Any) -> None:
    for who, role in (("ada", Role.ADMIN), ("rae", Role.RATER)):
        for title, action in access_checks.PAGES.items():
            seen = tab(who).open(ADDRESSES.get(title, title.lower()))
            shown = [one.heading.body for one in seen.elements if one.HasField("heading")]
            assert (shown[0] == title) is may(role, action), (who, title)


def _places(store: Store) -> list[tuple[str, str, str]]:
    """Every page, and views of it that have buttons, downloads or events of their own: title, address and query."""
    game, other = store.transcripts.summaries()["transcript_id"].iloc[:2]
    places = [(title, ADDRESSES.get(title, title.lower()), "") for title in access_checks.PAGES]
    views = {
        "Overview": ["?panel=Messages", "?panel=Games", "?panel=Numbers", "?overview=All+iterations"],
        "Games": [
            f"?transcript={game}",
            f"?transcript={game}&beside={other}",
            f"?transcript={game}&show=Ledger",
            f"?transcript={game}&show=Insights",
        ],
        "Rate": ["?desk=My+ratings&sheets=true", "?desk=Who+speaks%3F"],
        "Team": ["?team=Agreement&sheets=true"],
        "Trends": ["?trends=Cost+and+behaviour&cost_part=Agents"],
        "Agents": ["?agents=Checks", "?agents=Runs", "?evaluate=true"],
        "Experiments": ["?experiments_view=A%2FB+tests", "?start=true"],
        "Settings and help": ["?help=Guide", "?help=Guide&guide_view=Metrics"],
    }
    views["Games"] += ["?part=Add", "?part=Check"]
    places += [(title, ADDRESSES.get(title, title.lower()), query) for title, some in views.items() for query in some]
    return places


def _try_everything(title: str, seen: Tab, tried: set[str]) -> Counter[str]:
    """Uses all that an open tab has; fails when any of it is answered by more than the way out.

    Of its fragments it is one that is not among those ``tried``: the way out has none, so the next would be unknown.
    """
    drawn, fragments = seen.elements, seen.fragments
    buttons, downloads, components = seen.buttons(), seen.downloads(), seen.components()
    assert drawn
    counts: Counter[str] = Counter()
    for download in downloads:
        counts["download"] += 1
        assert download.deferred_file_id, (title, download.label)
        assert seen.file(download.deferred_file_id) is None, (title, download.label)
    for fragment in sorted(fragments, key=lambda one: (one in tried, one))[:1]:
        counts["fragment"] += 1
        tried.add(fragment)
        seen.rerun(fragment)
        _expect_way_out(seen, f"{title}: fragment {fragment}")
    for component in components:
        for event, value in events_of(component).items():
            counts["event"] += 1
            seen.send(component, event, value, is_state=event == "draft")
            _expect_way_out(seen, f"{title}: event {event}")
    for button in buttons:
        if button.label != "Log out":
            counts["button"] += 1
            seen.press(button.id)
            _expect_way_out(seen, f"{title}: button {button.label}")
    return counts


def _stored(store: Store) -> dict[str, str]:
    """Every table's content, told apart by a checksum."""
    with store.unit() as cursor:
        tables = [name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        found = {}
        for name in tables:
            (digest,) = cursor.execute(f"SELECT sum(hash(t)) FROM {name} AS t").fetchone() or (None,)
            found[name] = str(digest)
    store.close()
    return found


def _expect_way_out(seen: Tab, what: str) -> None:
    assert [one.label for one in seen.buttons()] == ["Log out"], what
    assert b"nobody gave you a role" in seen.received, what
    for secret in (b"Told nobody else", b"suspicious", b"grace@example.org"):
        assert secret not in seen.received, what


def test_events_as_the_tests_send_them_are_obeyed_for_those_who_may(site: Site, tab: Any) -> None:
    """Else the tests above could not fail: what nobody obeys can be sent by anybody."""
    store, rae = site.server.store, "rae@example.org"

    def desk_of(seen: Tab) -> BidiComponent:
        desk = seen.desk()
        assert desk is not None
        return desk

    def token_of(seen: Tab) -> str:
        return str(json.loads(desk_of(seen).json)["token"])

    seen = tab("rae").open("rate")
    for event, effect in (
        ("draft", lambda token: store.drafts.load(token) is not None),
        ("submit", lambda token: token in {one.token for one in store.ratings.every(rae)}),
        ("begun", lambda token: store.drafts.load(token) is not None),
        ("skip", lambda token: token_of(seen.open("rate")) != token),
        ("discard", lambda token: rae in {one.rater for one in store.discards.list()}),
    ):
        desk, token = desk_of(seen), token_of(seen)
        assert not effect(token), event
        seen.open("rate")
        seen.send(desk, event, events_of(desk)[event], is_state=event == "draft")
        assert effect(token), event
        store.close()
        seen.open("rate")
    obeyed: Counter[str] = Counter()
    for _, page, query in _places(store):
        seen = tab("ada").open(page, query)
        for component in seen.components():
            if obeyed[component.component_name]:
                continue
            for value in (events_of(component)[event] for event in events_of(component) if event == "open"):
                before = seen.open(page, query).components()
                # What changes without an event says nothing.
                assert seen.open(page, query).components() == before
                seen.send(component, "open", value)
                has_moved = "page_info_changed" in seen.kinds
                obeyed[component.component_name] += has_moved or seen.components() != before
    store.close()
    shown = {"cockpit_rows", "game_rows"}
    assert {name.removeprefix("dramaturg_") for name, count in obeyed.items() if count} >= shown
