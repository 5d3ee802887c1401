"""The dashboard on a corpus that ``dramaturg serve --corpus`` opened: everything is shown, nothing is changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st

from evaluation.store import Store

HOLD = (
    "import sys\nfrom evaluation.store import Store\n"
    "with Store(sys.argv[1], read_only=True).unit():\n    print('ready', flush=True)\n    sys.stdin.read()\n"
)


@pytest.fixture
def corpus(filled: Store, database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRAMATURG_READ_ONLY", "1")
    yield database
    Store(database, read_only=True).close()
    st.cache_resource.clear()


def test_pages_are_shown_beside_another_process_that_reads_and_say_that_nothing_can_be_changed(
    open_page, corpus
) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(corpus)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "ready\n"
        for page in ("overview", "transcripts", "trends"):
            app = open_page(page)
            assert not app.exception
            assert not app.error
            assert app.info[0].value == "This corpus is open for reading only: nothing here can be changed."
    finally:
        other.communicate(timeout=60)


def test_a_page_that_writes_is_refused_with_one_sentence(open_page, corpus) -> None:
    before = corpus.read_bytes()
    app = open_page("settings")
    app.number_input(key="threshold_engagement").set_value(2.0).run()
    app.button(key="save_thresholds").click().run()
    assert not app.exception
    assert "open for reading only; nothing was stored" in " ".join(one.value for one in app.text)
    # The desk notes when a rater began: it cannot open here, and says why.
    desk = open_page("review", rater="Ada")
    assert not desk.exception
    assert [one.value for one in desk.error] == ["Nothing was changed: what is shown here may only be read."]
    Store(corpus, read_only=True).close()
    assert corpus.read_bytes() == before
