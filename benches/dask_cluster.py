"""A Dask cluster of two workers on this machine: kills, and the cost beside one process.

    python benches/dask_cluster.py kill [RUNS]              a worker is killed (SIGKILL) at a random moment of each run
    python benches/dask_cluster.py flights DIR [ROWS]       us_flights.parquet through landmarks, beside one process
    python benches/dask_cluster.py local TRAIN TEST [N]     two Parquet files with a column y: local answers through N cells of
                                                            space, beside one process

Prints whether results are the same to the last bit, processor and wall seconds, and the greatest memory of a worker.
"""

import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from quorate import GPRegressor
from quorate._dask import sample_of, shares_of, stacked
from quorate.dask import DaskGPRegressor

OPTIONS = {"kernel": "matern32(ard)", "landmarks": 25, "part_size": 60, "restarts": 0}


def cluster():
    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1")


def kill(runs):
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (6_000, 3))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + rng.normal(0, 0.1, 6_000)
    table = da.from_array(X, chunks=(300, 3)), da.from_array(y, chunks=300)
    expected, same, killed = None, 0, 0
    took = 1.0
    for run in range(runs + 1):
        with cluster() as workers, Client(workers) as client:
            stop = threading.Event()

            def strike(workers=workers, stop=stop):
                nonlocal killed
                if not stop.wait(random.Random(run).uniform(0, took)):
                    victim = random.Random(run).choice(list(workers.workers.values()))
                    os.kill(victim.pid, signal.SIGKILL)
                    killed += 1

            striker = threading.Thread(target=strike)
            if run:
                striker.start()
            started = time.perf_counter()
            found = DaskGPRegressor(client, sample_rows=500, **OPTIONS).fit(*table).model_.to_bytes()
            if run == 0:
                expected, took = found, time.perf_counter() - started
            else:
                stop.set()
                striker.join()
                same += found == expected
    print(f"{runs} runs, {killed} of them with a worker killed before the end: {same} gave the same bytes")


def flights(folder, rows):
    with tempfile.TemporaryDirectory() as folder_of_parts:
        compare(folder, rows, folder_of_parts)


def stored(folder, what, index, part):
    """A partition that a worker reads."""
    rows = part[0] if what == "X" else part[1]
    path = os.path.join(folder, f"{what}-{index}.npy")
    return da.from_delayed(dask.delayed(np.load)(path), shape=rows.shape, dtype=rows.dtype)


def compare(folder, rows, folder_of_parts):
    import pandas as pd

    frame = pd.read_parquet(os.path.join(folder, "us_flights.parquet")).iloc[:rows]
    target = "y" if "y" in frame else frame.columns[-1]
    X = frame.drop(columns=target).to_numpy(np.float64)
    y = frame[target].to_numpy(np.float64)
    size = 50_000
    options = {"kernel": "matern32(ard)", "landmarks": 300, "restarts": 0, "learn": "block"}
    parts = [(X[at : at + size], y[at : at + size], None, None) for at in range(0, len(X), size)]
    # One process, two threads: the same parts, one after the other.
    started, used = time.perf_counter(), processor()
    shares = shares_of([len(part[1]) for part in parts], 50_000)
    samples = [sample_of(part, share, index) for index, (part, share) in enumerate(zip(parts, shares, strict=True))]
    local = GPRegressor(mode="landmarks", method="committee", n_jobs=2, **options)
    local.prepare(stacked([s[0] for s in samples]), stacked([s[1] for s in samples]))
    prepared = processor() - used
    messages = {f"part-{i:06d}": local.part_message(p[0], p[1], part_name=f"part-{i:06d}") for i, p in enumerate(parts)}
    local.absorb(messages)
    alone = processor() - used
    print(f"one process: {len(X)} rows, {alone:.1f} processor seconds ({prepared:.1f} of them to prepare), {time.perf_counter() - started:.1f} s", flush=True)
    # As on a cluster: workers read their partitions from files, and nothing but sums travels.
    for index, part in enumerate(parts):
        for what, rows_of in zip(("X", "y"), part, strict=False):
            np.save(os.path.join(folder_of_parts, f"{what}-{index}.npy"), rows_of)
    with cluster() as workers, Client(workers) as client:
        client.run(worker_imports)
        before = client.run(worker_processor)
        started, used = time.perf_counter(), processor()
        table = [stored(folder_of_parts, what, index, part) for index, part in enumerate(parts) for what in ("X", "y")]
        model = DaskGPRegressor(client, **options).fit(da.concatenate(table[::2]), da.concatenate(table[1::2]))
        wall = time.perf_counter() - started
        after = client.run(worker_processor)
        spent = processor() - used + sum(after[key][0] - before[key][0] for key in after)
        memory = max(value[1] for value in after.values())
        # What client, scheduler and workers use when nobody asks them anything: it grows with the wait for processors that others have.
        time.sleep(10)
        idle = processor() - used + sum(value[0] - before[key][0] for key, value in client.run(worker_processor).items())
        idle = (idle - spent) / 10
    same = model.model_.to_bytes() == local.model_.to_bytes()
    print(f"two workers: {spent:.1f} processor seconds, {wall:.1f} s, {memory / 1e3:.0f} MB a worker at most; same bytes: {same}")
    print(f"idle, they use {idle:.3f} of a processor: {idle * wall:.1f} processor seconds of those")


def local(train, test, cells):
    """Answers from the nearest rows: cells of space on two workers, beside one process over all rows."""
    import pandas as pd

    train, test = pd.read_parquet(train), pd.read_parquet(test)
    X, y = train.drop(columns="y").to_numpy(np.float64), train["y"].to_numpy(np.float64)
    questions, seen = test.drop(columns="y").to_numpy(np.float64), test["y"].to_numpy(np.float64)
    started, used = time.perf_counter(), processor()
    alone = GPRegressor(method="committee", mode="local", n_jobs=2).fit(X, y)
    told(f"one process, {len(X)} rows", alone, questions, seen, y.std(), started, used)
    with cluster() as workers, Client(workers) as client:
        size = -(-len(X) // cells)
        table = da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)
        started, before = time.perf_counter(), client.run(worker_processor)
        model = DaskGPRegressor(client, mode="local").fit(*table)
        spent = sum(value[0] - before[key][0] for key, value in client.run(worker_processor).items())
        told(f"{cells} cells on two workers", model.to_local(), questions, seen, y.std(), started, processor() - spent)


def told(name, model, questions, seen, scale, started, used):
    """Prints what a model scores, in deviations of the target, and what it took to learn."""
    wall, spent = time.perf_counter() - started, processor() - used
    error = (seen - model.predict(questions)) / scale
    low, high = model.predict_quantiles(questions, (0.025, 0.975)).T
    covered = np.mean((seen >= low) & (seen <= high))
    print(f"{name}: RMSE {np.sqrt(np.mean(error**2)):.4f}, 95 % intervals hold {100 * covered:.1f} %, {spent:.1f} processor seconds, {wall:.1f} s", flush=True)


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def worker_imports():
    import quorate.dask  # noqa: F401


def worker_processor():
    return processor(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["kill", *rest]:
            kill(int(rest[0]) if rest else 20)
        case ["flights", folder, *rest]:
            flights(folder, int(rest[0]) if rest else 900_000)
        case ["local", train, test, *rest]:
            local(train, test, int(rest[0]) if rest else 4)
        case _:
            sys.exit(__doc__)
