"""The app as its users meet it: from the entry script, on a database of its own."""

import asyncio
import functools
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner import add_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import SCRIPT_RUN_CONTEXT_ATTR_NAME
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from evaluation.judging.answers import ScoreAnswer
from evaluation.judging.judges_without_model import ScriptedJudge
from evaluation.judging.proposition_library import PropositionLibrary
from evaluation.judging.propositions import Dimension
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import EvaluationPlan
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.transcript import Cost, Transcript, Vote
from evaluation.workflows.agents import find_subjects
from evaluation.workflows.persona_runs import evaluate_persona
from evaluation.workflows.scoring import add_evaluated
from tests.app.drawn import tables
from tests.games import game_of

ENTRY = Path(__file__).parents[2] / "dashboard" / "app.py"
HOSTILE = "<img src=x onerror=alert(1)> [click](https://evil.example) ![p](https://evil.example/p.png) =cmd()"

Open = Callable[..., AppTest]

# A server looks once through all installed distributions for components and compiles each script once, an AppTest for
# each run of the script.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)
app_test.ScriptCache = local_script_runner.ScriptCache = functools.cache(local_script_runner.ScriptCache)
# As `dramaturg serve` sets it.
config.set_option("browser.gatherUsageStats", False)
_look_for_the_end = local_script_runner.require_widgets_deltas


def _wait_for_the_end(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
    """AppTest looks a thousand times a second whether the script has ended, which takes the script's time."""
    runner._script_thread.join(timeout)
    _look_for_the_end(runner, 1)


local_script_runner.require_widgets_deltas = _wait_for_the_end

# Rule and reader both count it, and it speaks of nothing past.
_ACCUSATION = "I suspect Bravo: whoever gains from this vote has a reason to stay quiet, so we should vote together"


def _game(name: str, *, text: str = _ACCUSATION, rounds: int = 4) -> Transcript:
    """A small game of two players whose content depends on ``name``."""
    said = [("Alpha", f"{text} in {name}"), ("Bravo", "Alpha, why do you say that about me?")] * rounds
    return game_of(
        [(who, what, {"round": 1 + i // 2}) for i, (who, what) in enumerate(said)],
        {"Alpha": {"role": "mafia", "alignment": "mafia"}, "Bravo": {"role": "doctor", "alignment": "town"}},
        game_id=name,
        votes=(Vote(round=1, voter="Alpha", target="Bravo"),),
        cost=Cost(total_usd=1.5, input_tokens=1000, cache_hit_rate=0.8),
    )


@pytest.fixture(autouse=True)
def same_main_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest puts the entry script in the place of the main module, and a process pool begins by importing that."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture
def session(database: Path) -> Iterator[None]:
    """What this thread does is done in a session of somebody at this machine, as in a widget's callback."""

    def script() -> None:
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        st.session_state["context"] = get_script_run_ctx()

    ran = AppTest.from_function(script).run()
    thread = threading.current_thread()
    add_script_run_ctx(thread, ran.session_state["context"])
    yield
    delattr(thread, SCRIPT_RUN_CONTEXT_ATTR_NAME)


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_database: Path) -> Iterator[Path]:
    """An empty database that the app under test uses."""
    path = tmp_path / "app.duckdb"
    shutil.copyfile(empty_database, path)
    monkeypatch.setenv("DRAMATURG_DB", str(path))
    # Caches outlive an AppTest.
    st.cache_data.clear()
    st.cache_resource.clear()
    yield path
    _end_jobs(Store(path))


def _end_jobs(store: Store) -> None:
    """Waits until no job writes any more: the file will be gone, and a job that ends may start another one."""
    while threads := [one for one in threading.enumerate() if one.name.startswith("job-")]:
        for job in store.jobs.running():
            store.jobs.cancel(job.id)
        threads[0].join(60)
    store.close()


@pytest.fixture
def store(database: Path) -> Store:
    return Store(database)


@pytest.fixture
def filled(store: Store, database: Path, filled_database: Path) -> Store:
    """Two iterations: a baseline of three games, two of them rated, and one with a single game; one game in neither."""
    store.close()
    shutil.copyfile(filled_database, database)
    return store


@pytest.fixture(scope="session")
def filled_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of ``filled``, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "filled.duckdb"
    store = Store(path)
    store.iterations.create("Baseline prompt")
    store.iterations.create("Shorter prompt", parent="Baseline prompt", change="Shorter", target_metric="coherence")
    for name in ("one", "two", "three"):
        add_evaluated(store, _game(name), source_name=f"{name}.json", iteration="Baseline prompt")
    add_evaluated(store, _game("four", text="Nothing new"), source_name="four.json", iteration="Shorter prompt")
    add_evaluated(store, _game("loose"), source_name="loose.json")
    store.ratings.add(Rating(_game("one").id, "Grace", 4))
    store.ratings.add(Rating(_game("two").id, "Grace", 2))
    store.close()
    return path


@pytest.fixture
def open_page(database: Path) -> Open:
    """Opens a page from the entry script, with query parameters."""

    def open_(page: str = "overview", **parameters: str) -> AppTest:
        app = AppTest.from_file(str(ENTRY), default_timeout=30)
        for name, value in parameters.items():
            app.query_params[name] = value
        if page != "overview":
            # Before its first run AppTest takes addresses from file names, where every page's file is called page.py.
            app._page_hash = calc_hash(page)
        return app.run()

    return open_


def _words(app: AppTest) -> str:
    """Everything that the page says, with plain blanks."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.text, app.code)
    kinds += (app.info, app.success, app.warning, app.error)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\u00a0", " ")


def _table(app: AppTest, index: int = 0) -> str:
    """A table of the page as text."""
    return tables(app)[index].to_string()


@pytest.fixture
def words() -> Callable[[AppTest], str]:
    """Reads everything that a page says."""
    return _words


@pytest.fixture
def table() -> Callable[..., str]:
    """Reads a table of a page."""
    return _table


@pytest.fixture
def small_game() -> Callable[..., Transcript]:
    """Makes a small game whose content depends on its name."""
    return _game


def _run_of(store: Store, agent: str, score: int, model: str = "scripted") -> str:
    """Evaluates an agent by a judge that always gives the same score; returns the id of the run."""
    store.agents.save(Agent(agent, agent.title(), persona="A gruff sailor."))

    async def collect() -> list[str]:
        library = PropositionLibrary.load()
        subjects = find_subjects(store, [agent], _JUDGED, library)
        judge = ScriptedJudge(lambda _: ScoreAnswer(reason=f"It is {score}.", score=score, confidence=1.0), model=model)
        plan = EvaluationPlan(dimensions=_JUDGED, sample_size=50)
        return [run async for run, _ in evaluate_persona(store, subjects, lambda _: judge, library, plan, mode="live")]

    return asyncio.run(collect())[0]


_JUDGED = (Dimension.ADHERENCE, Dimension.CONSISTENCY)


@pytest.fixture
def run_of() -> Callable[..., str]:
    """Stores an evaluation run of an agent."""
    return _run_of


@pytest.fixture
def hostile() -> str:
    """What a player or a file name might try."""
    return HOSTILE
