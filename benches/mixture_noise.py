"""What the experts of Mixtures of Gaussian Processes, table 1, may have been: mean performance and performance of the mean by noise.

    python benches/mixture_noise.py DATA

The paper states neither the noise of its experts nor where the inputs of its artificial sets lie. Both columns that need no mixture are
computed here under several noise variances (kernel amplitude 1), artificial inputs uniform in [-1, 1] with bumps in [0, 1] (GBCM,
App. C) or both standard normal (MGP, figure 1), so that the columns can be laid beside print. DATA is the folder with boston.csv.gz,
bupa.csv.gz, pima_full.csv.gz and waveform.csv.gz. NumPy and pandas only; seconds.
"""

import sys

import numpy as np
import pandas as pd

HEIGHTS = np.array([1.16, -0.63, -0.08, 0.35, -0.70])
WIDTH = 0.36
NOISES = (0.001, 0.01, 0.04, 0.2, 1.0)
ROWS, EXPERTS, REPETITIONS = 100, 10, 10
ART = {1: (1, 0.0167, 0.0080), 2: (3, 0.0573, 0.0345), 5: (6, 0.1994, 0.1383), 10: (10, 0.1670, 0.1135), 20: (20, 0.1716, 0.1203)}
TABLES = [
    ("HOUSING", "boston.csv.gz", "y", 10, 0.4677, 0.3568),
    ("BUPA", "bupa.csv.gz", "label", 20, 0.9654, 0.9067),
    ("DIABETES", "pima_full.csv.gz", "label", 40, 0.8230, 0.7660),
    ("WAVEFORM", "waveform.csv.gz", "label", 40, 0.6295, 0.5979),
]


def bumps(x, centres):
    exponents = -((x[:, None, :] - centres[None]) ** 2).sum(-1) / (2 * WIDTH**2)
    raised = np.exp(exponents - exponents.max(1, keepdims=True))
    return raised @ HEIGHTS / raised.sum(1)


def artificial(inputs, normal, random):
    def draw(count, low):
        return random.normal(size=(count, inputs)) if normal else random.uniform(low, 1, (count, inputs))

    centres, train, test = draw(5, 0), draw(ROWS, -1), draw(500, -1)
    return train, bumps(train, centres) + 0.2 * random.normal(size=ROWS), test, bumps(test, centres)


def real(table, target, random):
    y, x = table[target].to_numpy(float), table.drop(columns=target).to_numpy(float)
    order = random.permutation(len(y))
    train, test = order[:ROWS], order[ROWS : ROWS + 1000]
    deviation = x[train].std(0)
    x = (x - x[train].mean(0)) / np.where(deviation > 0, deviation, 1)
    y = (y - y[train].mean()) / y[train].std()
    return x[train], y[train], x[test], y[test]


def columns(problem, most, noise):
    """Mean performance of the experts, and performance of their mean."""
    found = []
    for repetition in range(REPETITIONS):
        random = np.random.default_rng(repetition)
        x, y, asked, truth = problem(random)
        near = ((x[:, None] - x[None]) ** 2).sum(-1)
        far = ((asked[:, None] - x[None]) ** 2).sum(-1)
        told = []
        for scale in most * random.uniform(0.01, 1, EXPERTS):
            covariance = np.exp(-near / (2 * scale**2)) + noise * np.eye(ROWS)
            told.append(np.exp(-far / (2 * scale**2)) @ np.linalg.solve(covariance, y))
        told = np.array(told)
        found.append((((told - truth) ** 2).mean(), ((told.mean(0) - truth) ** 2).mean()))
    return np.mean(found, axis=0)


def line(name, problem, most, theirs):
    cells = [f"{a:.4f} {b:.4f}" for a, b in (columns(problem, most, noise) for noise in NOISES)]
    print(f"| {name} | {theirs[0]:.4f} {theirs[1]:.4f} | " + " | ".join(cells) + " |", flush=True)


print("| set | print | " + " | ".join(f"noise {noise}" for noise in NOISES) + " |")
print("|---|---|" + "---|" * len(NOISES))
for normal in (False, True):
    for inputs, (most, *theirs) in ART.items():
        name = f"ART, {inputs} inputs, " + ("normal" if normal else "in [-1, 1]")
        line(name, lambda random, i=inputs, n=normal: artificial(i, n, random), most, theirs)
for name, file, target, most, *theirs in TABLES:
    table = pd.read_csv(f"{sys.argv[1]}/{file}")
    line(name, lambda random, t=table, c=target: real(t, c, random), most, theirs)
