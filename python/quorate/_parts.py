"""Models that add: further parts, sums of models, parts forgotten."""

from __future__ import annotations

import json
from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from quorate import _core
from quorate._estimator import speaks_through_landmarks
from quorate._progress import watching
from quorate._warnings import remark


def _takes_parts(estimator: Any) -> bool:
    """Only committees that speak through landmarks take further parts."""
    fitted = hasattr(estimator, "model_")
    if speaks_through_landmarks(estimator.model_) if fitted else estimator.mode == "landmarks":
        return True
    raise AttributeError("partial_fit is for committees that speak through landmarks: use mode='landmarks', or `prepare`")


class PartsMixin:
    """`prepare`, `partial_fit`, `merge` and `forget`, for estimators whose committees speak through landmarks."""

    def prepare(self, X: Any, y: Any, sample_weight: Any = None, *, noise: Any = None) -> Any:
        """Learns scaling, kernel, hyperparameters and landmarks from a sample, and keeps none of its rows.

        What sites that share models and never rows need in common: `partial_fit` adds parts to copies of it, `merge`
        adds the copies up.
        """
        table, roles = self._training_table(X, y, sample_weight, noise, reset=True)
        return self._fit(_core.Model.prepare, table, self._spec(roles))

    @available_if(_takes_parts)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        noise: Any = None,
        part_name: str | None = None,
    ) -> Any:
        """Adds rows as a further part, in one pass; the first call fits a committee that speaks through landmarks.

        Scaling, kernel and landmarks stay as the first call (or `prepare`) found them. A part has a name, by default
        `part-1`, `part-2`, .. in the order of the calls.
        """
        if not hasattr(self, "model_"):
            table, roles = self._training_table(X, y, sample_weight, noise, reset=True)
            spec = self._spec(roles, part_name=part_name)
            return self._fit(_core.Model.fit, table, spec)
        table, _ = self._training_table(X, y, sample_weight, noise, reset=False)
        name = part_name if part_name is not None else self._next_part()
        with watching(self.progress) as callback:
            model, notes = self.model_.update(table, name, bool(self.keep_parts), callback, self._threads())
        self._adopt(model)
        remark(notes, depth=2)
        return self

    @available_if(_takes_parts)
    def part_message(
        self, X: Any, y: Any, sample_weight: Any = None, *, noise: Any = None, part_name: str
    ) -> bytes:
        """These rows as a part of this model, as bytes to be sent; the estimator stays as it is.

        Sums over rows, never the rows; versioned, checksummed, and bound to scaling, kernel and landmarks.
        """
        check_is_fitted(self)
        table, _ = self._training_table(X, y, sample_weight, noise, reset=False)
        message, notes = _core.part_message(self.model_, table, part_name, self._threads())
        remark(notes, depth=2)
        return message

    @available_if(_takes_parts)
    def check_part(self, message: bytes, origin: str = "message") -> dict[str, Any]:
        """Name, rows and fingerprint of a part that was received; a `ValueError` says why it cannot be added."""
        check_is_fitted(self)
        name, rows, fingerprint = _core.check_part(self.model_, bytes(message), origin)
        return {"name": name, "rows": rows, "fingerprint": fingerprint}

    @available_if(_takes_parts)
    def absorb(self, messages: Any) -> Any:
        """Adds parts that `part_message` made elsewhere, in the order of their names: the same bytes whoever was first.

        A list of messages, or a dictionary of them by the names of their senders. Each is checked (checksum, shape, finite
        numbers, positive semi-definite information, the same scaling, kernel and landmarks); where one cannot be
        believed, nothing is added and the error names it.
        """
        check_is_fitted(self)
        pairs = messages.items() if isinstance(messages, dict) else enumerate(messages, start=1)
        named = [(sender if isinstance(sender, str) else f"message {sender}", bytes(one)) for sender, one in pairs]
        self._adopt(_core.absorb(self.model_, named, bool(self.keep_parts)))
        return self

    def merge(self, *others: Any) -> Any:
        """Adds the parts of other estimators that share this one's scaling, kernel and landmarks."""
        check_is_fitted(self)
        models = [("this model", self.model_)]
        for number, other in enumerate(others, start=1):
            check_is_fitted(other)
            models.append((f"model {number}", other.model_))
        self._adopt(_core.Model.merge(models))
        return self

    def forget(
        self,
        part_name: str | None = None,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        noise: Any = None,
    ) -> Any:
        """Takes a part out again: by its name where parts are kept, or by its rows, which must be the same rows.

        `certificate_` then says what was removed, and what was learned with it and not computed again.
        """
        check_is_fitted(self)
        table = None
        if X is not None:
            table, _ = self._training_table(X, y, sample_weight, noise, reset=False)
        with watching(self.progress) as callback:
            model, certificate = self.model_.forget(part_name, table, callback, self._threads())
        self._adopt(model)
        self.certificate_ = json.loads(certificate)
        return self

    @property
    def parts_(self) -> list[str]:
        """Names of the parts of a landmarks model."""
        check_is_fitted(self)
        committee = self.inspect()["committee"]
        return [part["name"] for part in committee["parts"]] if committee else []

    def _next_part(self) -> str:
        taken = set(self.parts_)
        number = len(taken) + 1
        while f"part-{number}" in taken:
            number += 1
        return f"part-{number}"
