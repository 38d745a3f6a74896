"""Gaussian mixtures by scikit-learn from fixed starts, and the last column given the others: writes mixtures/regression.json.

Usage: python mixtures_sklearn.py [--output FOLDER]
"""

import argparse
import datetime
import pathlib
import warnings

import numpy as np
import sklearn
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

import tables

SEED = 17


def conditional(model, queries):
    """Mean, variance and gates of the last column given the others, component by component, as the textbook writes them."""
    inputs = queries.shape[1]
    logs, means, variances = [], [], []
    for share, mean, covariance in zip(model.weights_, model.means_, model.covariances_):
        xx, xy, yy = covariance[:inputs, :inputs], covariance[:inputs, inputs], covariance[inputs, inputs]
        slope = np.linalg.solve(xx, xy)
        logs.append(np.log(share) + multivariate_normal(mean[:inputs], xx).logpdf(queries))
        means.append(mean[inputs] + (queries - mean[:inputs]) @ slope)
        variances.append(np.full(len(queries), yy - xy @ slope))
    logs = np.array(logs).reshape(len(means), len(queries))
    gates = np.exp(logs - logs.max(axis=0))
    gates /= gates.sum(axis=0)
    means, variances = np.array(means), np.array(variances)
    mean = (gates * means).sum(axis=0)
    return gates, mean, (gates * (variances + (means - mean) ** 2)).sum(axis=0)


def case(name, rows, starts, rounds, ridge, queries):
    covariance = np.cov(rows.T, bias=True) + ridge * np.eye(rows.shape[1])
    model = GaussianMixture(
        len(starts),
        tol=0.0,
        reg_covar=ridge,
        max_iter=rounds,
        weights_init=np.full(len(starts), 1 / len(starts)),
        means_init=starts,
        precisions_init=np.array([np.linalg.inv(covariance)] * len(starts)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows)
    gates, mean, variance = conditional(model, queries)
    return {
        "name": name,
        "rows": rows.tolist(),
        "starts": starts.tolist(),
        "rounds": rounds,
        "ridge": ridge,
        "shares": model.weights_.tolist(),
        "means": model.means_.tolist(),
        "covariances": model.covariances_.reshape(len(starts), -1).tolist(),
        "log_density": model.score(rows),
        "queries": queries.tolist(),
        "gates": gates.T.tolist(),
        "mean": mean.tolist(),
        "variance": variance.tolist(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, default=tables.GOLDEN / "mixtures")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(SEED)
    header = {
        "tool": "scikit-learn",
        "tool_version": sklearn.__version__,
        "date": datetime.date.today().isoformat(),
        "generator": "golden/generate/mixtures_sklearn.py",
        "seed": SEED,
        "tolerance": 1e-9,
    }
    x = generator.uniform(-2, 2, 80)
    wave = np.column_stack([x, np.abs(x) + 0.1 * generator.standard_normal(80)])
    x = generator.standard_normal((120, 3))
    y = np.where(x[:, 0] > 0, x[:, 1], -x[:, 2]) + 0.2 * generator.standard_normal(120)
    plane = np.column_stack([x, y])
    cases = [
        case("one input", wave, wave[[0, 1, 2]], 25, 1e-6, np.linspace(-2.5, 2.5, 11).reshape(-1, 1)),
        case("three inputs", plane, plane[[3, 40]], 40, 1e-4, generator.standard_normal((8, 3))),
        case("one Gaussian", plane, plane[[5]], 2, 1e-6, generator.standard_normal((4, 3))),
    ]
    tables.write(arguments.output / "regression.json", header, cases)
    print("3 mixtures of Gaussians")


if __name__ == "__main__":
    main()
