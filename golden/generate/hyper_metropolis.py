"""Posterior of hyperparameters by a long random walk: slow, and obvious enough to be believed.

The model is Gaussian-process regression with covariance v exp(-1/2 sum_d (x_d - x'_d)^2 / l_d^2) + s I on standardised rows.
Priors are those of Williams and Barber (1998): log v and log s normal with mean -3 and deviation 3; log l_d normal with mean
1.5 and deviation 1.5 (mean -3 and deviation 3 of the logarithm of 1 / l_d^2). Four chains of Metropolis steps with normal
proposals, whose covariance is that of the chain's own first part; no gradients are used.

    OMP_NUM_THREADS=1 python golden/generate/hyper_metropolis.py            # half a minute
"""

import csv
import datetime
import gzip
import hashlib
import json
import pathlib

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

GOLDEN = pathlib.Path(__file__).resolve().parent.parent
# Table, inputs, target, every so many rows.
SETS = [("mcycle", ["t"], "y", 2), ("boston", ["lstat", "rm"], "y", 6)]
CHAINS, WARMUP, DRAWS, SEED = 4, 4000, 20000, 0


def read(name, inputs, target, step):
    path = GOLDEN / "data" / f"{name}.csv.gz"
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))[::step]
    x = np.array([[float(row[column]) for column in inputs] for row in rows])
    y = np.array([float(row[target]) for row in rows])
    standard = lambda v: (v - v.mean(0)) / v.std(0)
    return standard(x), standard(y), hashlib.sha256(path.read_bytes()).hexdigest()


def log_posterior(squares, y, place):
    """Log evidence and log prior at (log v, log l_1, ..., log s)."""
    v, lengths, s = place[0], place[1:-1], place[-1]
    covariance = np.exp(v - 0.5 * np.tensordot(np.exp(-2.0 * lengths), squares, 1))
    covariance[np.diag_indices(len(y))] += np.exp(s)
    factor, failed = dpotrf(covariance, lower=1)
    if failed:
        return -np.inf
    white = dtrtrs(factor, y, lower=1)[0]
    evidence = -0.5 * white @ white - np.log(np.diag(factor)).sum() - 0.5 * len(y) * np.log(2.0 * np.pi)
    prior = -0.5 * (((v + 3.0) / 3.0) ** 2 + ((s + 3.0) / 3.0) ** 2 + (((lengths - 1.5) / 1.5) ** 2).sum())
    return evidence + prior


def walk(squares, y, random):
    size = len(squares) + 2
    here = np.concatenate([[0.0], np.zeros(len(squares)), [-1.5]]) + 0.3 * random.standard_normal(size)
    value = log_posterior(squares, y, here)
    root = 0.15 * np.eye(size)
    path, accepted = np.empty((WARMUP + DRAWS, size)), 0
    for step in range(WARMUP + DRAWS):
        if step in (WARMUP // 4, WARMUP // 2, WARMUP):
            seen = np.cov(path[step // 2 : step].T)
            root = 2.4 / np.sqrt(size) * np.linalg.cholesky(seen + 1e-6 * np.eye(size))
        there = here + root @ random.standard_normal(size)
        proposed = log_posterior(squares, y, there)
        if np.log(random.random()) < proposed - value:
            here, value = there, proposed
            accepted += step >= WARMUP
        path[step] = here
    return path[WARMUP:], accepted / DRAWS


def effective(chains):
    """Geyer's initial positive sequence, averaged over the chains."""
    total = 0.0
    for chain in chains:
        centred = chain - chain.mean()
        spectrum = np.abs(np.fft.rfft(centred, 2 * len(chain))) ** 2
        correlation = np.fft.irfft(spectrum)[: len(chain)]
        correlation /= correlation[0]
        pairs = correlation[0::2][: len(chain) // 2] + correlation[1::2][: len(chain) // 2]
        last = np.argmax(pairs <= 0.0) if (pairs <= 0.0).any() else len(pairs)
        total += len(chain) / max(2.0 * pairs[:last].sum() - 1.0, 1.0)
    return total


def main():
    for name, inputs, target, step in SETS:
        x, y, digest = read(name, inputs, target, step)
        squares = (x.T[:, :, None] - x.T[:, None, :]) ** 2
        walks = [walk(squares, y, np.random.default_rng([SEED, chain])) for chain in range(CHAINS)]
        paths = np.array([path for path, _ in walks])
        names = ["variance"] + [f"length_scale[{column}]" for column in inputs] + ["noise"]
        spread = paths.mean(1).std(0, ddof=1) / paths.std((0, 1))
        record = {
            "tool": "NumPy, random-walk Metropolis",
            "tool_version": np.__version__,
            "date": datetime.date.today().isoformat(),
            "generator": "golden/generate/hyper_metropolis.py",
            "seed": SEED,
            "data": f"{name}.csv.gz",
            "sha256": digest,
            "rows": f"every {step}th from the first",
            "kernel": "se(ard)",
            "chains": CHAINS,
            "draws": DRAWS,
            "accepted": [share for _, share in walks],
            "inputs": x.tolist(),
            "targets": y.tolist(),
            "parameters": [
                {
                    "name": label,
                    "mean": float(paths[:, :, i].mean()),
                    "deviation": float(paths[:, :, i].std()),
                    "effective_draws": float(effective(paths[:, :, i])),
                    "spread_of_chain_means": float(spread[i]),
                }
                for i, label in enumerate(names)
            ],
        }
        path = GOLDEN / "hyper" / f"{name}_metropolis.json"
        path.write_text(json.dumps(record) + "\n")
        print(name, json.dumps(record["parameters"]), flush=True)


if __name__ == "__main__":
    main()
