"""The report on an import: what it counts, how it is written to a file, and that the store keeps it."""

from __future__ import annotations

import json
from pathlib import Path

from evaluation.engines.scoring import SCORERS, evaluate_transcript
from evaluation.readers import read_path, read_uploads
from evaluation.readers.import_report import ImportOutcome, ImportReport, ReportLine, planned, refusal_groups
from evaluation.score import MetricResult
from evaluation.store import Store
from evaluation.store._imports import KEPT
from evaluation.transcript import Transcript
from evaluation.writers import counts_words

GAME = b'{"gameId": "%s", "players": [{"name": "Ann"}], "messages": [{"playerName": "Ann", "message": "Hi"}]}'
BAD = b'{"gameId": '


def report(*games: str, bad: int = 0, stored: tuple[str, ...] = (), **about: object) -> ImportReport:
    files = [(f"{name}-{place}.json", GAME % name.encode()) for place, name in enumerate(games)]
    files += [(f"bad{number}.json", BAD) for number in range(bad)]
    return planned(read_uploads(files), stored, **about)


def ids(*games: str) -> dict[str, str]:
    return {line.game_id or "": line.transcript_id or "" for line in report(*games).lines}


def test_each_outcome_is_counted() -> None:
    known = ids("old")["old"]
    before = report("old", "new", "new", "late", bad=2, stored=(known,))
    outcomes = ["known already", "not stored", "twice in this import", "not stored", "refused", "refused"]
    assert [str(line.outcome) for line in before.lines] == outcomes
    new = ids("new")["new"]
    after = before.with_outcomes({new: (ImportOutcome.STORED, "Coherence could not be computed.")}, 1.5)
    assert after.counts == {
        ImportOutcome.STORED: 1,
        ImportOutcome.KNOWN: 1,
        ImportOutcome.REPEATED: 1,
        ImportOutcome.REFUSED: 2,
        ImportOutcome.NOT_STORED: 1,
    }
    words = "4 games: 1 stored, 1 known already, 1 twice in this import, 1 not stored. 2 refused."
    assert counts_words(after) == words
    assert (after.seconds, after.id) == (1.5, before.id)
    assert counts_words(ImportReport(())) == "No file."


def test_refusals_for_one_reason_are_one_group() -> None:
    lines = [
        ReportLine(f"{n}.json", ImportOutcome.REFUSED, message=f"reason {n % 2}", remedy="Do it.") for n in range(5)
    ]
    # 0, 2 and 4 have reason 0; 1 and 3 have reason 1.
    assert [(group.message, len(group.lines)) for group in refusal_groups(lines)] == [("reason 0", 3), ("reason 1", 2)]
    assert refusal_groups([]) == ()


def test_a_report_survives_json(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.json").write_text('{"model": "gpt"}', encoding="utf-8")
    before = planned(read_path(tmp_path), (), source="command line", iteration="Prompt é")
    assert before.counts[ImportOutcome.REFUSED] == 3
    assert ImportReport.from_dict(json.loads(json.dumps(before.as_dict()))) == before


def test_the_store_keeps_the_latest_reports_and_replaces_one_that_went_on() -> None:
    store = Store(":memory:")
    first = report("one")
    store.imports.save(first)
    store.imports.save(report("two"))
    done = first.with_outcomes({ids("one")["one"]: (ImportOutcome.STORED, "")}, 0.5)
    store.imports.save(done)
    assert store.imports.list()[1] == done
    assert [held.lines[0].game_id for held in store.imports.list()] == ["two", "one"]
    for _ in range(KEPT):
        store.imports.save(report("more"))
    assert len(store.imports.list()) == KEPT
    assert first.id not in {held.id for held in store.imports.list()}


def test_names_that_utf_8_cannot_hold_are_kept_readable() -> None:
    store = Store(":memory:")
    store.imports.save(ImportReport((ReportLine("caf\udce9.json", ImportOutcome.REFUSED, message="No."),)))
    assert [held.lines[0].name for held in store.imports.list()] == ["caf?.json"]


def test_a_report_is_settled_by_what_the_store_has_in_the_end() -> None:
    store = Store(":memory:")
    results = read_uploads([(f"{name}.json", GAME % name.encode()) for name in ("one", "two", "three")])
    before = planned(results, ())
    store.imports.save(before)
    first, second = (result.transcript for result in results[:2])
    evaluation = evaluate_transcript(second, scorers=SCORERS | {"coherence": broken})
    store.transcripts.add(first, source_name="one.json")
    store.transcripts.add(second, source_name="two.json")
    store.results.save([evaluation])
    assert store.imports.so_far(before).counts[ImportOutcome.STORED] == 2
    store.imports.settle()
    (after,) = store.imports.list()
    assert [(line.outcome, line.message) for line in after.lines] == [
        (ImportOutcome.STORED, ""),
        (ImportOutcome.STORED, "Conversation coherence could not be computed."),
        (ImportOutcome.NOT_STORED, ""),
    ]
    assert after.seconds is not None
    # It is settled once: what happens to the games later is not part of it.
    store.deletions.delete([first.id], who="Ada")
    store.imports.settle()
    assert store.imports.list() == [after] == [store.imports.so_far(after)]


def broken(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    raise ArithmeticError("no")
