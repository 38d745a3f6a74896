"""`Summary`: what a committee adds up, as an object for people who bring their own engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from quorate import _core
from quorate._estimator import speaks_through_landmarks
from quorate._regression import GPRegressor
from quorate._warnings import remark


class Summary:
    """What parts said to the landmarks: a state that adds and subtracts, with everything needed to absorb more.

    Made from an estimator that speaks through landmarks, usually one that `prepare` left without rows. Its bytes are a
    model file: the command line reads them, and adding two summaries is `quorate merge`.

    Parameters
    ----------
    estimator : fitted GPRegressor with `mode="landmarks"`, or one that was prepared

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import GPRegressor, Summary
    >>> X = np.linspace(0, 4, 80).reshape(-1, 1)
    >>> y = np.sin(X).ravel()
    >>> empty = GPRegressor("se", landmarks=10).prepare(X, y)
    >>> a = Summary(empty).absorb(X[::2], y[::2], name="a")
    >>> b = Summary(empty).absorb(X[1::2], y[1::2], name="b")
    >>> (a + b).rows
    80.0
    >>> (a + b).parts
    ['a', 'b']
    >>> (a + b).estimator().predict([[1.0]]).round(2)
    array([0.84])
    """

    def __init__(self, estimator: GPRegressor):
        check_is_fitted(estimator)
        if not speaks_through_landmarks(estimator.model_):
            raise ValueError("only a committee that keeps no rows has a summary: use mode='landmarks', or `prepare`")
        self._estimator = _around(estimator.model_)

    def absorb(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        noise: Any = None,
        name: str | None = None,
        keep: bool = False,
    ) -> Summary:
        """Adds rows as a further part, in place. With `keep` the part can be forgotten without its rows."""
        table, _ = self._estimator._training_table(X, y, sample_weight, noise, reset=False)
        name = self._estimator._next_part() if name is None else name
        model, notes = self._model.update(table, name, keep)
        self._estimator = _around(model)
        remark(notes, depth=2)
        return self

    def __add__(self, other: Any) -> Summary:
        if not isinstance(other, Summary):
            return NotImplemented
        return _of(_core.Model.merge([("left", self._model), ("right", other._model)]))

    def __radd__(self, other: Any) -> Summary:
        # `sum` starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Any) -> Summary:
        if not isinstance(other, Summary):
            return NotImplemented
        return _of(_core.subtract(self._model, other._model))

    def __bytes__(self) -> bytes:
        return self._model.to_bytes()

    def to_bytes(self) -> bytes:
        """The summary as a model file."""
        return bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Summary:
        """Reads what `to_bytes` or the command `quorate` wrote."""
        return _of(_core.Model.from_bytes(data))

    def estimator(self) -> GPRegressor:
        """An estimator that answers from this summary."""
        return _around(self._model)

    @property
    def information(self) -> np.ndarray:
        """`B - I`, the information about the whitened landmark values."""
        return self._numbers()[0]

    @property
    def vector(self) -> np.ndarray:
        """`b`, the information times the mean."""
        return self._numbers()[1]

    @property
    def log_evidence(self) -> float:
        """Log evidence of everything absorbed, under the committee's model of the standardised targets."""
        return self._estimator.log_marginal_likelihood_value_

    @property
    def rows(self) -> float:
        """Rows absorbed, counting weights."""
        return self._numbers()[3]

    @property
    def parts(self) -> list[str]:
        """Names of the parts."""
        return self._estimator.parts_

    @property
    def theta(self) -> np.ndarray:
        """Coordinates of the hyperparameters: logarithms of those that are positive, the noise variance last."""
        return _core.hyperparameters(self._model)[1]

    @property
    def theta_names(self) -> list[str]:
        """Their names."""
        return _core.hyperparameters(self._model)[0]

    def at(self, theta: Any) -> Summary:
        """The same landmarks at other hyperparameters, with nothing absorbed.

        For learning across sites: each absorbs its rows into `at(theta)`, the sum has the objective `log_evidence`, and
        the sum of what `gradient` of that sum returns at each site is its derivative.
        """
        return _of(_core.emptied_at(self._model, _vector(theta)))

    def gradient(self, X: Any, y: Any, sample_weight: Any = None, *, noise: Any = None) -> np.ndarray:
        """What these rows, absorbed here among others, add to the derivative of `log_evidence` by `theta`."""
        table, _ = self._estimator._training_table(X, y, sample_weight, noise, reset=False)
        return _core.committee_gradient(self._model, table)

    def block_evidence(
        self, X: Any, y: Any, theta: Any = None, sample_weight: Any = None, *, noise: Any = None
    ) -> tuple[float, np.ndarray]:
        """Log evidence of these rows as one exact process, and its derivative by `theta`; sums over parts in one pass."""
        table, _ = self._estimator._training_table(X, y, sample_weight, noise, reset=False)
        point = self.theta if theta is None else _vector(theta)
        return _core.block_evidence(self._model, table, point)

    def __repr__(self) -> str:
        numbers = self._numbers()
        return f"Summary({len(numbers[1])} landmarks, {len(self.parts)} parts, {numbers[3]:g} rows)"

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self._model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._estimator = _around(state["model"])

    @property
    def _model(self) -> _core.Model:
        return self._estimator.model_

    def _numbers(self) -> tuple[np.ndarray, np.ndarray, float, float]:
        return _core.summary_numbers(self._model)


def _around(model: _core.Model) -> GPRegressor:
    return GPRegressor._of_model(model)


def _of(model: _core.Model) -> Summary:
    return Summary(_around(model))


def _vector(theta: Any) -> np.ndarray:
    return np.ascontiguousarray(theta, dtype=np.float64).reshape(-1)
