"""Select the rows that a judge decides, metric by metric, and translate its labels into verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evaluation.judging.prompts import UNTRUSTED
from evaluation.rubric.definitions import COHERENCE, MEMORY_ACCURACY, ROLE_CONSISTENCY, STRATEGIC_DEPTH
from evaluation.score import LedgerRow, Method, MetricResult, RowVerdict

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


@dataclass(frozen=True, slots=True)
class MetricTask:
    """The questions to a judge about the rows of one metric.

    Attributes:
        system: The prompt's unchanging part.
        labels: What each label makes of the row.
        uncited: Labels that need no cited message; any other without one is not taken.
        before: How many messages before the first row of a batch the judge sees.
        question: Asked of one message; ``{number}`` is its number.
        shows_record: Whether votes and eliminations are shown.
        shows_sides: Whether every player's true side is shown.
    """

    system: str
    labels: Mapping[str, RowVerdict]
    uncited: frozenset[str]
    before: int
    question: str
    shows_record: bool = False
    shows_sides: bool = False


TASKS: Mapping[str, MetricTask] = MappingProxyType(
    {
        MEMORY_ACCURACY.name: MetricTask(
            MEMORY_SYSTEM,
            {
                "accurate": RowVerdict.COUNTS,
                "inaccurate": RowVerdict.DOES_NOT_COUNT,
                "unverified": RowVerdict.EXCLUDED,
            },
            uncited=frozenset({"unverified"}),
            before=60,
            question="Is the reference to the past in message [M{number}] accurate, inaccurate or unverified?",
            shows_record=True,
        ),
        STRATEGIC_DEPTH.name: MetricTask(
            DEPTH_SYSTEM,
            {"strategic": RowVerdict.COUNTS, "shallow": RowVerdict.DOES_NOT_COUNT},
            uncited=frozenset({"strategic", "shallow"}),
            before=3,
            question="Is message [M{number}] strategic or shallow?",
        ),
        COHERENCE.name: MetricTask(
            COHERENCE_SYSTEM,
            {"responds": RowVerdict.COUNTS, "ignores": RowVerdict.DOES_NOT_COUNT},
            uncited=frozenset({"ignores"}),
            before=6,
            question="Does message [M{number}] respond to what was said before it: responds or ignores?",
        ),
        ROLE_CONSISTENCY.name: MetricTask(
            ROLE_SYSTEM,
            {
                "consistent": RowVerdict.COUNTS,
                "inconsistent": RowVerdict.DOES_NOT_COUNT,
                "no_signal": RowVerdict.EXCLUDED,
            },
            uncited=frozenset({"consistent", "inconsistent", "no_signal"}),
            before=6,
            question="Is message [M{number}] consistent or inconsistent with its speaker's side, or has it no_signal?",
            shows_sides=True,
        ),
    }
)
"""The metrics whose rows a judge may decide, where the rubric asks for judgement; in the rubric's order."""


def rows_to_judge(result: MetricResult) -> Sequence[LedgerRow]:
    """The rows that a judge is asked about, in the ledger's order; none for a metric without a task.

    Memory accuracy: the references that the record could not settle. Strategic depth: all, for the rubric's override
    works both ways. Coherence: all but the first message. Role consistency: all whose speaker's side is known. Rows
    that a person decided are left alone; those that a judge decided are asked again, from its cache.
    """
    if result.name not in TASKS:
        return []
    open_rows = [row for row in result.ledger if row.message_id and row.method is not Method.HUMAN]
    return [row for row in open_rows if _is_asked(result, row)]


def _is_asked(result: MetricResult, row: LedgerRow) -> bool:
    if result.name == MEMORY_ACCURACY.name:
        return row.method is Method.JUDGE or row.verdict is RowVerdict.EXCLUDED
    if result.name == COHERENCE.name:
        return row.id != result.ledger[0].id
    if result.name == ROLE_CONSISTENCY.name:
        return row.details.get("alignment") is not None
    return True
