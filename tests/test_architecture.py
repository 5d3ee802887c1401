"""Rules of the design that an import linter cannot see, checked on the syntax trees."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard import permissions

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for folder in ("evaluation", "dashboard", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
MAX_LINES_OF_A_FILE = 400
MAX_LINES_OF_A_FUNCTION = 60


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported_roots(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.split(".")[0]


def importers_of(package: str) -> set[str]:
    return {relative(path) for path in SOURCES if package in imported_roots(ast.parse(path.read_text("utf-8")))}


def test_duckdb_is_imported_in_the_store_only() -> None:
    assert {name for name in importers_of("duckdb") if not name.startswith("evaluation/store/")} == set()


def test_litellm_is_imported_in_the_judge_client_only() -> None:
    assert importers_of("litellm") <= {"evaluation/judging/client.py"}


def test_charts_and_formatting_know_nothing_of_streamlit() -> None:
    assert importers_of("streamlit").isdisjoint(STREAMLIT_FREE)


STREAMLIT_FREE = {
    "dashboard/charts.py",
    "dashboard/companions.py",
    "dashboard/comparison_charts.py",
    "dashboard/comparison_tables.py",
    "dashboard/formatting.py",
    "dashboard/network.py",
    "dashboard/trend_charts.py",
    "dashboard/trends.py",
}


def test_streamlit_caches_live_in_one_file() -> None:
    users = {relative(path) for path in SOURCES if re.search(r"\bst\.cache_", path.read_text("utf-8"))}
    assert users <= {"dashboard/resources.py"}


def test_no_page_throws_away_the_clicks_that_wait_for_their_turn() -> None:
    # Streamlit's stop() withdraws what was asked for while the script ran, such as a click on a job's Cancel.
    users = {
        relative(path) for path in SOURCES if re.search(r"^[^#]*\bst\.stop\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert users == set()


def test_tables_become_csv_in_one_place_that_disarms_formulas() -> None:
    users = {relative(path) for path in SOURCES if ".to_csv(" in path.read_text("utf-8")}
    assert users == {"evaluation/exporting.py"}


DASHBOARD = [path for path in SOURCES if relative(path).startswith("dashboard/")]


def test_downloads_are_offered_in_the_module_that_checks_who_gets_them() -> None:
    users = {relative(path) for path in DASHBOARD if "st.download_button(" in path.read_text("utf-8")}
    assert users == {"dashboard/permissions.py"}


def test_fragments_and_component_events_stand_in_the_table_of_permissions() -> None:
    used: dict[str, set[str]] = {"fragment": set(), "event": set(), "download_button": set()}
    for path in DASHBOARD:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                outer, inner = ast.unparse(node.decorator_list[0]), node.decorator_list[-1]
                if outer.startswith(("st.fragment", "st.dialog")):
                    assert _check_of(inner) == "fragment", f"{relative(path)}: {node.name}"
            elif isinstance(node, ast.Call):
                kind = _check_of(node)
                if kind in used:
                    used[kind].add(ast.literal_eval(node.args[0]))
                for keyword in node.keywords if ast.unparse(node.func) in ("_component", "_receipt", "_keeper") else ():
                    if str(keyword.arg).startswith("on_"):
                        assert _check_of(keyword.value) == "event", f"{relative(path)}: {keyword.arg}"
    tables = (permissions.FRAGMENTS, permissions.EVENTS, permissions.DOWNLOADS)
    assert list(used.values()) == [set(table) for table in tables]


def _check_of(node: ast.expr) -> str:
    """The name of the check, for a call of ``permissions.fragment(...)`` and the like; else nothing."""
    function = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return function.removeprefix("permissions.") if function.startswith("permissions.") else ""


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_files_and_functions_stay_short(path: Path) -> None:
    source = path.read_text("utf-8")
    assert source.count("\n") <= MAX_LINES_OF_A_FILE
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_LINES_OF_A_FUNCTION, f"{relative(path)}:{node.lineno}: {node.name} has {length} lines"


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_broad_excepts_stand_only_where_a_failing_scorer_becomes_a_row(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            caught = "" if node.type is None else ast.unparse(node.type)
            broad = node.type is None or caught in {"Exception", "BaseException"}
            assert not broad or relative(path) in BROAD_EXCEPTS, f"{relative(path)}:{node.lineno}"


# The engine turns a scorer's fault into a row; a background job must tell the person who waits for it; no fault of
# somebody's judge, log or agent may make the gate lose a message.
BROAD_EXCEPTS = {"evaluation/engine.py", "dashboard/jobs.py", "evaluation/corrections/gate.py"}


def test_the_lock_files_name_no_registry() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text("utf-8")
        assert "://" not in text
        assert text.count("--hash=sha256:") > 100


def test_looking_up_judgements_imports_nothing_that_it_does_not_need() -> None:
    needless = ["litellm", "openai", "pandas", "yaml", "evaluation.readers", "evaluation.iterations"]
    code = (
        "import sys; from evaluation.judging.config import build_judge, judge_config\n"
        "from evaluation.store import Store\n"
        "config = judge_config({'mode': 'live', 'base_url': 'http://localhost:1/v1'}, environment={})\n"
        "cache = Store(':memory:').judgements; build_judge(config, cache=cache); cache.lookup(['0' * 64])\n"
        f"print(sorted({set(needless)} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_library_imports_nothing_heavy() -> None:
    heavy = "{'litellm', 'streamlit', 'pandas', 'plotly', 'duckdb', 'scipy'}"
    imports = "import sys, evaluation.engine, evaluation.readers, evaluation.cli.main"
    code = f"{imports}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
