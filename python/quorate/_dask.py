"""What runs on the workers of a Dask cluster, and how it is sent there; the estimators are in `quorate.dask`."""

from __future__ import annotations

from operator import getitem
from typing import Any

import dask
import numpy as np
from dask import delayed
from distributed import Client, as_completed, get_worker
from sklearn.base import clone

from quorate import _rounds
from quorate._allocator import roomy
from quorate._cells import Cells, steepness
from quorate._counts import LandmarkCountRegressor
from quorate._progress import Progress, watching


def partitions(X: Any, *columns: Any) -> list[tuple[Any, ...]]:
    """Rows of all collections, partition by partition; None stays None."""
    pieces = [pieces_of(X)]
    for column in columns:
        pieces.append([None] * len(pieces[0]) if column is None else pieces_of(column))
        if len(pieces[-1]) != len(pieces[0]):
            raise ValueError(
                f"inputs have {len(pieces[0])} partitions and a column has {len(pieces[-1])}: give them the same"
            )
    return list(zip(*pieces, strict=True))


def pieces_of(collection: Any) -> list[Any]:
    if not dask.is_dask_collection(collection):
        return [collection]
    if hasattr(collection, "divisions"):
        return list(collection.to_delayed())
    if collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def hold(X: Any, y: Any, weight: Any, noise: Any) -> tuple[Any, ...]:
    return X, y, weight, noise


def count_rows(part: tuple[Any, ...]) -> int:
    return len(part[1])


def shares_of(counts: list[int], wanted: int) -> list[int]:
    """Rows of each partition in a sample of so many: in proportion, whatever the order of arrival."""
    total = sum(counts)
    if total <= wanted:
        return list(counts)
    ends = np.cumsum(counts, dtype=np.int64) * wanted // total
    return np.diff(ends, prepend=0).tolist()


def sample_of(part: tuple[Any, ...], count: int, index: int) -> tuple[Any, ...]:
    rows = len(part[1])
    if count >= rows:
        return part
    chosen = np.sort(np.random.default_rng([0x71756F72, index]).choice(rows, count, replace=False))
    return tuple(None if column is None else rows_of(column, chosen) for column in part)


def rows_of(table: Any, chosen: np.ndarray) -> Any:
    return table.iloc[chosen] if hasattr(table, "iloc") else table[chosen]


def stacked(columns: list[Any]) -> Any:
    if columns[0] is None:
        return None
    if hasattr(columns[0], "iloc"):
        import pandas as pd

        return pd.concat(columns, ignore_index=True)
    return np.concatenate(columns)


@roomy
def cut_space(samples: list[tuple[Any, ...]], count: int) -> Cells:
    X, y = (stacked([sample[place] for sample in samples]) for place in range(2))
    return Cells.cut(X, steepness(X, y), count)


def fitted_cells(client: Client, estimator: Any, cells: Cells, held: list[Any]) -> list[Any]:
    """A local model of each cell, where its rows are."""
    spilled = [client.submit(spill, cells, part) for part in held]
    # Only what belongs to a cell travels to it.
    pieces = [[client.submit(getitem, part, cell) for part in spilled] for cell in range(cells.count)]
    return [client.submit(fit_cell, estimator, own) for own in pieces]


def spill(cells: Cells, part: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    members = cells.members(part[0])
    return [tuple(None if column is None else rows_of(column, rows) for column in part) for rows in members]


@roomy
def fit_cell(estimator: Any, pieces: list[tuple[Any, ...]]) -> Any:
    X, y, weight, noise = (stacked([piece[place] for piece in pieces]) for place in range(4))
    return on_worker(clone(estimator)).fit(X, y, weight, noise=noise)


def asked_of_cells(cells: Cells, models: list[Any], method: str, X: Any) -> Any:
    """Answers of the cells that the rows of a partition fall into, in the order of the rows."""
    where = delayed(cells.of)(X)
    routed = delayed(route)(X, where, cells.count)
    answers = [delayed(ask_cell)(model, method, routed[cell]) for cell, model in enumerate(models)]
    return delayed(in_order)(where, answers)


def route(X: Any, where: np.ndarray, count: int) -> list[Any]:
    return [rows_of(X, np.flatnonzero(where == cell)) for cell in range(count)]


@roomy
def ask_cell(estimator: Any, method: str, X: Any) -> np.ndarray:
    return ask_model(estimator, method, X) if len(X) else np.empty(0)


def in_order(where: np.ndarray, answers: list[np.ndarray]) -> np.ndarray:
    found = np.empty(len(where))
    for cell, own in enumerate(answers):
        found[where == cell] = own
    return found


def largest_machine(client: Client) -> tuple[list[str], int]:
    """The workers of the machine with most threads, and how many these are together."""
    machines: dict[str, list[tuple[str, int]]] = {}
    for address, worker in client.scheduler_info()["workers"].items():
        machines.setdefault(worker["host"], []).append((address, worker["nthreads"]))
    # The first of the names where several are as large, so that runs are alike.
    workers = max(sorted(machines.items()), key=lambda own: sum(n for _, n in own[1]), default=("", []))[1]
    return [address for address, _ in workers], sum(threads for _, threads in workers)


@roomy
def prepare(estimator: Any, samples: list[tuple[Any, ...]], threads: int) -> Any:
    X, y, weight, further = (stacked([sample[place] for sample in samples]) for place in range(4))
    role = "exposure" if isinstance(estimator, LandmarkCountRegressor) else "noise"
    asked = estimator.n_jobs
    if asked is None and threads:
        # The other workers wait for what is learned here: their threads are free meanwhile.
        estimator.n_jobs = threads
    estimator.prepare(X, y, weight, **{role: further})
    estimator.n_jobs = asked
    return estimator


def on_worker(estimator: Any) -> Any:
    """As many threads as the worker was given, unless the estimator says otherwise."""
    if estimator.n_jobs is None:
        try:
            estimator.n_jobs = get_worker().state.nthreads
        except ValueError:  # not on a worker
            pass
    return estimator


@roomy
def message_of(estimator: Any, part: tuple[Any, ...], name: str) -> bytes:
    X, y, weight, noise = part
    return on_worker(estimator).part_message(X, y, weight, noise=noise, part_name=name)


@roomy
def working(estimator: Any, part: tuple[Any, ...], name: str) -> bytes:
    return on_worker(estimator).working_message(*part, part_name=name)


def gathered(client: Client, asked: list[Any], stage: str, progress: Progress) -> list[Any]:
    """The results of futures, with word of each that is done."""
    with watching(progress) as tell:
        if tell:
            tell(stage, 0, len(asked))
            for done, _ in enumerate(as_completed(asked), start=1):
                tell(stage, done, len(asked))
    return client.gather(asked)


def summed(client: Client, estimator: Any, held: list[Any], names: list[str], progress: Progress = None) -> Any:
    shared = client.scatter(estimator, broadcast=True)
    sent = [client.submit(message_of, shared, part, name) for part, name in zip(held, names, strict=True)]
    told = gathered(client, sent, "absorbing parts", progress)
    return estimator.absorb(dict(zip(names, told, strict=True)))


@roomy
def share_of(estimator: Any, total: Any, part: tuple[Any, ...], name: str) -> bytes:
    return _rounds.share(on_worker(estimator), total, part, name)


def learned_together(client: Client, estimator: Any, held: list[Any], names: list[str], rounds: int) -> Any:
    """Steps of the hyperparameters by the committee evidence of all partitions, two passes for each evaluation."""

    def shares(emptied: Any, total: Any) -> list[tuple[str, bytes]]:
        sent, sum_of_all = client.scatter([emptied, total], broadcast=True)
        asked = [client.submit(share_of, sent, sum_of_all, part, name) for part, name in zip(held, names, strict=True)]
        return list(zip(names, client.gather(asked), strict=True))

    return _rounds.learned(estimator, rounds, lambda emptied: summed(client, emptied, held, names), shares)


def by_parts(X: Any, beside: Any, asked: Any, method: str, meta: np.ndarray) -> Any:
    """A dask array of answers, one block for each partition."""
    import dask.array as da

    pieces = partitions(X, beside)
    rows = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(pieces)
    answers = [
        da.from_delayed(delayed(ask_model)(asked, method, *piece), shape=(count, *meta.shape[1:]), dtype=meta.dtype)
        for piece, count in zip(pieces, rows, strict=True)
    ]
    return da.concatenate(answers, allow_unknown_chunksizes=True)


@roomy
def ask_model(estimator: Any, method: str, X: Any, exposure: Any = None) -> Any:
    further = {} if exposure is None else {"exposure": exposure}
    if method == "_deviation":
        return on_worker(estimator).predict(X, return_std=True, **further)[1]
    return getattr(on_worker(estimator), method)(X, **further)
