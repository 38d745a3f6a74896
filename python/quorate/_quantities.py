"""`GPCountRegressor` and `GPLifetimeRegressor`: targets that come from a latent function through a likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, check_is_fitted

from quorate import _core
from quorate._estimator import numbers
from quorate._fitting import Learner
from quorate._progress import Progress, watching
from quorate._tables import Column, Inputs, as_given
from quorate._warnings import remark


class QuantityRegressor(RegressorMixin, Learner):
    """What counts and lifetimes share: one latent function, Laplace's method, predictive distributions."""

    _choices = ("kernel", "likelihood", "method", "learn", "restarts")

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        likelihood: str = "auto",
        method: str = "auto",
        learn: str = "auto",
        restarts: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ):
        self.kernel = kernel
        self.likelihood = likelihood
        self.method = method
        self.learn = learn
        self.restarts = restarts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _quantify(self, X: Any, exposure: Any = None) -> tuple[Inputs, _core.QuantityPrediction]:
        check_is_fitted(self)
        inputs = Inputs(self, X, reset=False)
        further = []
        column = self.inspect()["spec"].get("exposure")
        if exposure is not None and column is None:
            raise ValueError("the model was fitted without exposure, so predictions cannot have it")
        if column is not None:
            given = np.ones(inputs.rows) if exposure is None else exposure
            further.append(numbers(column, _check_sample_weight(given, inputs.origin, dtype=np.float64)))
        with watching(self.progress) as callback:
            found = self.model_.quantify(inputs.table(further), callback, self._threads())
        remark(found.notes())
        return inputs, found

    def _adopt(self, model: _core.Model) -> None:
        super()._adopt(model)
        found = self.inspect()["quantity"]
        self.likelihood_ = found["likelihood"]
        self.level_ = found["level"]

    def _checked_target(self, y: Any, weight: np.ndarray | None) -> np.ndarray:
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        y = np.asarray(y, dtype=np.float64)
        assert_all_finite(y, input_name="y", estimator_name=type(self).__name__)
        return y

    def _target_column(self, name: str, y: np.ndarray) -> Column:
        return numbers(name, y)

    def _target_variance(self, y: np.ndarray) -> float:
        """Kernels speak of the latent function, which has no unit."""
        return 1.0


class GPCountRegressor(QuantityRegressor):
    """Counts by Gaussian processes: the logarithm of the rate is a process, by Laplace's method over all rows.

    Parameters
    ----------
    kernel : str or scikit-learn kernel, default="auto"
        `"auto"` chooses by evidence; otherwise a kernel as text, such as `"matern32(ard)"`.
    likelihood : {"auto", "poisson", "negative-binomial"}, default="auto"
        `"auto"` compares the two by evidence.
    method : {"auto", "exact"}, default="auto"
        One process over all rows.
    learn : {"auto", "none"}, default="auto"
        How hyperparameters are learned.
    restarts : int, default=None
        Starting points of the search beyond the data-driven one.
    random_state, n_jobs, progress
        As those of `GPRegressor`.

    Attributes
    ----------
    likelihood_ : dict, the likelihood with its dispersion
    level_ : float, what is added to the latent function everywhere
    model_, kernel_, log_marginal_likelihood_value_, scores_, outcome_, n_features_in_, feature_names_in_
        As those of `GPRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import GPCountRegressor
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = GPCountRegressor("se", likelihood="poisson").fit(X, np.round(3 + 2 * np.sin(X / 5)).ravel())
    >>> bool(4 < model.predict([[8.0]])[0] < 6)
    True
    """

    _task = "count"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The checks draw numbers around 1 that are not counts; rounded, they are mostly Poisson noise.
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None) -> GPCountRegressor:
        """Fits the model.

        `exposure` is how much of each row was watched, above 0: it multiplies the mean. `sample_weight` k counts as k
        copies of the row, 0 as none. Targets that are not whole are rounded, with a warning.
        """
        table, roles = self._training_table(
            X, y, sample_weight, None, reset=True, merge=True, companion=("exposure", exposure)
        )
        return self._fit(_core.Model.fit, table, self._spec(roles))

    def predict(self, X: Any, return_std: bool = False, *, exposure: Any = None) -> Any:
        """Expected counts for the exposure (1 when not given); also the standard deviation of new counts."""
        _, found = self._quantify(X, exposure)
        return (found.mean(), found.deviation(False)) if return_std else found.mean()

    def predict_quantiles(
        self, X: Any, quantiles: Any = (0.025, 0.5, 0.975), *, exposure: Any = None, latent: bool = False
    ) -> np.ndarray:
        """Quantiles of new counts (or, with `latent`, of the expected count): one row for each row of X."""
        _, found = self._quantify(X, exposure)
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        return np.column_stack([found.quantile(float(level), latent) for level in levels])

    def predict_pmf(self, X: Any, counts: Any, *, exposure: Any = None) -> np.ndarray:
        """Probability of each of the counts: one row for each row of X."""
        _, found = self._quantify(X, exposure)
        counts = np.atleast_1d(np.asarray(counts))
        if (counts < 0).any() or (counts != np.round(counts)).any():
            raise ValueError("counts are whole numbers from 0 on")
        return np.column_stack([found.probability(int(count)) for count in counts])

    def predict_table(self, X: Any, *, interval: float = 0.95, exposure: Any = None) -> Any:
        """Columns `mean`, `std`, `lower`, `upper`, as `quorate predict` writes them, in the library of X."""
        inputs, found = self._quantify(X, exposure)
        return as_given(inputs.origin, inputs.kind, _columns(found, interval, median=False))

    def _checked_target(self, y: Any, weight: np.ndarray | None) -> np.ndarray:
        y = super()._checked_target(y, weight)
        if (y < 0).any():
            raise ValueError("counts are not negative")
        whole = np.round(y)
        if (whole != y).any():
            remark(["y holds numbers that are not whole; they were rounded to counts"])
        return whole


class GPLifetimeRegressor(QuantityRegressor):
    """Lifetimes by Gaussian processes, right-censored or not, by Laplace's method over all rows.

    Parameters
    ----------
    kernel : str or scikit-learn kernel, default="auto"
        `"auto"` chooses by evidence; otherwise a kernel as text, such as `"matern32(ard)"`.
    likelihood : {"auto", "weibull", "exponential", "gamma", "inverse-gaussian"}, default="auto"
        `"auto"` is `"weibull"`; `"gamma"` and `"inverse-gaussian"` are for lifetimes of which none is censored.
    method, learn, restarts, random_state, n_jobs, progress
        As those of `GPCountRegressor`.

    Attributes
    ----------
    likelihood_, level_, model_, kernel_, log_marginal_likelihood_value_, scores_, outcome_
        As those of `GPCountRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import GPLifetimeRegressor
    >>> X = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> days = np.exp(2 * X.ravel()) * np.tile([0.5, 1.0, 1.5], 20)
    >>> model = GPLifetimeRegressor("se").fit(X, np.minimum(days, 5), event=days < 5)
    >>> survival = model.predict_survival([[0.1], [0.9]], times=[2.0])
    >>> bool(survival[0, 0] < survival[1, 0])
    True
    """

    _task = "lifetime"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, event: Any = None) -> GPLifetimeRegressor:
        """Fits the model.

        `event` is true where the end was observed, false where all that is known is that it came later than `y`.
        `sample_weight` k counts as k copies of the row, 0 as none.
        """
        event = None if event is None else np.asarray(event).astype(np.float64)
        table, roles = self._training_table(
            X, y, sample_weight, None, reset=True, merge=True, companion=("event", event)
        )
        return self._fit(_core.Model.fit, table, self._spec(roles))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected lifetimes; also the standard deviation of new ones."""
        _, found = self._quantify(X)
        return (found.mean(), found.deviation(False)) if return_std else found.mean()

    def predict_median(self, X: Any) -> np.ndarray:
        """Median lifetimes."""
        return self._quantify(X)[1].quantile(0.5, False)

    def predict_quantiles(
        self, X: Any, quantiles: Any = (0.025, 0.5, 0.975), *, latent: bool = False
    ) -> np.ndarray:
        """Quantiles of new lifetimes (or, with `latent`, of the expected one): one row for each row of X."""
        _, found = self._quantify(X)
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        return np.column_stack([found.quantile(float(level), latent) for level in levels])

    def predict_survival(self, X: Any, times: Any) -> np.ndarray:
        """Probability of living longer than each of the times: one row for each row of X."""
        _, found = self._quantify(X)
        times = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if not (times > 0).all():
            raise ValueError("times are above 0")
        return np.column_stack([found.survival(float(time)) for time in times])

    def predict_table(self, X: Any, *, interval: float = 0.95) -> Any:
        """Columns `mean`, `median`, `std`, `lower`, `upper`, as `quorate predict` writes them, in the library of X."""
        inputs, found = self._quantify(X)
        return as_given(inputs.origin, inputs.kind, _columns(found, interval, median=True))

    def _checked_target(self, y: Any, weight: np.ndarray | None) -> np.ndarray:
        y = super()._checked_target(y, weight)
        if (y <= 0).any():
            raise ValueError("lifetimes are above 0")
        return y


def _columns(found: _core.QuantityPrediction, interval: float, *, median: bool) -> dict[str, np.ndarray]:
    """Predictions under the names that `quorate predict` gives them."""
    if not 0 < interval < 1:
        raise ValueError(f"interval must lie between 0 and 1, both excluded; got {interval}")
    tail = (1 - interval) / 2
    columns = {"mean": found.mean()}
    if median:
        columns["median"] = found.quantile(0.5, False)
    columns["std"] = found.deviation(False)
    columns["lower"] = found.quantile(tail, False)
    columns["upper"] = found.quantile(1 - tail, False)
    return columns
