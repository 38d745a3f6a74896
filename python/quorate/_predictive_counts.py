"""Counts whose rate is log-normal: moments in closed form, probabilities and quantiles by quadrature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Nodes of the quadrature over the latent value, by the probabilists' Hermite polynomials.
_NODES = 64


@dataclass
class Counted:
    """Counts with the logarithm of their rate normal, Poisson or, with a `size`, negative binomial."""

    log_rate: np.ndarray
    spread: np.ndarray
    size: float | None

    def mean(self) -> np.ndarray:
        """Expected counts."""
        return np.exp(self.log_rate + self.spread**2 / 2)

    def deviation(self) -> np.ndarray:
        """Standard deviation of new counts."""
        mean = self.mean()
        squared = mean**2 * np.exp(self.spread**2)
        variance = mean + squared - mean**2
        return np.sqrt(variance if self.size is None else variance + squared / self.size)

    def probability(self, count: int) -> np.ndarray:
        """Probability of a count."""
        if count < 0:
            raise ValueError("counts are whole numbers from 0 on")
        return self._averaged("pmf", np.full(len(self.log_rate), float(count)))

    def quantile(self, level: float) -> np.ndarray:
        """The least count that is not exceeded with this probability."""
        if not 0 < level < 1:
            raise ValueError(f"quantiles lie between 0 and 1, both excluded; got {level}")
        low = np.full(len(self.log_rate), -1.0)
        high = np.maximum(1.0, np.ceil(self.mean()))
        while (short := self._averaged("cdf", high) < level).any():
            low, high = np.where(short, high, low), np.where(short, 2 * high, high)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            reached = self._averaged("cdf", middle) >= level
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return high

    def _averaged(self, what: str, count: np.ndarray) -> np.ndarray:
        from scipy.stats import nbinom, poisson

        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        total = np.zeros(len(count))
        for node, weight in zip(nodes, weights / weights.sum(), strict=True):
            rate = np.exp(self.log_rate + self.spread * node)
            if self.size is None:
                total += weight * getattr(poisson, what)(count, rate)
            else:
                total += weight * getattr(nbinom, what)(count, self.size, self.size / (self.size + rate))
        return total
