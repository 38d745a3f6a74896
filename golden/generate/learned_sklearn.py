"""Learned hyperparameters by scikit-learn: the evidence and test scores that our own learning must reach.

A cell is one data set and one train/test split. For every cell scikit-learn's GaussianProcessRegressor learns
ConstantKernel * RBF(one length scale per input) + WhiteKernel with n_restarts_optimizer=10; inputs and target are
standardised by mean and population standard deviation of the training rows.

The evidence and its gradient are evaluated by `SameEvidence`, which overrides one method of the regressor: the same
function without the n x n x parameters tensor, several times faster. Every start checks it against scikit-learn's own
method, value and gradient, at the first and the last point of the search; the stored evidence is scikit-learn's own.
Search, starts and predictions are scikit-learn's. `--plain` leaves the method alone.

The unit of work is one start of the optimiser, so that a run can be stopped and continued and many cores can share a
cell. The eleven starts are those that scikit-learn itself takes: the kernel's initial values first, then ten draws,
log-uniform within the bounds, from RandomState(seed). `--whole` runs a cell in one `fit` call instead: the same result.

    python learned_sklearn.py --data DATA --output cells.jsonl --processes 16 --minutes 9
    python learned_sklearn.py --data DATA --output cells.jsonl --set yacht --split 0

Finished starts go to `<output>.starts`, finished cells to `<output>`, one JSON object a line; a later run skips what is
there. Needs numpy, scipy and scikit-learn only.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # one process a core; set before numpy loads its BLAS

import argparse
import csv
import datetime
import gzip
import hashlib
import json
import multiprocessing
import pathlib
import signal
import time
import warnings

import numpy as np
import scipy
import sklearn
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

SETS = ["mcycle", "yacht", "boston", "energy", "concrete", "wine_red"]  # cheapest first
SPLITS = 20
RESTARTS = 10
SEED = 0
PLAIN = False  # set by --plain before the processes start
HERE = pathlib.Path(__file__).resolve().parent
MCYCLE_SPLITS = HERE.parent / "learned" / "mcycle_splits.csv"


class OutOfTime(Exception):
    """Raised inside a start by the alarm at the deadline."""


def open_text(path):
    return gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="")


def read_cell(data, name, split):
    """Standardised training rows and test rows of one cell, with the scaling of the target."""
    path = data / f"{name}.csv.gz"
    with open_text(path) as file:
        rows = list(csv.reader(file))
    table = np.array(rows[1:], dtype=float)
    split_path = MCYCLE_SPLITS if name == "mcycle" else data / "splits" / f"{name}.csv.gz"
    with open_text(split_path) as file:
        test = sorted(int(r["test_row"]) for r in csv.DictReader(file) if int(r["split"]) == split)
    if not test:
        raise SystemExit(f"{split_path}: no split {split}")
    train = np.setdiff1d(np.arange(len(table)), test)
    mean, deviation = table[train].mean(axis=0), table[train].std(axis=0)
    deviation[deviation == 0.0] = 1.0  # a column that is constant in training carries nothing
    table = (table - mean) / deviation
    return {
        "columns": rows[0],
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "train": (table[train, :-1], table[train, -1]),
        "test": (table[test, :-1], table[test, -1]),
        "target_mean": mean[-1],
        "target_deviation": deviation[-1],
        "constant_columns": [rows[0][i] for i in range(len(rows[0])) if np.ptp(table[train, i]) == 0.0],
    }


def initial_kernel(width):
    return ConstantKernel(1.0, (1e-5, 1e5)) * RBF(np.ones(width), (1e-5, 1e5)) + WhiteKernel(0.1, (1e-8, 1e2))


def starting_kernel(width, start):
    """The kernel of start number `start`, as scikit-learn would draw it with random_state=SEED."""
    kernel = initial_kernel(width)
    if start == 0:
        return kernel
    generator = np.random.RandomState(SEED)
    for _ in range(start):
        theta = generator.uniform(kernel.bounds[:, 0], kernel.bounds[:, 1])
    return kernel.clone_with_theta(theta)


class SameEvidence(GaussianProcessRegressor):
    """ConstantKernel * RBF + WhiteKernel only: the gradient by sums over one n x n matrix, no tensor."""

    def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
        if theta is None or not eval_gradient:
            return super().log_marginal_likelihood(theta, eval_gradient, clone_kernel)
        if not clone_kernel:
            self.kernel_.theta = theta  # scikit-learn leaves its kernel at the point it evaluated
        variance, scales, noise = np.exp(theta[0]), np.exp(theta[1:-1]), np.exp(theta[-1])
        inputs, targets = self.X_train_ / scales, self.y_train_
        signal_part = squareform(pdist(inputs, "sqeuclidean"))
        signal_part *= -0.5
        np.exp(signal_part, out=signal_part)
        signal_part *= variance
        np.fill_diagonal(signal_part, variance)
        matrix = signal_part.copy()
        matrix[np.diag_indices_from(matrix)] += noise + self.alpha
        factor, info = dpotrf(matrix, lower=1, clean=1, overwrite_a=1)
        if info != 0:
            return -np.inf, np.zeros_like(theta)
        weights = cho_solve((factor, True), targets, check_finite=False)
        value = -0.5 * targets @ weights - np.log(np.diag(factor)).sum() - 0.5 * len(targets) * np.log(2 * np.pi)
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        inner = np.tril(inverse) + np.tril(inverse, -1).T
        inner *= -1.0
        inner += np.outer(weights, weights)
        noise_slope = 0.5 * noise * np.trace(inner)
        inner *= signal_part
        # differences, not x' G x: with a length scale of 1e-5 the products would cancel
        scale_slopes = [0.5 * np.vdot(inner, np.subtract.outer(x, x) ** 2) for x in inputs.T]
        return value, np.concatenate([[0.5 * inner.sum()], scale_slopes, [noise_slope]])


def check_same(regressor, theta):
    """Both evaluations agree at `theta`, value and gradient; returns scikit-learn's value.

    To rounding: the matrix has a condition number of up to rows * variance / noise, which starts drawn at random can
    bring to 1e14.
    """
    rounding = np.finfo(float).eps * len(regressor.y_train_) * np.exp(theta[0]) / (np.exp(theta[-1]) + regressor.alpha)
    value, gradient = regressor.log_marginal_likelihood(theta, eval_gradient=True)
    own_value, own_gradient = super(SameEvidence, regressor).log_marginal_likelihood(theta, eval_gradient=True)
    scale = max(1.0, abs(own_value), np.abs(own_gradient).max())
    if max(abs(value - own_value), np.abs(gradient - own_gradient).max()) > (1e-8 + rounding) * scale:
        raise RuntimeError(f"evidence {value} {gradient}, scikit-learn {own_value} {own_gradient} at {theta}")
    return own_value


def learn(kernel, inputs, targets, restarts=0):
    kind = GaussianProcessRegressor if PLAIN else SameEvidence
    regressor = kind(kernel=kernel, n_restarts_optimizer=restarts, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # values at a bound: expected with bounds this wide
        return regressor.fit(inputs, targets)


def run_start(task):
    """Learns from one start; None when the deadline comes first."""
    data, name, split, start, deadline = task
    remaining = deadline - time.time()
    if remaining <= 0:
        return None

    def stop(*_):
        raise OutOfTime

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, remaining)
    began = time.time()
    try:
        cell = read_cell(data, name, split)
        inputs, targets = cell["train"]
        kernel = starting_kernel(inputs.shape[1], start)
        regressor = learn(kernel, inputs, targets)
        value = float(regressor.log_marginal_likelihood_value_)
        if not PLAIN:
            check_same(regressor, kernel.theta)
            value = float(check_same(regressor, regressor.kernel_.theta))
    except OutOfTime:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return {
        "set": name,
        "split": split,
        "start": start,
        "log_evidence": value,
        "theta": regressor.kernel_.theta.tolist(),
        "seconds": round(time.time() - began, 2),
    }


def finish_cell(data, name, split, starts):
    """Scores of the best start, in the units of the table; starts in the order scikit-learn takes them."""
    starts = sorted(starts, key=lambda s: s["start"])
    best = starts[int(np.argmax([s["log_evidence"] for s in starts]))]
    cell = read_cell(data, name, split)
    inputs, targets = cell["train"]
    kernel = initial_kernel(inputs.shape[1]).clone_with_theta(np.array(best["theta"]))
    regressor = GaussianProcessRegressor(kernel=kernel, optimizer=None).fit(inputs, targets)
    mean, deviation = regressor.predict(cell["test"][0], return_std=True)  # the white noise is part of the kernel
    scale = cell["target_deviation"]
    residual, deviation = (cell["test"][1] - mean) * scale, deviation * scale
    nlpd = 0.5 * np.log(2 * np.pi * deviation**2) + 0.5 * (residual / deviation) ** 2
    theta = np.exp(np.array(best["theta"]))
    return {
        "tool": "scikit-learn GaussianProcessRegressor",
        "tool_version": sklearn.__version__,
        "numpy_version": np.__version__,
        "scipy_version": scipy.__version__,
        "date": datetime.date.today().isoformat(),
        "generator": "golden/generate/learned_sklearn.py",
        "seed": SEED,
        "data": f"{name}.csv.gz",
        "sha256": cell["sha256"],
        "set": name,
        "split": split,
        "train_rows": len(targets),
        "test_rows": len(residual),
        "inputs": cell["columns"][:-1],
        "target": cell["columns"][-1],
        "constant_columns": cell["constant_columns"],
        "target_mean": float(cell["target_mean"]),
        "target_deviation": float(scale),
        "log_evidence": best["log_evidence"],
        "best_start": best["start"],
        "log_evidence_of_starts": [s["log_evidence"] for s in starts],
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "nlpd": float(np.mean(nlpd)),
        "variance": float(theta[0]),
        "length_scales": theta[1:-1].tolist(),
        "noise_variance": float(theta[-1]),
        "seconds": round(sum(s["seconds"] for s in starts), 2),
    }


def evidence_at(data, name, split, theta):
    """Log evidence of a cell at given log hyperparameters, nothing learned."""
    inputs, targets = read_cell(data, name, split)["train"]
    kernel = initial_kernel(inputs.shape[1]).clone_with_theta(theta)
    return GaussianProcessRegressor(kernel, optimizer=None).fit(inputs, targets).log_marginal_likelihood(theta)


def read_lines(path):
    if not path.exists():
        return []
    lines = []
    for line in path.read_text().splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            pass  # a line cut off when an earlier run was killed: that work is done again
    return lines


def append_line(path, record):
    cut_off = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with open(path, "a") as file:
        file.write(("\n" if cut_off else "") + json.dumps(record) + "\n")


def run_whole(arguments, name, split):
    """One plain `fit` with ten restarts; prints what must equal the cell assembled from starts."""
    cell = read_cell(arguments.data, name, split)
    inputs, targets = cell["train"]
    regressor = learn(initial_kernel(inputs.shape[1]), inputs, targets, RESTARTS)
    print(json.dumps({"set": name, "split": split, "log_evidence": float(regressor.log_marginal_likelihood_value_)}))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("QUORATE_DATA", "../shared/data")))
    parser.add_argument("--output", type=pathlib.Path, default=HERE.parent / "learned" / "sklearn.jsonl")
    parser.add_argument("--set", action="append", choices=SETS, help="only this set (may be repeated)")
    parser.add_argument("--split", action="append", type=int, help="only this split (may be repeated)")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop cleanly after this long")
    parser.add_argument("--plain", action="store_true", help="scikit-learn's own evaluation, several times slower")
    parser.add_argument("--whole", action="store_true", help="one fit call per cell, printed and not stored")
    return parser.parse_args()


def main():
    global PLAIN
    arguments = parse_arguments()
    PLAIN = arguments.plain
    deadline = min(time.time() + 60 * arguments.minutes, time.time() + 1e8)
    names = [s for s in SETS if arguments.set is None or s in arguments.set]
    splits = arguments.split if arguments.split is not None else list(range(SPLITS))
    cells = [(name, split) for split in splits for name in names]  # low splits of every set first
    if arguments.whole:
        for name, split in cells:
            run_whole(arguments, name, split)
        return

    starts_path = arguments.output.with_name(arguments.output.name + ".starts")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    done_cells = {(c["set"], c["split"]) for c in read_lines(arguments.output)}
    starts = {}
    for record in read_lines(starts_path):
        starts.setdefault((record["set"], record["split"]), {})[record["start"]] = record

    def close_if_complete(cell):
        if cell not in done_cells and len(starts.get(cell, {})) == RESTARTS + 1:
            record = finish_cell(arguments.data, *cell, list(starts[cell].values()))
            append_line(arguments.output, record)
            done_cells.add(cell)
            print(f"{cell[0]} {cell[1]}: evidence {record['log_evidence']:.4f} rmse {record['rmse']:.4f} "
                  f"nlpd {record['nlpd']:.4f} in {record['seconds']:.0f} s", flush=True)

    for cell in cells:
        close_if_complete(cell)
    tasks = [
        (arguments.data, *cell, start, deadline)
        for cell in cells
        if cell not in done_cells
        for start in range(RESTARTS + 1)
        if start not in starts.get(cell, {})
    ]
    print(f"{len(cells)} cells, {len(tasks)} starts to run", flush=True)
    lost = 0
    with multiprocessing.Pool(arguments.processes) as pool:
        for result in pool.imap_unordered(run_start, tasks):
            if result is None:
                lost += 1
                continue
            append_line(starts_path, result)
            cell = (result["set"], result["split"])
            starts.setdefault(cell, {})[result["start"]] = result
            close_if_complete(cell)
    missing = [cell for cell in cells if cell not in done_cells]
    print(f"{len(cells) - len(missing)} of {len(cells)} cells finished, {lost} starts left for a later run", flush=True)


if __name__ == "__main__":
    main()
