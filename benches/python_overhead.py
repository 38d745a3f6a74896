"""What Python adds: fit and predict on kin40k through the package and through the Rust library, in processor seconds.

    cargo build --release -p quorate --example fit_predict
    python benches/python_overhead.py target/release/examples/fit_predict [landmarks|local|exact]

Runs both in turn, five times each, every run in a process of its own, and prints medians as JSON. Needs the package and
pyarrow, and kin40k.parquet in the folder named by QUORATE_DATA.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

REPEATS = 5
WAYS = {
    "landmarks": ("matern32(ard)", "committee", "landmarks", 36_000),
    "local": ("matern32(ard)", "committee", "local", 36_000),
    "exact": ("matern32(ard)", "exact", "auto", 1_500),
}


def table():
    return Path(os.environ.get("QUORATE_DATA", "../shared/data")) / "kin40k.parquet"


def one_run(way):
    """One fit and one prediction here; prints their processor seconds."""
    import numpy as np
    import pyarrow.parquet

    from quorate import GPRegressor

    kernel, method, mode, rows = WAYS[way]
    columns = pyarrow.parquet.read_table(table())
    values = np.column_stack([column.to_numpy() for column in columns.columns])
    X, y = values[:, :-1], values[:, -1]
    model = GPRegressor(kernel, method=method, mode=mode, restarts=0)
    began = time.process_time()
    model.fit(X[:rows], y[:rows])
    fitted = time.process_time()
    mean, std = model.predict(X[rows:], return_std=True)
    ended = time.process_time()
    # Term after term, as the library adds them up.
    total = sum(mean.tolist() + std.tolist())
    print(json.dumps({"fit": fitted - began, "predict": ended - fitted, "sum": total}))


def measure(command):
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    if sys.argv[1] == "--run":
        return one_run(sys.argv[2])
    program, way = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "landmarks"
    kernel, method, mode, rows = WAYS[way]
    runs = {"library": [], "python": []}
    for _ in range(REPEATS):
        runs["library"].append(measure([program, str(table()), kernel, method, mode, str(rows)]))
        runs["python"].append(measure([sys.executable, __file__, "--run", way]))
    sums = {run["sum"] for list_ in runs.values() for run in list_}
    for what in ("fit", "predict"):
        medians = {who: statistics.median(run[what] for run in list_) for who, list_ in runs.items()}
        print(json.dumps({"way": way, "what": what, **medians, "ratio": medians["python"] / medians["library"]}))
    print(json.dumps({"same predictions": len(sums) == 1}))


if __name__ == "__main__":
    main()
