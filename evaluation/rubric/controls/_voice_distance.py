"""Voice distance: how much more alike two messages by one player are than two by different players.

Messages are tf-idf vectors of words (players' names removed) and marks of style: how the message opens, which
punctuation it holds and ends with, whether it begins in small letters, how long it is. The distance is 100 times the
mean similarity of pairs by one player less that of pairs by two; only pairs more than 3 places apart count, because
what is close in time is alike in topic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.rubric.controls._vectors import Matrix, tf_idf
from evaluation.rubric.discussion import Discussion, PreparedMessage

NEAR = 3
"""Messages at most so many places apart are not compared."""
_MARKS = ".,!?'\u2026-:;"


def similarities(discussion: Discussion) -> Matrix:
    """The similarity of the style of every two public messages; NaN for those too near to each other to count."""
    similar = tf_idf([_terms(prepared) for prepared in discussion.messages]).similarities()
    places = np.arange(len(similar))
    similar[np.abs(places[:, None] - places) <= NEAR] = np.nan
    return similar


class Voices:
    """The pairs of messages that count, ready to be asked under any assignment of authors.

    Args:
        similar: As :func:`similarities` returns it.
    """

    def __init__(self, similar: Matrix) -> None:
        self._first, self._second = np.nonzero(np.triu(~np.isnan(similar), k=1))
        self._similar = similar[self._first, self._second]
        self._sum = float(self._similar.sum())

    def distance(self, speakers: NDArray[np.int64]) -> float | None:
        """The voice distance, -100 to 100; ``None`` without pairs of both kinds.

        Args:
            speakers: The author of each message as a number.
        """
        same = speakers[self._first] == speakers[self._second]
        count = int(np.count_nonzero(same))
        if not count or count == len(same):
            return None
        within = float(self._similar[same].sum())
        return 100.0 * (within / count - (self._sum - within) / (len(same) - count))


def _terms(prepared: PreparedMessage) -> list[str]:
    words = [token.text for token in prepared.plain_tokens]
    text = prepared.message.text[prepared.body_start :].strip()
    style = [f"mark {mark}" for mark in _MARKS if mark in text]
    style += [f"opens {' '.join(words[:2])}", f"opens {' '.join(words[:1])}"]
    style += ["small" if text[:1].islower() else "capital" if text[:1].isupper() else "other"]
    style += [f"length {int(np.log2(len(words) + 1))}", f"ends {text[-1:]}", f"apostrophe {chr(39) in text}"]
    # No word holds a blank at its end, so that marks never meet words.
    return words + [f"{mark} " for mark in style]
