"""The plugin that pytest finds: options, fixtures, parametrising over agents, and one report at the end.

Pytest imports it in every project. So it imports nothing of Dramaturg before a test asks for one of its fixtures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evaluation.persona.results import PersonaEvaluation
    from evaluation.testing._session import JudgingSession

_PROPERTY = "dramaturg"
_SPENT = "dramaturg_spent"
_FOUND = pytest.StashKey[list[dict[str, Any]]]()
_SPENDING = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options, all of which begin with ``--dramaturg``."""
    group = parser.getgroup("dramaturg", "evaluate agents with Dramaturg")
    group.addoption(
        "--dramaturg-record",
        metavar="FILE",
        help="Ask a model, and write its answers into this .jsonl file.",
    )
    group.addoption(
        "--dramaturg-recordings",
        metavar="PATH",
        help="Play recorded answers of this file or folder (ini: dramaturg_recordings).",
    )
    group.addoption("--dramaturg-budget", metavar="USD", type=float, help="What all tests together may cost.")
    group.addoption("--dramaturg-max-calls", metavar="CALLS", type=int, help="How many calls they may make together.")
    group.addoption(
        "--dramaturg-agents",
        metavar="NAME,...",
        default="",
        help="The agents that tests with the fixture 'dramaturg_agent' run for (ini: dramaturg_agents).",
    )
    group.addoption("--dramaturg-report", metavar="FILE", help="Write all scores into this JSON file.")
    parser.addini("dramaturg_recordings", "Recorded answers that are played.", default="")
    parser.addini("dramaturg_agents", "Agents that tests with the fixture dramaturg_agent run for.", "args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Makes room for what tests find."""
    config.stash[_FOUND] = []
    config.stash[_SPENDING] = []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each test with the fixture ``dramaturg_agent`` once for every agent that is named."""
    if "dramaturg_agent" not in metafunc.fixturenames:
        return
    listed = [name.strip() for name in metafunc.config.getoption("--dramaturg-agents").split(",") if name.strip()]
    names = listed or list(metafunc.config.getini("dramaturg_agents"))
    if not names:
        raise pytest.UsageError("Name agents with --dramaturg-agents, or dramaturg_agents in pytest's configuration.")
    metafunc.parametrize("dramaturg_agent", names)


@pytest.fixture(scope="session")
def dramaturg_session(pytestconfig: pytest.Config) -> Iterator[JudgingSession]:
    """The judge of all tests with its cache and budget."""
    from evaluation.testing._session import JudgingSession

    option = pytestconfig.getoption
    played = option("--dramaturg-recordings") or pytestconfig.getini("dramaturg_recordings")
    session = JudgingSession.of(
        record=_place(pytestconfig, option("--dramaturg-record")),
        recordings=_place(pytestconfig, played),
        usd=option("--dramaturg-budget"),
        calls=option("--dramaturg-max-calls"),
        folder=_cache_folder(pytestconfig),
    )
    yield session
    session.close()


@pytest.fixture(scope="session")
def dramaturg_judge(dramaturg_session: JudgingSession) -> Any:
    """The judge, for ``assert_persona(judge=...)`` and for calls of one's own."""
    return dramaturg_session.judge


@pytest.fixture
def dramaturg_persona(dramaturg_session: JudgingSession, request: pytest.FixtureRequest) -> Any:
    """``assert_persona`` with the judge, cache and budget of all tests; its scores stand in the report."""

    def check(agent: str, **options: Any) -> PersonaEvaluation:
        __tracebackhide__ = True
        from evaluation.testing import assert_persona

        def keep(evaluation: PersonaEvaluation) -> None:
            found = {"test": request.node.nodeid, **dramaturg_session.summary(evaluation)}
            request.node.user_properties.append((_PROPERTY, json.dumps(found)))

        with dramaturg_session.noted(request.node.user_properties, _SPENT):
            return assert_persona(agent, judge=dramaturg_session.judge, told=keep, **options)

    return check


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collects what a test found, also from the processes of pytest-xdist."""
    if report.when == "call" and _active is not None:
        for name, value in report.user_properties:
            if name == _PROPERTY:
                _active.stash[_FOUND].append({**json.loads(str(value)), "outcome": report.outcome})
            elif name == _SPENT:
                _active.stash[_SPENDING].append(str(value))


_active: pytest.Config | None = None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remembers whose reports come."""
    global _active
    _active = session.config


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Prints one table with all scores, and what they cost."""
    found = config.stash[_FOUND]
    if not found:
        return
    terminalreporter.section("Dramaturg")
    for row in found:
        terminalreporter.write_line(_line(row))
    if spending := config.stash[_SPENDING]:
        terminalreporter.write_line(f"Spent: {spending[-1]}.")
    if place := _place(config, config.getoption("--dramaturg-report")):
        place.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": "dramaturg-pytest", "version": 1, "evaluations": found}, indent=2)
        place.write_text(f"{text}\n", encoding="utf-8")
        terminalreporter.write_line(f"Report: {place}")


def _line(row: Mapping[str, Any]) -> str:
    scores = ", ".join(
        f"{name} {'not scored' if score is None else format(score, '.2f')}" for name, score in row["scores"].items()
    )
    return f"{row['outcome']:8}{row['agent']}: {scores} ({row['judged_by'] or 'nobody'}) {row['test']}"


def _place(config: pytest.Config, named: str | None) -> Path | None:
    return config.rootpath / named if named else None


def _cache_folder(config: pytest.Config) -> Path | None:
    """A folder that outlives the run; ``None`` where pytest keeps nothing."""
    cache = getattr(config, "cache", None)
    return None if cache is None else Path(cache.mkdir("dramaturg"))
