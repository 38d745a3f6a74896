"""`CommitteeCountRegressor` and `CommitteeLifetimeRegressor`: committees of generalised linear models."""

from __future__ import annotations

from typing import Any

import numpy as np

from quorate import _core
from quorate._committee import Committee
from quorate._progress import Progress
from quorate._quantities import GPCountRegressor, GPLifetimeRegressor

_PARAMETERS = """
    Parameters
    ----------
    members : str or list of str, default="linear"
        Kinds of member: `"linear"`, `"quadratic"`, `"rbf"`, who take turns. They speak of the function behind the likelihood,
        whose level and dispersions they share.
    likelihood : {likelihoods}, default="auto"
        {auto}
    maker : {{"parts", "bags", "all"}}, default="parts"
        How members come to their rows: random parts that share none, bootstrap samples, all rows for one member of each kind.
    rule : str, default=None
        How members answer together, a rule that does not learn from errors; see `quorate compare --help`. None is `"robust-bcm"`
        for parts, `"model-averaging"` for `"all"` and `"mixture"` for bags.
    n_members, random_state, n_jobs, progress
        As those of `CommitteeRegressor`.

    Attributes
    ----------
    likelihood_ : dict, the likelihood with its dispersion
    level_ : float, what is added to the latent function everywhere
    model_, members_, rule_, weights_, n_features_in_, feature_names_in_
        As those of `CommitteeRegressor`."""


class _Quantities(Committee):
    """What both share: the members speak of one latent function."""

    _choices = ("maker", "rule", "likelihood")

    def __init__(
        self,
        members: Any = "linear",
        *,
        likelihood: str = "auto",
        maker: str = "parts",
        rule: str | None = None,
        n_members: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ):
        self.members = members
        self.likelihood = likelihood
        self.maker = maker
        self.rule = rule
        self.n_members = n_members
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _named_members(self) -> Any:
        names, guests = super()._named_members()
        if guests:
            raise TypeError("members of counts and lifetimes are names: scikit-learn's estimators know no likelihood")
        return names, guests

    def _adopt(self, model: _core.Committee) -> None:
        Committee._adopt(self, model)
        found = self.inspect()["quantity"]
        self.likelihood_ = found["likelihood"]
        self.level_ = found["level"]


class CommitteeCountRegressor(_Quantities, GPCountRegressor):
    __doc__ = (
        """A committee of generalised linear models for counts.
"""
        + _PARAMETERS.format(
            likelihoods='{"auto", "poisson", "negative-binomial"}',
            auto='`"auto"` compares the two by the evidence of the members.',
        )
        + """

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import CommitteeCountRegressor
    >>> X = np.linspace(0, 3, 200).reshape(-1, 1)
    >>> counts = np.round(np.exp(X.ravel()))
    >>> model = CommitteeCountRegressor(likelihood="poisson").fit(X, counts)
    >>> bool(6 < model.predict([[2.0]])[0] < 9)
    True
    """
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None) -> CommitteeCountRegressor:
        """Fits the members; `exposure` and `sample_weight` are as those of `GPCountRegressor`."""
        return self._learn(X, y, sample_weight, ("exposure", exposure))


class CommitteeLifetimeRegressor(_Quantities, GPLifetimeRegressor):
    __doc__ = (
        """A committee of generalised linear models for lifetimes, right-censored or not.
"""
        + _PARAMETERS.format(
            likelihoods='{"auto", "weibull", "exponential", "gamma", "inverse-gaussian"}',
            auto='`"auto"` is `"weibull"`; `"gamma"` and `"inverse-gaussian"` are for lifetimes of which none is censored.',
        )
        + """

    Examples
    --------
    >>> import numpy as np
    >>> from quorate import CommitteeLifetimeRegressor
    >>> X = np.linspace(0, 1, 90).reshape(-1, 1)
    >>> days = np.exp(2 * X.ravel()) * np.tile([0.5, 1.0, 1.5], 30)
    >>> model = CommitteeLifetimeRegressor().fit(X, np.minimum(days, 5), event=days < 5)
    >>> survival = model.predict_survival([[0.1], [0.9]], times=[2.0])
    >>> bool(survival[0, 0] < survival[1, 0])
    True
    """
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, event: Any = None) -> CommitteeLifetimeRegressor:
        """Fits the members; `event` and `sample_weight` are as those of `GPLifetimeRegressor`."""
        event = None if event is None else np.asarray(event).astype(np.float64)
        return self._learn(X, y, sample_weight, ("event", event))
