"""The forms of the Settings page; each draws and stores its own settings. Providers' keys are never shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import streamlit as st

from dashboard.shared import resources, state
from dashboard.shared.comparison_tables import METRIC_LABELS
from dashboard.shared.formatting import score_text, threshold_text
from dashboard.shared.identity import identity
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import plain, refusal_told
from dashboard.shared.status_table import status_table
from evaluation.access import Action
from evaluation.judging.judge_config import DEFAULT_MODEL, SETTINGS_KEY, has_key, judge_config
from evaluation.readers import Limits
from evaluation.rubric.definitions import DEFAULT_THRESHOLDS, DEFINITIONS
from evaluation.rubric.verdict import COST_LIMIT_USD, MetricScore
from evaluation.score import PERCENT, MetricDefinition, Status, status_by
from evaluation.store import Store
from evaluation.store.transcripts import simulated
from evaluation.text.display import counted, listed
from evaluation.workflows.reader_check import check_reader, estimate_check

_MIB = 1024 * 1024

LIMITS: Mapping[str, tuple[str, int, str]] = {
    "file_bytes": ("Size of a transcript file (MB)", _MIB, "Also of one inside a zip, once it is unpacked."),
    "archive_bytes": ("Size of a zip, unpacked (MB)", _MIB, "Everything in it together."),
    "archive_ratio": (
        "Packing ratio of a file in a zip",
        1,
        "Real transcripts shrink less than 100 to 1; a file made to do harm shrinks more.",
    ),
    "files": ("Files in a zip or folder", 1, "Also games in one file."),
    "messages": ("Messages of a game", 1, "Votes are counted apart, up to the same number."),
    "players": ("Players of a game", 1, "Personality diversity compares every pair."),
    "message_characters": ("Characters of a message", 1, "A longer message is usually two that were not separated."),
    "lines": ("Lines or rows of a file", 1, "In formats that are read line by line, and in tables."),
}
"""The limits that are shown: by field, the label, the unit that is typed in, and what it is for."""


WIDTH = 760
"""Pixels of the column of all settings."""


@dataclass(frozen=True, slots=True)
class Change:
    """A part of the settings that was changed on the page, and its storing."""

    of: str
    save: Callable[[], None]


def save_changes(store: Store, changed: Sequence[Change]) -> None:
    """The one button that stores what was changed on the page, all of it or nothing; else when this tab last did."""
    with st.container(horizontal=True, vertical_alignment="center", key="save_bar"):
        if not changed:
            if moment := st.session_state.get(_SAVED_AT):
                st.badge(f"✓ Saved {local_time(moment).split()[-1]}", color="green")
            return
        is_pressed = st.button("Save the changes", key="save_settings", type="primary")
        st.badge(f"not saved yet: {listed([one.of for one in changed])}", color="orange")
    if is_pressed:
        with refusal_told("Nothing was stored.", ":material/error:"):
            identity.require(Action.CONFIGURE)
            with store.unit(write=True):
                for one in changed:
                    one.save()
            st.session_state[_SAVED_AT] = datetime.now(UTC)
            st.rerun()


_SAVED_AT = "settings_saved_at"


def _back_to(defaults: Mapping[str, float], key: str, *, is_there: bool) -> None:
    """A button that fills in the defaults, by the key of their input."""
    st.button(
        "Back to the defaults",
        key=key,
        icon=":material/undo:",
        disabled=is_there,
        on_click=state.set_widgets,
        args=(defaults,),
    )


def thresholds(store: Store) -> Change | None:
    """Thresholds and the size of a test, with what other thresholds would do before they are stored."""
    st.subheader("Thresholds and tests", anchor=False)
    st.caption(
        "The score from which a metric passes. A game passes with 5 of the 7 metrics, engagement among them, at a cost "
        f"of at most {COST_LIMIT_USD:g} USD (fixed). Change a threshold to see which games would pass then; scores "
        "stay as they are, and nothing is stored before you save."
    )
    now, size = resources.read(store.settings.thresholds), resources.read(store.settings.test_size)
    state.follow_stored(
        "thresholds_shown", {f"threshold_{name}": value for name, value in now.items()} | {"test_size": size}
    )
    then, chosen = _threshold_inputs(now, size)
    if then != now:
        found = resources.read(metric_effects, tuple(then.items()))
        effects = "Thresholds and passing games, now and with what is typed above"
        status_table(found, effects)
    defaults = {f"threshold_{name}": float(value) for name, value in DEFAULT_THRESHOLDS.items()}
    _back_to(defaults, "reset_thresholds", is_there=then == DEFAULT_THRESHOLDS)

    def save() -> None:
        for name, value in then.items():
            if value != now[name]:
                store.settings.set_threshold(name, None if value == DEFAULT_THRESHOLDS[name] else value)
        if chosen != size:
            store.settings.set_test_size(chosen)

    return Change("thresholds and tests", save) if (then, chosen) != (now, size) else None


def _threshold_inputs(now: Mapping[str, float], size: int) -> tuple[dict[str, float], int]:
    grid = st.grid(4, min_column_width=145, vertical_alignment="bottom")
    then = {}
    for name, definition in DEFINITIONS.items():
        scale = definition.scale
        with grid.cell():
            then[name] = float(
                st.number_input(
                    f"{METRIC_LABELS[name]} ({'%' if scale == PERCENT else f'of {scale.high:g}'})",
                    min_value=float(scale.low),
                    max_value=float(scale.high),
                    value=float(now[name]),
                    step=1.0 if scale == PERCENT else 0.1,
                    format="%g",
                    key=f"threshold_{name}",
                    help=scale_words(name),
                )
            )
    with grid.cell():
        chosen = st.number_input(
            "Games in a test",
            min_value=1,
            max_value=100,
            value=size,
            step=1,
            key="test_size",
            help="The rubric says 3. The games of an iteration form tests in the order in which they were added; the "
            "mean scores decide whether a test passes. The success checklist asks for three tests in a row that pass.",
        )
    return then, int(chosen)


def limits(store: Store) -> Change | None:
    """Size limits of imports."""
    st.caption(
        "For uploads and the command line. A file beyond a limit is refused; the other files of the upload are stored."
    )
    held, defaults = asdict(resources.read(store.settings.limits)), asdict(Limits())
    state.follow_stored("limits_shown", {f"limit_{name}": _in_units(name, held[name]) for name in LIMITS})
    grid = st.grid(4, min_column_width=145, vertical_alignment="bottom")
    wanted = {}
    for name, (label, unit, help_) in LIMITS.items():
        with grid.cell():
            typed = st.number_input(
                label,
                min_value=1,
                value=_in_units(name, held[name]),
                step=1,
                key=f"limit_{name}",
                help=f"{help_} The default is {defaults[name] // unit:,}.",
            )
        wanted[name] = int(typed) * unit
    changed = {name: value for name, value in wanted.items() if value != held[name]}
    _back_to(
        {f"limit_{name}": _in_units(name, defaults[name]) for name in LIMITS},
        "reset_limits",
        is_there=all(wanted[name] == defaults[name] for name in LIMITS),
    )
    st.caption(
        f"A browser can send {st.get_option('server.maxUploadSize')} MB per file; for larger files use the command "
        "line: dramaturg import."
    )
    stored = {name: None if value == defaults[name] else value for name, value in changed.items()}
    return Change("import limits", lambda: store.settings.set_limits(stored)) if changed else None


def _in_units(name: str, value: int) -> int:
    """A limit as its input shows it."""
    return max(1, value // LIMITS[name][1])


_MODES = {
    "live": "A model is asked: there is a key for it in the server's environment, or an address.",
    "recorded": "Recorded answers are played; no model is asked.",
    "offline": "No model is connected; the six computed metrics need none. Set OPENAI_API_KEY and start the server "
    "again, or fill in the address of a server of your own.",
}


def judge_settings(store: Store) -> Change | None:
    """The model, the address of its server and the limits of a run; what the environment says goes before them."""
    st.subheader("Model that judges", anchor=False)
    held = dict(store.settings.get(SETTINGS_KEY) or {})
    held_imports = store.settings.judges_imports()
    _tell(held)
    st.caption(
        "Keys come from the environment alone: they are neither stored nor shown. DRAMATURG_MODEL and OPENAI_BASE_URL "
        "override what is set here."
    )
    _test(store, held)
    usd = None if (limit := held.get("max_usd")) is None else float(limit)
    shown = {"judge_model": held.get("model"), "judge_address": held.get("base_url"), "judge_usd": usd}
    shown |= {"judge_calls": held.get("max_calls"), "judge_imports": held_imports}
    state.follow_stored("judge_shown", shown)
    left, right = st.columns(2)
    wanted: dict[str, object] = {
        "model": left.text_input(
            "Model", held.get("model"), key="judge_model", placeholder=f"default: {DEFAULT_MODEL}"
        ),
        "base_url": right.text_input(
            "Address of an OpenAI-compatible server",
            held.get("base_url"),
            key="judge_address",
            placeholder="for example http://localhost:11434/v1",
            help="Only for a model on your own server.",
        ),
        "max_usd": left.number_input(
            "Spending limit per run (USD)", 0.0, None, usd, key="judge_usd", placeholder="no limit"
        ),
        "max_calls": right.number_input(
            "Limit on calls per run", 0, None, held.get("max_calls"), key="judge_calls", placeholder="no limit"
        ),
    }
    imports = st.toggle(
        "Let the model read every game that is imported",
        held_imports,
        key="judge_imports",
        help="About one call for twenty messages. Only where there is a model to ask; off unless you switch it on.",
    )
    wanted = {name: value for name, value in wanted.items() if value is not None and value != ""}
    merged = {name: value for name, value in held.items() if name not in _FIELDS} | wanted

    def save() -> None:
        judge_config(stored=merged)
        store.settings.set(SETTINGS_KEY, merged)
        store.settings.set_judges_imports(imports)

    return Change("model that judges", save) if (merged, imports) != (held, held_imports) else None


_FIELDS = ("model", "base_url", "max_usd", "max_calls")


def _test(store: Store, held: dict[str, object]) -> None:
    """The price of having the model read labelled messages, the button that does it, and how well it read."""
    with refusal_told("The model was not tested.", ":material/error:"):
        config = judge_config(stored=held)
        if config.mode != "live":
            return
        with state.linked_box("Is this model a good reader?", "check_reader") as is_open:
            if not is_open:
                return
            st.caption(
                "It reads 60 messages of sample games that careful readers have labelled, with the prompts that it "
                "gets about your games. The rules were made on these games, too; the built-in reader beside them was "
                "not."
            )
            plain(f"{estimate_check(config, store.judgements)}.")
            if st.button("Test the connection", key="test_connection", icon=":material/play_arrow:"):
                identity.require(Action.EVALUATE)
                with st.spinner("The model reads", show_time=True):
                    st.session_state["reader_check"] = (config, check_reader(config, store.unguarded().judgements))
            asked, found = st.session_state.get("reader_check", (None, None))
            if asked == config and found is not None:
                plain(found.words)
                status_table(
                    found.rows, "How far the model, the rule and the built-in reader agree with careful readers"
                )


def _tell(held: dict[str, object]) -> None:
    with refusal_told("The judge's settings cannot be used."):
        config = judge_config(stored=held)
        st.text(_MODES[str(config.mode)])
        if config.mode == "live" or held.get("model"):
            key = "with a key" if has_key(config.model) else "no key"
            plain(f"Model: {config.model}, {config.base_url or 'at its provider'}, {key}.")


Thresholds = tuple[tuple[str, float], ...]
"""By metric; a tuple, so that it can be part of a cache's key."""


def metric_effects(store: Store, then: Thresholds) -> list[dict[str, str]]:
    """One row per metric, words only: threshold and passing games, now and with ``then``; nothing is stored."""
    with store.unit():
        summaries, metrics = store.transcripts.summaries(), store.results.metric_scores()
        now = store.settings.thresholds()
    found = [metrics[key] for key in summaries.loc[~simulated(summaries), "transcript_id"] if key in metrics]
    changed = now | dict(then)
    held = {name: [of[name] for of in found if name in of and of[name].score is not None] for name in DEFINITIONS}
    return [_metric_row(one, now[name], changed[name], held[name]) for name, one in DEFINITIONS.items()]


def _metric_row(definition: MetricDefinition, now: float, then: float, scored: Sequence[MetricScore]) -> dict[str, str]:
    before, after = (sum(status_by(one, limit) is Status.PASSED for one in scored) for limit in (now, then))
    change = after - before
    return {
        "Metric": definition.label,
        "Threshold now": threshold_text(now, definition.scale),
        "Then": threshold_text(then, definition.scale) if then != now else "the same",
        "Pass now": f"{before} of {counted(len(scored), 'scored game')}",
        "Would pass": f"{after} of {len(scored)}",
        # In words: a cell that begins with a sign would be taken for a formula.
        "Change": f"{abs(change)} {'more' if change > 0 else 'fewer'}" if change else "none",
    }


def scale_words(metric: str) -> str:
    """The range of a metric's threshold, with the rubric's own: "0 to 100 %; the rubric's is 80 %"."""
    definition = DEFINITIONS[metric]
    scale = definition.scale
    return f"From {scale.low:g} to {scale.high:g}; the rubric's is {score_text(definition.threshold, scale)}."
