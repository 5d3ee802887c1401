"""Find what a line tells about the game: votes, players who leave, the winner, and lists of players."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from evaluation.readers._draft import alignment_of, is_abstention, is_neutral, word_lists, word_set
from evaluation.readers._line_shapes import part, shape

# The longest line that is looked at: a tally of fifty names fits, and no pattern meets more.
_LONGEST = 2000

Find = Callable[[str], str | None]
"""Gives a player's name as the game has it; ``None`` for anybody else."""
IsName = Callable[[str], bool]


class Ballot(NamedTuple):
    """A vote; no target for an abstention."""

    voter: str
    target: str | None
    why: str | None = None


class Departure(NamedTuple):
    """A player who leaves, with the role where it is told."""

    player: str
    role: str | None
    is_at_night: bool


def bare(line: str) -> str:
    """A line without emphasis, the signs of a heading and needless space; nothing of a line too long for a result."""
    return " ".join(part("emphasis").sub("", part("log tag").sub("", line)).split()) if len(line) <= _LONGEST else ""


def _sentences(line: str) -> list[str]:
    """The sentences of a line; empty ones for what is asked, supposed or only likely, since that has not happened."""
    return ["" if part("unsure").search(one) else one for one in part("between sentences").split(bare(line))]


def heading(line: str) -> tuple[int | None, str | None] | None:
    """The round and phase that a heading starts; ``None`` for any other line."""
    line = part("chinese round").sub(r"Round \g<number>", part("has begun").sub(r"\g<verb>", line))
    stripped = line.strip(" #*=_~-–—[](){}<>|:.!\t")
    is_decorated = stripped != line.rstrip(" :.!")
    lowered = stripped.casefold()
    phase = next((one for one in ("night", "day", "vote") if lowered in word_set(f"{one}_headings")), None)
    if phase and (is_decorated or lowered in word_set("spoken_headings") or stripped.isupper()):
        return None, phase
    match = shape("heading").fullmatch(stripped)
    if match is None:
        return None
    number = _number_of((match["ordinal"] or match["number"]).casefold())
    rest = match["rest"].casefold()
    if number is None or not _ends_like_a_heading(match["rest"], is_decorated=is_decorated):
        return None
    period = (match["second"] or match["period"]).casefold()
    phase = "night" if period == "night" else None if period in ("round", "turn") else "day"
    return number, "vote" if re.search(r"\bvot", rest) else "night" if "night" in rest else phase


def _ends_like_a_heading(rest: str, *, is_decorated: bool) -> bool:
    behind = re.findall(r"[^\W\d_]+", rest)
    # "[Round 1] Ann: hi" and "Round 2: Ann: hi" are messages.
    if any(mark in rest.lstrip(":-–—(,|/ ") for mark in ":]"):
        return False
    if all(word.casefold() in word_set("heading") for word in behind):
        return True
    stands_apart = is_decorated or rest[:1] in ":-–—(,|/"
    return stands_apart and len(behind) <= 4 and behind[0][0].isupper()


def opens_list(line: str) -> tuple[bool, str] | None:
    """Whether a line opens a list of players: (does it promise roles, what stands behind the colon)."""
    match = shape("players").fullmatch(bare(line))
    return match and (match["roles"] is not None, (match["rest"] or "").strip())


def opens_votes(line: str) -> str | None:
    """The text behind "Votes:"; empty where the line is only the heading of a list of votes."""
    written = bare(line)
    match = shape("votes").fullmatch(written)
    return None if match is None or (match["rest"] and ":" not in written) else match["rest"].strip()


def is_role(written: str) -> bool:
    """Whether a text is a role that is known, and nothing else."""
    return len(written.split()) <= 4 and bool(part("plain role").fullmatch(written)) and (
        alignment_of(written) is not None or is_neutral(written)
    )  # fmt: skip


def entry(line: str, is_name: IsName, *, is_open: bool) -> tuple[str, str | None] | None:
    """Name and role in a line of a list of players.

    Behind a colon only a known role counts unless the list is one of roles.
    """
    match = shape("entry").fullmatch(bare(line))
    if match is None:
        return None
    name, role = match["name"].strip(), (match["bracket"] or match["role"] or "").strip(" .*") or None
    if not is_name(name) or (role is not None and not part("plain role").fullmatch(role)):
        return None
    is_sure = role is None or match["bracket"] or match["mark"] != ":" or is_open or alignment_of(role) is not None
    return (name, role) if is_sure and (role is None or len(role.split()) <= 4) else None


def entries(text: str, is_name: IsName, *, has_roles: bool) -> list[tuple[str, str | None]]:
    """The players of a list in one line; none where one of its parts is not one, or lacks the role that it promises."""
    # As a program prints a mapping: {'Ann': 'Seer', ...}.
    text = re.sub(r"^\{|\}$|(?<!\w)'|'(?!\w)", "", text) if text.startswith("{") else text
    parts = re.split(r"[,;]\s*(?![^()]*\))|\s+and\s+", text.rstrip("."))
    found = [entry(one, is_name, is_open=True) for one in parts if one.strip()]
    listed = [each for each in found if each and (each[1] or not has_roles)]
    return listed if len(listed) == len(found) else []


def tells_result(line: str) -> bool:
    """Whether a line is a list of players or votes, an elimination or a winner, by its first word."""
    written = bare(line)
    won = shape("winner").fullmatch(written)
    is_list = opens_list(written) is not None or opens_votes(written) is not None or "votes for:" in written
    return is_list or shape("out label").fullmatch(written) is not None or bool(won and won["label"])


def looks_like_a_ballot(line: str) -> bool:
    """Whether a line below "Votes:" may be one of them: two short names, with a sign between them."""
    written = part("point").sub("", bare(line))
    match = shape("arrow").fullmatch(written) or shape("ballot").fullmatch(written)
    return match is not None and all(len(match[side].split()) <= 3 for side in ("voter", "target"))


def ballots(line: str, find: Find, *, is_list: bool, is_told: bool = False) -> list[Ballot]:
    """The votes that a line tells; none where it names somebody unknown.

    Of what the game tells each sentence may be one, and what stands behind the only one says why.
    """
    written = part("point").sub("", bare(line))
    if found := _told_ballots(written, find):
        return found
    if match := shape("tally").fullmatch(written):
        voters = [find(one) for one in _names_in(match["voters"])]
        target = find(match["target"].strip(" :-"))
        if target and all(voters) and len(voters) == int(match["count"]):
            return [Ballot(voter, target) for voter in voters if voter]
    patterns = [shape(name) for name in (("arrow", "vote", "ballot") if is_list else ("arrow",))]
    for one in re.split(r"[,;]\s+", written):
        matches = (pattern.fullmatch(one.strip()) for pattern in patterns)
        made = next((made for match in matches if match and (made := _ballots(match, find))), [])
        if not made:
            break
        found += made
    else:
        return found
    sentences = part("between sentences").split(written) if is_told else []
    by_sentence = [_told_ballots(one, find) for one in sentences]
    votes = [vote for made in by_sentence for vote in made]
    if len(votes) == 1 and by_sentence[0] and votes[0].why is None:
        return [votes[0]._replace(why=" ".join(sentences[1:]) or None)]
    return votes


def _names_in(written: str) -> list[str]:
    return [name.strip() for name in re.split(r",\s*|\s+and\s+|;\s*", written)]


def _told_ballots(written: str, find: Find) -> list[Ballot]:
    if match := shape("vote").fullmatch(written):
        return _ballots(match, find, match["why"])
    match = shape("abstention").fullmatch(written)
    voters = [find(name) for name in _names_in(match["voter"])] if match else []
    return [Ballot(voter, None) for voter in voters if voter] if all(voters) else []


def _ballots(match: re.Match[str], find: Find, why: str | None = None) -> list[Ballot]:
    whole, target = find(match["voter"].strip()), match["target"].strip(" .")
    voters = [whole] if whole else [find(name) for name in _names_in(match["voter"])]
    whom = find(target)
    is_vote = whom is not None or is_abstention(match["target"].removeprefix("to ").strip(" ."))
    return [Ballot(voter, whom, why) for voter in voters if voter] if is_vote and all(voters) else []


def said_vote(text: str, voter: str, find: Find) -> tuple[Ballot, bool] | None:
    """The vote that is all of what a player says, and whether it is a command or a record rather than speech."""
    match = shape("vote said").fullmatch(bare(text)) or part("vote in json").fullmatch(text)
    if match is None:
        return None
    target = match["target"].strip(" .*")
    whom = find(target)
    return (Ballot(voter, whom), bool(match["command"])) if whom or is_abstention(target) else None


def votes_in_speech(text: str, find: Find) -> list[tuple[str, str]]:
    """Sentences of a text in which the speaker votes, and the player each is for; the last is the one that stands."""
    matches = map(part("vote in speech").fullmatch, part("between sentences").split(bare(text)))
    return [(match[0], whom) for match in matches if match and (whom := find(match["target"].strip(" .*")))]


def departures(line: str, find: Find, *, is_told: bool = True) -> Iterator[Departure]:
    """The players who leave by a line.

    Args:
        line: The line.
        find: Gives the players' names.
        is_told: Whether the game tells the line; else every sentence of it must tell a result and nothing more.
    """
    written = part("between sentences").split(bare(line))
    found: list[Departure] = []
    for place, sentence in enumerate(_sentences(line)):
        if match := shape("out label").fullmatch(sentence):
            role, rest = match["role"] or match["after"], ""
        elif (match := shape("out").fullmatch(sentence)) and part("leaves").match(match["rest"]):
            if not (is_told or part("leaves alone").fullmatch(match["rest"])):
                return
            role, rest = match["before"] or match["bracket"], " ".join((match["rest"], *written[place + 1 : place + 2]))
        elif is_told and (match := shape("killed by").fullmatch(sentence)) and _kills(match["side"], find):
            role, rest = None, "killed"
        elif is_told or (sentence and (shape("revealed").fullmatch(sentence) or _winner_in(sentence))):
            continue
        else:
            return
        if role is None and (told := part("role after").search(rest)):
            is_told_so = alignment_of(told["role"]) or "role" in rest.casefold()
            role = told["role"] if is_told_so and not part("way of death").search(told["role"]) else None
        players = filter(None, (find(name.strip()) for name in re.split(r",\s*|\s+and\s+", match["player"].strip())))
        found += [Departure(player, role, bool(part("at night").search(sentence))) for player in players]
    yield from found


def _kills(killer: str, find: Find) -> bool:
    return alignment_of(killer) == "mafia" or find(killer.strip()) is not None


def holders(line: str, find: Find) -> Iterator[tuple[str, str]]:
    """The players of whom a line says which role they have: "Mafia are: Ann, Bob", "Ann was a Villager!"."""
    told = shape("revealed").fullmatch(bare(line))
    if told and alignment_of(told["role"]) and (player := find((told["player"] or "").strip())):
        yield player, told["role"]
    match = shape("holders").fullmatch(bare(line))
    if match is None or alignment_of(match["role"]) != "mafia":
        return
    players = [find(name.strip()) for name in re.split(r",\s*|\s+and\s+", match["names"])]
    if all(players):
        yield from ((player, singular(match["role"])) for player in players if player)


def singular(role: str) -> str:
    """A role as that of one player: "Wolves" as "Wolf"."""
    one = role.removesuffix("s")
    return f"{one.removesuffix('ve')}f" if one.endswith("lve") else one


def _winner_in(sentence: str) -> str | None:
    match = shape("winner").fullmatch(sentence)
    return (match["label"] or match["side"]) if match and (match["label"] or alignment_of(match["side"])) else None


def winner(line: str, *, is_told: bool = True) -> str | None:
    """The side that a line, or a sentence of it, calls the winner; of what a player says, only the whole line may."""
    sentences = _sentences(line)
    if not is_told and len(sentences) > 1:
        return None
    return next((side for sentence in sentences if (side := _winner_in(sentence))), None)


def _number_of(word: str) -> int | None:
    """The number that a word or digits say; ``None`` for any other word."""
    numbers = word_lists("words")["numbers"]
    return int(word) if word.isdigit() else numbers.index(word) // 2 + 1 if word in numbers else None


def named_in_results(line: str, is_name: IsName) -> Iterator[str]:
    """Voter and target of "Ann voted for Bob", and those of whom it is said "Nell was killed", whoever they are."""
    match = shape("vote").fullmatch(part("point").sub("", bare(line)))
    if match and re.search(r" vote[sd]? (?:for|against|to|out) ", f"{bare(line)} "):
        voter, target = match["voter"].strip(), match["target"].strip(" .")
        is_for_nobody = is_abstention(target)
        people = (voter,) if is_for_nobody else (voter, target)
        if all(is_name(one) and one[0].isupper() and (is_for_nobody or len(one.split()) <= 3) for one in people):
            yield from people
    for match in map(shape("out").fullmatch, _sentences(line)):
        name = match["player"].strip() if match and part("leaves").match(match["rest"]) else ""
        is_role_only = alignment_of(name) is not None
        if (
            part("capitalised").fullmatch(name)
            and not is_role_only
            and name.split()[0].casefold() not in word_set("no_names")
        ):
            yield name
