"""Reads chats as messengers export them: Telegram's ``result.json``, DiscordChatExporter's JSON, Slack's zip.

Joined, left, pinned and the like are events in the system channel. Who has no name keeps the id. A Slack channel and a
chat of Telegram's full export are one transcript each.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.readers._who_speaks import EVENT_CHANNEL
from evaluation.readers.base.document import Document, content_id
from evaluation.readers.base.draft import OpenDraft, speaker_name
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import ArchiveReader, FileGame, FileReader, Found
from evaluation.transcript import Transcript

TELEGRAM = "telegram"
DISCORD = "discord"
SLACK = "slack"

_DISCORD_SPEECH = frozenset({"default", "reply", "0", "19", "20", "chatinputcommand", "threadstartermessage"})
_SLACK_SPEECH = frozenset({"thread_broadcast", "bot_message", "me_message", "file_share", "reply_broadcast"})
_SLACK_DAY = re.compile(r"(?P<channel>[^/]+)/\d{4}-\d{2}-\d{2}\.json")
_SLACK_USERS = "users.json"
_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|([^<>]*))?>")
_LINK = re.compile(r"<(#|!|https?:|mailto:)([^<>|]*)(?:\|([^<>]*))?>")
_NAMELESS = "Deleted account"
_NOBODY = "Nobody speaks in the chat."


def _is_telegram_chat(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("messages"), list)
        and "type" in value
        and any(
            isinstance(one, dict) and ("from_id" in one or "actor_id" in one or "date" in one)
            for one in value["messages"][:20]
        )
    )


def _recognises_telegram(document: Document) -> bool:
    value = document.json
    if not isinstance(value, dict):
        return False
    chats = value.get("chats")
    listed = chats.get("list") if isinstance(chats, dict) else None
    return _is_telegram_chat(value) or (isinstance(listed, list) and any(map(_is_telegram_chat, listed)))


def _read_telegram(document: Document) -> Found:
    root = Node(document.json)
    if root["messages"].value is not None:
        return _telegram_chat(root, document.limits)
    return _telegram_chats(root["chats"]["list"], document.limits)


def _telegram_chats(chats: Node, limits: Limits) -> Iterator[FileGame]:
    for number, chat in enumerate(chats.entries(), start=1):
        if chat["messages"].size:
            name = chat["name"].name_or_none() or str(number)
            yield FileGame(name, partial(_telegram_chat, chat, limits))


def _telegram_chat(chat: Node, limits: Limits) -> Transcript:
    limits.check_messages(chat["messages"].size)
    draft = OpenDraft(limits)
    places: dict[str, int] = {}
    names = _told_apart(dict(_telegram_author(node) for node in chat["messages"].entries()))
    for node in chat["messages"].entries():
        message_id = node["id"].identifier_or_none()
        sent_at = node["date_unixtime"].value or node["date"].value
        time = Node(_number(sent_at), node["date"].path).time_or_none()
        if node["type"].text_or_none() != "message":
            speaker = speaker_name(node["actor"].text_or_none() or _NAMELESS, _NAMELESS)
            action = (node["action"].text_or_none() or "service message").replace("_", " ")
            draft.say(speaker, action, "system", channel_name=EVENT_CHANNEL, sent_at=time)
            continue
        text = _telegram_text(node["text"])
        if not text.strip():
            continue
        speaker = names[_telegram_author(node)[0]]
        reply = places.get(node["reply_to_message_id"].identifier_or_none() or "")
        index = draft.say(speaker, text, sent_at=time, reply_to=reply)
        if message_id:
            places[message_id] = index
    name = chat["name"].text_or_none() or ""
    game_id = f"{TELEGRAM}-{chat['id'].identifier_or_none() or name or 'chat'}"
    return draft.build_open(TELEGRAM, game_id, metadata={"name": name}, without_text=_NOBODY)


def _telegram_author(node: Node) -> tuple[str, str]:
    """Id and name."""
    author_id = node["from_id"].identifier_or_none()
    name = speaker_name(node["from"].text_or_none() or author_id or _NAMELESS, _NAMELESS)
    return author_id or name, name


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) and value.isdigit() else value


def _telegram_text(node: Node) -> str:
    if not isinstance(node.value, list):
        return node.text_or_none() or ""
    parts = (part.value if isinstance(part.value, str) else part["text"].text() for part in node.entries())
    return "".join(parts)


def _recognises_discord(document: Document) -> bool:
    value = document.json
    return isinstance(value, dict) and {"guild", "channel", "messages"} <= value.keys()


def _read_discord(document: Document) -> Transcript:
    root = Node(document.json)
    document.limits.check_messages(root["messages"].size)
    draft = OpenDraft(document.limits)
    places: dict[str, int] = {}
    speakers = _told_apart(dict(_discord_author(node["author"]) for node in root["messages"].entries()))
    for node in root["messages"].entries():
        speaker = speakers[_discord_author(node["author"])[0]]
        kind = str(node["type"].value if node["type"].value is not None else "default").casefold()
        text = node["content"].text_or_none() or ""
        time = node["timestamp"].time_or_none()
        if kind not in _DISCORD_SPEECH:
            draft.say(speaker, text or kind, "system", channel_name=EVENT_CHANNEL, sent_at=time)
            continue
        if not text.strip():
            continue
        reply = places.get(node["reference"]["messageId"].identifier_or_none() or "")
        index = draft.say(speaker, text, sent_at=time, reply_to=reply)
        if message_id := node["id"].identifier_or_none():
            places[message_id] = index
    channel = root["channel"]
    game_id = f"{DISCORD}-{channel['id'].identifier_or_none() or content_id(DISCORD, document.text)}"
    names = {"guild": root["guild"]["name"].text_or_none(), "channel": channel["name"].text_or_none()}
    return draft.build_open(DISCORD, game_id, metadata=names, without_text=_NOBODY)


def _discord_author(author: Node) -> tuple[str, str]:
    """Id and name."""
    author_id = author["id"].identifier_or_none()
    written = author["nickname"].text_or_none() or author["name"].text_or_none() or author_id
    name = speaker_name(written or _NAMELESS, _NAMELESS)
    return author_id or name, name


def _recognises_slack(paths: Set[str]) -> bool:
    return any(path.rpartition("/")[2] == _SLACK_USERS for path in paths) and any(
        _SLACK_DAY.search(path) for path in paths
    )


def _read_slack(files: Mapping[str, Callable[[], Document]]) -> Iterable[FileGame]:
    users = _slack_users(next(load for path, load in files.items() if path.rpartition("/")[2] == _SLACK_USERS)())
    days: dict[str, list[str]] = {}
    for path in sorted(files):
        if match := _SLACK_DAY.search(path):
            days.setdefault(match["channel"], []).append(path)
    for channel, paths in days.items():
        yield FileGame(channel, partial(_slack_channel, channel, [(path, files[path]) for path in paths], users))


def _slack_users(document: Document) -> Mapping[str, str]:
    users: dict[str, str] = {}
    for user in Node(_json(document, _SLACK_USERS), f"{_SLACK_USERS}: $").entries():
        profile = user["profile"]
        names = (profile["display_name"], profile["real_name"], user["real_name"], user["name"])
        name = next((found for one in names if (found := (one.text_or_none() or "").strip())), None)
        if user_id := user["id"].identifier_or_none():
            users[user_id] = speaker_name(name or user_id, user_id)
    return _told_apart(users)


def _told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Names by id, with the id behind those that several have; a message without an id has the name in its place."""
    counts = Counter(name for key, name in names.items() if key != name)
    return {key: f"{name} ({key})" if counts[name] > 1 else name for key, name in names.items()}


def _json(document: Document, path: str) -> Any:
    if document.json_error:
        raise BrokenTranscriptError(document.json_error.message, place=path, remedy="Export the workspace again.")
    return document.json


def _slack_channel(
    channel: str, days: list[tuple[str, Callable[[], Document]]], users: Mapping[str, str]
) -> Transcript:
    draft: OpenDraft | None = None
    places: dict[str, int] = {}
    for path, load in days:
        document = load()
        draft = draft or OpenDraft(document.limits)
        for node in Node(_json(document, path), f"{path}: $").entries():
            _slack_message(node, draft, users, places)
    assert draft is not None
    return draft.build_open(SLACK, f"{SLACK}-{channel}", metadata={"channel": channel}, without_text=_NOBODY)


def _slack_message(node: Node, draft: OpenDraft, users: Mapping[str, str], places: dict[str, int]) -> None:
    if node["type"].text_or_none() not in (None, "message"):
        return
    subtype = node["subtype"].text_or_none()
    user = node["user"].identifier_or_none() or node["bot_id"].identifier_or_none() or ""
    written = users.get(user) or node["username"].text_or_none() or node["user_profile"]["real_name"].text_or_none()
    speaker = speaker_name(written or user or _NAMELESS, _NAMELESS)
    text = _slack_text(node["text"].text_or_none() or "", users)
    stamp = node["ts"].text_or_none() or ""
    time = Node(_seconds(stamp), node["ts"].path).time_or_none()
    if subtype and subtype not in _SLACK_SPEECH:
        draft.say(speaker, text or subtype, "system", channel_name=EVENT_CHANNEL, sent_at=time)
    elif text.strip():
        thread = node["thread_ts"].text_or_none()
        reply = places.get(thread) if thread and thread != stamp else None
        places[stamp] = draft.say(speaker, text, sent_at=time, reply_to=reply)


def _seconds(stamp: str) -> float | None:
    try:
        return float(stamp)
    except ValueError:
        return None


def _slack_text(text: str, users: Mapping[str, str]) -> str:
    """The text as people see it: names for ids, links as written."""
    named = _MENTION.sub(lambda match: f"@{users.get(match[1]) or match[2] or match[1]}", text)
    linked = _LINK.sub(
        lambda match: match[3] or (match[1] if match[1] in "#" else match[1].strip("!")) + match[2], named
    )
    return html.unescape(linked)


TELEGRAM_READER = FileReader(TELEGRAM, _recognises_telegram, _read_telegram)
DISCORD_READER = FileReader(DISCORD, _recognises_discord, _read_discord)
SLACK_READER = ArchiveReader(SLACK, _recognises_slack, _read_slack)
