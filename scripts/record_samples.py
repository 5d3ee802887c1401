"""Score the shipped games and write the scores and controls that come with them, in place of what is there.

python scripts/record_samples.py
"""

from __future__ import annotations

import json
import shutil

from evaluation.engines.scoring import add_controls, evaluate_transcript
from evaluation.files.bundled import shipped
from evaluation.files.locations import Location
from evaluation.readers import read_transcripts
from evaluation.rubric.link_strength import link_strengths
from evaluation.store.corpus import Corpus
from evaluation.store.result_rows import control_rows
from evaluation.workflows.samples import CONTROLS_FILE, SCORED_FOLDER, load_manifest, planned_games


def main() -> None:
    """Writes the folder that ``recorded_scores`` and ``recorded_controls`` read."""
    samples = shipped("data/samples")
    folder = samples / SCORED_FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    found = [
        (evaluate_transcript(transcript), path.relative_to(samples).as_posix())
        for path, _ in planned_games(load_manifest())
        for transcript in read_transcripts(path)
    ]
    Corpus(Location.of(str(folder))).write(found, None)
    controls = {
        one.transcript.id: control_rows(add_controls(one.transcript, one.metrics), link_strengths(one.transcript))
        for one, _ in found
    }
    (folder / CONTROLS_FILE).write_text(json.dumps(controls, indent=0), "utf-8")


if __name__ == "__main__":
    main()
