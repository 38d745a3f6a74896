"""`GPRegressor` behind the constructor and the attributes of scikit-learn's `GaussianProcessRegressor`.

It translates names and units and computes nothing. The core standardises inputs and target; the kernels, thetas and
evidences of scikit-learn are in the units of the data (or, with `normalize_y`, of the standardised target).
"""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils.validation import check_array

from quorate import GPRegressor, kernel_text

# What a hyperparameter is called there, and how ours ends.
_KINDS = {"constant_value": "variance", "length_scale": "length_scale", "periodicity": "period", "alpha": "shape"}


class GaussianProcessRegressor(RegressorMixin, BaseEstimator):
    def __init__(
        self,
        kernel=None,
        *,
        alpha=1e-10,
        optimizer="fmin_l_bfgs_b",
        n_restarts_optimizer=0,
        normalize_y=False,
        copy_X_train=True,
        n_targets=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state

    def fit(self, X, y):
        X = check_array(X)
        y = np.asarray(y, dtype=np.float64)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.ravel()
        self.kernel_ = ConstantKernel() * RBF() if self.kernel is None else clone(self.kernel)
        self._deviation = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        variance = np.var(y) or 1.0
        self._unit = 1.0 if self.normalize_y else variance
        # Noise is theirs twice: alpha, which they keep out of predictions, and WhiteKernel, which they include.
        self._noisy = any(type(part) is WhiteKernel for part in _leaves(self.kernel_))
        if callable(self.optimizer):
            raise ValueError("the search is in the core: it takes no optimiser")
        learns = self.optimizer is not None
        self.ours_ = GPRegressor(
            kernel_text(self.kernel_, self._deviation, self._unit),
            method="exact",
            learn="auto" if learns else "none",
            noise_variance=None if self._noisy and learns else self._kept_noise(variance),
            restarts=self.n_restarts_optimizer,
            random_state=0 if self.random_state is None else self.random_state,
        ).fit(X, y)
        self._rows = len(y)
        self._places, self._offsets = self._translation()
        if len(self._places):
            self.kernel_.theta = self.ours_.theta_[self._places] + self._offsets
        return self

    def _kept_noise(self, variance):
        white = sum(part.noise_level for part in _leaves(self.kernel_) if type(part) is WhiteKernel)
        return (self.alpha + white) * (variance / self._unit)

    def _translation(self):
        """Where each coordinate of their theta is in ours, and what units add to it."""
        pools = {}
        for place, name in enumerate(self.ours_.theta_names_):
            kind = next((kind for kind in _KINDS.values() if kind in name.split(".")[-1]), None)
            pools.setdefault("noise" if name.startswith("noise") else kind, []).append(place)
        if not self._free_variances():
            pools["variance"] = []
        places, offsets = [], []
        for parameter in self.kernel_.hyperparameters:
            if parameter.fixed:
                continue
            own = parameter.name.split("__")[-1]
            kind = "noise" if own == "noise_level" else _KINDS[own]
            for element in range(parameter.n_elements):
                places.append(pools[kind].pop(0))
                scale = self._deviation[element] if parameter.n_elements > 1 else self._deviation.mean()
                units = {"length_scale": scale, "variance": self._unit, "noise": self._unit}
                offsets.append(np.log(units.get(kind, 1.0)))
        return np.array(places, dtype=int), np.array(offsets)

    def _free_variances(self):
        return any(p.name.endswith("constant_value") and not p.fixed for p in self.kernel_.hyperparameters)

    def predict(self, X, return_std=False, return_cov=False):
        return self.ours_.predict(X, return_std, return_cov, latent=not self._noisy)

    def sample_y(self, X, n_samples=1, random_state=0):
        return self.ours_.sample_y(X, n_samples, random_state, latent=not self._noisy)

    def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
        point = self.ours_.theta_
        if theta is not None:
            point[self._places] = np.asarray(theta) - self._offsets
            if not clone_kernel:
                self.kernel_.theta = theta
        value, gradient = self.ours_.log_marginal_likelihood(point, eval_gradient=True)
        value -= 0.5 * self._rows * np.log(self._unit)
        return (value, gradient[self._places]) if eval_gradient else value


def _leaves(kernel):
    """The kernels that a sum or product is made of."""
    if hasattr(kernel, "k1"):
        return _leaves(kernel.k1) + _leaves(kernel.k2)
    return [kernel]
