"""Train the reader that ships: ``make reader``.

Reads the labels of ``data/labels`` that may be trained on, never the kept half or the kept sources. Prints how well
each question is answered for sources that the fit had not seen, and writes ``reader_en.npz`` beside the reader's code
and the model card ``docs/reader.md``. With ``--tune`` it writes nothing: it trains without one source, tunes on that
source's labels as ``dramaturg labels train`` does, and prints what that gains (six minutes).
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.labelled_games import LabelledSet
from evaluation.rubric.reader import model
from evaluation.rubric.reader._features import (
    EarlierMessage,
    candidates,
    pair_rows,
    pair_summary,
    rule_answers,
    sentence_rows,
    sentences,
)
from evaluation.rubric.reader._fitting import Fitted, fit, ngram_matrix
from evaluation.rubric.reader._ngrams import BUCKETS, NGrams, hashed_ngrams
from evaluation.rubric.reader.model import ACTS, TEXT_HEADS, Reader, ReaderHead, aim_table
from evaluation.rubric.reader.training import (
    Bools,
    Examples,
    Floats,
    LabelledGame,
    Measure,
    PreparedGame,
    joined_examples,
    label_mask,
    message_examples,
    prepared_game,
    score,
    tune,
)

SHIPPED = Path(model.__file__).parent / "reader_en.npz"
CARD = Path("docs/reader.md")
WORD_PENALTY = 0.1
DENSE_PENALTY = 2.0
DOUBT = 0.05
"""So near the threshold the rule decides, and a person is asked: the reader is right little more often than not."""
_TABLE = "<!-- The table below is written by make reader. -->\n"


def train(games: Sequence[LabelledGame], name: str) -> Reader:
    """A reader trained on ``games``, its thresholds set on sources that each fit had not seen.

    Args:
        games: At least two sources.
        name: What the reader is called; a hash of what it learned is put behind it.
    """
    prepared = [prepared_game(game) for game in games]
    idf = idf_of(NGrams.joined([one.seen.message_ngrams for one in prepared]))
    heads: dict[str, ReaderHead] = {}
    words = np.zeros((BUCKETS, len(TEXT_HEADS)), dtype=np.float32)
    figures: dict[str, Any] = {}
    outside: dict[str, Floats] = {}

    def learn(head: str, examples: Examples, measure: Measure) -> None:
        fitted, dense, logits = _fit_and_hold_out(examples)
        scale, shift = _calibration(logits, examples.answers, examples.weights)
        chances = 1 / (1 + np.exp(-(scale * logits + shift)))
        threshold = _best_threshold(chances, examples.answers, measure)
        words[:, TEXT_HEADS.index(head)] = fitted.words * scale
        heads[head] = replace(
            dense,
            weights=dense.weights * scale,
            bias=dense.bias * scale + shift,
            threshold=threshold,
            doubt=DOUBT if head in ("strategic", "answers") else 0.0,
        )
        outside[head] = chances
        figures[head] = _figures(chances >= threshold, examples, measure)

    style = [(one, label_mask(one, "strategic")) for one in prepared]
    learn("strategic", message_examples(style, idf, lambda labels: bool(labels.strategic)), "balanced accuracy")
    answering = [(one, label_mask(one, "answers")) for one in prepared]
    answers = message_examples(answering, idf, lambda labels: bool(labels.answers))
    is_answered = [is_in for one, mask in answering for is_in in _are_answered(one)[mask]]
    learn("is answered", answers._replace(answers=np.array(is_answered, dtype=bool)), "balanced accuracy")
    drawn = _drawn(answering, outside["is answered"], words, heads["is answered"], idf)
    pairs = _pair_examples(prepared, drawn)
    heads["pair"], logits, figures["pair"] = _learn_pairs(pairs)
    summary = _summaries(answering, pairs, logits)
    by_rule = np.vstack([rule_answers(one.discussion)[mask] for one, mask in answering])
    learn("answers", answers._replace(dense=np.hstack([answers.dense, by_rule, summary])), "balanced accuracy")
    learn("reference", _sentence_examples(prepared, idf), "F1")
    for kind, examples in _act_examples(prepared, idf):
        learn(kind, examples, "F1")
    digest = hashlib.sha256(words.astype(np.float16).tobytes() + idf.astype(np.float16).tobytes()).hexdigest()[:8]
    counts: dict[str, int] = {}
    for game in games:
        counts[game.source] = counts.get(game.source, 0) + len(game.labels)
    return Reader(f"{name}-{digest}", idf, words, heads, {"messages": counts, "left out": figures})


def idf_of(ngrams: NGrams) -> Floats:
    """The rarity of each bucket among some texts; 0 where a bucket stands in fewer than two of them."""
    counts = np.bincount(ngrams.buckets, minlength=BUCKETS)
    texts = len(ngrams.starts) - 1
    return np.where(counts > 1, np.log((1 + texts) / (1 + counts)) + 1, 0.0).astype(np.float32)


def _sentence_examples(prepared: Sequence[PreparedGame], idf: Floats) -> Examples:
    words, dense, answers, weights, sources = [], [], [], [], []
    for one in prepared:
        every = sentences(one.discussion)
        mask = np.array([one.by_place[each.message].references is not None for each in every], dtype=bool)
        if not mask.any():
            continue
        words.append(ngram_matrix(hashed_ngrams([each.text for each in every]), idf)[mask])
        dense.append(sentence_rows(one.discussion)[mask])
        for sentence, is_in in zip(every, mask, strict=True):
            if is_in:
                text = one.discussion.messages[sentence.message].message.text
                quotes = one.by_place[sentence.message].references or ()
                answers.append(any(_overlaps(text, quote, sentence.start, sentence.end) for quote in quotes))
                weights.append(one.weight)
                sources.append(one.game.source)
    return joined_examples(words, dense, answers, weights, sources)


def _overlaps(text: str, quote: str, start: int, end: int) -> bool:
    at = text.find(quote)
    if at < 0:
        at, quote = text.find(quote.split("  ")[0]), quote
    # Half of the shorter one: a quote that begins with the last word of the sentence before belongs to the next.
    shared = min(end, at + len(quote)) - max(start, at)
    return at >= 0 and 2 * shared >= min(end - start, len(quote))


def _act_examples(prepared: Sequence[PreparedGame], idf: Floats) -> list[tuple[str, Examples]]:
    words, dense, weights, sources, labelled = [], [], [], [], []
    for one in prepared:
        answered = [max(each.answers) if each.answers else None for each in one.by_place]
        answered = [_place(one, index) for index in answered]
        each, rows = aim_table(one.discussion, _likely_answered(one, answered))
        mask = np.array([one.by_place[aim.message].acts is not None for aim, _ in each], dtype=bool)
        if not mask.any():
            continue
        words.append(ngram_matrix(hashed_ngrams([text for _, text in each]), idf)[mask])
        dense.append(rows[mask])
        for (aim, _), is_in in zip(each, mask, strict=True):
            if is_in:
                labelled.append({kind for kind, target in one.by_place[aim.message].acts or () if target == aim.target})
                weights.append(one.weight)
                sources.append(one.game.source)
    return [
        (str(kind), joined_examples(words, dense, [str(kind) in acts for acts in labelled], weights, sources))
        for kind in ACTS
    ]


def _place(one: PreparedGame, index: int | None) -> int | None:
    if index is None:
        return None
    places = {prepared.message.index: at for at, prepared in enumerate(one.discussion.messages)}
    return places.get(index)


def _likely_answered(one: PreparedGame, labelled: Sequence[int | None]) -> list[int | None]:
    """The message that each one answers: as labelled, else the last one of another player."""
    speakers = [prepared.message.speaker for prepared in one.discussion.messages]
    latest: list[int | None] = [None] * len(speakers)
    for pair in candidates(speakers):
        if pair.distance == 1:
            latest[pair.message] = pair.earlier
    return [known if known is not None else other for known, other in zip(labelled, latest, strict=True)]


def _are_answered(one: PreparedGame) -> Bools:
    """Whether any labelled message answers each message."""
    indexes = frozenset[int]().union(*(labels.answers or () for labels in one.by_place))
    return np.array([prepared.message.index in indexes for prepared in one.discussion.messages], dtype=bool)


def _drawn(
    chosen: Sequence[tuple[PreparedGame, Bools]], outside: Floats, words: Floats, head: ReaderHead, idf: Floats
) -> list[Floats]:
    """For each game, its messages' logits of being answered: held out where labelled, fitted elsewhere."""
    done, drawn = 0, []
    column = TEXT_HEADS.index("is answered")
    for one, mask in chosen:
        sums = one.seen.message_ngrams.sums(words[:, [column]] * idf[:, None], idf)[:, 0]
        logits = sums + head.logits(one.seen.style)
        count = int(mask.sum())
        held = np.clip(outside[done : done + count], 1e-4, 1 - 1e-4)
        logits[mask] = np.log(held / (1 - held))
        drawn.append(logits)
        done += count
    return drawn


class _PairExamples(NamedTuple):
    examples: Examples
    owners: list[tuple[int, EarlierMessage]]
    """Number of the game, and the pair, of each example."""


def _pair_examples(prepared: Sequence[PreparedGame], drawn: Sequence[Floats]) -> _PairExamples:
    dense, answers, weights, sources, owners = [], [], [], [], []
    for number, one in enumerate(prepared):
        messages = one.discussion.messages
        labelled = [each.answers for each in one.by_place]
        every = candidates([each.message.speaker for each in messages])
        pairs = [pair for pair in every if labelled[pair.message] is not None]
        if not pairs:
            continue
        own = drawn[number][[pair.earlier for pair in pairs]]
        dense.append(np.column_stack([own, pair_rows(one.discussion, pairs)]))
        for pair in pairs:
            answers.append(messages[pair.earlier].message.index in (labelled[pair.message] or ()))
            weights.append(one.weight)
            sources.append(one.game.source)
            owners.append((number, pair))
    return _PairExamples(joined_examples([], dense, answers, weights, sources), owners)


def _learn_pairs(pairs: _PairExamples) -> tuple[ReaderHead, Floats, dict[str, Any]]:
    """The pair's head, its held-out logits, and the share of answering messages whose likeliest pair is labelled."""
    _, dense, logits = _fit_and_hold_out(pairs.examples)
    best: dict[tuple[int, int], tuple[float, bool]] = {}
    answering: set[tuple[int, int]] = set()
    for (game, pair), logit, is_labelled in zip(pairs.owners, logits, pairs.examples.answers, strict=True):
        key = game, pair.message
        if is_labelled:
            answering.add(key)
        if key not in best or logit > best[key][0]:
            best[key] = float(logit), bool(is_labelled)
    right = sum(best[key][1] for key in answering)
    told = {"measure": "right one first", "all": round(right / max(1, len(answering)), 3), "sources": {}}
    return dense, logits, told


def _summaries(chosen: Sequence[tuple[PreparedGame, Bools]], pairs: _PairExamples, logits: Floats) -> Floats:
    own: dict[int, tuple[list[EarlierMessage], list[float]]] = {}
    for (game, pair), logit in zip(pairs.owners, logits, strict=True):
        found = own.setdefault(game, ([], []))
        found[0].append(pair)
        found[1].append(float(logit))
    return np.vstack(
        [pair_summary(len(one.by_place), *own.get(number, ([], [])))[mask] for number, (one, mask) in enumerate(chosen)]
    )


def _fit_and_hold_out(examples: Examples) -> tuple[Fitted, ReaderHead, Floats]:
    """The fit on all examples, its dense part, and each example's logit by the fit without its source."""
    means = examples.dense.mean(axis=0)
    sizes = examples.dense.std(axis=0) + np.float32(1e-3)
    scaled = examples._replace(dense=((examples.dense - means) / sizes).astype(np.float32))
    logits = np.zeros(len(examples.answers), dtype=np.float32)
    for source in sorted(set(examples.sources)):
        out = examples.sources == source
        fitted = _fit(scaled.where(~out))
        logits[out] = scaled.dense[out] @ fitted.dense + fitted.bias
        if examples.words.shape[1]:
            logits[out] += examples.words[out] @ fitted.words
    fitted = _fit(scaled)
    return fitted, ReaderHead(means, sizes, fitted.dense, fitted.bias, 0.5), logits


def _fit(examples: Examples) -> Fitted:
    words = examples.words if examples.words.shape[1] else None
    return fit(
        words,
        examples.dense,
        examples.answers,
        examples.weights,
        word_penalty=WORD_PENALTY,
        dense_penalty=DENSE_PENALTY,
    )


def _calibration(logits: Floats, answers: Bools, weights: Floats) -> tuple[float, float]:
    """Scale and shift by which held-out logits become chances (Platt)."""
    fitted = fit(None, logits[:, None], answers, weights, word_penalty=0.0, dense_penalty=0.5)
    return max(0.05, float(fitted.dense[0])), fitted.bias


def _best_threshold(chances: Floats, answers: Bools, measure: Measure) -> float:
    tried = np.linspace(0.05, 0.95, 91)
    return float(max(tried, key=lambda one: score(chances >= one, answers, measure)))


def _figures(said: Bools, examples: Examples, measure: Measure) -> dict[str, Any]:
    by_source = {
        str(source): [
            round(score(said[own], examples.answers[own], measure), 3),
            int(own.sum()),
            int(examples.answers[own].sum()),
        ]
        for source in sorted(set(examples.sources))
        for own in [examples.sources == source]
    }
    return {"measure": measure, "all": round(score(said, examples.answers, measure), 3), "sources": by_source}


def card_table(reader: model.Reader) -> str:
    """The figures of a reader as a Markdown table, one line for each question."""
    lines = ["| question | measure | all | by source left out (yes of messages) |", "|---|---|---|---|"]
    for question, told in reader.card["left out"].items():
        sources = ", ".join(
            f"{name} {value:.2f} ({yes} of {count})" for name, (value, count, yes) in told["sources"].items()
        )
        lines.append(f"| {question} | {told['measure']} | {told['all']:.2f} | {sources} |")
    counts = ", ".join(f"{name} {count}" for name, count in reader.card["messages"].items())
    return (
        f"`{reader.name}`, trained on {sum(reader.card['messages'].values()):,} messages: {counts}.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def print_tuning() -> None:
    """Print balanced accuracy on games left out, before and after tuning on other games of their source."""
    games = LabelledSet.of("tuning", "synthetic").as_training()
    for source in ("aiwolf", "llmafia", "synthetic 1"):
        general = train([one for one in games if one.source != source], "en")
        for one in tune(general, [one for one in games if one.source == source], "own")[1]:
            print(f"{source}, {one.question}: {one.labels} labels, {one.before:.3f} -> {one.after:.3f}", flush=True)


def main() -> None:
    """Train, print and write."""
    began = time.perf_counter()
    reader = train(LabelledSet.of("tuning", "synthetic").as_training(), "en")
    reader.save(SHIPPED)
    table = card_table(reader)
    text = CARD.read_text(encoding="utf-8")
    CARD.write_text(text[: text.index(_TABLE) + len(_TABLE)] + "\n" + table, encoding="utf-8")
    print(table)
    print(f"{SHIPPED.stat().st_size / 1e6:.2f} MB, trained in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    print_tuning() if "--tune" in sys.argv else main()
