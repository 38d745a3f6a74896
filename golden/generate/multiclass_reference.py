"""Coupled Laplace for several classes, written out slowly: laplace/multiclass_fgl.json.

Dense: f = K a has C n entries, W and K are matrices of C n x C n, the gradient is made of differences of the
evidence, and the probabilities are averages over a million draws. One kernel for all classes in the first case, one for
each in the second. Parameters move as logarithms: variance, length scales, class after class.
"""

import numpy as np

import latent


def stack(kernels, x, z):
    blocks = [latent.squared_exponential(x, z, variance, lengths) for variance, lengths in kernels]
    whole = np.zeros((len(blocks) * len(x), len(blocks) * len(z)))
    for c, block in enumerate(blocks):
        whole[c * len(x) : (c + 1) * len(x), c * len(z) : (c + 1) * len(z)] = block
    return whole


def softmax(f):
    e = np.exp(f - f.max(axis=0))
    return e / e.sum(axis=0)


def fit(kernels, x, hot, start):
    count, n = hot.shape
    k = stack(kernels, x, x)
    a, f = start.copy(), k @ start
    value = lambda a, f: (hot * np.log(softmax(f.reshape(count, n)))).sum() - 0.5 * a @ f

    def curvature(f):
        pi = softmax(f.reshape(count, n))
        w = np.diag(pi.ravel())
        for i in range(n):
            at = np.arange(count) * n + i
            w[np.ix_(at, at)] -= np.outer(pi[:, i], pi[:, i])
        return pi, w

    for _ in range(100):
        pi, w = curvature(f)
        step = np.linalg.solve(np.eye(len(f)) + w @ k, (hot - pi).ravel() - a)
        share = 1.0
        while value(a + share * step, f + share * k @ step) < value(a, f) - 1e-12 and share > 1e-6:
            share /= 2
        a, f = a + share * step, f + share * k @ step
        if np.abs(share * k @ step).max() < 1e-12:
            break
    pi, w = curvature(f)
    return a, f, k, w, value(a, f) - 0.5 * np.linalg.slogdet(np.eye(len(f)) + k @ w)[1]


def solve(rows, count, kernels):
    x, y, x_test = np.array(rows["x"]), np.array(rows["y"], dtype=int), np.array(rows["x_test"])
    hot = np.eye(count)[y].T
    every = kernels * count if len(kernels) == 1 else kernels
    a, f, k, w, evidence = fit(every, x, hot, np.zeros(count * len(x)))
    cross = stack(every, x, x_test)
    mean = (cross.T @ a).reshape(count, -1)
    whole = stack(every, x_test, x_test) - cross.T @ w @ np.linalg.solve(np.eye(len(f)) + k @ w, cross)
    tests = len(x_test)
    covariance = [whole[np.ix_(np.arange(count) * tests + q, np.arange(count) * tests + q)] for q in range(tests)]
    draw = np.random.Generator(np.random.PCG64(1)).standard_normal((count, 1_000_000))
    probability = []
    for q in range(tests):
        root = np.linalg.cholesky(covariance[q] + 1e-12 * np.eye(count))
        probability.append(softmax(mean[:, q : q + 1] + root @ draw).mean(axis=1).tolist())
    pack = lambda ks: np.log(np.concatenate([[v, *l] for v, l in ks]))
    width = len(rows["inputs"])

    def at(theta):
        parts = np.exp(theta).reshape(-1, 1 + width)
        ks = [(p[0], list(p[1:])) for p in parts]
        return fit(ks * count if len(ks) == 1 else ks, x, hot, a)[4]

    point, h, gradient = pack(kernels), 2e-3, []
    for i in range(len(point)):
        e = np.eye(len(point))[i] * h
        gradient.append((8 * (at(point + e) - at(point - e)) - (at(point + 2 * e) - at(point - 2 * e))) / (12 * h))
    return {
        "kernels": [latent.text(v, l) for v, l in kernels],
        "log_evidence": float(evidence),
        "gradient": latent.plain(gradient),
        "mode": latent.plain(f.reshape(count, -1)),
        "latent_mean": latent.plain(mean.T),
        "latent_covariance": latent.plain(covariance),
        "probability": probability,
    }


def main():
    output = latent.arguments(__doc__).output
    rows = latent.problem("fgl", ["RI", "Mg", "Al"], "label", 40, 6, 20260607)
    # Three classes: float glass, other window glass, everything else.
    rows["y"] = [min(int(v), 2) for v in rows["y"]]
    cases = [
        solve(rows, 3, [(2.0, [0.8, 1.1, 0.9])]),
        solve(rows, 3, [(0.7, [0.6, 0.9, 1.2]), (3.0, [1.0, 0.8, 0.7]), (9.0, [0.9, 0.9, 1.0])]),
    ]
    header = {"tool": "numpy", "tool_version": np.__version__, "generator": "golden/generate/multiclass_reference.py", "classes": 3, **rows}
    latent.write(output / "multiclass_fgl.json", header, cases)


if __name__ == "__main__":
    main()
