"""Members of committees by scikit-learn: writes members/ridge.json, members/general.json, members/trees.json and members/boosting.json.

Evidence procedure: BayesianRidge with flat hyperpriors and no intercept of its own (a column of ones is among the inputs),
followed to convergence. Counts and amounts: PoissonRegressor and GammaRegressor, whose penalty is that of most probable weights. Trees: DecisionTreeRegressor and DecisionTreeClassifier, with and without weights.
Boosting: AdaBoostClassifier of such trees. The rows are in the files; inputs are single-precision numbers, to which
scikit-learn's trees round. Queries whose answer depends on how scikit-learn breaks ties are left out.
Usage: python members_sklearn.py [--output FOLDER]
"""

import argparse
import pathlib

import numpy as np
import sklearn
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import BayesianRidge, GammaRegressor, PoissonRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tables

SEED = 11


def draw(rows, columns):
    generator = np.random.Generator(np.random.PCG64(SEED))
    x = generator.standard_normal((rows, columns)).astype(np.float32).astype(float)
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * generator.standard_normal(rows)
    return x, (y - y.mean()) / y.std(), generator


def ridge(name, design, y, query):
    model = BayesianRidge(
        max_iter=100_000, tol=1e-14, alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, compute_score=True, fit_intercept=False
    ).fit(design, y)
    mean, deviation = model.predict(query, return_std=True)
    return {
        "name": name,
        "design": design.tolist(),
        "target": y.tolist(),
        "query": query.tolist(),
        "noise_precision": float(model.alpha_),
        "weight_precision": float(model.lambda_),
        "weights": model.coef_.tolist(),
        "log_evidence": float(model.scores_[-1]),
        "mean": mean.tolist(),
        "std": deviation.tolist(),
    }


def general(name, likelihood, regressor, x, target, alpha):
    """Most probable weights of a generalised linear model with a column of ones: scikit-learn's penalty is alpha over the rows."""
    design = np.hstack([np.ones((len(x), 1)), x])
    model = regressor(alpha=alpha / len(x), fit_intercept=False, solver="newton-cholesky", max_iter=1000, tol=1e-12).fit(design, target)
    return {
        "name": name,
        "likelihood": likelihood,
        "inputs": x.tolist(),
        "target": target.tolist(),
        "alpha": alpha,
        "weights": model.coef_.tolist(),
    }


def undisputed(fit, query):
    """Of thirty fits, the first and the queries about which all agree: among equal cuts scikit-learn chooses at random."""
    fits = [fit(seed) for seed in range(30)]
    answers = np.array([model.predict(query) for model in fits])
    return fits[0], query[np.all(np.abs(answers - answers[0]) < 1e-9, axis=0)], len({model.tree_.n_leaves for model in fits}) == 1


def tree(name, x, target, query, weights, depth, leaf, classes):
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor

    def fit(seed):
        return kind(max_depth=depth, min_samples_leaf=leaf, random_state=seed).fit(x, target, sample_weight=weights)

    model, query, leaves_agree = undisputed(fit, query)
    answer = model.predict_proba(query) if classes else model.predict(query)[:, None]
    return {
        "name": name,
        "inputs": x.tolist(),
        "target": np.asarray(target, dtype=float).tolist(),
        "weights": weights.tolist(),
        "query": query.tolist(),
        "depth": depth,
        "leaf": leaf,
        "classes": 3 if classes else 0,
        "leaves": int(model.get_n_leaves()) if leaves_agree else None,
        "answers": answer.tolist(),
    }


def boosting(name, x, labels, query, depth, rounds):
    fits = [
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=rounds, random_state=seed).fit(x, labels)
        for seed in range(30)
    ]
    answers = np.array([model.predict(query) for model in fits])
    agreed = np.all(answers == answers[0], axis=0)
    return {
        "name": name,
        "inputs": x.tolist(),
        "labels": labels.tolist(),
        "query": query[agreed].tolist(),
        "depth": depth,
        "rounds": rounds,
        "classes": int(labels.max()) + 1,
        "members": len(fits[0].estimators_),
        "answers": answers[0][agreed].tolist(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, default=tables.GOLDEN / "members")
    parser.add_argument("--available", action="store_true", help="accepted for symmetry: no table is read")
    arguments = parser.parse_args()
    header = {
        "tool": "scikit-learn",
        "tool_version": sklearn.__version__,
        "date": tables.DATE,
        "generator": "golden/generate/members_sklearn.py",
        "seed": SEED,
    }
    x, y, generator = draw(160, 4)
    ones = np.ones((len(x), 1))
    linear = np.hstack([ones, x])
    squares = np.hstack([linear, x**2])
    cases = [ridge("linear", linear[:60], y[:60], linear[60:]), ridge("squares", squares[:60], y[:60], squares[60:])]
    tables.write(arguments.output / "ridge.json", {**header, "tolerance": 1e-6}, cases)
    other = np.random.Generator(np.random.PCG64(SEED + 1))
    rate = np.exp(0.4 + 0.8 * x[:80, 0] - 0.5 * x[:80, 1])
    counts, amounts = other.poisson(rate).astype(float), other.gamma(1.0, rate)
    cases = [
        general("counts", "poisson", PoissonRegressor, x[:80], counts, 1.5),
        general("counts, hardly a prior", "poisson", PoissonRegressor, x[:80], counts, 1e-3),
        general("amounts", "gamma", GammaRegressor, x[:80], amounts, 0.7),
    ]
    tables.write(arguments.output / "general.json", {**header, "tolerance": 1e-6}, cases)
    labels = np.digitize(y, [-0.5, 0.5])
    plain = np.ones(60)
    weights = generator.integers(1, 4, 60).astype(float)
    train, query = x[:60], x[60:]
    cases = [
        tree("regression", train, y[:60], query, plain, 6, 5, False),
        tree("regression with weights", train, y[:60], query, weights, 4, 1, False),
        tree("deep regression", train, y[:60], query, plain, 60, 4, False),
        tree("classes", train, labels[:60], query, plain, 5, 4, True),
        tree("classes with weights", train, labels[:60], query, weights, 3, 1, True),
    ]
    tables.write(arguments.output / "trees.json", {**header, "tolerance": 1e-12}, cases)
    x, y, _ = draw(400, 4)
    two, three = (y > 0).astype(int), np.digitize(y, [-0.5, 0.5])
    cases = [
        boosting("two classes, stumps", x[:150], two[:150], x[150:], 1, 30),
        boosting("three classes", x[:150], three[:150], x[150:], 2, 20),
        boosting("no error left", x[:150], two[:150], x[150:], 60, 5),
    ]
    tables.write(arguments.output / "boosting.json", header, cases)
    print("2 linear models, 3 general ones, 5 trees and 3 boosted committees")


if __name__ == "__main__":
    main()
