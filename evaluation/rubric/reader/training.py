"""Train a reader from labelled games, and measure it on sources that it did not see."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from evaluation.rubric.discussion import Discussion
from evaluation.rubric.reader._features import (
    EarlierMessage,
    Features,
    candidates,
    features,
    pair_rows,
    pair_summary,
    rule_answers,
    sentence_rows,
    sentences,
)
from evaluation.rubric.reader._fitting import Fitted, fit, idf_of, ngram_matrix
from evaluation.rubric.reader._ngrams import BUCKETS, NGrams, hashed_ngrams
from evaluation.rubric.reader.model import ACTS, TEXT_HEADS, Reader, ReaderHead, aim_table
from evaluation.transcript import Transcript

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

WORD_PENALTY = 0.1
DENSE_PENALTY = 2.0
DOUBT = 0.05
"""So near the threshold the rule decides, and a person is asked: the reader is right little more often than not."""
SYNTHETIC_WEIGHT = 0.7
"""How much a message of a synthetic game counts beside one of a real game."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Answers of people to one message. ``None``: the message was not labelled for that question.

    Attributes:
        strategic: Whether it shows strategic thinking.
        answers: Indexes of the messages that it answers.
        references: The quotes of its references to the past.
        acts: Its speech acts, each with its target.
    """

    strategic: bool | None = None
    answers: frozenset[int] | None = None
    references: tuple[str, ...] | None = None
    acts: frozenset[tuple[str, str | None]] | None = None


@dataclass(frozen=True, slots=True)
class LabelledGame:
    """A game with the labels of its messages, by index of the message.

    Attributes:
        source: Games of one source are left out together when the reader is measured.
        is_synthetic: Written for the purpose; counts less.
    """

    transcript: Transcript
    source: str
    labels: Mapping[int, Labels]
    is_synthetic: bool = False


class _Examples(NamedTuple):
    """The examples of one question over all games: n-grams of texts, dense columns, labels, weights, sources."""

    words: csr_matrix
    dense: Floats
    answers: Bools
    weights: Floats
    sources: NDArray[np.str_]

    def where(self, chosen: Bools) -> _Examples:
        return _Examples(
            self.words[chosen], self.dense[chosen], self.answers[chosen], self.weights[chosen], self.sources[chosen]
        )


@dataclass
class _Game:
    game: LabelledGame
    discussion: Discussion
    seen: Features
    by_place: list[Labels]
    drawn: Any = None

    @property
    def weight(self) -> float:
        return SYNTHETIC_WEIGHT if self.game.is_synthetic else 1.0


def train(games: Sequence[LabelledGame], name: str) -> Reader:
    """A reader trained on ``games``, its thresholds set on sources that each fit had not seen.

    Args:
        games: At least two sources.
        name: What the reader is called; a hash of what it learned is put behind it.
    """
    prepared = [_prepared(game) for game in games]
    idf = idf_of(NGrams.joined([one.seen.message_ngrams for one in prepared]))
    heads: dict[str, ReaderHead] = {}
    words = np.zeros((BUCKETS, len(TEXT_HEADS)), dtype=np.float32)
    figures: dict[str, Any] = {}
    outside: dict[str, Floats] = {}

    def learn(head: str, examples: _Examples, measure: Measure) -> None:
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

    style = [(one, _mask(one, "strategic")) for one in prepared]
    learn("strategic", _message_examples(style, idf, lambda labels: bool(labels.strategic)), "balanced accuracy")
    answering = [(one, _mask(one, "answers")) for one in prepared]
    answers = _message_examples(answering, idf, lambda labels: bool(labels.answers))
    is_answered = [is_in for one, mask in answering for is_in in _are_answered(one)[mask]]
    learn("is answered", answers._replace(answers=np.array(is_answered, dtype=bool)), "balanced accuracy")
    _put_drawn(answering, outside["is answered"], words, heads["is answered"], idf)
    pairs = _pair_examples(prepared)
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


TUNED = ("strategic", "answers")
"""The questions whose labels a check of single verdicts gives."""
FEWEST_LABELS, FEWEST_OF_EACH, FEWEST_GAMES = 40, 10, 3
SMALLEST_GAIN = 0.02
"""A question is tuned when that much more balanced accuracy is seen on games that the tuning did not see."""
_FOLDS = 5
_TUNED_WORD_PENALTY, _TUNED_DENSE_PENALTY = 2.0, 40.0


@dataclass(frozen=True, slots=True)
class Tuning:
    """Effect of a team's labels on one question.

    Attributes:
        question: One of ``TUNED``.
        labels: How many messages have one.
        before: Balanced accuracy of the reader as it was on them, 0 to 1; ``None`` where there are too few labels.
        after: The same after tuning, each message read by a fit that had not seen its game.
        is_taken: Whether the tuned weights are in the reader.
    """

    question: str
    labels: int
    before: float | None = None
    after: float | None = None
    is_taken: bool = False


def tune(reader: Reader, games: Sequence[LabelledGame], name: str) -> tuple[Reader, list[Tuning]]:
    """``reader`` with its weights moved towards a team's labels, where that helps on games left out.

    Thresholds stay: labels of doubtful verdicts say nothing about how common a yes is.

    Args:
        reader: From where the tuning starts.
        games: With labels for any of ``TUNED``.
        name: What the reader is called, if any question was tuned; a hash of its weights is put behind it.

    Returns:
        The tuned reader, or ``reader`` itself, and what happened for each of ``TUNED``.
    """
    words, heads, told = reader.words.copy(), dict(reader.heads), []
    for question in TUNED:
        examples, logits = _tuning_examples(reader, question, games)
        tuning, fitted = _tuned(reader.heads[question], question, examples, logits)
        told.append(tuning)
        if fitted is not None:
            head = heads[question]
            words[:, TEXT_HEADS.index(question)] += fitted.words
            heads[question] = replace(head, weights=head.weights + fitted.dense, bias=head.bias + fitted.bias)
    if not any(one.is_taken for one in told):
        return reader, told
    digest = hashlib.sha256(words.tobytes() + b"".join(head.weights.tobytes() for head in heads.values())).hexdigest()
    return replace(
        reader, name=f"{name}-{digest[:8]}", words=words, heads=heads, card={**reader.card, "is_own": True}
    ), told


def _tuning_examples(reader: Reader, question: str, games: Sequence[LabelledGame]) -> tuple[_Examples, Floats]:
    head, chosen, logits = reader.heads[question], [], []
    for number, game in enumerate(games):
        one = _prepared(replace(game, source=str(number)))
        mask = _mask(one, question)
        if mask.any():
            dense, own = reader.message_columns(question, one.discussion)
            one.seen = replace(one.seen, style=(dense - head.means) / head.sizes)
            chosen.append((one, mask))
            logits.append(own[mask])
    if not chosen:
        nothing = np.zeros(0, dtype=np.float32)
        return _Examples(csr_matrix((0, BUCKETS)), nothing, nothing > 0, nothing, np.zeros(0, dtype=np.str_)), nothing
    answer = _message_examples(chosen, reader.idf, lambda labels: bool(getattr(labels, question)))
    return answer, np.concatenate(logits)


def _tuned(head: ReaderHead, question: str, examples: _Examples, logits: Floats) -> tuple[Tuning, Fitted | None]:
    labels, yes = len(examples.answers), int(examples.answers.sum())
    games = sorted(set(examples.sources))
    if labels < FEWEST_LABELS or min(yes, labels - yes) < FEWEST_OF_EACH or len(games) < FEWEST_GAMES:
        return Tuning(question, labels), None
    needed = np.log(head.threshold / (1 - head.threshold))
    held_out = logits.copy()
    for fold in range(min(_FOLDS, len(games))):
        out = np.isin(examples.sources, games[fold::_FOLDS])
        fitted = _fit_beside(examples.where(~out), logits[~out])
        held_out[out] += examples.words[out] @ fitted.words + examples.dense[out] @ fitted.dense + fitted.bias
    before, after = (score(one >= needed, examples.answers, "balanced accuracy") for one in (logits, held_out))
    is_taken = after >= before + SMALLEST_GAIN
    return Tuning(question, labels, before, after, is_taken), _fit_beside(examples, logits) if is_taken else None


def _fit_beside(examples: _Examples, logits: Floats) -> Fitted:
    return fit(
        examples.words,
        examples.dense,
        examples.answers,
        examples.weights,
        word_penalty=_TUNED_WORD_PENALTY,
        dense_penalty=_TUNED_DENSE_PENALTY,
        offsets=logits,
    )


def _prepared(game: LabelledGame) -> _Game:
    discussion = Discussion.of(game.transcript)
    return _Game(
        game,
        discussion,
        features(discussion),
        [game.labels.get(one.message.index, Labels()) for one in discussion.messages],
    )


def _mask(one: _Game, question: str) -> Bools:
    return np.array([getattr(labels, question) is not None for labels in one.by_place], dtype=bool)


def _message_examples(
    chosen: Sequence[tuple[_Game, Bools]], idf: Floats, answer: Callable[[Labels], bool]
) -> _Examples:
    words, dense, answers, weights, sources = [], [], [], [], []
    for one, mask in chosen:
        words.append(ngram_matrix(one.seen.message_ngrams, idf)[mask])
        dense.append(one.seen.style[mask])
        answers += [answer(labels) for labels, is_in in zip(one.by_place, mask, strict=True) if is_in]
        weights += [one.weight] * int(mask.sum())
        sources += [one.game.source] * int(mask.sum())
    return _examples(words, dense, answers, weights, sources)


def _examples(words: Any, dense: Any, answers: Any, weights: Any, sources: Any) -> _Examples:
    return _Examples(
        vstack(words).tocsr() if words else csr_matrix((len(answers), 0)),
        np.concatenate(dense).astype(np.float32),
        np.array(answers, dtype=bool),
        np.array(weights, dtype=np.float32),
        np.array(sources),
    )


def _sentence_examples(prepared: Sequence[_Game], idf: Floats) -> _Examples:
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
    return _examples(words, dense, answers, weights, sources)


def _overlaps(text: str, quote: str, start: int, end: int) -> bool:
    at = text.find(quote)
    if at < 0:
        at, quote = text.find(quote.split("  ")[0]), quote
    # Half of the shorter one: a quote that begins with the last word of the sentence before belongs to the next.
    shared = min(end, at + len(quote)) - max(start, at)
    return at >= 0 and 2 * shared >= min(end - start, len(quote))


def _act_examples(prepared: Sequence[_Game], idf: Floats) -> list[tuple[str, _Examples]]:
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
        (str(kind), _examples(words, dense, [str(kind) in acts for acts in labelled], weights, sources))
        for kind in ACTS
    ]


def _place(one: _Game, index: int | None) -> int | None:
    if index is None:
        return None
    places = {prepared.message.index: at for at, prepared in enumerate(one.discussion.messages)}
    return places.get(index)


def _likely_answered(one: _Game, labelled: Sequence[int | None]) -> list[int | None]:
    """The message that each one answers: as labelled, else the last one of another player."""
    speakers = [prepared.message.speaker for prepared in one.discussion.messages]
    latest: list[int | None] = [None] * len(speakers)
    for pair in candidates(speakers):
        if pair.distance == 1:
            latest[pair.message] = pair.earlier
    return [known if known is not None else other for known, other in zip(labelled, latest, strict=True)]


def _are_answered(one: _Game) -> Bools:
    """Whether any labelled message answers each message."""
    indexes = frozenset[int]().union(*(labels.answers or () for labels in one.by_place))
    return np.array([prepared.message.index in indexes for prepared in one.discussion.messages], dtype=bool)


def _put_drawn(
    chosen: Sequence[tuple[_Game, Bools]], outside: Floats, words: Floats, head: ReaderHead, idf: Floats
) -> None:
    """Gives each message the logit of being answered: held out where it was labelled, fitted elsewhere."""
    done = 0
    column = TEXT_HEADS.index("is answered")
    for one, mask in chosen:
        sums = one.seen.message_ngrams.sums(words[:, [column]] * idf[:, None], idf)[:, 0]
        one.drawn = sums + head.logits(one.seen.style)
        count = int(mask.sum())
        held = np.clip(outside[done : done + count], 1e-4, 1 - 1e-4)
        one.drawn[mask] = np.log(held / (1 - held))
        done += count


class _PairExamples(NamedTuple):
    examples: _Examples
    owners: list[tuple[int, EarlierMessage]]
    """Number of the game, and the pair, of each example."""


def _pair_examples(prepared: Sequence[_Game]) -> _PairExamples:
    dense, answers, weights, sources, owners = [], [], [], [], []
    for number, one in enumerate(prepared):
        messages = one.discussion.messages
        labelled = [each.answers for each in one.by_place]
        every = candidates([each.message.speaker for each in messages])
        pairs = [pair for pair in every if labelled[pair.message] is not None]
        if not pairs:
            continue
        drawn = one.drawn[[pair.earlier for pair in pairs]]
        dense.append(np.column_stack([drawn, pair_rows(one.discussion, pairs)]))
        for pair in pairs:
            answers.append(messages[pair.earlier].message.index in (labelled[pair.message] or ()))
            weights.append(one.weight)
            sources.append(one.game.source)
            owners.append((number, pair))
    return _PairExamples(_examples([], dense, answers, weights, sources), owners)


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


def _summaries(chosen: Sequence[tuple[_Game, Bools]], pairs: _PairExamples, logits: Floats) -> Floats:
    own: dict[int, tuple[list[EarlierMessage], list[float]]] = {}
    for (game, pair), logit in zip(pairs.owners, logits, strict=True):
        found = own.setdefault(game, ([], []))
        found[0].append(pair)
        found[1].append(float(logit))
    return np.vstack(
        [pair_summary(len(one.by_place), *own.get(number, ([], [])))[mask] for number, (one, mask) in enumerate(chosen)]
    )


def _fit_and_hold_out(examples: _Examples) -> tuple[Fitted, ReaderHead, Floats]:
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


def _fit(examples: _Examples) -> Fitted:
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


Measure = Literal["balanced accuracy", "F1"]


def _best_threshold(chances: Floats, answers: Bools, measure: Measure) -> float:
    tried = np.linspace(0.05, 0.95, 91)
    return float(max(tried, key=lambda one: score(chances >= one, answers, measure)))


def score(said: Bools, answers: Bools, measure: Measure) -> float:
    """Balanced accuracy, or F1 of yes; 0 where it is not defined."""
    hits = int((said & answers).sum())
    if measure == "F1":
        return 2 * hits / max(1, int(said.sum()) + int(answers.sum()))
    yes, no = int(answers.sum()), int((~answers).sum())
    return 0.0 if not yes or not no else (hits / yes + int((~said & ~answers).sum()) / no) / 2


def _figures(said: Bools, examples: _Examples, measure: Measure) -> dict[str, Any]:
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


__all__ = ["LabelledGame", "Labels", "Tuning", "score", "train", "tune"]
