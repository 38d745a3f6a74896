"""Counts through landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from quorate._predictive_counts import Counted
from quorate._quantities import GPCountRegressor
from quorate._through_landmarks import ThroughLandmarks

#: Logarithms of counts stay inside, so that no exponential overflows on the way.
_FARTHEST = 30.0


class LandmarkCountRegressor(ThroughLandmarks):
    """Counts by a committee that speaks through landmarks, for tables that do not fit one process or one owner.

    Parameters
    ----------
    kernel, likelihood, restarts, random_state, n_jobs
        As those of `GPCountRegressor`, which learns hyperparameters, level and dispersion from the rows of `prepare`.
    landmarks, part_size, landmark_choice, keep_parts
        As those of `GPRegressor`.
    sample_rows : int, default=2_000
        Rows that `prepare` learns from; it draws them at random where it is given more.
    rounds : int, default=50
        Most rounds of working targets; 6 or 7 are usual.

    Attributes
    ----------
    latent_ : GPRegressor, the logarithm of the rate about its level
    level_ : float, added to the logarithm of the rate everywhere
    likelihood_ : dict, the likelihood with its dispersion
    rounds_ : int, rounds that it took
    """

    _exact = GPCountRegressor
    _beside_name = "exposure"

    def predict(self, X: Any, return_std: bool = False, *, exposure: Any = None) -> Any:
        """Expected counts for the exposure (1 when not given); also the standard deviation of new counts."""
        found = self._counted(X, exposure)
        return (found.mean(), found.deviation()) if return_std else found.mean()

    def predict_quantiles(self, X: Any, quantiles: Any = (0.025, 0.5, 0.975), *, exposure: Any = None) -> np.ndarray:
        """Quantiles of new counts: one row for each row of X."""
        found = self._counted(X, exposure)
        return np.column_stack([found.quantile(float(level)) for level in np.atleast_1d(quantiles)])

    def predict_pmf(self, X: Any, counts: Any, *, exposure: Any = None) -> np.ndarray:
        """Probability of each of the counts: one row for each row of X."""
        found = self._counted(X, exposure)
        return np.column_stack([found.probability(int(count)) for count in np.atleast_1d(counts)])

    def _counted(self, X: Any, exposure: Any) -> Counted:
        check_is_fitted(self)
        mean, deviation = self._of_landmarks().predict(X, return_std=True, latent=True)
        if exposure is not None:
            mean = mean + np.log(self._checked_beside(np.asarray(column_or_1d(exposure), np.float64)))
        return Counted(self.level_ + mean, deviation, self.likelihood_.get("size"))

    def _checked(self, y: np.ndarray) -> np.ndarray:
        if not np.isfinite(y).all() or (y < 0).any() or (y != np.round(y)).any():
            raise ValueError("counts are whole numbers from 0 on")
        return y

    def _checked_beside(self, beside: np.ndarray) -> np.ndarray:
        if not (beside > 0).all() or not np.isfinite(beside).all():
            raise ValueError("exposure is above 0")
        return beside

    def _beginning(self, y: np.ndarray, beside: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        # As if each row had seen its own count and half an event more, so that none is nothing.
        return np.log(y + 0.5) - self._offset(beside), self._information(y + 0.5)

    def _working(self, latent: np.ndarray, y: np.ndarray, beside: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """`(y - mean) / mean` away, with the information of a row whose mean has the logarithm level + log(exposure) + f."""
        mean = np.exp(np.clip(self._offset(beside) + latent, -_FARTHEST, _FARTHEST))
        target, information = latent + (y - mean) / mean, self._information(mean)
        if self.careful_:
            # A count far above its mean would throw f far beyond; the same slope with the curvature on the way does not.
            far = y > mean
            way = np.log(np.where(far, y, 1.0) / np.where(far, mean, 1.0))
            slope = (target - latent) * information
            target = np.where(far, latent + way, target)
            information = np.where(far, slope / np.where(far, way, 1.0), information)
        return target, information

    def _offset(self, exposure: np.ndarray | None) -> Any:
        return self.level_ + (0.0 if exposure is None else np.log(exposure))

    def _information(self, mean: np.ndarray) -> np.ndarray:
        size = self.likelihood_.get("size")
        return mean if size is None else mean / (1.0 + mean / size)
