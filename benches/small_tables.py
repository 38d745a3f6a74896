"""Regression from few rows with the defaults: 40, 100 and 200 random rows of small tables, four times each, scored on up to 1,000 others.

Usage: python benches/small_tables.py QUORATE [QUORATE ...] DATA, where QUORATE is a built command (several are put beside each other) and DATA the folder with the tables. Prints the mean
standardised NLPD and RMSE, and the coverage of 95 % intervals.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

TABLES = ("boston", "yacht", "energy", "concrete", "wine_red", "abalone", "power_plant")


def scores(command, train, test):
    with tempfile.TemporaryDirectory() as place:
        files = [os.path.join(place, name) for name in ("train.csv", "test.csv", "model.quorate")]
        train.to_csv(files[0], index=False)
        test.to_csv(files[1], index=False)
        subprocess.run([command, "fit", files[0], "--target", "y", "--task", "regression", "-o", files[2], "-q"], check=True)
        told = subprocess.run([command, "evaluate", files[2], files[1], "--json"], check=True, capture_output=True)
    found = json.loads(told.stdout)
    return [found[name] for name in ("nlpd_standardised", "rmse_standardised", "coverage_95")]


def main():
    *commands, folder = sys.argv[1:]
    for name in TABLES:
        table = pd.read_csv(os.path.join(folder, f"{name}.csv.gz"))
        for rows in (40, 100, 200):
            found = {command: [] for command in commands}
            for seed in range(4):
                order = np.random.default_rng(seed).permutation(len(table))
                train, test = table.iloc[order[:rows]], table.iloc[order[rows : rows + 1000]]
                for command in commands:
                    found[command].append(scores(command, train, test))
            each = " | ".join("NLPD {:.3f}, RMSE {:.3f}, {:.1%}".format(*np.mean(own, axis=0)) for own in found.values())
            print(f"{name}, {rows} rows: {each}", flush=True)


if __name__ == "__main__":
    main()
