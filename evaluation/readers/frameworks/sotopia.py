"""Reads episodes of sotopia, flattened (``social_interactions``) or raw (turns of sender, receiver and text).

Background and goal of an agent are its persona. Acts without words are in the system channel; the scores of sotopia's
own judge are kept in the metadata.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from evaluation.readers.base.document import Document, content_id
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.open_draft import OpenDraft, speaker_name
from evaluation.readers.base.reader import FileGame, FileReader, Found
from evaluation.readers.base.records import first_record, records
from evaluation.transcript import Transcript

FORMAT = "sotopia"

_SAID = re.compile(r'said: "(.*)"?', re.DOTALL)
_ABOUT = ("scenario", "codename", "rewards", "reasoning", "environment", "tag")
_ENVIRONMENT = "Environment"
_NOTHING = "did nothing"
_ACTS = "acts"


def _recognises(document: Document) -> bool:
    first = first_record(document)
    if not isinstance(first, dict):
        return False
    if "social_interactions" in first and ("agents_background" in first or "social_goals" in first):
        return True
    turns = first.get("messages")
    if not {"environment", "agents"} <= set(first) or not isinstance(turns, list) or not turns:
        return False
    return isinstance(turns[0], list) and bool(turns[0]) and isinstance(turns[0][0], list)


def _read(document: Document) -> Found:
    if isinstance(document.json, dict):
        return _transcript(Node(document.json), document.limits)
    return _games(document)


def _games(document: Document) -> Iterator[FileGame]:
    for number, episode in enumerate(records(document), start=1):
        name = episode["episode_id"].identifier_or_none() if isinstance(episode.value, dict) else None
        yield FileGame(name or str(number), partial(_transcript, episode, document.limits))


def _transcript(episode: Node, limits: Limits) -> Transcript:
    draft = OpenDraft(limits)
    if episode["social_interactions"].value is not None:
        for name, background in episode["agents_background"].members():
            goal = episode["social_goals"][name].text_or_none() if episode["social_goals"].value else None
            persona = {"background": background.text_or_none(), "goal": goal}
            draft.player(speaker_name(name, "agent"), persona=persona)
        _flattened(episode["social_interactions"], draft)
    else:
        _raw(episode, draft)
    written = json.dumps(episode.value, sort_keys=True)
    game_id = episode["episode_id"].identifier_or_none() or content_id(FORMAT, written)
    return draft.build(FORMAT, game_id, {key: episode[key].value for key in _ABOUT})


def _flattened(told: Node, draft: OpenDraft) -> None:
    """Paragraphs that begin with a name; a paragraph that does not belongs to the one before."""
    # The longest first: one name may begin another.
    names = sorted(draft.players, key=len, reverse=True)
    paragraphs: list[tuple[str, str]] = []
    for paragraph in told.text().split("\n\n"):
        name = next((one for one in names if paragraph.startswith(f"{one} ")), None)
        if name is not None:
            paragraphs.append((name, paragraph.removeprefix(f"{name} ").strip()))
        elif paragraphs:
            paragraphs[-1] = (paragraphs[-1][0], f"{paragraphs[-1][1]}\n\n{paragraph}")
    for name, act in paragraphs:
        _act(name, act, draft)


def _raw(episode: Node, draft: OpenDraft) -> None:
    for number, turn in enumerate(episode["messages"].entries()):
        draft.draft.round = number
        for message in turn.entries():
            parts: list[Any] = [part.text_or_none() or "" for part in message.entries()]
            if len(parts) < 3:
                raise message.wrong("a sender, a receiver and a text")
            sender, receiver, text = parts[:3]
            if sender == _ENVIRONMENT:
                if number == 0 and receiver and text:
                    draft.player(speaker_name(receiver, "agent"), persona=text)
            elif receiver == _ENVIRONMENT:
                _act(speaker_name(sender, "agent"), text, draft)


def _act(name: str, act: str, draft: OpenDraft) -> None:
    if not act.strip() or act.strip() == _NOTHING:
        return
    if match := _SAID.fullmatch(act.strip()):
        draft.say(name, match[1].removesuffix('"'))
    else:
        draft.player(name)
        draft.say(name, act.strip(), "system", channel_name=_ACTS)


READER = FileReader(FORMAT, _recognises, _read)
