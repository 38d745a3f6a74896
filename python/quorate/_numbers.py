"""What estimators of numbers share: checked targets in, distributions out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import assert_all_finite

from quorate._estimator import numbers
from quorate._tables import Column, as_given


class NumberTarget:
    """Numbers as a target, and what is predicted about them."""

    def predict_quantiles(self, X: Any, quantiles: Any = (0.025, 0.5, 0.975), *, latent: bool = False) -> np.ndarray:
        """Quantiles of new targets (or, with `latent`, of the function): one row for each row of X."""
        _, prediction = self._predict(X)
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        return np.column_stack([prediction.quantile(float(level), latent) for level in levels])

    def predict_dist(self, X: Any, *, latent: bool = False) -> Any:
        """The predictive distributions, as one frozen `scipy.stats` distribution over all rows.

        Normal: where answers are mixtures (draws, experts, learned tails), the one with their mean and deviation;
        `predict_quantiles` are those of the mixture itself.
        """
        from scipy.stats import norm

        _, prediction = self._predict(X)
        return norm(loc=prediction.mean(), scale=prediction.deviation(latent))

    def predict_table(
        self, X: Any, *, interval: float = 0.95, quantiles: Any = (), latent: bool = False
    ) -> Any:
        """Columns `mean`, `std`, `lower`, `upper` and `q<p>`, as `quorate predict` writes them.

        A table of the library that X belongs to (pandas, polars, Arrow); a dictionary of arrays for anything else.
        """
        if not 0 < interval < 1:
            raise ValueError(f"interval must lie between 0 and 1, both excluded; got {interval}")
        inputs, prediction = self._predict(X)
        tail = (1 - interval) / 2
        columns = {
            "mean": prediction.mean(),
            "std": prediction.deviation(latent),
            "lower": prediction.quantile(tail, latent),
            "upper": prediction.quantile(1 - tail, latent),
        }
        for level in np.atleast_1d(np.asarray(quantiles, dtype=np.float64)):
            columns[f"q{level:g}"] = prediction.quantile(float(level), latent)
        return as_given(inputs.origin, inputs.kind, columns)

    def _checked_target(self, y: Any, weight: np.ndarray | None) -> np.ndarray:
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        y = np.asarray(y, dtype=np.float64)
        assert_all_finite(y, input_name="y", estimator_name=type(self).__name__)
        return y

    def _target_column(self, name: str, y: np.ndarray) -> Column:
        return numbers(name, y)
