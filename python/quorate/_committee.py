"""`CommitteeRegressor` and `CommitteeClassifier`: committees of any members under any rule."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from quorate import _core
from quorate._classes import ClassTarget
from quorate._estimator import Estimator
from quorate._fitting import Learner
from quorate._guests import Guest
from quorate._numbers import NumberTarget
from quorate._progress import Progress, watching
from quorate._tables import Inputs
from quorate._warnings import remark

_PARAMETERS = """
    Parameters
    ----------
    members : str, estimator or list of them, default="gp"
        Kinds of member ({kinds}) and scikit-learn {estimators}, who take turns. Estimators see inputs {targets}standardised,
        with categories as columns of zeros and ones and missing cells filled.
    maker : {{"parts", "bags", "all", "noise", "boost"{flips}}}, default="parts"
        How members come to their rows: random parts that share none, bootstrap samples, all rows for one member of
        each kind, {changed}. {boosted}
    rule : str, default=None
        How members answer together; see `quorate compare --help`. None is {rule} for parts, `"density-stacking"` for
        `"all"`, what belongs to it for boosting, and `"mixture"` for the rest.
    n_members : int, default=None
        Number of members; None is 2 to 10 parts of at least 25 rows, or 10.
    strength : float, default=None
        {strength}; None is 0.1.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. None is seed 0: the same data give the same committee.
    n_jobs : int, default=None
        Number of threads; None and -1 mean all cores.
    progress : None, True, callable or tqdm class, default=None
        Told of progress: a function of stage, done and total, or `tqdm`.

    Attributes
    ----------
    model_ : the fitted committee of the core
    members_ : list of the kind of each member
    rule_ : str, the rule that was taken
    weights_ : array of the members' weights or None, for rules that weigh members alike everywhere
    out_of_bag_ : dict or None, scores of rows by the members that have not seen them; bags leave rows out
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn"""


class Committee(Learner):
    """What both committees share."""

    _choices = ("maker", "rule", "strength")

    def __init__(
        self,
        members: Any = "gp",
        *,
        maker: str = "parts",
        rule: str | None = None,
        n_members: int | None = None,
        strength: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ):
        self.members = members
        self.maker = maker
        self.rule = rule
        self.n_members = n_members
        self.strength = strength
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fits the members. `sample_weight` k counts as k copies of the row, 0 as none."""
        return self._learn(X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any, companion: tuple[str, Any] | None = None) -> Any:
        names, guests = self._named_members()
        table, roles = self._training_table(X, y, sample_weight, None, reset=True, merge=True, companion=companion)
        spec = self._spec(roles, members=names, count=self.n_members)
        with watching(self.progress) as callback:
            self._adopt(_core.Committee.fit(spec, table, guests, callback, self._threads()))
        # Which likelihood `"auto"` chose is told by `likelihood_`.
        remark(note for note in self.model_.notes() if not note.startswith("chose the likelihood"))
        return self

    def opinions(self, X: Any) -> np.ndarray:
        """What each member says, a member for each entry of the last axis: expected targets, or probabilities of the classes."""
        check_is_fitted(self)
        inputs = Inputs(self, X, reset=False)
        said = self.model_.opinions(inputs.table())
        shape = (inputs.rows, -1) if self._task == "multiclass" else (inputs.rows,)
        return np.stack([own.reshape(shape) for own in said], axis=-1)

    def _named_members(self) -> tuple[list[str], list[tuple[str, Guest]]]:
        """A name for each member, and the estimators behind names that the core does not know."""
        members = self.members if isinstance(self.members, (list, tuple)) else [self.members]
        names: list[str] = []
        guests: list[tuple[str, Guest]] = []
        for member in members:
            if isinstance(member, str):
                names.append(member)
                continue
            if not hasattr(member, "fit") or not hasattr(member, "predict"):
                raise TypeError(f"a member is a name or an estimator with fit and predict; got {type(member).__name__}")
            name = f"{type(member).__name__}-{len(guests) + 1}"
            names.append(name)
            guests.append((name, Guest(member)))
        return names, guests

    def _roles(self) -> dict[str, Any]:
        return {**super()._roles(), "noise": None}

    def _adopt(self, model: _core.Committee) -> None:
        Estimator._adopt(self, model)
        found = self.inspect()
        self.members_ = found["members"]
        self.rule_ = found["rule"]
        self.weights_ = None if found["weights"] is None else np.array(found["weights"])
        self.out_of_bag_ = found["out_of_bag"]

    @classmethod
    def load(cls, path: Any) -> Any:
        """Reads a committee that `save` wrote; scikit-learn estimators are pickled instead."""
        import os

        model = _core.Committee.load(os.fspath(path))
        spec = json.loads(model.inspect())["spec"]
        given = {name: spec[name] for name in cls._choices if spec.get(name) is not None}
        estimator = cls(spec["members"], n_members=spec["count"], random_state=spec["seed"], **given)
        names = spec["inputs"]
        estimator.n_features_in_ = len(names)
        if names != [f"x{index}" for index in range(len(names))]:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        estimator._adopt(model)
        return estimator


class CommitteeRegressor(NumberTarget, RegressorMixin, Committee):
    __doc__ = (
        """A committee of Gaussian processes, linear models, networks, trees and scikit-learn estimators, for numbers.
"""
        + _PARAMETERS.format(
            kinds='`"gp"`, `"linear"`, `"quadratic"`, `"rbf"`, `"network"`, `"tree"`',
            estimators="regressors",
            targets="and targets ",
            flips="",
            changed="or all rows with noise added to the targets of each",
            boosted='`"boost"` is AdaBoost.R2: one after the other, rows that the last were far from likelier.',
            rule='`"robust-bcm"`',
            strength="Share of the target's variance that `noise` adds",
        )
        + """

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import CommitteeRegressor
    >>> X = np.linspace(0, 4, 80).reshape(-1, 1)
    >>> model = CommitteeRegressor(["gp", "tree"], maker="all").fit(X, np.sin(X).ravel())
    >>> model.predict([[1.0]]).round(1)
    array([0.8])
    """
    )

    _task = "regression"

    def predict(self, X: Any, return_std: bool = False, *, latent: bool = False) -> Any:
        """Expected targets, and with `return_std` the deviation of new ones (with `latent`, of the function)."""
        _, prediction = self._predict(X)
        if return_std:
            return prediction.mean(), prediction.deviation(latent)
        return prediction.mean()

    def differences(self, X: Any, y: Any) -> dict[str, Any]:
        """What the mean of the members gains over the members on these rows: their errors, and the ambiguity between."""
        check_is_fitted(self)
        table, _ = self._training_table(X, y, None, None, reset=False)
        return json.loads(self.model_.differences(table))


class CommitteeClassifier(ClassTarget, ClassifierMixin, Committee):
    __doc__ = (
        """A committee of Gaussian processes, logistic models, support vector machines, trees and scikit-learn estimators, for classes.
"""
        + _PARAMETERS.format(
            kinds='`"gp"`, `"linear"`, `"quadratic"`, `"rbf"`, `"tree"`, `"svm"`',
            estimators="classifiers",
            targets="",
            flips=', "flips", "filter"',
            changed="all rows with noise on the +1 and -1 of each, or with some labels of each drawn anew",
            boosted='`"boost"` is AdaBoost, `"filter"` boosting by filtering with three members.',
            rule='`"bcm"`',
            strength="Variance that `noise` adds, or share of the labels that `flips` draws anew",
        )
        + """
    classes_ : array of the labels, sorted
    n_classes_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import CommitteeClassifier
    >>> X = np.linspace(0, 4, 80).reshape(-1, 1)
    >>> model = CommitteeClassifier("tree", maker="bags").fit(X, np.where(np.sin(2 * X).ravel() > 0, "up", "down"))
    >>> model.predict([[0.8], [2.4]]).tolist()
    ['up', 'down']
    """
    )

    _task = "multiclass"
