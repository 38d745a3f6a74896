"""Calibrated probabilistic predictions from tables of any size.

>>> import numpy as np
>>> from quorate import GPRegressor
>>> X = np.linspace(0, 4, 40).reshape(-1, 1)
>>> model = GPRegressor().fit(X, np.sin(X).ravel())
>>> mean, std = model.predict([[1.23]], return_std=True)
>>> bool(abs(mean[0] - np.sin(1.23)) < 0.01)
True

Names are loaded when first used, so that `import quorate` and the command `quorate` start at once.
"""

from importlib import import_module
from typing import Any

from quorate._core import __version__

# Where each public name lives. An estimator joins the package with one line here and one module of its own.
_HOME = {
    "CommitteeClassifier": "quorate._committee",
    "CommitteeCountRegressor": "quorate._committee_quantities",
    "CommitteeLifetimeRegressor": "quorate._committee_quantities",
    "CommitteeRegressor": "quorate._committee",
    "GPClassifier": "quorate._classification",
    "GPCountRegressor": "quorate._quantities",
    "GPLifetimeRegressor": "quorate._quantities",
    "GPNetwork": "quorate._network",
    "GPRegressor": "quorate._regression",
    "MixtureRegressor": "quorate._mixture",
    "Summary": "quorate._summary",
    "QuorateWarning": "quorate._warnings",
    "load": "quorate._estimator",
    "kernel_text": "quorate._kernels",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'quorate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
