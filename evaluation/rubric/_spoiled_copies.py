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
        changed(message, text=message.text[starts.get(message.index, 0) :] or message.text, reply_to=None)
        for message in transcript.messages
    ]
    return rebuilt(transcript, messages=tuple(messages))


def by_author(discussion: Discussion, place: int, author: str) -> PreparedMessage:
    """The public message at ``place`` by another author; its words are cut again only where a name stands before it."""
    prepared = discussion.messages[place]
    message = changed(prepared.message, speaker=author)
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
    return rebuilt(transcript, players=tuple(dealt))


def with_names(transcript: Transcript, names: Mapping[str, str]) -> Transcript:
    """Players' names permuted in votes, eliminations and roles; messages keep their authors and texts.

    Args:
        transcript: The transcript.
        names: Each player's name -> the name that takes its place.
    """
    owners = {names[player.name]: player for player in transcript.players}
    votes = [
        vote.model_copy(update={"voter": names[vote.voter], "target": vote.target and names[vote.target]})
        for vote in transcript.votes
    ]
    eliminations = [one.model_copy(update={"player": names[one.player]}) for one in transcript.eliminations]
    return rebuilt(
        transcript,
        players=tuple(owners[player.name].model_copy(update={"name": player.name}) for player in transcript.players),
        votes=tuple(votes),
        eliminations=tuple(eliminations),
    )


def changed(message: Message, **fields: Any) -> Message:
    """The message with other fields."""
    # A plain copy would keep what the message remembers of its old text.
    return Message.model_construct(**{name: getattr(message, name) for name in Message.model_fields} | fields)


def rebuilt(transcript: Transcript, **fields: Any) -> Transcript:
    """The transcript with other fields, which the caller has checked."""
    return Transcript.model_construct(**{name: getattr(transcript, name) for name in Transcript.model_fields} | fields)
