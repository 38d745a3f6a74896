"""Poisson counts by GPy's own Laplace method: writes laplace/reference_poisson_gpy.json, in the form of laplace_reference.py.

GPy has no offsets, so there are none here; its search for the mode is run to rounding.
"""

import GPy
import numpy as np

import latent


def solve(rows, variance, lengths):
    x, y, x_test = np.array(rows["x"]), np.array(rows["y"]), np.array(rows["x_test"])
    kernel = GPy.kern.RBF(x.shape[1], variance=variance, lengthscale=lengths, ARD=True)
    inference = GPy.inference.latent_function_inference.Laplace()
    inference._mode_finding_tolerance, inference._mode_finding_max_iter = 1e-14, 200
    model = GPy.core.GP(x, y[:, None], kernel, GPy.likelihoods.Poisson(), inference_method=inference)
    mean, var = model._raw_predict(x_test)
    gradient = np.concatenate([kernel.variance.gradient * variance, kernel.lengthscale.gradient * np.array(lengths)])
    return {
        "kernel": latent.text(variance, lengths),
        "dispersion": [],
        "log_evidence": float(np.asarray(model.log_likelihood()).ravel()[0]),
        "gradient": latent.plain(gradient),
        "mode": latent.plain(model.posterior.mean[:, 0]),
        "latent_mean": latent.plain(mean[:, 0]),
        "latent_variance": latent.plain(var[:, 0]),
    }


def main():
    output = latent.arguments(__doc__).output
    rows = latent.problem("quine", ["eth_n", "sex_m", "age", "slow"], "y", 100, 20, 20260610)
    draw = np.random.Generator(np.random.PCG64(5))
    for key in ("x", "x_test"):
        x = np.array(rows[key])
        rows[key] = (x + 0.2 * draw.standard_normal(x.shape)).round(6).tolist()
    rows |= {"offset": [0.0] * len(rows["y"]), "event": [1.0] * len(rows["y"])}
    cases = [solve(rows, 4.0, [0.9, 1.1, 1.0, 1.3]), solve(rows, 1.5, [0.6, 0.7, 0.8, 0.9])]
    header = {"tool": "GPy", "tool_version": GPy.__version__, "generator": "golden/generate/laplace_gpy.py", "likelihood": "poisson", **rows}
    latent.write(output / "reference_poisson_gpy.json", header, cases)


if __name__ == "__main__":
    main()
