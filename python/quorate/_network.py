"""`GPNetwork`: columns that depend on each other, every conditional a Gaussian process."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from quorate import _core
from quorate._progress import Progress, watching
from quorate._tables import _READERS, Column, _objects, library


class GPNetwork:
    """A Bayesian or dependency network over the columns of a table.

    Parameters
    ----------
    structure : "search", "dependency" or dict, default="search"
        The parents of every column, as `{"wet": ["rain"], "rain": []}`; `"search"` finds a graph without cycles, greedily by the
        evidence; `"dependency"` gives every column all others.
    exogenous : list of str, default=()
        Columns that are given from outside and modify the others.
    ignore : list of str, default=()
        Columns that are left out.
    max_parents : int, default=3
        Parents of a column at most, where they are searched for.
    kernel : str, default="auto"
        Kernel of the conditionals, in the kernel language.
    method : {"auto", "exact", "committee", "mixture"}, default="auto"
        Method of the conditionals of numbers.
    likelihood : str, default="auto"
        Their likelihood, such as `"heteroscedastic"`; `"poisson"` and `"negative-binomial"` are those of the counts.
    counts : list of str, default=()
        Columns that hold counts: a process behind the logarithm of their mean.
    rows : int, default=1000
        Rows that a conditional learns from at most.
    random_state : int, default=0
        Seed of everything random.
    n_jobs : int, default=None
        Number of threads; None and -1 mean all cores.
    progress : None, True, callable or tqdm class, default=None
        Told of progress.

    Attributes
    ----------
    model_ : the fitted network of the core
    structure_ : dict, the parents of every column
    scores_ : dict, log evidence of every column given its parents
    notes_ : list of sentences about the conditionals, such as rows with equal inputs that were merged

    Examples
    --------
    >>> from quorate import GPNetwork
    >>> rain = ["yes", "no"] * 20
    >>> wet = ["yes", "no"] * 18 + ["no", "no", "yes", "yes"]
    >>> network = GPNetwork({"rain": [], "wet": ["rain"]}).fit({"rain": rain, "wet": wet})
    >>> answer = network.query("rain", given={"wet": "yes"})["rain"]
    >>> bool(answer["probabilities"]["yes"] > 0.8)
    True
    """

    def __init__(
        self,
        structure: str | Mapping[str, Sequence[str]] = "search",
        *,
        exogenous: Sequence[str] = (),
        ignore: Sequence[str] = (),
        max_parents: int = 3,
        kernel: str = "auto",
        method: str = "auto",
        likelihood: str = "auto",
        counts: Sequence[str] = (),
        rows: int = 1000,
        random_state: int = 0,
        n_jobs: int | None = None,
        progress: Progress = None,
    ):
        self.structure = structure
        self.exogenous = exogenous
        self.ignore = ignore
        self.max_parents = max_parents
        self.kernel = kernel
        self.method = method
        self.likelihood = likelihood
        self.counts = counts
        self.rows = rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any) -> GPNetwork:
        """Fits a conditional for each column of a table: pandas, polars, Arrow, or a dict of columns. A row in which a column is
        missing does not teach that column."""
        if isinstance(self.structure, str) and self.structure not in ("search", "dependency"):
            raise ValueError(f"structure is 'search', 'dependency' or a dict of parents; got {self.structure!r}")
        graph = None
        if not isinstance(self.structure, str):
            parents = {name: list(own) for name, own in self.structure.items()}
            graph = {"exogenous": list(self.exogenous), "parents": parents}
        choices = {
            "structure": graph,
            "dependency": self.structure == "dependency",
            "exogenous": list(self.exogenous),
            "ignore": list(self.ignore),
            "max_parents": self.max_parents,
            "kernel": self.kernel,
            "method": self.method,
            "likelihood": self.likelihood,
            "counts": list(self.counts),
            "rows": self.rows,
            "seed": self.random_state,
        }
        self._kind, columns = _columns(X)
        table = _core.Table(None, [], columns)
        threads = 0 if self.n_jobs in (None, -1) else self.n_jobs
        with watching(self.progress) as callback:
            self._adopt(_core.Network.fit(json.dumps(choices), table, callback, threads))
        return self

    def query(
        self,
        about: str | Sequence[str],
        given: Mapping[str, Any] | None = None,
        *,
        samples: int = 10_000,
        rounds: int = 50,
        random_state: int = 0,
    ) -> dict[str, dict[str, Any]]:
        """What is known of columns given others: for labels `probabilities` and `standard_errors`, for numbers `mean`,
        `standard_error`, `std` and `quantiles` (0.025, 0.5, 0.975). `rounds` are those of a dependency network."""
        about = [about] if isinstance(about, str) else list(about)
        found = json.loads(self._fitted().query(about, _known(given), samples, rounds, random_state))
        answers = {}
        for answer in found["answers"]:
            if answer["kind"] == "labels":
                answers[answer["name"]] = {
                    "probabilities": {label: share for label, share, _ in answer["shares"]},
                    "standard_errors": {label: error for label, _, error in answer["shares"]},
                }
            else:
                answers[answer["name"]] = {
                    "mean": answer["mean"],
                    "standard_error": answer["standard_error"],
                    "std": answer["deviation"],
                    "quantiles": answer["quantiles"],
                }
        return answers

    def sample(
        self, n_samples: int = 200, given: Mapping[str, Any] | None = None, *, rounds: int = 50, random_state: int = 0
    ) -> Any:
        """Rows drawn from the network, as a table of the library that it was fitted to, or a dict of columns. With variables of a
        Bayesian network given, the column `log_weight` says how much each row counts."""
        drawn, weights = self._fitted().sample(n_samples, _known(given), rounds, random_state)
        columns = {name: _as_cells(kind, cells) for name, kind, cells in drawn}
        if np.any(weights != 0.0):
            columns["log_weight"] = weights
        kind = getattr(self, "_kind", None)
        if kind == "pandas":
            import pandas

            return pandas.DataFrame(columns)
        if kind == "polars":
            import polars

            return polars.DataFrame(columns)
        if kind == "pyarrow":
            import pyarrow

            return pyarrow.table(columns)
        return columns

    def inspect(self) -> dict[str, Any]:
        """Structure, scores and notes as the core tells them."""
        return json.loads(self._fitted().inspect())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file that `quorate network query` reads too."""
        self._fitted().save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GPNetwork:
        """Reads a network's file, whoever wrote it."""
        model = _core.Network.load(os.fspath(path))
        told = json.loads(model.inspect())
        found = told["structure"]
        network = cls(found["parents"], exogenous=found.get("exogenous", []), counts=told["counts"])
        if found.get("dependency"):
            network.structure = "dependency"
        network._adopt(model)
        return network

    def _adopt(self, model: _core.Network) -> None:
        self.model_ = model
        found = json.loads(model.inspect())
        self.structure_ = found["structure"]["parents"]
        self.scores_ = dict(found["scores"])
        self.notes_ = found["notes"]

    def _fitted(self) -> _core.Network:
        if not hasattr(self, "model_"):
            raise AttributeError("this network is not fitted yet: call fit first")
        return self.model_


def _columns(X: Any) -> tuple[str | None, list[Column]]:
    """The library of a table, and its columns."""
    if isinstance(X, Mapping):
        return None, [(str(name), *_objects(list(cells))) for name, cells in X.items()]
    kind = library(X)
    if kind is None:
        raise TypeError(f"a network learns from a table with named columns; got {type(X).__name__}")
    names = X.schema.names if kind == "pyarrow" else X.columns
    return kind, [(str(name), *cells) for name, cells in zip(names, _READERS[kind](X), strict=True)]


def _known(given: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Cells that are known: labels as text, all else as numbers."""
    return [(name, cell if isinstance(cell, str) else float(cell)) for name, cell in (given or {}).items()]


def _as_cells(kind: str, cells: Any) -> Any:
    if kind == "boolean":
        return np.asarray(cells, dtype=bool)
    if kind == "date":
        return (np.asarray(cells) * 86_400e6).astype("datetime64[us]")
    return cells
