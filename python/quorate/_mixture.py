"""Mixtures of Gaussian processes, and processes whose noise depends on the inputs."""

from __future__ import annotations

from typing import Any

from quorate import _core
from quorate._progress import Progress
from quorate._regression import GPRegressor


class MixtureRegressor(GPRegressor):
    """A mixture of Gaussian processes with gates and noise that are processes too (Tresp 2001).

    Experts of different length scales divide the rows among themselves; predictions are whole densities, so that
    intervals, quantiles and scores are those of the mixture. With one expert only the noise depends on the inputs.

    Parameters
    ----------
    experts : int, default=5
        Number of experts; one for each row at most.
    kernel : str or scikit-learn kernel, default="auto"
        Kernel of the expert in the middle; the others have shorter and longer length scales.
    learn : {"auto", "none"}, default="auto"
        Whether the kernel's hyperparameters are learned, or kept as its text gives them.
    landmarks : int, default=None
        Landmarks through which all rows are heard. None is 400 for tables of more than 2,000 distinct rows, where that predicts rows left
        out better than a sample of the rows; shorter tables are heard row by row.
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
    model_, kernel_, noise_variance_, scores_, outcome_ : as for `GPRegressor`; the noise variance is that of the mean row
    shares_ : list of float, the share of the rows that each expert is responsible for

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import MixtureRegressor
    >>> X = np.linspace(-2, 2, 60).reshape(-1, 1)
    >>> y = np.sign(X).ravel() + 0.1 * np.sin(40 * X).ravel()
    >>> model = MixtureRegressor(3, kernel="se", restarts=0).fit(X, y)
    >>> len(model.shares_), bool(abs(sum(model.shares_) - 1) < 1e-9)
    (3, True)
    """

    _choices = ("kernel", "experts", "landmarks", "learn", "restarts")
    #: What `GPRegressor` lets choose is settled here.
    method = "mixture"
    mode = "auto"

    def __init__(
        self,
        experts: int = 5,
        *,
        kernel: Any = "auto",
        learn: str = "auto",
        landmarks: int | None = None,
        restarts: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ):
        self.experts = experts
        self.kernel = kernel
        self.learn = learn
        self.landmarks = landmarks
        self.restarts = restarts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MixtureRegressor:  # type: ignore[override]
        """Fits the mixture; `sample_weight` k counts as k copies of the row, 0 as none."""
        table, roles = self._training_table(X, y, sample_weight, None, reset=True, merge=True)
        return self._fit(_core.Model.fit, table, self._spec(roles, method="mixture"))

    def _adopt(self, model: _core.Model) -> None:
        super()._adopt(model)
        self.shares_ = self.inspect()["mixture"]["shares"]
