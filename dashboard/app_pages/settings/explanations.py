"""The Guide's metrics and terms: what they mean, today's thresholds, and how far they can be trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import streamlit as st

from dashboard.shared import queries, resources
from dashboard.shared.formatting import SIGNS, threshold_text
from dashboard.shared.notices import plain
from dashboard.shared.page_links import gate_commands
from dashboard.shared.status_table import status_table
from evaluation.errors import InfrastructureError
from evaluation.files.bundled import shipped
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.score import MetricDefinition
from evaluation.text.display import listed
from evaluation.validity import MetricTrust, Trust, metric_trust

_SYMBOLS: Mapping[Trust, str] = {Trust.YES: "✓", Trust.WITH_CARE: "?", Trust.HARDLY: "✗"}


_ABOUT = """\
Dramaturg tells you whether a change of a prompt made your talking agents better.

1. **Add games.** Put the transcripts of one prompt version into an *iteration*; three games make a test.
2. **Six metrics are computed** for each game: memory accuracy, strategic depth, coherence, role consistency,
   personality diversity and anti-repetition. Rules read keywords; a small built-in model, the *reader*, decides rows of
   strategic depth and role consistency where it was found reliable; a language model that you connect reads whole
   games. Neither overrules what is proven, and a person has the last word.
3. **People rate the seventh, engagement,** from 1 to 5, without seeing scores or iterations.
4. **A game passes** if at least 5 of the 7 metrics pass, engagement is one of them, and it costs at most 3 USD.
5. **The Overview compares** the iteration with its reference: the iteration that it was changed from, else the
   last that was kept:
   - *Keep*: the mean of the metric that the change was made for rose, and at least as many metrics pass as before;
     what is no better than scrambled copies on one side counts on neither.
   - *Revert*: that mean did not rise, fewer metrics pass, or a game failed critically: too expensive, or rated below
     the threshold.
   - *Cannot be decided yet*: one side has fewer than 3 games, or a game is not rated.

   The rule goes by means alone; beside it stands whether luck could explain the difference.
6. **You decide,** and write down why. Every number on the way opens to the messages behind it.

**Agents** tells whether a simulated person stays in character: a model answers claims about what the person said.
**Experiments** plays conversations with corrections and without, or with two variants, and tells whether they differ.
"""


def about() -> None:
    """Dramaturg in ten lines, with the rule for keeping and reverting."""
    st.markdown(_ABOUT, width=720)


def metrics() -> None:
    """Each metric with its threshold, what it measures, and whether one can trust it."""
    thresholds = resources.read(resources.store().settings.thresholds)
    answers = metric_trust()
    st.markdown(_answer(answers))
    rows = [
        {
            "Metric": DEFINITIONS[one.metric].label,
            "Can you trust it?": "as far as raters agree"
            if one.metric == ENGAGEMENT.name
            else f"{_SYMBOLS[one.trust]} {one.trust}",
            **_checks(one),
        }
        for one in answers
    ]
    status_table(rows, "Each metric, whether it can be trusted, and the checks")
    st.caption(
        "Agrees with labels: how well it matches what careful language models say of games that it had not seen. Falls "
        "when destroyed: of 100 copies in which what it measures is destroyed, how many score lower; 50 is chance. "
        "✓ from 80, ✗ below 60; the worst one decides."
    )
    with st.container(gap="xsmall"):
        for one, trusted in zip(explained_metrics(), answers, strict=True):
            with st.expander(f"**{one.definition.label}** {one.text}"):
                st.caption(f"Passes with {threshold_text(thresholds[one.definition.name], one.definition.scale)}.")
                plain(one.exactly)
                st.markdown("**Can you trust it?** " + " ".join(trusted.sentences))


def _answer(answers: Sequence[MetricTrust]) -> str:
    """The metrics by how far they can be trusted: "High trust: Strategic depth and Anti-repetition. ..."."""
    computed = [one for one in answers if one.metric != ENGAGEMENT.name]
    by_trust = {trust: [DEFINITIONS[one.metric].label for one in computed if one.trust is trust] for trust in Trust}
    said = [f"**{str(trust).capitalize()}**: {listed(labels)}." for trust, labels in by_trust.items() if labels]
    return " ".join([*said, "**Engagement** is what people say: Team, Agreement shows how far they agree."])


def _checks(one: MetricTrust) -> dict[str, str]:
    """The checks of a metric, each with its own sign; a dash and the reason where there is none."""
    if one.metric == ENGAGEMENT.name:
        return dict.fromkeys(_CHECKS, "\u2013 people rate it")
    known, other = one.agrees or (None, None)
    shares = (known, other, one.notices)
    missing = ("only counts words", "only counts words", "no way to try")
    return {name: _check(share, why) for name, share, why in zip(_CHECKS, shares, missing, strict=True)}


_CHECKS = ("Agrees with labels", "In other kinds of games", "Falls when destroyed")


def _check(share: float | None, missing: str) -> str:
    return f"\u2013 {missing}" if share is None else f"{_SYMBOLS[Trust.of(share)]} {100 * share:.0f} of 100"


def words() -> None:
    """The glossary, by what its words are about."""
    wanted = st.text_input("Find a word", key="find_word", live=True).casefold().strip()
    groups = [
        (about, {"Word": word, "Meaning": meaning})
        for about, of_group in terms().items()
        for word, meaning in of_group
        if wanted in f"{word} {meaning}".casefold()
    ]
    if not groups:
        st.info("No term holds that.")
        return
    abouts, rows = zip(*groups, strict=True)
    status_table(rows, "The words and signs of the pages with their meaning", groups=abouts)


def in_ci() -> None:
    """Commands that end with an error where games or agents got worse: of this database, and the documentation's."""
    board = resources.share(queries.overview).board
    shown = next((one for one in reversed(board.iterations) if one.decision), None)
    if shown is not None and shown.decision is not None:
        st.subheader("This database, every night", anchor=False)
        st.code(gate_commands(shown.decision.reference, shown.iteration.name), language=None, wrap_lines=True)
    st.subheader("Games in a repository", anchor=False)
    st.markdown(_section("ci.md", "Games"))
    st.subheader("Agents", anchor=False)
    st.markdown(_section("ci.md", "Agents").partition("\n\n")[2].partition("\n\n|")[0])


def trace_formats() -> list[dict[str, str]]:
    """The documentation's table of the formats of traces and agent frameworks."""
    heads, *rows = _cells(_section("formats.md", "Traces and files of agent frameworks"))
    return [dict(zip(heads, row, strict=True)) for row in rows]


def _section(page: str, heading: str) -> str:
    """The text below a heading of a page of the documentation."""
    text = (shipped("docs") / page).read_text("utf-8")
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def _cells(text: str) -> list[list[str]]:
    """The rows of the tables in a text of the documentation, each as its cells, the heading first."""
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip().translate(_CODE_MARKS) for cell in row] for row in rows if set("".join(row)) != {"-"}]


_CODE_MARKS = str.maketrans("", "", "*`")
_SENTENCE_END = re.compile(r"(?<=[a-z\"])\.\s+(?=[A-Z\"])")
_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class ExplainedMetric:
    """A metric in the documentation's words.

    Attributes:
        text: What it measures, in a sentence.
        exactly: How it is computed.
    """

    definition: MetricDefinition
    text: str
    exactly: str


@cache
def explained_metrics() -> tuple[ExplainedMetric, ...]:
    """The seven metrics in the rubric's order.

    Raises:
        InfrastructureError: The documentation does not explain one of them; the installation is damaged.
    """
    text = (shipped("docs") / "metrics.md").read_text("utf-8")
    return tuple(ExplainedMetric(each, *_explanation(text, each)) for each in DEFINITIONS.values())


def _explanation(text: str, definition: MetricDefinition) -> tuple[str, str]:
    """The first sentence of the paragraph that begins with the metric's label, and the next ones."""
    found = re.search(rf"^\*\*{re.escape(definition.label)}\*\* \([^)]*\)\. (.*?)(?:\n\n|\Z)", text, re.S | re.M)
    if found is None:
        raise InfrastructureError(f"{definition.label} is not explained.", remedy="Install Dramaturg again.")
    plain = " ".join(found[1].translate(_CODE_MARKS).split())
    first, *others = _SENTENCE_END.split(plain)
    return f"{first.rstrip('.')}.", ". ".join(others[:_SENTENCES]).rstrip(".") + "."


@cache
def terms() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """The signs and words of the screens with their meaning: the glossary's groups but for the last, in its order."""
    groups = (shipped("docs") / "glossary.md").read_text("utf-8").split("\n## ")[1:-1]
    signs = {"Signs before verdicts and numbers": tuple(SIGNS.items())}
    return signs | {
        group.partition("\n")[0]: tuple((word, meaning) for word, meaning, *_ in _cells(group)[1:]) for group in groups
    }
