"""Errors on small sets of classes with the defaults: glass by ten folds, crabs by random splits of 80 and 120 rows.

Usage: python benches/small_classes.py QUORATE DATA glass|crabs [FLAG ...], where QUORATE is the built command and DATA the folder with
`fgl.csv.gz` and `crabs.csv.gz`. Crabs: 20 of each sex and colour train, as in Ripley's split; the colour is an input.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd


def folds(table):
    order = np.random.default_rng(0).permutation(len(table))
    for fold in range(10):
        held = np.zeros(len(table), bool)
        held[order[fold::10]] = True
        yield table[~held], table[held]


def splits(table):
    groups = [column for column in table.columns if table[column].nunique() == 2]
    for seed in range(10):
        train = table.groupby(groups).sample(20, random_state=seed)
        yield train, table.drop(train.index)


def main():
    command, folder, name, *flags = sys.argv[1:]
    path, pairs = {"glass": ("fgl.csv.gz", folds), "crabs": ("crabs.csv.gz", splits)}[name]
    errors, rows, loss = [], 0, 0.0
    for train, test in pairs(pd.read_csv(os.path.join(folder, path))):
        with tempfile.TemporaryDirectory() as place:
            files = [os.path.join(place, file) for file in ("train.csv", "test.csv", "model.quorate")]
            train.to_csv(files[0], index=False)
            test.to_csv(files[1], index=False)
            task = "binary" if train["label"].nunique() == 2 else "multiclass"
            fit = [command, "fit", files[0], "--target", "label", "--task", task, *flags, "-o", files[2], "-q"]
            subprocess.run(fit, check=True)
            told = subprocess.run([command, "evaluate", files[2], files[1], "--json"], check=True, capture_output=True)
        scores = json.loads(told.stdout)
        errors.append(scores["errors"])
        rows += scores["n"]
        loss += scores["n"] * scores["log_loss"]
        print(int(scores["errors"]), "of", scores["n"], flush=True)
    print(f"{name}: {sum(errors):.0f} of {rows}, {np.mean(errors):.2f} a split, {sum(errors) / rows:.2%}, log loss {loss / rows:.4f}")


if __name__ == "__main__":
    main()
