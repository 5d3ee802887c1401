"""Count ideas: each once, with the messages that express it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluation.judging.protocol import Idea
from evaluation.text.stems import stem
from evaluation.text.tokens import tokenize

_ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True, slots=True)
class ListedIdea:
    """One idea.

    Attributes:
        text: In the judge's words; untrusted.
        citations: References of the messages that voice it; those that do not exist are refused, so it may be empty.
    """

    text: str
    citations: tuple[str, ...] = ()


def distinct(ideas: Iterable[Idea], messages: Mapping[int, str]) -> tuple[ListedIdea, ...]:
    """The ideas with their citations resolved, those with the same words as an earlier one joined with it.

    Two ideas are the same when they consist of the same word stems in the same order, articles left out. Anything
    looser would join "ban cars" with "do not ban cars". An idea without a word is dropped.

    Args:
        ideas: From one answer.
        messages: The number of every message in the prompt, with its reference.
    """
    found: dict[tuple[str, ...], ListedIdea] = {}
    for idea in ideas:
        stems = tuple([stem(token.text) for token in tokenize(idea.text) if token.text not in _ARTICLES])
        if not stems:
            continue
        cited = [messages[number] for number in idea.citations if number in messages]
        earlier = found.get(stems)
        text = earlier.text if earlier else " ".join(idea.text.split())
        found[stems] = ListedIdea(text, tuple(dict.fromkeys([*(earlier.citations if earlier else ()), *cited])))
    return tuple(found.values())
