"""What the experts of Mixtures of Gaussian Processes, table 1, may have been: mean performance and performance of the mean by noise.

    python benches/mixture_noise.py DATA

The paper states neither the noise of its experts, nor how wide the bumps of its artificial maps are, nor where their inputs lie. Both
columns that need no mixture are computed here under several noise variances (kernel amplitude 1) and widths of bumps, artificial
inputs uniform in [-1, 1] with bumps in [0, 1] (GBCM, App. C) or both standard normal (MGP, figure 1), and the choices whose columns
lie nearest to print are told. DATA is the folder with boston.csv.gz, bupa.csv.gz, pima_full.csv.gz and waveform.csv.gz. NumPy and
pandas only; minutes.
"""

import sys

import numpy as np
import pandas as pd

HEIGHTS = np.array([1.16, -0.63, -0.08, 0.35, -0.70])
WIDTHS = (0.2, 0.25, 0.36, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
NOISES = (1e-5, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6)
ROWS, EXPERTS, REPETITIONS = 100, 10, 20
ART = {1: (1, 0.0167, 0.0080), 2: (3, 0.0573, 0.0345), 5: (6, 0.1994, 0.1383), 10: (10, 0.1670, 0.1135), 20: (20, 0.1716, 0.1203)}
TABLES = [
    ("HOUSING", "boston.csv.gz", "y", 10, 0.4677, 0.3568),
    ("BUPA", "bupa.csv.gz", "label", 20, 0.9654, 0.9067),
    ("DIABETES", "pima_full.csv.gz", "label", 40, 0.8230, 0.7660),
    ("WAVEFORM", "waveform.csv.gz", "label", 40, 0.6295, 0.5979),
]


def bumps(x, centres, width):
    exponents = -((x[:, None, :] - centres[None]) ** 2).sum(-1) / (2 * width**2)
    raised = np.exp(exponents - exponents.max(1, keepdims=True))
    return raised @ HEIGHTS / raised.sum(1)


def artificial(inputs, normal, width, random):
    def draw(count, low):
        return random.normal(size=(count, inputs)) if normal else random.uniform(low, 1, (count, inputs))

    centres, train, test = draw(5, 0), draw(ROWS, -1), draw(500, -1)
    return train, bumps(train, centres, width) + 0.2 * random.normal(size=ROWS), test, bumps(test, centres, width)


def real(table, target, random):
    y, x = table[target].to_numpy(float), table.drop(columns=target).to_numpy(float)
    order = random.permutation(len(y))
    train, test = order[:ROWS], order[ROWS : ROWS + 1000]
    deviation = x[train].std(0)
    x = (x - x[train].mean(0)) / np.where(deviation > 0, deviation, 1)
    y = (y - y[train].mean()) / y[train].std()
    return x[train], y[train], x[test], y[test]


def columns(problem, most):
    """Mean performance of the experts and performance of their mean, under every noise."""
    found = []
    for repetition in range(REPETITIONS):
        random = np.random.default_rng(repetition)
        x, y, asked, truth = problem(random)
        near = ((x[:, None] - x[None]) ** 2).sum(-1)
        far = ((asked[:, None] - x[None]) ** 2).sum(-1)
        told = []
        for scale in most * random.uniform(0.01, 1, EXPERTS):
            # All noises from one decomposition.
            values, vectors = np.linalg.eigh(np.exp(-near / (2 * scale**2)))
            to = np.exp(-far / (2 * scale**2)) @ vectors
            own = vectors.T @ y
            told.append([to @ (own / (np.maximum(values, 0) + noise)) for noise in NOISES])
        told = np.array(told)
        mean = ((told - truth) ** 2).mean((0, 2))
        found.append(np.stack([mean, ((told.mean(0) - truth) ** 2).mean(1)], 1))
    return np.mean(found, axis=0)


def farness(pair, theirs):
    return float((np.log(np.array(pair) / theirs) ** 2).sum())


def line(name, all_columns, theirs):
    """The nearest of some (choice, columns under every noise)."""
    each = [(farness(pair, theirs), width, noise, pair) for width, own in all_columns for noise, pair in zip(NOISES, own)]
    _, width, noise, (mean, average) = min(each, key=lambda one: one[0])
    bumps_told = "" if width is None else f"{width}"
    print(f"| {name} | {theirs[0]:.4f} {theirs[1]:.4f} | {bumps_told} | {noise} | {mean:.4f} {average:.4f} |", flush=True)


print("| set | print | width of bumps | noise of experts | ours |")
print("|---|---|---|---|---|")
for normal in (False, True):
    for inputs, (most, *theirs) in ART.items():
        name = f"ART, {inputs} inputs, " + ("normal" if normal else "in [-1, 1]")
        line(name, [(w, columns(lambda random: artificial(inputs, normal, w, random), most)) for w in WIDTHS], theirs)
for name, file, target, most, *theirs in TABLES:
    table = pd.read_csv(f"{sys.argv[1]}/{file}")
    line(name, [(None, columns(lambda random: real(table, target, random), most))], theirs)
