"""Laplace's method for counts, positive targets and lifetimes, written out slowly: laplace/reference_<likelihood>.json.

Densities are typed from their definitions and evaluated with 40 digits, derivatives are differences of those, the mode
comes from dense Newton steps in a = K^-1 f, and the gradient from differences of the evidence. The only formula shared with any program is the
definition: log p(y | f) - 1/2 f' K^-1 f - 1/2 log |I + K W|. Parameters move as logarithms: variance, length
scales, then dispersions. Student-t and inverse Gaussian use the expected curvature in the determinant.
"""

import mpmath as mp
import numpy as np

import latent

mp.mp.dps = 40


def poisson(y, eta, d, event):
    return y * eta - mp.exp(eta) - mp.loggamma(y + 1)


def negative_binomial(y, eta, d, event):
    r, mu = d[0], mp.exp(eta)
    p = r / (r + mu)
    return mp.loggamma(y + r) - mp.loggamma(r) - mp.loggamma(y + 1) + r * mp.log(p) + y * mp.log(1 - p)


def gamma(y, eta, d, event):
    a = d[0]
    theta = mp.exp(eta) / a
    return (a - 1) * mp.log(y) - y / theta - a * mp.log(theta) - mp.loggamma(a)


def inverse_gaussian(y, eta, d, event):
    lam, mu = d[0], mp.exp(eta)
    return mp.log(lam / (2 * mp.pi * y**3)) / 2 - lam * (y - mu) ** 2 / (2 * mu**2 * y)


def weibull(y, eta, d, event):
    c, scale = d[0], mp.exp(eta)
    hazard = mp.log(c / scale * (y / scale) ** (c - 1)) if event else 0
    return hazard - (y / scale) ** c


def student_t(y, eta, d, event):
    nu, s = d
    z = (y - eta) / s
    return mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2) - mp.log(nu * mp.pi * s**2) / 2 - (nu + 1) / 2 * mp.log(1 + z**2 / nu)


EXPECTED = {
    "inverse-gaussian": lambda eta, d: d[0] * np.exp(-eta),
    "student-t": lambda eta, d: (d[0] + 1) / ((d[0] + 3) * d[1] ** 2),
}
DENSITIES = {
    "poisson": poisson,
    "negative-binomial": negative_binomial,
    "gamma": gamma,
    "inverse-gaussian": inverse_gaussian,
    "weibull": weibull,
    "student-t": student_t,
}


def derivatives(name, y, eta, d, event):
    """Value, first and second derivative of one row's log density."""
    density, d = DENSITIES[name], [mp.mpf(v) for v in d]
    h = mp.mpf(10) ** -12
    low, here, high = (density(mp.mpf(y), mp.mpf(eta) + k * h, d, event) for k in (-1, 0, 1))
    return float(here), float((high - low) / (2 * h)), float((high - 2 * here + low) / h**2)


def fit(name, x, y, offset, event, variance, lengths, dispersion, start):
    k = latent.squared_exponential(x, x, variance, lengths)
    a, f = start.copy(), k @ start

    def terms(f):
        rows = [derivatives(name, y[i], f[i] + offset[i], dispersion, event[i]) for i in range(len(y))]
        return np.array(rows).T

    value = lambda a, f, t: t[0].sum() - 0.5 * a @ f
    now = terms(f)
    for _ in range(300):
        curvature = np.maximum(-now[2], 0.0)
        step = np.linalg.solve(np.eye(len(y)) + curvature[:, None] * k, now[1] - a)
        share = 1.0
        after = terms(f + k @ step)
        while not value(a + share * step, f + share * k @ step, after) >= value(a, f, now) - 1e-12 and share > 1e-8:
            share /= 2
            after = terms(f + share * k @ step)
        a, f, now = a + share * step, f + share * k @ step, after
        if np.abs(share * k @ step).max() < 1e-12:
            break
    w = EXPECTED[name](f + offset, dispersion) * np.ones(len(y)) if name in EXPECTED else -now[2]
    evidence = value(a, f, now) - 0.5 * np.linalg.slogdet(np.eye(len(y)) + k * w)[1]
    return a, f, w, evidence


def solve(name, rows, variance, lengths, dispersion):
    x, y, x_test = (np.array(rows[key]) for key in ("x", "y", "x_test"))
    offset, event = np.array(rows["offset"]), rows["event"]
    start = np.zeros(len(y))
    a, f, w, evidence = fit(name, x, y, offset, event, variance, lengths, dispersion, start)
    k = latent.squared_exponential(x, x, variance, lengths)
    cross = latent.squared_exponential(x_test, x, variance, lengths)
    mean = cross @ a
    covariance = w[:, None] * np.linalg.solve(np.eye(len(y)) + k * w, cross.T)
    spread = variance - (cross * covariance.T).sum(axis=1)
    point = np.log([variance, *lengths, *dispersion])

    def at(theta):
        v = np.exp(theta)
        return fit(name, x, y, offset, event, v[0], list(v[1 : 1 + len(lengths)]), list(v[1 + len(lengths) :]), a)[3]

    gradient, h = [], 2e-3
    for i in range(len(point)):
        e = np.eye(len(point))[i] * h
        gradient.append((8 * (at(point + e) - at(point - e)) - (at(point + 2 * e) - at(point - 2 * e))) / (12 * h))
    return {
        "kernel": latent.text(variance, lengths),
        "dispersion": list(dispersion),
        "log_evidence": float(evidence),
        "gradient": latent.plain(gradient),
        "mode": latent.plain(f),
        "latent_mean": latent.plain(mean),
        "latent_variance": latent.plain(spread),
    }


def main():
    output = latent.arguments(__doc__).output
    draw = np.random.Generator(np.random.PCG64(5))
    quine = latent.problem("quine", ["eth_n", "sex_m", "age", "slow"], "y", 24, 6, 20260606)
    boston = latent.problem("boston", ["rm", "lstat", "dis"], "y", 24, 6, 20260606, lambda y: y / 20)
    rossi = latent.problem("rossi", ["age", "prio"], "y", 24, 6, 20260606, lambda y: y / 50, ["event"])
    # Rows of indicator columns repeat; noise tells them apart.
    for rows in (quine, rossi):
        for key in ("x", "x_test"):
            x = np.array(rows[key])
            rows[key] = (x + 0.2 * draw.standard_normal(x.shape)).round(6).tolist()
    for rows, level in ((quine, 2.0), (boston, 0.0), (rossi, 0.0)):
        rows["offset"] = (level + 0.3 * draw.standard_normal(len(rows["y"]))).round(6).tolist()
        rows.setdefault("event", [1.0] * len(rows["y"]))
    plans = {
        "poisson": (quine, []),
        "negative-binomial": (quine, [1.5]),
        "gamma": (boston, [6.0]),
        "inverse-gaussian": (boston, [4.0]),
        "weibull": (rossi, [1.4]),
        "student-t": (boston, [3.0, 0.3]),
    }
    for name, (rows, dispersion) in plans.items():
        width = len(rows["inputs"])
        cases = [
            solve(name, rows, 0.8, [round(0.7 + 0.2 * i, 3) for i in range(width)], dispersion),
            solve(name, rows, 2.5, [round(1.1 - 0.1 * i, 3) for i in range(width)], [round(1.6 * v, 3) for v in dispersion]),
        ]
        header = {"tool": "numpy, mpmath", "tool_version": f"{np.__version__}, {mp.__version__}", "generator": "golden/generate/laplace_reference.py", "likelihood": name, **rows}
        latent.write(output / f"reference_{name}.json", header, cases)


if __name__ == "__main__":
    main()
