"""Every bad input on the Games page, all at once: each gets its message, the good one beside them goes in."""

from __future__ import annotations

from evaluation.readers import ReadResult, read_uploads
from tests.app.drawn import tables
from tests.faults.bad_files import canonical
from tests.faults.bad_inputs import ALL

GOOD = ("good.json", canonical(game_id="the good one"), "application/json")


def told(result: ReadResult) -> tuple[str, str, str]:
    assert result.error is not None
    return result.name, result.error.message, result.error.remedy


def test_each_refusal_stands_on_the_page_and_nothing_is_stored(open_page, store, words) -> None:
    files = [(case.file, case.make(), "application/octet-stream") for case in ALL if not case.is_large]
    app = open_page("games", part="Add")
    app.file_uploader[0].set_value([*files, GOOD]).run()
    assert not app.exception
    said = words(app)
    rows = tables(app)[-1]
    listed = set(zip(rows["File"], rows["What is wrong"], rows["What to do"], strict=True))
    refused = [
        result
        for result in read_uploads([(name, data) for name, data, _ in files])
        if result.error and not result.preview
    ]
    assert f"{len(refused)} refused" in said
    assert [one.name for one in refused if told(one) not in listed] == []
    assert store.transcripts.summaries().empty
    assert store.jobs.list() == []
