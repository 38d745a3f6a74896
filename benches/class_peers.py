"""Classes beside other software: error, log loss, processor seconds and memory of one peer on one split, as a line of JSON.

Usage: python benches/class_peers.py PEER TRAIN TEST [SECONDS], where PEER is lightgbm, sklearn-gpc, sklearn-gpc-sampled, gpytorch-svgp, gpboost,
gpboost-sampled or the path of the built command `quorate`, and TRAIN and TEST are Parquet tables with the target `label`, 0 to K - 1.

Everyone gets inputs with mean 0 and deviation 1 on the training rows (quorate scales for itself). A peer that is still busy after SECONDS of
one core (400 unless told otherwise) is ended and reported as such.

- lightgbm: 31 leaves, rate 0.1, stopped early on a tenth of the training rows.
- sklearn-gpc: `GaussianProcessClassifier`, one squared exponential, one class against the others; all rows.
- gpytorch-svgp: one process a class that share the squared exponential's shape, softmax likelihood, 512 k-means centres, Adam at 0.01 with batches of 1,024, 100
  epochs or 2,000 steps, whichever is more, or what three quarters of the time allow.
- gpboost: knows two classes only (`bernoulli_logit`, `bernoulli_probit`): one class against the others by the Vecchia approximation, probabilities
  made to add up to one.
- sklearn-gpc-sampled, gpboost-sampled: the same two where all rows take too long to learn from: one length scale, hyperparameters of each class from 1,000
  rows at random, then all rows under them.
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
import pandas as pd


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


def gpboost_sampled(x, y, seconds):
    import gpboost as boost

    few, models = sample(x), []

    def process(rows):
        return boost.GPModel(
            gp_coords=rows, cov_function="matern", cov_fct_shape=1.5, likelihood="bernoulli_logit", gp_approx="vecchia", num_neighbors=20,
            num_parallel_threads=1,
        )

    for one in range(int(y.max()) + 1):
        learned = process(x[few])
        learned.fit(y=(y[few] == one).astype(float), X=np.ones((len(few), 1)))
        models.append((process(x), learned.get_cov_pars(), learned.get_coef()))

    def told(asked):
        each = []
        for one, (model, values, level) in enumerate(models):
            values, level = (np.asarray(own, float).reshape(-1) for own in (values, level))
            level = np.full(len(x), level[0]), np.full(len(asked), level[0])
            answer = model.predict(
                gp_coords_pred=asked, y=(y == one).astype(float), cov_pars=values, offset=level[0], offset_pred=level[1], predict_response=True,
            )
            each.append(answer["mu"])
        return added_up(each)

    return told


PEERS = {
    "lightgbm": lightgbm,
    "sklearn-gpc": sklearn_gpc,
    "sklearn-gpc-sampled": sklearn_gpc_sampled,
    "gpytorch-svgp": gpytorch_svgp,
    "gpboost": gpboost,
    "gpboost-sampled": gpboost_sampled,
}


def used(who):
    told = resource.getrusage(who)
    return told.ru_utime + told.ru_stime


def quorate(command, train, test):
    with tempfile.TemporaryDirectory() as place:
        model = os.path.join(place, "model.quorate")
        subprocess.run([command, "fit", train, "--target", "label", "-o", model, "-q", "--threads", "1"], check=True)
        learned = used(resource.RUSAGE_CHILDREN)
        told = subprocess.run([command, "evaluate", model, test, "--json", "--threads", "1"], check=True, capture_output=True)
        asked = used(resource.RUSAGE_CHILDREN) - learned
    scores = json.loads(told.stdout)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"error": scores["error_rate"], "log_loss": scores["log_loss"], "fit_s": learned, "ask_s": asked, "memory_mb": memory}


def peer(name, train, test, seconds):
    train, test = pd.read_parquet(train), pd.read_parquet(test)
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
    name, train, test = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 400.0
    about = {"peer": os.path.basename(name), "table": os.path.basename(train).split(".")[0]}
    if name not in PEERS:
        print(json.dumps({**about, **quorate(name, train, test)}), flush=True)
        return
    # A library that is asked once cannot be stopped from inside: the kernel ends it.
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 20, int(seconds) + 30))
        try:
            print(json.dumps({**about, **peer(name, train, test, seconds)}), flush=True)
        except Exception as error:
            print(json.dumps({**about, "failed": f"{type(error).__name__}: {error}"[:300]}), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        print(json.dumps({**about, "failed": f"ended by {signal.Signals(os.WTERMSIG(status)).name} after {seconds:.0f} s"}), flush=True)


if __name__ == "__main__":
    main()
