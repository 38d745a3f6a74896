"""What the generators of laplace/ share: small problems with their rows inside the file, and the kernels.

The rows are stored as the mathematics sees them (standardised inputs, targets in their own units), so that a test needs
no table.
"""

import argparse
import datetime
import json
import os
import pathlib

import numpy as np

import tables

DATE = os.environ.get("QUORATE_DATE", datetime.date.today().isoformat())


def problem(name, inputs, target, train, test, seed, transform=lambda y: y, extras=()):
    """Standardised inputs and targets of seeded training and test rows; extra columns as they are."""
    names, table, checksum = tables.read_table(name)
    chosen = np.random.Generator(np.random.PCG64(seed)).permutation(len(table))[: train + test]
    x = table[:, [names.index(n) for n in inputs]]
    mean, deviation = x[chosen[:train]].mean(axis=0), x[chosen[:train]].std(axis=0)
    x = (x - mean) / deviation
    y = transform(table[:, names.index(target)])
    found = {
        "data": f"{name}.csv.gz",
        "sha256": checksum,
        "seed": seed,
        "inputs": inputs,
        "x": x[chosen[:train]].tolist(),
        "y": y[chosen[:train]].tolist(),
        "x_test": x[chosen[train:]].tolist(),
    }
    for extra in extras:
        found[extra] = table[chosen[:train], names.index(extra)].tolist()
    return found


def squared_exponential(x, z, variance, lengths):
    d = (x[:, None, :] - z[None, :, :]) / np.asarray(lengths)
    return variance * np.exp(-0.5 * (d**2).sum(axis=2))


def text(variance, lengths):
    return f"{variance!r} * se(ard, length_scale=[{', '.join(repr(l) for l in lengths)}])"


def write(path, header, cases):
    tables.write(path, {"date": DATE, **header}, cases)
    print(path.name, len(cases), "cases")


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--output", type=pathlib.Path, default=tables.GOLDEN / "laplace")
    parser.add_argument("--available", action="store_true", help="accepted for check.py; all tables are committed")
    return parser.parse_args()


def plain(values):
    return json.loads(json.dumps(np.asarray(values, dtype=float).tolist()))
