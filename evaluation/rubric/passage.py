"""A public message as word classes, and the people that its words stand for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from evaluation.rubric.discussion import PreparedMessage
from evaluation.rubric.grammar import Grammar
from evaluation.rubric.moods import MoodReader
from evaluation.rubric.scene import Scene

_LONGEST_LIST = 24
# A question without a name is put to whom the message addressed last, so many words before at most.
_FARTHEST_CALL = 200


class Passage(MoodReader):
    """One message of a discussion, coded by a grammar.

    Args:
        prepared: The message with its tokens and mentions.
        grammar: The language's word classes.
        replied_to: The author of the message that it answers, if that is another player.
        scene: The conversation before it.
    """

    def __init__(
        self,
        prepared: PreparedMessage,
        grammar: Grammar,
        replied_to: str | None,
        scene: Scene,
    ) -> None:
        super().__init__(prepared, grammar)
        self.replied_to = replied_to
        self._scene = scene

    @property
    def partner(self) -> str | None:
        """The player that the message answers, else the other one who spoke last before it."""
        return self.replied_to or self._scene.partner

    @property
    def topic(self) -> str | None:
        """The other player named last before it, in the few messages before of the same round."""
        return self._scene.topic

    def person(self, position: int, other: Sequence[str] = ()) -> str | None:
        """The player that the word at ``position`` stands for, ``None`` when that cannot be told.

        ``other`` are the clause's other people, whom "he", "she" or "they" does not mean.
        """
        if position in self.coded.players:
            return self.coded.players[position]
        if self.has(position, "i my"):
            return self.speaker
        if self.has(position, "you your"):
            return self.addressee(position)
        return self.antecedent(position, other) if self.has(position, "third their her") else None

    def person_in_scene(self, position: int) -> str | None:
        """Whom "you" or "he" means in a message that names nobody: the partner, or the topic of the messages before.

        Only for what a message does: a claim about the past must not rest on a guess about whom it means.
        """
        if self._names_others:
            return None
        if self.has(position, "you your"):
            return self.partner
        return self.topic if self.has(position, "third her their") else None

    @cached_property
    def _names_others(self) -> bool:
        return any(name != self.speaker for name in self.coded.players.values())

    def addressee(self, position: int) -> str | None:
        """Who "you" is: the player addressed by name in the sentence, else the one replied to.

        Where neither is, the only player whom the message addressed before.
        """
        start, end = self.sentence(position)
        called = {name for at, name in self.names_between(start, end) if self.is_vocative(at)}
        if not called and start > 0:
            called = self._called_out_before(start)
        called.discard(self.speaker)
        if not called and self.replied_to is None:
            # "Alpha, thank you. So I wonder about your claim." goes on talking to the only one called.
            called = {
                name for at, name in self.names_between(max(0, start - _FARTHEST_CALL), start) if self.is_vocative(at)
            }
            called.discard(self.speaker)
        if len(called) == 1:
            return called.pop()
        return None if called else self.replied_to

    def _called_out_before(self, start: int) -> set[str]:
        """The names in the sentence before, when it holds nothing but a call: "Bravo! Why did you ..."."""
        before, end = self.sentence(start - 1)
        if any(not self.has(at, "name opening at comma") for at in range(before, end)):
            return set()
        return {name for _, name in self.names_between(before, end)}

    def last_called(self, position: int) -> str | None:
        """The player addressed last before ``position``, in whatever sentence, else the one replied to."""
        named = self.names_between(max(0, position - _FARTHEST_CALL), position)
        called = [name for at, name in named if name != self.speaker and self.is_vocative(at)]
        return called[-1] if called else self.replied_to

    def names_between(self, first: int, last: int) -> list[tuple[int, str]]:
        """The players named from word ``first`` to word ``last``, with their positions."""
        positions = self._name_positions
        within = positions[bisect_left(positions, first) : bisect_right(positions, last)]
        return [(at, self.coded.players[at]) for at in within]

    @cached_property
    def _name_positions(self) -> list[int]:
        return sorted(self.coded.players)

    def is_vocative(self, position: int) -> bool:
        """Whether the word at ``position`` is the name of somebody addressed."""
        if not self.has(position, "name"):
            return False
        start, _ = self.sentence(position)
        if self.has(position - 1, "at"):
            return True
        follows = position + 1
        closes = self.has(follows, "break") or self.has(follows, "you your")
        if self.has(position - 1, "comma stop") and closes:
            return True
        opens = all(self.has(at, "opening name") for at in range(start, position))
        if not opens:
            return False
        if closes or self.asks(follows, self._length) or self.has(follows, "please demand"):
            return True
        # "Alpha clearly you lie", "Alpha I think you are Mafia": somebody else is the subject.
        while self.has(follows, "skip"):
            follows += 1
        is_told = self.has(follows, "i") and self.has(follows + 1, "think") and self.has(follows + 2, "you your")
        return is_told or self.has(follows, "you your")

    def antecedent(self, position: int, other: Sequence[str] = ()) -> str | None:
        """Who "he", "she" or "they" is: the only other player named before it, in this sentence or the one before."""
        start, _ = self.sentence(position)
        if start > 0:
            start, _ = self.sentence(start - 1)
        named = {name for _, name in self.names_between(start, position - 1)} - {self.speaker, *other}
        return named.pop() if len(named) == 1 else None

    def listed(self, position: int) -> tuple[int, ...]:
        """The positions of the people enumerated up to ``position``: "Alpha, Bravo and Charlie"; itself at least."""
        found = [position]
        at = position - 1
        while at > 0 and len(found) < _LONGEST_LIST:
            joint = at
            while self.has(at, "joint both"):
                at -= 1
            if joint == at or not self.has(at, "listable"):
                break
            found.append(at)
            at -= 1
        ordered = tuple(reversed(found))
        # A comma alone lists nothing ("Alpha, you voted"); somewhere an "and" must stand.
        joined = any(self._has_and(first, second) for first, second in pairwise(ordered))
        return ordered if joined else (position,)

    def _has_and(self, first: int, second: int) -> bool:
        return self.any_of("and or", first + 1, second - 1)

    def listed_after(self, position: int) -> tuple[int, ...]:
        """The positions of the people enumerated from ``position`` on: "for Alpha and Bravo"."""
        found = [position]
        at = position + 1
        while self.has(at, "and") and self.has(at + 1, "listable") and len(found) < _LONGEST_LIST:
            found.append(at + 1)
            at += 2
        # "voted for Bravo and Charlie defended Delta": the last one opens the next clause.
        if len(found) > 1 and self.has(at, "verbal"):
            found.pop()
        return tuple(found)
