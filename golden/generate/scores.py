"""Scores of fixed Gaussian predictions: writes scores/gaussian.json.

Nothing here uses the closed forms that the program uses: the CRPS is its defining integral, quantiles are roots of the
distribution function, both by mpmath to 30 digits; log densities and intervals come from scipy.stats.norm.
Usage: python scores.py [--output FOLDER]
"""

import argparse
import pathlib

import mpmath
import numpy as np
import scipy
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import tables
from problems import problem_of

mpmath.mp.dps = 30
LEVELS = [0.5, 0.9, 0.95]
PROBABILITIES = [1e-9, 0.001, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.999, 1 - 1e-9]


def crps(target, mean, deviation):
    """Gneiting and Raftery (2007) eq. 20: integral of (F(x) - 1{x >= y})^2, in units of the deviation around the mean."""
    z = (mpmath.mpf(target) - mpmath.mpf(mean)) / mpmath.mpf(deviation)
    below = lambda x: mpmath.ncdf(x) ** 2
    above = lambda x: mpmath.ncdf(-x) ** 2
    # The tails beyond 40 deviations hold less than 1e-300; breaks keep the quadrature fine where the integrand moves.
    left = mpmath.quad(below, sorted({min(mpmath.mpf(b), z) for b in (-40, -8, 0)} | {min(z, 0) - 40, z}))
    right = mpmath.quad(above, sorted({max(mpmath.mpf(b), z) for b in (40, 8, 0)} | {max(z, 0) + 40, z}))
    return float(mpmath.mpf(deviation) * (left + right))


def quantile(probability, mean, deviation):
    start = norm.ppf(probability)
    root = mpmath.findroot(lambda x: mpmath.ncdf(x) - mpmath.mpf(probability), start)
    return float(mpmath.mpf(mean) + mpmath.mpf(deviation) * root)


def score(name, target, mean, deviation, train_mean, train_deviation):
    residual = target - mean
    log_density = norm.logpdf(target, mean, deviation)
    trivial = norm.logpdf(target, train_mean, train_deviation)
    case = {
        "name": name,
        "target": target.tolist(),
        "mean": mean.tolist(),
        "std": deviation.tolist(),
        "train_mean": train_mean,
        "train_deviation": train_deviation,
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.mean(np.abs(residual))),
        "nlpd": float(-np.mean(log_density)),
        "crps_of_rows": [crps(*row) for row in zip(target, mean, deviation)],
        "msll": float(np.mean(trivial - log_density)),
        "smse_by_test_variance": float(np.mean(residual**2) / np.var(target)),
        "smse_by_training_variance": float(np.mean(residual**2) / train_deviation**2),
        "rmse_standardised": float(np.sqrt(np.mean(residual**2)) / train_deviation),
        "nlpd_standardised": float(-np.mean(norm.logpdf(
            (target - train_mean) / train_deviation, (mean - train_mean) / train_deviation, deviation / train_deviation
        ))),
    }  # fmt: skip
    case["crps"] = float(np.mean(case["crps_of_rows"]))
    for level in LEVELS:
        lower, upper = norm.interval(level, mean, deviation)
        case[f"coverage_{round(100 * level)}"] = float(np.mean((lower <= target) & (target <= upper)))
        case[f"width_{round(100 * level)}"] = float(np.mean(upper - lower))
    case["probabilities"] = PROBABILITIES
    case["quantiles_of_first_rows"] = [[quantile(p, m, d) for p in PROBABILITIES] for m, d in zip(mean[:4], deviation[:4])]
    return case


def drawn_predictions(seed):
    """Calibrated, overconfident and far-off predictions on scales from 1e-3 to 1e3."""
    generator = np.random.Generator(np.random.PCG64(seed))
    deviation = 10.0 ** generator.uniform(-3, 3, 40)
    mean = generator.normal(0, 100, 40)
    target = mean + deviation * generator.standard_normal(40) * np.repeat([1.0, 3.0, 0.0, 12.0], [20, 10, 2, 8])
    return target, mean, deviation, float(target.mean() + 1.0), float(target.std() * 1.1)


def real_predictions(name):
    problem = problem_of(name)
    kernel = ConstantKernel(1.5) * RBF(2.0 * np.ones(len(problem.inputs))) + WhiteKernel(0.05)
    model = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(problem.x, problem.y)
    mean, deviation = model.predict(problem.x_test, return_std=True)
    names, table, _ = tables.read_table(name)
    scale, centre = problem.target_deviation, problem.target_mean
    target = table[problem.test_rows, names.index(problem.target)]
    return target, centre + scale * mean, scale * deviation, centre, scale


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, default=tables.GOLDEN / "scores")
    parser.add_argument("--available", action="store_true", help="accepted for symmetry: every table used is committed")
    arguments = parser.parse_args()
    header = {
        "tool": "mpmath, scipy.stats",
        "tool_version": f"{mpmath.__version__}, {scipy.__version__}",
        "date": tables.DATE,
        "generator": "golden/generate/scores.py",
        "seed": 7,
        "tolerance": 1e-10,
    }
    cases = [score("drawn", *drawn_predictions(header["seed"]))]
    cases += [score(name, *real_predictions(name)) for name in ("boston", "mcycle", "crabs")]
    tables.write(arguments.output / "gaussian.json", header, cases)
    print(f"{len(cases)} sets of predictions scored")


if __name__ == "__main__":
    main()
