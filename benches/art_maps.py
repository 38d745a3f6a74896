"""How hard artificial maps are whose experts err as table 1 of Mixtures of Gaussian Processes prints: scikit-learn's process with every hyperparameter learned.

Usage: python benches/art_maps.py [MAPS]. Five normalised bumps with standard normal inputs and centres, 20 inputs, 100 rows with noise 0.2, errors against the map at 1,000 points. For each
standard deviation of the bumps' heights the width is told at which ten experts of bandwidths between 0 and 20 come nearest to the two printed columns that need no mixture, under the noise
variance that comes nearest; and what the learned process errs there. The paper prints 0.1716 and 0.1203 for the experts, 0.0662 for their mixture.
"""

import math
import sys
import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

INPUTS, GREATEST, PRINT = 20, 20.0, (0.1716, 0.1203)
NOISES = (0.0001, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.9)


def data_set(seed, width, height):
    draw = np.random.default_rng(seed)
    rows, centres, heights, asked = draw.normal(size=(100, INPUTS)), draw.normal(size=(5, INPUTS)), height * draw.normal(size=5), draw.normal(size=(1000, INPUTS))

    def told(places):
        logarithms = -((places[:, None] - centres) ** 2).sum(axis=2) / (2 * width**2)
        shares = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
        return shares @ heights / shares.sum(axis=1)

    return rows, told(rows) + 0.2 * draw.normal(size=100), asked, told(asked), GREATEST * draw.uniform(0.01, 1, size=10)


def squares(a, b):
    return ((a[:, None] - b) ** 2).sum(axis=2)


def experts(rows, targets, asked, truth, scales):
    """Mean error of the experts and error of their mean, a row for each noise."""
    near, far, told = squares(rows, rows), squares(asked, rows), []
    for scale in scales:
        values, vectors = np.linalg.eigh(np.exp(-near / (2 * scale**2)))
        across, heard = np.exp(-far / (2 * scale**2)) @ vectors, vectors.T @ targets
        told.append([across @ (heard / (values + noise)) for noise in NOISES])
    told = np.array(told)
    return np.column_stack([((told - truth) ** 2).mean(axis=(0, 2)), ((told.mean(axis=0) - truth) ** 2).mean(axis=1)])


def learned(rows, targets, asked, truth, _):
    kernel = ConstantKernel() * RBF(INPUTS**0.5, (0.1, 1e3)) + WhiteKernel(0.04)
    return np.mean((GaussianProcessRegressor(kernel).fit(rows, targets).predict(asked) - truth) ** 2)


def main():
    warnings.filterwarnings("ignore")
    maps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for height in (0.7, 1.0, 1.4, 2.0):
        best = (math.inf,)
        for width in np.arange(1.0, 2.6, 0.1):
            columns = np.mean([experts(*data_set(seed, width, height)) for seed in range(maps)], axis=0)
            far = (np.log(columns / PRINT) ** 2).sum(axis=1)
            if far.min() < best[0]:
                best = far.min(), width, NOISES[far.argmin()], columns[far.argmin()]
        _, width, noise, columns = best
        errors = [learned(*data_set(seed, width, height)) for seed in range(maps)]
        print(
            f"heights {height}, width {width:.1f}, noise of experts {noise}: experts {columns[0]:.4f} and {columns[1]:.4f}, "
            f"learned process {np.mean(errors):.4f} +- {np.std(errors, ddof=1) / maps**0.5:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
