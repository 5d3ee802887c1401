"""Send odd addresses and events to a real server: ``python -m tests.faults.fuzz_pages [--inputs 1000] [--seed 1]``.

Every page is opened with parameters by chance, over the websocket that browsers use, and every component on it is sent
events by chance. A finding is a page that shows an exception, a run that does not end, a log that holds a traceback,
and games that are not what they were. The exit code is 1 when anything was found.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import quote_plus

from evaluation.store import Store
from evaluation.workflows.samples import load_samples
from tests.dashboard_server import serving
from tests.faults.kills import Content, read_content
from tests.faults.mutation import VALUES, mutated_value
from tests.faults.tab import Tab, events_of

PAGES: dict[str, Sequence[str]] = {
    "": ("iteration", "against", "panel", "overview", "reason"),
    "games": ("transcript", "beside", "message", "metric", "show", "part", "iteration", "mend", "row"),
    "rate": ("game", "rater", "desk"),
    "team": ("differ", "metric", "team_view"),
    "trends": ("metric", "iteration", "trends_view"),
    "agents": ("agent", "dimension", "agents_view", "run"),
    "experiments": ("experiments_view", "experiment", "test"),
    "settings": ("settings_view", "metric", "help", "guide_view", "tour", "rater"),
}
"""The pages by address, and names that stand in their addresses."""

_ODD = ("", "0", "-1", "1e999", "NaN", "\x00", "\ud83d", "İ", "../../etc/passwd", "<script>alert(1)</script>", "'; --")
_LONG = ("x" * 5000, "%", "%00", "[]", "{}", "null", "none", "List", "Add games", "coherence", "Ledger", "Conversation")
EVENTS_A_PAGE = 3


@dataclass
class Found:
    """How many inputs were sent, and what was found."""

    inputs: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def fuzz_pages(inputs: int, seed: int, folder: Path) -> Found:
    """Sends so many addresses and events to a server with the samples, whose database lies in the folder."""
    database = folder / "pages.duckdb"
    store = Store(database)
    load_samples(store)
    games = store.transcripts.ids()
    store.close()
    before = read_content(database)
    found, random = Found(), Random(f"{seed} pages")
    with serving(database) as server:
        tab = Tab(server.url)
        while found.inputs.total() < inputs:
            page, query = random.choice([*PAGES]), _query(random, games)
            if page == "rate" and random.random() < 0.5:
                # Else nobody has given a name, and no desk is there to send anything to.
                query = f"rater=Fuzz&{query}"
            what = f"/{page}?{query[:300]}"
            tab = _send(tab, lambda page=page, query=query, tab=tab: tab.open(page, query), what, found)
            found.inputs["addresses"] += 1
            for component in random.sample(components := tab.components(), min(len(components), EVENTS_A_PAGE)):
                if tells := events_of(component):
                    event = random.choice([*tells])
                    value = mutated_value(tells[event], random)
                    tab = _send(
                        tab,
                        lambda tab=tab, component=component, event=event, value=value: tab.send(
                            component, event, value, is_state=event == "draft"
                        ),
                        f"{what} {event} {json.dumps(value)[:300]}",
                        found,
                    )
                    found.inputs["events"] += 1
        tab.close()
    if "Traceback" in (log := server.log.read_text("utf-8", "replace")):
        found.findings.append("in the log: " + log[log.index("Traceback") :][-1500:])
    _compare(found, read_content(database), before)
    return found


def _query(random: Random, games: Sequence[str]) -> str:
    names = sorted({name for parameters in PAGES.values() for name in parameters})
    values = (*_ODD, *_LONG, *games[:3], *(str(value)[:200] for value in VALUES))
    chosen = [(random.choice(names), random.choice(values)) for _ in range(random.randint(1, 4))]
    return "&".join(f"{name}={quote_plus(value, errors='surrogatepass')}" for name, value in chosen)


def _send(tab: Tab, send: object, what: str, found: Found) -> Tab:
    """Sends one input; the tab, or a new one where the server has ended the connection."""
    assert callable(send)
    try:
        send()
    except (OSError, TimeoutError, AssertionError) as error:
        found.findings.append(f"{what}: {type(error).__name__} {error}")
        tab.close()
        return Tab(tab.url)
    found.findings += [f"{what}: {one.exception.type} {one.exception.message[:300]}" for one in tab.exceptions()]
    return tab


def _compare(found: Found, after: Content, before: Content) -> None:
    if after != before:
        found.findings.append("the stored games are not what they were")


def main() -> int:
    """Prints the counts; 1 when anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.fuzz_pages", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = fuzz_pages(given.inputs, given.seed, Path(folder))
    print(f"{found.inputs['addresses']:,} addresses and {found.inputs['events']:,} events of components:", end=" ")
    print(f"{len(found.findings)} findings.\nSeed {given.seed}, {time.monotonic() - start:.0f} s.")
    print(*found.findings[:20], sep="\n")
    return 1 if found.findings else 0


if __name__ == "__main__":
    sys.exit(main())
