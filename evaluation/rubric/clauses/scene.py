"""The people that a message may address or mean without naming them, from the messages just before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluation.rubric.discussion import PreparedMessage

SCENE = 4
"""How many messages back the conversation is about the same player."""
Asked = Mapping[str, str | None]
"""What was asked of a scene, with the answers."""


class Scene:
    """The few messages before a message, in the same round. It remembers what it was asked.

    Reading a message under two scenes that give the same answers to what was asked gives the same.

    Args:
        speaker: Who speaks.
        number: The round.
        before: The messages before, oldest first.
    """

    def __init__(self, speaker: str, number: int | None, before: Sequence[PreparedMessage]) -> None:
        self.asked: dict[str, str | None] = {}
        self._speaker = speaker
        self._number = number
        self._before = before

    @property
    def partner(self) -> str | None:
        """The other player who spoke last."""
        if "partner" not in self.asked:
            authors = (prepared.message.speaker for prepared in self._same_round())
            self.asked["partner"] = next((author for author in authors if author != self._speaker), None)
        return self.asked["partner"]

    @property
    def topic(self) -> str | None:
        """The other player named last."""
        if "topic" not in self.asked:
            named = (mention.player for prepared in self._same_round() for mention in reversed(prepared.mentions))
            self.asked["topic"] = next((player for player in named if player != self._speaker), None)
        return self.asked["topic"]

    def gives(self, answers: Asked) -> bool:
        """Whether it gives these answers."""
        return all(getattr(self, name) == answer for name, answer in answers.items())

    def _same_round(self) -> Iterator[PreparedMessage]:
        """The messages before, latest first."""
        for prepared in reversed(self._before):
            if prepared.message.round != self._number:
                return
            yield prepared
