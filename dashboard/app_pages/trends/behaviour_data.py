"""Data on behaviour over iterations and on the cost of models. Independent of Streamlit."""

from __future__ import annotations

import pandas as pd

from dashboard.app_pages.trends.data import COLUMNS
from dashboard.shared.comparison_tables import DIMENSION_LABELS
from dashboard.shared.formatting import duration_text, share_text, usd_text
from evaluation.insight.collector import talk_shares, transcript_metrics
from evaluation.insight.recommendations import UNKNOWN
from evaluation.store import Store
from evaluation.transcript import Transcript


def behaviour_points(store: Store, names: tuple[str, ...]) -> pd.DataFrame:
    """The amount of talk in each game, its evenness, and to whom players speak.

    Args:
        store: Where the games are.
        names: All iterations in their order.

    Returns:
        One row per game and figure, in the columns of ``queries.trend_points``; NaN where the game does not tell.
        ``words`` is a count; ``most_talkative`` the words of that player as a multiple of an even share; ``addressed``
        the share of pairs of players in which one addressed the other, ``answered`` the share of these that replied,
        both in percent.
    """
    with store.unit():
        labels = store.transcripts.summaries().set_index("transcript_id")["game"].to_dict()
    rows = []
    for place, name in enumerate(names, start=1):
        with store.unit():
            games = {key: store.transcripts.get(key) for key in store.transcripts.ids(name)}
        rows += [
            (figure, place, name, labels[key], key, value, "not recorded", 0)
            for key, game in games.items()
            for figure, value in _figures(game).items()
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"score": float})


def _figures(game: Transcript) -> dict[str, float | None]:
    shares, network = talk_shares(game), transcript_metrics(game).network
    top = max((shares.domination(name) or 0.0 for name in shares.words), default=0.0)
    density, reciprocity = (network.density, network.reciprocity) if network else (None, None)
    return {
        "words": sum(shares.words.values()),
        "addressed": None if density is None else 100 * density,
        "answered": None if reciprocity is None else 100 * reciprocity,
        "most_talkative": top or None,
    }


def totals(models: pd.DataFrame) -> dict[str, str]:
    """The figures of all calls together, in words."""
    priced = models["cost_usd"].dropna()
    read, cached = int(models["input_tokens"].sum()), int(models["cached_tokens"].sum())
    return {
        "Calls": f"{int(models['calls'].sum()):,}",
        "Spent": usd_text(float(priced.sum()) if len(priced) else None),
        "Tokens read / written": f"{read:,} / {int(models['output_tokens'].sum()):,}",
        "Provider's cache": share_text(cached / read if read else None),
    }


def model_rows(models: pd.DataFrame) -> list[dict[str, object]]:
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
        for one in models.to_dict("records")
    ]


def _seconds(seconds: float) -> str:
    if pd.isna(seconds):
        return UNKNOWN
    return f"{seconds:.1f} s" if seconds < 10 else duration_text(seconds)
