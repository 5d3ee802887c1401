"""Text of unknown origin in every output: it stays text, steers nothing, and no output breaks on it."""

import csv
import io
import json
import re
import unicodedata
from datetime import UTC, datetime

import pandas as pd
import pytest

from dashboard.shared.charts.metric_charts import escaped_label
from evaluation.cli._persona_runs import evaluation_table
from evaluation.cli.rendering import print_evaluations
from evaluation.cli.terminal import table
from evaluation.engines.scoring import evaluate_transcript
from evaluation.escaping import code, json_text, markdown_table, safe
from evaluation.harness.pull_request_comment import LONGEST_COMMENT, comparison_markdown
from evaluation.harness.regression import BaselineComparison, BaselineRow, RegressionOutcome
from evaluation.insight.evaluation_report import plain_report
from evaluation.judging.proposition_scores import PropositionScore
from evaluation.judging.propositions import Dimension, Proposition
from evaluation.judging.protocol import JudgementStatus
from evaluation.persona.agents import Agent
from evaluation.persona.evaluation import PersonaEvaluation
from evaluation.persona.subjects import ALWAYS
from evaluation.rating_desk.sheet_format import read_sheet, sheet_rows, write_sheet
from evaluation.ratings import Rating
from evaluation.store import Store
from evaluation.text.display import shortened
from evaluation.transcript import Transcript
from evaluation.workflows.scoring import add_evaluated, stored_results_table
from evaluation.writers import csv_text, message_table
from tests.games import game_of

STORABLE = {
    "bidirectional": "evil\u202e\u2066txt\u200f.exe\u061c",
    "escape sequence": "evil\x1b[31mred\x1b]0;title\x07\x9b2J\x08",
    "table cell": "evil | a | b \\| c",
    "code span": "``evil`` `[x](http://evil)` \\` ![y](http://evil/p)",
    "markup": "</td></script><script>evil(1)</script><img src=x onerror='evil(1)'> &lt; \"'",
    "formula": "=cmd|' /C evil'!A0",
    "formula after blanks": "  +evil(1)",
    "formula in full width": "\uff1devil(1)",
    "zero width": "ev\u200bil\ufeff evil\u2060",
    "line ends": "evil\n# heading\r\n- item\r=1\u2028x\u2029y\x0bz\x85\t<b>",
    "mention": "@everyone evil https://evil.example #1",
    "very long": "evil " + "x" * 100_000,
}
HOSTILE = STORABLE | {"lone surrogate": "evil\ud800.json\udcff"}
JOINERS = "\u200c\u200d"
every_text = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
every_storable = pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())


def assert_steers_nothing(output: str) -> None:
    """No control character but the line end, nothing that hides or reorders text, and it can be written to a file."""
    bad = {c for c in output if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and c not in f"\n{JOINERS}"}
    assert bad == set()
    output.encode("utf-8")


def assert_inert_markdown(output: str) -> None:
    """Nothing hostile stands outside a code span."""
    assert_steers_nothing(output)
    rest = re.sub(r"`[^`\n]+`", "", output)
    assert not re.search(r"evil|<script|@everyone|onerror", rest)


def assert_inert_csv(output: str) -> list[list[str]]:
    """No cell that a spreadsheet would run, and as many cells in every row."""
    output.encode("utf-8")
    rows = list(csv.reader(io.StringIO(output, newline="")))
    assert len({len(row) for row in rows}) == 1
    starts = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
    assert [cell for row in rows for cell in row if cell.lstrip(" ").startswith(starts)] == []
    return rows


def comparison(text: str) -> BaselineComparison:
    claim = Proposition(text, text, Dimension.FLUENCY, recommendations_for_improvement=text)
    lowest = PropositionScore(claim, text, JudgementStatus.SCORED, 3, 3.0, reference=text, reason=text, snippet=text)
    row = BaselineRow(text, text, Dimension.FLUENCY, RegressionOutcome.REGRESSION, 4.0, 7.0, text, lowest)
    lost = BaselineRow(text, text, Dimension.ADHERENCE, RegressionOutcome.LOST, None, 7.0, text)
    failed = BaselineRow(text, text, Dimension.CONSISTENCY, RegressionOutcome.ERROR, None, 7.0, text)
    return BaselineComparison((row, lost, failed), models=(text,))


def game(text: str) -> Transcript:
    name = text[:100]
    said = [(name if n % 2 else "Bob", f"{text[:500]} I suspect {name}.") for n in range(4)]
    players = {name: {"personality": name}, "Bob": {}}
    return game_of(said, players, round=1, game_id=text[:200], source_format="native", language="en")


@every_text
def test_terminal_tables(text: str) -> None:
    output = table(("Name", "Score"), [(text, 1), ("Ann", 2)])
    assert_steers_nothing(output)
    assert len(output.split("\n")) == 4
    ratings = [(None, PersonaEvaluation(Agent("ann", text), {}, ALWAYS, 3, 0, ()))]
    assert_steers_nothing(evaluation_table(ratings))
    assert_steers_nothing(safe(text))


@every_text
def test_markdown_tables(text: str) -> None:
    output = markdown_table(("Name", "Score"), [(code(text), 1)])
    assert_inert_markdown(output)
    # A bar that does not part cells has a backslash in front.
    assert len(re.findall(r"(?<!\\)\|", output.split("\n")[2])) == 3
    assert len(output.split("\n")) == 3


def test_a_bar_in_words_of_our_own_parts_no_cells() -> None:
    assert markdown_table(("A|B",), [("c | d",), (code("e|f"),)]).split("\n")[::2] == [r"| A\|B |", r"| c \| d |"]


@every_text
def test_the_comment_on_a_pull_request(text: str) -> None:
    found = comparison(text).as_dict()
    output = comparison_markdown(found)
    assert_inert_markdown(output.replace("evil:", ""))
    assert len(output) < LONGEST_COMMENT + 100
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in output.splitlines() if line.startswith("|")} == {7}
    damaged = {"verdict": text, "problem": text, "rows": [{"outcome": text, "label": text}]}
    assert_inert_markdown(comparison_markdown(damaged))


def assert_inert_json(output: str, value: object) -> None:
    """The same value comes back, and a terminal that it is shown on is not steered by it."""
    output.encode("utf-8")
    assert json.loads(output) == value
    categories = {c: unicodedata.category(c) for c in output if c not in "\n\u200b\u2060\ufeff"}
    assert [c for c, kind in categories.items() if kind in {"Cc", "Cf", "Cs", "Zl", "Zp"}] == []


@every_text
def test_json(text: str) -> None:
    value = {text: [text, None, 1.5]}
    assert_inert_json(json_text(value), value)


@every_text
def test_tables_for_spreadsheets(text: str) -> None:
    frame = pd.DataFrame([[text, 1], ["fine", 2]], columns=pd.Index([text, "n"], dtype=object), dtype=object)
    assert len(assert_inert_csv(csv_text(frame))) == 3


@every_storable
def test_sheets_of_ratings_come_back_as_they_were(text: str) -> None:
    name = safe(text).strip()[:60]
    one = Rating("0" * 64, name, 2, comment=text[:1_000].strip(), created_at=datetime(2026, 1, 1, tzinfo=UTC))
    output = write_sheet(sheet_rows([one], {one.transcript_id: text}))
    assert_inert_csv(output)
    sheet = read_sheet(output.encode("utf-8"), {one.transcript_id: text}, now=datetime(2026, 1, 2, tzinfo=UTC))
    assert sheet.problems == ()


@every_text
def test_labels_of_charts_and_names_in_the_dashboard(text: str) -> None:
    label = escaped_label(text, 40)
    assert_steers_nothing(label)
    assert "<" not in label
    assert len(shortened(text, 40)) <= 40
    assert "\n" not in shortened(text, 40)


@every_storable
def test_reports_on_a_discussion(text: str) -> None:
    found = plain_report(game(text))
    assert_inert_json(json_text(found.as_dict()), json.loads(json.dumps(found.as_dict())))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The games of every text, each in an iteration of its own."""
    return Store(tmp_path_factory.mktemp("hostile") / "games.duckdb")


@every_storable
def test_stored_games_in_exports(stored: Store, text: str) -> None:
    name = f"evil {safe(text)}".strip()[:60]
    stored.iterations.create(name, prompt_text=text, change=text[:200])
    add_evaluated(stored, game(text), source_name=text, iteration=name)
    assert_inert_csv(csv_text(stored_results_table(stored, name)))


@every_storable
def test_evaluations_as_they_are_printed(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = evaluate_transcript(game(text))
    print_evaluations([evaluation], "table")
    assert_steers_nothing(capsys.readouterr().out)
    print_evaluations([evaluation], "markdown")
    assert_inert_markdown(capsys.readouterr().out)
    print_evaluations([evaluation], "json")
    assert_inert_json(capsys.readouterr().out, [json.loads(json.dumps(evaluation.as_dict()))])


@every_storable
def test_rows_of_messages_hold_no_control_characters(text: str) -> None:
    held = game_of([("Ann", text)])
    written = csv_text(message_table([held]))
    assert not [sign for sign in written if unicodedata.category(sign) == "Cc" and sign not in "\n\t"]
