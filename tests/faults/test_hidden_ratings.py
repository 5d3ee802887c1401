"""What a rater whose games others have rated can carry away: no file and no command tells how these were rated.

Two databases differ only in what others gave. Every download of every page is the same in both, for a rater who has
not rated those games.
"""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dashboard.shared.identity.identity import COOKIE
from evaluation.ratings import QUESTION_COUNT, Rating
from evaluation.store import Store
from tests.browser.views import all_views
from tests.dashboard_server import Server
from tests.faults.tab import Tab

RATER = "Ada"
GIVEN = {"high": (5, True, "qxgripping"), "low": (1, False, "qxdull")}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, sample_database: Path) -> Iterator[dict[str, Server]]:
    """Servers on the samples, where two people gave every game the highest or the lowest rating."""
    folder, found = tmp_path_factory.mktemp("hidden"), {}
    for world, (score, answer, comment) in GIVEN.items():
        server = Server(folder / f"{world}.duckdb")
        shutil.copyfile(sample_database, server.database)
        _plant(server.store, score, answer, comment)
        found[world] = server
        server.start()
    yield found
    for server in found.values():
        server.stop()


def _plant(store: Store, score: int, answer: bool, comment: str) -> None:
    games = store.transcripts.ids()
    at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    for game in games:
        for rater in ("Bea", "Cid"):
            answers = (answer,) * QUESTION_COUNT
            store.ratings.add(Rating(game, rater, score, answers, comment, at, token=f"{game} {rater}"))
    store.rating_assignments.add([(game, RATER) for game in games], who="Lea")
    store.close()


def test_no_download_of_any_page_tells_what_others_gave(servers) -> None:
    store = servers["high"].store
    game, other = store.transcripts.ids()[:2]
    store.close()
    views = [view for view in all_views() if view.has("data")]
    tabs = {world: Tab(server.url, more_cookies={COOKIE: RATER}) for world, server in servers.items()}
    taken, told = 0, []
    for view in views:
        page, _, query = view.path.replace("rater=Sample%20rater%20A", f"rater={RATER}").partition("?")
        query = f"?{query.format(transcript=game, message='m1', other=other)}".replace("rater=Lea", f"rater={RATER}")
        files = {world: _files(tab.open(page, query)) for world, tab in tabs.items()}
        assert files["high"].keys() == files["low"].keys(), view.name
        taken += len(files["high"])
        told += [f"{view.name}: {label}" for label, content in files["high"].items() if content != files["low"][label]]
        told += [
            f"{view.name}: {label} has a comment"
            for label, content in files["high"].items()
            if GIVEN["high"][2].encode() in content
        ]
    for tab in tabs.values():
        tab.close()
    assert told == []
    assert taken > 10


def _files(tab: Tab) -> dict[str, bytes]:
    assert not tab.exceptions()
    # A backup is the whole database: for whoever runs the server.
    wanted = [one for one in tab.downloads() if one.label != "Download a backup"]
    return {one.label: tab.file(one.deferred_file_id) or b"" for one in wanted}
