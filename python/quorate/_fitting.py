"""What estimators that learn from inputs and a target share: rows into the core's table, and what was found."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d

from quorate import _core
from quorate._copies import merge_copies
from quorate._estimator import Estimator, free_name, numbers
from quorate._progress import watching
from quorate._tables import Column, Inputs
from quorate._warnings import remark


class Learner(Estimator):
    """Base of the estimators with a target. A task says how its targets are checked, and which column they become."""

    #: The core's word for what is predicted.
    _task: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _checked_target(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """The targets as numbers: themselves, or codes of classes."""
        raise NotImplementedError

    def _target_column(self, name: str, y: np.ndarray) -> Column:
        """The numbers as a column for the core."""
        raise NotImplementedError

    def _fit(self, fit: Any, table: _core.Table, spec: str) -> Any:
        with watching(self.progress) as callback:
            self._adopt(fit(spec, table, callback, self._threads()))
        remark(self.model_.notes())
        return self

    def _adopt(self, model: _core.Model) -> None:
        super()._adopt(model)
        found = self.inspect()
        self.kernel_ = found["kernel"]
        self.log_marginal_likelihood_value_ = found["log_evidence"]
        self.scores_ = found["leave_one_out"] or found["held_out"]
        self.outcome_ = found["outcome"]

    def _training_table(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        noise: Any,
        *,
        reset: bool,
        merge: bool = False,
        companion: tuple[str, Any] | None = None,
    ) -> tuple[_core.Table, dict[str, Any]]:
        """The rows to learn from, and which column plays which part; with `merge`, copies as weights.

        `companion` is a column that comes with the target: its part in the specification, and its values.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        inputs = Inputs(self, X, reset=reset, least_rows=2 if reset else 1)
        wish = getattr(y, "name", None)
        y = column_or_1d(y, warn=True)
        check_consistent_length(inputs.array if inputs.array is not None else X, y)
        role, beside = companion if companion is not None else ("", None)
        weight, known = (
            None if values is None else _check_sample_weight(values, inputs.origin, dtype=np.float64)
            for values in (sample_weight, noise)
        )
        if beside is not None:
            beside = np.asarray(column_or_1d(beside), dtype=np.float64)
            check_consistent_length(y, beside)
        y = self._checked_target(y, weight)
        if merge:
            y, weight, known, beside = merge_copies(inputs, y, weight, known, beside)
        stored = None if reset else self._roles()
        named = isinstance(wish, str) and wish
        target = stored["target"] if stored else free_name(wish if named else "y", inputs.names)
        roles: dict[str, Any] = {"target": target, "inputs": inputs.names, "task": self._task}
        further = [self._target_column(target, y)]
        columns = [("weight", "sample_weight", weight), ("noise", "noise", known)]
        if companion is not None:
            columns.append((role, role, beside))
        for role, argument, values in columns:
            if stored is not None:
                column = stored.get(role)
                if column is None and values is not None:
                    raise ValueError(f"the model was fitted without {argument}, so further rows cannot have it")
            else:
                column = free_name(argument, [*inputs.names, target]) if values is not None else None
            if column is None:
                continue
            roles[role] = column
            usual = np.full(len(y), 0.0 if role == "noise" else 1.0)
            further.append(numbers(column, usual if values is None else values))
        if reset and not isinstance(getattr(self, "kernel", "auto"), str):
            roles["kernel"] = self._translated(inputs, y)
        return inputs.table(further), roles

    def _roles(self) -> dict[str, Any]:
        return self.inspect()["spec"]

    def _translated(self, inputs: Inputs, y: np.ndarray) -> str:
        """A scikit-learn kernel in the core's units."""
        from sklearn.gaussian_process.kernels import Kernel

        from quorate._kernels import kernel_text

        if self.kernel is None:
            return "auto"
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be text or a kernel of scikit-learn; got {type(self.kernel).__name__}")
        return kernel_text(self.kernel, inputs.deviation(), self._target_variance(y))

    def _target_variance(self, y: np.ndarray) -> float:
        """Variance of the targets in the units of a scikit-learn kernel."""
        return float(np.var(y)) or 1.0
