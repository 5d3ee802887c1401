"""Check claims about the roles that players claimed, against their own words (rubric 1.0, metric 1)."""

from __future__ import annotations

from evaluation.rubric.claims.finding import Case, Finding, accurate, inaccurate, joined, unverified
from evaluation.rubric.claims.parsing import Claim
from evaluation.rubric.claims.role_knowledge import sees_at_night
from evaluation.rubric.speech.act_types import ACCUSATIONS, ActKind
from evaluation.text.display import counted, listed
from evaluation.transcript import Message


def check_claimed_role(case: Case) -> Finding:
    """Whether each of the players, or as many as are said, claimed the role in an earlier message."""
    actor = case.claim.actor
    if actor.count is not None or actor.amount is not None:
        return _amount(case)
    if actor.kind == "vague":
        return inaccurate(f'"{actor.words}" is too vague: it does not say who claimed that role.')
    if actor.kind == "any":
        return _anybody(case)
    if actor.kind == "nobody":
        shown = _claims(case, None)
        return inaccurate(_shown(shown[0]), shown[0].id) if shown else _untouched(case)
    if actor.kind != "players":
        return unverified("Who claimed that role cannot be told from the message.")
    return joined([_player(case, name) for name in actor.names])


def _player(case: Case, name: str) -> Finding:
    shown = _claims(case, name)
    if case.claim.negated:
        return inaccurate(_shown(shown[0]), shown[0].id) if shown else _untouched(case, name)
    if shown:
        return _not_alone(case) or accurate(_shown(shown[0]), shown[0].id)
    others = list(case.record.acts(case.message, {ActKind.REVEAL_ROLE}, {name}, None, case.round))
    if others and case.claim.is_exact_role:
        return inaccurate(f"Earlier messages show {name} claiming another role.", others[0].message.id)
    return _open(name)


def _claims(case: Case, name: str | None) -> list[Message]:
    """The earlier messages in which ``name``, or anybody, claimed the role; a divination claims one that sees."""
    found: list[Message] = []
    for reading in case.record.earlier(case.message, case.round):
        if name in (None, reading.message.speaker):
            roles = [act.role for act in reading.acts if act.kind is ActKind.REVEAL_ROLE]
            sees = reading.claims_sight and sees_at_night(case.claim.role)
            if sees or any(_same_role(role, case.claim) for role in roles):
                found.append(reading.message)
    return found


def _not_alone(case: Case) -> Finding | None:
    """The contradiction of "only Alpha claimed Seer": another player who did."""
    if case.claim.alone:
        for past in _claims(case, None):
            if past.speaker not in case.claim.actor.names:
                return inaccurate(_shown(past), past.id)
    return None


def _amount(case: Case) -> Finding:
    """ "Two people claimed Seer": more are a contradiction, fewer may have been missed."""
    actor = case.claim.actor
    past = _claims(case, None)
    names = sorted({one.speaker for one in past})
    reason = f"Earlier messages{case.scope} show {counted(len(names), 'player')} claiming that role"
    reason += f": {listed(names)}." if names else "."
    rests_on = past[0].id if past else None
    if actor.count is None:
        enough = actor.amount == "several" and len(names) > 1
        return accurate(reason, rests_on) if enough else unverified(reason, rests_on)
    if len(names) == actor.count:
        return accurate(reason, rests_on)
    return inaccurate(reason, rests_on) if len(names) > actor.count else unverified(reason, rests_on)


def _anybody(case: Case) -> Finding:
    """ "That Seer claim": the claim that an earlier message made, whoever did."""
    past = [one for one in _claims(case, None) if one.speaker != case.message.speaker]
    if past:
        return accurate(_shown(past[0]), past[0].id)
    return unverified("Which claim is meant cannot be told from the record.")


def check_claimed_result(case: Case) -> Finding:
    """Whether the players told such a result of a night in an earlier message; what is not found stays open."""
    actor, target = case.claim.actor, case.claim.target
    if actor.kind != "players" or (target is not None and target.kind != "players"):
        return unverified("Whose result is meant cannot be told from the message.")
    whom = (None,) if target is None else target.names
    found = [_result(case, name, one) for name in actor.names for one in whom]
    return joined([finding.negated() if case.claim.negated else finding for finding in found])


def _result(case: Case, name: str, whom: str | None) -> Finding:
    side = case.claim.role_side
    kinds = {None: ACCUSATIONS | {ActKind.DEFEND}, "mafia": ACCUSATIONS, "town": {ActKind.DEFEND}}[side]
    for reading in case.record.earlier(case.message, case.round):
        if reading.message.speaker == name and reading.tells_result:
            is_shown = whom is None or any(act.kind in kinds and act.target == whom for act in reading.acts)
            if is_shown or (side is None and whom in reading.named):
                about = f" on {whom}" if whom else ""
                return accurate(f"An earlier message shows {name} telling a result{about}.", reading.message.id)
    return unverified(f"No earlier message shows for certain which result {name} told.")


def _untouched(case: Case, name: str | None = None) -> Finding:
    """The finding on "never claimed": true where no earlier message of the player names the role at all."""
    for reading in case.record.earlier(case.message, case.round):
        if name in (None, reading.message.speaker) and case.claim.role in reading.roles:
            return unverified("The role is spoken of there; whether that claims it is open.", reading.message.id)
    return accurate(f"No earlier message{case.scope} by {name or 'anybody'} speaks of that role.")


def _shown(past: Message) -> str:
    return f"An earlier message shows {past.speaker} claiming that role."


def _open(name: str) -> Finding:
    return unverified(f"Whether {name} claimed that role is a paraphrase that the record cannot settle.")


def _same_role(shown: str, claim: Claim) -> bool:
    """Whether a role that somebody claimed is the one meant; "villager" may stand for any of the town's roles."""
    is_same = shown.removesuffix("s") == claim.role.removesuffix("s")
    return is_same or (not claim.is_exact_role and (shown == "evil") == (claim.role_side == "mafia"))
