"""What every estimator of the package shares: a model of the core, its file, its parts, its remarks."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from quorate import _core
from quorate._progress import watching
from quorate._tables import Column, Inputs
from quorate._warnings import remark


class Estimator(BaseEstimator):
    """Base of the estimators: parameters become the core's specification, the fitted model is `model_`."""

    #: Parameters that go to the core's specification under their own names when they are set.
    _choices: tuple[str, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file: the file that the command `quorate` writes and reads."""
        check_is_fitted(self)
        self.model_.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """Reads a model that `save` or the command `quorate` wrote."""
        return cls._of_model(_core.Model.load(os.fspath(path)))

    def inspect(self) -> dict[str, Any]:
        """Everything worth knowing about the fitted model, as `quorate inspect --json` shows it."""
        check_is_fitted(self)
        return json.loads(self.model_.inspect())

    @classmethod
    def _of_model(cls, model: _core.Model) -> Any:
        """An estimator around a fitted model, with the parameters it was fitted under."""
        spec = json.loads(model.inspect())["spec"]
        given = {name: spec[name] for name in cls._choices if spec.get(name) is not None}
        if spec.get("landmark_rows") is not None:
            given["landmarks"] = spec["landmark_rows"]
        estimator = cls(**given, random_state=spec["seed"])
        names = model.input_names()
        estimator.n_features_in_ = len(names)
        if names != [f"x{index}" for index in range(len(names))]:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        estimator._adopt(model)
        return estimator

    def _adopt(self, model: _core.Model) -> None:
        """Makes a fitted model this estimator's own."""
        self.model_ = model

    def _spec(self, roles: dict[str, Any], **override: Any) -> str:
        """The specification in JSON: the parameters that are set, and which column plays which part."""
        spec = {name: getattr(self, name) for name in self._choices}
        spec.update(roles, seed=self._seed(), **override)
        if not (spec.get("landmarks") is None or isinstance(spec["landmarks"], (int, np.integer))):
            spec["landmark_rows"] = self._landmark_rows(spec.pop("landmarks"))
        # What is not set is left to the core, whose defaults they are.
        given = {name: _plain(value) for name, value in spec.items() if value is not None and value is not False}
        return json.dumps(given)

    def _landmark_rows(self, landmarks: Any) -> list[dict[str, Any]]:
        """Landmarks that are rows of a table, as the core's specification holds them."""
        if isinstance(landmarks, list) and landmarks and isinstance(landmarks[0], dict):
            return landmarks
        return Inputs(self, landmarks, reset=False).cells()

    def _seed(self) -> int:
        """Without a `random_state` the seed is 0: the same data give the same model."""
        if self.random_state is None:
            return 0
        return seed_of(self.random_state)

    def _threads(self) -> int:
        """Number of threads for the core: all cores unless `n_jobs` says otherwise."""
        if self.n_jobs is None or self.n_jobs == -1:
            return 0
        if not isinstance(self.n_jobs, (int, np.integer)) or self.n_jobs < 1:
            raise ValueError(f"n_jobs must be None, -1 or a positive integer; got {self.n_jobs!r}")
        return int(self.n_jobs)

    def _predict(self, X: Any) -> tuple[Inputs, _core.Prediction]:
        check_is_fitted(self)
        inputs = Inputs(self, X, reset=False)
        with watching(self.progress) as callback:
            prediction = self.model_.predict(inputs.table(), callback, self._threads())
        remark(prediction.notes())
        return inputs, prediction


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model file into the estimator it belongs to."""
    from quorate._classification import GPClassifier
    from quorate._mixture import MixtureRegressor
    from quorate._quantities import GPCountRegressor, GPLifetimeRegressor
    from quorate._regression import GPRegressor

    model = _core.Model.load(os.fspath(path))
    labels, _ = model.labels()
    if labels:
        return GPClassifier._of_model(model)
    found = json.loads(model.inspect())
    if (quantity := found.get("quantity")) is not None:
        kind = quantity["quantity"]
        if kind == "real":
            raise ValueError("no estimator has the likelihood of this model: use the command `quorate`")
        return (GPCountRegressor if kind == "count" else GPLifetimeRegressor)._of_model(model)
    if found.get("mixture") is None:
        return GPRegressor._of_model(model)
    mixture = MixtureRegressor._of_model(model)
    # One expert may have been asked for by its likelihood.
    mixture.experts = len(found["mixture"]["experts"])
    return mixture


def speaks_through_landmarks(model: _core.Model) -> bool:
    """True for a committee that keeps a sum and no rows: what takes further parts."""
    method = json.loads(model.inspect())["method"]
    return isinstance(method, dict) and "landmarks" in method


def seed_of(random_state: Any) -> int:
    """The core's seed for a `random_state`: an integer is itself, a generator gives its next number."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative; got {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def free_name(wish: str, taken: list[str]) -> str:
    """A column name that no input has."""
    while wish in taken:
        wish += "_"
    return wish


def numbers(name: str, values: Any) -> Column:
    """A column of numbers for the core."""
    return name, "number", np.asarray(values, dtype=np.float64)


def _plain(value: Any) -> Any:
    """Numbers of numpy as JSON knows them."""
    return value.item() if isinstance(value, np.generic) else value
