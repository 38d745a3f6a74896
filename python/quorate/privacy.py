"""Noise on what leaves a site, and a ledger of what has been spent. See `docs/privacy.md` for what this does and does not do.

>>> from quorate.privacy import Ledger, noise_multiplier
>>> z = noise_multiplier(epsilon=1.0, delta=1e-5)
>>> ledger = Ledger(delta=1e-5)
>>> ledger.spend(z, "north, first release").epsilon <= 1.0 + 1e-9
True
"""

from __future__ import annotations

import json
import math
import os
import secrets
from dataclasses import dataclass, field
from typing import Any

from scipy.special import log_ndtr, ndtr

__all__ = ["GaussianNoise", "Ledger", "delta_of", "epsilon_of", "noise_multiplier"]


def delta_of(epsilon: float, multiplier: float) -> float:
    """The delta of the Gaussian mechanism at an epsilon: exact (Balle and Wang 2018, theorem 8).

    `multiplier` is the deviation of the noise over the sensitivity.
    """
    half, far = 1 / (2 * multiplier), epsilon * multiplier
    # The second term is a product of a large and a tiny number: in logarithms it neither overflows nor vanishes.
    return max(0.0, float(ndtr(half - far) - math.exp(epsilon + float(log_ndtr(-half - far)))))


def epsilon_of(delta: float, multiplier: float) -> float:
    """The least epsilon of the Gaussian mechanism at a delta."""
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, both excluded; got {delta}")
    if multiplier <= 0:
        raise ValueError(f"the noise must be positive; got {multiplier}")
    low, high = 0.0, 1.0
    if delta_of(0.0, multiplier) <= delta:
        return 0.0
    while delta_of(high, multiplier) > delta:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if delta_of(middle, multiplier) > delta:
            low = middle
        else:
            high = middle
    return high


def noise_multiplier(epsilon: float, delta: float) -> float:
    """The least noise, in units of the sensitivity, that gives (epsilon, delta)."""
    if epsilon <= 0:
        raise ValueError(f"epsilon must be positive; got {epsilon}")
    low, high = 0.0, 1.0
    while epsilon_of(delta, high) > epsilon:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle == 0 or epsilon_of(delta, middle) > epsilon:
            low = middle
        else:
            high = middle
    return high


@dataclass(frozen=True)
class Spent:
    """What a site has spent so far."""

    releases: int
    multiplier: float
    epsilon: float
    delta: float


@dataclass
class Ledger:
    """What one site has given away, release by release.

    Releases with noise z_1, z_2, .. of the same rows are together one release with 1/z^2 = sum 1/z_i^2 (Gaussian
    mechanisms compose exactly: Dong, Roth and Su 2019, corollary 3.3). A ledger is a file of the site, and only grows.
    """

    delta: float
    limit: float | None = None
    path: str | None = None
    releases: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def open(cls, path: str | os.PathLike[str], delta: float, limit: float | None = None) -> Ledger:
        """A ledger in a file, which is made where there is none."""
        path = os.fspath(path)
        releases = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            if stored["delta"] != delta:
                raise ValueError(f"{path}: the ledger is kept at delta {stored['delta']}, not {delta}")
            releases = stored["releases"]
        return cls(delta, limit, path, releases)

    @property
    def spent(self) -> Spent:
        """All releases together."""
        squares = sum(release["multiplier"] ** -2 for release in self.releases)
        if not squares:
            return Spent(0, math.inf, 0.0, self.delta)
        together = squares**-0.5
        return Spent(len(self.releases), together, epsilon_of(self.delta, together), self.delta)

    def spend(self, multiplier: float, what: str) -> Spent:
        """Writes a release down before it is made; refuses one that goes beyond the limit."""
        after = Ledger(self.delta, releases=[*self.releases, {"multiplier": multiplier, "what": what}])
        if self.limit is not None and after.spent.epsilon > self.limit * (1 + 1e-12):
            raise ValueError(
                f"this release would bring epsilon to {after.spent.epsilon:.4g}, and the limit is {self.limit:g}"
            )
        self.releases = after.releases
        if self.path is not None:
            aside = f"{self.path}.new"
            with open(aside, "w", encoding="utf-8") as file:
                json.dump({"delta": self.delta, "releases": self.releases}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, self.path)
        return self.spent


@dataclass(frozen=True)
class GaussianNoise:
    """How a site hides its rows: bounds on what one row can change, and the noise.

    Parameters
    ----------
    epsilon, delta : what one release may give away about one row
    features : greatest length of a row's features seen from the landmarks; a longer row counts for less than one
    targets : greatest size of a row's target, about in deviations of the target, where rows are shortened; larger are cut
    """

    epsilon: float
    delta: float
    features: float = 1.0
    targets: float = 2.5

    def message(self, estimator: Any, X: Any, y: Any, *, part_name: str, ledger: Ledger) -> tuple[bytes, float]:
        """A part with noise, written down in the ledger; also the share of rows that were shortened, for the site alone."""
        from quorate import _core

        multiplier = noise_multiplier(self.epsilon, self.delta)
        table, _ = estimator._training_table(X, y, None, None, reset=False)
        ledger.spend(multiplier, part_name)
        return _core.private_part_message(
            estimator.model_, table, part_name, self.features, self.targets, multiplier, secrets.token_bytes(32)
        )
