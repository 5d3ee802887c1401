"""Fixtures that every kind of test shares."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from evaluation.judging.model_client.server_limits import shared_limits
from evaluation.store import Store, _database_file
from evaluation.workflows.samples import load_samples

# Else every worker would compile all tests, and every process that a test starts all modules that changed.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# No test asks the model of whoever runs it.
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", *(name for name in os.environ if name.startswith("DRAMATURG_"))):
    if name != "DRAMATURG_RATING_MINUTES":
        os.environ.pop(name, None)

# The pauses of a shared machine are no failures of a property. ``make test-long`` takes the thorough profile.
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("quick", max_examples=25, deadline=None, suppress_health_check=SLOW)
settings.register_profile("thorough", max_examples=300, deadline=None, suppress_health_check=SLOW)
settings.load_profile("quick")

TESTS = Path(__file__).parent
DATA = TESTS / "data"
# With several workers a file is one worker's. The files that take long come first, so that no worker ends alone.
LONGEST_FIRST = (
    *("browser/test_desk.py", "browser/test_jobs.py", "browser/test_journey.py", "browser/test_states.py", "browser"),
    *("unit/workflows/test_batches.py", "unit/workflows/test_corpora.py", "unit/store", "faults", "app", "cli"),
    *("unit/workflows", "unit/engines", "unit/test_examples.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests of the files that take longest first; the order within a file stays."""
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    path = item.path.as_posix()
    return next((rank for rank, name in enumerate(LONGEST_FIRST) if f"/tests/{name}" in path), len(LONGEST_FIRST))


@pytest.fixture(autouse=True)
def nothing_known_of_servers() -> None:
    """Forgets the limits and the faults of earlier servers: the next one may get the port of one that failed."""
    shared_limits.cache_clear()


@pytest.fixture(autouse=True)
def no_open_databases() -> Iterator[None]:
    """Closes the databases of the test: each that is open looks for waiting processes, and there would be dozens."""
    yield
    for file in list(_database_file._files.values()):
        if file._connection is not None:
            file.close()


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The real games that the tests read, one folder per source."""
    return DATA


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and nothing in them, to be copied: making one takes a quarter of a second."""
    path = tmp_path_factory.mktemp("empty") / "empty.duckdb"
    store = Store(path)
    with store.unit():
        store.close()
    return path


@pytest.fixture(scope="session")
def sample_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the sample games; to be copied, not used: scoring them takes seconds."""
    path = tmp_path_factory.mktemp("samples") / "samples.duckdb"
    store = Store(path)
    load_samples(store)
    store.close()
    return path
