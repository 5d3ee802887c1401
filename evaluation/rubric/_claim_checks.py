"""Check claims against the record at the time of their message (rubric 1.0, metric 1)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from evaluation.rubric._claims import Act, Claim
from evaluation.rubric.discussion import Discussion, kept_with_discussion
from evaluation.rubric.game_record import PastElimination, PastVote, Record, sees_at_night, shown_side
from evaluation.rubric.speech import ACCUSATIONS, ActKind, Reading, read
from evaluation.text.display import counted, listed
from evaluation.transcript import Message, Vote


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether the record shows a claim (``accurate``), contradicts it or leaves it open (``unverified``).

    A claim too vague to be anybody's is inaccurate.

    ``reason`` is one sentence; ``refers_to`` the id of the vote or message on which it rests.
    """

    verdict: Literal["accurate", "inaccurate", "unverified"]
    reason: str
    refers_to: str | None = None

    def negated(self) -> Finding:
        """The finding for the opposite claim, on the same facts."""
        if self.verdict == "unverified":
            return self
        return Finding("inaccurate" if self.verdict == "accurate" else "accurate", self.reason, self.refers_to)


accurate = partial(Finding, "accurate")
inaccurate = partial(Finding, "inaccurate")
unverified = partial(Finding, "unverified")


def joined(findings: Sequence[Finding]) -> Finding:
    """One finding on several things said at once: contradicted by one, else open by one, else shown for all."""
    for verdict in ("inaccurate", "unverified"):
        for finding in findings:
            if finding.verdict == verdict:
                return finding
    reasons = " ".join(dict.fromkeys(finding.reason for finding in findings))
    return accurate(reasons, findings[0].refers_to)


@dataclass(frozen=True, slots=True)
class Case:
    """A claim on trial: who sent it when, and the round that it speaks of (``None`` for any before).

    Attributes:
        claim: The claim.
        message: The message that makes it.
        record: The record of the transcript.
        round: The round meant, if one in particular is.
    """

    claim: Claim
    message: Message
    record: Record
    round: int | None

    @property
    def scope(self) -> str:
        """The round in words, with a blank before: " in round 2"; empty for any round."""
        return "" if self.round is None else f" in round {self.round}"


def no_votes(case: Case, otherwise: str = "") -> Finding:
    """The finding when the record has no vote: open, or inaccurate when none had been taken yet."""
    record = case.record
    if not record.has_votes:
        return unverified("No votes are recorded for this transcript.")
    # The first round is 0 or 1; a transcript that begins later may lack rounds that were played.
    is_first = record.first_round is not None and record.first_round <= 1 and case.message.round == record.first_round
    if is_first and not record.votes(case.message):
        return inaccurate("No vote had been taken yet when this was said.")
    return unverified(otherwise or f"No votes are recorded{case.scope or ' before this message'}.")


def round_words(vote: Vote) -> str:
    """The round of a vote in words, with a blank before: " in round 2"; empty where it has none."""
    return "" if vote.round is None else f" in round {vote.round}"


def _counted(count: int, target: str, fits: Sequence[Vote]) -> Finding:
    """ "Four of us voted for Bravo": the number in any round counts."""
    by_round = _by_round(fits)
    if not count and not fits:
        return accurate(f"The record shows no vote for {target}.")
    for cast in by_round:
        if len(cast) == count:
            return accurate(
                f"The record shows {counted(count, 'vote')} for {target}{round_words(cast[0])}.", cast[0].id
            )
    numbers = listed([f"{counted(len(cast), 'vote')}{round_words(cast[0])}" for cast in by_round]) or "no vote"
    return inaccurate(f"The record shows {numbers} for {target}, not {count}.", fits[0].id if fits else None)


def _unanimous(target: str, votes: Sequence[PastVote]) -> Finding:
    """Whether everyone else voted for ``target`` in the round that fits best."""
    by_round = _by_round(past.vote for past in votes if past.vote.voter != target and past.vote.target is not None)
    others = [[vote for vote in cast if vote.target != target] for cast in by_round]
    for cast, other in zip(by_round, others, strict=True):
        if not other:
            return accurate(f"The record shows {len(cast)} of {len(cast)} votes for {target}.", cast[0].id)
    vote = min(others, key=len)[0] if others else None
    shown = f": {vote.voter} voted for {vote.target}" if vote else ""
    return inaccurate(f"The record does not show all of them voting for {target}{shown}.", vote.id if vote else None)


def _by_round(votes: Iterable[Vote]) -> list[list[Vote]]:
    """The votes of each round and phase."""
    found: dict[tuple[int | None, str | None], list[Vote]] = defaultdict(list)
    for vote in votes:
        found[(vote.round, vote.phase)].append(vote)
    return list(found.values())


def check_vote(case: Case) -> Finding:
    """Whether the players voted for the targets, in the round meant or in any before."""
    target = case.claim.target
    if target is None or target.kind != "players":
        return unverified("For whom the vote was cannot be told from the message.")
    votes = case.record.votes(case.message, case.round)
    kind = case.claim.actor.kind
    if case.claim.source is not None:
        return unverified("Whether a vote was changed leaves no certain trace in the record.")
    if kind == "players":
        findings = [_check_voter(case, name, target.names, votes) for name in case.claim.actor.names]
        return joined([*findings, *_check_only(case, target.names, votes)])
    if kind in ("unknown", "noun"):
        return unverified("Who voted cannot be told from the message.")
    if not votes:
        return no_votes(case)
    return _check_group(case, target.names[0], votes)


def _check_only(case: Case, targets: Sequence[str], votes: Sequence[PastVote]) -> Iterator[Finding]:
    """ "Lena is the only one who did (not) vote for Felix": what all others did, in the last round meant."""
    if not case.claim.has_only:
        return
    rounds = [past.vote.round for past in votes if past.vote.round is not None]
    others = [
        past.vote
        for past in votes
        if past.vote.round == max(rounds, default=None) and past.vote.voter not in (*case.claim.actor.names, *targets)
    ]
    against = [vote for vote in others if (vote.target in targets) != case.claim.negated]
    if against:
        told = against[-1].target or "nobody"
        yield inaccurate(f"The record shows {against[-1].voter} voting for {told}, too.", against[-1].id)
    else:
        yield accurate(f"No other of {len(others)} voters did so.", others[-1].id if others else None)


def _check_voter(case: Case, voter: str, targets: Sequence[str], votes: Sequence[PastVote]) -> Finding:
    own = [past for past in votes if past.vote.voter == voter]
    if case.claim.negated:
        return _check_not_voted(case, voter, targets, own)
    fits = [next((past for past in reversed(own) if past.vote.target == target), None) for target in targets]
    shown = [past for past in fits if past is not None]
    is_shown = len(shown) == len(targets)
    if not is_shown or not all(past.is_certain for past in shown):
        announced = _announced(case, voter, targets)
        if announced is not None:
            return announced
    if is_shown:
        first = shown[0]
        hint = "" if first.is_certain else " (it carries no time, so it is taken as cast before this message)"
        reason = f"The record shows {voter} voting for {listed(targets)}{round_words(first.vote)}{hint}."
        return accurate(reason, first.vote.id)
    if own:
        others = _votes_in_words(own)
        return inaccurate(f"The record shows {voter} voting for {others}, not for {listed(targets)}.", own[-1].vote.id)
    return _unrecorded(case, voter)


def _check_not_voted(case: Case, voter: str, targets: Sequence[str], own: Sequence[PastVote]) -> Finding:
    """ "Never" is about every vote, a plain "did not" about the last one."""
    if not own:
        # Somebody who was out did not vote.
        return _unrecorded(case, voter).negated()
    looked_at = own if case.claim.never else own[-1:]
    against = [past for past in looked_at if past.vote.target in targets]
    if against:
        past = against[-1]
        return inaccurate(
            f"The record shows {voter} voting for {past.vote.target}{round_words(past.vote)}.", past.vote.id
        )
    return accurate(f"The record shows {voter} voting for {_votes_in_words(looked_at)}.", own[-1].vote.id)


def _announced(case: Case, voter: str, targets: Sequence[str]) -> Finding | None:
    """A vote announced in the discussion of the current round, which nobody has counted yet."""
    if case.round is not None and case.round != case.message.round:
        return None
    for past in case.record.acts(case.message, ACCUSATIONS, {voter}, None, case.message.round):
        if past.act.is_vote and past.act.target in targets:
            return accurate(f"{voter} announced a vote for {past.act.target} in an earlier message.", past.message.id)
    return None


def _unrecorded(case: Case, voter: str) -> Finding:
    for past in case.record.eliminations(case.message, voter):
        left = past.elimination.round
        if past.is_certain and left is not None and case.round is not None and left < case.round:
            return inaccurate(f"{voter} was out of the game since round {left}, before round {case.round}.")
    return no_votes(case, f"The record holds no vote by {voter}{case.scope}.")


def _check_group(case: Case, target: str, votes: Sequence[PastVote]) -> Finding:
    """ "Everyone", "nobody", "someone" and "four of us" against the votes, of the round that fits best."""
    actor = case.claim.actor
    fits = [past.vote for past in votes if past.vote.target == target]
    if actor.count is not None and not case.claim.negated:
        return _counted(actor.count, target, fits)
    if actor.kind == "everyone":
        finding = _unanimous(target, votes)
    elif actor.kind == "nobody" and fits:
        finding = inaccurate(
            f"The record shows {fits[-1].voter} voting for {target}{round_words(fits[-1])}.", fits[-1].id
        )
    elif actor.kind == "nobody":
        finding = accurate(f"The record shows no vote for {target}{case.scope}.")
    elif actor.kind == "vague" and actor.amount is None and len(voters := {vote.voter for vote in fits}) == 1:
        only = f"Only {voters.pop()} voted for {target}{case.scope}, so it is clear who is meant."
        finding = accurate(only, fits[-1].id)
    elif actor.kind == "vague" and actor.amount is None:
        finding = inaccurate(f'"{actor.words}" is too vague: it does not say who voted for {target}.')
    else:
        finding = unverified("Who voted cannot be told from the message.")
    return finding.negated() if case.claim.negated else finding


def check_votes_received(case: Case) -> Finding:
    """Whether a player got so many votes in a round before; numbers in no round in particular may be others."""
    target, count = case.claim.target, case.claim.count
    votes = case.record.votes(case.message, case.round)
    if target is None or target.kind != "players" or count is None or case.claim.negated:
        return unverified("How many votes are meant cannot be told from the message.")
    if not votes or not all(past.is_certain for past in votes):
        return no_votes(case)
    finding = _counted(count, target.names[0], [one.vote for one in votes if one.vote.target == target.names[0]])
    return finding if finding.verdict == "accurate" or case.round is not None else unverified(finding.reason)


def check_voted(case: Case) -> Finding:
    """Whether the players voted at all."""
    votes = case.record.votes(case.message, case.round)
    actor = case.claim.actor
    if actor.kind != "players":
        return unverified("Who voted cannot be told from the message.")
    findings: list[Finding] = []
    for name in actor.names:
        own = [past.vote for past in votes if past.vote.voter == name]
        cast = [vote for vote in own if vote.target is not None]
        if cast:
            findings.append(
                accurate(f"The record shows {name} voting for {cast[-1].target}{round_words(cast[-1])}.", cast[-1].id)
            )
        elif own or (case.round is not None and votes):
            findings.append(inaccurate(f"The record shows no vote by {name}{case.scope}, though others voted."))
        else:
            findings.append(no_votes(case, f"The record holds no vote by {name}{case.scope}." if votes else ""))
    return joined([finding.negated() if case.claim.negated else finding for finding in findings])


def check_voted_together(case: Case) -> Finding:
    """Whether the players voted for the same target in one round."""
    target = case.claim.target
    names = case.claim.actor.names + (target.names if target is not None else ())
    if case.claim.actor.kind != "players" or len(set(names)) < 2:
        return unverified("Who voted together cannot be told from the message.")
    by_round: dict[tuple[int | None, str | None], dict[str, Vote]] = defaultdict(dict)
    for past in case.record.votes(case.message, case.round):
        by_round[(past.vote.round, past.vote.phase)][past.vote.voter] = past.vote
    compared = [cast for cast in by_round.values() if all(name in cast for name in names)]
    shared = f"The record holds no round{case.scope} in which {listed(names)} both voted."
    finding = no_votes(case, shared if by_round else "")
    for cast in compared:
        targets = {cast[name].target for name in names}
        vote = cast[names[0]]
        if len(targets) == 1:
            finding = accurate(
                f"The record shows {listed(names)} voting for {vote.target}{round_words(vote)}.", vote.id
            )
            break
        shown = listed([f"{name} for {cast[name].target}" for name in names])
        finding = inaccurate(f"The record shows {shown}{round_words(vote)}.", vote.id)
    return finding.negated() if case.claim.negated else finding


def _votes_in_words(votes: Iterable[PastVote]) -> str:
    return listed([f"{past.vote.target or 'nobody'}{round_words(past.vote)}" for past in votes])


def check_claimed_role(case: Case) -> Finding:
    """Whether each of the players, or as many as are said, claimed the role in an earlier message."""
    actor = case.claim.actor
    if actor.count is not None or actor.amount is not None:
        return _amount_claimed(case)
    if actor.kind == "vague":
        return inaccurate(f'"{actor.words}" is too vague: it does not say who claimed that role.')
    if actor.kind == "any":
        return _anybody(case)
    if actor.kind != "players":
        return unverified("Who claimed that role cannot be told from the message.")
    return joined([_player(case, name) for name in actor.names])


def _player(case: Case, name: str) -> Finding:
    shown = _claims(case, name)
    if shown:
        finding = accurate(_shown_claim(shown[0]), shown[0].id)
        return finding.negated() if case.claim.negated else finding
    others = list(case.record.acts(case.message, {ActKind.REVEAL_ROLE}, {name}, None, case.round))
    if others and case.claim.is_exact_role and not case.claim.negated:
        return inaccurate(f"Earlier messages show {name} claiming another role.", others[0].message.id)
    return unverified(f"Whether {name} claimed that role is a paraphrase that the record cannot settle.")


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


def _amount_claimed(case: Case) -> Finding:
    """ "Two people claimed Seer": more are a contradiction, fewer may have been missed."""
    actor = case.claim.actor
    past = _claims(case, None)
    names = sorted({one.speaker for one in past})
    reason = f"Earlier messages{case.scope} show {counted(len(names), 'player')} claiming that role"
    reason += f": {listed(names)}." if names else "."
    rests_on = past[0].id if past else None
    if actor.count is None or len(names) < actor.count:
        return unverified(reason, rests_on)
    return accurate(reason, rests_on) if len(names) == actor.count else inaccurate(reason, rests_on)


def _anybody(case: Case) -> Finding:
    """ "That Seer claim": the claim that an earlier message made, whoever did."""
    past = [one for one in _claims(case, None) if one.speaker != case.message.speaker]
    if past:
        return accurate(_shown_claim(past[0]), past[0].id)
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
    return unverified(f"No rule is certain which result {name} told before.")


def _shown_claim(past: Message) -> str:
    return f"An earlier message shows {past.speaker} claiming that role."


def _same_role(shown: str, claim: Claim) -> bool:
    """Whether a role that somebody claimed is the one meant; "villager" may stand for any of the town's roles."""
    is_same = shown.removesuffix("s") == claim.role.removesuffix("s")
    return is_same or (not claim.is_exact_role and (shown == "evil") == (claim.role_side == "mafia"))


_NIGHT = "night"


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
    if case.claim.is_unanimous:
        findings.append(unverified("Whether all voted so is for a judge or a person to say."))
    return joined([finding.negated() if case.claim.negated else finding for finding in findings])


def _derived(case: Case, name: str) -> Finding:
    """The elimination that votes show where none is recorded: it may confirm a claim, never contradict one."""
    found = case.record.derived_elimination(case.message, name)
    is_plain = case.round is None and not case.claim.negated and case.claim.actor.kind == "any"
    if found is None and is_plain and case.record.is_gone(case.message, name):
        return accurate(
            f"The file has {name} as not alive, and nothing that {name} said or voted since this round began."
        )
    if found is None or case.claim.negated or case.round not in (None, found.elimination.round):
        return unverified("No eliminations are recorded, and neither votes nor the file tell that for certain.")
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
    if not revealed and not case.record.is_gone(case.message, name):
        return None
    role = (revealed[-1].role if revealed else case.record.player(name).role) or ""
    alignment = shown_side(role, case.record.player(name), case.record.transcript.source_format)
    fits = case.claim.role in role.casefold()
    if not fits and case.claim.role_side is not None and alignment is not None:
        fits = case.claim.role_side == alignment
    if not revealed:
        # What the others learnt is not recorded, so only what is true is settled.
        is_true = fits is not case.claim.negated
        return accurate(f"The file has {name}, who is gone, as {role}.") if role and is_true else None
    reason = f"When {name} left the game, the role was revealed as {role}."
    finding = accurate(reason) if fits else inaccurate(reason)
    return finding.negated() if case.claim.negated else finding


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
                found.append(
                    unverified(f"No rule is certain of an earlier message{case.scope} in which {name} asked {whom}.")
                )
            else:
                found.append(accurate(f"An earlier message shows {name} asking {whom}.", past.message.id))
    return joined([finding.negated() if case.claim.negated else finding for finding in found])


def _check_stance(case: Case, stem: str, kinds: Collection[ActKind], near: Collection[ActKind]) -> Finding:
    """Whether the players took the stance on the targets in an earlier message; a vote alone accuses nobody."""
    actor, target = case.claim.actor, case.claim.target
    if actor.kind == "vague" and actor.amount is None:
        return inaccurate(f'"{actor.words}" is too vague: it does not say who {stem}ed anybody.')
    is_told = actor.kind in ("players", "any", "nobody") and actor.count is None
    if not is_told or target is None or target.kind not in ("players", "everyone"):
        return unverified(f"Who {stem}ed whom cannot be told from the message.")
    # "Everyone" as the target is shown by any: how many it takes is a matter of taste.
    whom = target.names if target.kind == "players" else (None,)
    who = actor.names if actor.kind == "players" else (None,)
    found = [_trace(case, stem, one, other, kinds, near) for one in who for other in whom]
    is_denied = case.claim.negated or actor.kind == "nobody"
    return joined([finding.negated() if is_denied else finding for finding in found])


def _trace(
    case: Case, stem: str, who: str | None, whom: str | None, kinds: Collection[ActKind], near: Collection[ActKind]
) -> Finding:
    """Whether earlier messages show the stance of ``who`` (``None``: anybody) on ``whom``."""
    actors = None if who is None else {who}
    shown = next(case.record.acts(case.message, kinds, actors, whom, case.round), None)
    if shown is not None:
        return accurate(
            f"An earlier message shows {shown.message.speaker} {stem}ing {shown.act.target}.", shown.message.id
        )
    subject, object_ = who or "anybody", whom or "others"
    open_question = _near_trace(case, actors, whom, near)
    if open_question is not None:
        reason = f"{subject} spoke of {object_} there, but whether that {stem}es is open."
        return unverified(reason.replace("defendes", "defends"), open_question)
    reason = f"No earlier message{case.scope} shows any trace of {subject} {stem}ing {object_}."
    # "My doubts about Ann" mentions what need not have been said.
    return unverified(reason) if case.claim.is_noun else inaccurate(reason)


def _near_trace(
    case: Case, actors: Collection[str] | None, wanted: str | None, near: Collection[ActKind]
) -> str | None:
    """A message in which the stance may be meant though no form of it is found."""
    for past in case.record.acts(case.message, near, actors, wanted, case.round):
        return past.message.id
    for reading in case.record.earlier(case.message, case.round):
        is_actor = actors is None or reading.message.speaker in actors
        is_about = wanted in reading.named and all(act.target != wanted for act in reading.acts)
        # "You" without a name may be anybody.
        if is_actor and (is_about or (reading.is_addressed and reading.takes_a_stance)):
            return reading.message.id
    return None


def check_said(case: Case) -> Finding:
    """A paraphrase: only that nobody is named, or that the player had not spoken yet, can be told."""
    actor = case.claim.actor
    if actor.kind == "vague":
        return _too_vague(case)
    if actor.kind == "players":
        speakers = {reading.message.speaker for reading in case.record.earlier(case.message, case.round)}
        silent = [name for name in actor.names if name not in speakers and name != case.message.speaker]
        if silent and not case.claim.negated:
            return inaccurate(f"The record shows no earlier message by {listed(silent)}{case.scope}.")
    return unverified("This paraphrases what was said; a judge or a person has to compare it.")


_CLAUSE_END = re.compile(r"[.,;:!?\n]|\b(?:and|but|so)\b")


def _too_vague(case: Case) -> Finding:
    """ "Someone said ...": inaccurate, unless an earlier message of others speaks of what was said and may be meant."""
    own = next((one for one in case.record.readings if one.message.id == case.message.id), None)
    about = (own.named if own else frozenset()) - {case.message.speaker}
    clause = range(case.claim.end, case.claim.end + len(_CLAUSE_END.split(case.message.text[case.claim.end :])[0]))
    said = {stem for stem, word in own.topics.items() if word.start in clause} if own else set()
    earlier = (
        one for one in case.record.earlier(case.message, case.round) if one.message.speaker != case.message.speaker
    )
    # "Somebody told us to move slowly": who said so can be looked up.
    meant = [
        one for one in earlier if (one.takes_a_stance and one.named & about) or (said and said <= one.topics.keys())
    ]
    words = f'"{case.claim.actor.words}" is vague'
    if meant:
        return unverified(f"{words}; an earlier message may be meant.", meant[0].message.id)
    return inaccurate(f"{words}: no speaker can be identified.")


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


@kept_with_discussion
def findings_of(discussion: Discussion) -> tuple[tuple[Reading, tuple[tuple[Claim, Finding], ...]], ...]:
    """Every message as read, with what the record says of its references."""
    readings = read(discussion)
    record = Record(discussion.transcript, readings)
    return tuple((one, tuple(findings_on(one.claims, one.message, record))) for one in readings)


def findings_on(claims: Iterable[Claim], message: Message, record: Record) -> Iterator[tuple[Claim, Finding]]:
    """The claims made in ``message`` that are references, each stretch of text once, with what the record says."""
    seen: set[tuple[int, int]] = set()
    for claim in claims:
        finding = check(claim, message, record)
        if finding is not None and (claim.start, claim.end) not in seen:
            seen.add((claim.start, claim.end))
            yield claim, finding


def check(claim: Claim, message: Message, record: Record) -> Finding | None:
    """The finding on ``claim``, made in ``message``; ``None`` when it turns out not to be a reference.

    A round that had not begun, or that was none ("last round" in the first), is inaccurate whatever is said of it.
    """
    round_number = claim.when.round_for(message.round)
    impossible = _impossible_round(claim, round_number, message, record)
    is_parsed = claim.act is not Act.UNCLEAR or claim.when.kind == "round"
    if impossible is not None and is_parsed and not claim.unproven:
        return impossible
    if claim.when.kind in ("last", "this", "ago") and round_number is None:
        return unverified("Which round is meant cannot be told: the message carries no round.")
    finding = _CHECKS[claim.act](Case(claim, message, record, round_number))
    if finding is not None and claim.unproven and finding.verdict != "unverified":
        beyond = f'The words with "{claim.unproven}" say more than the record can settle.'
        return unverified(f"{beyond} Without them: {finding.reason}" if finding.verdict == "accurate" else beyond)
    return finding


def _impossible_round(claim: Claim, round_number: int | None, message: Message, record: Record) -> Finding | None:
    if round_number is None or message.round is None:
        return None
    if round_number > message.round:
        return inaccurate(f"Round {round_number} had not happened yet when this was said in round {message.round}.")
    first = record.first_round
    # The first round is 0 or 1; a transcript that begins later may lack rounds that were played.
    if first is not None and first <= 1 and round_number < first:
        before = "no round before this one" if claim.when.kind != "round" else f"no round {round_number}"
        return inaccurate(f"There was {before}.")
    return None


def _leave_open(_case: Case) -> Finding:
    return unverified("Abstentions are left to a judge or a person.")


def _check_unclear(case: Case) -> Finding:
    actor = case.claim.actor
    if actor.kind == "vague":
        return _too_vague(case)
    return unverified(f"It refers to the past{case.scope}, but to nothing that the record can settle.")


_CHECKS: Mapping[Act, Callable[[Case], Finding | None]] = {
    Act.VOTE: check_vote,
    Act.VOTED: check_voted,
    Act.ABSTAINED: _leave_open,
    Act.VOTE_TOGETHER: check_voted_together,
    Act.VOTES_RECEIVED: check_votes_received,
    Act.ELIMINATED: check_eliminated,
    Act.ROLE_WAS: check_role_was,
    Act.ACCUSE: partial(_check_stance, stem="accus", kinds=ACCUSATIONS, near={ActKind.QUESTION, ActKind.ANALYSE_VOTES}),
    Act.DEFEND: partial(_check_stance, stem="defend", kinds={ActKind.DEFEND}, near={ActKind.ALLY, ActKind.DEFLECT}),
    Act.CLAIM_ROLE: check_claimed_role,
    Act.CLAIM_RESULT: check_claimed_result,
    Act.ASK: check_asked,
    Act.SPOKE: check_spoke,
    Act.SAID: check_said,
    Act.UNCLEAR: _check_unclear,
}
