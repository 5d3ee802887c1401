"""A public message as word classes, with the people that its words stand for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from evaluation.rubric._grammar import Grammar
from evaluation.rubric.discussion import PreparedMessage
from evaluation.text.names import Mention
from evaluation.text.tokens import Token, sentences
from evaluation.transcript import Message

SCENE = 4
"""How many messages back the conversation is about the same player."""
Asked = Mapping[str, str | None]
"""What was asked of a scene, with the answers."""


class Scene:
    """The few messages before a message, in the same round. It remembers what it was asked.

    Reading a message under two scenes that give the same answers to what was asked gives the same.

    Args:
        speaker: Who speaks.
        number: The round.
        before: The messages before, oldest first.
    """

    def __init__(self, speaker: str, number: int | None, before: Sequence[PreparedMessage]) -> None:
        self.asked: dict[str, str | None] = {}
        self._speaker = speaker
        self._number = number
        self._before = before

    @property
    def partner(self) -> str | None:
        """The other player who spoke last."""
        if "partner" not in self.asked:
            authors = (prepared.message.speaker for prepared in self._same_round())
            self.asked["partner"] = next((author for author in authors if author != self._speaker), None)
        return self.asked["partner"]

    @property
    def topic(self) -> str | None:
        """The other player named last."""
        if "topic" not in self.asked:
            named = (mention.player for prepared in self._same_round() for mention in reversed(prepared.mentions))
            self.asked["topic"] = next((player for player in named if player != self._speaker), None)
        return self.asked["topic"]

    def gives(self, answers: Asked) -> bool:
        """Whether it gives these answers."""
        return all(getattr(self, name) == answer for name, answer in answers.items())

    def _same_round(self) -> Iterator[PreparedMessage]:
        """The messages before, latest first."""
        for prepared in reversed(self._before):
            if prepared.message.round != self._number:
                return
            yield prepared


# Between the words of a phrase none of these stands.
_PARTING = frozenset(".!?;:,\n\u2026\u2014")
_STOPS = frozenset(";:()[]{}\u2014\u2013\u2026|/\\>")
_QUOTES = frozenset('"\u201c\u201d\u00ab\u00bb')


@dataclass(frozen=True, slots=True)
class Coded:
    """A message as a string of word classes.

    ``code[i]`` is the class of word or punctuation mark ``i``; ``starts[i]`` and ``ends[i]`` its span in the original
    text; ``words`` the normalised words, empty for punctuation; ``players`` the player that a name stands for.
    """

    code: str
    starts: Sequence[int]
    ends: Sequence[int]
    words: Sequence[str]
    players: Mapping[int, str]


def encode(grammar: Grammar, text: str, tokens: Sequence[Token], mentions: Sequence[Mention]) -> Coded:
    """``text`` as word classes; contractions become several, punctuation between words becomes boundaries."""
    writer = _Writer(grammar, text)
    codes, places = writer.codes, writer.places
    classes, phrases = grammar.codes, grammar.phrases
    named = {mention.start: mention for mention in mentions}
    index, position, count = 0, -1, len(tokens)
    # Most words go through this loop and nothing else: it is the longest of the rules.
    while index < count:
        token = tokens[index]
        word, start, end = token
        # Most words stand behind one blank, and need no look at what parts them from the last.
        if start - position != 1 or text[position] != " ":
            writer.gap(position, start)
        index += 1
        if start in named:
            index = writer.name(named[start], tokens, index)
            end = tokens[index - 1].end
        else:
            code = classes[word]
            if word in phrases and index < count and tokens[index][0] in phrases[word]:
                length, code = _phrase(text, phrases[word][tokens[index].text], tokens, index, code)
                if length:
                    index += length
                    end = tokens[index - 1].end
                    token = Token(word, start, end)
            if len(code) == 1:
                codes.append(code)
                places.append(token)
            else:
                codes += code
                places += (token,) * len(code)
        position = end
    return writer.finish(position)


def _phrase(
    text: str,
    followers: Sequence[tuple[tuple[str, ...], str]],
    tokens: Sequence[Token],
    index: int,
    single: str,
) -> tuple[int, str]:
    """Number of words from ``index`` on that continue a phrase, and its class; 0 and ``single`` for none."""
    for rest, code in followers:
        last = index + len(rest)
        if last < len(tokens) and all(tokens[index + step].text == word for step, word in enumerate(rest, start=1)):
            gap = text[tokens[index - 1].end : tokens[last].start]
            if _PARTING.isdisjoint(gap):
                return 1 + len(rest), code
    return 0, single


class _Writer:
    """Collects the classes of one message from left to right."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self.codes: list[str] = []
        self.places: list[tuple[str, int, int]] = []
        self._players: dict[int, str] = {}
        self._characters = grammar.characters
        self._text = text
        self._sentence_ends = [end for _, end in sentences(text)]
        self._next_sentence = 0

    def gap(self, position: int, until: int) -> None:
        """Writes the punctuation between the end of the last word, -1 before the first one, and ``until``."""
        if position < 0:
            self._sentence_end(until)
            position = max(0, until - 1)
        gap = self._text[position:until]
        ending = self._sentence_end(until)
        if ending is not None:
            ending = max(ending, position)
            self._append(_ending(gap), position, ending)
            position = ending
        for name in _marks(gap, ending is not None):
            self._append(name, position, until)

    def _sentence_end(self, until: int) -> int | None:
        """The end of the sentence that ends before ``until``; ``None`` when it goes on."""
        found: int | None = None
        while self._next_sentence < len(self._sentence_ends) and self._sentence_ends[self._next_sentence] <= until:
            found = self._sentence_ends[self._next_sentence]
            self._next_sentence += 1
        return found

    def name(self, mention: Mention, tokens: Sequence[Token], index: int) -> int:
        """Writes a player's name that begins before ``index``; returns the index of the token after it."""
        while index < len(tokens) and tokens[index].start < mention.end:
            index += 1
        last = tokens[index - 1]
        self._players[len(self.codes)] = mention.player
        is_possessive = last.text.endswith("'s")
        self._append("name_poss" if is_possessive else "name", mention.start, last.end, last.text)
        return index

    def _append(self, name: str, start: int, end: int, word: str = "") -> None:
        self.codes.append(self._characters[name])
        self.places.append((word, start, end))

    def finish(self, position: int) -> Coded:
        """The coded message, closed by the mark that ends its last sentence."""
        start = max(position, 0)
        rest = self._text[start:]
        end = start + len(rest.rstrip())
        for name in (*_marks(rest, True), _ending(rest)):
            self._append(name, start, end)
        words, starts, ends = zip(*self.places, strict=True)
        return Coded("".join(self.codes), starts, ends, words, self._players)


@lru_cache(maxsize=4096)
def _ending(marks: str) -> str:
    """The kind of sentence end in a run of punctuation; "?!" is astonished, and asks only where the words do."""
    if "!" in marks or "\uff01" in marks:
        return "end_exclaim"
    return "end_question" if "?" in marks or "\uff1f" in marks else "end"


@lru_cache(maxsize=4096)
def _marks(gap: str, is_sentence_end: bool) -> tuple[str, ...]:
    """The boundary classes of the punctuation in ``gap``."""
    found: list[str] = []
    characters = set(gap)
    if not is_sentence_end:
        if characters & _STOPS or " - " in gap or "--" in gap or ".." in gap:
            found.append("stop")
        elif "," in characters:
            found.append("comma")
    if characters & _QUOTES:
        found.append("quote")
    if "=" in characters:
        found.append("be_now")
    if "@" in characters:
        found.append("at")
    return tuple(found)


# Nobody writes sentences of more words; hostile ones would make every look around them expensive.
_LONGEST_SENTENCE = 150
# Shorter words on "-ed" are not past tenses (bed, red, need).
_SHORTEST_PAST_TENSE = 4
_LONGEST_LIST = 24
_LONGEST_TAG = 6
# A question without a name is put to whom the message addressed last, so many words before at most.
_FARTHEST_CALL = 200


class Passage:
    """One message of a discussion, coded by a grammar: its clauses, their moods, and the people that words stand for.

    Args:
        prepared: The message with its tokens and mentions.
        grammar: The language's word classes.
        replied_to: The author of the message that it answers, if that is another player.
        scene: The conversation before it.
    """

    def __init__(self, prepared: PreparedMessage, grammar: Grammar, replied_to: str | None, scene: Scene) -> None:
        self.message: Message = prepared.message
        self.speaker = prepared.message.speaker
        self.grammar = grammar
        self.replied_to = replied_to
        self.keep = prepared.keep
        self.coded: Coded = self.keep(
            "coded", lambda: encode(grammar, prepared.message.text, prepared.tokens, prepared.mentions)
        )
        self.code = self.coded.code
        self.symbols = set(self.code)
        self._scene = scene
        self._classes = grammar.classes
        self._length = len(self.code)
        self._present: dict[str, Set[str]] = self.keep("present", dict)
        self._asking: dict[int, list[int]] = self.keep("asking", dict)
        self.sentence_ends = _sentence_ends(self.code, grammar.classes["full_stop"])
        """The positions of the marks that end the sentences; endless ones are cut."""

    def has(self, position: int, name: str) -> bool:
        """Whether the word at ``position`` is of the class or set ``name``; false outside the message."""
        return 0 <= position < self._length and self.code[position] in self._classes[name]

    def any_of(self, name: str, first: int, last: int) -> bool:
        """Whether a word from ``first`` to ``last``, both included, is of the class or set ``name``."""
        present = self._present.get(name)
        if present is None:
            present = self._present[name] = self._classes[name] & self.symbols
        return bool(present) and not present.isdisjoint(self.code[max(first, 0) : last + 1])

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The characters of the original text from word ``first`` to word ``last``, both included."""
        return self.coded.starts[first], self.coded.ends[last]

    def text(self, first: int, last: int) -> str:
        start, end = self.span(first, last)
        return self.message.text[start:end]

    def sentence(self, position: int) -> tuple[int, int]:
        """First word of the sentence around ``position``, and the mark that ends it."""
        number = bisect_left(self.sentence_ends, position)
        start = self.sentence_ends[number - 1] + 1 if number else 0
        return start, self.sentence_ends[number] if number < len(self.sentence_ends) else self._length - 1

    def clause(self, position: int) -> tuple[int, int]:
        """First and last word of the stretch around ``position`` without a boundary inside."""
        start, end = self.sentence(position)
        first = position
        while first > start and not self.has(first - 1, "stop quote but because"):
            first -= 1
        last = position
        while last + 1 < end and not self.has(last + 1, "stop quote but because"):
            last += 1
        return first, last

    def is_question(self, position: int) -> bool:
        """Whether the clause at ``position`` asks instead of stating.

        In a sentence with a question mark only a clause before the interrogative one states something: "Bravo, you
        voted for Alpha; why?" states, "You voted for Alpha?" asks. Without the mark, word order decides ("why did you
        vote").
        """
        start, end = self.sentence(position)
        if self.has(end, "end_question") and self._ends_in_a_tag(start, end):
            return True
        asking = self._asking.get(start)
        if asking is None:
            asking = self._asking[start] = self._interrogative_clauses(start, end)
        if asking:
            return asking[0] <= position
        return self.has(end, "end_question")

    def _ends_in_a_tag(self, start: int, end: int) -> bool:
        """Whether the sentence asks for agreement: "..., did he not?", "..., right?"."""
        first = end - 1
        while first > start and end - first < _LONGEST_TAG and not self.has(first, "comma stop"):
            first -= 1
        if not self.has(first, "comma stop") or first == start:
            return False
        is_verb = self.has(first + 1, "auxiliary") and self.any_of("subject it", first + 2, end - 1)
        is_word = first + 2 == end and self.has(first + 1, "right greeting no")
        return (is_verb and not self.any_of("other other_past voted", first + 3, end - 1)) or is_word

    def _interrogative_clauses(self, start: int, end: int) -> list[int]:
        if not self.any_of("interrogative", start, end):
            return []
        marks, code = self._classes["comma stop"], self.code
        starts = [start, *[at + 1 for at in range(start, end) if code[at] in marks]]
        return [at for at in starts if self.asks(at, end)]

    def asks(self, position: int, end: int) -> bool:
        """Whether a question begins at ``position``, after a greeting or a name; its sentence ends at ``end``."""
        while position < end and self.code[position] in self._classes["opening"]:
            position += 1
        # Nearly every clause opens with something else.
        if not self.has(position, "who why which wh when auxiliary"):
            return False
        if self.has(position, "who"):
            before = position - 2 if self.has(position - 1, "comma stop") else position - 1
            return self.has(end, "end_question") or not self.has(before, "listable third")
        if self.has(position, "why"):
            return True
        if self.has(position, "which") and self.has(position - 1, "comma") and not self.has(end, "end_question"):
            # "..., which is suspicious" comments on what stands before.
            return False
        if self.has(position, "wh when"):
            return self.has(position + 1, "auxiliary")
        if self.has(position + 1, "it") and self.has(position - 1, "name") and not self.has(end, "end_question"):
            # "Alpha did it" states.
            return False
        return self.has(position, "auxiliary") and self.has(position + 1, "asked")

    def is_conditional(self, position: int) -> bool:
        """Whether the clause at ``position`` stands under "if", "unless", "whether" and the like."""
        start, _ = self.sentence(position)
        if not self.any_of("if", start, position):
            return False
        for at in range(position, start - 1, -1):
            if self.has(at, "if"):
                return True
            if self.has(at, "clause_break") and at < position:
                return False
        return False

    def is_guess(self, position: int) -> bool:
        """Whether the clause at ``position`` is marked as a guess: "maybe", "probably", "I don't think that"."""
        start, _ = self.sentence(position)
        for at in range(position, start - 1, -1):
            if self.has(at, "hedge"):
                return True
            if self.has(at, "clause_break") and at < position:
                break
        return self._is_disbelieved(position)

    def is_doubted(self, position: int) -> bool:
        """Whether the words before ``position`` deny what follows: "I don't think that", "I doubt", "let's not"."""
        at = position - 1
        while self.has(at, "skip modal to be"):
            at -= 1
        return self.has(at, "not never") or self._is_disbelieved(position)

    def _is_disbelieved(self, position: int) -> bool:
        start, _ = self.sentence(position)
        if not self.any_of("doubt think believe", start, position - 1):
            return False
        for at in range(position - 1, start - 1, -1):
            if self.has(at, "doubt") or (self.has(at, "think believe") and self.has(at - 1, "not never")):
                return True
            if self.has(at, "clause_break"):
                return False
        return False

    def follows_condition(self, position: int) -> bool:
        """Whether the sentence up to ``position`` holds an "if": what comes after depends on it."""
        start, _ = self.sentence(position)
        return self.any_of("if", start, position - 1)

    def tells_of_the_past(self, position: int) -> bool:
        """Whether the clause at ``position`` states something about the past: a past tense, no modal, no question."""
        if self.is_quoted(position) or self.is_question(position) or self.is_conditional(position):
            return False
        first, last = self.clause(position)
        words = range(first, last + 1)
        if self.any_of("modal must lets please", first, last):
            return False
        return self.any_of("past", first, last) or any(self._looks_past(at) for at in words)

    def _looks_past(self, position: int) -> bool:
        word = self.coded.words[position]
        if word in self.grammar.past_words:
            return not self.has(position - 1, "to the")
        is_verb = self.has(position, "other seem believe")
        return is_verb and len(word) > _SHORTEST_PAST_TENSE and word.endswith(self.grammar.past_ending)

    def is_quoted(self, position: int) -> bool:
        """Whether ``position`` lies between quotation marks that do not enclose the whole message."""
        before = bisect_left(self._quotations, (position, position)) - 1
        return before >= 0 and self._quotations[before][0] < position < self._quotations[before][1]

    @cached_property
    def _quotations(self) -> list[tuple[int, int]]:
        marks = self._classes["quote"]
        if marks.isdisjoint(self.symbols):
            return []
        quotes = [at for at, character in enumerate(self.code) if character in marks]
        return [(start, end) for start, end in zip(quotes[::2], quotes[1::2], strict=False) if start > 0]

    def is_reported(self, position: int) -> bool:
        """Whether the clause at ``position`` is what somebody else says or thinks ("Alpha claims that I voted")."""
        start, _ = self.sentence(position)
        if not self.any_of("reporting", start, position - 1):
            return False
        before = position - 1
        while self.has(before, "skip have"):
            before -= 1
        if self.has(before, "joint then"):
            # "You claimed Seer and voted for Bravo": a second verb of the same subject.
            return False
        for at in range(position - 1, start - 1, -1):
            # "You told us nothing except that Golf is silent": the clause goes on.
            is_break = self.has(at, "clause_break") and not self.has(at + 1, "that")
            if is_break or (self.has(at, "and") and self.has(at + 1, "subject")):
                return False
            if self.has(at, "reporting"):
                return self._speaks_for_another(at, start)
        return False

    def _speaks_for_another(self, verb: int, start: int) -> bool:
        at = verb - 1
        is_denied = False
        while at >= start and self.has(at, "skip have did do not never modal"):
            is_denied |= self.has(at, "not never")
            at -= 1
        if self.has(at, "and"):
            # "Alpha claimed Seer and says that ...": the subject stands before the first of the two verbs.
            at = next((before for before in range(start, at) if self.has(before, "subject")), at)
        if at < start or self.has(at, "i we"):
            # "I never said that Alpha is Mafia" says nothing of Alpha; "I don't think that" does.
            return is_denied and not self.has(verb, "think believe")
        return self.has(at, "subject that who anothers")

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
            addressee = self.addressee(position)
            # "Ann, who voted for you": somebody else than Ann.
            return None if addressee in other else addressee
        return self.antecedent(position, other) if self.has(position, "third their her") else None

    def person_in_scene(self, position: int) -> str | None:
        """The player meant by "you" or "he" in a message without names: the partner, or the topic so far.

        Only for what a message does: a claim about the past must not rest on a guess about whom it means.
        """
        if self._names_others:
            return None
        if self.has(position, "you your"):
            # "Grey you are Mafia": a name that nobody has is called.
            return None if position == 1 and self.has(0, "other") and self.text(0, 0).istitle() else self.partner
        return self.topic if self.has(position, "third her their") else None

    @cached_property
    def _names_others(self) -> bool:
        return any(name != self.speaker for name in self.coded.players.values())

    def addressee(self, position: int) -> str | None:
        """The player whom "you" means: the one addressed by name in the sentence, else the one replied to.

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
        """The player meant by "he", "she" or "they": the only other one named in this sentence or the last."""
        start, _ = self.sentence(position)
        if start > 0:
            start, _ = self.sentence(start - 1)
        named = {name for at, name in self.names_between(start, position - 1) if not self.is_vocative(at)}
        named -= {self.speaker, *other}
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
        joined = any(self.any_of("and or", first + 1, second - 1) for first, second in pairwise(ordered))
        return ordered if joined else (position,)

    def listed_after(self, position: int) -> tuple[int, ...]:
        """The positions of the people enumerated from ``position`` on: "for Alpha and Bravo"."""
        found = [position]
        at = position + 1
        while self.has(at, "and") and self.has(at + 1, "listable") and len(found) < _LONGEST_LIST:
            found.append(at + 1)
            at += 2
        # "voted for Bravo and Charlie defended Delta", "and you, Charlie, defended": the last opens the next clause.
        if len(found) > 1 and (self.has(at, "verbal") or self.is_called_between(at + 1)):
            found.pop()
        return tuple(found)

    def is_called_between(self, position: int) -> bool:
        """Whether the name at ``position`` stands between commas behind a "you": "you, Mara, voted"."""
        is_between = self.has(position - 1, "comma") and self.has(position + 1, "comma")
        return is_between and self.has(position, "name") and self.has(position - 2, "you")


def _sentence_ends(code: str, stops: Set[str]) -> list[int]:
    ends = [position for position, character in enumerate(code) if character in stops]
    if len(code) <= _LONGEST_SENTENCE:
        return ends
    cut: list[int] = []
    last = -1
    for end in (*ends, len(code)):
        cut.extend(range(last + _LONGEST_SENTENCE + 1, end, _LONGEST_SENTENCE + 1))
        last = end
        if end < len(code):
            cut.append(end)
    return cut
