"""Members of committees that are scikit-learn estimators: what the core asks of them.

The core calls from threads of its own, so nothing here may depend on the thread.
"""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

#: Folds in which rows are left out to find out how far a guest is off.
FOLDS = 3


class Guest:
    """An estimator that can be fitted again and again; inputs and numbers it sees are standardised."""

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def fit(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[Any, float, float]:
        """A fitted clone, the noise it leaves, and the variance of its answers.

        Both come from rows in turn left out: their squared errors, and the delete-a-group jackknife variance of the
        answers about them (Kott 2001), which is what a guest would have said with other rows.
        """
        fitted = self._fitted(X, y, weight)
        if len(y) < 2 * FOLDS:
            return fitted, 1.0, 1.0
        fold = np.arange(len(y)) % FOLDS
        answers = np.empty((FOLDS, len(y)))
        for left in range(FOLDS):
            kept = fold != left
            answers[left] = self._fitted(X[kept], y[kept], weight[kept]).predict(X)
        errors = answers[fold, np.arange(len(y))] - y
        error = float(np.average(errors**2, weights=weight))
        spread = (FOLDS - 1) * np.mean((answers - answers.mean(axis=0)) ** 2, axis=0)
        doubt = min(float(np.average(spread, weights=weight)), 0.5 * error)
        least = 1e-8
        return fitted, max(error - doubt, least), max(doubt, error / len(y), least)

    def predict(self, fitted: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Means, and variances where the estimator knows them."""
        if "return_std" in inspect.signature(fitted.predict).parameters:
            latent = {"latent": True} if "latent" in inspect.signature(fitted.predict).parameters else {}
            mean, deviation = fitted.predict(X, return_std=True, **latent)
            return _numbers(mean), _numbers(deviation) ** 2
        return _numbers(fitted.predict(X)), None

    def fit_classes(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> Any:
        """A fitted clone; one code alone needs no estimator."""
        codes = codes.astype(np.int64)
        seen = np.unique(codes)
        return int(seen[0]) if len(seen) == 1 else self._fitted(X, codes, weight)

    def probabilities(self, fitted: Any, X: np.ndarray, classes: int) -> np.ndarray:
        """Probability of each of the committee's classes: 0 for those that the estimator has not seen."""
        found = np.zeros((len(X), classes))
        if isinstance(fitted, int):
            found[:, fitted] = 1.0
        elif hasattr(fitted, "predict_proba"):
            found[:, fitted.classes_] = fitted.predict_proba(X)
        else:
            found[np.arange(len(X)), fitted.predict(X).astype(np.int64)] = 1.0
        return found

    def dumps(self, fitted: Any) -> str:
        """A fitted estimator as text."""
        return pickle.dumps(fitted).hex()

    def loads(self, text: str) -> Any:
        """The estimator of a text."""
        return pickle.loads(bytes.fromhex(text))

    def _fitted(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Any:
        estimator = clone(self.estimator)
        if has_fit_parameter(estimator, "sample_weight"):
            return estimator.fit(X, y, sample_weight=weight)
        if np.all(weight == np.round(weight)):
            # Weight k is k copies, for those that do not know weights.
            copies = weight.astype(np.int64)
            return estimator.fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
        raise ValueError(f"{type(estimator).__name__} does not take sample_weight, and the weights are not whole numbers")


def _numbers(values: Any) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
