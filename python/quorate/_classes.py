"""What estimators of classes share: labels in, probabilities and labels out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from quorate import _core
from quorate._progress import watching
from quorate._tables import Column, Inputs, as_given
from quorate._warnings import remark


class ClassTarget:
    """Labels of any type as a target, and what is predicted about them."""

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row."""
        _, found = self._classify(X)
        return self.classes_[found.decisions()]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, in the order of `classes_`: one row for each row of X."""
        return self._classify(X)[1].probabilities()

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        tiny = np.finfo(np.float64).tiny
        return np.log(np.maximum(self.predict_proba(X), tiny))

    def predict_table(self, X: Any) -> Any:
        """Columns `label` and `p_<class>`, as `quorate predict` writes them, in the library of X."""
        inputs, found = self._classify(X)
        probabilities = found.probabilities()
        columns: dict[str, Any] = {"label": self.classes_[found.decisions()]}
        for position, label in enumerate(self.model_.labels()[0]):
            columns[f"p_{label}"] = probabilities[:, position]
        return as_given(inputs.origin, inputs.kind, columns)

    def _classify(self, X: Any) -> tuple[Inputs, _core.ClassPrediction]:
        check_is_fitted(self)
        inputs = Inputs(self, X, reset=False)
        with watching(self.progress) as callback:
            found = self.model_.classify(inputs.table(), callback, self._threads())
        remark(found.notes())
        return inputs, found

    def _adopt(self, model: Any) -> None:
        super()._adopt(model)
        labels, kind = model.labels()
        self.classes_ = _values(labels, kind)
        given = getattr(self, "_label_type", None)
        if given is not None and given.kind in "iuf" and kind == "number":
            self.classes_ = self.classes_.astype(given)
        self.n_classes_ = len(labels)

    def _checked_target(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Positions of the labels among those that occur, `self._labels`."""
        check_classification_targets(y)
        if y.dtype.kind == "O":
            y = np.asarray([str(label) if isinstance(label, str) else label for label in y.tolist()])
        self._labels, codes = np.unique(y, return_inverse=True)
        seen = codes if weight is None else codes[weight > 0]
        if not hasattr(self, "model_") and len(np.unique(seen)) < 2:
            raise ValueError("a classifier needs rows of two classes at least; got 1 class")
        return codes.astype(np.float64)

    def _target_column(self, name: str, y: np.ndarray) -> Column:
        labels = self._labels[y.astype(np.intp)]
        self._label_type = labels.dtype
        del self._labels
        if labels.dtype.kind == "b":
            return name, "boolean", labels.astype(np.float64)
        if labels.dtype.kind in "iuf":
            return name, "number", labels.astype(np.float64)
        return name, "text", [str(label) for label in labels]

    def _target_variance(self, y: np.ndarray) -> float:
        return 1.0


def _values(labels: list[str], kind: str) -> np.ndarray:
    """Labels of the core in the type they came in."""
    if kind == "boolean":
        return np.array([label == "true" for label in labels])
    if kind == "number":
        values = np.array([float(label) for label in labels])
        return values.astype(np.int64) if (values == np.round(values)).all() else values
    return np.array(labels)
