"""Data on behaviour over iterations and on the cost of models. Independent of Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import pandas as pd

from dashboard.shared.comparison_tables import DIMENSION_LABELS
from dashboard.shared.formatting import duration_text, share_text, usd_text
from evaluation.escaping import cut
from evaluation.insight.collector import talk_shares, transcript_metrics
from evaluation.insight.recommendations import UNKNOWN
from evaluation.iterations.game_tests import LONGEST_NAME
from evaluation.store import Store
from evaluation.store.llm_calls import spending_by_model
from evaluation.store.transcripts import simulated
from evaluation.transcript import Transcript

NO_ITERATION = "no iteration"


def behaviour_frame(store: Store, names: tuple[str, ...]) -> pd.DataFrame:
    """Means over the games of each iteration: ``Iteration``, ``Games``, and how much and how evenly players talk.

    ``Messages`` and ``Words`` are counts; ``Largest share`` is the words of the most talkative player as a multiple of
    an even share; ``Addressed`` is the share of pairs of players in which one addressed the other, ``Answered`` the
    share of these that replied. Missing where no game tells.
    """
    rows = []
    for name in names:
        with store.unit():
            held = [store.transcripts.get(one) for one in store.transcripts.ids(name)]
        if held:
            rows.append({"Iteration": name, "Games": len(held), **_beside(held)})
    return pd.DataFrame(rows)


def _beside(games: Sequence[Transcript]) -> dict[str, float | None]:
    shares = [talk_shares(game) for game in games]
    figures = [transcript_metrics(game) for game in games]
    networks = [one.network for one in figures]
    tops = [max((one.domination(name) or 0.0 for name in one.words), default=0.0) for one in shares]
    return {
        "Messages": _mean([one.total_messages for one in figures]),
        "Words": _mean([sum(one.words.values()) for one in shares]),
        "Largest share": _mean([top or None for top in tops]),
        "Addressed": _mean([one.density if one else None for one in networks]),
        "Answered": _mean([one.reciprocity if one else None for one in networks]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def behaviour_words(found: pd.DataFrame) -> list[dict[str, object]]:
    """The rows of :func:`behaviour_frame` in words; empty where unknown."""
    return [
        {name: row[name] for name in ("Iteration", "Games")}
        | {name: "" if pd.isna(row[column]) else words(row[column]) for column, (name, words) in _IN_WORDS.items()}
        for row in found.to_dict("records")
    ]


def _times(value: float) -> str:
    return f"{value:.1f} times"


def _whole_number(value: float) -> str:
    return f"{value:,.0f}"


_IN_WORDS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "Messages": ("Messages", _whole_number),
    "Words": ("Words", _whole_number),
    "Largest share": ("Most talkative", _times),
    "Addressed": ("Addresses", lambda share: f"{share_text(share)} of the others"),
    "Answered": ("Addressed in return by", lambda share: f"{share_text(share)} of these"),
}


def behaviour_sentence(found: pd.DataFrame, references: Mapping[str, str]) -> str:
    """Tell how the players of the latest iteration and of its reference talk: untrusted text, as it names both.

    Such as "A game has 1,372 words (Prompt v2: 1,265); a player addresses 71 % of the others (68 %); the most talkative
    one says 1.6 times as many words as the average player (1.5)."; what is unknown is left out.

    Args:
        found: From :func:`behaviour_frame`.
        references: Name of the iteration that each is compared with, by its name.
    """
    rows = {one["Iteration"]: one for one in found.to_dict("records")}
    if not rows:
        return ""
    latest = list(rows)[-1]
    own, name = rows[latest], references.get(latest, "")
    other = rows.get(name, {})
    label, parts = f"{cut(name, LONGEST_NAME)}: ", []
    for column, words, form in _TOLD:
        if not pd.isna(own[column]):
            known = not pd.isna(other.get(column))
            beside = f" ({label}{form(other[column])})" if known else ""
            parts.append(f"{words.format(form(own[column]))}{beside}")
            label = "" if known else label
    told = "; ".join(parts)
    return f"{told[0].upper()}{told[1:]}." if told else ""


_TOLD = (
    ("Words", "A game has {} words", _whole_number),
    ("Addressed", "a player addresses {} of the others", share_text),
    ("Largest share", "the most talkative one says {} as many words as the average player", _times),
)


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of calls to models, and of the games themselves.

    Attributes:
        models: As ``spending_by_model`` gives it.
        games: One row per iteration: ``Iteration``, ``Games``, ``With a known cost``, ``Spent``, ``Mean per game``,
            ``Cache hits``.
    """

    models: pd.DataFrame
    games: pd.DataFrame


def spending(store: Store) -> Spending:
    """Stored money, tokens and time."""
    with store.unit():
        models = spending_by_model(store)
        summaries = store.transcripts.summaries()
        summaries = summaries[~simulated(summaries)]
        names = [one.name for one in store.iterations.list()]
    return Spending(models, _games_frame(summaries, names))


def _games_frame(summaries: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    rows = []
    for name in (*names, None):
        held = summaries[summaries["iteration"].isna() if name is None else summaries["iteration"] == name]
        if len(held):
            known = held["total_usd"].dropna().astype(float)
            hits = held["cache_hit_rate"].dropna().astype(float)
            rows.append(
                {
                    "Iteration": NO_ITERATION if name is None else name,
                    "Games": len(held),
                    "With a known cost": len(known),
                    "Spent": usd_text(float(known.sum()) if len(known) else None),
                    "Mean per game": usd_text(float(known.mean()) if len(known) else None),
                    "Cache hits": f"{share_text(float(hits.mean()))} in {len(hits)} games"
                    if len(hits)
                    else share_text(None),
                }
            )
    return pd.DataFrame(rows)


def totals(found: Spending) -> dict[str, str]:
    """The figures of all calls together, in words."""
    models = found.models
    priced = models["cost_usd"].dropna()
    read, cached = int(models["input_tokens"].sum()), int(models["cached_tokens"].sum())
    return {
        "Calls": f"{int(models['calls'].sum()):,}",
        "Spent": usd_text(float(priced.sum()) if len(priced) else None),
        "Tokens read / written": f"{read:,} / {int(models['output_tokens'].sum()):,}",
        "Provider's cache": share_text(cached / read if read else None),
    }


def model_rows(found: Spending) -> list[dict[str, object]]:
    """Calls by model and purpose, in words."""
    return [
        {
            "Model": one["model"],
            "For": DIMENSION_LABELS.get(one["purpose"], str(one["purpose"]).replace("_", " ")).lower(),
            "Calls": one["calls"],
            "Failed": one["failed"],
            "Tokens": f"{one['input_tokens']:,} / {one['output_tokens']:,}",
            "Cached": share_text(one["cached_tokens"] / one["input_tokens"] if one["input_tokens"] else None),
            "Spent": usd_text(one["cost_usd"]),
            "No price": one["unpriced"],
            "Median time": _seconds(one["median_seconds"]),
            "Slow (95 %)": _seconds(one["slow_seconds"]),
        }
        for one in found.models.to_dict("records")
    ]


def _seconds(seconds: float) -> str:
    if pd.isna(seconds):
        return UNKNOWN
    return f"{seconds:.1f} s" if seconds < 10 else duration_text(seconds)
