"""Memory accuracy of the same texts against a record with the players' names permuted.

:class:`PermutedRecord` parses a message once, and checks its claims with ``evaluation.rubric.claims.checking``.
``tests/unit/rubric/test_controls.py`` checks that it gives the same scores as the metric.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.rubric.claims.checking import findings_on
from evaluation.rubric.claims.game_record import Record
from evaluation.rubric.clauses.scene import SCENE, Asked, Scene
from evaluation.rubric.controls.spoiled_copies import by_author, with_names
from evaluation.rubric.discussion import Discussion, PreparedMessage
from evaluation.rubric.speech.readings import Reading, read_message
from evaluation.transcript import Transcript

_Key = tuple[int, str, str | None]


class PermutedRecord:
    """A transcript whose claims are checked under permutations of the names."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._discussion = Discussion.of(transcript)
        self._known: dict[_Key, list[tuple[Asked, Reading]]] = {}
        self._speakers = [message.speaker for message in transcript.discussion]
        self._answered = [
            None if message.reply_to is None else transcript.message(message.reply_to)
            for message in transcript.discussion
        ]
        self._prepared: dict[tuple[int, str], PreparedMessage] = {}

    def settled(self, names: Mapping[str, str]) -> tuple[int, int]:
        """Numbers of claims that the record confirms and settles under a permutation of the names."""
        readings = self._readings(names)
        # The record asks for times and authors, which readings carry; the messages may keep their old authors.
        record = Record(with_names(self._transcript, names, messages=self._transcript.messages), readings)
        accurate = inaccurate = 0
        for reading in readings:
            for _, finding in findings_on(reading.claims, reading.message, record):
                accurate += finding.verdict == "accurate"
                inaccurate += finding.verdict == "inaccurate"
        return accurate, accurate + inaccurate

    def _readings(self, names: Mapping[str, str]) -> list[Reading]:
        messages = [self._by_author(place, names[speaker]) for place, speaker in enumerate(self._speakers)]
        found = []
        for place, prepared in enumerate(messages):
            message, answered = prepared.message, self._answered[place]
            whom = None if answered is None or answered.channel == "system" else names[answered.speaker]
            scene = Scene(message.speaker, message.round, messages[max(0, place - SCENE) : place])
            known = self._known.setdefault((place, message.speaker, whom), [])
            reading = next((reading for asked, reading in known if scene.gives(asked)), None)
            if reading is None:
                scene = Scene(message.speaker, message.round, messages[max(0, place - SCENE) : place])
                reading = read_message(prepared, self._discussion.language, whom, scene)
                known.append((scene.asked, reading))
            found.append(reading)
        return found

    def _by_author(self, place: int, author: str) -> PreparedMessage:
        """A message as another player would have sent it: their name before it would be no part of it."""
        if (place, author) not in self._prepared:
            self._prepared[place, author] = by_author(self._discussion, place, author)
        return self._prepared[place, author]
