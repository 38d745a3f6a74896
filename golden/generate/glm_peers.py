"""Generalised linear models and accelerated lifetimes by statsmodels and lifelines: laplace/glm_<kind>.json.

With a linear kernel and a very broad prior, Laplace's method is maximum likelihood in the coefficients: the linear predictor
and its standard error must agree up to the prior's influence. The dispersion is the peer's own, and stays fixed.
"""

import numpy as np
import statsmodels
import statsmodels.api as sm
import lifelines
import pandas

import latent
import tables

EXPOSURE_SEED = 3


def glm(rows, family, offset):
    x, y, x_test = np.array(rows["x"]), np.array(rows["y"]), np.array(rows["x_test"])
    model = sm.GLM(y, sm.add_constant(x), family=family, offset=offset)
    # The scale is fixed so that standard errors are those of the curvature.
    fitted = model.fit(tol=1e-14, maxiter=200, scale=rows.pop("scale", 1.0))
    design = sm.add_constant(x_test, has_constant="add")
    predictor = design @ fitted.params
    error = np.sqrt(np.einsum("ij,jk,ik->i", design, fitted.cov_params(), design))
    return predictor, error


def weibull(rows, event):
    names = rows["inputs"]
    table = pandas.DataFrame(np.array(rows["x"]), columns=names)
    table["y"], table["event"] = rows["y"], event
    fitter = lifelines.WeibullAFTFitter().fit(table, "y", "event")
    coefficients = [fitter.params_["lambda_", name] for name in ["Intercept", *names]]
    shape = float(np.exp(fitter.params_["rho_", "Intercept"]))
    design = np.column_stack([np.ones(len(rows["x_test"])), np.array(rows["x_test"])])
    return design @ np.array(coefficients), shape


def main():
    output = latent.arguments(__doc__).output
    draw = np.random.Generator(np.random.PCG64(EXPOSURE_SEED))
    quine = latent.problem("quine", ["eth_n", "sex_m", "age", "slow"], "y", 120, 20, 20260609)
    boston = latent.problem("boston", ["rm", "lstat", "dis", "ptratio"], "y", 200, 20, 20260609)
    rossi = latent.problem("rossi", "fin age race wexp mar paro prio".split(), "y", 400, 20, 20260609, extras=["event"])
    versions = f"statsmodels {statsmodels.__version__}, lifelines {lifelines.__version__}"
    offset = np.log(draw.uniform(0.5, 3.0, 120)).round(6)
    shape, size = 12.0, 1.6
    plans = [
        ("poisson", quine, sm.families.Poisson(), offset, []),
        ("negative-binomial", quine, sm.families.NegativeBinomial(alpha=1 / size), offset, [size]),
        ("gamma", {**boston, "scale": 1 / shape}, sm.families.Gamma(sm.families.links.Log()), np.zeros(200), [shape]),
    ]
    for name, rows, family, offsets, dispersion in plans:
        predictor, error = glm(rows, family, offsets)
        case = {"dispersion": dispersion, "predictor": latent.plain(predictor), "predictor_error": latent.plain(error)}
        header = {"tool": "statsmodels, lifelines", "tool_version": versions, "generator": "golden/generate/glm_peers.py", "likelihood": name, **rows}
        header |= {"offset": offsets.tolist(), "event": [1.0] * len(offsets)}
        latent.write(output / f"glm_{name}.json", header, [case])
    header = {"tool": "statsmodels, lifelines", "tool_version": versions, "generator": "golden/generate/glm_peers.py"}
    lifetimes = [("glm_weibull", rossi, True)]
    if tables.locate("gbsg2").exists():
        names = [n for n in tables.read_table("gbsg2")[0] if n not in ("event", "y")]
        gbsg2 = latent.problem("gbsg2", names, "y", 400, 20, 20260609, lambda y: y / 365, ["event"])
        lifetimes.append(("glm_weibull_gbsg2", gbsg2, False))
    for name, rows, committed in lifetimes:
        predictor, rho = weibull(rows, rows["event"])
        own = header | {"likelihood": "weibull", "committed": committed, **rows, "offset": [0.0] * len(rows["y"])}
        latent.write(output / f"{name}.json", own, [{"dispersion": [rho], "predictor": latent.plain(predictor)}])
    if tables.locate("datacar_sev").exists():
        # One of the area's indicators is left out: with the constant they would be dependent.
        names = [n for n in tables.read_table("datacar_sev")[0] if n not in ("area_A", "y")]
        claims = latent.problem("datacar_sev", names, "y", 400, 20, 20260609, lambda y: y / 1000)
        shape = 0.7
        predictor, error = glm({**claims, "scale": 1 / shape}, sm.families.Gamma(sm.families.links.Log()), np.zeros(400))
        own = header | {"likelihood": "gamma", "committed": False, **claims, "offset": [0.0] * 400, "event": [1.0] * 400}
        case = {"dispersion": [shape], "predictor": latent.plain(predictor), "predictor_error": latent.plain(error)}
        latent.write(output / "glm_gamma_datacar.json", own, [case])

if __name__ == "__main__":
    main()
