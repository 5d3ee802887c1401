"""Hold what was read of a game against its file: what the file says, and the reading has not, is asked about.

A reader of a format that it does not know takes what it understands. Here the file's own short lines and values are
searched for votes, eliminations and rounds, for thoughts that became public and for texts told twice; nothing is added
to the game: who imports it is told what stands there, and asked.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

from rapidfuzz.distance import OSA

from evaluation.errors import InputError
from evaluation.files.strict_json import shorten
from evaluation.readers._draft import column_key, word_lists, word_set, words_in
from evaluation.readers._game_log import heading
from evaluation.readers._line_shapes import part
from evaluation.readers.document import NO_PROGRAM, Document, ReadResult, records
from evaluation.readers.formats.chat import FORMAT as CHAT
from evaluation.readers.formats.nested_json import FORMAT as NESTED
from evaluation.readers.formats.plain_text import FORMAT as PLAIN_TEXT
from evaluation.readers.formats.talk_in_text import FORMAT as TALK_IN_TEXT
from evaluation.readers.tables import FORMAT as TABLE
from evaluation.readers.tables import is_parquet, table_head, text_table
from evaluation.text.display import counted, listed, shortened
from evaluation.text.normal import fold
from evaluation.transcript import Transcript

# The others are written by one program, whose readers know what stands in them.
_BY_LIKENESS = frozenset({CHAT, NESTED, TABLE, PLAIN_TEXT, TALK_IN_TEXT})
_LONGEST, _LONGEST_HEADING = 160, 4
_MOST_LINES = 200_000
_MOST_NAMED = 60
_LONG_TEXT, _TWICE_SHARE, _FEWEST_AT_ONCE = 40, 0.2, 3
# Not "has voted": a program says so among its messages, which our own tables hold without the votes.
_CAST = (
    r"(?:votes?|voted|casts? (?:a |their )?vote|-+>|=+>|→)"
    r"(?: (?:for|against|to (?:eliminate|lynch|kill|banish|exile)))?"
)
_CHOSEN = frozenset({"choice", "for", "target"})
_MOST_SHOWN = 4
_MOST_LISTED = 20
_MOST_KEYS, _LONGEST_FLAG = 8, 6
_FLAGS = ({"true", "false"}, {"yes", "no"})
NOT_READ = "of the file not read"
"""In the remark on keys whose names tell nothing."""
# Columns of the table that Dramaturg itself exports.
_OF_AN_EXPORT = frozenset({"transcript_id", "source_format", "message_id"})
_MOST_LOOKS = 20
_LEAST_LETTERS, _OFTEN = 5, 4
_KEY = re.compile(r"[^\W\d]\w{0,40}(?:[ .-]\w{1,40}){0,2}")
_KINDS_OF_TEXT = ("speech", "thought", "reason", "action")
_MEANT = ["winner_keys", "player_keys", "gone_keys", "voter_columns", "thought_columns", "kind_columns", "bot_flags"]
_MEANT += ["visibility_columns", "calls", "flag_words", "vote_kinds", *(f"{kind}_labels" for kind in _KINDS_OF_TEXT)]
# "votes: Approve", "(thinking) Well", "[quest] Fail".
_LABEL = re.compile(r"[*_]{0,2}(?:[(\[](?P<inside>[^\W\d][\w -]{2,30})[)\]]|(?P<label>[^\W\d][\w -]{2,30}):)")
_LABELLED_SHARE = 0.1
_ROUNDS = frozenset({"day", "round"})


def cross_checked(result: ReadResult, document: Document | None, mapped: frozenset[str]) -> ReadResult:
    """The result, with what stands in its file and is missing from the game in ``not_understood``.

    Args:
        result: A settled game.
        document: The file; ``None`` where it holds several games, so that its lines tell nothing about one.
        mapped: The columns of which a person said what they hold, and so knows the form; empty where nobody did.
    """
    game = result.transcript
    if game is None or result.format not in _BY_LIKENESS:
        return result
    if document is None:
        words = NO_PROGRAM if result.format == NESTED and not mapped else ""
        return replace(result, not_understood=" ".join(filter(None, [result.not_understood, words])))
    if result.format == TABLE and (head := table_head(document)) and {*head.columns} >= _OF_AN_EXPORT:
        return result
    said = [_squeezed(message.text) for message in game.messages]
    by_words = {PLAIN_TEXT, TALK_IN_TEXT}
    unread = [] if result.format in by_words else _unread_keys(game, "\n".join(said), document, result.format, mapped)
    signs = (_nearly_alike, _labelled, _only_listed, _inside_others)
    missing = [*_missing(game, said, document, result.format), *(told for sign in signs for told in sign(game))]
    is_foreign = not mapped and (result.format == NESTED or any(one.is_word for one in unread))
    flags = [f'"{shorten(one.path)}" is yes or no, and may say who could hear.' for one in unread if one.is_flag]
    told = " ".join(filter(None, [result.not_understood, *missing, *flags, NO_PROGRAM if is_foreign else ""]))
    count = f"{counted(len(unread), 'key')} {NOT_READ}"
    more = f" and {len(unread) - _MOST_KEYS} more" if len(unread) > _MOST_KEYS else ""
    shown = ", ".join(shorten(one.path) for one in unread[:_MOST_KEYS]) + more
    remarks = (*result.remarks, f"{count}: {shown}.") if unread else result.remarks
    return replace(result, not_understood=told, remarks=remarks)


def _labelled(game: Transcript) -> Iterator[str]:
    """A remark on public messages that begin with the same few labels: "votes: Approve", "(thinks) Well."."""
    names = {fold(player.name) for player in game.players}
    found = [
        (fold(match["inside"] or match["label"]), message.speaker)
        for message in game.discussion
        if (match := _LABEL.match(message.text))
    ]
    counts = Counter(label for label, _ in found if label not in names)
    speakers = Counter(label for label, _ in {*found})
    shared = [label for label, count in counts.items() if count >= _FEWEST_AT_ONCE and speakers[label] > 1]
    total = sum(counts[label] for label in shared)
    if total >= _LABELLED_SHARE * len(game.discussion):
        shown = ", ".join(
            f'"{shorten(label)}" ({counts[label]})' for label in sorted(shared, key=counts.__getitem__)[-3:]
        )
        if shown:
            yield f"{counted(total, 'public message')} begin with a label and may be no speech: {shown}."


def _inside_others(game: Transcript) -> Iterator[str]:
    """A remark on lines of a message that begin with the name of another speaker, nearly as messages do."""
    names = "|".join(re.escape(name) for name in dict.fromkeys(message.speaker for message in game.discussion))
    begins = re.compile(rf"(?:{names})(?:\s?[<\[(;|–—].*| [-–—>]+ .*| I(?:'\w+)? .*)")
    below = ((message.speaker, line) for message in game.discussion for line in message.text.split("\n")[1:])
    found = [line for speaker, line in below if begins.fullmatch(line) and not line.startswith(speaker)]
    if found:
        yield f'{counted(len(found), "line")} below what another says may be messages: "{shorten(found[0])}".'


def _only_listed(game: Transcript) -> Iterator[str]:
    """A remark on a player beside whose listing nothing is told: it says, does and is called nothing."""
    names = {player.name for player in game.players} - {message.speaker for message in game.messages}
    names -= {name for vote in game.votes for name in (vote.voter, vote.target)}
    names -= {one.player for one in game.eliminations}
    said = fold(" ".join(message.text for message in game.messages if message.channel != "system")) if names else ""
    if unheard := [name for name in sorted(names) if fold(name) not in said][:_MOST_SHOWN]:
        yield f"Of {listed([shorten(name) for name in unheard])}, taken for a player, nothing but the name is told."


def _nearly_alike(game: Transcript) -> Iterator[str]:
    """A remark on a speaker of few messages whose name is another's but for one letter."""
    said = Counter(message.speaker for message in game.discussion)
    names = [name for name in said if len(name) >= _LEAST_LETTERS and not any(map(str.isdigit, name))]
    pairs = (
        (rare, name)
        for rare in names
        for name in names[:_MOST_NAMED]
        if said[rare] * _OFTEN <= said[name] and OSA.distance(fold(rare), fold(name), score_cutoff=1) == 1
    )
    if pair := next(pairs, None):
        yield f'The speakers "{shorten(pair[0])}" and "{shorten(pair[1])}" may be one.'


class _Unread(NamedTuple):
    """A key that was not read, whether one of its values is a word, and whether they are yes and no."""

    path: str
    is_word: bool
    is_flag: bool


def _unread_keys(
    game: Transcript, said: str, document: Document, format_name: str, mapped: frozenset[str]
) -> list[_Unread]:
    """The keys and columns, as "usage.cost", whose names tell nothing and of whose values the game holds none."""
    people = {fold(player.name) for player in game.players}
    held = {*people, fold(game.winner or ""), fold(game.game_id)}
    held |= {fold(str(one)) for player in game.players for one in (player.role, player.model, player.alignment)}
    for message in game.messages:
        about = (message.id, message.round, message.phase, message.channel_name, message.reply_to, message.speaker)
        held |= {fold(str(one)) for one in (*about, *message.recipients)}
    known = _known_keys() | {column_key(one) for one in mapped}
    is_read: dict[str, bool] = {}
    held_words: defaultdict[str, set[str]] = defaultdict(set)
    looks = Counter[str]()
    stack: list[tuple[tuple[str, ...], Any]] = [((), root) for root in reversed(list(_roots(document, format_name)))]
    for _ in range(_MOST_LINES):
        if not stack:
            break
        keys, value = stack.pop()
        if isinstance(value, dict):
            # Names of players, and numbers, are not keys.
            inner = ((keys if fold(key) in people or not _KEY.fullmatch(key) else (*keys, key), key) for key in value)
            stack += reversed([(path, value[key]) for path, key in inner])
        elif isinstance(value, list):
            stack += [(keys, one) for one in reversed(value)]
        elif value not in (None, "") and keys and not is_read.get(path := ".".join(keys[-2:]), False):
            held_words[path].add(fold(str(value)[:_LONGEST_FLAG]))
            looks[path] += 1
            if looks[path] > _MOST_LOOKS:
                # Each looks through all that was said.
                continue
            words = _squeezed(str(value)[:_LONGEST])
            is_text = words.count(" ") > 2 and words[:_LONG_TEXT] in said
            is_read[path] = is_text or column_key(keys[-1]) in known or (isinstance(value, str) and words in held)
    return [
        _Unread(path, any(map(str.isalpha, "".join(held_words[path]))), held_words[path] in _FLAGS)
        for path, known in is_read.items()
        if not known
    ]


@cache
def _known_keys() -> frozenset[str]:
    """The keys whose names mean something to a reader: letters and digits."""
    return frozenset(chain(["id"], *word_lists("columns").values(), *(word_set(name) for name in _MEANT)))


def _missing(game: Transcript, texts: Sequence[str], document: Document, format_name: str) -> Iterator[str]:
    by_channel = list(zip((message.channel for message in game.messages), texts, strict=True))
    said = {text for channel, text in by_channel if channel != "system"}
    every = list(islice(_stated(document, format_name), _MOST_LINES))
    every += [_Stated(frozenset(), "", one.text.strip('"“”')) for one in game.messages if one.channel == "system"]
    yield from _kept_to_themselves({text for channel, text in by_channel if channel == "public"}, every)
    stated = [one for one in every if len(one.line) <= _LONGEST and _squeezed(one.line) not in said]
    names = [player.name for player in game.players][:_MOST_NAMED]
    yield from _results_told(game, stated, names)
    yield from _rounds_told(game, stated)
    yield from _told_twice(
        [(fold(one.speaker), text) for one, text in zip(game.messages, texts, strict=True) if one.channel == "public"]
    )


def _squeezed(text: str) -> str:
    return " ".join(fold(text).split())


class _Stated(NamedTuple):
    """A line of a text, or of a text in JSON or in a table's cell.

    Attributes:
        keys: The words of all keys above it.
        key: The innermost key; empty where there is none.
    """

    keys: frozenset[str]
    key: str
    line: str


def _stated(document: Document, format_name: str) -> Iterator[_Stated]:
    """The lines that the file states; none of a binary table."""
    roots = _roots(document, format_name)
    stack: list[tuple[frozenset[str], str, Any]] = [(frozenset(), "", root) for root in reversed(list(roots))]
    while stack:
        keys, last, value = stack.pop()
        if isinstance(value, dict):
            stack += [(_with_words(keys, key), key, held) for key, held in reversed(value.items())]
        elif isinstance(value, list):
            stack += [(keys, last, held) for held in reversed(value)]
        elif isinstance(value, str):
            if "\n" in value:
                yield _Stated(keys, last, value)
            yield from (_Stated(keys, last, line) for line in map(str.strip, value.splitlines()) if line)
        elif isinstance(value, int) and not isinstance(value, bool):
            yield _Stated(keys, last, str(value))


@lru_cache(maxsize=4096)
def _with_words(keys: frozenset[str], key: str) -> frozenset[str]:
    return keys | {*words_in(key)}


def _roots(document: Document, format_name: str) -> Iterable[Any]:
    """The values that the file holds: records, rows, or its text; none of a binary table."""
    if is_parquet(document):
        return []
    if document.json_error is not None or document.json is not None:
        return [node.value for node in records(document)] if format_name != PLAIN_TEXT else [document.text]
    if format_name == TABLE:
        # YAML is taken line by line.
        with suppress(InputError):
            return [dict(row.cells) for row in text_table(document).rows]
    return [document.text]


def _kept_to_themselves(public: Set[str], stated: Sequence[_Stated]) -> Iterator[str]:
    inner = word_set("inner_keys") | word_set("thought_labels")
    heard = public & {_squeezed(one.line) for one in stated if one.keys & inner}
    heard -= {_squeezed(one.line) for one in stated if not one.keys & inner} if heard else set()
    if heard:
        yield f"{counted(len(heard), 'public message')} stood under keys of thoughts, plans or secrets."


def _results_told(game: Transcript, stated: Sequence[_Stated], names: Sequence[str]) -> Iterator[str]:
    if len(names) < 2:
        return
    anybody = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    whole = re.compile(anybody, re.IGNORECASE)
    leaves = rf"(?:{part('gone').pattern})"
    cast = re.compile(rf"[\W_]*(?P<one>{anybody})[\W_]*{_CAST}[\W_]*(?P<other>{anybody})\b[^?]{{0,40}}", re.IGNORECASE)
    gone = re.compile(rf"[\W_]*(?P<one>{anybody})[\W_]*{leaves}\b.*", re.IGNORECASE)
    ballots, ends = word_set("vote_kinds"), word_set("gone_keys") | word_set("leave_kinds")
    votes = {(fold(vote.voter), fold(vote.target or "")) for vote in game.votes}
    out = {fold(one.player) for one in game.eliminations}
    told: dict[str, list[str]] = {"vote": [], "elimination": []}
    for keys, key, line in stated:
        # "Ann" under "player" beside a vote is who votes.
        own = {*words_in(key)}
        is_player = whole.fullmatch(line) is not None and bool(own & (_CHOSEN | ballots | ends) or whole.fullmatch(key))
        if ((match := cast.fullmatch(line)) and (fold(match["one"]), fold(match["other"])) not in votes) or (
            is_player and not votes and keys & ballots
        ):
            told["vote"].append(line)
        elif ((match := gone.fullmatch(line)) and fold(match["one"]) not in out) or (
            is_player and keys & ends and fold(line) not in out
        ):
            told["elimination"].append(line)
    for what, found in told.items():
        if found:
            count = counted(len(found), what)
            yield f'The file tells {count} more than could be read, the first by "{shorten(found[0])}".'


def _rounds_told(game: Transcript, stated: Sequence[_Stated]) -> Iterator[str]:
    short = [one.line for one in stated if len(one.line.split()) <= _LONGEST_HEADING]
    headings = {told[0] for line in short if (told := heading(line)) and told[0] is not None}
    numbers = {int(one.line) for one in stated if one.keys & _ROUNDS and one.line.isdecimal() and len(one.line) < 4}
    if len(headings | numbers) > 1 and all(message.round is None for message in game.messages):
        yield "The file tells rounds or days by number, and they could not be read."


def _told_twice(said: Sequence[tuple[str, str]]) -> Iterator[str]:
    at_once = sum(len(one[1]) >= _LONG_TEXT and one == before for before, one in pairwise(said))
    if at_once >= _FEWEST_AT_ONCE:
        yield f"{counted(at_once, 'message')} say what the message before them said, word for word: parts may overlap."
        return
    long = [one for one in said if len(one[1]) >= _LONG_TEXT]
    again = len(long) - len(Counter(long))
    if long and again >= max(2, _TWICE_SHARE * len(long)):
        yield f"{again} of {len(long)} long messages say again what their speaker had said, word for word."


def understood(transcript: Transcript) -> str:
    """Says in one line what a game was understood to hold; of what it lacks, that none was seen.

    "1 game: 2 players (Ann 12, Bob 9), 21 public messages, 3 others (3 team), rounds: none seen, ...". A vote at night
    is counted among the votes, and told.
    """
    said = Counter(message.speaker for message in transcript.discussion)
    names = [f"{shortened(name, 40)} {said[name]}" for name in transcript.player_names]
    more = [f"{len(names) - _MOST_LISTED} more"] if len(names) > _MOST_LISTED else []
    others = {name: count for name, count in by_channel(transcript).items() if name != "public"}
    votes = transcript.valid_votes
    at_night = sum(vote.phase == "night" for vote in votes)
    counts = (
        (len(names), "player", ", ".join((*names[:_MOST_LISTED], *more))),
        (len(transcript.discussion), "public message", ""),
        (sum(others.values()), "other message", ", ".join(f"{count:,} {name}" for name, count in others.items())),
        (len({message.round for message in transcript.messages} - {None}), "round", ""),
        (len(votes), "vote", f"{at_night:,} at night" if at_night else ""),
        (len(transcript.eliminations), "elimination", ""),
        (with_role(transcript), "role", ""),
    )
    parts = (
        counted(count, noun) + (f" ({about})" if about else "") if count else f"{noun}s: none seen"
        for count, noun, about in counts
    )
    return f"1 game: {', '.join(parts)}."


def by_channel(transcript: Transcript) -> dict[str, int]:
    """Returns how many messages stand in each channel, the most first; "public" counts the discussion alone."""
    heard = Counter(message.channel for message in transcript.messages if message.channel != "public")
    silent = len(transcript.messages) - heard.total() - len(transcript.discussion)
    return dict((+(heard + Counter({"public": len(transcript.discussion), "control or empty": silent}))).most_common())


def with_role(transcript: Transcript) -> int:
    """Returns how many players have a role."""
    return sum(player.role is not None for player in transcript.players)
