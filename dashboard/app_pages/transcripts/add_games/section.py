"""Add games: read files, show what is in them, and import them into an iteration."""

from dataclasses import replace

import streamlit as st

from dashboard.app_pages.transcripts.add_games import found_games as parts
from dashboard.app_pages.transcripts.add_games import plan as upload_plan
from dashboard.app_pages.transcripts.add_games.import_reports import earlier_imports, save_buttons
from dashboard.shared import queries, resources
from dashboard.shared.changes.actions import note_deleted
from dashboard.shared.column_mapping import chosen_columns, column_editor
from dashboard.shared.first_run import first_run_guide, first_steps
from dashboard.shared.jobs import jobs
from dashboard.shared.jobs.job_status import job_history
from dashboard.shared.notices import plain
from dashboard.shared.open_questions import chosen_answers, forget_answers, question_editor
from evaluation.errors import ConflictError, InputError
from evaluation.store import Store
from evaluation.text.display import counted


def add_games(store: Store) -> bool:
    """Files to drop, what is in them, and where the games belong; whether there are files to look at."""
    limits = resources.read(queries.import_limits)
    st.markdown(
        "Drop the games of one prompt version here: plain text, logs of games and of agent frameworks, traces, "
        "exported chats, tables of messages, or zips of these. The format is recognised by the content, and the Guide "
        "lists all. You see every game before anything is stored."
    )
    files = st.file_uploader(
        "Transcript files or zips",
        accept_multiple_files=True,
        key=f"files_{st.session_state.get('upload_round', 0)}",
        help=parts.size_words(limits, int(st.get_option("server.maxUploadSize"))),
    )
    if not files:
        resources.forget_files()
        forget_answers()
        _nothing_chosen(store)
        return False
    with parts.reading(len(files)) as progress:
        given = [(file.name, file.getvalue()) for file in files]
        results = resources.read_files(given, limits, chosen_columns(), chosen_answers(), progress)
    column_editor(results)
    question_editor(results)
    found = parts.Found.of(results, resources.read(queries.transcript_ids))
    parts.show_found(found)
    note_deleted([game.transcript.id for game in found.new if game.transcript is not None])
    if found.new:
        _store_them(store, found)
    else:
        _nothing_new(store, found)
    return True


def _nothing_chosen(store: Store) -> None:
    if not resources.read(queries.transcript_ids):
        st.caption("Nothing at hand? Look around with the sample games.", text_alignment="center")
        first_steps("upload")
        first_run_guide()
    else:
        st.page_link(
            "app_pages/guide/page.py",
            label="Which shape do files need?",
            icon=":material/description:",
            query_params={"guide_view": "Transcripts"},
        )
    earlier_imports(resources.read(queries.import_reports))
    job_history(store)


def _nothing_new(store: Store, found: parts.Found) -> None:
    st.info("Nothing new to store. The report on these files can be saved, or kept among the imports here.")
    save_buttons(found.report, "nothing_new")
    if st.button("Keep the report", key="keep_report", icon=":material/playlist_add_check:"):
        store.imports.save(replace(found.report, seconds=0.0))
        st.toast("The report is among the earlier imports.")


def _store_them(store: Store, found: parts.Found) -> None:
    st.subheader("Where do they belong?", anchor=False)
    plan = upload_plan.iteration_form(
        resources.read(queries.iteration_sizes), len(found.new), resources.read(queries.games_per_test)
    )
    is_busy = jobs.running(store, jobs.EVALUATE) is not None
    is_pressed = st.button(
        f"Score and store {counted(len(found.new), 'game')}",
        type="primary",
        icon=":material/play_arrow:",
        key="start",
        disabled=is_busy or plan is None,
    )
    if is_pressed and plan is not None:
        _begin(store, found, plan)
    if is_busy:
        st.caption("Games are being scored already; the next ones can start when that is done.")


def _begin(store: Store, found: parts.Found, plan: upload_plan.UploadPlan) -> None:
    try:
        upload_plan.begin(store, found, plan)
    except (ConflictError, InputError) as error:
        st.error("That iteration cannot be used.", icon=":material/error:")
        plain(str(error))
        return
    # A new key empties the uploader, so that the same files are not offered again.
    st.session_state["upload_round"] = st.session_state.get("upload_round", 0) + 1
    st.rerun()
