"""The script that made the shipped recordings: it answers in a judge's format without a language model.

Its marks come from counting words, so an edited persona, proposition or message changes them, as it would change those
of a model. They show that the harness notices changes. They do not show whether an agent is good, and every answer says
so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from evaluation.judging.answers import HIGHEST_SCORE, Answer, Idea, IdeasAnswer, ScoreAnswer
from evaluation.judging.guard.fencing import FENCE
from evaluation.judging.judges.offline import Measured, consistency, convergence, fluency
from evaluation.judging.judges.scripted import Script
from evaluation.judging.propositions.loading import PropositionLibrary
from evaluation.judging.protocol import JudgeRequest
from evaluation.judging.questions import proposition_id_of
from evaluation.text.tokens import STOP_WORDS, tokenize

_SAID = re.compile(r"^\[M(\d+)\] [^\n:]* acts: ([^\n]*\n?(?:\| [^\n]*\n?)*)", re.MULTILINE)
_PERSONA = re.compile(rf"^Persona of [^\n]*\n{FENCE}\n(.*?)\n{FENCE}", re.MULTILINE | re.DOTALL)
_PROPOSAL = re.compile(r"\b(?:let's|let us|we (?:could|should|will)|what if|how about|i propose|idea)\b", re.IGNORECASE)
_LONGEST_IDEA = 120
_CONFIDENCE = 0.5
_USUAL = 6
# So many words of the persona in what was said are as good as any more.
_ENOUGH_WORDS = 6
_LOWEST = 2

_Rule = Callable[[Sequence[Sequence[str]]], Measured]
_COUNTED: Mapping[str, _Rule] = {"fluency": fluency, "convergence": convergence, "consistency": consistency}


def scripted_answers(library: PropositionLibrary) -> Script:
    """The script, for :class:`evaluation.judging.judges.scripted.ScriptedJudge`.

    Args:
        library: Tells which propositions name what is bad: of these a low mark is good.
    """
    inverted = {each.id for own in library.by_file.values() for each in own if each.is_inverted}

    def answer(request: JudgeRequest) -> Answer:
        said = {int(number): text.replace("| ", "") for number, text in _SAID.findall(request.prompt.user)}
        if request.answer is IdeasAnswer:
            return IdeasAnswer(ideas=_ideas(said))
        goodness, why = _goodness(request, said)
        is_inverted = proposition_id_of(request.subject) in inverted
        return ScoreAnswer(
            reason=f"A script's answer, no model's: {why}",
            score=HIGHEST_SCORE - goodness if is_inverted else goodness,
            confidence=_CONFIDENCE,
            citations=[max(said)] if said else [],
        )

    return answer


def _ideas(said: Mapping[int, str]) -> list[Idea]:
    return [
        Idea(text=" ".join(text.split())[:_LONGEST_IDEA], citations=[number])
        for number, text in said.items()
        if _PROPOSAL.search(text)
    ]


def _goodness(request: JudgeRequest, said: Mapping[int, str]) -> tuple[int, str]:
    """The agent's score, 0 to 9, and its reason."""
    given = request.offline
    if given is not None and given.dimension in _COUNTED:
        measured = _COUNTED[given.dimension](given.groups)
        if measured.share is not None:
            return round(HIGHEST_SCORE * measured.share), measured.reason
    persona = _words("\n".join(_PERSONA.findall(request.prompt.user)))
    if not persona:
        return _USUAL, "nothing to count here."
    shared = sorted(persona & _words("\n".join(said.values())))
    goodness = _LOWEST + round((HIGHEST_SCORE - 1 - _LOWEST) * min(1.0, len(shared) / _ENOUGH_WORDS))
    return goodness, f"{len(shared)} words of the persona recur in what was said."


def _words(text: str) -> set[str]:
    return {token.text for token in tokenize(text)} - STOP_WORDS
