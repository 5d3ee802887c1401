"""Reads chats as messengers export them: Telegram's ``result.json``, DiscordChatExporter's JSON, Slack's zip.

Joined, left, pinned and the like are events in the system channel. Who has no name keeps the id. A Slack channel and a
chat of Telegram's full export are one transcript each.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from evaluation.errors import BrokenTranscriptError
from evaluation.readers._draft import OpenDraft, speaker_name
from evaluation.readers._who_could_hear import channel_named
from evaluation.readers._who_speaks import EVENT_CHANNEL
from evaluation.readers.document import ArchiveReader, Document, FileReader, Found, Games, Limits, Node, content_id
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
_WITHOUT_TEXT = "without text: a picture, a sticker or a file"
_NAMELESS = "Deleted account"


def _is_telegram_chat(value: Any) -> bool:
    held = value.get("messages") if isinstance(value, dict) else None
    posts = [one.keys() for one in held[:20] if isinstance(one, dict)] if isinstance(held, list) else []
    return any("type" in keys and {"from_id", "actor_id", "date", "date_unixtime"} & keys for keys in posts)


def _recognises_telegram(document: Document) -> bool:
    chats = document.json.get("chats") if isinstance(document.json, dict) else None
    listed = chats.get("list") if isinstance(chats, dict) else None
    return _is_telegram_chat(document.json) or (isinstance(listed, list) and any(map(_is_telegram_chat, listed)))


def _read_telegram(document: Document) -> Found:
    root = Node(document.json)
    if root["messages"].value is not None:
        return _telegram_chat(root, document.limits)
    chats = [chat for chat in enumerate(root["chats"]["list"].entries(), start=1) if chat[1]["messages"].size]
    read = partial(_telegram_chat, limits=document.limits)
    return ((chat["name"].name_or_none() or str(number), partial(read, chat)) for number, chat in chats)


class _Post(NamedTuple):
    """One message of a messenger.

    Attributes:
        name: Of who wrote it.
        text: What it says, or what happened.
        time: When.
        author: The id behind the name, by which those who share one are told apart; ``None`` where it is told already.
        id: What ``reply`` of others refers to.
        reply: The id of the message answered.
        is_event: Whether nobody said it.
        is_bot: Whether the file calls the author a bot.
    """

    name: str
    text: str
    time: datetime | None
    author: str | None = None
    id: str | None = None
    reply: str | None = None
    is_event: bool = False
    is_bot: bool = False


def _transcript(
    source_format: str, game_id: str, posts: Sequence[_Post], limits: Limits, about: Mapping[str, Any]
) -> Transcript:
    draft = OpenDraft(limits)
    # Only a name that says who could hear is evidence.
    channel = str(about.get("channel") or about.get("name") or "")[:200] or None
    channel = channel if channel and channel_named(channel) in ("team", "private") else None
    places: dict[str | None, int] = {}
    names = _told_apart({post.author: post.name for post in posts if post.author is not None})
    for post in posts:
        speaker = post.name if post.author is None else names[post.author]
        if post.is_event:
            draft.say(speaker, post.text, "system", channel_name=EVENT_CHANNEL, sent_at=post.time)
        elif post.text.strip():
            reply_to = places.get(post.reply) if post.reply else None
            said = partial(draft.say, speaker, post.text, channel_name=channel, sent_at=post.time)
            places[post.id] = said(reply_to=reply_to, metadata={"is_bot": True} if post.is_bot else {})
        else:
            draft.say(speaker, _WITHOUT_TEXT, "system", channel_name="media", sent_at=post.time)
    without_text = "Nobody speaks in the chat."
    return draft.build_open(source_format, f"{source_format}-{game_id}", metadata=about, without_text=without_text)


def _told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Names by id, with the id behind those that several have; a message without an id has the name in its place."""
    counts = Counter(name for key, name in names.items() if key != name)
    return {key: f"{name} ({key})" if counts[name] > 1 else name for key, name in names.items()}


def _telegram_chat(chat: Node, limits: Limits) -> Transcript:
    name = chat["name"].text_or_none() or ""
    game_id = chat["id"].identifier_or_none() or name or "chat"
    return _transcript(TELEGRAM, game_id, [*map(_telegram_post, chat["messages"].entries())], limits, {"name": name})


def _telegram_post(node: Node) -> _Post:
    sent_at = node["date_unixtime"].value or node["date"].value
    sent_at = float(sent_at) if isinstance(sent_at, str) and sent_at.isdigit() else sent_at
    time = Node(sent_at, node["date"].path).time_or_none()
    if node["type"].text_or_none() != "message":
        action = (node["action"].text_or_none() or "service message").replace("_", " ")
        return _Post(speaker_name(node["actor"].text_or_none() or "", _NAMELESS), action, time, is_event=True)
    author = node["from_id"].identifier_or_none()
    name = speaker_name(node["from"].text_or_none() or author or "", _NAMELESS)
    message_id, reply = node["id"].identifier_or_none(), node["reply_to_message_id"].identifier_or_none()
    return _Post(name, _telegram_text(node["text"]), time, author or name, message_id, reply)


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
    posts = [*map(_discord_post, root["messages"].entries())]
    game_id = root["channel"]["id"].identifier_or_none() or content_id(DISCORD, document.text)
    names = {key: root[key]["name"].text_or_none() for key in ("guild", "channel")}
    return _transcript(DISCORD, game_id, posts, document.limits, names)


def _discord_post(node: Node) -> _Post:
    user = node["author"]
    author = user["id"].identifier_or_none()
    written = user["nickname"].text_or_none() or user["name"].text_or_none() or author
    name = speaker_name(written or "", _NAMELESS)
    kind = str(node["type"].value if node["type"].value is not None else "default").casefold()
    is_event = kind not in _DISCORD_SPEECH
    text = node["content"].text_or_none() or (kind if is_event else "")
    message_id, reply = node["id"].identifier_or_none(), node["reference"]["messageId"].identifier_or_none()
    is_bot = user["isBot"].value is True
    return _Post(name, text, node["timestamp"].time_or_none(), author or name, message_id, reply, is_event, is_bot)


def _recognises_slack(paths: Set[str]) -> bool:
    return any(path.rpartition("/")[2] == _SLACK_USERS for path in paths) and any(map(_SLACK_DAY.search, paths))


def _read_slack(files: Mapping[str, Callable[[], Document]]) -> Games:
    users = _slack_users(next(load for path, load in files.items() if path.rpartition("/")[2] == _SLACK_USERS)())
    days: dict[str, list[str]] = {}
    for path in sorted(files):
        if match := _SLACK_DAY.search(path):
            days.setdefault(match["channel"], []).append(path)
    for channel, paths in days.items():
        yield (channel, partial(_slack_channel, channel, [(path, files[path]) for path in paths], users))


def _is_slack_post(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "message" and {"ts", "text", "user_profile"} <= value.keys()


def _recognises_slack_day(document: Document) -> bool:
    rows = document.json if isinstance(document.json, list) else []
    return any(map(_is_slack_post, rows)) and all(isinstance(row, dict) and "ts" in row for row in rows)


def _read_slack_day(document: Document) -> Transcript:
    """One day of a channel, without the workspace's list of users: names stand in the messages themselves."""
    nodes = list(Node(document.json).entries())
    users = _told_apart(
        {
            user: speaker_name(_profile_name(node["user_profile"]) or user, user)
            for node in nodes
            if (user := node["user"].identifier_or_none())
        }
    )
    posts = [_slack_post(node, users) for node in nodes if node["type"].text_or_none() in (None, "message")]
    return _transcript(SLACK, content_id(SLACK, document.text), posts, document.limits, {})


def _profile_name(profile: Node) -> str | None:
    names = (profile[key].text_or_none() or "" for key in ("display_name", "real_name", "name"))
    return next((name for name in map(str.strip, names) if name), None)


def _slack_users(document: Document) -> Mapping[str, str]:
    users: dict[str, str] = {}
    for user in Node(_json(document, _SLACK_USERS), f"{_SLACK_USERS}: $").entries():
        name = _profile_name(user["profile"]) or _profile_name(user)
        if user_id := user["id"].identifier_or_none():
            users[user_id] = speaker_name(name or user_id, user_id)
    return _told_apart(users)


def _json(document: Document, path: str) -> Any:
    if document.json_error:
        raise BrokenTranscriptError(document.json_error.message, place=path, remedy="Export the workspace again.")
    return document.json


def _slack_channel(
    channel: str, days: list[tuple[str, Callable[[], Document]]], users: Mapping[str, str]
) -> Transcript:
    posts: list[_Post] = []
    for path, load in days:
        document = load()
        nodes = Node(_json(document, path), f"{path}: $").entries()
        posts += (_slack_post(node, users) for node in nodes if node["type"].text_or_none() in (None, "message"))
    return _transcript(SLACK, channel, posts, document.limits, {"channel": channel})


def _slack_post(node: Node, users: Mapping[str, str]) -> _Post:
    subtype = node["subtype"].text_or_none()
    user = node["user"].identifier_or_none() or node["bot_id"].identifier_or_none() or ""
    written = users.get(user) or node["username"].text_or_none() or node["user_profile"]["real_name"].text_or_none()
    name = speaker_name(written or user, _NAMELESS)
    text = _slack_text(node["text"].text_or_none() or "", users)
    stamp, seconds = node["ts"].text_or_none() or "", None
    with suppress(ValueError):
        seconds = float(stamp)
    time = Node(seconds, node["ts"].path).time_or_none()
    if subtype and subtype not in _SLACK_SPEECH:
        return _Post(name, text or subtype, time, is_event=True)
    thread = node["thread_ts"].text_or_none()
    is_bot = subtype == "bot_message" or node["bot_id"].value is not None
    return _Post(name, text, time, id=stamp, reply=thread if thread != stamp else None, is_bot=is_bot)


def _slack_text(text: str, users: Mapping[str, str]) -> str:
    """The text as people see it: names for ids, links as written."""
    named = _MENTION.sub(lambda match: f"@{users.get(match[1]) or match[2] or match[1]}", text)
    return html.unescape(_LINK.sub(lambda match: match[3] or match[1].strip("!") + match[2], named))


TELEGRAM_READER = FileReader(TELEGRAM, _recognises_telegram, _read_telegram)
DISCORD_READER = FileReader(DISCORD, _recognises_discord, _read_discord)
SLACK_DAY_READER = FileReader(SLACK, _recognises_slack_day, _read_slack_day)
SLACK_READER = ArchiveReader(SLACK, _recognises_slack, _read_slack)
