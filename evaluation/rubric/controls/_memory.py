"""Memory accuracy of the same texts against a record with the players' names permuted.

The seam: :class:`PermutedRecord` reads every message once for each author that a permutation gives it, and checks its
claims with ``evaluation.rubric.claim_checks``. ``tests/unit/test_controls.py`` holds it to what the metric itself says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluation.rubric.claim_checks import check
from evaluation.rubric.controls.copies import with_names
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.readings import Reading, read
from evaluation.rubric.record import Record
from evaluation.transcript import Transcript

_Key = tuple[int, str, str | None]


class PermutedRecord:
    """A transcript whose claims are checked under permutations of the names."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._known: dict[_Key, Reading] = {}
        self._asked = [
            (message.index, None if message.reply_to is None else transcript.message(message.reply_to))
            for message in transcript.discussion
        ]
        names = transcript.player_names
        # Between them, these give every message every author.
        for step in range(len(names)):
            self._read(dict(zip(names, names[step:] + names[:step], strict=True)))

    def settled(self, names: Mapping[str, str]) -> tuple[int, int]:
        """How many claims the record shows under a permutation of the names, and how many it settles."""
        readings = self._readings(names) or self._read(names)
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

    def _read(self, names: Mapping[str, str]) -> Sequence[Reading]:
        copy = with_names(self._transcript, names)
        readings = read(Discussion.of(copy))
        self._known.update(zip(self._keys(names), readings, strict=True))
        return readings

    def _readings(self, names: Mapping[str, str]) -> list[Reading] | None:
        """The messages as read before with these authors; ``None`` where one was not."""
        found = [self._known.get(key) for key in self._keys(names)]
        return None if any(reading is None for reading in found) else [one for one in found if one is not None]

    def _keys(self, names: Mapping[str, str]) -> Iterator[_Key]:
        """All that decides how each message is read: its author, and the author of what it replies to."""
        messages = self._transcript.messages
        for index, answered in self._asked:
            author = None if answered is None or answered.channel == "system" else names[answered.speaker]
            yield index, names[messages[index].speaker], author
