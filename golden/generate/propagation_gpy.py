"""Expectation propagation for two classes by GPy, and the same posterior by a long Markov chain: laplace/ep_<set>.json.

GPy gives evidence, gradient, latent moments and probabilities (probit). `probability_chain` are averages over 120,000
steps of elliptical slice sampling (Murray, Adams and MacKay 2010), for probit and for logit, `chain_error` their standard
errors from 40 batches: what EP approximates.
"""

import GPy
import numpy as np
from scipy.special import expit, log_ndtr, ndtr

import latent


def chain(log_density, k, cross, prior, seed, steps=120_000):
    """Elliptical slice sampling of the latent values; returns draws of the latent value at the queries in batches."""
    n = len(k)
    root = np.linalg.cholesky(k + 1e-10 * np.eye(n))
    generator = np.random.Generator(np.random.PCG64(seed))
    weights = np.linalg.solve(k + 1e-10 * np.eye(n), cross)
    spread = np.sqrt(np.maximum(prior - (cross * weights).sum(axis=0), 0.0))
    f, now, kept = np.zeros(n), None, []
    now = log_density(f)
    for step in range(steps):
        nu = root @ generator.standard_normal(n)
        level = now + np.log(generator.uniform())
        angle = generator.uniform(0, 2 * np.pi)
        low, high = angle - 2 * np.pi, angle
        while True:
            proposal = f * np.cos(angle) + nu * np.sin(angle)
            value = log_density(proposal)
            if value > level:
                f, now = proposal, value
                break
            low, high = (angle, high) if angle < 0 else (low, angle)
            angle = generator.uniform(low, high)
        if step >= steps // 20 and step % 10 == 0:
            kept.append(f @ weights)
    return np.array(kept), spread


def averages(kept, spread, squash):
    values = squash(kept, spread)
    batches = np.array([part.mean(axis=0) for part in np.array_split(values, 40)])
    return values.mean(axis=0), batches.std(axis=0) / np.sqrt(40)


def logit_average(kept, spread):
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    return sum(w * expit(kept + spread * z) for z, w in zip(nodes, weights))


def solve(rows, variance, lengths, seed):
    x, y, x_test = np.array(rows["x"]), np.array(rows["y"]), np.array(rows["x_test"])
    kernel = GPy.kern.RBF(x.shape[1], variance=variance, lengthscale=lengths, ARD=True)
    inference = GPy.inference.latent_function_inference.EP(epsilon=1e-13, max_iters=2000)
    model = GPy.core.GP(x, y[:, None], kernel, GPy.likelihoods.Bernoulli(), inference_method=inference)
    mean, var = model._raw_predict(x_test)
    gradient = np.concatenate([kernel.variance.gradient * variance, kernel.lengthscale.gradient * np.array(lengths)])
    k = latent.squared_exponential(x, x, variance, lengths)
    cross = latent.squared_exponential(x, x_test, variance, lengths)
    sign = 2 * y - 1
    probit = chain(lambda f: log_ndtr(sign * f).sum(), k, cross, variance, seed)
    logit = chain(lambda f: -np.logaddexp(0, -sign * f).sum(), k, cross, variance, seed + 1)
    by_probit = averages(*probit, lambda f, s: ndtr(f / np.sqrt(1 + s**2)))
    by_logit = averages(*logit, logit_average)
    return {
        "kernel": latent.text(variance, lengths),
        "log_evidence": float(np.asarray(model.log_likelihood()).ravel()[0]),
        "gradient": latent.plain(gradient),
        "latent_mean": latent.plain(mean[:, 0]),
        "latent_variance": latent.plain(var[:, 0]),
        "probability": latent.plain(ndtr(mean[:, 0] / np.sqrt(1 + var[:, 0]))),
        "probability_chain": {"probit": latent.plain(by_probit[0]), "bernoulli": latent.plain(by_logit[0])},
        "chain_error": {"probit": latent.plain(by_probit[1]), "bernoulli": latent.plain(by_logit[1])},
    }


def main():
    output = latent.arguments(__doc__).output
    sets = {
        "crabs": latent.problem("crabs", "FL RW CL CW BD".split(), "label", 60, 20, 20260608),
        "pima_mass_train": latent.problem("pima_mass_train", "npreg glu bp skin bmi ped age".split(), "label", 80, 20, 20260608),
    }
    for name, rows in sets.items():
        width = len(rows["inputs"])
        cases = [
            solve(rows, 1.5, [round(1.0 + 0.2 * i, 3) for i in range(width)], 11),
            solve(rows, 20.0, [round(2.5 - 0.2 * i, 3) for i in range(width)], 12),
        ]
        header = {"tool": "GPy", "tool_version": GPy.__version__, "generator": "golden/generate/propagation_gpy.py", **rows}
        latent.write(output / f"ep_{name}.json", header, cases)


if __name__ == "__main__":
    main()
