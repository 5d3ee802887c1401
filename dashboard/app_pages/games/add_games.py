"""Add games: read files, show what is in them, and import them into an iteration."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import PurePath

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.app_pages.games import found_games as parts
from dashboard.app_pages.games.found_games import Found, show_refusals
from dashboard.shared import queries, resources, state
from dashboard.shared.changes import note_deleted
from dashboard.shared.formatting import duration_text
from dashboard.shared.identity import identity
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.job_status import job_history
from dashboard.shared.local_time import local_time
from dashboard.shared.notices import LONGEST_TEXT, plain, tell_beyond, tell_fault, words_of
from dashboard.shared.page_links import OVERVIEW_PAGE, first_steps, guide_link, transcript_link
from dashboard.shared.status_table import csv_download, json_download, status_table
from dashboard.shared.upload_questions import (
    FORMATS,
    chosen_answers,
    chosen_columns,
    column_editor,
    forget_answers,
    question_editor,
)
from evaluation.access import Action
from evaluation.errors import ConflictError, InputError
from evaluation.escaping import cut
from evaluation.iterations.game_tests import LONGEST_NAME
from evaluation.iterations.iteration import MAX_NAME_LENGTH, Iteration
from evaluation.readers.import_report import ImportOutcome, ImportReport, ReportLine
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT, score_words
from evaluation.store import Store
from evaluation.text.display import counted
from evaluation.writers import counts_words


def add_games(store: Store) -> bool:
    """Files to drop or text to paste, what is in them, and where the games belong; whether there is any to look at."""
    limits = resources.read(store.settings.limits)
    # Before there are files: what was typed comes back before the form below is drawn.
    for key in (_FILES, *_TYPED):
        state.keep_begun(key)
    state.keep_begun(_TARGET, DEFINITIONS)
    steps = st.empty()
    dropped, typed = st.columns(2, gap="medium")
    with dropped, st.container(key="drop_zone"):
        files = st.file_uploader(
            "Games of one prompt version: files or zips",
            accept_multiple_files=True,
            key=f"files_{_upload_round()}",
            on_change=_note_files,
            help=parts.size_words(limits, int(st.get_option("server.maxUploadSize"))),
        )
    pasted = typed.text_area(
        "Or paste a game",
        key=_PASTE,
        height=128,
        placeholder="Ann: I think Bob lied in round 1.",
        persist_state="session",
    )
    given = [(file.name, file.getvalue()) for file in files]
    if pasted.strip():
        given.append((_PASTED, pasted.encode("utf-8", "replace")))
    _show_steps(steps, 1 if given else 0)
    if not given:
        resources.forget_files()
        forget_answers()
        _nothing_chosen(store)
        return False
    with parts.reading(len(given)) as progress:
        results = resources.read_files(given, limits, chosen_columns(), chosen_answers(), progress)
    column_editor(results)
    question_editor(results)
    found = parts.Found.of(results, resources.read(queries.transcript_ids))
    new = [game.transcript for game in found.new if game.transcript is not None]
    ids = tuple(game.id for game in new)
    parts.show_found(found, resources.once(queries.near_copies, ids, store, new) if new else {})
    note_deleted(list(ids))
    if found.new:
        is_ready = _store_them(store, found)
        # While a question is open, the games that wait for it are not stored.
        _show_steps(steps, 1 if found.waiting else 3 if is_ready else 2)
    else:
        _nothing_new(found)
    return True


def _show_steps(place: DeltaGenerator, at: int) -> None:
    """Draws the line of steps; the one that the page is ``at`` is bold."""
    place.caption(" → ".join(f"**{one}**" if number == at else one for number, one in enumerate(_STEPS)))


_STEPS = ("1 Choose games", "2 Look at what was found", "3 Say where they belong", "4 Score and store")


def _nothing_chosen(store: Store) -> None:
    if names := st.session_state.get(_FILES):
        st.warning("Choose these files again: a browser does not keep them. What you typed is kept.")
        plain(names)
    st.subheader("What can be read", anchor=False)
    for column, (kind, formats) in zip(st.columns(len(FORMATS)), FORMATS.items(), strict=True):
        column.markdown(f"**{kind}**  \n{formats}")
    guide_link("All formats, with examples", state.FORMATS)
    reports = resources.read(queries.import_reports)
    _just_added(reports)
    if not resources.read(queries.transcript_ids):
        st.caption("Nothing at hand? Look around with the sample games.", text_alignment="center")
        first_steps("upload")
    earlier_imports(reports)
    job_history(store)


_MOST_LINKED = 12


def _just_added(reports: Sequence[ImportReport]) -> None:
    """The import that this session began, with a link to each game; nothing before one was begun."""
    report = next((one for one in reports if one.id == st.session_state.get(_BEGUN)), None)
    if report is None:
        return
    with st.container(gap="small"):
        st.markdown(f"**{_state_words(report)}**")
        if report.seconds is None:
            return
        _compare_button(report.iteration)
        names = resources.read(resources.store().transcripts.game_names)
        added = [line.transcript_id for line in report.lines if line.outcome is ImportOutcome.STORED]
        for key in [one for one in added if one in names][:_MOST_LINKED]:
            with st.container(horizontal=True, vertical_alignment="center"):
                plain(names[key])
                transcript_link("Open the game", transcript=key)
        if len(added) > _MOST_LINKED:
            st.caption(f"The first {_MOST_LINKED} of {len(added):,}; all stand in the list.")
        show_refusals(report.refused)


def _compare_button(name: str | None) -> None:
    """The next step after an import: the comparison of its iteration, where that has a reference."""
    summaries = {one.iteration.name: one for one in resources.share(queries.overview).board.iterations}
    if name in summaries and summaries[name].decision is not None:
        # A label draws Markdown, and the name is untrusted.
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(cut(name, LONGEST_NAME), width="content")
            if st.button("Compare", type="primary", icon=":material/compare_arrows:", key="compare_imported"):
                st.switch_page(OVERVIEW_PAGE, query_params={state.ITERATION: name})


def _nothing_new(found: parts.Found) -> None:
    first = "Nothing is stored before the questions above are answered." if found.waiting else "Nothing new to store."
    st.info(f"{first} The report on these files can be saved.")
    save_buttons(found.report)


_FILES, _PASTE, _NAME, _CHANGE, _PROMPT, _TARGET = (
    "files_named",
    "paste",
    "new_name",
    "new_change",
    "new_prompt",
    "new_target",
)
_TYPED = (_PASTE, _NAME, _CHANGE, _PROMPT)
_PROPOSED = "name_proposed"


def _note_files() -> None:
    """Keeps the names of the chosen files, which neither a browser nor another page keeps; a widget callback."""
    names = [file.name for file in st.session_state[f"files_{_upload_round()}"]]
    more = [f"and {len(names) - _MOST_LINKED:,} more"] if len(names) > _MOST_LINKED else []
    st.session_state[_FILES] = "\n".join([*names[:_MOST_LINKED], *more])


def _upload_round() -> int:
    """The number of imports that this session began, which keeps its uploaders apart."""
    return int(st.session_state.get("upload_round", 0))


def _store_them(store: Store, found: parts.Found) -> bool:
    """The form that says where the games belong, with the button that stores them; whether all is said."""
    st.subheader("Where do they belong?", anchor=False)
    plan = iteration_form(
        resources.read(queries.iteration_sizes),
        len(found.new),
        resources.read(store.settings.test_size),
        resources.read(queries.next_parent),
        [game.name for game in found.new],
    )
    is_busy = jobs.running(store, jobs.EVALUATE) is not None
    with st.container(key="store_actions"):
        is_pressed = st.button(
            f"Score and store {f'{len(found.new)} of ' * bool(found.waiting)}"
            f"{counted(len(found.new) + found.waiting, 'game')}",
            type="primary",
            icon=":material/play_arrow:",
            key="start",
            disabled=is_busy or plan is None,
        )
    if is_pressed and plan is not None:
        _begin(store, found, plan)
    if is_busy:
        st.caption("Games are being scored already; the next ones can start when that is done.")
    return plan is not None


def _begin(store: Store, found: parts.Found, plan: Iteration | str) -> None:
    try:
        begin(store, found, plan)
    except (ConflictError, InputError) as error:
        st.error("That iteration cannot be used.", icon=":material/error:")
        plain(words_of(error))
        return
    # A new key empties the uploader, so that the same files are not offered again.
    st.session_state["upload_round"] = _upload_round() + 1
    state.choose(**{state.CHANGED_FROM: None})
    state.choose_next(**dict.fromkeys((_FILES, *_TYPED), ""), **{_TARGET: None})


_PASTED = "pasted.txt"
_NUMBER = re.compile(r"[\s\-_.(#]*\d*$")
_KINDS_OF_FILE = {"chat", "conversation", "discussion", "export", "game", "games", "log", "match", "run", "transcript"}
_NONE, _OLD, _NEW = "No iteration", "An existing one", "A new one"


def iteration_form(
    sizes: Mapping[str, int], added: int, test_size: int, parent: str | None, files: Sequence[str] = ()
) -> Iteration | str | None:
    """The iteration to create, the name of one that exists or "" for none; ``None`` while a new one has no name.

    Args:
        sizes: How many games each iteration has, in the order of the iterations.
        added: How many games are about to join.
        test_size: How many games make a test.
        parent: What a new one is changed from, unless somebody says otherwise.
        files: The names of their files, from which a name for the iteration is proposed.
    """
    names = list(sizes)
    choices = [_NEW, _OLD, _NONE] if names else [_NEW, _NONE]
    choice = st.segmented_control("Iteration", choices, default=_NEW, required=True, key="where")
    if choice == _NONE:
        st.caption("Games without an iteration are scored, but neither tested nor compared.")
        return ""
    if choice == _OLD:
        existing = st.selectbox("Which", names, index=len(names) - 1, key="existing")
        st.caption(test_words(sizes[existing], added, test_size))
        return str(existing)
    st.caption(test_words(0, added, test_size))
    proposed, before = proposed_name(files, names), st.session_state.get(_PROPOSED, "")
    if proposed != before and (st.session_state.get(_NAME) or "") in ("", before):
        state.set_widgets({_NAME: proposed})
    st.session_state[_PROPOSED] = proposed
    return _new_iteration(names, parent)


def proposed_name(files: Sequence[str], taken: Collection[str]) -> str:
    """The name that the files of an iteration share: "prompt-v5" of prompt-v5-1.json and prompt-v5-2.json, else ""."""
    stems = {PurePath(name.partition("/")[0]).stem for name in files} - {PurePath(_PASTED).stem}
    shared = "".join(
        letters[0] for letters in takewhile(lambda letters: len(set(letters)) == 1, zip(*stems, strict=False))
    )
    # Numbers at the end tell games apart, not iterations.
    shared = _NUMBER.sub("", shared) if len(stems) > 1 else shared
    says_nothing = len(shared) < 3 or shared.casefold() in _KINDS_OF_FILE
    return "" if says_nothing or shared in taken else shared[:MAX_NAME_LENGTH]


def test_words(before: int, added: int, size: int) -> str:
    """The effect of the games on the iteration's tests.

    "A test is 3 games of one iteration. With these 4 games it has 7: 2 full tests, 1 of 3 games for the next."
    """
    after = before + added
    full, rest = divmod(after, size)
    total = "" if not before else f" it has {after}:"
    full_words = counted(full, "full test") if full else "no full test yet"
    rest_words = f", {rest} of {counted(size, 'game')} for the next" if rest else ""
    return (
        f"A test is {counted(size, 'game')} of one iteration; the checklist asks for 3 passing tests in a row. "
        f"With {'this game' if added == 1 else f'these {added:,} games'}{total or ':'} {full_words}{rest_words}."
    )


def _new_iteration(names: list[str], kept: str | None) -> Iteration | None:
    left, right = st.columns(2)
    with left:
        name = state.begun_text("Name", _NAME, placeholder="For example: shorter prompt").strip()
        fault = _name_fault(name)
        change = state.begun_text("The one change that was made", _CHANGE)
        if not change.strip():
            st.caption("Without it, nobody can see later what was changed.")
        is_refused = tell_beyond(change, LONGEST_TEXT, "change") or fault
    with right:
        parent = state.select_linked(
            "Changed from",
            ["", *names],
            lambda name: name or "nothing, it is the first",
            parameter=state.CHANGED_FROM,
            key="new_parent",
            at_first=kept,
        )
        target = st.selectbox(
            "Target metric",
            [None, *DEFINITIONS],
            format_func=lambda metric: DEFINITIONS[metric].label if metric else "none in particular",
            key=_TARGET,
            persist_state="session",
        )
        if words := _target_words(parent, target):
            st.caption(words)
    placeholder = "Optional; shown beside the scores"
    prompt = st.text_area("Prompt text", key=_PROMPT, height=80, placeholder=placeholder, persist_state="session")
    return None if is_refused else Iteration(name, 0, parent or None, prompt, change, target)


def _target_words(reference: str, target: str | None) -> str:
    """Tells what decides without a target, or that the target cannot rise; no score where it is hidden."""
    summaries = resources.share(queries.overview).board.iterations
    shown = next((one for one in summaries if one.iteration.name == reference), None)
    games = [game.transcript_id for game in shown.games] if shown else []
    is_hidden = bool(identity.hidden_games(resources.store(), identity.author_name(), games))
    lowest = shown.lowest if shown and not is_hidden else None
    if target is None:
        named = f": {DEFINITIONS[lowest].label}" if lowest else ""
        needs = ", which needs a rating of every game on both sides" if lowest == ENGAGEMENT.name else ""
        return f"Without a target the lowest metric of the reference decides{named}{needs}."
    metric, score = DEFINITIONS[target], shown.means[target].score if shown and not is_hidden else None
    if score is None or score < metric.scale.high:
        return ""
    return f"⚠ {metric.label} is at {score_words(metric, score)} there: it cannot rise, only a fall can be seen."


def _name_fault(name: str) -> bool:
    """Says below its input why no iteration can get the name now; whether there is such a reason."""
    if not name:
        st.caption("Give the iteration a name.")
        return True
    try:
        resources.store().iterations.require_new(name)
    except (ConflictError, InputError) as error:
        tell_fault(words_of(error), "name")
        return True
    return False


def begin(store: Store, found: Found, plan: Iteration | str) -> None:
    """Creates the iteration where it is new, keeps the report, and starts to score and store the games.

    Raises:
        ConflictError: The name is taken, or games are being scored already; nothing is kept then.
        NotAllowedError: This person may not add games.
    """
    identity.require(Action.ADD)
    if isinstance(plan, Iteration):
        text, target = plan.prompt_text, plan.target_metric
        plan = store.iterations.create(
            plan.name, parent=plan.parent, prompt_text=text, change=plan.change, target_metric=target
        ).name
    report = replace(found.report, iteration=plan or None, started_at=datetime.now(UTC))
    st.session_state[_BEGUN] = report.id
    games = [(game.transcript, game.name) for game in found.new if game.transcript]
    jobs.start_evaluation(store, games, report)


_BEGUN = "import_begun"
_MOST_ROWS = 2000
_MARKS = {ImportOutcome.STORED: "✓", ImportOutcome.REFUSED: "✗", ImportOutcome.NOT_STORED: "…"}


def earlier_imports(reports: Sequence[ImportReport]) -> None:
    """The latest imports, one of them opened; nothing when there was none."""
    if not reports:
        return
    st.subheader("Earlier imports", anchor=False)
    chosen = st.selectbox(
        "Import",
        reports,
        format_func=report_title,
        key="import_report",
        label_visibility="collapsed",
        help="The latest hundred, from this page and the command line.",
    )
    # The title of an import that goes on changes when it ends, and with it what was chosen.
    report = chosen if chosen in reports else reports[0]
    if report.iteration is not None:
        plain(f"Into the iteration: {report.iteration}")
    st.caption(_state_words(report))
    save_buttons(report)
    show_refusals(report.refused)
    rows = [_row(line) for line in report.lines[:_MOST_ROWS]]
    status_table(rows, "Every file of the import and what became of it")
    if len(report.lines) > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS:,} of {len(report.lines):,}; a saved report has all.")


def report_title(report: ImportReport) -> str:
    """An import in a list: "2026-01-31 12:00, upload: 3 stored, 1 refused"; words of our own only."""
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in report.counts.items() if count) or "no file"
    state = "going on" if report.seconds is None else counts
    # Seconds keep two imports of one minute apart.
    return f"{local_time(report.started_at)}, {report.source}: {state}"


def _state_words(report: ImportReport) -> str:
    if report.seconds is None:
        return f"Scoring {counted(report.counts[ImportOutcome.NOT_STORED], 'game')} ..."
    return f"{counts_words(report)} It took {duration_text(report.seconds)}."


def save_buttons(report: ImportReport) -> None:
    """Buttons that save the report as a file."""
    name = f"import-{report.started_at:%Y%m%d-%H%M%S}"
    with st.container(horizontal=True):
        json_download("Save as JSON", report.as_dict, f"{name}.json")
        csv_download("Save as CSV", lambda: [_row(line) for line in report.lines], f"{name}.csv")


def _row(line: ReportLine) -> dict[str, object]:
    return {
        "Result": f"{_MARKS.get(line.outcome, '–')} {line.outcome}",
        "File": line.name,
        "Recognised as": line.format,
        "Players": line.players,
        "Messages": line.messages,
        "Remark": " ".join(filter(None, (line.message, line.place, line.remedy))),
    }
