"""Memory accuracy of the same texts against a record with the players' names permuted.

The seam: :class:`PermutedRecord` reads a message once for all that decides how it is read, and checks its claims with
``evaluation.rubric.claim_checks``. ``tests/unit/test_controls.py`` holds it to what the metric itself says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.rubric.claim_checks import check
from evaluation.rubric.controls.copies import with_names
from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.rubric.readings import SCENE, Reading, read_message, scene
from evaluation.rubric.record import Record
from evaluation.transcript import Transcript

_Key = tuple[int, str, str | None, str | None, str | None]


class PermutedRecord:
    """A transcript whose claims are checked under permutations of the names."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._language = Discussion.of(transcript).language
        self._known: dict[_Key, Reading] = {}
        self._speakers = [message.speaker for message in transcript.discussion]
        self._answered = [
            None if message.reply_to is None else transcript.message(message.reply_to)
            for message in transcript.discussion
        ]
        # How a message is cut into words depends on its author, whose name may stand before it.
        self._prepared: dict[str, Sequence[PreparedMessage]] = {}
        names = transcript.player_names
        for step in range(len(names)):
            copy = with_names(transcript, dict(zip(names, names[step:] + names[:step], strict=True)))
            for place, prepared in enumerate(Discussion.of(copy).messages):
                self._by_author(prepared.message.speaker)[place] = prepared

    def _by_author(self, author: str) -> list[PreparedMessage]:
        found = self._prepared.setdefault(author, list(Discussion.of(self._transcript).messages))
        assert isinstance(found, list)
        return found

    def settled(self, names: Mapping[str, str]) -> tuple[int, int]:
        """How many claims the record shows under a permutation of the names, and how many it settles."""
        readings = self._readings(names)
        # The record asks for times and authors, which readings carry; the messages may keep their old authors.
        record = Record(with_names(self._transcript, names, messages=self._transcript.messages), readings)
        accurate = inaccurate = 0
        for reading in readings:
            seen: set[tuple[int, int]] = set()
            for claim in reading.claims:
                finding = check(claim, reading.message, record)
                if finding is not None and (claim.start, claim.end) not in seen:
                    seen.add((claim.start, claim.end))
                    accurate += finding.verdict == "accurate"
                    inaccurate += finding.verdict == "inaccurate"
        return accurate, accurate + inaccurate

    def _readings(self, names: Mapping[str, str]) -> list[Reading]:
        authors = [names[speaker] for speaker in self._speakers]
        prepared = [self._prepared[author][place] for place, author in enumerate(authors)]
        with_authors = list(zip(authors, prepared, strict=True))
        found = []
        for place, (author, message) in enumerate(with_authors):
            answered = self._answered[place]
            whom = None if answered is None or answered.channel == "system" else names[answered.speaker]
            partner, topic = scene(author, message.message.round, with_authors[max(0, place - SCENE) : place])
            key = place, author, whom, partner, topic
            if key not in self._known:
                self._known[key] = read_message(message, self._language, whom, partner, topic)
            found.append(self._known[key])
        return found
