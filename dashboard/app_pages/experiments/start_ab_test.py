"""Start an A/B test from the page: its configuration, number of calls, cost, limits, and the button."""

from __future__ import annotations

import streamlit as st

from dashboard.app_pages.experiments import data
from dashboard.app_pages.experiments.start_run import example_button
from dashboard.shared import queries, resources, state
from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from dashboard.shared.notices import plain, words_of
from evaluation.access import Action
from evaluation.errors import DramaturgError
from evaluation.experiments.ab_runner import ABConfig
from evaluation.judging.judge_config import price_of
from evaluation.store import Store
from evaluation.workflows.ab_tests import KIND, iterations_test
from evaluation.workflows.iterations import default_pair

TEST = "ab_test"
"""The query parameter that names the A/B test which is looked at."""
CHOSEN = "chosen_ab_test"
"""The key of the list of A/B tests."""

_TEXT, _BEGIN_WITH, _BEFORE, _AFTER = "ab_text", "ab_begin_with", "ab_before", "ab_after"
_NUMBERS = "An example: numbers in the file (no model)"
_ITERATIONS = "Two of your iterations"
_SIMULATED = "An example: simulated conversations (need a model)"
_FILE = "A file of yours"
_LARGEST_MEGABYTES = 5


def ab_form(store: Store) -> None:
    """The configuration of a test, its estimate as it changes, and the button that starts it."""
    st.caption(
        "An A/B test compares variants of a configuration on the same measures: stored games of two iterations, "
        "numbers that you have, or conversations that are simulated for it."
    )
    name, content = _configuration()
    if not content.strip():
        st.info("Choose a file, or write the configuration.")
        return
    try:
        test = data.read_ab_test(name, content)
        found = resources.read(data.ab_estimate, name, content)
    except DramaturgError as error:
        st.error("This test cannot be run.")
        plain(words_of(error))
        return
    left, right = st.columns(2, gap="large")
    with left:
        usd = st.number_input("Spending limit (USD)", 0.0, value=None, step=0.5, key="ab_usd")
    with right:
        calls = st.number_input("Limit on calls", 0, value=None, step=100, key="ab_calls")
    st.caption(found.words(price_of))
    is_busy = jobs.running(store, KIND) is not None
    if st.button(
        "Run the A/B test", icon=":material/play_arrow:", type="primary", disabled=is_busy, key="start_ab_test"
    ):
        start(store, test, {"max_usd": usd, "max_calls": calls})
    if is_busy:
        st.caption("An A/B test is running; another one can start when it is done.")


def load_example(store: Store) -> None:
    """A button that runs the example on numbers, to have a test to look at."""
    if example_button(store, KIND, "It compares numbers in its file: no key, no cost, at once."):
        start(store, data.read_ab_test("ab.yaml", data.example_test("ab.yaml").encode("utf-8")), {})


def _configuration() -> tuple[str, bytes]:
    """The name of the file, as errors say it, and its content."""
    names = _with_games()
    examples = [*([_ITERATIONS] if len(names) > 1 else []), _NUMBERS, _SIMULATED, _FILE]
    chosen = st.selectbox("Begin with", examples, key=_BEGIN_WITH, on_change=_fill)
    if chosen == _FILE:
        given = st.file_uploader(
            "Configuration",
            ["yaml", "yml", "json"],
            max_upload_size=_LARGEST_MEGABYTES,
            key="ab_file",
            help="The file that `dramaturg ab` reads.",
        )
        return (given.name, given.getvalue()) if given else ("", b"")
    place = st.container()
    if chosen == _ITERATIONS:
        first = _pair()
        with st.container(horizontal=True):
            for label, key, at_first in zip(("Before", "After"), (_BEFORE, _AFTER), first, strict=True):
                st.selectbox(label, names, names.index(at_first), key=key, on_change=_fill, filter_mode="contains")
        place = st.expander("More: the configuration", icon=":material/tune:")
    if _TEXT not in st.session_state:
        _fill()
    text = place.text_area(
        "Configuration (YAML or JSON)",
        height=360,
        key=_TEXT,
        help="Change it, or paste your own: it is the file that `dramaturg ab` reads.",
    )
    return "ab.json" if text.lstrip().startswith("{") else "ab.yaml", text.encode("utf-8")


def _with_games() -> list[str]:
    """The iterations that can be compared."""
    return [name for name, games in resources.read(queries.iteration_sizes).items() if games]


def _pair() -> tuple[str, str]:
    """The pair that the Overview begins with, else the last two; both have games."""
    names, pair = _with_games(), resources.read(default_pair)
    return pair if pair and set(pair) <= set(names) else (names[-2], names[-1])


def _target(store: Store, name: str) -> str | None:
    return store.iterations.get(name).target_metric


def _fill() -> None:
    chosen = st.session_state.get(_BEGIN_WITH, _NUMBERS)
    if chosen == _ITERATIONS:
        before, after = (st.session_state.get(key, name) for key, name in zip((_BEFORE, _AFTER), _pair(), strict=True))
        st.session_state[_TEXT] = iterations_test(before, after, resources.read(_target, after))
    else:
        st.session_state[_TEXT] = data.example_test("ab_simulation.yaml" if chosen == _SIMULATED else "ab.yaml")


def start(store: Store, test: ABConfig, options: dict[str, float | int | None]) -> None:
    """Starts the job and opens the test, or says why it did not start."""
    try:
        identity.require(Action.EVALUATE)
        test_id = jobs.start_ab_test(store, test, options)
    except DramaturgError as error:
        st.error("That did not start.")
        plain(words_of(error))
    else:
        state.choose_next(**{CHOSEN: test_id})
