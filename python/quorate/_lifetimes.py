"""Lifetimes through landmarks, right-censored or not."""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from quorate._quantities import GPLifetimeRegressor
from quorate._through_landmarks import ThroughLandmarks

#: The logarithm of `(y / scale)^shape` stays inside, so that no exponential overflows on the way.
_FARTHEST = 30.0
#: Nodes of the quadrature over the latent value.
_NODES = 64


class LandmarkLifetimeRegressor(ThroughLandmarks):
    """Weibull lifetimes by a committee that speaks through landmarks, for tables that do not fit one process or one owner.

    Parameters
    ----------
    likelihood : {"auto", "weibull", "exponential"}, default="auto"
        `"auto"` is `"weibull"`.
    kernel, landmarks, landmark_choice, part_size, keep_parts, restarts, sample_rows, rounds, random_state, n_jobs
        As those of `LandmarkCountRegressor`.

    Attributes
    ----------
    latent_ : GPRegressor, the logarithm of the scale about its level
    level_, likelihood_, rounds_
        As those of `LandmarkCountRegressor`.
    """

    _exact = GPLifetimeRegressor
    _beside_name = "event"

    def prepare(self, X: Any, y: Any, sample_weight: Any = None, **beside: Any) -> Any:
        """Learns scaling, kernel, hyperparameters, level, shape and landmarks, and keeps none of the rows."""
        if self.likelihood not in ("auto", "weibull", "exponential"):
            raise ValueError(f"lifetimes through landmarks are Weibull or exponential; got {self.likelihood!r}")
        return super().prepare(X, y, sample_weight, **beside)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected lifetimes; also the standard deviation of new ones."""
        scale, spread = self._scale(X)
        with np.errstate(over="ignore"):
            mean = np.exp(scale + spread**2 / 2 + lgamma(1 + 1 / self._shape()))
            second = np.exp(2 * scale + 2 * spread**2 + lgamma(1 + 2 / self._shape()))
        return (mean, np.sqrt(np.maximum(second - mean**2, 0.0))) if return_std else mean

    def predict_survival(self, X: Any, times: Any) -> np.ndarray:
        """Probability of living longer than each of the times: one row for each row of X."""
        times = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if not (times > 0).all():
            raise ValueError("times are above 0")
        scale, spread = self._scale(X)
        return np.column_stack([self._survival(np.full(len(scale), np.log(time)), scale, spread) for time in times])

    def predict_median(self, X: Any) -> np.ndarray:
        """Median lifetimes."""
        return self.predict_quantiles(X, [0.5])[:, 0]

    def predict_quantiles(self, X: Any, quantiles: Any = (0.025, 0.5, 0.975)) -> np.ndarray:
        """Quantiles of new lifetimes: one row for each row of X."""
        scale, spread = self._scale(X)
        columns = []
        for level in np.atleast_1d(np.asarray(quantiles, dtype=np.float64)):
            if not 0 < level < 1:
                raise ValueError(f"quantiles lie between 0 and 1, both excluded; got {level}")
            # Beyond these ends lies less than any level that a float can say.
            reach = 40.0 / self._shape() + 10.0 * spread
            low, high = scale - reach, scale + reach
            for _ in range(100):
                middle = (low + high) / 2
                above = self._survival(middle, scale, spread) > 1 - level
                low, high = np.where(above, middle, low), np.where(above, high, middle)
            columns.append(np.exp((low + high) / 2))
        return np.column_stack(columns)

    def _scale(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        mean, deviation = self._of_landmarks().predict(X, return_std=True, latent=True)
        return self.level_ + mean, deviation

    def _survival(self, log_time: np.ndarray, scale: np.ndarray, spread: np.ndarray) -> np.ndarray:
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        power = self._shape() * (log_time[:, None] - scale[:, None] - spread[:, None] * nodes)
        return np.exp(-np.exp(np.minimum(power, 100.0))) @ (weights / weights.sum())

    def _shape(self) -> float:
        return float(self.likelihood_.get("shape", 1.0))

    def _checked(self, y: np.ndarray) -> np.ndarray:
        if not np.isfinite(y).all() or (y <= 0).any():
            raise ValueError("lifetimes are above 0")
        return y

    def _checked_beside(self, beside: np.ndarray) -> np.ndarray:
        if not np.isin(beside, (0.0, 1.0)).all():
            raise ValueError("event is 1 where the end was seen, and 0 where it was not")
        return beside

    def _beginning(self, y: np.ndarray, beside: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """At the scale where each row itself would be: for an event its own lifetime; a censored row says little yet."""
        event = np.ones(len(y)) if beside is None else beside
        return np.log(y) - self.level_, self._shape() ** 2 * np.where(event > 0, 1.0, 1e-2)

    def _working(self, latent: np.ndarray, y: np.ndarray, beside: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """With u = log y - level - f and z = e^(c u): the slope c (z - event), the information c^2 z."""
        event, shape = (np.ones(len(y)) if beside is None else beside), self._shape()
        way = np.log(y) - self.level_ - latent
        power = np.exp(np.clip(shape * way, -_FARTHEST, _FARTHEST))
        slope, information = shape * (power - event), shape**2 * power
        if self.careful_:
            # An end much before its time would throw f far below; the same slope with the curvature on the way does not.
            early = (way < 0) & (event > 0)
            information = np.where(early, slope / np.where(early, way, 1.0), information)
        return latent + slope / information, information
