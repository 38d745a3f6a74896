"""What noise costs: eight sites of scatterometry rows, parts without and with noise.

    python benches/privacy.py DIR        folder with scatterometry.parquet

NRMSE and coverage of 95 % intervals on 5,000 test rows, for the landmarks and epsilons below, delta 1e-5 at each site.
"""

import os
import sys

import numpy as np
import pandas as pd

from quorate import GPRegressor
from quorate.privacy import GaussianNoise, Ledger

ROWS = [12_126, 16_210, 37_482, 15_269, 3_365, 3_233, 1_046, 149]


def main(folder):
    table = pd.read_parquet(os.path.join(folder, "scatterometry.parquet"))
    X, y = table.drop(columns="y").to_numpy(), table["y"].to_numpy()
    order = np.random.default_rng(2007).permutation(90_000)
    test = 90_000 + np.random.default_rng(1).permutation(90_000)[:5_000]
    # Scaling, hyperparameters and landmarks from rows that may be seen.
    public, order = order[:1_000], order[1_000:]
    ends = np.cumsum(ROWS)
    sites = [order[end - count : end] for end, count in zip(ends, ROWS, strict=True)]
    print("| landmarks | noise | NRMSE | coverage of 95 % |\n|---:|---|---:|---:|")
    for landmarks in (10, 30):
        empty = GPRegressor("se(ard)", landmarks=landmarks, restarts=0).prepare(X[public], y[public])

        def judge(what, messages, empty=empty, landmarks=landmarks):
            model = GPRegressor._of_model(empty.model_).absorb(messages)
            mean, std = model.predict(X[test], return_std=True)
            nrmse = np.sqrt(np.mean((mean - y[test]) ** 2)) / y[test].std()
            covered = np.mean(np.abs(y[test] - mean) < 1.959964 * std)
            print(f"| {landmarks} | {what} | {nrmse:.3f} | {100 * covered:.1f} % |", flush=True)

        judge("none, parts as usual", [empty.part_message(X[s], y[s], part_name=f"s{i}") for i, s in enumerate(sites)])
        for epsilon in (1000.0, 10.0, 3.0, 1.0):
            noise = GaussianNoise(epsilon, 1e-5)
            sent = [
                noise.message(empty, X[s], y[s], part_name=f"s{i}", ledger=Ledger(1e-5))[0] for i, s in enumerate(sites)
            ]
            judge(f"epsilon {epsilon:g}", sent)


if __name__ == "__main__":
    main(sys.argv[1])
