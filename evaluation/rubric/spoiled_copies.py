"""Copies of a transcript in which one thing is destroyed: what a metric's score is compared with.

A copy is a plain transcript, so that every metric can be computed on it. Nothing else than the named thing changes; the
name that some agents write before each message of theirs is cut where messages get other authors or places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evaluation.rubric.discussion import Discussion, PreparedMessage, prepare
from evaluation.transcript import Message, Transcript


def without_prefixes(transcript: Transcript) -> Transcript:
    """The transcript with the own names cut that stand before public messages, and without reply ids."""
    starts = {prepared.message.index: prepared.body_start for prepared in Discussion.of(transcript).messages}
    messages = [
        _changed(message, text=message.text[starts.get(message.index, 0) :] or message.text, reply_to=None)
        for message in transcript.messages
    ]
    return _rebuilt(transcript, messages=tuple(messages))


def with_order(transcript: Transcript, order: Sequence[int]) -> Transcript:
    """The public messages in another order: author and text move, places (round, phase, time, id) stay.

    Args:
        transcript: Without reply ids, which would point to other messages afterwards.
        order: For each place among the public messages, which of them stands there.
    """
    public = transcript.discussion
    moved = {
        place.index: _changed(place, speaker=public[source].speaker, text=public[source].text)
        for place, source in zip(public, order, strict=True)
    }
    return _rebuilt(transcript, messages=tuple(moved.get(message.index, message) for message in transcript.messages))


def with_speakers(transcript: Transcript, speakers: Sequence[str]) -> Transcript:
    """The public messages with other authors, in order."""
    given = {
        message.index: _changed(message, speaker=speaker)
        for message, speaker in zip(transcript.discussion, speakers, strict=True)
    }
    return _rebuilt(transcript, messages=tuple(given.get(message.index, message) for message in transcript.messages))


def by_author(discussion: Discussion, place: int, author: str) -> PreparedMessage:
    """The public message at ``place`` by another author; its words are cut again only where a name stands before it."""
    prepared = discussion.messages[place]
    message = _changed(prepared.message, speaker=author)
    if discussion.names.body_start(message.text, author) == prepared.body_start:
        return replace(prepared, message=message)
    return prepare(message, discussion.names, prepared.topic_words)


def deal_speakers(speakers: Sequence[str], lengths: Sequence[int], random: np.random.Generator) -> list[str]:
    """Other authors for messages, each player keeping about the number of words.

    Args:
        speakers: The author of each message.
        lengths: Its number of words.
        random: Decides the order in which messages are dealt, each to the player who lacks most words then.
    """
    lacking: Counter[str] = Counter()
    for speaker, length in zip(speakers, lengths, strict=True):
        lacking[speaker] += length
    dealt = list(speakers)
    for place in random.permutation(len(dealt)):
        chosen = max(lacking, key=lacking.__getitem__)
        dealt[place] = chosen
        lacking[chosen] -= lengths[place]
    return dealt


def with_roles(transcript: Transcript, sources: Sequence[int]) -> Transcript:
    """Roles and alignments dealt again: each player gets those of the player at that position."""
    players = transcript.players
    dealt = [
        player.model_copy(update={"role": players[source].role, "alignment": players[source].alignment})
        for player, source in zip(players, sources, strict=True)
    ]
    return _rebuilt(transcript, players=tuple(dealt))


def with_names(
    transcript: Transcript, names: Mapping[str, str], *, messages: tuple[Message, ...] | None = None
) -> Transcript:
    """Players' names permuted in the record (votes, eliminations, roles, authors of messages), texts left alone.

    Args:
        transcript: The transcript.
        names: Each player's name -> the name that takes its place.
        messages: The messages of the copy, where the caller has them already.
    """
    owners = {names[player.name]: player for player in transcript.players}
    votes = [
        vote.model_copy(update={"voter": names[vote.voter], "target": vote.target and names[vote.target]})
        for vote in transcript.votes
    ]
    eliminations = [one.model_copy(update={"player": names[one.player]}) for one in transcript.eliminations]
    return _rebuilt(
        transcript,
        players=tuple(owners[player.name].model_copy(update={"name": player.name}) for player in transcript.players),
        messages=messages
        or tuple(
            message if message.channel == "system" else _changed(message, speaker=names[message.speaker])
            for message in transcript.messages
        ),
        votes=tuple(votes),
        eliminations=tuple(eliminations),
    )


def with_repeats(transcript: Transcript, share: float, random: np.random.Generator) -> Transcript:
    """A share of the public messages replaced by an earlier message of the same player (the first ones stay)."""
    said: dict[str, list[str]] = {}
    changed: dict[int, Message] = {}
    for message in transcript.discussion:
        earlier = said.setdefault(message.speaker, [])
        if earlier and random.random() < share:
            changed[message.index] = _changed(message, text=earlier[int(random.integers(len(earlier)))])
        earlier.append(message.text)
    return _rebuilt(transcript, messages=tuple(changed.get(message.index, message) for message in transcript.messages))


def _changed(message: Message, **fields: Any) -> Message:
    # A plain copy would keep what the message remembers of its old text.
    return Message.model_construct(**{name: getattr(message, name) for name in Message.model_fields} | fields)


def _rebuilt(transcript: Transcript, **fields: Any) -> Transcript:
    return Transcript.model_construct(**{name: getattr(transcript, name) for name in Transcript.model_fields} | fields)
