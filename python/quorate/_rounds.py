"""Hyperparameters by the evidence of parts that stay where they are: rounds of value and gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quorate import _core

#: How far a logarithm may move from what the sample said.
_REACH = 5.0


class Lost(Exception):
    """A part did not answer: sums over other parts cannot be compared with those before."""


def share(estimator: Any, total: Any, part: tuple[Any, ...], name: str) -> bytes:
    """What a part adds to the gradient of the evidence of everything in `total`, as a message."""
    X, y, weight, noise = part
    table, _ = estimator._training_table(X, y, weight, noise, reset=False)
    gradient = _core.committee_gradient(total, table, estimator._threads())
    point = _core.hyperparameters(total)[1]
    return _core.objective_message(total, name, point.tolist(), 0.0, gradient.tolist())


def learned(
    estimator: Any,
    rounds: int,
    summed: Callable[[Any], Any],
    shares: Callable[[Any, Any], list[tuple[str, bytes]]],
) -> Any:
    """The estimator with no rows at better hyperparameters, after at most so many steps of a quasi-Newton search.

    `summed` adds all parts to an estimator without rows; `shares` asks every part for its share of the gradient. Where a
    part is lost on the way, the best point so far is kept.
    """
    from scipy.optimize import minimize

    _, start, fixed = _core.hyperparameters(estimator.model_)
    free = ~np.asarray(fixed, dtype=bool)
    best = [-np.inf, start]

    def at(point: np.ndarray) -> Any:
        return type(estimator)._of_model(_core.emptied_at(estimator.model_, point))

    def evaluate(coordinates: np.ndarray) -> tuple[float, np.ndarray]:
        point = start.copy()
        point[free] = coordinates
        emptied = at(point)
        total = summed(emptied)
        value = total.log_marginal_likelihood_value_
        _, gradient = _core.sum_objectives(shares(emptied, total.model_))
        if value > best[0]:
            best[:] = [value, point]
        return -value, -gradient[free]

    bounds = [(value - _REACH, value + _REACH) for value in start[free]]
    limits = {"maxiter": rounds, "maxfun": 3 * rounds}
    try:
        minimize(evaluate, start[free], jac=True, method="L-BFGS-B", bounds=bounds, options=limits)
    except Lost:
        pass
    return at(best[1])
