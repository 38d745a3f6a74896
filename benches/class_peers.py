"""Classes beside other software: error, log loss, processor seconds and memory of one peer on one split, as a line of JSON.

Usage: python benches/class_peers.py PEER DATA SET [SECONDS], where PEER is lightgbm, sklearn-gpc, sklearn-gpc-sampled, sklearn-gpc-few, gpytorch-svgp,
gpboost, gpboost-sampled, gpboost-few, gpboost-narrow or the path of the built command `quorate`, DATA the folder with `index.csv`, and SET one of its tables with the target
`label`, 0 to K - 1, whose first rows train (`n_train` of the index) and last are scored.

Everyone gets inputs with mean 0 and deviation 1 on the training rows (quorate scales for itself). A peer that is still busy after SECONDS of
one core (400 unless told otherwise) is ended and reported as such.

- lightgbm: 31 leaves, rate 0.1, stopped early on a tenth of the training rows.
- sklearn-gpc: `GaussianProcessClassifier`, one squared exponential, one class against the others; all rows.
- gpytorch-svgp: one process a class that share the squared exponential's shape, softmax likelihood, 512 k-means centres, Adam at 0.01 with batches of 1,024, 100
  epochs or 2,000 steps, whichever is more, or what three quarters of the time allow.
- gpboost: knows two classes only (`bernoulli_logit`, `bernoulli_probit`): one class against the others by the Vecchia approximation, probabilities
  made to add up to one.
- sklearn-gpc-sampled, gpboost-sampled: the same two where all rows take too long to learn from: one length scale, hyperparameters of each class from 1,000
  rows at random, then all rows under them. GPBoost's learning goes astray from fewer than five rows of a class: such a class gets its share of all rows.
- gpboost-narrow: gpboost-sampled with 10 neighbours instead of 20, where that takes too long. (With its 500 inducing points, `fitc`, it ends sooner, and goes
  astray: of letter 96 % errors, on shuttle its factorisation fails.)
- sklearn-gpc-few, gpboost-few: the `sampled` ones given 4,000 rows at random for all they know, where all rows take too long or too much memory.
"""

import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np


def lightgbm(x, y, seconds):
    import lightgbm as trees

    held = np.random.default_rng(2).uniform(size=len(x)) < 0.1
    count = int(y.max()) + 1
    kind = {"objective": "binary"} if count == 2 else {"objective": "multiclass", "num_class": count}
    flags = {"learning_rate": 0.1, "num_threads": 1, "verbosity": -1, "seed": 0, **kind}
    learn = trees.Dataset(x[~held], y[~held])
    model = trees.train(
        flags, learn, 2000, [trees.Dataset(x[held], y[held], reference=learn)], callbacks=[trees.early_stopping(50, verbose=False)]
    )

    def told(asked):
        share = model.predict(asked)
        return np.column_stack([1 - share, share]) if count == 2 else share

    return told


def sklearn_gpc(x, y, seconds):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(math.sqrt(x.shape[1]), (1e-2, 1e3))
    return GaussianProcessClassifier(kernel, random_state=0).fit(x, y).predict_proba


def gpytorch_svgp(x, y, seconds):
    import gpytorch
    import torch
    from sklearn.cluster import MiniBatchKMeans

    torch.set_num_threads(1)
    torch.manual_seed(0)
    begun, count = time.process_time(), int(y.max()) + 1
    centres = MiniBatchKMeans(min(512, len(x)), random_state=0, n_init=1).fit(x).cluster_centers_
    centres = torch.as_tensor(np.tile(centres, (count, 1, 1)), dtype=torch.float32)
    inputs, classes = torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(y)

    class Processes(gpytorch.models.ApproximateGP):
        def __init__(self):
            batch = torch.Size([count])
            own = gpytorch.variational.CholeskyVariationalDistribution(centres.shape[1], batch_shape=batch)
            one = gpytorch.variational.VariationalStrategy(self, centres, own, learn_inducing_locations=True)
            super().__init__(gpytorch.variational.IndependentMultitaskVariationalStrategy(one, num_tasks=count))
            self.mean_module = gpytorch.means.ConstantMean(batch_shape=batch)
            shape = gpytorch.kernels.RBFKernel(ard_num_dims=x.shape[1])
            shape.lengthscale = 0.5 * math.sqrt(x.shape[1])
            self.covar_module = gpytorch.kernels.ScaleKernel(shape, batch_shape=batch)

        def forward(self, points):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(points), self.covar_module(points))

    model = Processes()
    likelihood = gpytorch.likelihoods.SoftmaxLikelihood(num_classes=count, mixing_weights=False)
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(x))
    search = torch.optim.Adam(model.parameters(), lr=0.01)
    steps, done = max(2000, 100 * math.ceil(len(x) / 1024)), 0
    while done < steps and time.process_time() - begun < 0.75 * seconds:
        rows = torch.randperm(len(x))[:1024]
        search.zero_grad()
        loss = -bound(model(inputs[rows]), classes[rows])
        loss.backward()
        search.step()
        done += 1
        if max(done / steps, (time.process_time() - begun) / (0.75 * seconds)) > 0.8:
            search.param_groups[0]["lr"] = 0.001
    gpytorch_svgp.note = f"{done} of {steps} steps"
    model.eval()

    def told(asked):
        shares = []
        with torch.no_grad(), gpytorch.settings.num_likelihood_samples(200):
            for start in range(0, len(asked), 1000):
                belief = likelihood(model(torch.as_tensor(asked[start : start + 1000], dtype=torch.float32)))
                shares.append(belief.probs.mean(0).numpy())
        return np.concatenate(shares)

    return told


def gpboost(x, y, seconds):
    import gpboost as boost

    models = []
    for one in range(int(y.max()) + 1):
        model = boost.GPModel(
            gp_coords=x, cov_function="matern_ard", cov_fct_shape=1.5, likelihood="bernoulli_logit", gp_approx="vecchia", num_neighbors=20
        )
        model.fit(y=(y == one).astype(float), X=np.ones((len(x), 1)))
        models.append(model)

    def told(asked):
        ones = np.ones((len(asked), 1))
        return added_up([model.predict(gp_coords_pred=asked, X_pred=ones, predict_response=True)["mu"] for model in models])

    return told


def sample(x):
    return np.random.default_rng(0).permutation(len(x))[:1000]


def added_up(each):
    shares = np.column_stack(each)
    return shares / shares.sum(axis=1, keepdims=True)


def sklearn_gpc_sampled(x, y, seconds):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    kernel, few = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(math.sqrt(x.shape[1]), (1e-2, 1e3)), sample(x)
    models = []
    for one in range(int(y.max()) + 1):
        learned = GaussianProcessClassifier(kernel, random_state=0).fit(x[few], y[few] == one).kernel_ if (y[few] == one).any() else kernel
        models.append(GaussianProcessClassifier(learned, optimizer=None).fit(x, y == one))
    return lambda asked: added_up([model.predict_proba(asked)[:, 1] for model in models])


def of_a_few(learn, x, y, seconds):
    """`learn` given 4,000 rows at random for all it knows."""
    few = np.random.default_rng(1).permutation(len(x))[:4000]
    # A class of which none of these rows is has no process: it gets its share of all rows.
    known = np.unique(y[few])
    model = learn(x[few], np.searchsorted(known, y[few]), seconds)
    rest = np.bincount(y) / len(y)

    def told(asked):
        shares = np.tile(rest, (len(asked), 1))
        shares[:, known] = model(asked) * rest[known].sum()
        return shares

    return told


def sklearn_gpc_few(x, y, seconds):
    return of_a_few(sklearn_gpc_sampled, x, y, seconds)


def gpboost_few(x, y, seconds):
    return of_a_few(gpboost_sampled, x, y, seconds)


def gpboost_sampled(x, y, seconds, neighbours=20):
    import gpboost as boost

    few, models = sample(x), []

    def process(rows):
        return boost.GPModel(
            gp_coords=rows, cov_function="matern", cov_fct_shape=1.5, likelihood="bernoulli_logit", gp_approx="vecchia", num_neighbors=neighbours,
            num_parallel_threads=1,
        )

    for one in range(int(y.max()) + 1):
        if (y[few] == one).sum() < 5:
            models.append(None)
            continue
        learned = process(x[few])
        learned.fit(y=(y[few] == one).astype(float), X=np.ones((len(few), 1)))
        models.append((process(x), learned.get_cov_pars(), learned.get_coef()))

    def told(asked):
        each = []
        for one, learned in enumerate(models):
            if learned is None:
                each.append(np.full(len(asked), (y == one).mean()))
                continue
            model, values, level = learned
            values, level = (np.asarray(own, float).reshape(-1) for own in (values, level))
            level = np.full(len(x), level[0]), np.full(len(asked), level[0])
            answer = model.predict(
                gp_coords_pred=asked, y=(y == one).astype(float), cov_pars=values, offset=level[0], offset_pred=level[1], predict_response=True,
            )
            each.append(answer["mu"])
        return added_up(each)

    return told


def gpboost_narrow(x, y, seconds):
    return gpboost_sampled(x, y, seconds, neighbours=10)


PEERS = {
    "lightgbm": lightgbm,
    "sklearn-gpc": sklearn_gpc,
    "sklearn-gpc-sampled": sklearn_gpc_sampled,
    "sklearn-gpc-few": sklearn_gpc_few,
    "gpytorch-svgp": gpytorch_svgp,
    "gpboost": gpboost,
    "gpboost-sampled": gpboost_sampled,
    "gpboost-few": gpboost_few,
    "gpboost-narrow": gpboost_narrow,
}


def used(who):
    told = resource.getrusage(who)
    return told.ru_utime + told.ru_stime


def published_split(folder, name):
    import pandas as pd

    index = pd.read_csv(os.path.join(folder, "index.csv"))
    row = index[index["file"].str.split(".").str[0] == name].iloc[0]
    path, count = os.path.join(folder, row["file"]), int(row["n_train"])
    table = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path)
    return table.iloc[:count], table.iloc[count:]


def in_a_process_of_its_own(work):
    """What a process held before it becomes another program counts as that program's memory: tables are read elsewhere."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def ran(command):
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    told = child.stdout.read()
    _, status, took = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{command[1]} ended with status {status}")
    return told, took.ru_utime + took.ru_stime, took.ru_maxrss / 1024


def quorate(command, folder, name):
    with tempfile.TemporaryDirectory() as place:
        train, test, model = (os.path.join(place, file) for file in ("train.parquet", "test.parquet", "model.quorate"))

        def write():
            for table, path in zip(published_split(folder, name), (train, test)):
                table.to_parquet(path, index=False)

        in_a_process_of_its_own(write)
        _, learned, most = ran([command, "fit", train, "--target", "label", "-o", model, "-q", "--threads", "1"])
        told, asked, more = ran([command, "evaluate", model, test, "--json", "--threads", "1"])
    scores = json.loads(told)
    return {"error": scores["error_rate"], "log_loss": scores["log_loss"], "fit_s": learned, "ask_s": asked, "memory_mb": max(most, more)}


def peer(name, tables, seconds):
    train, test = tables
    inputs = [column for column in train.columns if column != "label"]
    mean, deviation = train[inputs].mean(), train[inputs].std(ddof=0).replace(0, 1)
    x, z = (((table[inputs] - mean) / deviation).to_numpy(np.float64) for table in (train, test))
    begun = used(resource.RUSAGE_SELF)
    told = PEERS[name](x, train["label"].to_numpy(np.int64), seconds)
    learned = used(resource.RUSAGE_SELF)
    shares = np.clip(told(z), 1e-12, 1)
    shares /= shares.sum(axis=1, keepdims=True)
    asked, right = used(resource.RUSAGE_SELF) - learned, test["label"].to_numpy(np.int64)
    return {
        "error": float((shares.argmax(axis=1) != right).mean()),
        "log_loss": float(-np.log(shares[np.arange(len(right)), right]).mean()),
        "fit_s": learned - begun,
        "ask_s": asked,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "note": getattr(PEERS[name], "note", ""),
    }


def main():
    name, folder, table = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 400.0
    about = {"peer": os.path.basename(name), "table": table}
    if name not in PEERS:
        print(json.dumps({**about, **quorate(name, folder, table)}), flush=True)
        return

    def work():
        # A library that is asked once cannot be stopped from inside: the kernel ends it.
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 20, int(seconds) + 30))
        try:
            print(json.dumps({**about, **peer(name, published_split(folder, table), seconds)}), flush=True)
        except Exception as error:
            print(json.dumps({**about, "failed": f"{type(error).__name__}: {error}"[:300]}), flush=True)

    status = in_a_process_of_its_own(work)
    if os.WIFSIGNALED(status):
        print(json.dumps({**about, "failed": f"ended by {signal.Signals(os.WTERMSIG(status)).name} after {seconds:.0f} s"}), flush=True)


if __name__ == "__main__":
    main()
