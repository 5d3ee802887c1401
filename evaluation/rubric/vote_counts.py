"""How many voted: claims that count votes against the votes recorded (rubric 1.0, metric 1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from evaluation.rubric.finding import Case, Finding, accurate, inaccurate, no_votes, round_words, unverified
from evaluation.rubric.record import PastVote
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
