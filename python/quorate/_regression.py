"""`GPRegressor`: Gaussian-process regression, exact or by committee."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from quorate import _core
from quorate._estimator import seed_of
from quorate._fitting import Learner
from quorate._numbers import NumberTarget
from quorate._parts import PartsMixin
from quorate._progress import Progress
from quorate._tables import Inputs


class GPRegressor(NumberTarget, PartsMixin, RegressorMixin, Learner):
    """Gaussian-process regression with learned hyperparameters, on tables of any size.

    Exact up to 4,000 distinct rows, by a committee of experts beyond; see the guide for when to choose otherwise.
    Inputs are numbers, booleans, dates and text (categories); NaN and other missing cells are allowed.

    Parameters
    ----------
    kernel : str or scikit-learn kernel, default="auto"
        `"auto"` chooses by evidence; otherwise a kernel as text, such as `"matern32(ard) + linear"`.
    method : {"auto", "exact", "committee"}, default="auto"
        One exact process over all rows, or a committee of experts.
    mode : {"auto", "local", "landmarks", ...}, default="auto"
        How a committee answers; see `docs/cli.md`.
    neighbours, landmarks, landmark_choice, replace_touched, parts, part_size, questions, companions, negligible_prior, keep_parts
        Shape of a committee, as the flags of `quorate fit`. `landmarks` is a number, or a table of inputs whose rows they are.
    learn : {"auto", "block", "conditional", "committee", "lla", "laplace-propagation", "loo", "validation", "nuts", "hmc", "none"}, \
default="auto"
        How hyperparameters are learned; see `docs/cli.md`. With `"nuts"` and `"hmc"` predictions average over draws.
    spread : {"auto", "constant"}, default="auto"
        How wide answers of a committee are: by the answer and the inputs where rows left out ask for it, or as one noise says.
    hyperprior, chains, draws, warmup
        Prior of the hyperparameters (`"broad"`, `"normal:0,2"`) and size of the draws, as the flags of `quorate fit`.
    noise_variance : float, default=None
        Variance of the noise in squared units of the target, kept instead of learned; exact models only.
    restarts : int, default=None
        Starting points of the search beyond the data-driven one.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. None is seed 0: the same data give the same model.
    n_jobs : int, default=None
        Number of threads; None and -1 mean all cores. The result is the same to the last bit for any number.
    progress : None, True, callable or tqdm class, default=None
        Told of progress: a function of stage, done and total, or `tqdm`.

    Attributes
    ----------
    model_ : the fitted model of the core
    kernel_ : str, the kernel with the values found
    noise_variance_ : float, in squared units of the target
    log_marginal_likelihood_value_ : float or None, of the standardised targets; None for local committees
    scores_ : dict, of rows predicted from the others, or held out
    outcome_ : str, how learning ended
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import GPRegressor
    >>> X = np.linspace(0, 4, 40).reshape(-1, 1)
    >>> model = GPRegressor(kernel="se").fit(X, np.sin(X).ravel())
    >>> model.predict([[1.0]]).round(2)
    array([0.84])
    """

    _task = "regression"
    _choices = (
        "kernel",
        "method",
        "mode",
        "neighbours",
        "landmarks",
        "landmark_choice",
        "parts",
        "part_size",
        "questions",
        "companions",
        "replace_touched",
        "negligible_prior",
        "keep_parts",
        "learn",
        "spread",
        "hyperprior",
        "chains",
        "draws",
        "warmup",
        "noise_variance",
        "restarts",
    )

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        method: str = "auto",
        mode: str = "auto",
        neighbours: int | None = None,
        landmarks: Any = None,
        landmark_choice: str | None = None,
        parts: str | None = None,
        part_size: int | None = None,
        questions: int | None = None,
        companions: int | None = None,
        replace_touched: bool = False,
        negligible_prior: bool = False,
        keep_parts: bool = False,
        learn: str = "auto",
        spread: str = "auto",
        hyperprior: str | None = None,
        chains: int | None = None,
        draws: int | None = None,
        warmup: int | None = None,
        noise_variance: float | None = None,
        restarts: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ):
        self.kernel = kernel
        self.method = method
        self.mode = mode
        self.neighbours = neighbours
        self.landmarks = landmarks
        self.landmark_choice = landmark_choice
        self.parts = parts
        self.part_size = part_size
        self.questions = questions
        self.companions = companions
        self.replace_touched = replace_touched
        self.negligible_prior = negligible_prior
        self.keep_parts = keep_parts
        self.learn = learn
        self.spread = spread
        self.hyperprior = hyperprior
        self.chains = chains
        self.draws = draws
        self.warmup = warmup
        self.noise_variance = noise_variance
        self.restarts = restarts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, noise: Any = None) -> GPRegressor:
        """Fits the model.

        `sample_weight` k counts as k copies of the row, 0 as none. `noise` is the known variance of each target,
        in squared units of the target, on top of the noise that is learned.
        """
        # Parts of a landmarks model are known by their rows as they came.
        merge = self.mode != "landmarks"
        table, roles = self._training_table(X, y, sample_weight, noise, reset=True, merge=merge)
        return self._fit(_core.Model.fit, table, self._spec(roles))

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, latent: bool = False
    ) -> Any:
        """Expected targets; also their standard deviation or covariance.

        Spread is that of a new observation, noise included, as `quorate predict` writes it; with `latent` that of the
        function itself.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        if return_cov:
            check_is_fitted(self)
            inputs = Inputs(self, X, reset=False)
            return self.model_.predict_joint(inputs.table(), latent, self._threads())
        _, prediction = self._predict(X)
        if return_std:
            return prediction.mean(), prediction.deviation(latent)
        return prediction.mean()

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0, *, latent: bool = False
    ) -> np.ndarray:
        """Draws of new targets (or, with `latent`, of the function) at the rows of X, together.

        Returns an array of shape (rows, n_samples).
        """
        check_is_fitted(self)
        inputs = Inputs(self, X, reset=False)
        draws = self.model_.sample(inputs.table(), int(n_samples), seed_of(random_state), latent, self._threads())
        return draws.T

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        """Log evidence of the standardised training targets: scikit-learn's, with `normalize_y=True`.

        `theta` holds the coordinates of the hyperparameters in the order of `theta_names_`: logarithms of those that are
        positive, the noise variance last. Other than at the values found, and with its gradient, for exact models only.
        """
        check_is_fitted(self)
        if theta is None and not eval_gradient:
            if self.log_marginal_likelihood_value_ is None:
                raise ValueError(
                    "a committee of local experts has no evidence of all rows: use method='exact' or mode='landmarks'"
                )
            return self.log_marginal_likelihood_value_
        if theta is None:
            theta = self.theta_
        point = np.ascontiguousarray(theta, dtype=np.float64).reshape(-1)
        value, gradient = _core.block_evidence(self.model_, None, point, self._threads())
        return (value, gradient) if eval_gradient else value

    @property
    def theta_(self) -> np.ndarray:
        """Coordinates of the hyperparameters found."""
        check_is_fitted(self)
        return _core.hyperparameters(self.model_)[1]

    @property
    def theta_names_(self) -> list[str]:
        """Names of the hyperparameters, in the order of `theta_`."""
        check_is_fitted(self)
        return _core.hyperparameters(self.model_)[0]

    def summary(self) -> Any:
        """The mergeable state of a committee that speaks through landmarks, as a `quorate.Summary`."""
        from quorate._summary import Summary

        return Summary(self)

    def _adopt(self, model: _core.Model) -> None:
        super()._adopt(model)
        self.noise_variance_ = self.inspect()["noise_variance"]
