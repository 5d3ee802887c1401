"""Start evaluations of agents."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.shared import personas, resources
from dashboard.shared.jobs.judging_form import judge_in_force, limit_inputs, start_judging
from dashboard.shared.jobs.judging_jobs import PersonaOrder
from dashboard.shared.notices import plain
from dashboard.shared.personas import SelectableAgent
from evaluation.judging.propositions import Dimension
from evaluation.persona.dimensions import DIMENSIONS, LABELS
from evaluation.persona.evaluation import DEFAULT_SAMPLE_SIZE
from evaluation.store import Store


def evaluate(store: Store, found: Sequence[SelectableAgent], person: SelectableAgent) -> None:
    """A button that opens the form that starts an evaluation of agents."""
    with st.popover("Evaluate agents", icon=":material/play_arrow:", type="primary"):
        config = judge_in_force(
            store,
            "There is no key and no address of a model, so rules judge: they score fluency, voice distinctness and "
            "consistency by counting, and say of everything else that it needs a model. For a model, set "
            "OPENAI_API_KEY or OPENAI_BASE_URL and start the server again, or enter an address under Settings.",
        )
        if config is None:
            return
        for sentence in resources.read(personas.told_of_names):
            plain(sentence)
        _persona_form(store, found, person)


def _persona_form(store: Store, found: Sequence[SelectableAgent], person: SelectableAgent) -> None:
    names = {one.id: one.name for one in found}
    with st.form("run_personas", border=False):
        agents = st.multiselect(
            "Agents", list(names), [person.id], format_func=lambda key: names[key], key="run_agents"
        )
        dimensions = st.pills(
            "Dimensions",
            list(DIMENSIONS),
            selection_mode="multi",
            default=list(DIMENSIONS),
            format_func=LABELS.__getitem__,
            key="run_dimensions",
        )
        size = st.number_input(
            "Messages to judge, at most", 1, 10_000, DEFAULT_SAMPLE_SIZE, key="run_size", help="Of each agent."
        )
        seed = st.number_input("Random seed", 0, 2**31 - 1, 0, key="run_seed")
        with_simulated = st.toggle(
            "Include simulated conversations",
            False,
            key="run_simulated",
            help="Evaluations leave them out otherwise.",
        )
        limits = limit_inputs("personas")
        is_batched = st.toggle(
            "Batch questions",
            True,
            key="batched_personas",
            help="Up to ten in one call of the model: cheaper, a little less exact.",
        )
        if st.form_submit_button("Start", type="primary", icon=":material/play_arrow:", key="start_personas"):
            if agents and dimensions:
                chosen = [Dimension(each) for each in dimensions]
                start_judging(
                    store,
                    PersonaOrder(
                        agents=agents,
                        dimensions=chosen,
                        sample_size=size,
                        seed=seed,
                        with_simulated=with_simulated,
                        is_batched=is_batched,
                        **limits,
                    ),
                )
            else:
                st.warning("Choose at least one agent and one dimension.")
