"""`GPClassifier`: classes by Gaussian processes, exact or by committee."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from quorate import _core
from quorate._classes import ClassTarget
from quorate._fitting import Learner
from quorate._parts import PartsMixin, _takes_parts
from quorate._progress import Progress


class GPClassifier(ClassTarget, PartsMixin, ClassifierMixin, Learner):
    """Classification by Gaussian processes, on tables of any size and for any number of classes.

    Every class is a regression on targets +1 and -1 under one kernel and one factorisation; probabilities are shares
    of the answers, with a floor and a temperature that were fitted on rows left out. Exact up to 4,000 distinct rows, by a committee beyond.

    Parameters
    ----------
    kernel : str or scikit-learn kernel, default="auto"
        `"auto"` chooses by evidence; otherwise a kernel as text, such as `"matern32(ard)"`.
    method : {"auto", "exact", "committee"}, default="auto"
        One exact process over all rows, or a committee of experts.
    mode : {"auto", "local", "landmarks", ...}, default="auto"
        How a committee answers; see `docs/cli.md`.
    neighbours, landmarks, landmark_choice, replace_touched, parts, part_size, questions, companions, negligible_prior, keep_parts
        Shape of a committee, as the flags of `quorate fit`.
    inference : {"auto", "fast", "laplace", "ep"}, default="auto"
        How classes are inferred: `"fast"` as told above, or, for two classes and exact models, through a likelihood by
        Laplace's method or expectation propagation. `"auto"` tries all of them where rows are few, and keeps
        the one with the least log loss of rows not seen; otherwise it is `"fast"`.
    likelihood : {"auto", "bernoulli", "probit"}, default="auto"
        The likelihood, where there is one.
    learn : {"auto", "block", "none"}, default="auto"
        How hyperparameters are learned.
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
    classes_ : array of the labels, sorted
    n_classes_ : int
    model_ : the fitted model of the core
    kernel_ : str, the kernel with the values found
    log_marginal_likelihood_value_ : float or None, of the standardised targets; None for local committees
    scores_ : dict, of rows predicted from the others, or held out
    outcome_ : str, how learning ended
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import GPClassifier
    >>> X = np.linspace(0, 4, 60).reshape(-1, 1)
    >>> model = GPClassifier(kernel="se").fit(X, np.where(np.sin(2 * X).ravel() > 0, "up", "down"))
    >>> model.predict([[0.8], [2.4]]).tolist()
    ['up', 'down']
    """

    _task = "multiclass"
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
        "inference",
        "likelihood",
        "learn",
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
        inference: str = "auto",
        likelihood: str = "auto",
        learn: str = "auto",
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
        self.inference = inference
        self.likelihood = likelihood
        self.learn = learn
        self.restarts = restarts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GPClassifier:
        """Fits the model. `sample_weight` k counts as k copies of the row, 0 as none."""
        table, roles = self._training_table(X, y, sample_weight, None, reset=True, merge=True)
        return self._fit(_core.Model.fit, table, self._spec(roles))

    @available_if(_takes_parts)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, part_name: str | None = None
    ) -> Any:
        """Adds rows as a further part; the first call must have rows of every one of `classes`, where they are given."""
        if classes is not None and not hasattr(self, "model_"):
            absent = set(np.unique(classes).tolist()) - set(np.unique(y).tolist())
            if absent:
                raise ValueError(f"the first rows have none of the classes {sorted(absent)}: begin with rows of every class")
        return super().partial_fit(X, y, sample_weight, part_name=part_name)

    def log_marginal_likelihood(self) -> float:
        """Log evidence of the standardised targets of all classes."""
        check_is_fitted(self)
        if self.log_marginal_likelihood_value_ is None:
            raise ValueError(
                "a committee of local experts has no evidence of all rows: use method='exact' or mode='landmarks'"
            )
        return self.log_marginal_likelihood_value_
