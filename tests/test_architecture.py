"""Rules of the design that an import linter cannot see, checked on the syntax trees."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dashboard import access_checks
from evaluation.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for folder in ("evaluation", "dashboard", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
MAX_NESTING = 4
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    """The dotted name of a source file."""
    return relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {module_name(path): path for path in SOURCES if not relative(path).startswith("benchmarks/")}


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def _all_nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(path)))


def _nodes(paths: Iterable[Path], *kinds: type[ast.AST]) -> Iterator[tuple[Path, Any]]:
    """The nodes of these kinds, with the file that they stand in."""
    return ((path, node) for path in paths for node in _all_nodes(path) if isinstance(node, kinds))


def imported_roots(path: Path) -> Iterator[str]:
    for node in _all_nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.split(".")[0]


def importers_of(package: str) -> set[str]:
    return {relative(path) for path in SOURCES if package in imported_roots(path)}


def test_every_row_of_the_specifications_has_a_test() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts/specification_rows.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_duckdb_is_imported_in_the_store_only() -> None:
    assert {name for name in importers_of("duckdb") if not name.startswith("evaluation/store/")} == set()


def test_litellm_is_imported_in_the_judge_client_only() -> None:
    assert importers_of("litellm") <= {"evaluation/judging/model_client/provider.py"}


def test_charts_and_formatting_know_nothing_of_streamlit() -> None:
    assert importers_of("streamlit").isdisjoint(STREAMLIT_FREE)


STREAMLIT_FREE = {
    "dashboard/shared/charts/metric_charts.py",
    "dashboard/shared/comparison_tables.py",
    "dashboard/app_pages/overview/cockpit_data.py",
    "dashboard/shared/formatting.py",
    "dashboard/app_pages/games/insights_data.py",
    "dashboard/app_pages/trends/data.py",
}


def test_streamlit_caches_live_in_one_file() -> None:
    users = {relative(path) for path in SOURCES if re.search(r"\bst\.cache_", path.read_text("utf-8"))}
    assert users <= {"dashboard/shared/resources.py"}


def test_no_page_throws_away_the_clicks_that_wait_for_their_turn() -> None:
    # Streamlit's stop() withdraws what was asked for while the script ran, such as a click on a job's Cancel.
    users = {
        relative(path) for path in SOURCES if re.search(r"^[^#\n]*\bst\.stop\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert users == set()


def test_tables_become_csv_in_one_place_that_disarms_formulas() -> None:
    users = {relative(path) for path in SOURCES if ".to_csv(" in path.read_text("utf-8")}
    assert users == {"evaluation/writers.py"}


DASHBOARD = [path for path in SOURCES if relative(path).startswith("dashboard/")]


def test_downloads_are_offered_in_the_module_that_checks_who_gets_them() -> None:
    users = {relative(path) for path in DASHBOARD if "st.download_button(" in path.read_text("utf-8")}
    assert users == {"dashboard/access_checks.py"}


def test_fragments_and_component_events_stand_in_the_table_of_permissions() -> None:
    used: dict[str, set[str]] = {"fragment": set(), "event": set(), "download_button": set()}
    for path in DASHBOARD:
        for node in _all_nodes(path):
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
    tables = (access_checks.FRAGMENTS, access_checks.EVENTS, access_checks.DOWNLOADS)
    assert list(used.values()) == [set(table) for table in tables]


def _check_of(node: ast.expr) -> str:
    """The name of the check, for a call of ``permissions.fragment(...)`` and the like; else nothing."""
    function = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return function.removeprefix("access_checks.") if function.startswith("access_checks.") else ""


def test_broad_excepts_stand_only_where_a_failing_scorer_becomes_a_row() -> None:
    for path, node in _nodes(SOURCES, ast.ExceptHandler):
        caught = "" if node.type is None else ast.unparse(node.type)
        broad = node.type is None or caught in {"Exception", "BaseException"}
        assert not broad or relative(path) in BROAD_EXCEPTS, f"{relative(path)}:{node.lineno}"


# The engine turns a scorer's fault into a row; a background job must tell the person who waits for it; no fault of
# somebody's judge, log or agent may make the gate lose a message; a run of an A/B test is somebody's function, and its
# fault becomes a failed run, as the other runs may have cost money.
BROAD_EXCEPTS = {
    "evaluation/engines/scoring.py",
    "dashboard/shared/jobs/jobs.py",
    "evaluation/corrections/action_gate.py",
    "evaluation/experiments/ab_runner.py",
}


def test_html_stands_in_templates_only() -> None:
    element = re.compile(r"<(?:!doctype|html|head|style|div|span|p|b|table|t[rdh]|ul|li|h[1-6]|section|svg|path)[ >/]")
    for path in MODULES.values():
        texts = [node.value for node in _all_nodes(path) if isinstance(node, ast.Constant)]
        assert [text for text in texts if isinstance(text, str) and element.search(text)] == [], relative(path)


def test_the_lock_names_no_registry_and_every_package_once_with_hashes() -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    assert "://" not in text
    packages = re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    assert [package for package in packages if "--hash=sha256:" not in package] == []
    names = [package.partition(" \\")[0] for package in packages]
    assert len(names) == len(set(names)) > 100


def test_looking_up_judgements_imports_nothing_that_it_does_not_need() -> None:
    needless = ["litellm", "openai", "pandas", "yaml", "evaluation.readers", "evaluation.iterations"]
    code = (
        "import sys; from evaluation.judging.judge_config import build_judge, judge_config\n"
        "from evaluation.store import Store\n"
        "config = judge_config({'mode': 'live', 'base_url': 'http://localhost:1/v1'}, environment={})\n"
        "cache = Store(':memory:').judgements; build_judge(config, cache=cache); cache.lookup(['0' * 64])\n"
        f"print(sorted({set(needless)} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_library_imports_nothing_heavy() -> None:
    heavy = "{'litellm', 'streamlit', 'pandas', 'plotly', 'duckdb', 'scipy'}"
    imports = "import sys, evaluation.engines.scoring, evaluation.readers, evaluation.cli.main"
    code = f"{imports}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_private_modules_are_imported_in_their_own_package_only() -> None:
    for importer, name in _imports():
        for part in range(name.count(".") + 1):
            head, _, _ = ".".join(name.split(".")[: part + 1]).rpartition(".")
            if name.split(".")[part].startswith("_"):
                assert importer == head or importer.startswith(f"{head}."), f"{importer} imports {name}"


def test_modules_that_no_other_package_imports_are_private() -> None:
    importers: dict[str, set[str]] = {}
    for importer, name in _imports():
        importers.setdefault(name, set()).add(importer)
    pages = "".join(page.read_text("utf-8") for page in Path("docs").glob("*.md"))
    for name, path in MODULES.items():
        if f"from {name} import" in pages:
            # The documentation tells people to import it.
            continue
        package, _, leaf = name.rpartition(".")
        # Commands and pages are found by name, and a page's folder is its own.
        is_found_by_name = name.startswith(("evaluation.cli.", "dashboard."))
        if path.name == "__init__.py" or package == "evaluation" or leaf.startswith("_") or is_found_by_name:
            continue
        users = importers.get(name, set()) - {name}
        inside = {user for user in users if user == package or user.startswith(f"{package}.")}
        assert not users or users != inside, f"only {package} imports {leaf}: call it _{leaf}"


def test_pages_import_nothing_from_each_other() -> None:
    for importer, name in _imports():
        if name.startswith("dashboard.app_pages."):
            page = name.split(".")[2]
            assert importer.startswith(f"dashboard.app_pages.{page}"), f"{importer} imports {name}"


def test_commands_import_nothing_from_other_commands() -> None:
    commands = {f"evaluation.cli.{entry.module}" for entry in COMMANDS.values()}
    for importer, name in _imports():
        if name.startswith("evaluation.cli.") and importer.startswith("evaluation.cli."):
            assert name not in commands, f"{importer} imports the command {name}"


def test_an_option_of_several_commands_is_defined_once() -> None:
    places: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        for node in _all_nodes(path) if name.startswith("evaluation.cli.") else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "typer.Option":
                for text in (word.value for word in node.keywords if word.arg == "help"):
                    places.setdefault(ast.unparse(text), []).append(name)
    assert {text: names for text, names in places.items() if len(names) > 1} == {}


def test_the_store_knows_no_reports_and_no_comparisons() -> None:
    above = ("evaluation.comparison", "evaluation.agreement", "evaluation.workflows")
    assert [pair for pair in _imports() if pair[0].startswith("evaluation.store") and pair[1].startswith(above)] == []


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        for node in _tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_code_is_not_nested_deeply() -> None:
    for path, node in _nodes(SOURCES, ast.FunctionDef, ast.AsyncFunctionDef):
        assert _depth(node) <= MAX_NESTING, f"{relative(path)}:{node.lineno}: {node.name}"


def _depth(node: ast.AST) -> int:
    """How many blocks stand inside each other; a function inside a function starts again."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        # An ``elif`` stands in the tree inside the ``else`` of the ``if`` before it.
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and child in node.orelse
        deepest = max(deepest, _depth(child) + (isinstance(child, BLOCKS) and not is_elif))
    return deepest


def test_the_picture_of_the_layers_is_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    picture = re.findall(r'^ +\w+\["([^"]+)"\]', (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.MULTILINE)
    drawn = [sorted(row.split(" · ")) for row in picture]
    assert drawn == [sorted(layer.replace("evaluation.", "").split(" | ")) for layer in ["dashboard", *layers]]


def test_every_package_stands_in_the_layers() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    drawn = {name for row in re.findall(r'^ +\w+\["([^"]+)"\]', text, re.MULTILINE) for name in row.split(" · ")}
    packages = {name.split(".")[1] for name in MODULES if name.startswith("evaluation.")}
    assert drawn == {*packages, "dashboard"}


def test_pages_keep_their_addresses() -> None:
    tree = _tree(ROOT / "dashboard" / "app.py")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.Page"]
    scripts = [call for call in calls if isinstance(call.args[0], ast.Constant)]
    pages = [{str(word.arg): ast.literal_eval(word.value) for word in call.keywords} for call in scripts]
    assert [page["title"] for page in pages if page.get("default")] == ["Overview"]
    assert {page["url_path"] for page in pages if not page.get("default")} == ADDRESSES


# The Overview's is the server's own.
ADDRESSES = {"games", "rate", "team", "trends", "agents", "experiments", "settings"}


def test_retired_words_do_not_come_back() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    rows = [line.split("|") for line in glossary.splitlines() if line.startswith("| ")]
    retired = {word for row in rows[1:] for word in re.findall(r"`([^`]+)`", row[3])}
    assert len(retired) >= 10
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(retired)))})\b")
    documents = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for path in [*MODULES.values(), *(path for path in documents if path.name != "glossary.md")]:
        assert pattern.findall(path.read_text("utf-8")) == [], relative(path)


def test_a_thing_is_not_called_no_thing() -> None:
    """A wrong value is "not a weight"; "no weight" is not plain English. Prompts have versions and keep their words."""
    unidiomatic = re.compile(r"(?<!here )\b(?:is|are|was|were) no (?!longer\b|more\b|better\b)[a-z{]|\bshall\b")
    said = {relative(path): unidiomatic.findall(path.read_text("utf-8")) for path in MODULES.values()}
    assert {name: found for name, found in said.items() if found} == {
        "evaluation/judging/prompts.py": ["is no f", "are no i"]
    }


def test_module_docstrings_begin_with_one_plain_sentence() -> None:
    for path in MODULES.values():
        first, _, rest = (ast.get_docstring(_tree(path), clean=False) or "").partition("\n")
        assert len(first) <= 120, f"{relative(path)}: {len(first)} characters"
        assert first.endswith("."), f"{relative(path)}: no full stop at the end of the first line"
        assert rest == "" or rest.startswith("\n"), f"{relative(path)}: the first sentence takes more than one line"
        assert _UNCLEAR_OPENING.match(first) is None, f"{relative(path)}: {first}"


def test_docstrings_of_definitions_begin_with_a_noun_or_a_verb() -> None:
    for path, node in _nodes(MODULES.values(), ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        first = (ast.get_docstring(node) or "").partition("\n")[0]
        assert _UNCLEAR_DEFINITION.match(first) is None, f"{relative(path)}: {node.name}: {first}"


# "Whether" opens the docstring of a question; the other words open a clause without a subject.
_UNCLEAR_DEFINITION = re.compile(
    r"(What|Whatever|Whoever|Who|Whom|Whose|How|Where|When|Nobody|Nothing|Somebody|Everybody|Everything|As|Of|That)\b"
)


# A module docstring starts with a verb or a noun of the domain, not with a clause that has no subject.
_UNCLEAR_OPENING = re.compile(r"(What|Whatever|Whether|Whoever|Who|Whom|Whose|Which|How|Where|When|Nobody|Nothing)\b")


def _imports() -> Iterator[tuple[str, str]]:
    """Pairs of a module and one that it imports, among those of the product."""
    for name, path in MODULES.items():
        for node in _all_nodes(path):
            if isinstance(node, ast.Import):
                yield from ((name, alias.name) for alias in node.names if alias.name in MODULES)
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    if whole in MODULES or node.module in MODULES:
                        yield name, whole if whole in MODULES else node.module


def test_the_docs_show_the_pictures_that_the_tests_take() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w-]+\.png)", page.read_text())}
    assert shown == {picture.name for picture in (ROOT / "docs" / "images").glob("*.png")}


def test_no_pattern_repeats_a_group_possessively() -> None:
    # Python before 3.11.5, which Debian 12 has, loses its place where such a group fails half-way.
    repeated = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
    files = [*MODULES.values(), *(ROOT / "evaluation").rglob("*.yaml")]
    found = {relative(path): repeated.findall(path.read_text("utf-8")) for path in files}
    assert [name for name, patterns in found.items() if patterns] == []
