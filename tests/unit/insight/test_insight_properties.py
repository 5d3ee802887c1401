"""What holds for any discussion: renaming changes names only, samples grow with their rate, quotes are found again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.insight._questions import QuoteItem, QuotesAnswer, TextPart, parts_of
from evaluation.insight.extraction import Quote, message_sentiment, quotes_in
from evaluation.insight.metrics import interaction_graph, network_metrics
from evaluation.insight.validator import drawn_sample
from evaluation.transcript import Message

NAMES = ["A", "B", "C", "D", "E", "F"]
WORDS = ["Rye", "bread,", "is", "(very)", "“good”", "–", "and", "ÉCLAIRS:", "too!", "3.5"]
COUNTS = st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), st.integers(0, 9), max_size=20)


@given(COUNTS, st.permutations(NAMES))
def test_renaming_players_changes_their_names_only(counts: dict[tuple[str, str], int], order: list[str]) -> None:
    new = dict(zip(NAMES, order, strict=True))
    before = network_metrics(interaction_graph(NAMES, counts))
    renamed = {(new[sender], new[receiver]): count for (sender, receiver), count in counts.items()}
    after = network_metrics(interaction_graph([new[name] for name in NAMES], renamed))
    assert (before.edges, before.components, before.measured_nodes) == (
        after.edges,
        after.components,
        after.measured_nodes,
    )
    assert before.clustering_coefficient == pytest.approx(after.clustering_coefficient)
    for name in NAMES:
        assert before.centrality[name].betweenness == pytest.approx(after.centrality[new[name]].betweenness)


@given(st.integers(0, 60), st.floats(0, 1), st.floats(0, 1), st.integers(0, 99))
def test_a_larger_rate_only_adds(count: int, one: float, other: float, seed: int) -> None:
    keys = [f"m{place}" for place in range(count)]
    small, large = (drawn_sample(keys, rate, seed) for rate in sorted((one, other)))
    assert large[: len(small)] == small
    assert len(large) >= math.floor(max(one, other) * count)


@given(st.text(max_size=200))
def test_sentiment_is_a_share_or_nothing(text: str) -> None:
    found = message_sentiment(text)
    assert found is None or 0 <= found <= 1
    assert found == message_sentiment(f" {text}\n")


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), min_size=1, max_size=20), st.integers(1, 200))
def test_parts_hold_every_message_once(texts: list[str], limit: int) -> None:
    messages = [Message(id=f"m{at}", index=at, speaker="A", text=text) for at, text in enumerate(texts)]
    assert [one for part in parts_of(messages, limit=limit) for one in part.messages] == messages


@given(st.lists(st.sampled_from(WORDS), min_size=4, max_size=12), st.data())
def test_words_of_a_message_are_found_in_it_again(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 3))
    last = data.draw(st.integers(first + 3, len(words)))
    message = Message(id="m0", index=0, speaker="A", text=" ".join(words))
    quoted = " ".join(words[first:last]).upper()
    answer = QuotesAnswer(quotes=[QuoteItem(agent_id="A", content=f'"{quoted}"', relevance_score=1)])
    (traced,) = quotes_in(answer, TextPart(1, (message,), ()))
    if isinstance(traced, Quote):
        assert traced.content in message.text
    else:
        # Nothing but marks is no quote.
        assert len(quoted.strip(" \"'.,;:!?-–“”()")) < 4
