"""The ledger of a metric: every row behind its score, those that count and those that were left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard.app_pages.games.ledger_row import choose_message, ledger_row
from dashboard.app_pages.games.override_form import orphaned_overrides, row_key
from dashboard.shared import state
from dashboard.shared.formatting import fraction_text, look
from dashboard.shared.notices import plain
from dashboard.shared.queries import OpenTranscript
from dashboard.shared.status_table import open_below
from evaluation.rubric.at_chance import control_words
from evaluation.rubric.definitions import score_words
from evaluation.score import LedgerRow, MetricResult, RowVerdict, Status, failure_beyond_score
from evaluation.text.display import shortened
from evaluation.text.tokens import pattern, sentences
from evaluation.transcript import Message, Transcript

_VERDICT = "rows_that"
_ROW, _ALIKE = "row", "alike"
_ANY = "all"
_MOST_ROWS = 500
_LONGEST = 200


def show_ledger(metric: str) -> None:
    """Makes the page show all rows of a metric. A widget callback."""
    st.session_state[state.VIEW] = state.LEDGER
    st.session_state[_VERDICT] = _ANY
    state.choose(metric=metric)


def ledger_metric(opened: OpenTranscript) -> str | None:
    """The metric whose rows are shown: the one that the reader came for, else the first that fails, else the first."""
    failed = (name for name, outcome in opened.results.items() if outcome.status is Status.FAILED)
    return state.chosen(state.METRIC, opened.results) or next(iter((*failed, *opened.results)), None)


def ledger_table(opened: OpenTranscript) -> None:
    """The rows of one metric as a table, by verdict; a selected row whole, with the way to its message."""
    metric = ledger_metric(opened)
    if metric is None:
        st.info("No metric of this game has rows to show.")
        return
    result = opened.results[metric]
    _score(result)
    orphaned_overrides(opened.transcript)
    if not result.ledger:
        st.info("This metric considered nothing in this game.")
        return
    verdict = _pick_verdict(result)
    rows = by_message([row for row in result.ledger if verdict in (_ANY, row.verdict)])
    if not rows:
        st.info("No row has that verdict.")
        return
    _lines(opened, rows)


def by_message(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """The rows with those of a message together: first the messages that fail, last those of which nothing counts."""
    order = (RowVerdict.DOES_NOT_COUNT, RowVerdict.COUNTS, RowVerdict.EXCLUDED)
    places = [(order.index(row.verdict), place, row) for place, row in enumerate(rows)]
    best: dict[str | None, tuple[int, int]] = {}
    for rank, place, row in sorted(places, key=lambda one: one[:2]):
        best.setdefault(row.message_id or row.id, (rank, place))
    return [row for *_, row in sorted(places, key=lambda one: (*best[one[2].message_id or one[2].id], *one[:2]))]


def _score(result: MetricResult) -> None:
    """The counts behind the score, its reader, and its comparison with scrambled copies."""
    evidence = result.coverage.words if result.coverage else ""
    fraction = fraction_text(result.numerator, result.denominator, result.definition) if result.denominator else ""
    if result.score is not None and not fraction:
        fraction = (
            f"{score_words(result.definition, result.score)}, which the rubric gives where nothing was considered"
        )
    # With a score, the reason repeats its fraction.
    reason = result.reason if result.score is None or failure_beyond_score(result) else ""
    # The rule's own note repeats the counts of the coverage, a note may repeat the reason why there is no score. Notes
    # name players and models, so they stand as plain text.
    counts = result.definition.note(result.ledger) if evidence and result.definition.note else ""
    notes = [note for note in result.notes if note not in (counts, result.reason)]
    beside = control_words(result.name, result.score, result.control)
    parts = [part for part in (fraction or "no score", evidence, reason, *notes, result.reading_words, beside) if part]
    told = " ".join(f"{part[0].upper()}{part[1:].rstrip('.')}." for part in parts)
    plain(f"{result.definition.label}: {told}")


def _pick_verdict(result: MetricResult) -> str:
    number = Counter({_ANY: len(result.ledger)}) + Counter(str(row.verdict) for row in result.ledger)
    return state.choose_part(
        [_ANY, *(str(verdict) for verdict in RowVerdict)],
        key=_VERDICT,
        label="Rows",
        words=lambda name: f"{name if name == _ANY else look(name).label} ({number[name]:,})",
    )


def _lines(opened: OpenTranscript, rows: Sequence[LedgerRow]) -> None:
    """The rows, a line each; the one that is chosen is opened below its line."""
    shown, transcript = rows[:_MOST_ROWS], opened.transcript
    if len(rows) > len(shown):
        st.caption(f"The first {len(shown)} of {len(rows):,} are shown; the others with dramaturg show --metric.")
    entries = folded(shown)
    keys = [[row_key(transcript.id, row) for row in entry] for entry in entries]
    groups = [f"{_ALIKE} {own[0]}" if len(own) > 1 else own[0] for own in keys]
    wanted = state.chosen(_ROW, [*groups, *(key for own in keys for key in own)])
    pairs = zip(groups, keys, strict=True)
    place = next((at for at, (group, own) in enumerate(pairs) if wanted in (group, *own)), None)

    def draw() -> None:
        held, own = entries[place or 0], keys[place or 0]
        if len(held) == 1:
            _whole(opened, held[0])
            return
        at = own.index(wanted) if wanted in own else None
        # Their reason stands above them.
        alike = pd.DataFrame(ledger_rows(held, transcript)).drop(columns="Reason")
        pressed = open_below(alike, "Rows with this reason", _ALIKE, at, lambda: _whole(opened, held[at or 0]))
        if pressed is not None:
            state.choose(**{_ROW: groups[place or 0] if pressed == at else own[pressed]})
            st.rerun()

    lines = [_folded_line(entry, ledger_rows(entry[:1], transcript)[0]) for entry in entries]
    clicked = open_below(lines, "Rows of the ledger", "ledger", place, draw)
    if clicked is not None:
        state.choose(**{_ROW: None if clicked == place else groups[clicked]})
        st.rerun()


def _whole(opened: OpenTranscript, row: LedgerRow) -> None:
    ledger_row(opened, row, row.message_id, "ledger")
    if row.message_id:
        args = (opened.transcript.id, row.message_id, row.metric)
        st.button("Show it in the conversation", key="show_in_conversation", on_click=choose_message, args=args)


def folded(rows: Sequence[LedgerRow]) -> list[list[LedgerRow]]:
    """The rows, each alone but for those that do not count: they stand together, last, by their reason."""
    alike: dict[str, list[LedgerRow]] = {}
    for row in rows:
        if row.verdict is RowVerdict.EXCLUDED:
            alike.setdefault(row.reason, []).append(row)
    groups = sorted(alike.values(), key=len, reverse=True)
    return [[row] for row in rows if row.verdict is not RowVerdict.EXCLUDED] + groups


def _folded_line(held: Sequence[LedgerRow], first: dict[str, object]) -> dict[str, object]:
    if len(held) == 1:
        return first
    return first | {"Message": f"{len(held)} rows, first: {first['Message']}", "What was said": ""}


def ledger_rows(rows: Sequence[LedgerRow], transcript: Transcript) -> list[dict[str, object]]:
    """Rows by column: ``Message`` (its number from 1, speaker and round; the player or words of a row of no message),
    ``Verdict``, ``Reason``, and ``What was said`` around the evidence.
    """
    return [_line(row, transcript.message(row.message_id or "")) for row in rows]


def _line(row: LedgerRow, message: Message | None) -> dict[str, object]:
    found = [evidence.text for evidence in row.evidence]
    words = shortened(_from_sentence(message.text, found) if message else "; ".join(found), _LONGEST)
    who = row.player or (message.speaker if message else words)
    if message:
        who = f"{message.index + 1} {who}" + ("" if message.round is None else f" · round\u00a0{message.round}")
    return {"Message": who, "Verdict": look(row.verdict).label, "Reason": row.reason, "What was said": words}


def _from_sentence(text: str, found: Sequence[str]) -> str:
    """The text from the sentence on that holds the first of the words: alone, few can be judged."""
    place = min((match.start() for words in found if (match := re.search(pattern(words), text))), default=0)
    return text[max(start for start, _ in [(0, 0), *sentences(text)] if start <= place) :]
