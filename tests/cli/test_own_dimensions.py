"""Persona dimensions of a plug-in, in processes of their own: beside the shipped five everywhere, or refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.judge_server import JudgeServer
from evaluation.store import Store

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own_dimensions.py"
MAIN = [sys.executable, "-m", "evaluation.cli.main"]
OFFLINE = ("--agents", "michael", "--mode", "offline")

Plugged = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def plugged(database: Path) -> Plugged:
    """Runs ``dramaturg`` (or another command) with plug-ins; the example's when nothing else is named."""

    def run(
        *arguments: object, plugins: object = EXAMPLE, command: list[str] = MAIN, installed: object = ROOT
    ) -> subprocess.CompletedProcess[str]:
        hidden = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DRAMATURG_JUDGE", "DRAMATURG_MODEL", "DRAMATURG_PROPOSITIONS")
        plain = {key: value for key, value in os.environ.items() if key not in hidden}
        own = {
            "DRAMATURG_DB": str(database),
            "DRAMATURG_PLUGINS": str(plugins),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{installed}",
        }
        return subprocess.run(
            [*command, *map(str, arguments)], env=plain | own, capture_output=True, text=True, check=False
        )

    return run


def mark(body: dict) -> str:
    """8 for every claim; 2 for those on belittling."""
    text = str(body["messages"])
    return json.dumps({"reason": "It is so.", "score": 2 if "belittles" in text else 8, "confidence": 1.0})


def test_they_stand_beside_the_shipped_ones_in_table_json_store_and_baselines(
    plugged: Plugged, database: Path, tmp_path: Path
) -> None:
    with JudgeServer(content=mark).in_thread() as server:
        live = ("--agents", "michael", "--mode", "live", "--base-url", server.url, "--model", "m", "--individual")
        live += ("--dimensions", "warmth,brevity,fluency", "--sample-size", "2")
        table = plugged("persona", "run", *live)
        shown = plugged("persona", "run", *live, "--format", "json")
        made = plugged("persona", "baseline", *live, "--baselines", tmp_path / "b")
        compared = plugged("persona", "compare", *live, "--baselines", tmp_path / "b", "--require-baseline")
    assert table.returncode == 0, table.stderr
    head, line = (table.stdout.splitlines()[at] for at in (0, 2))
    assert [word for word in ("Fluency", "Ideas", "Warmth", "Brevity", "Overall") if word in head] == [
        "Fluency", "Ideas", "Warmth", "Brevity", "Overall",
    ]  # fmt: skip
    (found,) = json.loads(shown.stdout)
    # 8 for the friendly claim, 9 - 2 for the inverted one: (8 + 7) / 2.
    assert found["dimensions"]["warmth"]["score"] == 7.5
    assert "7.50" in line
    (brief,) = {item["reason"] for item in found["dimensions"]["brevity"]["items"][:1]}
    assert "words a message" in brief
    assert made.returncode == 0, made.stderr
    (file,) = (tmp_path / "b").glob("*.json")
    assert set(json.loads(file.read_text("utf-8"))["dimensions"]) == {"fluency", "warmth", "brevity"}
    assert compared.returncode == 0, compared.stdout + compared.stderr
    without = plugged("persona", "compare", *live, "--baselines", tmp_path / "b", plugins="")
    assert without.returncode == 2
    assert "warmth" in without.stderr
    store = Store(database)
    runs = store.evaluations.runs("michael")
    assert set(store.evaluations.scores(runs["run_id"].iloc[-1])["dimension"]) == {"fluency", "warmth", "brevity"}
    store.close()


PAGE = """
import sys
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
for page in ("personas", "trends"):
    app = AppTest.from_file(sys.argv[1], default_timeout=60)
    app.query_params["agent"] = "michael"
    app.query_params["as"] = "Personas"
    app._page_hash = calc_hash(page)
    app.run()
    assert not app.exception, app.exception
    print(page, [metric.label for metric in app.metric], [list(frame.value.columns) for frame in app.dataframe])
"""


def test_pages_show_them_and_do_without_the_plug_in_too(plugged: Plugged, write_game: Callable[..., Path]) -> None:
    assert plugged("import", write_game()).returncode == 0
    done = plugged("persona", "run", *OFFLINE)
    assert done.returncode == 0, done.stderr
    assert "Michael Scott, warmth: not scored: needs an LLM judge" in done.stdout
    page = [sys.executable, "-c", PAGE]
    personas, trends = plugged(ROOT / "dashboard" / "app.py", command=page).stdout.splitlines()[-2:]
    assert "'Warmth', 'Brevity'" in personas
    assert "'Brevity'" in trends
    without = plugged(ROOT / "dashboard" / "app.py", command=page, plugins="")
    assert without.returncode == 0, without.stderr
    assert "Brevity" not in without.stdout
    assert plugged("persona", "runs", plugins="").returncode == 0


def test_a_file_of_ones_own_overrides_a_claim_of_the_plug_in(plugged: Plugged, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "warmth"
    folder.mkdir(parents=True)
    (folder / "michael.yaml").write_text(
        "dimension: warmth\nagent_id: michael\npropositions:\n"
        "  - {id: is-friendly, claim: '{{agent_name}} hugs everybody.'}\n",
        encoding="utf-8",
    )
    options = ("--propositions", tmp_path / "own")
    assert plugged("propositions", "check", *options).returncode == 0
    listed = json.loads(plugged("propositions", "list", "--agent", "michael", "--format", "json", *options).stdout)
    claims = {each["id"]: each["claim"] for each in listed if each["dimension"] == "warmth"}
    assert claims["is-friendly"] == "{{agent_name}} hugs everybody."
    assert set(claims) == {"is-friendly", "belittles"}
    unknown = plugged("propositions", "check", *options, plugins="")
    assert unknown.returncode == 2
    assert "'warmth' is not known" in unknown.stdout


def test_an_installed_package_names_them_by_an_entry_point(plugged: Plugged, tmp_path: Path) -> None:
    (tmp_path / "my_dimensions.py").write_text(EXAMPLE.read_text("utf-8"), encoding="utf-8")
    folder = tmp_path / "my_dimensions-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: my-dimensions\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text("[dramaturg.plugins]\nmine = my_dimensions\n", encoding="utf-8")
    done = plugged("persona", "run", *OFFLINE, "--dimensions", "brevity", plugins="", installed=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Brevity" in done.stdout
    (folder / "entry_points.txt").write_text("[dramaturg.plugins]\nmine = gone\n", encoding="utf-8")
    gone = plugged("persona", "run", *OFFLINE, plugins="", installed=tmp_path)
    assert gone.returncode == 2
    assert "entry point mine (gone)" in gone.stderr


DECLARE = "from evaluation.judging.propositions.own_dimensions import declare_dimension\n"
CLAIMS = "propositions=[{'id': 'a', 'claim': 'It is so.'}]"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import nothing_of_that_name\n", "No module named 'nothing_of_that_name'"),
        ("undefined_name\n", "name 'undefined_name' is not defined"),
        (f"{DECLARE}declare_dimension('fluency', description='x', {CLAIMS})\n", "'fluency' exists already"),
        (f"{DECLARE}declare_dimension('Two words', description='x', {CLAIMS})\n", "is not a name of a dimension"),
        (f"{DECLARE}declare_dimension('charm', description='x')\n", "needs either propositions or a function"),
        (f"{DECLARE}declare_dimension('charm', description='', {CLAIMS})\n", "has no usable description"),
        (f"{DECLARE}declare_dimension('charm', description='x', target_type='god', {CLAIMS})\n", "not a target type"),
        (
            f"{DECLARE}declare_dimension('charm', description='x', "
            "propositions=[{'id': 'a', 'claim': '{{who}}'}])\n",
            "{{who}} is not a variable",
        ),
        (
            f"{DECLARE}declare_dimension('charm', description='x', propositions=[{{'id': 'a', 'weigth': 1}}])\n",
            "propositions of the dimension charm cannot be used",
        ),
        (
            f"{DECLARE}declare_dimension('charm', description='x', function=lambda target: 12)\n",
            "The function of the dimension charm gave 12.",
        ),
    ],
)  # fmt: skip
def test_a_bad_plug_in_is_refused_with_module_and_name(
    plugged: Plugged, tmp_path: Path, source: str, fault: str
) -> None:
    path = tmp_path / "bad_plugin.py"
    path.write_text(source, encoding="utf-8")
    done = plugged("persona", "run", *OFFLINE, plugins=path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert fault in done.stderr
    assert "bad_plugin.py" in done.stderr
    assert "Traceback" not in done.stderr
