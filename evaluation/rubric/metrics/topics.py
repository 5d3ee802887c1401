"""Topics of a message: the stems of its keywords, which coherence compares."""

from __future__ import annotations

from functools import cache

from evaluation.rubric._language_pack import LanguagePack
from evaluation.text.aliases import NameWords
from evaluation.text.tokens import Token, stem

Topics = dict[str, Token]
"""Stem -> the first word that has it."""

_REMEMBERED_WORDS = 65_536


class TopicTable(dict[str, str]):
    """Stems by which keywords are compared, empty for other words; filled as words are met.

    A plain look-up is three times as fast as a call of a cached function, and this is asked once per word.
    """

    def __init__(self, pack: LanguagePack) -> None:
        super().__init__()
        self._stemmer = pack.stemmer
        self._shortest = pack.shortest_keyword
        self._no_topic = pack.stop_words | pack.introduction_words

    def __missing__(self, word: str) -> str:
        bare = word.removesuffix("'s")
        is_keyword = len(bare) >= self._shortest and self._no_topic.isdisjoint((bare, word))
        topic = stem(bare, self._stemmer) if is_keyword else ""
        if len(self) >= _REMEMBERED_WORDS:
            self.clear()
        self[word] = topic
        return topic


class TopicWords:
    """Finds the topics of messages of one game.

    Args:
        pack: The words of its language; also an attribute.
        names: The words of its players' names. They make no topic even where no player was recognised: "Winter" the
            player shares nothing with the season. Words of names of several words ("Policy Analyst") make none with a
            capital: in small letters, policy is what they talk about.
    """

    def __init__(self, pack: LanguagePack, names: NameWords) -> None:
        self.pack = pack
        self._table = _topic_table(pack)
        self._sole, self._parts = (
            frozenset(word + ending for word in words for ending in ("", "'s")) for words in names
        )

    def of(self, text: str, tokens: tuple[Token, ...]) -> Topics:
        """The topics of ``text``, whose words outside of mentions are ``tokens``."""
        table, sole, parts = self._table, self._sole, self._parts
        topics = {
            table[token[0]]: token
            for token in reversed(tokens)
            if token[0] not in sole and not (token[0] in parts and text[token[1]].isupper())
        }
        topics.pop("", None)
        return topics


@cache
def _topic_table(pack: LanguagePack) -> TopicTable:
    """The shared table of a language."""
    return TopicTable(pack)
