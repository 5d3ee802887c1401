"""Twenty raters at a real server at once: every form is stored once, under the name of whoever sent it."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from evaluation.store import Store
from evaluation.transcript import Message, Player, Transcript
from evaluation.workflows.scoring import add_evaluated
from tests.dashboard_server import serving
from tests.rating_session import RatingSession, rating_session

RATERS = 20
MINUTES = float(os.environ.get("DRAMATURG_RATING_MINUTES", "0.5"))
PACE_SECONDS = 3.0
GAMES_A_MINUTE = round(60 / PACE_SECONDS)


def game(number: int) -> Transcript:
    said = [("Alpha", f"I suspect Bravo in game {number}"), ("Bravo", "Why do you say that, Alpha?")]
    return Transcript(
        game_id=f"game {number}",
        source_format="native",
        players=(Player(name="Alpha"), Player(name="Bravo")),
        messages=tuple(
            Message(id=f"m{place}", index=place, speaker=who, text=text) for place, (who, text) in enumerate(said)
        ),
    )


async def submit_all(url: str, *, times: int, until: float = 0.0) -> list[tuple[str, str]]:
    """Lets all raters submit one form at once, and more at their own pace until then: rater and form of each.

    Args:
        url: The server's.
        times: How many times each form is sent before its answer comes.
        until: When to begin no further form, in seconds of ``time.monotonic``.
    """

    async def work(rater: str, page: RatingSession, place: int) -> list[tuple[str, str]]:
        sent = []
        while page.desk is not None and (not sent or time.monotonic() < until):
            token = page.desk.token
            answer = await page.submit(3, comment=token, times=times)
            assert answer is None or answer.token != token, f"the form of {rater} was not acknowledged"
            sent.append((rater, token))
            if until:
                await asyncio.sleep(PACE_SECONDS * (1 + place / RATERS) / 2)
        return sent

    async with AsyncExitStack() as open_pages:
        names = [f"Rater {number}" for number in range(RATERS)]
        pages = [await open_pages.enter_async_context(rating_session(url, name)) for name in names]
        done = await asyncio.gather(*(work(*one, place) for place, one in enumerate(zip(names, pages, strict=True))))
    return [form for forms in done for form in forms]


@pytest.mark.parametrize(
    ("minutes", "times"), [(0.0, 2), pytest.param(MINUTES, 1, marks=pytest.mark.long)], ids=["twice at once", "paced"]
)
def test_twenty_raters_lose_nothing_and_store_nothing_twice(tmp_path: Path, minutes: float, times: int) -> None:
    database = tmp_path / "raters.duckdb"
    store = Store(database)
    for number in range(2 + round(2 * GAMES_A_MINUTE * minutes)):
        add_evaluated(store, game(number), source_name=f"{number}.json")
    store.close()
    with serving(database) as server:
        until = time.monotonic() + 60 * minutes if minutes else 0.0
        # Each form is sent twice, as a browser does that had no answer yet.
        sent = asyncio.run(submit_all(server.url, times=times, until=until))
    assert len(sent) >= RATERS
    ratings = store.ratings.all()
    store.close()
    assert sorted(zip(ratings["rater"], ratings["comment"], strict=True)) == sorted(sent)
    assert not ratings.duplicated(["transcript_id", "rater"]).any()
