"""Committees by scikit-learn: writes members/committees.json, mean test errors over seeds with their standard errors.

Bagging of regression and classification trees, AdaBoost.R2 of regression trees, all with members of a fixed depth: the least size
of a leaf would count drawn rows there and their weights here. The rows are in the file. Usage: python committees_sklearn.py [--output FOLDER]
"""

import argparse
import pathlib

import numpy as np
import sklearn
from sklearn.ensemble import AdaBoostRegressor, BaggingClassifier, BaggingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tables

SEED = 23
REPETITIONS = 60
TRAIN, TEST = 150, 250


def draw():
    generator = np.random.Generator(np.random.PCG64(SEED))
    # Numbers of few digits are the same in single precision, to which scikit-learn's trees round, up to what no cut sees.
    x = generator.uniform(-1, 1, (TRAIN + TEST, 4)).round(3)
    f = np.sin(3 * x[:, 0]) + 2 * x[:, 1] * x[:, 2] + 0.5 * x[:, 3]
    y = (f + 0.3 * generator.standard_normal(len(x))).round(3)
    return x, y


def case(name, x, y, committee, **shape):
    errors = []
    for seed in range(REPETITIONS):
        fitted = committee(seed).fit(x[:TRAIN], y[:TRAIN])
        found = fitted.predict(x[TRAIN:])
        wrong = found != y[TRAIN:] if y.dtype.kind == "i" else (found - y[TRAIN:]) ** 2
        errors.append(wrong.mean())
    return {
        "name": name,
        **shape,
        "error": float(np.mean(errors)),
        "standard_error": float(np.std(errors, ddof=1) / np.sqrt(REPETITIONS)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, default=tables.GOLDEN / "members")
    parser.add_argument("--available", action="store_true", help="accepted for symmetry: no table is read")
    arguments = parser.parse_args()
    x, y = draw()
    labels = np.digitize(y, [-0.6, 0.6]).astype(int)
    header = {
        "tool": "scikit-learn",
        "tool_version": sklearn.__version__,
        "date": tables.DATE,
        "generator": "golden/generate/committees_sklearn.py",
        "seed": SEED,
        "train": TRAIN,
        "inputs": x.tolist(),
        "target": y.tolist(),
        "labels": labels.tolist(),
    }
    cases = [
        case(
            "bagging of regression trees",
            x,
            y,
            lambda seed: BaggingRegressor(DecisionTreeRegressor(max_depth=6), n_estimators=15, random_state=seed),
            members=15,
            leaf=1,
            depth=6,
        ),
        case(
            "bagging of classification trees",
            x,
            labels,
            lambda seed: BaggingClassifier(DecisionTreeClassifier(max_depth=5), n_estimators=15, random_state=seed),
            members=15,
            leaf=1,
            depth=5,
        ),
        case(
            "AdaBoost.R2 of regression trees",
            x,
            y,
            lambda seed: AdaBoostRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=15, random_state=seed),
            members=15,
            leaf=1,
            depth=4,
        ),
    ]
    tables.write(arguments.output / "committees.json", header, cases)
    print(f"{len(cases)} committees")


if __name__ == "__main__":
    main()
