"""Prompts for the rows of the rubric. Every change of a text needs a new ``PROMPT_VERSION``."""

from __future__ import annotations

from evaluation.judging.prompts import UNTRUSTED

PROMPT_VERSION = "rubric-rows-2"
"""Part of the address of every answer: a new wording never gets an old answer."""

_ANSWERS = """\
Rules:
- Give your reason first: one short, concrete sentence that a player of the game would understand. Then the label,
  one of those named and nothing else, then how sure you are, from 0 to 1.
- Cite the messages that your reason rests on by their numbers, as in [M12]. Cite none that is not there.
- Judge by what was said. Who wins, who is right and how well something is written do not matter, unless the labels say
  so."""

_LAYOUT = """\
"[M12] Name: text" is what somebody said in the public discussion of a social deduction game; numbers count the messages
in their order, and lines behind "|" belong to the message above them. What is left out is said in parentheses."""


def _system(task: str, labels: str) -> str:
    return f"{task}\n\n{UNTRUSTED}\n\n{_LAYOUT}\n\nLabels:\n{labels}\n\n{_ANSWERS}"


MEMORY_SYSTEM = _system(
    "You check what players say about the past of their own game. You get the messages before, what the record holds, "
    "and one reference to the past that the record alone could not settle.",
    """\
- accurate: what was said or done before bears the reference out, in its meaning if not in its words.
- inaccurate: it contradicts the reference, or nothing of the kind was said or done although it would stand there; also
  when nobody can tell who is meant ("someone said").
- unverified: what is shown cannot settle it. Take this label whenever you would have to guess.""",
)

DEPTH_SYSTEM = _system(
    "You decide whether a message in a social deduction game shows strategic thinking.",
    """\
- strategic: it argues. It gives a reason or evidence, weighs somebody's behaviour, draws a conclusion, proposes a plan,
  or presses somebody with a pointed question. Special words are not needed.
- shallow: it does none of that: agreement, greetings, moods, a bare vote or suspicion without any reason, words of
  strategy without a thought behind them.""",
)

COHERENCE_SYSTEM = _system(
    "You decide whether a message responds to the conversation before it, above all to the last three messages.",
    """\
- responds: it answers, takes up, contradicts, supports or asks about something that was just said, or it speaks to
  somebody about what they said.
- ignores: it could stand anywhere in any game ("let us look at the evidence"), changes the subject without a word, or
  repeats its own speaker only.""",
)

ROLE_SYSTEM = _system(
    """\
You know every player's true side, which the players do not, and decide whether a message fits its speaker's side.
Mafia players should deflect suspicion subtly, appear helpful, defend allies with reasonable doubt and avoid direct
accusations of fellow Mafia; they should not accuse Mafia directly, be overly aggressive or reveal their role. Town
players should analyse votes, build cases with evidence, question suspects directly and form alliances; they should not
deflect without reason, defend suspects without evidence or accuse at random.""",
    """\
- consistent: what the message does is what a player of that side should do.
- inconsistent: it does what a player of that side should not do.
- no_signal: nothing in it speaks for or against a side.""",
)
