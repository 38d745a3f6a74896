"""Support vector machines by libsvm through scikit-learn: writes machines/<table>.json for five tables of two classes.

Decision values at rows not seen, of SVC with a squared exponential kernel on standardised inputs, followed far beyond its usual
tolerance. Usage: python machines_sklearn.py [--output FOLDER] [--available]
"""

import argparse
import pathlib

import numpy as np
import sklearn
from sklearn.svm import SVC

import tables

SEED = 5
#: Table, training rows, test rows.
TABLES = [("crabs", 120, 80), ("pima_mass_train", 120, 80), ("bupa", 150, 100), ("sonar", 120, 80), ("ionosphere", 150, 100)]
#: Cost of a lost margin, and the kernel's width relative to the square root of the number of inputs.
SETTINGS = [(1.0, 1.0), (10.0, 1.0), (1.0, 0.4)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, default=tables.GOLDEN / "machines")
    parser.add_argument("--available", action="store_true", help="leave out tables that are not here")
    arguments = parser.parse_args()
    written = 0
    for name, train, test in TABLES:
        if arguments.available and not tables.locate(name).exists():
            continue
        names, table, _ = tables.read_table(name)
        problem = tables.Problem(name, "label", names[:-1], train, test, SEED)
        labels = table[:, -1]
        cases = []
        for cost, width in SETTINGS:
            length = width * np.sqrt(problem.x.shape[1])
            model = SVC(C=cost, gamma=0.5 / length**2, tol=1e-9, max_iter=-1, cache_size=200)
            model.fit(problem.x, labels[problem.train_rows])
            cases.append(
                {
                    "cost": cost,
                    "length_scale": float(length),
                    "offset": float(model.intercept_[0]),
                    "decisions": model.decision_function(problem.x_test).tolist(),
                }
            )
        header = problem.header("scikit-learn", sklearn.__version__, "machines_sklearn.py")
        header["units"] = "decision values"
        # libsvm stops when no pair of rows violates its conditions by more than 1e-9; its decisions are right to about that.
        header["tolerance"] = 1e-5
        tables.write(arguments.output / f"{name}.json", header, cases)
        written += len(cases)
    print(f"{written} machines")


if __name__ == "__main__":
    main()
