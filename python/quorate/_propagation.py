"""Hyperparameters across sites by Laplace propagation (Latouche 2007, section 4.4; Smola, Vishwanathan and Eskin 2003).

Each site stands for its log evidence by a quadratic about where it is largest once all others have their say; the quadratics add up. A
site takes as many steps of its own as it likes between two exchanges, and sends a point, a gradient and a Hessian: few numbers,
whatever its rows. Where it settles, the sum of the sites' evidences has no slope (every site's own point is that of all), so that
the result is that of one search over all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate import _core

#: Deviation of the prior of each logarithm about what `prepare` found: it decides only what no rows decide.
_PRIOR = 3.0
#: Step of the differences of gradients that give the Hessian, in logarithms.
_STEP = 1e-4
#: A site looks at blocks of so many rows, and at no more than so many blocks.
_BLOCK, _BLOCKS = 500, 8
#: Rounds end when no logarithm moves by more.
_SETTLED = 1e-4
#: How far a site goes in one round, and the point of all from the prior.
_REACH = 2.0


@dataclass
class Quadratic:
    """`precision` and `shift`: the quadratic -1/2 p'Pp + p's in the free coordinates p."""

    precision: np.ndarray
    shift: np.ndarray

    def __add__(self, other: Quadratic) -> Quadratic:
        return Quadratic(self.precision + other.precision, self.shift + other.shift)

    def __sub__(self, other: Quadratic) -> Quadratic:
        return Quadratic(self.precision - other.precision, self.shift - other.shift)

    def to_bytes(self) -> bytes:
        """As it travels."""
        return json.dumps({"precision": self.precision.tolist(), "shift": self.shift.tolist()}).encode()

    @classmethod
    def from_bytes(cls, sent: bytes, size: int) -> Quadratic:
        """Reads what a site or the server sent; a `ValueError` says why it cannot be believed."""
        try:
            told = json.loads(sent)
            found = cls(np.asarray(told["precision"], float), np.asarray(told["shift"], float))
        except (KeyError, TypeError, UnicodeDecodeError) as error:
            raise ValueError("this is no quadratic") from error
        if found.precision.shape != (size, size) or found.shift.shape != (size,):
            raise ValueError("a quadratic of another number of hyperparameters")
        if not (np.isfinite(found.precision).all() and np.isfinite(found.shift).all()):
            raise ValueError("a number in it is not finite")
        if not np.allclose(found.precision, found.precision.T, rtol=1e-6, atol=1e-9):
            raise ValueError("its precision is not symmetric")
        return found


def site_quadratic(
    estimator: Any, point: np.ndarray, others: Quadratic, part: tuple[Any, ...], steps: int
) -> Quadratic:
    """A site's quadratic: about where its own evidence and what all others say are largest together, after at most `steps` steps."""
    from scipy.optimize import minimize

    evidence = _Evidence(estimator, part)
    start = point[evidence.free]

    def tilted(coordinates: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = evidence(coordinates)
        pull = others.precision @ coordinates
        return (
            -value + 0.5 * coordinates @ pull - others.shift @ coordinates,
            -gradient + pull - others.shift,
        )

    bounds = [(value - _REACH, value + _REACH) for value in start]
    found = minimize(tilted, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max(steps, 1)}).x
    _, gradient = evidence(found)
    columns = []
    for index in range(len(found)):
        ahead, behind = found.copy(), found.copy()
        ahead[index] += _STEP
        behind[index] -= _STEP
        columns.append((evidence(ahead)[1] - evidence(behind)[1]) / (2 * _STEP))
    hessian = np.array(columns)
    precision = -(hessian + hessian.T) / 2
    return Quadratic(precision, precision @ found + gradient)


def propagated(
    estimator: Any, rounds: int, ask: Callable[[np.ndarray, dict[str, Quadratic]], dict[str, Quadratic]]
) -> tuple[Any, int, list[str]]:
    """The estimator with no rows at the hyperparameters of all sites; how many rounds it took; sentences for people.

    `ask` hands each site the point and what all others say (by its name; "" for a site that has not spoken), and returns what the sites say.
    """
    _, point, fixed = _core.hyperparameters(estimator.model_)
    free = ~np.asarray(fixed, dtype=bool)
    size, start = int(free.sum()), point[free].copy()
    prior = Quadratic(np.eye(size) / _PRIOR**2, start / _PRIOR**2)
    terms: dict[str, Quadratic] = {}
    notes: list[str] = []
    done = 0
    for done in range(1, rounds + 1):
        together = sum(terms.values(), prior)
        others = {name: _proper(together - own, prior)[0] for name, own in terms.items()}
        others[""] = prior
        fresh = ask(point, others)
        if terms and set(fresh) != set(terms):
            notes.append("a site was lost on the way: hyperparameters are those of the round before")
            break
        terms = fresh
        together, damped = _proper(sum(terms.values(), prior), prior)
        if damped and not notes:
            notes.append("the sites' quadratics had no maximum together in some round: it was damped")
        moved = np.linalg.solve(together.precision, together.shift)
        moved = np.clip(moved, start - 2 * _REACH, start + 2 * _REACH)
        change = float(np.abs(moved - point[free]).max())
        point = point.copy()
        point[free] = moved
        if change < _SETTLED:
            break
    return type(estimator)._of_model(_core.emptied_at(estimator.model_, point)), done, notes


def _proper(found: Quadratic, prior: Quadratic) -> tuple[Quadratic, bool]:
    """The same with a maximum: directions that bend upwards, or less than the prior, bend as the prior does."""
    values, vectors = np.linalg.eigh(found.precision)
    least = float(np.linalg.eigvalsh(prior.precision)[0])
    if values[0] >= least * (1 - 1e-9):
        return found, False
    # The slope at the prior's mean stays; only the curvature changes.
    centre = np.linalg.solve(prior.precision, prior.shift)
    slope = found.shift - found.precision @ centre
    precision = (vectors * np.maximum(values, least)) @ vectors.T
    return Quadratic(precision, precision @ centre + slope), True


class _Evidence:
    """Log evidence of a site's rows in blocks, each an exact process, and its gradient by the free coordinates."""

    def __init__(self, estimator: Any, part: tuple[Any, ...]):
        X, y, weight, noise = part
        self.model, self.threads = estimator.model_, estimator._threads()
        _, self.point, fixed = _core.hyperparameters(self.model)
        self.free = ~np.asarray(fixed, dtype=bool)
        count = len(y)
        order = np.random.default_rng(0x71756F72).permutation(count)
        blocks = max(1, round(count / _BLOCK))
        kept = min(blocks, _BLOCKS)
        #: Blocks that were not looked at are taken to say what the others say.
        self.scale = blocks / kept
        rows = [np.sort(order[index::blocks]) for index in range(kept)]
        self.tables = [
            estimator._training_table(*(None if c is None else _rows(c, chosen) for c in (X, y, weight, noise)), reset=False)[0]
            for chosen in rows
        ]

    def __call__(self, coordinates: np.ndarray) -> tuple[float, np.ndarray]:
        point = self.point.copy()
        point[self.free] = coordinates
        value, gradient = 0.0, np.zeros(len(coordinates))
        for table in self.tables:
            own, slope = _core.block_evidence(self.model, table, point, self.threads)
            value += self.scale * own
            gradient += self.scale * slope[self.free]
        return value, gradient


def _rows(column: Any, chosen: np.ndarray) -> Any:
    return column.iloc[chosen] if hasattr(column, "iloc") else np.asarray(column)[chosen]
