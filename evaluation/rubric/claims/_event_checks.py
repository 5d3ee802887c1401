"""Check claims about eliminations, roles and statements against the record (rubric 1.0, metric 1)."""

from __future__ import annotations

from collections.abc import Collection

from evaluation.rubric.claims.finding import Case, Finding, accurate, inaccurate, joined, unverified
from evaluation.rubric.claims.game_record import PastAct, PastElimination
from evaluation.rubric.claims.role_knowledge import shown_side
from evaluation.rubric.speech.act_types import ACCUSATIONS, ActKind
from evaluation.text.display import counted, listed

_NIGHT = "night"
_DEFENCES = frozenset({ActKind.DEFEND})
_NEAR_ACCUSATIONS = frozenset({ActKind.QUESTION, ActKind.ANALYSE_VOTES})
_NEAR_DEFENCES = frozenset({ActKind.ALLY, ActKind.DEFLECT})


def check_eliminated(case: Case) -> Finding:
    """Whether the players had left the game, in the round meant or in any before."""
    target = case.claim.target
    if case.claim.count is not None and case.record.has_eliminations:
        return _check_number_out(case, case.claim.count)
    if target is None or target.kind != "players":
        return unverified("Who left the game cannot be told from the message.")
    if not case.record.has_eliminations:
        return joined([_derived(case, name) for name in target.names])
    findings = [_check_player_out(case, name) for name in target.names]
    return joined([finding.negated() if case.claim.negated else finding for finding in findings])


def _derived(case: Case, name: str) -> Finding:
    """The elimination that votes show where none is recorded: it may confirm a claim, never contradict one."""
    found = case.record.derived_elimination(case.message, name)
    if found is None or case.claim.negated or case.round not in (None, found.elimination.round):
        return unverified("No eliminations are recorded for this transcript.")
    votes = f"derived from {found.against} of {found.cast} votes"
    return accurate(f"{name} was voted out in round {found.elimination.round} ({votes}).", found.vote_id)


def _check_number_out(case: Case, count: int) -> Finding:
    """Whether so many players had left in all, or since the discussion before."""
    past = [one.elimination for one in case.record.eliminations(case.message) if one.is_certain]
    rounds = [event.round for event in past if event.round is not None]
    recent = [event for event in past if rounds and event.round == max(rounds)]
    reason = (
        f"The record shows {counted(len(past), 'player')} out of the game, {len(recent)} of them in the last round."
    )
    fits = count in (len(past), len(recent))
    return accurate(reason) if fits else inaccurate(reason)


def _check_player_out(case: Case, name: str) -> Finding:
    events = case.record.eliminations(case.message, name)
    if not events:
        return inaccurate(f"The record shows {name} still in the game when this was said.")
    event = events[-1].elimination
    when = "" if event.round is None else f" in round {event.round}"
    if case.round is not None and event.round is not None and not _is_in_round(case, events[-1]):
        return inaccurate(f"The record shows {name} leaving the game{when}, not{case.scope}.")
    return accurate(f"The record shows {name} leaving the game{when}.")


def _is_in_round(case: Case, past: PastElimination) -> bool:
    """A night belongs to the round before it as well as to the one after it: people say either."""
    event = past.elimination
    assert event.round is not None
    assert case.round is not None
    is_night = _NIGHT in (event.phase or "").casefold()
    return event.round == case.round or (is_night and abs(event.round - case.round) == 1)


def check_role_was(case: Case) -> Finding | None:
    """Whether a player who is out had the role; ``None`` when none was revealed, so that it is not a reference."""
    target = case.claim.target
    if target is None or target.kind != "players":
        return None
    name = target.names[0]
    revealed = [past.elimination for past in case.record.eliminations(case.message, name) if past.elimination.role]
    if not revealed:
        return None
    role = revealed[-1].role or ""
    alignment = shown_side(role, case.record.player(name), case.record.transcript.source_format)
    fits = case.claim.role in role.casefold()
    if not fits and case.claim.role_side is not None and alignment is not None:
        fits = case.claim.role_side == alignment
    reason = f"When {name} left the game, the role was revealed as {role}."
    finding = accurate(reason) if fits else inaccurate(reason)
    return finding.negated() if case.claim.negated else finding


def check_accused(case: Case) -> Finding:
    """Whether the players accused the targets in an earlier message; a vote alone accuses nobody."""
    return _check_stance(case, "accus", ACCUSATIONS, _NEAR_ACCUSATIONS)


def check_defended(case: Case) -> Finding:
    """Whether the players defended the targets in an earlier message."""
    return _check_stance(case, "defend", _DEFENCES, _NEAR_DEFENCES)


def check_asked(case: Case) -> Finding:
    """Whether the players asked the targets something in an earlier message; what is not found stays open."""
    actor, target = case.claim.actor, case.claim.target
    if actor.kind != "players" or target is None or target.kind != "players":
        return unverified("Who asked whom cannot be told from the message.")
    found: list[Finding] = []
    for name in actor.names:
        for whom in target.names:
            past = next(case.record.acts(case.message, {ActKind.QUESTION}, {name}, whom, case.round), None)
            if past is None:
                found.append(unverified(f"No earlier message{case.scope} shows for certain that {name} asked {whom}."))
            else:
                found.append(accurate(f"An earlier message shows {name} asking {whom}.", past.message.id))
    return joined([finding.negated() if case.claim.negated else finding for finding in found])


def _check_stance(case: Case, stem: str, kinds: Collection[ActKind], near: Collection[ActKind]) -> Finding:
    actor, target = case.claim.actor, case.claim.target
    is_amount = actor.count is not None or actor.amount is not None
    if actor.kind == "vague" and not is_amount:
        return inaccurate(f'"{actor.words}" is too vague: it does not say who {stem}ed anybody.')
    if actor.kind == "unknown" or target is None or target.kind not in ("players", "everyone"):
        return unverified(f"Who {stem}ed whom cannot be told from the message.")
    # "Everyone" as the target is shown by any: how many it takes is a matter of taste.
    whom = target.names if target.kind == "players" else (None,)
    if actor.kind == "everyone" or is_amount:
        return joined([_amount(case, stem, kinds, one) for one in whom])
    who = actor.names if actor.kind == "players" else (None,)
    found = [_trace(case, stem, one, other, kinds, near) for one in who for other in whom]
    is_denied = case.claim.negated or actor.kind == "nobody"
    return joined([finding.negated() if is_denied else finding for finding in found])


def _trace(
    case: Case, stem: str, who: str | None, whom: str | None, kinds: Collection[ActKind], near: Collection[ActKind]
) -> Finding:
    """Whether earlier messages show the stance of ``who`` (``None``: anybody) on ``whom``, as often as is said."""
    actors = None if who is None else {who}
    shown = list(case.record.acts(case.message, kinds, actors, whom, case.round))
    times = case.claim.times or 1
    messages = list(dict.fromkeys(past.message.id for past in shown))
    if len(messages) >= times:
        return _not_alone(case, stem, whom, kinds) or accurate(_shown(stem, shown[0]), messages[0])
    if messages:
        return unverified(f"{_shown(stem, shown[0])} That it was {times} times is open.", messages[0])
    subject, object_ = who or "anybody", whom or "others"
    open_question = _near_trace(case, actors, whom, near)
    if open_question is not None:
        reason = f"{subject} spoke of {object_} there, but whether that {stem}es is open."
        return unverified(reason.replace("defendes", "defends"), open_question)
    return inaccurate(f"No earlier message{case.scope} shows any trace of {subject} {stem}ing {object_}.")


def _shown(stem: str, past: PastAct) -> str:
    return f"An earlier message shows {past.message.speaker} {stem}ing {past.act.target}."


def _not_alone(case: Case, stem: str, whom: str | None, kinds: Collection[ActKind]) -> Finding | None:
    """The contradiction of "only Alpha accused Bravo": another player who did."""
    if not case.claim.alone:
        return None
    for past in case.record.acts(case.message, kinds, None, whom, case.round):
        if past.message.speaker not in case.claim.actor.names:
            return inaccurate(_shown(stem, past), past.message.id)
    return None


def _amount(case: Case, stem: str, kinds: Collection[ActKind], whom: str | None) -> Finding:
    """ "Everyone", "three of you", "most of us" and "several people" accused Bravo.

    Forms of words miss some accusations, so fewer than are said leave it open, unless hardly anybody did.
    """
    actor = case.claim.actor
    speakers = {reading.message.speaker for reading in case.record.earlier(case.message, case.round)} - {whom}
    past = list(case.record.acts(case.message, kinds, None, whom, case.round))
    shown = {one.message.speaker for one in past}
    found = f"{len(shown)} of {counted(len(speakers), 'other speaker')}"
    reason = f"Earlier messages{case.scope} show {found} {stem}ing {whom or 'others'}."
    half = len(speakers) / 2
    least = {"several": 2, "half": half, "most": half + 0.5}.get(actor.amount or "", len(speakers))
    wanted = least if actor.count is None else actor.count
    is_too_few = not shown or len(shown) <= 1 < min(wanted, len(speakers))
    is_too_many = actor.count is not None and len(shown) > actor.count
    rests_on = past[0].message.id if past else None
    if is_too_few or is_too_many:
        finding = inaccurate(reason, rests_on)
    else:
        finding = accurate(reason, rests_on) if len(shown) >= wanted else unverified(reason, rests_on)
    return finding.negated() if case.claim.negated else finding


def _near_trace(
    case: Case, actors: Collection[str] | None, wanted: str | None, near: Collection[ActKind]
) -> str | None:
    """A message in which the stance may be meant though no form of it is found."""
    for past in case.record.acts(case.message, near, actors, wanted, case.round):
        return past.message.id
    for reading in case.record.earlier(case.message, case.round):
        is_actor = actors is None or reading.message.speaker in actors
        has_act_at_target = any(act.target == wanted for act in reading.acts)
        if is_actor and reading.takes_a_stance and wanted in reading.named and not has_act_at_target:
            return reading.message.id
    return None


def check_said(case: Case) -> Finding:
    """A paraphrase: only that nobody is named, or that the player had not spoken yet, can be told."""
    actor = case.claim.actor
    if actor.kind == "vague":
        return inaccurate(f'"{actor.words}" is too vague: no speaker can be identified.')
    if actor.kind == "players":
        speakers = {reading.message.speaker for reading in case.record.earlier(case.message, case.round)}
        silent = [name for name in actor.names if name not in speakers and name != case.message.speaker]
        if silent and not case.claim.negated:
            return inaccurate(f"The record shows no earlier message by {listed(silent)}{case.scope}.")
    return unverified("This paraphrases what was said; a judge or a person has to compare it.")


def check_spoke(case: Case) -> Finding:
    """Whether the players said anything in the round meant; "some" have not when anybody in the game has not."""
    actor = case.claim.actor
    earlier = list(case.record.earlier(case.message, case.round))
    if not earlier:
        return unverified(f"No messages are recorded{case.scope or ' before this one'}.")
    last = {reading.message.speaker: reading.message.id for reading in reversed(earlier)}
    if actor.kind == "players":
        found = [_spoke(case, name, last.get(name)) for name in actor.names]
        return joined([finding.negated() if case.claim.negated else finding for finding in found])
    playing = case.record.living(case.message.round) - {case.message.speaker}
    silent = sorted(playing - last.keys())
    if actor.kind == "vague" and case.claim.negated:
        if silent:
            return accurate(f"The record shows no earlier message by {listed(silent)}{case.scope}.")
        return inaccurate(f"The record shows everybody in the game speaking{case.scope}.")
    if actor.kind == "vague":
        return inaccurate(f'"{actor.words}" is too vague: no speaker can be identified.')
    if actor.kind == "everyone" and not case.claim.negated:
        if silent:
            return inaccurate(f"The record shows no earlier message by {listed(silent)}{case.scope}.")
        return accurate(f"The record shows everybody in the game speaking{case.scope}.")
    return unverified("Who spoke cannot be told from the message.")


def _spoke(case: Case, name: str, message_id: str | None) -> Finding:
    if message_id is None:
        return inaccurate(f"The record shows no earlier message by {name}{case.scope}.")
    return accurate(f"The record shows {name} speaking{case.scope}.", message_id)
