"""Check claims about votes against the recorded votes (rubric 1.0, metric 1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from evaluation.rubric.claims.finding import (
    Case,
    Finding,
    accurate,
    inaccurate,
    joined,
    no_votes,
    round_words,
    unverified,
)
from evaluation.rubric.claims.game_record import PastVote
from evaluation.rubric.speech.act_types import ACCUSATIONS
from evaluation.text.display import counted, listed
from evaluation.transcript import Vote


def check_amount(case: Case, target: str, votes: Sequence[PastVote], fits: Sequence[Vote]) -> Finding:
    """ "Four of us", "several people", "most of you" against the votes of the round, or of the one that fits best."""
    actor = case.claim.actor
    if case.claim.negated:
        return unverified(f"The record shows {counted(len(fits), 'vote')} for {target}; who did not vote so is open.")
    if actor.count is not None:
        return _counted(actor.count, target, fits)
    best = max(_by_round(fits), key=len, default=[])
    if actor.amount == "several":
        reason = f"The record shows {counted(len(best), 'vote')} for {target}{case.scope}."
        if not best:
            return inaccurate(reason)
        return accurate(reason, best[0].id) if len(best) > 1 else unverified(reason, best[0].id)
    return _check_share(actor.amount == "half", target, [past.vote for past in votes])


def _check_share(is_half: bool, target: str, votes: Iterable[Vote]) -> Finding:
    """Whether half, or else more than half, of the votes of a round were for ``target``."""
    by_round = _by_round(vote for vote in votes if vote.target is not None)
    if not by_round:
        return inaccurate("The record shows abstentions only.")
    cast = max(by_round, key=lambda cast: _share(cast, target))
    shown = [vote for vote in cast if vote.target == target]
    reason = f"The record shows {len(shown)} of {counted(len(cast), 'vote')} for {target}{round_words(cast[0])}."
    fits = 2 * len(shown) >= len(cast) if is_half else 2 * len(shown) > len(cast)
    return accurate(reason, shown[0].id) if fits else inaccurate(reason, shown[0].id if shown else None)


def check_votes_received(case: Case) -> Finding:
    """Whether a player got so many votes, or the most, in the round meant or in any before."""
    target = case.claim.target
    if target is None or target.kind != "players" or len(target.names) != 1 or case.claim.negated:
        return unverified("Whose votes are meant cannot be told from the message.")
    votes = [past.vote for past in case.record.votes(case.message, case.round) if past.vote.target is not None]
    if not votes:
        return no_votes(case)
    name = target.names[0]
    fits = [vote for vote in votes if vote.target == name]
    if case.claim.count is not None:
        return _counted(case.claim.count, name, fits)
    for cast in _by_round(votes):
        own = [vote for vote in cast if vote.target == name]
        if own and len(own) == Counter(vote.target for vote in cast).most_common(1)[0][1]:
            return accurate(f"The record shows the most votes{round_words(own[0])} for {name}.", own[0].id)
    return inaccurate(f"The record shows {counted(len(fits), 'vote')} for {name}{case.scope}, not the most.")


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


def most_agreeing(target: str, votes: Sequence[PastVote], *, is_everyone: bool) -> Finding:
    """Whether everyone, or at least more than half, voted for ``target`` in the round that fits best."""
    by_round = _by_round(past.vote for past in votes if past.vote.voter != target and past.vote.target is not None)
    best = max(by_round, key=lambda cast: _share(cast, target), default=[])
    others = [vote for vote in best if vote.target != target]
    share = _share(best, target)
    if share == 1 or (not is_everyone and share > 1 / 2):
        return accurate(f"The record shows {len(best) - len(others)} of {len(best)} votes for {target}.", best[0].id)
    if is_everyone or share == 0:
        vote = others[0] if others else None
        shown = f": {vote.voter} voted for {vote.target}" if vote else ""
        return inaccurate(
            f"The record does not show all of them voting for {target}{shown}.", vote.id if vote else None
        )
    return unverified(f"The record shows {len(best) - len(others)} of {len(best)} votes for {target}.")


def _share(cast: Sequence[Vote], target: str) -> float:
    return sum(vote.target == target for vote in cast) / len(cast) if cast else 0.0


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
    if kind == "players":
        return joined([_check_voter(case, name, target.names, votes) for name in case.claim.actor.names])
    if kind in ("unknown", "noun"):
        return unverified("Who voted cannot be told from the message.")
    if not votes:
        return no_votes(case)
    return _check_group(case, target.names[0], votes)


def _check_voter(case: Case, voter: str, targets: Sequence[str], votes: Sequence[PastVote]) -> Finding:
    own = [past for past in votes if past.vote.voter == voter]
    if case.claim.negated:
        return _check_not_voted(case, voter, targets, own, votes)
    if own and (case.claim.times is not None or case.claim.always):
        return joined([_check_repeated(case, voter, target, own) for target in targets])
    fits = [next((past for past in reversed(own) if past.vote.target == target), None) for target in targets]
    shown = [past for past in fits if past is not None]
    is_shown = len(shown) == len(targets)
    if not is_shown or not all(past.is_certain for past in shown):
        announced = _announced(case, voter, targets)
        if announced is not None:
            return announced
    if is_shown:
        first = shown[0]
        another = _another_voter(case, first.vote, votes)
        if another is not None:
            return another
        reason = f"The record shows {voter} voting for {listed(targets)}{_round(first)}{_hint(first)}."
        return accurate(reason, first.vote.id)
    if own:
        others = _votes_in_words(own)
        return inaccurate(f"The record shows {voter} voting for {others}, not for {listed(targets)}.", own[-1].vote.id)
    return _unrecorded(case, voter)


def _check_repeated(case: Case, voter: str, target: str, own: Sequence[PastVote]) -> Finding:
    """ "Voted for Delta twice" needs two votes, "always voted for Delta" all of them."""
    fits = [past for past in own if past.vote.target == target]
    shown = f"The record shows {counted(len(fits), 'vote')} by {voter} for {target}"
    vote_id = fits[0].vote.id if fits else own[-1].vote.id
    if case.claim.always:
        reason = f"{shown}, of {len(own)}."
        return accurate(reason, vote_id) if len(fits) == len(own) else inaccurate(reason, vote_id)
    enough = len(fits) >= (case.claim.times or 1)
    return accurate(f"{shown}.", vote_id) if enough else inaccurate(f"{shown}, not {case.claim.times}.", vote_id)


def _another_voter(case: Case, vote: Vote, votes: Sequence[PastVote]) -> Finding | None:
    """The contradiction of "only Alpha voted for Bravo": another player who did, in the same round."""
    if not case.claim.alone:
        return None
    for past in votes:
        other = past.vote
        is_same = (other.round, other.phase, other.target) == (vote.round, vote.phase, vote.target)
        if is_same and other.voter not in case.claim.actor.names:
            return inaccurate(f"The record shows {other.voter} voting for {other.target}{_round(past)}, too.", other.id)
    return None


def _check_not_voted(
    case: Case, voter: str, targets: Sequence[str], own: Sequence[PastVote], votes: Sequence[PastVote]
) -> Finding:
    """ "Never" is about every vote, a plain "did not" about the last one, "the only one not" about all who voted."""
    if not own:
        # Somebody who was out did not vote.
        return _unrecorded(case, voter).negated()
    looked_at = own if case.claim.never else own[-1:]
    against = [past for past in looked_at if past.vote.target in targets]
    if against:
        past = against[-1]
        return inaccurate(f"The record shows {voter} voting for {past.vote.target}{_round(past)}.", past.vote.id)
    if case.claim.alone:
        last = own[-1].vote
        same = [past.vote for past in votes if (past.vote.round, past.vote.phase) == (last.round, last.phase)]
        others = [vote for vote in same if vote.voter not in (voter, *targets) and vote.target not in targets]
        if others:
            other = others[0]
            reason = f"{other.voter} did not either, but voted for {other.target or 'nobody'}{round_words(other)}."
            return inaccurate(reason, other.id)
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
    """ "Everyone", "we", "nobody" and "someone" against the votes of the round, or of the one that fits best."""
    kind = case.claim.actor.kind
    fits = [past.vote for past in votes if past.vote.target == target]
    if case.claim.actor.count is not None or case.claim.actor.amount is not None:
        return check_amount(case, target, votes, fits)
    finding: Finding
    if kind == "nobody":
        finding = (
            inaccurate(f"The record shows {fits[-1].voter} voting for {target}{round_words(fits[-1])}.", fits[-1].id)
            if fits
            else accurate(f"The record shows no vote for {target}{case.scope}.")
        )
    elif kind == "vague":
        voters = sorted({vote.voter for vote in fits})
        if len(voters) == 1:
            finding = accurate(
                f"Only {voters[0]} voted for {target}{case.scope}, so it is clear who is meant.", fits[-1].id
            )
        else:
            finding = inaccurate(f'"{case.claim.actor.words}" is too vague: it does not say who voted for {target}.')
    elif kind == "any":
        finding = (
            accurate(f"The record shows a vote for {target}.", fits[-1].id)
            if fits
            else inaccurate(f"No vote for {target} is recorded{case.scope}.")
        )
    else:
        finding = most_agreeing(target, votes, is_everyone=kind == "everyone")
    return finding.negated() if case.claim.negated else finding


def check_voted(case: Case) -> Finding:
    """Whether the players voted at all."""
    votes = case.record.votes(case.message, case.round)
    actor = case.claim.actor
    if actor.kind in ("everyone", "we") and votes:
        return _check_turnout(case, votes)
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


def _check_turnout(case: Case, votes: Sequence[PastVote]) -> Finding:
    """Whether everybody who could vote did, in the round meant or else in the last one recorded."""
    number = votes[-1].vote.round
    cast = [past.vote for past in votes if past.vote.round == number]
    silent = sorted(case.record.living(number) - {vote.voter for vote in cast if vote.target is not None})
    shown = f"The record shows {counted(len(cast), 'vote')}{round_words(cast[-1])}"
    if silent:
        finding = inaccurate(f"{shown}, none by {listed(silent)}.", cast[-1].id)
    else:
        finding = accurate(f"{shown}, by everybody in the game.", cast[-1].id)
    return finding.negated() if case.claim.negated else finding


def check_abstained(case: Case) -> Finding:
    """Whether the players cast an empty vote; that no vote of theirs is recorded may mean many things."""
    if case.claim.actor.kind != "players":
        return unverified("Who abstained cannot be told from the message.")
    votes = case.record.votes(case.message, case.round)
    findings: list[Finding] = []
    for name in case.claim.actor.names:
        own = [past.vote for past in votes if past.vote.voter == name]
        empty = [vote for vote in own if vote.target is None]
        if empty:
            findings.append(accurate(f"The record shows {name} abstaining{round_words(empty[-1])}.", empty[-1].id))
        elif own:
            reason = f"The record shows {name} voting for {own[-1].target}{round_words(own[-1])}."
            findings.append(inaccurate(reason, own[-1].id))
        else:
            findings.append(_unrecorded(case, name))
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
    return listed([f"{past.vote.target or 'nobody'}{_round(past)}" for past in votes])


def _round(past: PastVote) -> str:
    return round_words(past.vote)


def _hint(past: PastVote) -> str:
    return "" if past.is_certain else " (it carries no time, so it is taken as cast before this message)"
