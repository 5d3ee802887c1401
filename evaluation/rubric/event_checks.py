"""Claims about eliminations, roles and what players said, against the record (rubric 1.0, metric 1)."""

from __future__ import annotations

from collections.abc import Collection

from evaluation.rubric.claims import Claim
from evaluation.rubric.finding import Case, Finding, accurate, inaccurate, unverified
from evaluation.rubric.record import PastElimination
from evaluation.rubric.speech_acts import ACCUSATIONS, ActKind
from evaluation.rubric.wording import counted, listed

_NIGHT = "night"
_DEFENCES = frozenset({ActKind.DEFEND})
_NEAR_ACCUSATIONS = frozenset({ActKind.QUESTION, ActKind.ANALYSE_VOTES})
_NEAR_DEFENCES = frozenset({ActKind.ALLY, ActKind.DEFLECT})


def check_eliminated(case: Case) -> Finding:
    """Whether the players had left the game, in the round meant or in any before."""
    target = case.claim.target
    if target is None or target.kind != "players":
        return unverified("Who left the game cannot be told from the message.")
    if not case.record.has_eliminations:
        return unverified("No eliminations are recorded for this transcript.")
    findings = [_check_player_out(case, name) for name in target.names]
    wrong = [finding for finding in findings if finding.verdict == "inaccurate"]
    finding = wrong[0] if wrong else accurate(" ".join(f.reason for f in findings))
    return finding.negated() if case.claim.negated else finding


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
    """Whether a player who is out had the role; ``None`` when none was revealed, so that it is no reference."""
    target = case.claim.target
    if target is None or target.kind != "players":
        return None
    name = target.names[0]
    revealed = [past.elimination for past in case.record.eliminations(case.message, name) if past.elimination.role]
    if not revealed:
        return None
    role = revealed[-1].role or ""
    alignment = case.record.player(name).alignment
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


def _check_stance(case: Case, stem: str, kinds: Collection[ActKind], near: Collection[ActKind]) -> Finding:
    actor, target = case.claim.actor, case.claim.target
    if actor.kind == "vague":
        return inaccurate(f'"{actor.words}" is too vague: it does not say who {stem}ed anybody.')
    if actor.kind == "unknown" or target is None or target.kind not in ("players", "everyone"):
        return unverified(f"Who {stem}ed whom cannot be told from the message.")
    finding = _everyone(case, stem, kinds) if actor.kind == "everyone" else _trace(case, stem, kinds, near)
    return finding.negated() if case.claim.negated or actor.kind == "nobody" else finding


def _trace(case: Case, stem: str, kinds: Collection[ActKind], near: Collection[ActKind]) -> Finding:
    actor, target = case.claim.actor, case.claim.target
    assert target is not None
    actors = set(actor.names) if actor.kind == "players" else None
    who = listed(actor.names) if actors else "anybody"
    # "Everyone" as the target is shown by any: how many it takes is a matter of taste.
    wanted = target.names[0] if target.kind == "players" else None
    whom = wanted or "others"
    for past in case.record.acts(case.message, kinds, actors, wanted, case.round):
        by = past.message.speaker
        return accurate(f"An earlier message shows {by} {stem}ing {past.act.target}.", past.message.id)
    open_question = _near_trace(case, actors, wanted, near)
    if open_question is not None:
        return unverified(
            f"{who} spoke of {whom} there, but whether that {stem}es is open.".replace("defendes", "defends"),
            open_question,
        )
    return inaccurate(f"No earlier message{case.scope} shows any trace of {who} {stem}ing {whom}.")


def _everyone(case: Case, stem: str, kinds: Collection[ActKind]) -> Finding:
    """ "Everyone accused Bravo": true of more than half of those who could, false of one or none, else open."""
    target = case.claim.target
    assert target is not None
    whom = target.names[0] if target.kind == "players" else None
    earlier = list(case.record.earlier(case.message, case.round))
    speakers = {reading.message.speaker for reading in earlier} - {whom}
    shown = {past.message.speaker for past in case.record.acts(case.message, kinds, None, whom, case.round)}
    found = f"{len(shown)} of {counted(len(speakers), 'other speaker')}"
    reason = f"Earlier messages{case.scope} show {found} {stem}ing {whom or 'others'}."
    if len(shown) <= 1 < len(speakers) or not shown:
        return inaccurate(reason)
    return accurate(reason) if 2 * len(shown) > len(speakers) else unverified(reason)


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


def check_claimed_role(case: Case) -> Finding:
    """Whether the players claimed the role in an earlier message."""
    actor = case.claim.actor
    if actor.kind == "vague":
        return inaccurate(f'"{actor.words}" is too vague: it does not say who claimed that role.')
    if actor.kind != "players":
        return unverified("Who claimed that role cannot be told from the message.")
    others: list[str] = []
    for name in actor.names:
        for past in case.record.acts(case.message, {ActKind.REVEAL_ROLE}, {name}, None, case.round):
            if _same_role(past.act.role, case.claim):
                return accurate(f"An earlier message shows {name} claiming that role.", past.message.id)
            others.append(past.message.id)
    if others and case.claim.is_exact_role:
        return inaccurate(f"Earlier messages show {listed(actor.names)} claiming another role.", others[0])
    return unverified(f"Whether {listed(actor.names)} claimed that role is a paraphrase that the record cannot settle.")


def _same_role(shown: str, claim: Claim) -> bool:
    """Whether a role that somebody claimed is the one meant; "villager" may stand for any of the town's roles."""
    return shown == claim.role or (not claim.is_exact_role and (shown == "evil") == (claim.role_side == "mafia"))


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
    """Whether the players said anything in the round meant."""
    actor = case.claim.actor
    if actor.kind == "vague":
        return inaccurate(f'"{actor.words}" is too vague: no speaker can be identified.')
    if actor.kind != "players":
        return unverified("Who spoke cannot be told from the message.")
    earlier = list(case.record.earlier(case.message, case.round))
    if not earlier:
        return unverified(f"No messages are recorded{case.scope or ' before this one'}.")
    for name in actor.names:
        spoken = [reading.message for reading in earlier if reading.message.speaker == name]
        if not spoken:
            finding = inaccurate(f"The record shows no message by {name}{case.scope}.")
            return finding.negated() if case.claim.negated else finding
    finding = accurate(f"The record shows {listed(actor.names)} speaking{case.scope}.", spoken[0].id)
    return finding.negated() if case.claim.negated else finding
