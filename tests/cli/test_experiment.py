"""``dramaturg experiment table1 --from-raw``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WANTED = {
    "experiment",
    "dimension",
    "treatment_mean",
    "treatment_sd",
    "control_mean",
    "control_sd",
    "difference",
    "p_value",
    "cohens_d",
    "n_treatment",
    "n_control",
}


def test_table1_as_json_and_as_tables(run: Any, data_root: Path) -> None:
    folder = data_root / "tinytroupe" / "table1_raw"
    rows = json.loads(run("experiment", "table1", "--from-raw", folder, "--format", "json").stdout)
    assert len(rows) == 19
    assert all(set(row) >= WANTED for row in rows)
    text = run("experiment", "table1", "--from-raw", folder).stdout
    assert "19 of 19 rows have the published values." in text
    assert "n counts scores, not people" in text
    assert (
        "| 2.1 | Ideas Qty. | 2.45 (1.54) | 4.17 (2.50) | 20/24 | -1.717 |"
        in run("experiment", "table1", "--from-raw", folder, "--format", "markdown").stdout
    )


def test_a_folder_without_the_files_is_refused(run: Any, tmp_path: Path) -> None:
    done = run("experiment", "table1", "--from-raw", tmp_path)
    assert done.exit_code == 2
    assert "There is no such file. Name the folder that holds all four raw files." in done.stderr
