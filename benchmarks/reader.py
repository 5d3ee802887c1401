"""Train the reader that ships: ``make reader``.

Reads all labels of ``data/labels``: those that were kept apart have been opened for the last time. Prints how well each
question is answered for sources that the fit had not seen, and writes ``reader_en.npz`` beside the reader's code.
``docs/reader.md`` is its model card.

A *licence* is the lowest chance from which the reader's answer stands: beyond it, enough rows of real games were
right by fits that had not seen their source, of all rows and on average over the sources. ``strategic`` has two, one
for each direction in which the reader overrules a rule that rests on no proof.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.fitting import Fitted, fit, ngram_matrix
from benchmarks.labelled_games import EVERY, LabelledSet
from benchmarks.reader_examples import (
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
)
from evaluation.rubric.metrics import strategic_depth
from evaluation.rubric.reader import model
from evaluation.rubric.reader._features import (
    BUCKETS,
    OWN_STYLE,
    NGrams,
    aim_table,
    hashed_ngrams,
    sentence_rows,
    sentences,
)
from evaluation.rubric.reader.decisions import DOUBT
from evaluation.rubric.reader.model import (
    ACTS,
    TEXT_HEADS,
    KnownKinds,
    Licence,
    Reader,
    ReaderHead,
    kind_by_rule,
    kind_of,
)
from evaluation.rubric.speech import read
from evaluation.score import PROOF, LedgerRow, RowVerdict

SHIPPED = Path(model.__file__).parent / "reader_en.npz"
FOLDS = 6
"""So many times some sources are left out together: each fit has seen none of them."""
WORD_PENALTY = 0.1
DENSE_PENALTY = 2.0
FEWEST_RIGHT, RIGHT_TO_OVERRULE = 0.8, 0.85
"""The share of rows that must be right in sources left out, to say an act and to overrule the rule."""
FEWEST_ROWS, FEWEST_OF_A_SOURCE, FEWEST_REAL = 30, 5, 15
"""So many rows must be left for a licence (one that rested on 27 did not hold on kept games: 200 of 260 were right);
sources with fewer than the second number are taken together, and at least the third number are of real games."""
NEVER = 2.0
"""The limit of a question without a licence."""


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
    licences: dict[str, Licence] = {}
    figures: dict[str, Any] = {}
    outside: dict[str, Floats] = {}

    def learn(head: str, examples: Examples) -> None:
        fitted, dense, logits = _fit_and_hold_out(examples)
        scale, shift = _calibration(logits, examples.answers, examples.weights)
        words[:, TEXT_HEADS.index(head)] = fitted.words * scale
        heads[head] = replace(dense, weights=dense.weights * scale, bias=dense.bias * scale + shift)
        outside[head] = 1 / (1 + np.exp(-(scale * logits + shift)))

    def overrule(head: str, examples: Examples, by_rule: NDArray[np.int8]) -> None:
        # By direction: where the rule says the opposite, and proves nothing.
        for answer, name in ((True, "yes"), (False, "no")):
            rows = by_rule == (0 if answer else 1)
            right = examples.answers[rows] == answer
            logits = _logits(outside[head][rows]) * (1 if answer else -1)
            scale, shift = _calibration(logits, right, examples.weights[rows])
            chances = 1 / (1 + np.exp(-(scale * logits + shift)))
            limit, told = licence_limit(chances, right, examples.sources[rows], RIGHT_TO_OVERRULE)
            licences[f"{head} {name}"] = Licence(scale if answer else -scale, shift, limit)
            figures[f"{head}: {name} against the rule"] = told
            is_doubted = chances >= DOUBT
            for words, kept in (("left open", is_doubted & (chances < limit)), ("standing", ~is_doubted)):
                right_rule = _share_right(~right[kept], examples.sources[rows][kept])[1]
                figures[f"{head}: the rule's row, {words} against {name}"] = right_rule

    style = [(one, label_mask(one, "strategic")) for one in prepared]
    depth = message_examples(style, idf, lambda labels: bool(labels.strategic), OWN_STYLE)
    learn("strategic", depth)
    overrule("strategic", depth, _by_rule(style, strategic_depth))
    references = _sentence_examples(prepared, idf)
    learn("reference", references)
    threshold = _best_threshold(outside["reference"], references.answers, "F1")
    licences["reference"] = Licence(1.0, 0.0, threshold)
    figures["reference"] = _figures(outside["reference"] >= threshold, references, "F1")
    by_kind, owners = _act_examples(prepared, idf)
    for kind, examples in by_kind:
        learn(kind, examples)
        best = _best_of_each(outside[kind], owners)
        limit, figures[kind] = licence_limit(outside[kind][best], examples.answers[best], examples.sources[best])
        licences[kind] = Licence(1.0, 0.0, limit)
    rule_kinds = set()
    for kind, (right, sources) in _rule_acts(prepared).items():
        share, figures[f"{kind}, by the rule"] = _share_right(right, sources)
        if share >= FEWEST_RIGHT:
            rule_kinds.add(kind)
    digest = hashlib.sha256(words.astype(np.float16).tobytes() + idf.astype(np.float16).tobytes()).hexdigest()[:8]
    counts: dict[str, int] = {}
    for game in games:
        counts[game.source] = counts.get(game.source, 0) + len(game.labels)
    card = {"messages": counts, "left out": figures}
    kinds = _known_kinds(prepared)
    vocabulary = vocabulary_of(prepared)
    return Reader(f"{name}-{digest}", idf, words, heads, licences, vocabulary, kinds, frozenset(rule_kinds), card)


def licence_limit(
    chances: Floats, right: Bools, sources: NDArray[np.str_], share: float = FEWEST_RIGHT
) -> tuple[float, dict[str, Any]]:
    """The lowest chance beyond which enough rows are right, and what the rows beyond it look like.

    What counts is the share of all rows and the mean of the sources' shares: how a source that nobody has seen is
    likely to fare. (That every single source reaches it grows harder with each source that is labelled, until the
    reader may say nothing.)

    Args:
        chances: Of being right, by fits that had not seen the source; one for each row that would be said.
        right: Whether it is.
        sources: Where each row comes from.
        share: So many must be right, from 0 to 1.

    Returns:
        ``NEVER`` where there is no such chance, with the figures at the chance that comes nearest.
    """
    best = NEVER
    chances = np.round(chances.astype(np.float64), 6)
    for limit in np.round(np.arange(0.5, 0.991, 0.01), 2):
        beyond = chances >= limit
        if beyond.sum() < FEWEST_ROWS:
            break
        if _likely_right(right[beyond], sources[beyond]) >= share:
            best = float(limit)
            break
    beyond = chances >= (best if best <= 1 else np.sort(chances)[-FEWEST_ROWS:][0] if len(chances) else 1.0)
    told = _share_right(right[beyond], sources[beyond])[1]
    return best, {**told, "limit": best if best <= 1 else None}


def _best_of_each(chances: Floats, owners: Sequence[tuple[int, int]]) -> list[int]:
    """Of the aims of each message the likeliest: an act is aimed at one player."""
    best: dict[tuple[int, int], int] = {}
    for place, owner in enumerate(owners):
        if owner not in best or chances[place] > chances[best[owner]]:
            best[owner] = place
    return list(best.values())


def _likely_right(right: Bools, sources: NDArray[np.str_]) -> float:
    """The share of rows of real games that are right, or the mean of the sources' shares where that is lower."""
    # Games that were written for the purpose do not speak for real ones.
    is_real = ~np.char.startswith(sources.astype(str), "synthetic")
    right, sources = right[is_real], sources[is_real]
    if len(right) < FEWEST_REAL:
        return 0.0
    names, numbers, counts = np.unique(sources, return_inverse=True, return_counts=True)
    groups = np.where(counts >= FEWEST_OF_A_SOURCE, np.arange(len(names)), -1)[numbers]
    return float(min(right.mean(), np.mean([right[groups == group].mean() for group in set(groups.tolist())])))


def _share_right(right: Bools, sources: NDArray[np.str_]) -> tuple[float, dict[str, Any]]:
    by_source = {
        str(source): [int(right[sources == source].sum()), int((sources == source).sum())]
        for source in sorted(set(sources))
    }
    share = float(right.mean()) if len(right) else 0.0
    return share, {"right": int(right.sum()), "said": len(right), "sources": by_source}


def _by_rule(chosen: Sequence[tuple[PreparedGame, Bools]], metric: Any) -> NDArray[np.int8]:
    """For each chosen message what the rule says: 1 yes, 0 no, 2 where it is proven or not asked."""
    said = []
    for one, mask in chosen:
        rows: dict[str | None, LedgerRow] = {row.message_id: row for row in metric.measure(one.game.transcript).ledger}
        for prepared, is_in in zip(one.discussion.messages, mask, strict=True):
            if is_in:
                row = rows[prepared.message.id]
                is_open = row.verdict is not RowVerdict.EXCLUDED and not row.details.get(PROOF)
                said.append(int(row.verdict is RowVerdict.COUNTS) if is_open else 2)
    return np.array(said, dtype=np.int8)


def _rule_acts(prepared: Sequence[PreparedGame]) -> dict[str, tuple[Bools, NDArray[np.str_]]]:
    """By kind of act: of those that the rule sees, which are labelled, and their sources."""
    found: dict[str, tuple[list[bool], list[str]]] = {}
    for one in prepared:
        for labels, reading in zip(one.by_place, read(one.discussion), strict=True):
            if labels.acts is None:
                continue
            implied = {("accuse", target) for kind, target in labels.acts if kind in _IMPLY_ACCUSE}
            for act in reading.acts:
                right, sources = found.setdefault(kind_by_rule(act), ([], []))
                right.append((str(act.kind), act.target) in labels.acts | implied)
                sources.append(one.game.source)
    return {kind: (np.array(right, dtype=bool), np.array(sources)) for kind, (right, sources) in found.items()}


_IMPLY_ACCUSE = frozenset({"accuse_aggressively", "build_case"})


def _known_kinds(prepared: Sequence[PreparedGame]) -> KnownKinds:
    """The look of games to a reader that has not seen their source, and the distance of the farthest source."""
    sources = np.array([one.game.source for one in prepared])
    numbers = np.zeros((len(prepared), 2))
    for source in sorted(set(sources)):
        others = [one for one in prepared if one.game.source != source]
        vocabulary = vocabulary_of(others)
        for place in np.flatnonzero(sources == source):
            numbers[place] = kind_of(prepared[place].discussion, vocabulary)
    farthest = 0.0
    for source in sorted(set(sources)):
        is_out = sources == source
        kinds = _kinds(numbers[~is_out], 0.0)
        # Of a source the game in the middle: a short game may be far off by chance.
        farthest = max(farthest, float(np.median([kinds.distance(each.tolist()) for each in numbers[is_out]])))
    return _kinds(numbers, round(farthest, 2))


def _kinds(numbers: NDArray[np.float64], limit: float) -> KnownKinds:
    return KnownKinds(tuple(numbers.mean(axis=0).tolist()), tuple(numbers.std(axis=0).tolist()), limit)


def _logits(chances: Floats) -> Floats:
    return np.log(np.clip(chances, 1e-6, 1) / np.clip(1 - chances, 1e-6, 1))


def vocabulary_of(prepared: Sequence[PreparedGame]) -> frozenset[str]:
    """The words, as they are read, of at least two sources: names and slips of one game are none."""
    by_source: dict[str, set[str]] = {}
    for one in prepared:
        by_source.setdefault(one.game.source, set()).update(*map(str.split, one.seen.texts))
    counts = Counter(chain.from_iterable(by_source.values()))
    return frozenset(word for word, count in counts.items() if count > 1)


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


def _act_examples(
    prepared: Sequence[PreparedGame], idf: Floats
) -> tuple[list[tuple[str, Examples]], list[tuple[int, int]]]:
    """For each kind of act the aims of all messages, and of each aim its game and message."""
    words, dense, weights, sources, labelled, owners = [], [], [], [], [], []
    for number, one in enumerate(prepared):
        each, rows = aim_table(one.discussion)
        mask = np.array([one.by_place[aim.message].acts is not None for aim, _ in each], dtype=bool)
        if not mask.any():
            continue
        words.append(ngram_matrix(hashed_ngrams([text for _, text in each]), idf)[mask])
        dense.append(rows[mask])
        for (aim, _), is_in in zip(each, mask, strict=True):
            if is_in:
                owners.append((number, aim.message))
                labelled.append({kind for kind, target in one.by_place[aim.message].acts or () if target == aim.target})
                weights.append(one.weight)
                sources.append(one.game.source)
    return [
        (str(kind), joined_examples(words, dense, [str(kind) in acts for acts in labelled], weights, sources))
        for kind in ACTS
    ], owners


def _fit_and_hold_out(examples: Examples) -> tuple[Fitted, ReaderHead, Floats]:
    """The fit on all examples, its dense part, and each example's logit by the fit without its source."""
    means = examples.dense.mean(axis=0)
    sizes = examples.dense.std(axis=0) + np.float32(1e-3)
    scaled = examples._replace(dense=((examples.dense - means) / sizes).astype(np.float32))
    logits = np.zeros(len(examples.answers), dtype=np.float32)
    folds = {source: place % FOLDS for place, source in enumerate(sorted(set(examples.sources)))}
    numbers = np.array([folds[source] for source in examples.sources])
    for fold in sorted(set(folds.values())):
        out = numbers == fold
        fitted = _fit(scaled.where(~out))
        logits[out] = scaled.dense[out] @ fitted.dense + fitted.bias
        if examples.words.shape[1]:
            logits[out] += examples.words[out] @ fitted.words
    fitted = _fit(scaled)
    return fitted, ReaderHead(means, sizes, fitted.dense, fitted.bias), logits


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


def reader_as_bytes(reader: Reader) -> bytes:
    """The content of a reader's file: plain arrays (``.npz``, weights as half floats)."""
    arrays: dict[str, Any] = {"idf": reader.idf.astype(np.float16), "words": reader.words.astype(np.float16)}
    for name, head in reader.heads.items():
        arrays[f"head {name}"] = np.stack([head.means, head.sizes, head.weights])
        arrays[f"bias {name}"] = np.array([head.bias], dtype=np.float32)
    arrays["vocabulary"] = np.frombuffer("\n".join(sorted(reader.vocabulary)).encode("utf-8"), dtype=np.uint8)
    told = {
        "format": model.FORMAT,
        "name": reader.name,
        "licences": reader.licences,
        "kinds": reader.kinds,
        "rule_acts": sorted(reader.rule_acts),
        "card": dict(reader.card),
    }
    arrays["about"] = np.frombuffer(json.dumps(told).encode("utf-8"), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def figures_text(reader: model.Reader) -> str:
    """The figures of a reader as Markdown tables: what it is licensed for, and what else it is measured by."""
    told = reader.card["left out"]
    rows = [["what", "licence", "right of what is said beyond it", "by source left out"]]
    for question, one in told.items():
        if "said" in one:
            sources = ", ".join(f"{name} {right} of {said}" for name, (right, said) in one["sources"].items())
            limit = one.get("limit")
            by_rule = question.removesuffix(", by the rule")
            licence = "yes" if by_rule in reader.rule_acts else "none"
            if by_rule == question:
                licence = "none" if limit is None else f"from {limit:.2f}"
            rows.append([question, licence, f"{one['right']} of {one['said']}", sources])
    measures = [["question", "measure", "all", "by source left out (yes of messages)"]]
    for question, one in told.items():
        if "measure" in one:
            sources = ", ".join(
                f"{name} {value:.2f} ({yes} of {count})" for name, (value, count, yes) in one["sources"].items()
            )
            measures.append([question, one["measure"], f"{one['all']:.2f}", sources])
    counts = ", ".join(f"{name} {count}" for name, count in reader.card["messages"].items())
    return (
        f"`{reader.name}`, trained on {sum(reader.card['messages'].values()):,} messages: {counts}.\n"
        f"Farthest source left out: {reader.kinds.limit:.2f} spreads.\n\n"
        f"{_markdown_table(rows)}\n{_markdown_table(measures)}"
    )


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    header, *others = [f"| {' | '.join(row)} |\n" for row in rows]
    return "".join([header, "|" + "---|" * len(rows[0]) + "\n", *others])


def main() -> None:
    """Train, print and write."""
    began = time.perf_counter()
    reader = train(LabelledSet.of(*EVERY).as_training(), "en")
    SHIPPED.write_bytes(reader_as_bytes(reader))
    print(figures_text(reader))
    print(f"{SHIPPED.stat().st_size / 1e6:.2f} MB, trained in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
