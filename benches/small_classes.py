"""Errors on small sets of classes with the defaults: glass by ten folds, crabs by thirty random splits of 80 and 120 rows, others by ten random halves.

Usage: python benches/small_classes.py QUORATE DATA glass|crabs|SET [FLAG ...], where QUORATE is the built command and DATA the folder with
`fgl.csv.gz`, `crabs.csv.gz` and `SET.csv.gz`. Crabs: 20 of each sex and colour train, as in Ripley's split; the colour is an input. With `peers` in place of
QUORATE other software answers on the very same splits: scikit-learn's logistic regression, linear discriminant and `GaussianProcessClassifier`,
with the measurements as they are and, for crabs, with their logarithms, in which the sexes differ linearly; `crabs-but-one` leaves out one crab after the other
instead, so that 199 are learned from; `crabs-logarithms` gives logarithms of the measurements; `crabs-of-ROWS` learns from ROWS crabs, a quarter of
each sex and colour, in two hundred random splits, and `crabs-of-ROWS-from-SEED` in two hundred others. A split on which scikit-learn's factorisation fails does not count for it.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd


SPLITS = 30


def folds(table):
    order = np.random.default_rng(0).permutation(len(table))
    for fold in range(10):
        held = np.zeros(len(table), bool)
        held[order[fold::10]] = True
        yield table[~held], table[held]


def splits(table, each=20, count=SPLITS, first=0):
    groups = [column for column in table.columns if table[column].nunique() == 2]
    for seed in range(first, first + count):
        train = table.groupby(groups).sample(each, random_state=seed)
        yield train, table.drop(train.index)


def splits_of_logarithms(table):
    measured = [column for column in table.columns if table[column].nunique() > 2]
    table[measured] = np.log(table[measured])
    yield from splits(table)


def halves(table):
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(table))
        yield table.iloc[order[: len(table) // 2]], table.iloc[order[len(table) // 2 :]]


def but_one(table):
    for row in table.index:
        yield table.drop(row), table.loc[[row]]


def ours(command, flags, train, test):
    """Errors and log loss of the command."""
    with tempfile.TemporaryDirectory() as place:
        files = [os.path.join(place, file) for file in ("train.csv", "test.csv", "model.quorate")]
        train.to_csv(files[0], index=False)
        test.to_csv(files[1], index=False)
        task = "binary" if train["label"].nunique() == 2 else "multiclass"
        fit = [command, "fit", files[0], "--target", "label", "--task", task, *flags, "-o", files[2], "-q"]
        subprocess.run(fit, check=True)
        told = subprocess.run([command, "evaluate", files[2], files[1], "--json"], check=True, capture_output=True)
    scores = json.loads(told.stdout)
    return {"quorate": (scores["errors"], scores["log_loss"])}


def theirs(train, test):
    """Errors and log loss of others."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.preprocessing import StandardScaler

    warnings.filterwarnings("ignore")
    found = {}
    inputs = [column for column in train.columns if column != "label"]
    measured = [column for column in inputs if train[column].nunique() > 2]
    for logarithms in (False, True):
        # They have no answer to a missing cell.
        rows = [table[inputs].fillna(train[inputs].mean()) for table in (train, test)]
        if logarithms and any((table[measured] <= 0).any().any() for table in rows):
            continue
        for table in rows if logarithms else []:
            table[measured] = np.log(table[measured])
        scale = StandardScaler().fit(rows[0])
        x, z = (scale.transform(table) for table in rows)
        scale_of = ConstantKernel(10.0, (1e-2, 1e5))
        models = {
            "logistic regression, C = 1": LogisticRegression(max_iter=10_000),
            "logistic regression, C = 100": LogisticRegression(C=100, max_iter=10_000),
            "logistic regression, C = 10,000": LogisticRegression(C=1e4, max_iter=10_000),
            "linear discriminant": LinearDiscriminantAnalysis(),
            "GaussianProcessClassifier, linear": GaussianProcessClassifier(scale_of * DotProduct(1.0)),
            "GaussianProcessClassifier, one length scale": GaussianProcessClassifier(scale_of * RBF(3.0, (1e-2, 1e3))),
        }
        for name, model in models.items():
            try:
                share = model.fit(x, train["label"]).predict_proba(z)
            except np.linalg.LinAlgError:
                continue
            wrong = (model.classes_[share.argmax(axis=1)] != test["label"]).sum()
            loss = log_loss(test["label"], np.clip(share, 1e-12, 1), labels=model.classes_)
            found[name + (", of logarithms" if logarithms else "")] = (wrong, loss)
    return found


def main():
    command, folder, name, *flags = sys.argv[1:]
    known = {"glass": ("fgl.csv.gz", folds), "crabs": ("crabs.csv.gz", splits), "crabs-logarithms": ("crabs.csv.gz", splits_of_logarithms), "crabs-but-one": ("crabs.csv.gz", but_one)}
    path, pairs = known.get(name, (f"{name}.csv.gz", halves))
    if name.startswith("crabs-of-"):
        learned, _, first = name.removeprefix("crabs-of-").partition("-from-")
        path, pairs = "crabs.csv.gz", lambda table: splits(table, int(learned) // 4, 200, int(first or 0))
    errors, losses, rows = {}, {}, {}
    for train, test in pairs(pd.read_csv(os.path.join(folder, path))):
        told = theirs(train, test) if command == "peers" else ours(command, flags, train, test)
        for who, (wrong, loss) in told.items():
            rows[who] = rows.get(who, 0) + len(test)
            errors.setdefault(who, []).append(wrong)
            losses.setdefault(who, []).append(loss * len(test))
    for who, each in errors.items():
        error = np.std(each, ddof=1) / len(each) ** 0.5
        of_120 = 120 * len(each) / rows[who]
        print(
            f"{name}, {who}: {sum(each):.0f} of {rows[who]}, {np.mean(each):.2f} +- {error:.2f} a split ({min(each):.0f} to {max(each):.0f}), "
            f"{np.mean(each) * of_120:.2f} +- {error * of_120:.2f} of 120, {sum(each) / rows[who]:.2%}, log loss {sum(losses[who]) / rows[who]:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
