"""Tell what the metrics of a game will lack, before anything is scored."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.readers import with_role
from evaluation.text.display import counted
from evaluation.transcript import Transcript


def gaps(transcript: Transcript) -> Iterator[str]:
    """Sentences on what the metrics will lack, in our own words only."""
    discussion = transcript.discussion
    if not discussion:
        yield "No player says anything in public, so no metric of the discussion will apply."
    elif len({message.speaker for message in discussion}) == 1:
        yield "Only one player speaks in public, so nobody is answered and voices cannot be compared."
    players = len(transcript.players)
    without_role = players - with_role(transcript)
    if without_role == players:
        yield "No role was found, so role consistency will not apply."
    elif without_role:
        yield f"{without_role} of {players} players {_have(without_role)} no role."
    if not transcript.votes:
        yield "No votes were found, so memory accuracy cannot verify claims about them."
    if discussion and all(message.reply_to is None for message in discussion):
        yield "No message says which one it answers, so coherence rests on names and words alone."
    timeless = sum(message.sent_at is None for message in transcript.messages)
    if timeless == len(transcript.messages):
        yield "No message has a time."
    elif timeless:
        yield f"{counted(timeless, 'message')} {_have(timeless)} no time."
    if transcript.cost is None or not transcript.cost.is_known:
        yield "The cost is unknown, so it cannot be judged."


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
