"""Posterior of hyperparameters by NumPyro's NUTS: means and deviations that our samplers must reach within Monte Carlo error.

The model is Gaussian-process regression with covariance v exp(-1/2 sum_d (x_d - x'_d)^2 / l_d^2) + s I on standardised rows.
Priors are those of Williams and Barber (1998): log v and log s normal with mean -3 and deviation 3; log l_d normal with mean
1.5 and deviation 1.5 (mean -3 and deviation 3 of the logarithm of 1 / l_d^2).

The random walk of `hyper_metropolis.py` knows no gradients and needs no other package; this is a second opinion by a sampler of other people.

    python3 -m venv numpyro && numpyro/bin/pip install numpyro==0.22.0 "jax[cpu]==0.10.2"
    XLA_FLAGS="--xla_cpu_multi_thread_eigen=false" numpyro/bin/python golden/generate/hyper_numpyro.py      # a minute and a half
"""

import csv
import datetime
import gzip
import hashlib
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.diagnostics import effective_sample_size, gelman_rubin
from numpyro.infer import MCMC, NUTS

jax.config.update("jax_enable_x64", True)
numpyro.set_host_device_count(1)

GOLDEN = pathlib.Path(__file__).resolve().parent.parent
# Table, inputs, target, every so many rows.
SETS = [("mcycle", ["t"], "y", 2), ("boston", ["lstat", "rm"], "y", 6)]
CHAINS, WARMUP, DRAWS, SEED = 4, 500, 2000, 0


def read(name, inputs, target, step):
    path = GOLDEN / "data" / f"{name}.csv.gz"
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))[::step]
    x = np.array([[float(row[column]) for column in inputs] for row in rows])
    y = np.array([float(row[target]) for row in rows])
    standard = lambda v: (v - v.mean(0)) / v.std(0)
    return standard(x), standard(y), hashlib.sha256(path.read_bytes()).hexdigest()


def model(x, y):
    v = numpyro.sample("log_variance", dist.Normal(-3.0, 3.0))
    lengths = numpyro.sample("log_length", dist.Normal(1.5, 1.5).expand([x.shape[1]]).to_event(1))
    s = numpyro.sample("log_noise", dist.Normal(-3.0, 3.0))
    scaled = x / jnp.exp(lengths)
    square = ((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(-1)
    covariance = jnp.exp(v) * jnp.exp(-0.5 * square) + jnp.exp(s) * jnp.eye(len(y))
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(y)), covariance), obs=y)


def main():
    for name, inputs, target, step in SETS:
        x, y, digest = read(name, inputs, target, step)
        sampler = MCMC(
            NUTS(model),
            num_warmup=WARMUP,
            num_samples=DRAWS,
            num_chains=CHAINS,
            chain_method="sequential",
            progress_bar=False,
        )
        sampler.run(jax.random.PRNGKey(SEED), x, y)
        drawn = sampler.get_samples(group_by_chain=True)
        columns = [np.asarray(drawn["log_variance"])]
        columns += [np.asarray(drawn["log_length"])[:, :, d] for d in range(x.shape[1])]
        columns.append(np.asarray(drawn["log_noise"]))
        names = ["variance"] + [f"length_scale[{column}]" for column in inputs] + ["noise"]
        record = {
            "tool": "NumPyro",
            "tool_version": f"{numpyro.__version__} (jax {jax.__version__})",
            "date": datetime.date.today().isoformat(),
            "generator": "golden/generate/hyper_numpyro.py",
            "seed": SEED,
            "data": f"{name}.csv.gz",
            "sha256": digest,
            "rows": f"every {step}th from the first",
            "kernel": "se(ard)",
            "chains": CHAINS,
            "draws": DRAWS,
            "divergences": int(sampler.get_extra_fields()["diverging"].sum()),
            "inputs": x.tolist(),
            "targets": y.tolist(),
            "parameters": [
                {
                    "name": label,
                    "mean": float(values.mean()),
                    "deviation": float(values.std()),
                    "effective_draws": (effective := float(effective_sample_size(values))),
                    "monte_carlo_error": float(values.std()) / effective**0.5,
                    "r_hat": float(gelman_rubin(values)),
                }
                for label, values in zip(names, columns, strict=True)
            ],
        }
        path = GOLDEN / "hyper" / f"{name}_numpyro.json"
        path.write_text(json.dumps(record) + "\n")
        print(name, json.dumps(record["parameters"]), flush=True)


if __name__ == "__main__":
    main()
