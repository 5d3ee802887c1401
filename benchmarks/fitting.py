"""Logistic regression on hashed n-grams and a few dense columns, by scipy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from evaluation.rubric.reader._features import BUCKETS, NGrams

Floats = NDArray[np.float32]
# The loss hardly falls any further.
_STEPS = 80


@dataclass(frozen=True, slots=True)
class Fitted:
    """One column of weights: logit = n-grams x words + dense x weights + bias."""

    words: Floats
    dense: Floats
    bias: float


def ngram_matrix(ngrams: NGrams, idf: Floats) -> csr_matrix:
    """A row for each text: its buckets' idfs, divided by their norm. Shape (texts, BUCKETS)."""
    values = idf[ngrams.buckets]
    matrix = csr_matrix((values, ngrams.buckets, ngrams.starts), shape=(len(ngrams.starts) - 1, BUCKETS))
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = csr_matrix((1 / np.maximum(norms, 1e-6), (range(len(norms)), range(len(norms)))))
    return (scale @ matrix).tocsr()


def fit(
    words: csr_matrix | None,
    dense: Floats,
    answers: NDArray[np.bool_],
    weights: Floats,
    *,
    word_penalty: float,
    dense_penalty: float,
) -> Fitted:
    """The weights with the smallest penalised log loss.

    Args:
        words: N-grams, shape (examples, BUCKETS); ``None`` to go without.
        dense: Shape (examples, columns), each column of comparable size.
        answers: The labels.
        weights: How much each example counts.
        word_penalty: Factor of the squared weights of n-grams.
        dense_penalty: The same for dense columns.
    """
    # Buckets that no example has would stay at zero.
    used = np.unique(words.indices) if words is not None else np.zeros(0, dtype=np.int64)
    own = None if words is None else words[:, used].tocsr()
    columns, width = len(used), dense.shape[1]
    signs = np.where(answers, 1.0, -1.0)
    penalty = np.concatenate([np.full(columns, word_penalty), np.full(width, dense_penalty), [0.0]])
    transposed = None if own is None else own.T.tocsr()

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = dense @ point[columns:-1] + point[-1]
        if own is not None:
            logits = logits + own @ point[:columns]
        margins = signs * logits
        value = float(weights @ np.logaddexp(0.0, -margins)) + 0.5 * float(penalty @ point**2)
        errors = -weights * signs / (1 + np.exp(np.clip(margins, -60, 60)))
        slopes = [dense.T @ errors, [errors.sum()]]
        if transposed is not None:
            slopes.insert(0, transposed @ errors)
        return value, np.concatenate(slopes) + penalty * point

    start = np.zeros(columns + width + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS, "ftol": 1e-6}).x
    spread = np.zeros(BUCKETS, dtype=np.float32)
    spread[used] = found[:columns]
    return Fitted(spread, found[columns:-1].astype(np.float32), float(found[-1]))
