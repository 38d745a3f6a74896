"""Committees on a Dask cluster of two workers on this machine."""

import os
import pickle
import signal

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs quorate[dask]")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

from quorate import GPClassifier, GPRegressor  # noqa: E402
from quorate._cells import CellRegressor, Cells  # noqa: E402
from quorate._counts import LandmarkCountRegressor  # noqa: E402
from quorate._dask import sample_of, shares_of, stacked  # noqa: E402
from quorate.dask import DaskGPClassifier, DaskGPCountRegressor, DaskGPRegressor  # noqa: E402

OPTIONS = {"kernel": "se(ard)", "landmarks": 25, "part_size": 60, "restarts": 0}


# Samples are smaller than tables, and that is remarked upon.
pytestmark = pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")


def cluster():
    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1")


@pytest.fixture(scope="module")
def client():
    with cluster() as workers, Client(workers) as client:
        yield client


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(3)
    X = random.uniform(-2, 2, (600, 3))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + random.normal(0, 0.1, 600)


def chunked(X, y, size=150):
    return da.from_array(X, chunks=(size, 2)), da.from_array(y, chunks=size)


def by_hand(local, parts, sample_rows):
    """The same partition on one machine: prepare, one copy for each part, merge."""
    shares = shares_of([len(y) for _, y in parts], sample_rows)
    samples = [sample_of((X, y, None, None), share, i) for i, ((X, y), share) in enumerate(zip(parts, shares, strict=True))]
    empty = local.prepare(stacked([s[0] for s in samples]), stacked([s[1] for s in samples]))
    fitted = [
        pickle.loads(pickle.dumps(empty)).partial_fit(X, y, part_name=f"part-{index:06d}")
        for index, (X, y) in enumerate(parts)
    ]
    return fitted[0].merge(*fitted[1:])


def test_a_cluster_gives_the_bytes_of_one_machine(client, rows):
    X, y = rows
    model = DaskGPRegressor(client, sample_rows=200, **OPTIONS).fit(*chunked(X, y))
    parts = [(X[at : at + 150], y[at : at + 150]) for at in range(0, 600, 150)]
    alone = by_hand(GPRegressor(mode="landmarks", method="committee", **OPTIONS), parts, 200)
    assert model.model_.to_bytes() == alone.model_.to_bytes()
    lazy = model.predict(da.from_array(X, chunks=(200, 3)))
    assert isinstance(lazy, da.Array) and lazy.shape == (600,)
    assert np.array_equal(lazy.compute(), alone.predict(X))
    mean, std = model.predict(da.from_array(X[:50], chunks=(25, 3)), return_std=True)
    assert np.array_equal(std.compute(), alone.predict(X[:50], return_std=True)[1])
    assert np.array_equal(model.to_local().predict(X[:5]), mean.compute()[:5])


def test_a_killed_worker_changes_nothing(rows):
    X, y = rows
    parts = [(X[at : at + 30], y[at : at + 30]) for at in range(0, 600, 30)]
    alone = by_hand(GPRegressor(mode="landmarks", method="committee", **OPTIONS), parts, 200)
    with cluster() as workers, Client(workers) as client:
        process = next(iter(workers.workers.values())).pid
        # After the first part is held, before all are summed up.
        client.loop.call_later(0.15, os.kill, process, signal.SIGKILL)
        model = DaskGPRegressor(client, sample_rows=200, **OPTIONS).fit(*chunked(X, y, 30))
    assert model.model_.to_bytes() == alone.model_.to_bytes()


def test_rounds_climb_the_evidence_of_all_rows(client, rows):
    X, y = rows
    options = {**OPTIONS, "client": client, "sample_rows": 60}
    before = DaskGPRegressor(**options).fit(*chunked(X, y)).to_local()
    after = DaskGPRegressor(**options, rounds=4).fit(*chunked(X, y)).to_local()
    assert after.log_marginal_likelihood_value_ > before.log_marginal_likelihood_value_


def test_classes_and_tables(client, rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(site=np.where(X[:, 2] > 0, "north", "south"))
    label = pd.Series(np.where(y > 0, "up", "down"), name="label")
    table = dd.from_pandas(frame.assign(label=label), npartitions=3)
    model = DaskGPClassifier(client, **{**OPTIONS, "kernel": "se(ard)*category"})
    model.fit(table[["a", "b", "c", "site"]], table["label"])
    assert model.classes_.tolist() == ["down", "up"]
    shares = model.predict_proba(table[["a", "b", "c", "site"]]).compute()
    assert shares.shape == (600, 2)
    local = model.to_local()
    assert isinstance(local, GPClassifier)
    assert np.array_equal(shares, local.predict_proba(frame))
    found = model.predict(table[["a", "b", "c", "site"]]).compute()
    assert (found == label.to_numpy()).mean() > 0.8


def test_counts_give_the_bytes_of_one_machine(client, rows):
    X, latent = rows
    random = np.random.default_rng(5)
    exposure = random.uniform(0.5, 2.0, 600)
    y = random.poisson(exposure * np.exp(1 + latent)).astype(float)
    options = {"kernel": "se(ard)", "likelihood": "poisson", "landmarks": 25, "part_size": 60, "restarts": 0}
    table = *chunked(X, y), None
    model = DaskGPCountRegressor(client, sample_rows=300, **options).fit(*table, exposure=da.from_array(exposure, chunks=150))
    parts = [(X[at : at + 150], y[at : at + 150], None, exposure[at : at + 150]) for at in range(0, 600, 150)]
    shares = shares_of([150] * 4, 300)
    samples = [sample_of(part, share, index) for index, (part, share) in enumerate(zip(parts, shares, strict=True))]
    alone = LandmarkCountRegressor(**options, sample_rows=300)
    alone.prepare(stacked([s[0] for s in samples]), stacked([s[1] for s in samples]), exposure=stacked([s[3] for s in samples]))
    names = [f"part-{index:06d}" for index in range(4)]
    alone.settle(
        lambda: {name: alone.working_message(*part, part_name=name) for name, part in zip(names, parts, strict=True)}
    )
    assert model.model_.to_bytes() == alone.model_.to_bytes() and 3 < alone.rounds_ < 20
    lazy = model.predict(da.from_array(X, chunks=(150, 3)), exposure=da.from_array(exposure, chunks=150))
    assert np.array_equal(lazy.compute(), alone.predict(X, exposure=exposure))
    mean, std = model.predict(X[:40], return_std=True)
    assert np.array_equal(std, alone.predict(X[:40], return_std=True)[1])
    assert np.corrcoef(np.log(mean), latent[:40])[0, 1] > 0.9


def test_wrong_use_is_told_at_once(client, rows):
    X, y = rows
    with pytest.raises(TypeError):
        DaskGPRegressor(client, kernels="se")
    with pytest.raises(ValueError, match="partitions"):
        DaskGPRegressor(client, **OPTIONS).fit(da.from_array(X, chunks=(150, 3)), da.from_array(y, chunks=300))
    with pytest.raises(Exception, match="not fitted"):
        DaskGPRegressor(client, **OPTIONS).predict(X)
    assert DaskGPRegressor(client, **OPTIONS).get_params()["landmarks"] == 25


def wave(count):
    random = np.random.default_rng(11)
    X = random.uniform(-3, 3, (count, 2))
    return X, np.sin(3 * X[:, 0]) + 0.2 * X[:, 1] + random.normal(0, 0.05, count)


CELLS = {"mode": "local", "kernel": "se(length_scale=0.4)", "learn": "none", "neighbours": 30}


def test_cells_of_space_give_the_bytes_of_one_machine(client):
    X, y = wave(2_400)
    model = DaskGPRegressor(client, sample_rows=800, **CELLS).fit(*chunked(X, y, 600))
    local = model.to_local()
    assert local.cells.count == 4 and len(model.scores_) == 4
    # Along the first input the target changes: that is what is cut.
    assert local.cells.root.column == 0
    for rows, own in zip(local.cells.members(X), local.models, strict=True):
        alone = GPRegressor(method="committee", **CELLS).fit(X[rows], y[rows])
        assert own.model_.to_bytes() == alone.model_.to_bytes()
    ask, truth = wave(500)[0], np.sin(3 * wave(500)[0][:, 0]) + 0.2 * wave(500)[0][:, 1]
    mean, std = model.predict(da.from_array(ask, chunks=(200, 2)), return_std=True)
    assert isinstance(mean, da.Array) and mean.shape == (500,)
    # Questions near each other share their neighbours: what is asked together is a partition.
    parts = [local.predict(ask[at : at + 200], return_std=True) for at in range(0, 500, 200)]
    expected = [np.concatenate(own) for own in zip(*parts, strict=True)]
    assert np.array_equal(mean.compute(), expected[0]) and np.array_equal(std.compute(), expected[1])
    assert np.array_equal(model.predict(ask), local.predict(ask))
    low, high = local.predict_quantiles(ask, (0.05, 0.95)).T
    assert np.all((low < local.predict(ask)) & (local.predict(ask) < high))
    assert np.sqrt(np.mean((expected[0] - truth) ** 2)) < 0.1


def test_cells_are_written_and_read(client, tmp_path):
    X, y = wave(900)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 1] > 0, "u", "v")})
    table = dd.from_pandas(frame, npartitions=2), dd.from_pandas(pd.Series(y), npartitions=2)
    model = DaskGPRegressor(client, sample_rows=400, **{**CELLS, "kernel": "se(length_scale=0.4)+category[c]"}).fit(*table)
    local = model.to_local()
    local.save(tmp_path / "cells")
    again = CellRegressor.load(tmp_path / "cells")
    assert np.array_equal(again.predict(frame), local.predict(frame))
    halves = [local.predict(part.compute()) for part in table[0].partitions]
    assert np.array_equal(np.asarray(model.predict(table[0])), np.concatenate(halves))
    with pytest.raises(ValueError, match="each cell learns by itself"):
        DaskGPRegressor(client, rounds=2, **CELLS).fit(*table)


def test_progress_is_told_where_the_fit_was_asked_for(client, rows):
    told = []
    DaskGPRegressor(client, progress=lambda *word: told.append(word), **OPTIONS).fit(*chunked(*rows))
    assert told[0] == ("learning from a sample", 0, 1)
    assert [word for word in told if word[0] == "absorbing parts"] == [("absorbing parts", k, 4) for k in range(5)]


def test_cuts_divide_questions_and_share_the_rows_beside_them():
    X = np.column_stack([np.linspace(0, 1, 1_000), np.zeros(1_000), np.tile([0.0, 1.0], 500)])
    cells = Cells.cut(X, np.array([1.0, 1.0, 0.1]), 4)
    where = cells.of(X)
    assert np.bincount(where).tolist() == [250] * 4
    sizes = [len(rows) for rows in cells.members(X)]
    # Two cuts, each with a twentieth of its rows beyond it: 25 beyond the one nearby, 50 beyond the one in the middle.
    assert all(270 <= size <= 330 for size in sizes), sizes
    assert all(set(np.flatnonzero(where == cell)) <= set(rows) for cell, rows in enumerate(cells.members(X)))
    # Nothing to cut: one cell, however many are wanted; what is missing falls into one.
    assert Cells.cut(np.ones((50, 2)), np.ones(2), 8).count == 1
    assert cells.of(np.array([[np.nan, 0.0, 0.0]])).tolist() == [3]
    assert Cells.from_dict(cells.to_dict()).of(X).tolist() == where.tolist()
