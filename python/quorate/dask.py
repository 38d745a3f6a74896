"""Committees on a Dask cluster: `DaskGPRegressor`, `DaskGPClassifier` and `DaskGPCountRegressor`.

For tables that one machine does not hold. A partition is a part: it stays on its worker, and only sums over its rows
travel. Scaling, hyperparameters and landmarks come from a seeded sample of all partitions. Parts are added in the order of
their names, so that the result is the same to the last bit whichever worker was first, and the same as on one machine.
Needs `pip install quorate[dask]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quorate._cells import CellRegressor
from quorate._classification import GPClassifier
from quorate._counts import LandmarkCountRegressor
from quorate._regression import GPRegressor

try:
    import dask
    from dask import delayed
    from distributed import Client, get_client

    from quorate import _dask as work
except ImportError as missing:  # pragma: no cover
    raise ImportError("quorate.dask needs Dask: pip install 'quorate[dask]'") from missing

__all__ = ["DaskGPClassifier", "DaskGPCountRegressor", "DaskGPRegressor"]

#: Rows that scaling, hyperparameters and landmarks are learned from, as in one-pass fits on one machine.
_SAMPLE_ROWS = 50_000


class _DaskEstimator:
    """What the estimators share; the local estimator does the work, on the workers."""

    _local: type

    def __init__(self, client: Client | None = None, *, sample_rows: int = _SAMPLE_ROWS, rounds: int = 0, **options: Any):
        self.client = client
        self.sample_rows = sample_rows
        self.rounds = rounds
        self.options = options
        # Wrong names are told now, not on a worker.
        self._estimator()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator and of the local one."""
        return {"client": self.client, "sample_rows": self.sample_rows, "rounds": self.rounds, **self.options}

    def set_params(self, **given: Any) -> Any:
        """Sets parameters of this estimator or of the local one."""
        for name, value in given.items():
            if name in ("client", "sample_rows", "rounds"):
                setattr(self, name, value)
            else:
                self.options[name] = value
        self._estimator()
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, noise: Any = None) -> Any:
        """Fits dask arrays or dataframes, one part for each partition; also plain tables, as one partition."""
        client = self.client or get_client()
        estimator, held, names = self._prepared(client, work.partitions(X, y, sample_weight, noise))
        if self.rounds:
            estimator = work.learned_together(client, estimator, held, names, self.rounds)
        estimator = work.summed(client, estimator, held, names, self._progress)
        self._adopt(estimator)
        return self

    def _prepared(self, client: Client, parts: list[tuple[Any, ...]]) -> tuple[Any, list[Any], list[str]]:
        """What parts need in common, learned from a sample of them; the parts, held on the workers; their names."""
        # Held for all rounds; what a dead worker held is made again from its source.
        held = client.compute([delayed(work.hold)(*part) for part in parts])
        samples = self._samples(client, held)
        machine, threads = work.largest_machine(client)
        where = {"workers": machine, "allow_other_workers": True} if machine else {}
        asked = client.submit(work.prepare, self._estimator(), samples, threads, **where)
        (estimator,) = work.gathered(client, [asked], "learning from a sample", self._progress)
        return estimator, held, [f"part-{index:06d}" for index in range(len(parts))]

    def _samples(self, client: Client, held: list[Any]) -> list[Any]:
        """Seeded rows of each part, in proportion to its rows."""
        counts = client.gather([client.submit(work.count_rows, part) for part in held])
        shares = work.shares_of(counts, self.sample_rows)
        return [
            client.submit(work.sample_of, part, share, index)
            for index, (part, share) in enumerate(zip(held, shares, strict=True))
            if share
        ]

    def to_local(self) -> Any:
        """The estimator of one machine, which needs no Dask; its file is that of the command `quorate`."""
        return self._fitted()

    def save(self, path: Any) -> None:
        """Writes the model file."""
        self._fitted().save(path)

    def _estimator(self) -> Any:
        return self._local(**{"mode": "landmarks", "method": "committee", **self._local_options})

    @property
    def _progress(self) -> Any:
        return self.options.get("progress")

    @property
    def _local_options(self) -> dict[str, Any]:
        """What the workers need to know: progress is shown where the fit was asked for."""
        return {name: value for name, value in self.options.items() if name != "progress"}

    def _fitted(self) -> Any:
        if not hasattr(self, "local_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")
        return self.local_

    def _adopt(self, estimator: Any) -> None:
        self.local_ = estimator
        for name in ("model_", "kernel_", "scores_", "outcome_", "n_features_in_"):
            setattr(self, name, getattr(estimator, name))

    def _lazily(self, method: str, X: Any, outputs: int = 0, kind: Any = np.float64, beside: Any = None) -> Any:
        """An answer for each partition when it is asked for; at once for plain tables. `beside` is the rows' exposure."""
        estimator = self._fitted()
        if not dask.is_dask_collection(X):
            return work.ask_model(estimator, method, X, beside)
        meta = np.empty((0, outputs) if outputs else (0,), dtype=kind)
        return work.by_parts(X, beside, delayed(estimator, pure=True), method, meta)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({options})"


class DaskGPRegressor(_DaskEstimator):
    """`GPRegressor` on a Dask cluster: a committee that speaks through landmarks, one part for each partition.

    With `mode="local"` rows are sent to where their neighbours are instead, one cell of space for each partition, and each
    cell gets a local model of its own, hyperparameters included. It is for tables with a few inputs that matter, of
    which landmarks tell too little and whose rows one machine does not hold.

    Parameters
    ----------
    client : distributed.Client, default=None
        The cluster; None takes the current client.
    sample_rows : int, default=50_000
        Rows across all partitions that scaling, hyperparameters and landmarks are learned from.
    rounds : int, default=0
        Further steps of the hyperparameters by the evidence of all rows: value and gradient are summed over the
        partitions, where they are held. None by default: a sample of 50,000 rows tells them well.
    **options
        Parameters of `GPRegressor`: `kernel`, `landmarks`, `part_size`, `keep_parts`, `random_state`, ..., and `progress`,
        which tells how many parts or cells are done.

    Examples
    --------
    >>> from distributed import Client                                             # doctest: +SKIP
    >>> import dask.array as da                                                    # doctest: +SKIP
    >>> client = Client("tcp://scheduler:8786")                                    # doctest: +SKIP
    >>> model = DaskGPRegressor(kernel="matern32(ard)", landmarks=500).fit(X, y)   # doctest: +SKIP
    >>> model.predict(X_new).compute()                                             # doctest: +SKIP
    """

    _local = GPRegressor

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, noise: Any = None) -> Any:
        """Fits dask arrays or dataframes, one part or cell for each partition; also plain tables, as one partition."""
        if self.options.get("mode") != "local":
            return super().fit(X, y, sample_weight, noise=noise)
        if self.rounds:
            raise ValueError("rounds sum over parts that speak through landmarks; in local mode each cell learns by itself")
        client = self.client or get_client()
        held = client.compute([delayed(work.hold)(*part) for part in work.partitions(X, y, sample_weight, noise)])
        self.cells_ = client.submit(work.cut_space, self._samples(client, held), len(held)).result()
        self.cell_models_ = work.fitted_cells(client, self._estimator(), self.cells_, held)
        scores = [client.submit(getattr, model, "scores_") for model in self.cell_models_]
        self.scores_ = work.gathered(client, scores, "fitting cells", self._progress)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected targets, lazily for dask collections; with `return_std` also their standard deviation."""
        mean = self._lazily("predict", X)
        return (mean, self._lazily("_deviation", X)) if return_std else mean

    def to_local(self) -> Any:
        """The estimator of one machine, which needs no Dask; its file is that of the command `quorate`, or one for each cell."""
        if not hasattr(self, "cell_models_"):
            return super().to_local()
        return CellRegressor(self.cells_, (self.client or get_client()).gather(self.cell_models_))

    def _lazily(self, method: str, X: Any, outputs: int = 0, kind: Any = np.float64, beside: Any = None) -> Any:
        if not hasattr(self, "cell_models_"):
            return super()._lazily(method, X, outputs, kind, beside)
        asked = [work.asked_of_cells(self.cells_, self.cell_models_, method, piece) for (piece,) in work.partitions(X)]
        if not dask.is_dask_collection(X):
            return asked[0].compute()
        import dask.array as da

        rows = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(asked)
        answers = [da.from_delayed(own, shape=(count,), dtype=kind) for own, count in zip(asked, rows, strict=True)]
        return da.concatenate(answers, allow_unknown_chunksizes=True)


class DaskGPClassifier(_DaskEstimator):
    """`GPClassifier` on a Dask cluster; the parameters are those of `DaskGPRegressor`, but `rounds`.

    A class that the sample does not have is an error: take a larger one with `sample_rows`.
    """

    _local = GPClassifier

    def __init__(self, client: Client | None = None, *, sample_rows: int = _SAMPLE_ROWS, **options: Any):
        super().__init__(client, sample_rows=sample_rows, **options)

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        return self._fitted().classes_

    def predict(self, X: Any) -> Any:
        """The likeliest labels, lazily for dask collections."""
        return self._lazily("predict", X, kind=self.classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, lazily for dask collections."""
        return self._lazily("predict_proba", X, outputs=len(self.classes_))


class DaskGPCountRegressor(_DaskEstimator):
    """Counts on a Dask cluster: a committee that speaks through landmarks, by rounds of working targets.

    Parameters
    ----------
    client : distributed.Client, default=None
        The cluster; None takes the current client.
    sample_rows : int, default=2_000
        Rows across all partitions that scaling, hyperparameters, level, dispersion and landmarks are learned from, by one process over
        all of them.
    rounds : int, default=50
        Most rounds of working targets; each is a pass over all rows, and 6 to 10 are usual.
    **options
        Further parameters of `LandmarkCountRegressor`: `kernel`, `likelihood`, `landmarks`, `part_size`, ...
    """

    _local = LandmarkCountRegressor

    def __init__(self, client: Client | None = None, *, sample_rows: int = 2_000, rounds: int = 50, **options: Any):
        super().__init__(client, sample_rows=sample_rows, rounds=rounds, **options)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None) -> DaskGPCountRegressor:
        """Fits dask arrays or dataframes, one part for each partition; `exposure` multiplies the mean of its row."""
        client = self.client or get_client()
        estimator, held, names = self._prepared(client, work.partitions(X, y, sample_weight, exposure))

        def ask() -> dict[str, bytes]:
            shared = client.scatter(estimator, broadcast=True)
            sent = [client.submit(work.working, shared, part, name) for part, name in zip(held, names, strict=True)]
            told = work.gathered(client, sent, "working targets", self._progress)
            return dict(zip(names, told, strict=True))

        self._adopt(estimator.settle(ask))
        return self

    def predict(self, X: Any, return_std: bool = False, *, exposure: Any = None) -> Any:
        """Expected counts, lazily for dask collections; with `return_std` also the standard deviation of new ones."""
        mean = self._lazily("predict", X, beside=exposure)
        return (mean, self._lazily("_deviation", X, beside=exposure)) if return_std else mean

    def _estimator(self) -> Any:
        return self._local(**{"sample_rows": self.sample_rows, "rounds": self.rounds, **self._local_options})
