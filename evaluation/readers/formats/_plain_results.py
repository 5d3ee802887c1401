"""Lines of a plain-text transcript that nobody says: lists of players and roles, votes, eliminations, the winner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evaluation.readers.base.roster import alignment_of, is_abstention
from evaluation.readers.formats._plain_lines import is_name

_EMPHASIS = re.compile(r"\*\*|__|^#+\s+|(?<!\w)[*_]|[*_](?!\w)")
_LIST = re.compile(
    r"(?:the\s)?(?:(?P<players>players?(?: list)?|cast|participants?|characters|dramatis personae|seats)"
    r"|(?P<roles>roles?(?: list)?|role assignments?|identities))(?:\s?\(.{1,30}\))?\s*(?::\s*(?P<rest>.*)|)",
    re.IGNORECASE,
)
_VOTES = re.compile(
    r"(?:the\s)?(?:votes?|voting|vote results?|results? of the vote|ballots?|tally)\s*:?\s*(?P<rest>.*)", re.I
)
_ENTRY = re.compile(
    r"(?:[-*•]|\d{1,3}[.)])?\s*(?P<name>[^:=()\[\]\n]{1,60}?)"
    r"(?:\s*[(\[](?P<bracket>[^()\[\]]{1,60})[)\]]|\s*(?P<mark>:|=|->|→|\s[-–—]\s|\bis (?:the|an?)\b|\bas\b)\s*"
    r"(?P<role>.{1,60})|)\s*[.,;]?"
)
_VOTE = re.compile(
    r"(?P<voter>.{1,60}?)(?: \([^()]*\))?,? (?:has |have )?(?:voted|votes|vote)"
    r"(?: (?:for|against|to (?:eliminate|lynch|execute|hang|kill|exile|banish|remove))| out)? "
    r"(?P<target>.{1,60}?)(?:\s?[,;:]? ?\(?(?P<why>because .*|\(.*\))\)?)?[.!]?"
)
_ABSTAINS = re.compile(
    r"(?P<voter>.{1,60}?) (?:abstained|abstains|did not vote|didn't vote|skipped the vote|passes)(?: .{0,30})?[.!]?"
)
_ARROW = re.compile(r"(?P<voter>.{1,60}?)\s*(?:->|→|=>|➜|-->|⟶|▶|>)\s*(?P<target>.{1,60}?)[.]?")
_FOR = re.compile(r"(?P<voter>.{1,60}?)(?:\s*[:=]\s*|\s+[-–—]\s+| for )(?P<target>.{1,60}?)[.]?")
_TALLY = re.compile(
    r"(?P<target>.{1,60}?)(?:\s*[:=-]?\s*\(?(?P<count>\d{1,3})(?: votes?)?\)?)\s*(?:[:-]|from|by|\()\s*"
    r"(?P<voters>[^()]{1,400}?)\)?[.]?"
)
_OUT = re.compile(
    r"(?P<player>.{1,60}?)(?:,? \(?(?:the|an?) (?P<before>[\w -]{2,30})\)?,?| \((?P<bracket>[\w -]{2,30})\),?)?"
    r" (?:(?:was|is|has been|have been|got|gets|were) (?:voted out|eliminated|lynched|executed|killed|hanged|murdered"
    r"|exiled|banished|removed|found dead|sent home|put to death|attacked and killed|thrown out)"
    r"|died|dies|is dead|has died)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_OUT_LABEL = re.compile(
    r"(?:eliminated|elimination|lynched|voted out|executed|killed|died|dead|exiled|out|night kill|killed in the night)"
    r"\s*[:=]\s*(?P<player>[^,()\-–—.]{1,60}?)"
    r"(?:,? \(?(?:the |an? )?(?P<role>[\w -]{2,30})\)?| [-–—] (?P<after>[\w -]{2,30}))?[.!]?",
    re.IGNORECASE,
)
_ROLE_AFTER = re.compile(
    r"(?:(?:he|she|they|it|who|whose role|\w+) (?:was|is|were|had been) |role(?: was)?:? |revealed (?:as|to be) |\()"
    r"(?:the |an? )?(?P<role>[A-Za-z][\w -]{1,29}?)(?:\)|[.,;!]|$)",
    re.IGNORECASE,
)
# What is asked, supposed or only likely has not happened.
_UNSURE = re.compile(
    r"[?]|\b(?:if|when|unless|until|would|will|may|might|could|should|think|thinks|believe|suppose|maybe|almost|nearly|not)\b",
    re.IGNORECASE,
)
# "Ann died laughing", "Ann is dead to me", "Ann was removed from the chat" are something else.
_LEAVES = re.compile(
    r"\s*(?:$|[.,;:!(–—-]|(?:in|during|at|by|on|last|and|with|overnight|tonight|today|this|after|out|first)\b"
    r"|from the (?:game|village|town|table)\b)",
    re.IGNORECASE,
)
_AT_NIGHT = re.compile(r"\b(?:night|murdered|found dead|killed)\b", re.IGNORECASE)
_WINNER = re.compile(
    r"(?:winners?\s*[:=]\s*(?P<label>.{1,40}?)"
    r"|(?:the )?(?P<side>[\w ]{3,30}?) (?:wins?|won|have won|has won)(?: the game)?)[.!]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_PLAIN_ROLE = re.compile(r"[\w' /-]{2,40}")

_CAPITALISED = re.compile(r"[^\W\d_a-zà-ÿ][\w'’.-]*(?: [^\W\d_a-zà-ÿ][\w'’.-]*){0,2}(?: \d{1,3})?")
_NO_NAMES = frozenset(
    {"he", "she", "they", "it", "i", "you", "we", "who", "that", "this"}
    | {"everyone", "everybody", "nobody", "no", "one", "somebody", "someone", "the", "a", "an"}
    | {"yesterday", "sadly", "unfortunately", "then", "so", "today", "tonight", "now", "finally", "suddenly", "later"}
)

# The longest line that is looked at: a tally of fifty names fits, and no pattern meets more.
_LONGEST = 2000

Find = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Entry:
    """A player in a list, with the role where one is given."""

    name: str
    role: str | None


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote; ``target`` is ``None`` for an abstention."""

    voter: str
    target: str | None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Departure:
    """A player who leaves, with the role if it is told."""

    player: str
    role: str | None
    is_at_night: bool


def bare(line: str) -> str:
    """A line without emphasis, the signs of a heading and needless space; nothing of a line too long for a result."""
    return " ".join(_EMPHASIS.sub("", line).split()) if len(line) <= _LONGEST else ""


def opens_list(line: str) -> tuple[bool, str] | None:
    """Whether a line opens a list of players: (does it promise roles, what stands behind the colon)."""
    match = _LIST.fullmatch(bare(line))
    return None if match is None else (match["roles"] is not None, (match["rest"] or "").strip())


def opens_votes(line: str) -> str | None:
    """The text behind "Votes:"; empty where the line is only the heading of a list of votes."""
    written = bare(line)
    match = _VOTES.fullmatch(written)
    if match is None or (match["rest"] and ":" not in written):
        return None
    return match["rest"].strip()


def entry_of(line: str, *, is_open: bool) -> Entry | None:
    """A line of a list of players; behind a colon only a known role counts unless the list is one of roles."""
    match = _ENTRY.fullmatch(bare(line))
    if match is None:
        return None
    name, role = match["name"].strip(), (match["bracket"] or match["role"] or "").strip(" .*") or None
    if not is_name(name) or (role is not None and not _PLAIN_ROLE.fullmatch(role)):
        return None
    is_sure = role is None or match["bracket"] or match["mark"] != ":" or is_open or alignment_of(role) is not None
    return Entry(name, role) if is_sure and (role is None or len(role.split()) <= 4) else None


def entries_in(text: str, *, has_roles: bool) -> list[Entry]:
    """The players of a list in one line; none where one of its parts is not one, or lacks the role that it promises."""
    parts = [part for part in re.split(r"[,;]\s*(?![^()]*\))|\s+and\s+", text.rstrip(".")) if part.strip()]
    found = [entry_of(part, is_open=True) for part in parts]
    complete = all(entry and (entry.role or not has_roles) for entry in found)
    return [entry for entry in found if entry] if complete else []


def tells_result(line: str) -> bool:
    """Whether a line is a list of players or votes, an elimination or a winner, by its first word."""
    written = bare(line)
    return (
        opens_list(written) is not None
        or opens_votes(written) is not None
        or _OUT_LABEL.fullmatch(written) is not None
        or bool((won := _WINNER.fullmatch(written)) and won["label"])
    )


def looks_like_a_ballot(line: str) -> bool:
    """Whether a line below "Votes:" may be one of them: two short names, with a sign between them."""
    written = re.sub(r"^(?:[-*•]|\d{1,3}[.)])\s+", "", bare(line))
    match = _ARROW.fullmatch(written) or _FOR.fullmatch(written)
    return match is not None and all(len(match[side].split()) <= 3 for side in ("voter", "target"))


def ballots_in(line: str, find: Find, *, is_list: bool) -> list[Ballot]:
    """The votes that a line tells; none where it names somebody unknown. ``find`` gives a name as the game has it."""
    written = re.sub(r"^(?:[-*•]|\d{1,3}[.)])\s+", "", bare(line))
    if match := _VOTE.fullmatch(written):
        made = _ballot(match["voter"], match["target"], find, match["why"])
        return [made] if made else []
    if (match := _ABSTAINS.fullmatch(written)) and (voter := find(match["voter"])):
        return [Ballot(voter, None)]
    if match := _TALLY.fullmatch(written):
        voters = [find(one.strip()) for one in re.split(r",\s*|\s+and\s+|;\s*", match["voters"])]
        target = find(match["target"].strip(" :-"))
        if target and all(voters) and len(voters) == int(match["count"]):
            return [Ballot(voter, target) for voter in voters if voter]
    parts = re.split(r"[,;]\s+", written)
    found = [_listed_ballot(part, find, is_list=is_list) for part in parts]
    return [ballot for ballot in found if ballot] if all(found) else []


def _listed_ballot(part: str, find: Find, *, is_list: bool) -> Ballot | None:
    for pattern in (_ARROW, _VOTE, _FOR) if is_list else (_ARROW,):
        if (match := pattern.fullmatch(part.strip())) and (made := _ballot(match["voter"], match["target"], find)):
            return made
    return None


def _ballot(voter: str, target: str, find: Find, why: str | None = None) -> Ballot | None:
    who, whom = find(voter.strip()), find(target.strip(" ."))
    if who is None:
        return None
    if whom is None:
        return Ballot(who, None, why) if is_abstention(target.removeprefix("to ").strip(" .")) else None
    return Ballot(who, whom, why)


def departures_in(line: str, find: Find) -> Iterator[Departure]:
    """The players who leave by a line that nobody says, with the role that it or its next sentence tells."""
    sentences = _SENTENCE.split(bare(line))
    for place, sentence in enumerate(sentences):
        if _UNSURE.search(sentence):
            continue
        if match := _OUT_LABEL.fullmatch(sentence):
            names, role, rest = match["player"], match["role"] or match["after"], ""
        elif match := _OUT.fullmatch(sentence):
            if not _LEAVES.match(match["rest"]):
                continue
            names, role = match["player"], match["before"] or match["bracket"]
            rest = f"{match['rest']} {sentences[place + 1] if place + 1 < len(sentences) else ''}"
        else:
            continue
        if role is None and (told := _ROLE_AFTER.search(rest)):
            role = told["role"] if alignment_of(told["role"]) or "role" in rest.casefold() else None
        for name in re.split(r",\s*|\s+and\s+", names.strip()):
            if player := find(name.strip()):
                yield Departure(player, role, bool(_AT_NIGHT.search(sentence)))


def winner_in(line: str) -> str | None:
    """The side that a line, or a sentence of it, calls the winner."""
    for sentence in _SENTENCE.split(bare(line)):
        match = None if _UNSURE.search(sentence) else _WINNER.fullmatch(sentence)
        if match and (match["label"] or alignment_of(match["side"])):
            return match["label"] or match["side"]
    return None


def names_of_departed(line: str) -> list[str]:
    """Those of whom a line says "Nell was killed", whoever they are."""
    sentences = (sentence for sentence in _SENTENCE.split(bare(line)) if not _UNSURE.search(sentence))
    matches = (_OUT.fullmatch(sentence) for sentence in sentences)
    names = [match["player"].strip() for match in matches if match and _LEAVES.match(match["rest"])]
    return [name for name in names if _CAPITALISED.fullmatch(name) and name.split()[0].casefold() not in _NO_NAMES]


def names_in_votes(line: str) -> tuple[str, ...]:
    """Voter and target of a line "Ann voted for Bob", whoever they are; nothing for other lines."""
    match = _VOTE.fullmatch(re.sub(r"^(?:[-*•]|\d{1,3}[.)])\s+", "", bare(line)))
    if match is None or not re.search(r" vote[sd]? (?:for|against|to|out) ", f"{bare(line)} "):
        return ()
    voter, target = match["voter"].strip(), match["target"].strip(" .")
    both = all(is_name(one) and one[0].isupper() and len(one.split()) <= 3 for one in (voter, target))
    if both and not is_abstention(target):
        return voter, target
    return (voter,) if is_name(voter) and voter[0].isupper() and is_abstention(target) else ()
