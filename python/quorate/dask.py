"""Committees on a Dask cluster: `DaskGPRegressor`, `DaskGPClassifier` and `DaskGPCountRegressor`.

For tables that one machine does not hold. A partition is a part: it stays on its worker, and only sums over its rows
travel. Scaling, hyperparameters and landmarks come from a seeded sample of all partitions. Parts are added in the order of
their names, so that the result is the same to the last bit whichever worker was first, and the same as on one machine.
Needs `pip install quorate[dask]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quorate._allocator import roomy
from quorate._classification import GPClassifier
from quorate._counts import LandmarkCountRegressor
from quorate._regression import GPRegressor
from quorate._rounds import learned, share

try:
    import dask
    from dask import delayed
    from distributed import Client, get_client, get_worker
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
        estimator, held, names = self._prepared(client, _partitions(X, y, sample_weight, noise))
        if self.rounds:
            estimator = _learned(client, estimator, held, names, self.rounds)
        estimator = _summed(client, estimator, held, names)
        self._adopt(estimator)
        return self

    def _prepared(self, client: Client, parts: list[tuple[Any, ...]]) -> tuple[Any, list[Any], list[str]]:
        """What parts need in common, learned from a sample of them; the parts, held on the workers; their names."""
        # Held for all rounds; what a dead worker held is made again from its source.
        held = client.compute([delayed(_hold)(*part) for part in parts])
        counts = client.gather([client.submit(_count, part) for part in held])
        shares = _shares(counts, self.sample_rows)
        samples = [
            client.submit(_sample, part, share, index)
            for index, (part, share) in enumerate(zip(held, shares, strict=True))
            if share
        ]
        machine, threads = _largest_machine(client)
        where = {"workers": machine, "allow_other_workers": True} if machine else {}
        estimator = client.submit(_prepare, self._estimator(), samples, threads, **where).result()
        return estimator, held, [f"part-{index:06d}" for index in range(len(parts))]

    def to_local(self) -> Any:
        """The estimator of one machine, which needs no Dask; its file is that of the command `quorate`."""
        return self._fitted()

    def save(self, path: Any) -> None:
        """Writes the model file."""
        self._fitted().save(path)

    def _estimator(self) -> Any:
        return self._local(**{"mode": "landmarks", "method": "committee", **self.options})

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
            return _ask(estimator, method, X, beside)
        meta = np.empty((0, outputs) if outputs else (0,), dtype=kind)
        return _by_parts(X, beside, delayed(estimator, pure=True), method, meta)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({options})"


class DaskGPRegressor(_DaskEstimator):
    """`GPRegressor` on a Dask cluster: a committee that speaks through landmarks, one part for each partition.

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
        Parameters of `GPRegressor`: `kernel`, `landmarks`, `part_size`, `keep_parts`, `random_state`, ...

    Examples
    --------
    >>> from distributed import Client                                             # doctest: +SKIP
    >>> import dask.array as da                                                    # doctest: +SKIP
    >>> client = Client("tcp://scheduler:8786")                                    # doctest: +SKIP
    >>> model = DaskGPRegressor(kernel="matern32(ard)", landmarks=500).fit(X, y)   # doctest: +SKIP
    >>> model.predict(X_new).compute()                                             # doctest: +SKIP
    """

    _local = GPRegressor

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected targets, lazily for dask collections; with `return_std` also their standard deviation."""
        mean = self._lazily("predict", X)
        return (mean, self._lazily("_deviation", X)) if return_std else mean


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
        estimator, held, names = self._prepared(client, _partitions(X, y, sample_weight, exposure))

        def ask() -> dict[str, bytes]:
            shared = client.scatter(estimator, broadcast=True)
            sent = [client.submit(_working, shared, part, name) for part, name in zip(held, names, strict=True)]
            return dict(zip(names, client.gather(sent), strict=True))

        self._adopt(estimator.settle(ask))
        return self

    def predict(self, X: Any, return_std: bool = False, *, exposure: Any = None) -> Any:
        """Expected counts, lazily for dask collections; with `return_std` also the standard deviation of new ones."""
        mean = self._lazily("predict", X, beside=exposure)
        return (mean, self._lazily("_deviation", X, beside=exposure)) if return_std else mean

    def _estimator(self) -> Any:
        return self._local(**{"sample_rows": self.sample_rows, "rounds": self.rounds, **self.options})


def _partitions(X: Any, *columns: Any) -> list[tuple[Any, ...]]:
    """Rows of all collections, partition by partition; None stays None."""
    pieces = [_pieces(X)]
    for column in columns:
        pieces.append([None] * len(pieces[0]) if column is None else _pieces(column))
        if len(pieces[-1]) != len(pieces[0]):
            raise ValueError(
                f"inputs have {len(pieces[0])} partitions and a column has {len(pieces[-1])}: give them the same"
            )
    return list(zip(*pieces, strict=True))


def _pieces(collection: Any) -> list[Any]:
    if not dask.is_dask_collection(collection):
        return [collection]
    if hasattr(collection, "divisions"):
        return list(collection.to_delayed())
    if collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def _hold(X: Any, y: Any, weight: Any, noise: Any) -> tuple[Any, ...]:
    return X, y, weight, noise


def _count(part: tuple[Any, ...]) -> int:
    return len(part[1])


def _shares(counts: list[int], wanted: int) -> list[int]:
    """Rows of each partition in a sample of so many: in proportion, whatever the order of arrival."""
    total = sum(counts)
    if total <= wanted:
        return list(counts)
    ends = np.cumsum(counts, dtype=np.int64) * wanted // total
    return np.diff(ends, prepend=0).tolist()


def _sample(part: tuple[Any, ...], count: int, index: int) -> tuple[Any, ...]:
    rows = len(part[1])
    if count >= rows:
        return part
    chosen = np.sort(np.random.default_rng([0x71756F72, index]).choice(rows, count, replace=False))
    return tuple(None if column is None else _rows(column, chosen) for column in part)


def _rows(table: Any, chosen: np.ndarray) -> Any:
    return table.iloc[chosen] if hasattr(table, "iloc") else table[chosen]


def _stacked(columns: list[Any]) -> Any:
    if columns[0] is None:
        return None
    if hasattr(columns[0], "iloc"):
        import pandas as pd

        return pd.concat(columns, ignore_index=True)
    return np.concatenate(columns)


def _largest_machine(client: Client) -> tuple[list[str], int]:
    """The workers of the machine with most threads, and how many these are together."""
    machines: dict[str, list[tuple[str, int]]] = {}
    for address, worker in client.scheduler_info()["workers"].items():
        machines.setdefault(worker["host"], []).append((address, worker["nthreads"]))
    # The first of the names where several are as large, so that runs are alike.
    workers = max(sorted(machines.items()), key=lambda own: sum(n for _, n in own[1]), default=("", []))[1]
    return [address for address, _ in workers], sum(threads for _, threads in workers)


@roomy
def _prepare(estimator: Any, samples: list[tuple[Any, ...]], threads: int) -> Any:
    X, y, weight, further = (_stacked([sample[place] for sample in samples]) for place in range(4))
    role = "exposure" if isinstance(estimator, LandmarkCountRegressor) else "noise"
    asked = estimator.n_jobs
    if asked is None and threads:
        # The other workers wait for what is learned here: their threads are free meanwhile.
        estimator.n_jobs = threads
    estimator.prepare(X, y, weight, **{role: further})
    estimator.n_jobs = asked
    return estimator


def _on_worker(estimator: Any) -> Any:
    """As many threads as the worker was given, unless the estimator says otherwise."""
    if estimator.n_jobs is None:
        try:
            estimator.n_jobs = get_worker().state.nthreads
        except ValueError:  # not on a worker
            pass
    return estimator


@roomy
def _message(estimator: Any, part: tuple[Any, ...], name: str) -> bytes:
    X, y, weight, noise = part
    return _on_worker(estimator).part_message(X, y, weight, noise=noise, part_name=name)


@roomy
def _working(estimator: Any, part: tuple[Any, ...], name: str) -> bytes:
    return _on_worker(estimator).working_message(*part, part_name=name)


def _summed(client: Client, estimator: Any, held: list[Any], names: list[str]) -> Any:
    shared = client.scatter(estimator, broadcast=True)
    sent = [client.submit(_message, shared, part, name) for part, name in zip(held, names, strict=True)]
    return estimator.absorb(dict(zip(names, client.gather(sent), strict=True)))


@roomy
def _share(estimator: Any, total: Any, part: tuple[Any, ...], name: str) -> bytes:
    return share(_on_worker(estimator), total, part, name)


def _learned(client: Client, estimator: Any, held: list[Any], names: list[str], rounds: int) -> Any:
    """Steps of the hyperparameters by the committee evidence of all partitions, two passes for each evaluation."""

    def shares(emptied: Any, total: Any) -> list[tuple[str, bytes]]:
        sent, sum_of_all = client.scatter([emptied, total], broadcast=True)
        asked = [client.submit(_share, sent, sum_of_all, part, name) for part, name in zip(held, names, strict=True)]
        return list(zip(names, client.gather(asked), strict=True))

    return learned(estimator, rounds, lambda emptied: _summed(client, emptied, held, names), shares)


def _by_parts(X: Any, beside: Any, asked: Any, method: str, meta: np.ndarray) -> Any:
    """A dask array of answers, one block for each partition."""
    import dask.array as da

    pieces = _partitions(X, beside)
    rows = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(pieces)
    answers = [
        da.from_delayed(delayed(_ask)(asked, method, *piece), shape=(count, *meta.shape[1:]), dtype=meta.dtype)
        for piece, count in zip(pieces, rows, strict=True)
    ]
    return da.concatenate(answers, allow_unknown_chunksizes=True)


@roomy
def _ask(estimator: Any, method: str, X: Any, exposure: Any = None) -> Any:
    further = {} if exposure is None else {"exposure": exposure}
    if method == "_deviation":
        return _on_worker(estimator).predict(X, return_std=True, **further)[1]
    return getattr(_on_worker(estimator), method)(X, **further)
