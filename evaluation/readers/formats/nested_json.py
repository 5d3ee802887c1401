"""Reads a game that a program wrote as JSON of its own: messages, votes and roles at any depth, in the file's order.

Rounds and phases stand around the messages, as keys ("round_2", "night") or as values; lists under a hidden key
("werewolf_discussion") are that channel. Whatever is found becomes a row of a table and is read as one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import yaml

from evaluation.errors import InputError
from evaluation.files.strict_json import parse_json, shorten, step
from evaluation.readers._draft import (
    THOUGHTS_CHANNEL,
    alignment_of,
    column_key,
    is_abstention,
    is_approval,
    is_moderator,
    is_ordinary,
    word_lists,
    word_set,
    words_in,
)
from evaluation.readers._exchanges import exchanges, is_certain
from evaluation.readers._game_log import is_role
from evaluation.readers._line_shapes import part, shape
from evaluation.readers._who_could_hear import (
    ANSWERS_IN_A_FORM,
    ANSWERS_TO_THE_PROGRAM,
    REASONS_OF_VOTES,
    channel_named,
)
from evaluation.readers.document import (
    Document,
    FileReader,
    Found,
    Limits,
    Question,
    ReadResult,
    Topic,
    leave_out,
    records,
)
from evaluation.readers.tables import (
    ColumnMapping,
    ParsedTable,
    TableRow,
    counts_messages,
    guess_mapping,
    is_ballot_at_night,
    is_turn,
    opened,
    split_heading,
    table_games,
    text_table,
)
from evaluation.text.display import counted
from evaluation.text.normal import fold

FORMAT = "json-game"

_NUMBERED = re.compile(
    r"(?P<period>round|day|night|turn|phase|cycle)s?[ _-]?(?P<number>\d{1,3})?(?: starts?:?)?", re.IGNORECASE
)
_LINE = re.compile(
    r"(?:(?:[^\[\]\n]{0,60}:\s)?\[(?=[^\[\]:\n]{1,40}\]:))?(?P<name>[^:\n]{1,60}?)\]?:\s+(?P<text>\S.*)", re.DOTALL
)
_WORDS = re.compile(r"[a-z]+")
_PLACE = re.compile(r"\[\d+\]")
_KEY = re.compile(r"(?<=\[')[^']+(?='\])|[^.\[\]'$]+")
_SAVED = {"save", "saved", "protect", "protected", "heal", "healed"}
_CONTEXT = ("round", "phase", "kind", "channel", "recipients", "game", "turn")
_MAPPING = ColumnMapping(
    **{name: f"_{name}" for name in ("speaker", "text", "target", "role", "sent_at", "reply_to", *_CONTEXT[:-1])}
)
_MOST_DEEP, _MOST_SHOWN = 40, 6
_LEAST_TOLD = 4
_LEAST_BLANKS = 4
_LONGEST_YAML = 200_000
_ALIASED = re.compile(r"(?:^|[\s\[{,:-])&\S", re.MULTILINE)
# A larger part of the text that stands under unknown keys may be what people say.
_MUCH_UNREAD = 0.5
# What stands around a message for its reading alone: whose chat it is in, and who speaks in what stands below.
_AROUND = ("agent", "author")
_ORDERS = ("order", "speakingorder", "speakerorder")
_LISTED_PLAYER = re.compile(r"\b(?:agents|participants|players)\[\d+\]\Z")
_OF_PARTS = frozenset({"round", "day", "phase", "step", "message", "turn"})
_GAME_IDS = ("game_id", "gameId", "dialogue_id", "dialog_id", "conversation_id", "match_id", "session_id")


@dataclass
class _Walk:
    """The rows found so far, with the players and the winner told beside them, and all longer texts by their place."""

    rows: list[TableRow] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    players: dict[str, dict[str, Any]] = field(default_factory=dict)
    winner: str | None = None
    copies: int = 0
    asked: Question | None = None
    _lists: dict[str, list[list[str]]] = field(default_factory=dict)
    _grown: set[str] = field(default_factory=set)
    _items: dict[str, list[TableRow]] = field(default_factory=dict)
    _later: dict[str, list[TableRow]] = field(default_factory=dict)

    def visit(self, value: Any, path: str, around: Mapping[str, Any], depth: int = 0) -> None:
        """Takes what a value holds, in its order."""
        if depth > _MOST_DEEP:
            return
        if isinstance(value, list):
            value = _with_speakers(value)
            if len(value) > 1 and all(map(_is_chat, value)):
                value = {f"Agent {number}": chat for number, chat in enumerate(value, start=1)}
                self._mapping("", set(), value, path, around, depth)
                return
            written = self._written(value, around)
            again = self._read_before(written)
            for place, item in enumerate(value):
                count = len(self.rows)
                is_room = column_key(path.rpartition(".")[2]) in ("channels", "rooms") and isinstance(item, dict)
                room = {"channel": item["name"]} if is_room and isinstance(item.get("name"), str) else {}
                if place not in again:
                    self.visit(item, step(path, place), {**around, **room}, depth + 1)
                    self._items |= {written[place]: self.rows[count:]} if written else {}
        elif isinstance(value, dict):
            self._object(value, path, around, depth)
        elif is_long(value):
            self.texts[path] = value

    def _written(self, items: list[Any], around: Mapping[str, Any]) -> list[str]:
        """The items of a list as they are compared, by speaker and text; none of a list that begins with no text."""
        if not (items and isinstance(items[0], dict) and any(map(is_long, items[0].values()))):
            return []
        named = [guess_mapping(item) if isinstance(item, dict) else ColumnMapping() for item in items]
        said = [
            item if one.missing else (item[one.speaker], item[one.text], item.get("mid") or item.get("message_id"))
            for item, one in zip(items, named, strict=True)
        ]
        return [f"{around.get('agent')}: {one!r}" for one in said]

    def _read_before(self, written: list[str]) -> Collection[int]:
        """The places of a list's items that were read with an earlier copy of it.

        A program that writes its whole state after each step repeats all that was said. Where the longer copy came
        first, it is read again where the shorter ones stand.
        """
        if not written:
            return ()
        lists, size = self._lists.setdefault(written[0], []), len(written)
        longer = next((one for one in lists if len(one) > size and one[:size] == written), None)
        if longer is not None and written[0] not in self._grown:
            later = {one: self._items.pop(one) for one in longer if one in self._items}
            gone = {id(row) for rows in later.values() for row in rows}
            self.rows = [row for row in self.rows if id(row) not in gone]
            self._later |= later
            lists.remove(longer)
        # One thing said twice does not make a copy of a list.
        begun = [len(one) for one in lists if one == written[: len(one)] and size > 1]
        self._grown |= {written[0]} if begun else set()
        again = [place for place, one in enumerate(written) if one in self._items]
        lists[:] = [*(one for one in lists if one != written[: len(one)]), written]
        found = again if len(again) >= max(2, size / 2) else range(max(begun, default=0))
        self.copies += len(found)
        return found

    def finish(self) -> None:
        """Puts what no shorter copy of a list reached behind all else, where no round is told."""
        later = [row for one, rows in self._later.items() if one not in self._items for row in rows]
        around = ("_round", "_phase", "_turn")
        self.rows += [
            TableRow(place, {key: one for key, one in cells.items() if key not in around}) for place, cells in later
        ]

    def unread(self) -> dict[str, str]:
        """The texts that stand in no row, by their place."""
        read = [one for row in self.rows for one in row.cells.values() if isinstance(one, str)]
        taken = {*read, *(line for text in read for line in text.split("\n"))}
        return {place: text for place, text in self.texts.items() if text not in taken}

    def take_told(self) -> None:
        """Takes the texts of an unknown key that tell who said what ("Ann said: ..."), and the others beside them."""
        by_key: dict[str, dict[str, str]] = {}
        for path, text in self.texts.items():
            by_key.setdefault(_PLACE.sub("", path), {})[path] = text
        for texts in by_key.values():
            told = {path: said for path, text in texts.items() if (said := part("told speech").fullmatch(text.strip()))}
            if len(told) < _LEAST_TOLD or len({said["name"] for said in told.values()}) < 2:
                continue
            for path, text in texts.items():
                said = told.get(path)
                cells = {"kind": "event", "text": text}
                if said:
                    to = {"recipients": said["to"]} if said["to"] else {}
                    cells = {"speaker": said["name"], "text": said["text"].strip("\"'“”"), **to}
                self._row(path, {}, cells, {})

    def _object(self, held: Mapping[str, Any], path: str, around: Mapping[str, Any], depth: int) -> None:
        plain = {key: one for key, one in held.items() if isinstance(one, (str, int, float)) or one is None}
        for key, one in plain.items():
            self.visit(one, step(path, key), around)
        named = guess_mapping(plain)
        cells = _cells(plain, named)
        context = {**around, **{name: cells[name] for name in _CONTEXT if cells.get(name) is not None}}
        # A night has a number of its own where a day has one.
        at_night = plain.get("night") if cells.get("round") is None else None
        context["round"] = cells["round"] = _number(context.get("round") if at_night is None else at_night)
        # Around all of a game stands how it ended.
        context |= dict.fromkeys(("round", "phase", "turn")) if path == "$" else {}
        speaker, text = _speaker(cells.get("speaker")), cells.get("text")
        if isinstance(text, str) and not speaker:
            speaker = _author(held) or self._player_in(plain) or context.get("author")
        is_agent = isinstance(speaker, str) and text is None and column_key(named.speaker or "").startswith("agent")
        if isinstance(speaker, str) and around.get("agent") and fold(speaker) in word_set("chat_roles") | {"system"}:
            # What an agent was told, by others and by the program, is heard elsewhere or by that agent alone.
            is_own = fold(speaker) not in ("human", "system", "user")
            speaker = str(around["agent"]) if is_own else speaker
            context["channel"] = ANSWERS_TO_THE_PROGRAM if is_own else "system"
        voter = next((plain[key] for key in plain if column_key(key) in word_set("voter_columns")), None)
        before = len(self.rows)
        if (speaker or voter) and "target" not in cells and channel_named(str(context.get("channel"))) is None:
            text = self._cast(path, context, plain, speaker or voter, text)
        # Of a player who is listed by an id the role alone looks like a name.
        is_id = _LISTED_PLAYER.search(path) and column_key(named.speaker or "") in word_lists("columns")["role"]
        player, role = (plain.get("id"), speaker) if is_id else (speaker, cells.get("role"))
        # The speaker's name alone is not said.
        is_said = isinstance(text, str) and text.strip() not in ("", speaker)
        if isinstance(speaker, str) and is_said:
            recipients = word_lists("columns")["recipients"]
            # A vote that was taken is not told again beside what is said.
            taken = {*named.used, *(key for key in plain if len(self.rows) > before and column_key(key) == "vote")}
            rest = {key: one for key, one in plain.items() if key not in taken and one not in (None, "")}
            lists = (one for key, one in held.items() if isinstance(one, list) and column_key(key) in recipients)
            hearers = next(lists, None)
            said = {"speaker": speaker, "text": text}
            if "public" in words_in(named.text or ""):
                said["channel"] = "public"
            elif not {*map(column_key, held)}.isdisjoint(word_set("vote_kinds")) and "channel" not in context:
                # A reason given with a vote: nothing says whether the others heard it.
                said["channel"] = REASONS_OF_VOTES
            self._row(path, context, cells | said | ({"recipients": hearers} if hearers else {}), rest)
        elif text is None and (result := _result(cells, voter, speaker, str(context.get("kind")), held)):
            self._row(path, context, result, {})
        elif isinstance(speaker, str) and (thought := _text_under("thought_columns", plain)) and not _is_graded(plain):
            self._row(path, context, {"speaker": speaker, "text": thought, "channel": THOUGHTS_CHANNEL}, {})
        elif isinstance(player, str) and isinstance(role, str):
            self._player(player, role)
        count = len(self.rows)
        held = {key: one for key, one in held.items() if not _is_in_parts(one, text)}
        self._members(held, path, {**context, "agent": speaker} if is_agent else context, depth)
        if isinstance(text, str) and text.strip() and not speaker and len(self.rows) == count:
            # Nobody says it: an event of the game, or left out, and counted.
            self._row(path, context, {"text": text}, {})

    def _cast(self, path: str, context: Mapping[str, Any], plain: Mapping[str, Any], speaker: Any, text: Any) -> Any:
        """Takes the vote that an object holds beside its speaker; returns the text, of which is asked who heard it."""
        cast = next((one for key, one in plain.items() if column_key(key) == "vote" and isinstance(one, str)), None)
        if cast is None:
            return text
        # Where it turns out to be for no player, its reason is asked about.
        reason = None if text is not None or is_approval(cast) else _text_under("reason_labels", plain)
        why = {} if reason is None else {"text": reason, "channel": REASONS_OF_VOTES}
        self._row(path, context, {"speaker": speaker, "target": cast, "kind": "vote", **why}, {})
        return text

    def _player_in(self, plain: Mapping[str, Any]) -> str | None:
        """The player whom a row names under a key of no known meaning, such as ``wolf``."""
        others = {*word_lists("columns")["target"], *word_lists("columns")["recipients"], *word_set("vote_kinds")}
        known = {*self.players} | {row.cells.get("_speaker") for row in self.rows}
        held = {one for key, one in plain.items() if isinstance(one, str) and column_key(key) not in others}
        found = held & known
        return found.pop() if len(found) == 1 else None

    def _members(self, held: Mapping[str, Any], path: str, context: Mapping[str, Any], depth: int) -> None:
        author = _author(held)
        inner = {**context, "author": author} if author else context
        for said in _side_by_side(held):
            self._row(path, context, said, {})
        saved = {str(one) for key, one in held.items() if not _SAVED.isdisjoint(words_in(key))}
        for key, one in held.items():
            if author and (texts := _texts_of(one)):
                self._row(step(path, key), inner, {"speaker": author, "text": "\n".join(texts)}, {})
            else:
                self._member(key, one, step(path, key), inner, depth, saved)

    def _member(
        self, key: str, held: Any, path: str, context: Mapping[str, Any], depth: int, saved: Collection[str]
    ) -> None:
        bare, words = column_key(key), set(_WORDS.findall(key.casefold()))
        names = [_who(one) for one in (held if isinstance(held, list) else [held])]
        if isinstance(held, str) and bare in word_set("winner_keys") and held.strip():
            self.winner = held
        elif isinstance(held, str) and words & word_set("leave_kinds") and " was " in held:
            self._row(path, context, {"text": held, "kind": "elimination"}, {})
        elif (
            (bare in word_set("gone_keys") or words_in(key)[-1:] in (["kill"], ["eliminations"]))
            and names
            and all(isinstance(name, str) and _is_name(name) for name in names)
        ):
            # Nobody is gone whom somebody saved.
            for name in names if str(True) not in saved else ():
                if name not in saved and not is_abstention(name):
                    self._row(path, context, {"target": name, "kind": "elimination"}, {})
        elif isinstance(held, dict):
            self._mapping(bare, words, held, path, _context_of(key, words, context), depth)
        elif isinstance(held, list):
            inner = _context_of(key, words, context)
            lines = [line for one in held if (line := _LINE.fullmatch(_text(one)))]
            names_said = {line["name"] for line in lines}
            # One name before all of them is a label.
            if len(lines) < len(held) or len(names_said) < 2 or all(map(_is_label, names_said)):
                self.visit(held, path, inner, depth + 1)
                return
            self.visit([{"speaker": line["name"], "text": line["text"]} for line in lines], path, inner, depth + 1)

    def _mapping(
        self, bare: str, words: set[str], held: dict[str, Any], path: str, inner: Mapping[str, Any], depth: int
    ) -> None:
        """Votes by voter, roles by player, texts by speaker, or an object like any other."""
        votes = {name: _told_vote(name, text) or text for name, text in held.items()}
        is_by_voter = held and word_set("vote_kinds").isdisjoint(map(column_key, held))
        if words & word_set("vote_kinds") and is_by_voter and all(map(_is_name, votes.values())):
            for voter, target in votes.items():
                self._row(path, inner, {"speaker": voter, "target": target or "none", "kind": "vote"}, {})
        elif (bare in word_set("player_keys") or "roles" in words) and held and all(map(_role, held.values())):
            for name, role in held.items():
                self._player(name, str(_role(role)))
        elif len(held) > 1 and all(map(_is_chat, held.values())):
            for name, chat in held.items():
                self.visit(chat, step(path, name), {**inner, "agent": name}, depth + 1)
        elif len(held) > 1 and self._are_texts(held):
            # Under a key that is not known to hold speech, nothing says that the others heard it.
            is_said = bare.removesuffix("s") in {*word_lists("columns")["text"], *word_set("speech_labels")}
            place = {} if is_said or "channel" in inner else {"channel": bare}
            for name, text in held.items():
                self._row(path, {**inner, **place}, {"speaker": name, "text": text}, {})
        else:
            self.visit(held, path, inner, depth + 1)

    def _are_texts(self, held: Mapping[str, Any]) -> bool:
        """Whether an object holds a text by each player's name."""
        known = {*self.players} | {row.cells.get("_speaker") for row in self.rows}
        return all(
            _text(text).strip() and (name in known or _text(text).startswith(f"{name}: "))
            for name, text in held.items()
        )

    def _player(self, name: str, role: str) -> None:
        self.players.setdefault(name, {"name": name, "role": role, "alignment": alignment_of(role)})

    def _row(self, place: str, context: Mapping[str, Any], cells: Mapping[str, Any], rest: Mapping[str, Any]) -> None:
        known = {
            f"_{name}": one for name, one in {**context, **cells}.items() if one is not None and name not in _AROUND
        }
        self.rows.append(TableRow(place, {**known, **rest}))


def is_long(value: Any) -> bool:
    """Whether a text is longer than a name or a label."""
    return isinstance(value, str) and value.count(" ") >= _LEAST_BLANKS


def _cells(plain: Mapping[str, Any], named: ColumnMapping) -> dict[str, Any]:
    """The values of an object by what they are; a turn stands apart from a round until all are known."""
    cells = {name: plain[column] for name, column in named.as_dict().items() if column is not None}
    if is_turn(named.round):
        cells["turn"] = _number(cells.pop("round"))
    return cells


def _result(
    cells: Mapping[str, Any], voter: Any, speaker: Any, kind: str, held: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The cells of a vote or of somebody's end, told without a text; a kill only where it says that nobody is saved."""
    target, words = cells.get("target"), {*_WORDS.findall(str(cells.get("kind")).casefold())}
    is_end = bool(words & word_set("leave_kinds")) or ("kill" in words and held.get("saved") is False)
    role = cells.get("role") or next((held[key] for key in held if column_key(key) == "role"), None)
    # Who executes is not who is gone.
    done = None if words & {"execute", "eliminate", "lynch", "exile", "kill"} else speaker
    if is_end and (gone := target or done) and isinstance(gone, str) and (not target or speaker in (None, role)):
        return {"target": gone, "role": role, "kind": "elimination"}
    # What a vote was cast for is told apart from the vote.
    if (voter or speaker) and target is not None and (voter or "vote" in kind.casefold()) and "reason" not in words:
        return {"speaker": voter or speaker, "target": target, "kind": kind if is_ballot_at_night(kind) else "vote"}
    return None


def _speaker(name: Any) -> Any:
    """A speaker's name, of whom a program may know only the number."""
    return f"Player {name}" if isinstance(name, int) and not isinstance(name, bool) else name


def _who(held: Any) -> Any:
    """The speaker's name in an object that tells of somebody; any other value as it is."""
    return _speaker(held.get(guess_mapping(held).speaker or "")) if isinstance(held, dict) else held


def _author(held: Mapping[str, Any]) -> str | None:
    """The name of a speaker who is an object of its own, beside the texts: ``{"speaker": {"name": "Ann"}, ...}``."""
    speakers = (one for key, one in held.items() if isinstance(one, dict) and column_key(key) in _AUTHORS)
    names = (one.get(key) for one in speakers for key in ("display_name", "name", "full", "title"))
    return next((name for name in names if _text(name).strip()), None)


_AUTHORS = ("speaker", "author", "creator", "sender", "commenter")


def _texts_of(value: Any) -> list[str]:
    """The texts of a list that holds nothing but what one speaker says, block by block."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return []
    mappings = [guess_mapping(item) for item in value]
    texts = [item.get(mapping.text or "") for item, mapping in zip(value, mappings, strict=True)]
    is_one = all(mapping.speaker is None for mapping in mappings)
    return texts if is_one and all(isinstance(text, str) and text.strip() for text in texts) else []


def _is_in_parts(value: Any, text: Any) -> bool:
    """Whether a list holds the parts of the text beside it, such as its words and pictures."""
    parts = [_text(item.get("text")) for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return bool(parts) and "".join(parts) == text


def _text_under(words: str, plain: Mapping[str, Any]) -> str | None:
    """The first text under one of the keys in a list of words."""
    held = (one for key, one in plain.items() if column_key(key) in word_set(words))
    return next((one for one in held if isinstance(one, str) and one.strip()), None)


def _is_chat(value: Any) -> bool:
    """Whether a value is what a program and one agent wrote to each other: texts by ``user`` and ``assistant``."""
    if not (isinstance(value, list) and value and all(isinstance(item, dict) for item in value)):
        return False
    return all({"role", "content"} <= item.keys() and item["role"] in _CHAT_ROLES for item in value)


_CHAT_ROLES = ("system", "user", "assistant", "tool")


def _is_graded(plain: Mapping[str, Any]) -> bool:
    """Whether a number beside a text grades somebody, so that the text is a judge's."""
    graded = (one for key, one in plain.items() if not word_set("grades").isdisjoint(words_in(key)))
    return any(isinstance(one, (int, float)) for one in graded)


def _with_speakers(items: list[Any]) -> list[Any]:
    """The items of a list that tells who speaks by an id that comes again, or by a key: ``{"Ann": "Hello"}``."""
    if len(items) > 2 and all(_is_pair(item) for item in items):
        counts = Counter(item[0] for item in items)
        are_names = max(counts.values()) > 1 and all(_LINE.fullmatch(f"{name}: x") for name in counts)
        return [{"speaker": name, "text": text} for name, text in items] if are_names and len(counts) > 1 else items
    if len(items) < 2 or not all(isinstance(item, dict) for item in items):
        return items
    mappings = [guess_mapping(item) for item in items]
    if any(mapping.speaker is not None for mapping in mappings):
        return items
    held = (_text(item.get(mapping.text or "")) for item, mapping in zip(items, mappings, strict=True))
    lines = [line.groupdict() for text in held if (line := _LINE.fullmatch(text))]
    if len(lines) == len(items) and len({line["name"] for line in lines}) > 1:
        return [item | {"speaker": one["name"], "text": one["text"]} for item, one in zip(items, lines, strict=True)]
    ids = [item.get("id") for item in items]
    if all(mapping.text for mapping in mappings) and all(isinstance(one, str) for one in ids):
        return [{**item, "speaker": item["id"]} for item in items] if 1 < len(set(ids)) <= len(ids) / 2 else items
    texts = [{key: one for key, one in item.items() if isinstance(one, str) and " " in one.strip()} for item in items]
    counts = Counter(key for text in texts for key in text)
    # One word is a text, too, where the same key holds others.
    texts = [
        {key: one for key, one in item.items() if isinstance(one, str) and one.strip() and key in counts}
        for item in items
    ]
    # Entries of the same keys hold fields, not speakers.
    are_fields = len({frozenset(text) for text in texts}) < 2
    if are_fields or any(mapping.used for mapping in mappings) or not all(texts) or max(counts.values()) < 2:
        return items
    return [
        {"speaker": name, "text": one} | ({"role": role} if role else {}) | _form(item)
        for item, text in zip(items, texts, strict=True)
        for key, one in text.items()
        for name, role in [_named(key)]
    ]


def _is_pair(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 2 and all(isinstance(one, str) and one.strip() for one in item)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _named(key: str) -> tuple[str, str | None]:
    """Name and role of a key such as "Ann(Seer)"."""
    name, _, rest = key.partition("(")
    role = rest.strip(" )")
    return name.strip() or key, role if is_role(role) else None


def _side_by_side(held: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Texts with speakers and recipients of an object that holds them as lists of one length, as the cells of rows.

    Other texts there have no speaker.
    """
    lists = {column_key(key): one for key, one in held.items() if isinstance(one, list) and one}
    lists = {key: one for key, one in lists.items() if all(isinstance(value, (str, int)) for value in one)}
    columns = word_lists("columns")
    said, names, hearers = (
        next((key for key in lists if key.removesuffix("s") in known), None)
        for known in (columns["text"], {*columns["speaker"], *_ORDERS}, {*columns["recipients"], "receiver"})
    )
    if said is None or names is None:
        return
    count = len(lists[names])
    if count == 1 and len(lists[said]) > 1 and all(isinstance(text, str) for text in lists[said]):
        # Several lines of one speaker.
        yield {"text": "\n".join(lists[said]), "speaker": _speaker(lists[names][0])}
        return
    to = lists.get(hearers or "", [])
    for key, texts in lists.items():
        if len(texts) != count or not all(isinstance(text, str) and (key == said or " " in text) for text in texts):
            continue
        for place, (text, name) in enumerate(zip(texts, lists[names], strict=True)):
            speaker = {"speaker": _speaker(name)} if key == said else {}
            yield {"text": text, **speaker} | (
                {"recipients": _speaker(to[place])} if speaker and len(to) == count else {}
            )


def _form(item: Mapping[str, Any]) -> dict[str, str]:
    """The channel of an answer in a set form that is not asked for as speech: nothing says that others hear it."""
    asked = " ".join(one for key, one in item.items() if isinstance(one, str) and is_moderator(key))
    is_form = any(isinstance(one, dict) and "type" in one for one in item.values())
    is_speech = {*_WORDS.findall(asked.casefold())} & {"discuss", "discussing", "public", "speak", "speech"}
    return {"channel": ANSWERS_IN_A_FORM} if is_form and asked and not is_speech else {}


def _told_vote(voter: str, text: Any) -> str | None:
    """The target in a sentence about the voter: "Host: Ann votes for Ben. Reason: ..."."""
    told = (shape("vote").fullmatch(one) for one in part("between sentences").split(_text(text)))
    return next((match["target"] for match in told if match and match["voter"].endswith(voter)), None)


def _is_label(name: str) -> bool:
    """Whether ordinary words stand before a colon, also counted or as a key: "1. find key", "dead_players"."""
    return is_ordinary(name.replace("_", " ").lstrip("0123456789. "))


def _number(value: Any) -> int | None:
    digits = re.findall(r"\d{1,9}", str(value)) if isinstance(value, (str, int, float)) else []
    return int(digits[0]) if digits else None


def _is_name(value: Any) -> bool:
    return value is None or (isinstance(value, str) and 0 < len(value) <= 60)


def _role(value: Any) -> str | None:
    if isinstance(value, dict):
        role = next((value[key] for key in value if column_key(key) in ("role", "rolename", "gamerole")), None)
        value = role if isinstance(role, str) else None
    return value if isinstance(value, str) and 0 < len(value) <= 60 else None


def _context_of(key: str, words: set[str], context: Mapping[str, Any]) -> dict[str, Any]:
    """The round, phase and channel that a key says for what stands below it."""
    inner = dict(context)
    if match := _NUMBERED.fullmatch(key):
        period = "turn" if match["period"].casefold() == "turn" else "round"
        inner[period] = int(match["number"]) if match["number"] else inner.get(period)
        if match["period"].casefold() in ("day", "night"):
            inner["phase"] = match["period"].casefold()
    elif channel_named(key) in ("team", "private"):
        inner["channel"] = key
        inner |= {"kind": "vote"} if words & word_set("vote_kinds") else {}
    elif words & word_set("grades"):
        # What is said in it is said about the talk.
        inner.setdefault("channel", key)
    elif words & word_set("vote_kinds"):
        inner["kind"] = "vote"
    if is_ballot_at_night(key):
        inner["phase"] = "night"
    return inner


def _with_lists(record: Any, limits: Limits) -> Any:
    """A record with the lists that its texts hold as JSON."""
    written = isinstance(record, dict) and [key for key, one in record.items() if _text(one).startswith("[{")]
    return record | {key: opened(record[key], limits) for key in written} if written else record


def values_of(document: Document) -> list[Any]:
    """The values of JSON, of JSON Lines, or of a short file of YAML; none of any other text."""
    try:
        if document.text.lstrip()[:1] in ("{", "["):
            return [_with_lists(node.value, document.limits) for node in records(document)]
        if len(split_heading(document)[0]) > 1:
            return [
                {key: opened(one, document.limits) for key, one in row.cells.items()}
                for row in text_table(document).rows
            ]
        if len(document.text) > _LONGEST_YAML or _ALIASED.search(document.text):
            # Aliases make a short file a long one.
            return []
        value = yaml.load(document.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return [parse_json(json.dumps(value, default=str), document.limits)] if isinstance(value, (dict, list)) else []
    except (InputError, yaml.YAMLError, ValueError, RecursionError):
        return []


def _walk(document: Document) -> list[_Walk]:
    """The games of a file, found once for recognising and reading; none where nobody says anything in it."""
    kept = document.kept.get(FORMAT)
    if kept is None:
        found = list(_games(values_of(document)))
        if not any(map(_is_game, found)):
            for walk in found:
                walk.take_told()
        if not any(map(_is_game, found)):
            found = _of_exchanges(document, [text for walk in found for text in walk.texts.items()])
        # Beside a game, one in which nobody is known to speak is refused and not passed over.
        kept = document.kept[FORMAT] = found if any(map(_is_game, found)) else []
    assert isinstance(kept, list)
    return kept


def _of_exchanges(document: Document, texts: list[tuple[str, str]]) -> list[_Walk]:
    """The games of records whose keys say who speaks: each record one, unless it holds one text of each side alone.

    A person who calls these keys text is told that nobody speaks.
    """
    values = values_of(document)
    said = list(exchanges(values))
    records: dict[str, list[str]] = {}
    for one in said:
        records.setdefault(one.record, []).append(one.side)
    # People come again from record to record, and say more than a word; other records hold other things.
    again = Counter(map(tuple, records.values()))
    long = {one.side for one in said if is_long(one.text) and again[tuple(records[one.record])] > 1}
    said = [one for one in said if one.part or one.side != one.key or {*records[one.record]} <= long]
    said = said if any(is_long(one.text) for one in said) else []
    speakers = dict.fromkeys(one.speaker for one in said)
    listed = ", ".join(name.replace(",", " ") for name in speakers)
    keys = ", ".join(f'"{shorten(key)}"' for key in [*dict.fromkeys(one.key for one in said)][:_MOST_SHOWN])
    answer = document.answers.speaker(listed)
    if len(speakers) < 2 or answer == "text":
        return []
    is_sure = answer or all(is_certain(one.side) for one in said)
    taken = {one.text for one in said}
    others = Counter(_KEY.findall(_PLACE.sub("", place))[-1] for place, text in texts if text not in taken)
    unread = ", ".join(f'"{shorten(key)}" ({count})' for key, count in others.most_common(_MOST_SHOWN)) or "none"
    words = f"No key names a speaker: {keys} are taken as what {shorten(listed)} say. Texts not read: {unread}."
    question = Question(Topic.SPEAKER, listed, words, (answer or "player") if is_sure else None, ("player", "text"))
    is_whole = max(Counter((one.record, one.side) for one in said).values()) > 1
    walks: dict[str, _Walk] = {}
    for one in said:
        walk = walks.setdefault(one.record if is_whole else "", _Walk(asked=question))
        walk.rows.append(TableRow(one.place, {"_speaker": one.speaker, "_text": one.text, "part": one.part}))
    return [*walks.values()]


def _games(values: list[Any]) -> Iterator[_Walk]:
    whole = _Walk()
    parts = []
    for place, value in enumerate(_with_speakers(values)):
        walk = _Walk()
        path = f"$[{place}]" if len(values) > 1 else "$"
        walk.visit(value, path, {})
        walk.finish()
        if len(values) > 1 and isinstance(value, dict) and not (walk.rows or walk.players or walk.winner):
            game = value.get(guess_mapping(value).game or "")
            walk.rows.append(TableRow(path, {"_game": game, "record": ", ".join(map(str, value))}))
        parts.append(walk)
    # Entries that each hold players, or an id of their own, and what people say are games; rounds of one game are not.
    ids = {str(value.get(key)) for value in values if isinstance(value, dict) for key in _GAME_IDS if value.get(key)}
    is_each = all(_is_game(walk) for walk in parts)
    is_own = all(walk.players for walk in parts) or all(walk.winner for walk in parts) or _have_ids(values)
    if len(parts) > 1 and (len(ids) == len(parts) or (is_each and is_own)):
        yield from parts
        return
    for walk in parts:
        whole.rows += walk.rows
        whole.players |= walk.players
        whole.texts |= walk.texts
        whole.winner = walk.winner or whole.winner
        whole.copies += walk.copies
    yield whole


def _have_ids(values: Sequence[Any]) -> bool:
    """Whether each value has an id of its own under one key, such as "case_id", that counts no rounds."""
    keys = {key for key in values[0] if words_in(key)[-1:] == ["id"]} if isinstance(values[0], dict) else set()
    keys = {key for key in keys if not {*words_in(key)} & _OF_PARTS}
    held = [[value.get(key) for value in values if isinstance(value, dict)] for key in keys]
    return any(len({*map(str, ids)}) == len(values) and None not in ids for ids in held)


def _keeps_to_itself(place: str) -> bool:
    """Whether a key on the way to a text says that nobody else hears it: a thought, a plan, what a model was told."""
    inner = word_set("thought_columns") | word_set("thought_labels") | word_set("action_labels") | word_set("calls")
    keys = _KEY.findall(_PLACE.sub("", place))
    return any(column_key(key) in inner or channel_named(key) in ("team", "private") for key in keys)


def _is_game(walk: _Walk) -> bool:
    speakers = {row.cells["_speaker"] for row in walk.rows if "_text" in row.cells and "_speaker" in row.cells}
    return len(speakers) > 1


def _with_round(row: TableRow, *, is_count: bool) -> TableRow:
    """The row with its turn as round, or beside its other cells where turns only count the messages."""
    if "_turn" not in row.cells:
        return row
    cells = dict(row.cells)
    return TableRow(row.place, {"turn" if is_count else "_round": cells.pop("_turn"), **cells})


def _read(document: Document) -> Found:
    def read(walk: _Walk, mapping: ColumnMapping) -> Found:
        is_count = counts_messages([row.cells.get("_turn") for row in walk.rows if "_text" in row.cells])
        rows = [_with_round(row, is_count=is_count) for row in walk.rows]
        columns = dict.fromkeys([*_MAPPING.used, *(column for row in rows for column in row.cells)])
        about = {"players": list(walk.players.values()), "winner": walk.winner}
        found = table_games(document, mapping, ParsedTable(tuple(columns), tuple(rows)), about)
        if not isinstance(found, ReadResult):
            return found
        kinds, left_out = Counter(found.kinds), list(found.left_out)
        unread = walk.unread()
        for place, text in unread.items():
            leave_out(kinds, left_out, place, text, "its key is not known to hold what somebody says")
        assert found.transcript is not None
        unknown = {place: len(text) for place, text in unread.items() if not _keeps_to_itself(place)}
        said = sum(len(message.text) for message in found.transcript.messages)
        is_much = sum(unknown.values()) > _MUCH_UNREAD * (sum(unknown.values()) + said)
        keys = Counter(_KEY.findall(_PLACE.sub("", place))[-1] for place in unknown)
        shown = ", ".join(f'"{shorten(key)}" ({count})' for key, count in keys.most_common(3))
        told = f"Much of the text stands under keys of no known meaning and is left out: {shown}." if is_much else ""
        told = " ".join(filter(None, (found.not_understood, told)))
        again = f"{counted(walk.copies, 'item')} of lists that copy an earlier one left out."
        remarks = (again,) if walk.copies else ()
        questions = (*found.questions, *((walk.asked,) if walk.asked else ()))
        found = replace(found, kinds=kinds, left_out=tuple(left_out), not_understood=told)
        return replace(found, remarks=remarks, questions=questions)

    def game(walk: _Walk) -> ReadResult:
        is_told = len({row.cells.get("_game") for row in walk.rows}) == 1
        found = read(walk, _MAPPING if is_told else replace(_MAPPING, game=None))
        assert isinstance(found, ReadResult)
        return found

    games = _walk(document)
    if len(games) == 1:
        # Rows that name several games are as many.
        return read(games[0], _MAPPING)
    return [(str(number), partial(game, walk)) for number, walk in enumerate(games, start=1)]


READER = FileReader(FORMAT, lambda document: bool(_walk(document)), _read)
