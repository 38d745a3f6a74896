"""Targets behind a likelihood, through landmarks: rounds of working targets, whose sums travel like those of any other part.

A row says about its latent value f, to the second order, what a number `z = f + slope / W` with noise of the variance 1 / W says (Fisher
scoring; McCullagh and Nelder 1989, section 2.5). So parts of counts and lifetimes are parts of numbers with known noise, computed
where f is, and f is what the landmarks say: the sum of parts gives the next f, until it stays. What landmarks leave unexplained of f counts as
further noise, as in every part.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from quorate import _core
from quorate._regression import GPRegressor

#: Noise of the latent function beside that of the working targets: none but for rounding, in variances of the function.
_ROUNDING = 1e-8
#: Rounds end when the landmarks move by less than this many deviations of what is known about them.
_SETTLED = 1e-6
#: Where they move no less than before, and by no more than this, the rest is rounding.
_STALLED = 1e-3
#: Newton's steps are safe from here.
_NEAR = 1.0


class ThroughLandmarks(RegressorMixin, BaseEstimator):
    """What counts and lifetimes share; a subclass says how targets are checked and what they say about f."""

    #: The process over all rows that learns hyperparameters, and its word for the column beside the target.
    _exact: Any
    _beside_name: str

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        likelihood: str = "auto",
        landmarks: Any = None,
        landmark_choice: str | None = None,
        part_size: int | None = None,
        keep_parts: bool = False,
        restarts: int | None = None,
        sample_rows: int = 2_000,
        rounds: int = 50,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.kernel = kernel
        self.likelihood = likelihood
        self.landmarks = landmarks
        self.landmark_choice = landmark_choice
        self.part_size = part_size
        self.keep_parts = keep_parts
        self.restarts = restarts
        self.sample_rows = sample_rows
        self.rounds = rounds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **beside: Any) -> Any:
        """Prepares and absorbs all rows as one part."""
        self.prepare(X, y, sample_weight, **beside)
        part = (X, y, sample_weight, beside.get(self._beside_name))
        return self.settle(lambda: {"part-1": self.working_message(*part, part_name="part-1")})

    def prepare(self, X: Any, y: Any, sample_weight: Any = None, **beside: Any) -> Any:
        """Learns scaling, kernel, hyperparameters, level, dispersion and landmarks, and keeps none of the rows."""
        if set(beside) - {self._beside_name}:
            raise TypeError(f"{type(self).__name__} knows `{self._beside_name}` and not {', '.join(sorted(beside))}")
        y, sample_weight, further = self._columns(y, sample_weight, beside.get(self._beside_name))
        if len(y) > self.sample_rows:
            random = np.random.default_rng(0 if self.random_state is None else self.random_state)
            chosen = np.sort(random.choice(len(y), self.sample_rows, replace=False))
            X = X.iloc[chosen] if hasattr(X, "iloc") else X[chosen]
            y, sample_weight, further = (
                None if column is None else column[chosen] for column in (y, sample_weight, further)
            )
        common = {"random_state": self.random_state, "n_jobs": self.n_jobs}
        exact = self._exact(self.kernel, likelihood=self.likelihood, restarts=self.restarts, **common)
        exact.fit(X, y, sample_weight, **{self._beside_name: further})
        self.level_, self.likelihood_ = exact.level_, exact.likelihood_
        # The latent function has its own unit: targets of mean 0 and deviation 1 leave it.
        unit = np.where(np.arange(len(y)) % 2 == 0, 1.0, -1.0)
        unit = (unit - unit.mean()) / unit.std()
        latent = GPRegressor(
            exact.kernel_,
            method="committee",
            mode="landmarks",
            landmarks=self.landmarks,
            landmark_choice=self.landmark_choice,
            part_size=self.part_size,
            learn="none",
            **common,
        )
        weight = None if sample_weight is None else np.ones(len(y))
        latent.prepare(X, unit, weight, noise=np.ones(len(y)))
        point = _core.hyperparameters(latent.model_)[1].copy()
        point[-1] = np.log(_ROUNDING)
        self._adopt(_core.emptied_at(latent.model_, point))
        self.weighted_ = sample_weight is not None
        self.careful_, self.rounds_ = True, 0
        return self

    def working_message(
        self, X: Any, y: Any, sample_weight: Any = None, beside: Any = None, *, part_name: str
    ) -> bytes:
        """These rows as a part: working targets at what the landmarks say now, or at the targets before they say anything."""
        check_is_fitted(self)
        y, sample_weight, beside = self._columns(y, sample_weight, beside)
        if self.rounds_:
            target, information = self._working(self._of_landmarks().predict(X), y, beside)
        else:
            target, information = self._beginning(y, beside)
        weight = sample_weight if self.weighted_ else None
        empty = GPRegressor._of_model(_emptied(self.latent_.model_))
        empty.n_jobs = self.n_jobs
        return empty.part_message(X, target, weight, noise=1.0 / information, part_name=part_name)

    def _columns(self, y: Any, weight: Any, beside: Any) -> tuple[Any, ...]:
        """Targets, weights and what is beside them, as numbers that can be."""
        y = self._checked(np.asarray(column_or_1d(y), dtype=np.float64))
        weight = None if weight is None else _check_sample_weight(weight, y.reshape(-1, 1), dtype=np.float64)
        return y, weight, None if beside is None else self._checked_beside(np.asarray(column_or_1d(beside), np.float64))

    def _checked(self, y: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _checked_beside(self, beside: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _beginning(self, y: np.ndarray, beside: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Targets of f and the information in them before anything is known."""
        raise NotImplementedError

    def _working(self, latent: np.ndarray, y: np.ndarray, beside: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Targets of f and the information in them at a latent value."""
        raise NotImplementedError

    def absorb(self, messages: Any) -> Any:
        """The estimator with these parts instead of those before: working targets of one round belong together."""
        latent = GPRegressor._of_model(_emptied(self.latent_.model_))
        latent.keep_parts = self.keep_parts
        self._adopt(latent.absorb(messages).model_)
        return self

    def settle(self, ask: Callable[[], dict[str, bytes]]) -> Any:
        """Rounds of `ask`, which gets the messages of all parts at what this estimator says now, until it stays.

        Who is missing in a round is out of the sum from then on, as if never in it.
        """
        names: set[str] | None = None
        before, last = None, np.inf
        self.careful_, self.rounds_ = True, 0
        while self.rounds_ < self.rounds:
            messages = ask()
            if names is not None and set(messages) != names:
                before, last = None, np.inf  # sums over other parts cannot be compared with those before
            names = set(messages)
            self.absorb(messages)
            self.rounds_ += 1
            now, precision = _landmark_values(self.latent_.model_)
            if before is not None:
                moved = float(np.sqrt((now - before) @ precision @ (now - before)))
                if not self.careful_ and (moved < _SETTLED or (moved >= last and moved < _STALLED)):
                    break
                # The last rounds are Newton's own, whose curvature is that at the mode.
                self.careful_ = self.careful_ and moved > _NEAR and self.rounds_ < self.rounds // 2
                last = moved
            before = now
        return self

    def inspect(self) -> dict[str, Any]:
        """What `GPRegressor.inspect` says of the latent function, and likelihood and level."""
        check_is_fitted(self)
        return {**self.latent_.inspect(), "quantity": self._told()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the latent function as a model file, and likelihood and level as `<path>.quantity.json` beside it."""
        check_is_fitted(self)
        self.latent_.save(path)
        with open(_beside(path), "w", encoding="utf-8") as file:
            json.dump(self._told(), file, indent=1)

    @staticmethod
    def is_file(path: str | os.PathLike[str]) -> bool:
        """True where `save` wrote."""
        return os.path.exists(_beside(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """Reads what `save` wrote."""
        with open(_beside(path), encoding="utf-8") as file:
            return cls._of(_core.Model.load(os.fspath(path)), json.load(file))

    def _told(self) -> dict[str, Any]:
        """What the model of the latent function does not say."""
        return {
            "quantity": self._beside_name,
            "level": self.level_,
            "likelihood": self.likelihood_,
            "weighted": self.weighted_,
            "careful": self.careful_,
            "rounds": self.rounds_,
        }

    @classmethod
    def _of(cls, model: _core.Model, told: dict[str, Any]) -> Any:
        kinds = {kind._beside_name: kind for kind in (cls, *cls.__subclasses__()) if hasattr(kind, "_beside_name")}
        if told["quantity"] not in kinds:
            raise ValueError(f"these are no targets of {cls.__name__}")
        found = kinds[told["quantity"]]()
        found.level_, found.likelihood_ = float(told["level"]), dict(told["likelihood"])
        found.weighted_, found.careful_, found.rounds_ = bool(told["weighted"]), bool(told["careful"]), int(told["rounds"])
        found._adopt(model)
        return found

    def _adopt(self, model: _core.Model) -> None:
        self.latent_ = GPRegressor._of_model(model)
        self.latent_.n_jobs = self.n_jobs
        self.model_, self.kernel_ = model, self.latent_.kernel_
        self.n_features_in_ = self.latent_.n_features_in_
        self.scores_, self.outcome_ = None, self.latent_.outcome_

    def _of_landmarks(self) -> GPRegressor:
        self.latent_.n_jobs = self.n_jobs
        return self.latent_


def _emptied(model: _core.Model) -> _core.Model:
    return _core.emptied_at(model, _core.hyperparameters(model)[1])


def _landmark_values(model: _core.Model) -> tuple[np.ndarray, np.ndarray]:
    """Mean and precision of the whitened landmark values."""
    information, vector, _, _ = _core.summary_numbers(model)
    precision = np.eye(len(vector)) + information
    return np.linalg.solve(precision, vector), precision


def _beside(path: str | os.PathLike[str]) -> str:
    return f"{os.fspath(path)}.quantity.json"
