"""Counts beside scikit-learn's and statsmodels' Poisson regression and LightGBM: mean Poisson deviance on rows not seen, in one run.

Usage: python benches/counts_peers.py QUORATE DATA [SET ...], where QUORATE is the built command (`-`: only the others) and DATA the folder with
`fremtpl2_freq.parquet` and `bike_hourly_counts.parquet`. Everyone gets the same columns and rows. LightGBM stops early on a
tenth of its training rows; scikit-learn's Poisson regression has standardised columns and the penalty 1e-4, statsmodels' none, with the
logarithm of the exposure as offset.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import lightgbm
import numpy as np
import pandas as pd
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SETS = {
    # Claims of motor policies: the first 610,000 rows to learn from, the others to score.
    "fremtpl2_freq": ("exposure", lambda rows: np.arange(rows) < 610_000, []),
    # Rentals by the hour: nine rows of ten, at random.
    "bike_hourly_counts": (None, lambda rows: np.random.default_rng(0).uniform(size=rows) < 0.9, []),
}


def ours(command, train, test, exposure, flags):
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("train.parquet", "test.parquet", "model.quorate")]
        train.to_parquet(paths[0])
        test.to_parquet(paths[1])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        named = ["--exposure", exposure] if exposure else []
        fit = [command, "fit", paths[0], "--target", "y", "--task", "count", *named, *flags, "-o", paths[2], "-q"]
        subprocess.run(fit, check=True)
        done = subprocess.run([command, "evaluate", paths[2], paths[1], "--json"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        scores = json.loads(done.stdout)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        told = json.loads(subprocess.run([command, "inspect", paths[2], "--json"], capture_output=True).stdout)
        print("   ", told["quantity"]["likelihood"], told["kernel"][:300])
        return scores["poisson_deviance"], seconds, scores


def linear(train, test, inputs, exposure):
    weight = train[exposure] if exposure else np.ones(len(train))
    model = make_pipeline(StandardScaler(), PoissonRegressor(alpha=1e-4, max_iter=1000))
    model.fit(train[inputs], train["y"] / weight, poissonregressor__sample_weight=weight)
    return model.predict(test[inputs]) * (test[exposure] if exposure else 1)


def unpenalised(train, test, inputs, exposure):
    import statsmodels.api as statsmodels

    mean, deviation = train[inputs].mean(), train[inputs].std().replace(0, 1)
    x, z = (statsmodels.add_constant((table[inputs] - mean) / deviation, has_constant="add") for table in (train, test))
    offset = np.log(train[exposure]) if exposure else None
    model = statsmodels.GLM(train["y"], x, family=statsmodels.families.Poisson(), offset=offset).fit()
    return model.predict(z, offset=np.log(test[exposure]) if exposure else None)


def trees(train, test, inputs, exposure):
    weight = train[exposure].to_numpy() if exposure else np.ones(len(train))
    held = np.random.default_rng(1).uniform(size=len(train)) < 0.1
    model = lightgbm.LGBMRegressor(objective="poisson", n_estimators=2000, learning_rate=0.1, n_jobs=1, verbose=-1)
    rate = train["y"].to_numpy() / weight
    model.fit(
        train.loc[~held, inputs],
        rate[~held],
        sample_weight=weight[~held],
        eval_X=train.loc[held, inputs],
        eval_y=rate[held],
        eval_sample_weight=[weight[held]],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    return model.predict(test[inputs]) * (test[exposure] if exposure else 1)


def main():
    command, folder, *wanted = sys.argv[1:]
    for name, (exposure, rule, flags) in SETS.items():
        if wanted and name not in wanted:
            continue
        table = pd.read_parquet(os.path.join(folder, f"{name}.parquet"))
        learned = rule(len(table))
        train, test = table[learned].reset_index(drop=True), table[~learned].reset_index(drop=True)
        inputs = [column for column in table.columns if column not in ("y", exposure)]
        print(f"{name}: {len(train)} rows, {len(test)} scored, {len(inputs)} inputs", flush=True)
        share = test[exposure] if exposure else np.ones(len(test))
        rate = train["y"].sum() / (train[exposure].sum() if exposure else len(train))
        print(f"  constant rate     {mean_poisson_deviance(test['y'], rate * share):.5f}", flush=True)
        for peer in (linear, unpenalised, trees):
            begun = time.process_time()
            told = peer(train, test, inputs, exposure)
            used = time.process_time() - begun
            deviance = mean_poisson_deviance(test["y"], told)
            print(f"  {peer.__name__:17s} {deviance:.5f}  {used:.1f} processor s", flush=True)
        if command == "-":
            continue
        deviance, used, scores = ours(command, train, test, exposure, flags)
        print(f"  quorate           {deviance:.5f}  {used:.1f} processor s", flush=True)
        print("   ", {key: round(value, 5) for key, value in scores.items()}, flush=True)


if __name__ == "__main__":
    main()
