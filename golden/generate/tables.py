"""Tables for the generators: reading, choosing rows, standardising, and the header that every golden file carries."""

import csv
import datetime
import gzip
import hashlib
import json
import os
import pathlib

import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parent.parent
COMMITTED = GOLDEN / "data"
SHARED = pathlib.Path(os.environ.get("QUORATE_DATA", GOLDEN.parent / "../shared/data"))
DATE = os.environ.get("QUORATE_DATE", datetime.date.today().isoformat())


def locate(name):
    """The file of a table: the committed copy if there is one, else the shared folder's."""
    committed = COMMITTED / f"{name}.csv.gz"
    return committed if committed.exists() else SHARED / f"{name}.csv.gz"


def read_table(name):
    path = locate(name)
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], np.array(rows[1:], dtype=float), hashlib.sha256(path.read_bytes()).hexdigest()


class Problem:
    """Standardised training and test rows of one table.

    Mean and population standard deviation of the training rows are used, as the model's own tables do. A category
    column holds level codes instead: the place of its value among the sorted distinct values of the whole table.
    """

    def __init__(self, name, target, inputs, train, test, seed, categories=()):
        names, table, self.sha256 = read_table(name)
        chosen = np.random.Generator(np.random.PCG64(seed)).permutation(len(table))[: train + test].tolist()
        self.name, self.target, self.inputs, self.seed = name, target, inputs, seed
        self.categories = {c: np.unique(table[:, names.index(c)]).tolist() for c in categories}
        self.numbers = [n for n in inputs if n not in self.categories]
        self.train_rows, self.test_rows = chosen[:train], chosen[train:]
        x = table[:, [names.index(n) for n in inputs]]
        y = table[:, names.index(target)]
        for column, values in self.categories.items():
            x[:, inputs.index(column)] = np.searchsorted(values, x[:, inputs.index(column)])
        x_train, y_train = x[self.train_rows], y[self.train_rows]
        is_category = np.array([n in self.categories for n in inputs])
        self.means = np.where(is_category, 0.0, x_train.mean(axis=0))
        self.deviations = np.where(is_category, 1.0, x_train.std(axis=0))
        if (self.deviations == 0.0).any():
            raise SystemExit(f"{name}: a chosen input is constant in the training rows; change the seed")
        self.x = (x_train - self.means) / self.deviations
        self.x_test = (x[self.test_rows] - self.means) / self.deviations
        self.y = (y_train - y_train.mean()) / y_train.std()
        self.target_mean, self.target_deviation = float(y_train.mean()), float(y_train.std())

    def header(self, tool, version, generator):
        return {
            "tool": tool,
            "tool_version": version,
            "date": DATE,
            "generator": f"golden/generate/{generator}",
            "seed": self.seed,
            "data": f"{self.name}.csv.gz",
            "committed": (COMMITTED / f"{self.name}.csv.gz").exists(),
            "sha256": self.sha256,
            "inputs": self.inputs,
            "categories": self.categories,
            "target": self.target,
            "train_rows": self.train_rows,
            "test_rows": self.test_rows,
            "input_deviations": self.deviations.tolist(),
            "target_mean": self.target_mean,
            "target_deviation": self.target_deviation,
            "units": "mean, std_latent, covariance, noise_variance and log_evidence refer to the standardised target",
            "tolerance": 1e-8,
        }


def write(path, header, cases):
    """One header field and one case a line, so that a change shows in a diff."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in header.items()]
    body = ",\n".join(f"    {json.dumps(case)}" for case in cases)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n" + "\n".join(lines) + '\n  "cases": [\n' + body + "\n  ]\n}\n")
