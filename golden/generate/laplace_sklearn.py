"""Two-class Laplace by scikit-learn at fixed hyperparameters: writes laplace/sklearn_<set>.json.

`probability` is the exact average of the logistic function over scikit-learn's latent mean and variance (adaptive
quadrature); `probability_sklearn` is its own answer, an approximation by five error functions that is off by up to 1e-3.
The gradient is with respect to log variance, then log length scales.
"""

import numpy as np
import sklearn
from scipy.integrate import quad
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sk

import latent


def average(mean, variance):
    deviation = variance**0.5
    density = lambda z: np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return quad(lambda z: expit(mean + deviation * z) * density(z), -12, 12, epsabs=1e-13, epsrel=1e-12, limit=500)[0]


def solve(rows, variance, lengths):
    kernel = sk.ConstantKernel(variance) * sk.RBF(lengths)
    model = GaussianProcessClassifier(kernel, optimizer=None, max_iter_predict=1000)
    x, y, x_test = (np.array(rows[k]) for k in ("x", "y", "x_test"))
    model.fit(x, y)
    base = model.base_estimator_
    evidence, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    mean, var = model.latent_mean_and_variance(x_test)
    return {
        "kernel": latent.text(variance, lengths),
        "log_evidence": float(evidence),
        "gradient": latent.plain(gradient),
        "slope": latent.plain(base.y_train_ - base.pi_),
        "latent_mean": latent.plain(mean),
        "latent_variance": latent.plain(var),
        "probability": [average(m, v) for m, v in zip(mean, var)],
        "probability_sklearn": latent.plain(model.predict_proba(x_test)[:, 1]),
    }


def main():
    output = latent.arguments(__doc__).output
    sets = {
        "crabs": latent.problem("crabs", "sp_orange FL RW CL CW BD".split(), "label", 80, 120, 20260606),
        "pima_mass_train": latent.problem("pima_mass_train", "npreg glu bp skin bmi ped age".split(), "label", 150, 50, 20260606),
    }
    for name, rows in sets.items():
        width = len(rows["inputs"])
        draw = np.random.Generator(np.random.PCG64(7))
        lengths = lambda: [round(float(v), 3) for v in np.sqrt(width) * draw.uniform(0.5, 2.0, width)]
        cases = [solve(rows, variance, lengths()) for variance in (0.5, 4.0, 60.0)]
        header = {"tool": "scikit-learn", "tool_version": sklearn.__version__, "generator": "golden/generate/laplace_sklearn.py", **rows}
        latent.write(output / f"sklearn_{name}.json", header, cases)


if __name__ == "__main__":
    main()
