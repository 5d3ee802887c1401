import streamlit as st

from dashboard import jobs, queries, resources
from dashboard.components import upload_parts as parts
from dashboard.components.job_status import job_history
from dashboard.components.messages import plain
from dashboard.components.sample_button import first_steps
from dashboard.formatting import counted
from evaluation.errors import ConflictError, InputError

store = resources.store()
st.markdown(
    "Drop the games of one prompt version here: Dramaturg's own JSON, logs of LLMafia, llm-werewolf, werewolf-gpt, "
    "AIWolf, Autobox, TinyTroupe or Inspect, OpenAI or ShareGPT chats, ConvoKit corpora, tables of "
    "messages, or zips of these. The format is recognised by the content. You see every game before anything is stored."
)
files = st.file_uploader(
    "Transcript files or zips",
    accept_multiple_files=True,
    key=f"files_{st.session_state.get('upload_round', 0)}",
    help="Up to 64 MB a zip, 20 MB a file, 50,000 messages a game.",
)
if not files:
    resources.forget_files()
    if not resources.read(queries.transcript_ids):
        st.caption("Nothing at hand? Look around with the sample games.")
        first_steps("upload")
    job_history(store)
    st.stop()

with st.spinner(f"Reading {counted(len(files), 'file')}"):
    found = parts.read_all([(file.name, file.getvalue()) for file in files], resources.read(queries.transcript_ids))
parts.show_found(found)
if not found.new:
    st.info("Nothing new to store.")
    st.stop()

st.subheader("Where do they belong?", anchor=False)
plan = parts.iteration_form(resources.read(queries.iteration_names))
is_busy = jobs.running(store, jobs.EVALUATE) is not None
if st.button(
    f"Score and store {counted(len(found.new), 'game')}",
    type="primary",
    icon=":material/play_arrow:",
    key="start",
    disabled=is_busy or plan is None,
):
    try:
        iteration = parts.make_iteration(store, plan)
        jobs.start_evaluation(store, [(game.transcript, game.name) for game in found.new], iteration)
    except (ConflictError, InputError) as error:
        st.error("That iteration cannot be used.", icon=":material/error:")
        plain(str(error))
    else:
        # A new key empties the uploader, so that the same files are not offered again.
        st.session_state["upload_round"] = st.session_state.get("upload_round", 0) + 1
        st.rerun()
if is_busy:
    st.caption("Games are being scored already; the next ones can start when that is done.")
