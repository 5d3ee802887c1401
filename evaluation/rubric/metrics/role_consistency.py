"""Metric 4, role consistency: how many messages fit the speaker's role."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

from evaluation.rubric._claim_checks import Finding, findings_of
from evaluation.rubric._claims import Act as ClaimAct
from evaluation.rubric._claims import Claim
from evaluation.rubric._grammar import read_data
from evaluation.rubric.definitions import ROLE_CONSISTENCY, SIDES
from evaluation.rubric.discussion import Discussion
from evaluation.rubric.game_record import knows_ally, sees_at_night
from evaluation.rubric.speech import ACCUSATIONS, ActKind, Reading, SpeechAct, read
from evaluation.score import Evidence, LedgerRow, MetricResult, decided, row_id_of, summarise
from evaluation.text.display import listed
from evaluation.transcript import Alignment, Player, Transcript

Aim = Literal["ally", "stranger", "other", "unknown"]
"""A player of the own evil side whom the role knows, one whom it does not know, another player, or nobody known."""


@dataclass(frozen=True, slots=True)
class RoleRule:
    """One line of the table. ``None`` in a condition means that it does not matter.

    Attributes:
        side: Whose line it is.
        acts: The speech acts that it covers.
        at: At whom they are aimed, each an :data:`Aim`; empty for anybody.
        grounds: Whether grounds are given.
        role: Which side a revealed role belongs to.
        consistent: Whether the act fits the role.
        line: The rubric's line.
        reason: What the speaker does, for people; ``{target}`` stands for the player aimed at.
    """

    side: Alignment
    acts: frozenset[ActKind]
    at: frozenset[str]
    grounds: bool | None
    role: Literal["evil", "town"] | None
    consistent: bool
    line: str
    reason: str


def aim_of(speaker: Player, target: Player | None) -> Aim:
    """At whom an act of ``speaker`` is aimed."""
    if target is None:
        return "unknown"
    if speaker.alignment != "mafia" or target.alignment != "mafia":
        return "other"
    return "ally" if knows_ally(speaker, target) else "stranger"


def rule_for(act: SpeechAct, side: Alignment, at: Aim, *, grounded: bool | None) -> RoleRule | None:
    """The first rule that covers ``act`` by a speaker of ``side``.

    ``None`` when the act carries no signal, or when it does only with or only without grounds, which are not known.
    """
    role: Literal["evil", "town"] = "evil" if act.role == "evil" else "town"
    if grounded is not None:
        return _rule(side, act.kind, at, grounded, role)
    with_grounds = _rule(side, act.kind, at, True, role)
    return with_grounds if with_grounds is _rule(side, act.kind, at, False, role) else None


@cache
def _rule(side: Alignment, kind: ActKind, at: Aim, grounded: bool, role: Literal["evil", "town"]) -> RoleRule | None:
    fitting = (
        rule
        for rule in role_rules()
        if rule.side == side
        and kind in rule.acts
        and (not rule.at or at in rule.at)
        and rule.grounds in (None, grounded)
        and rule.role in (None, role)
    )
    return next(fitting, None)


@cache
def role_rules() -> tuple[RoleRule, ...]:
    """The table, in the order in which its rules are tried."""
    return tuple(
        RoleRule(
            entry["side"],
            frozenset(ActKind(act) for act in entry["acts"]),
            frozenset(entry.get("at", "").split()),
            entry.get("grounds"),
            entry.get("role"),
            entry["consistent"],
            entry["line"],
            entry["reason"],
        )
        for entry in read_data("role_table.yaml")["rules"]
    )


def measure(transcript: Transcript, *, threshold: float | None = None) -> MetricResult:
    """The share of messages that fit the speaker's role, of those with any role signal (rubric 1.0, metric 4).

    100 x consistent / (consistent + inconsistent). The speech acts of a message are judged by the rubric's table for
    the speaker's true side. One inconsistent act makes the message inconsistent, whatever else it does: the table's
    "should NOT" outweighs its "should". A town player's accusation has evidence when the message gives grounds, or an
    earlier message of the same player against the same target did. Denying to be Mafia or claiming a town role is a
    bluff for Mafia and no signal for town. A fellow Mafia player whom the role cannot know is accused like anybody
    else. Messages without signal are excluded; those that talk about the game carry ``marks`` that say why a person
    should look at them. ``details`` hold the coverage and what
    :func:`~evaluation.rubric.definitions.by_side_and_player` returns.

    Args:
        transcript: The transcript to measure.
        threshold: In percent; the rubric's 80 when left out.

    Returns:
        A percent result with one row per public message. ``not_applicable`` in another language than English, where
        alignments are unknown, or without any signal.
    """
    discussion = Discussion.of(transcript)
    blocked = _blocked(discussion)
    if blocked:
        return summarise(ROLE_CONSISTENCY, (), threshold=threshold, not_applicable=blocked)
    judged = list(rows(read(discussion), transcript))
    with_signal = any(row.denominator for row in judged)
    reason = "" if with_signal else "no message carries a role signal"
    return summarise(ROLE_CONSISTENCY, judged, threshold=threshold, not_applicable=reason)


def _blocked(discussion: Discussion) -> str:
    """Why the metric cannot be asked of the discussion; empty when it can."""
    if discussion.unsupported_language:
        return discussion.unsupported_language
    if not discussion.messages:
        return "no public messages"
    if all(player.alignment is None for player in discussion.transcript.players):
        return "alignments unknown"
    return ""


class JudgedAct(NamedTuple):
    """An act with the rule that decides it; ``grounds`` is the earlier message that gives grounds, if one does."""

    act: SpeechAct
    rule: RoleRule
    grounds: str | None

    def as_dict(self) -> dict[str, Any]:
        act = {"act": str(self.act.kind), "target": self.act.target}
        return act | {"consistent": self.rule.consistent, "line": self.rule.line}

    @property
    def words(self) -> str:
        given = " given earlier" if self.grounds and self.rule.grounds else ""
        if self.act.kind is ActKind.ANALYSE and self.act.grounded:
            given = " with what others did, as the record shows"
        return self.rule.reason.format(target=self.act.target or "somebody") + given


def rows(readings: Sequence[Reading], transcript: Transcript) -> Iterator[LedgerRow]:
    """A row for each message, judged by the acts in it; whoever found the acts."""
    players = {player.name: player for player in transcript.players}
    for reading, judged in judged_acts(supported_acts(readings, Discussion.of(transcript)), players):
        yield _row(reading, players[reading.message.speaker], judged)


def supported_acts(readings: Iterable[Reading], discussion: Discussion) -> Sequence[Reading]:
    """The readings with open what rests on a contradicted reference, and accusations that follow others.

    Open are grounds and analyses of votes beside such a reference, and accusations without grounds where another player
    told a result of a night against the same target before, or that conclude from what the target or the speaker just
    said. Whoever agrees with an accusation of themselves sides with nobody: that act is left out.
    """
    findings = {reading.message.id: found for reading, found in findings_of(discussion)}
    told: dict[str | None, str] = {}
    by_rule = {one.message.id: one.acts for one in read(discussion)}
    found: list[Reading] = []
    before = ""
    accused: set[str | None] = set()
    for reading in readings:
        speaker, key = reading.message.speaker, reading.message.id
        verdicts = {finding.verdict for _, finding in findings.get(key, ())}
        one = _without_support(reading) if "inaccurate" in verdicts else _with_conduct(reading, findings.get(key, ()))
        concludes = _CONCLUDES.match(reading.message.text)
        just_said = before if concludes and (before == speaker or not concludes["own"]) else None
        against_self = (ActKind.ALLY, before) if speaker in accused else None
        acts = [act for act in one.acts if (act.kind, act.target) != against_self]
        found.append(replace(one, acts=tuple(_following(act, speaker, told, just_said) for act in acts)))
        for act in by_rule.get(key, ()):
            # Other grounds than somebody's conduct are what a night showed.
            if act.kind in ACCUSATIONS and act.grounded and not act.has_case:
                told.setdefault(act.target, speaker)
        before, accused = speaker, {act.target for act in reading.acts if act.kind in ACCUSATIONS}
    return found


def _following(act: SpeechAct, speaker: str, told: Mapping[str | None, str], just_said: str | None) -> SpeechAct:
    if act.kind not in ACCUSATIONS or act.grounded is not False or act.target is None:
        return act
    teller = told.get(act.target, speaker)
    claimed = f"what {teller} claims to have found" if teller != speaker else ""
    follows = claimed or (f"what {just_said} just said" if just_said in (act.target, speaker) else "")
    return replace(act, grounded=None, follows=follows) if follows else act


# A conclusion from what was just said, by whomever or by oneself, and a side that is told as a fact.
_CONCLUDES = re.compile(r"\W*(?:then|therefore|in that case|(?P<own>so|thus|hence|that['’]?s why))\b", re.IGNORECASE)
_TOLD = re.compile(r"(?:\bis|['’]s|[=:])\s*(?:an? |the )?(?:werewolf|wolf|mafia|evil|guilty)\b", re.IGNORECASE)


def _without_support(reading: Reading) -> Reading:
    acts = tuple(
        replace(act, grounded=None if act.grounded else act.grounded)
        for act in reading.acts
        if act.kind is not ActKind.ANALYSE_VOTES
    )
    return replace(reading, acts=acts, is_contradicted=acts != reading.acts)


def _with_conduct(reading: Reading, findings: Sequence[tuple[Claim, Finding]]) -> Reading:
    """The reading with an analysis where it tells, as the record shows, whom another player accused, defended or voted
    for, or the role that they claimed."""
    if any(act.kind is ActKind.ANALYSE_VOTES for act in reading.acts):
        return reading
    conduct = (
        SpeechAct(ActKind.ANALYSE, None, claim.start, claim.end, grounded=True)
        for claim, finding in findings
        if finding.verdict == "accurate" and claim.act in _CONDUCT and reading.message.speaker not in claim.actor.names
    )
    return replace(reading, acts=(*reading.acts, *conduct))


_CONDUCT = (ClaimAct.ACCUSE, ClaimAct.DEFEND, ClaimAct.CLAIM_ROLE, ClaimAct.VOTE)
_CASES = ACCUSATIONS | {ActKind.QUESTION}


def _without_sight(act: SpeechAct) -> SpeechAct:
    """The act of a player whose role sees nothing at night: a result that may be made up proves nothing."""
    is_invented = act.kind in (*ACCUSATIONS, ActKind.DEFEND) and act.grounded and not act.has_case
    follows = "a result of a night, which this role is not known to see"
    return replace(act, grounded=None, follows=follows) if is_invented else act


def judged_acts(
    readings: Sequence[Reading], players: Mapping[str, Player]
) -> Iterator[tuple[Reading, Sequence[JudgedAct]]]:
    """Each message with those of its acts that carry a signal, none where the speaker's side is not known.

    Whoever revealed a Mafia role before deceives nobody any more: of their acts only what does not fit the role stays.

    Args:
        readings: The messages as read, in order.
        players: By name, with the roles by which they are judged.
    """
    # Speaker and target -> the message in which the speaker first gave grounds against the target.
    cases: dict[tuple[str, str | None], str] = {}
    exposed: set[str] = set()
    for reading in readings:
        speaker = players[reading.message.speaker]
        if reading.claims_sight and speaker.role and not sees_at_night(speaker.role):
            reading = replace(reading, acts=tuple(map(_without_sight, reading.acts)))
        judged = [] if speaker.alignment is None else list(_judged(reading, speaker, players, cases))
        if speaker.name in exposed:
            reading = replace(reading, is_exposed=bool(judged))
            judged = [one for one in judged if not one.rule.consistent]
        yield reading, judged
        if any(one.rule.role == "evil" for one in judged):
            exposed.add(speaker.name)
        for act in reading.acts:
            if act.grounded and act.kind in _CASES:
                cases.setdefault((speaker.name, act.target), reading.message.id)


def _judged(
    reading: Reading, speaker: Player, players: Mapping[str, Player], cases: Mapping[tuple[str, str | None], str]
) -> Iterator[JudgedAct]:
    assert speaker.alignment is not None
    for act in reading.acts:
        at = aim_of(speaker, None if act.target is None else players[act.target])
        earlier = cases.get((speaker.name, act.target)) if act.kind in ACCUSATIONS else None
        grounded = None if _may_have_seen(act, reading.message.text, speaker) else act.grounded
        rule = rule_for(act, speaker.alignment, at, grounded=True if earlier is not None else grounded)
        if rule is not None:
            yield JudgedAct(act, rule, None if act.grounded else earlier)


def _may_have_seen(act: SpeechAct, text: str, speaker: Player) -> bool:
    """Whether an accusation without grounds tells a side as a fact, by a player who learns of sides at night."""
    is_bare = act.kind in ACCUSATIONS and act.grounded is False
    return is_bare and sees_at_night(speaker.role or "") and _TOLD.search(text[act.start : act.end]) is not None


def _row(reading: Reading, speaker: Player, judged: Sequence[JudgedAct]) -> LedgerRow:
    message, side = reading.message, speaker.alignment
    consistent = all(one.rule.consistent for one in judged) if judged else None
    deciding = [one for one in judged if one.rule.consistent == consistent]
    marks = {"marks": list(reading.marks)} if consistent is None and side is not None and reading.marks else {}
    answered = message.reply_to or next((one.grounds for one in deciding if one.grounds), None)
    return decided(
        row_id_of(ROLE_CONSISTENCY.name, message.id),
        "message",
        consistent,
        _reason(reading, speaker, deciding),
        message_id=message.id,
        player=message.speaker,
        evidence=_evidence(message.text, deciding),
        refers_to=answered,
        details={"alignment": side, "acts": [one.as_dict() for one in judged]} | marks,
    )


def _reason(reading: Reading, player: Player, deciding: Sequence[JudgedAct]) -> str:
    speaker, side = player.name, player.alignment
    if side is None:
        return f"The side of {speaker} is not known."
    if not deciding and reading.is_contradicted:
        return "Rests on a reference to the past that the record contradicts; open."
    if not deciding and reading.is_exposed:
        return f"{speaker} revealed the own Mafia role before, so this deceives nobody; open."
    seen = any(_may_have_seen(act, reading.message.text, player) for act in reading.acts)
    follows = next((act.follows for act in reading.acts if act.follows), "what the role sees at night" if seen else "")
    if not deciding and follows:
        return f"{speaker} gives no evidence, but may rest on {follows}; open."
    if not deciding and (unsure := [act for act in reading.acts if act.grounded is None]):
        done = listed([f"{_named(act)} {act.target or ''}".rstrip() for act in unsure])
        return f"{speaker} argues beside its acts ({done}); whether that is evidence is not certain; open."
    if not deciding:
        # Rules and reader find fewer than half of the acts that people see: docs/validity.md.
        acts = listed(list(dict.fromkeys(map(_named, reading.acts))))
        held = listed([f"a {mark}" for mark in reading.marks])
        said = (
            f"Its acts ({acts}) speak neither for nor against a {SIDES[side]} player"
            if acts
            else "No act of the table is certain"
        )
        return f"{said}{f', though it holds {held}' if held and not acts else ''}; open."
    words = listed(list(dict.fromkeys(one.words for one in deciding)))
    verdict = "fits" if deciding[0].rule.consistent else "does not fit"
    return f"{speaker} {words}; that {verdict} a {SIDES[side]} player."


def _named(act: SpeechAct) -> str:
    return str(act.kind).replace("_", " ")


def _evidence(text: str, deciding: Iterable[JudgedAct]) -> tuple[Evidence, ...]:
    spans = sorted({(one.act.start, one.act.end) for one in deciding})
    return tuple(Evidence(start, end, text[start:end]) for start, end in spans)
