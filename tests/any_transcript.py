"""Any transcript, as Hypothesis draws it."""

from datetime import UTC, timedelta, timezone

from hypothesis import strategies as st

from evaluation.transcript import Cost, Elimination, Message, Player, Transcript, Vote

text = st.text(st.characters(codec="utf-8"), max_size=20)
name = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
maybe_text = st.none() | text
time = st.none() | st.datetimes(timezones=st.none() | st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=30))]))
whole = st.none() | st.integers(0, 2**70)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
metadata = st.dictionaries(text, json_value, max_size=3)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """A transcript with every field filled or missing, and any text that UTF-8 can hold."""
    names = draw(st.lists(name, min_size=1, max_size=4, unique=True))
    somebody = st.sampled_from(names)
    players = [
        Player(
            name=one,
            role=draw(maybe_text),
            alignment=draw(st.sampled_from([None, "mafia", "town"])),
            persona=draw(json_value),
            is_human=draw(st.none() | st.booleans()),
            metadata=draw(metadata),
        )
        for one in names
    ]
    messages = [
        Message(
            id=f"m{index}",
            index=index,
            round=draw(whole),
            phase=draw(maybe_text),
            channel=draw(st.sampled_from(["public", "team", "private", "system"])),
            speaker=draw(somebody),
            recipients=tuple(draw(st.lists(name, max_size=2))),
            text=draw(text),
            sent_at=draw(time),
            reply_to=draw(st.none() | name),
            metadata=draw(metadata),
        )
        for index in range(draw(st.integers(1, 4)))
    ]
    votes = draw(
        st.lists(st.builds(Vote, round=whole, voter=somebody, target=st.none() | somebody, sent_at=time), max_size=2)
    )
    eliminations = draw(st.lists(st.builds(Elimination, round=whole, player=somebody, role=maybe_text), max_size=2))
    return Transcript(
        game_id=draw(name),
        source_format="native",
        language=draw(maybe_text),
        started_at=draw(time),
        exported_at=draw(time),
        players=tuple(players),
        messages=tuple(messages),
        votes=tuple(votes),
        eliminations=tuple(eliminations),
        winner=draw(maybe_text),
        cost=draw(st.none() | st.builds(Cost, total_usd=st.none() | st.floats(0, 1e300), input_tokens=whole)),
        metadata=draw(metadata),
    )
