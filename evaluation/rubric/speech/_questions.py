"""Questions and demands that one player puts to another (rubric 1.0, metric 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.rubric.clauses.passage import Passage
from evaluation.rubric.speech.act_types import ActKind, SpeechAct

# "Why Alpha?", "Alpha last words?" and "what?" ask without any word of the game.
_SHORT_QUESTION = 3
_SHORT_CALL = 4
# What makes a question to a player one about the game.
_ASKED_FOR = "relevant opinion who why know agree said"


def find_questions(passage: Passage) -> Iterator[SpeechAct]:
    """Questions and demands that concern the game, put to a player or about one."""
    start = 0
    if passage.grammar.classes["end_question interrogative demand"].isdisjoint(passage.symbols):
        return
    for end in passage.sentence_ends:
        first, start = start, end + 1
        if not passage.has(end, "end_question") and not passage.any_of("interrogative demand", first, end):
            continue
        words = [at for at in range(first, end) if passage.coded.words[at]]
        if not words or passage.is_quoted(words[0]):
            continue
        asks = passage.has(end, "end_question") or passage.is_question(words[0])
        if asks or _demands(passage, words):
            targets = dict.fromkeys(_targets(passage, words, asks=asks))
            span = passage.span(words[0], end)
            yield from (SpeechAct(ActKind.QUESTION, target, *span) for target in targets if target != passage.speaker)


def _suspects(passage: Passage, words: Sequence[int]) -> bool:
    """Whether "is it you?" is asked."""
    return any(passage.has(at, "it") and passage.has(at + 1, "you") for at in words)


def _demands(passage: Passage, words: Sequence[int]) -> bool:
    if not passage.any_of("demand", words[0], words[-1]):
        return False
    # "Explain your vote", "Alpha, please explain", "can you explain"; but not "no answer" or "he does not explain".
    demands = [
        at for at in words if passage.has(at, "demand") and not passage.has(at + 1, "be_now be_past of seem have")
    ]
    return any(at == words[0] or passage.has(at - 1, "name comma stop please adv opening") for at in demands)


def _targets(passage: Passage, words: Sequence[int], *, asks: bool) -> Iterator[str | None]:
    """The player to whom a question or demand is put, else whom it is about; nobody for small talk."""
    is_short = len(words) <= _SHORT_CALL
    if not (is_short or passage.any_of(_ASKED_FOR, words[0], words[-1])):
        return
    called = [at for at in words if _is_called(passage, at, words)]
    is_about_the_game = passage.any_of(_ASKED_FOR, words[0], words[-1]) or _suspects(passage, words)
    if called:
        # "Alpha Bravo, what do you think?" calls both.
        yield from (passage.coded.players[at - 1] for at in called if passage.has(at - 1, "name"))
        yield from (passage.coded.players[at] for at in called)
    elif any(passage.has(at, "you your yourself") for at in words):
        target = passage.addressee(words[0]) or passage.last_called(words[-1]) or passage.partner
        if is_about_the_game and (asks or target is not None):
            yield target
    elif asks:
        yield from _asked_about(passage, words)
    else:
        target = passage.last_called(words[-1]) or passage.partner
        yield from () if target is None else (target,)


def _is_called(passage: Passage, position: int, words: Sequence[int]) -> bool:
    """Whether the name at ``position`` is that of somebody asked: "Alpha, why?", "any thoughts Alpha or Bravo?"."""
    if not passage.has(position, "name"):
        return False
    if passage.is_vocative(position):
        return True
    before = position - 1
    while passage.has(before, "and or comma name"):
        before -= 1
    is_last = position == words[-1] or passage.has(position + 1, "and or comma")
    return is_last and passage.has(before, "opinion")


def _asked_about(passage: Passage, words: Sequence[int]) -> Iterator[str | None]:
    for at in words:
        name = passage.coded.players.get(at)
        if name is not None and name != passage.speaker:
            opens = at == words[0] and passage.any_of("relevant opinion", at, words[-1])
            if opens or passage.has(at - 1, "auxiliary why about"):
                yield name
                return
    if passage.any_of("opinion", words[0], words[-1]) and passage.last_called(words[-1]) is not None:
        yield passage.last_called(words[-1])
    elif passage.any_of("anyone who", words[0], words[-1]) and passage.any_of("relevant opinion", words[0], words[-1]):
        yield None
    elif len(words) <= _SHORT_QUESTION and passage.has(words[0], "why who wh") and passage.partner is not None:
        is_bare = len(words) == 1 or passage.has(words[0], "why")
        yield from (passage.partner,) if is_bare else ()
