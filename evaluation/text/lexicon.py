"""Load the word lists and word contexts that ship as data files beside this module."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from evaluation.files.bundled import parse_yaml


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of ``data/<name>``: separated by white space, ``#`` starts a comment line."""
    lines = _read(name).splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def word_groups(name: str) -> Mapping[str, frozenset[str]]:
    """The named groups of words in ``data/<name>``, a YAML mapping of strings to words separated by white space."""
    groups = parse_yaml(_read(name))
    return {group: frozenset(words.split()) for group, words in groups.items()}


@cache
def english_words() -> frozenset[str]:
    """Common English words and chat slang: what is never taken for a misspelt name."""
    return word_list("english_words.txt") | word_list("chat_words.txt") | word_list("stop_words.txt")


def _read(name: str) -> str:
    return (files("evaluation.text") / "data" / name).read_text("utf-8")
