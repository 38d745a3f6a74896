"""GPBoost where learning from all rows does not end in reasonable time: hyperparameters from 5,000 rows at random, then all rows under them.

Usage: python PEERS.PY --plugin benches/gpboost_sampled.py --peer gpboost-vecchia-sampled --data FILE ..., with all other flags of `peers.py`. Kernel, approximation and
number of neighbours are those of its `gpboost-vecchia`.
"""

import os

import numpy as np


def fit(inputs, targets, context):
    import gpboost as boost

    rows = np.random.default_rng(context.seed).permutation(len(inputs))[:5000]

    def process(places):
        threads = int(os.environ.get("PEER_THREADS", "2"))
        return boost.GPModel(
            gp_coords=places, cov_function="matern_ard", cov_fct_shape=1.5, gp_approx="vecchia", seed=context.seed, num_parallel_threads=threads
        )

    # It cannot begin with a column that is the same in nearly all of these rows.
    told_apart = np.ptp(np.quantile(inputs[rows], [0.01, 0.99], axis=0), axis=0) > 0
    inputs = inputs[:, told_apart]
    learned = process(inputs[rows])
    learned.fit(y=targets[rows], X=np.ones((len(rows), 1)))
    values, level = (np.asarray(own, float).reshape(-1) for own in (learned.get_cov_pars(), learned.get_coef()))
    model = process(inputs)

    def told(asked):
        answer = model.predict(gp_coords_pred=asked[:, told_apart], y=targets - level[0], cov_pars=values, predict_var=True, predict_response=True)
        return {"mean": np.asarray(answer["mu"], float) + level[0], "var": np.asarray(answer["var"], float)}

    return told


PEERS = {"gpboost-vecchia-sampled": fit}
