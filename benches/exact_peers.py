"""Times of other software on the tasks of `cargo xtask bench exact`; one JSON object a line on standard output.

    python exact_peers.py --data ../shared/data --threads 2 [--task NAME ...] [--repeats 3]

Tasks, all in double precision on rows of kin40k, inputs and target standardised on the training rows:
  matrix_product      numpy, 3000 x 3000: what the machine can do
  sklearn_evidence    log evidence and gradient, n = 2000, d = 8, one length scale per input
  sklearn_predict     posterior at fixed hyperparameters and mean and deviation at 4000 rows, n = 4000
  gpytorch_predict    the same by GPyTorch's exact GP, Cholesky path

Each task runs in a process of its own, so that peak memory is its own. Wall and processor seconds are medians over the
repeats, after one warming run on 200 rows. `check` holds numbers that show that two tools computed the same thing.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

TASKS = ["matrix_product", "sklearn_evidence", "sklearn_predict", "gpytorch_predict"]
VARIANCE, NOISE = 1.0, 0.01
LENGTH_SCALES = [1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = os.environ.get("QUORATE_DATA", "../shared/data")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(folder))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--evidence-rows", type=int, default=2000)
    parser.add_argument("--predict-rows", type=int, default=4000)
    parser.add_argument("--test-rows", type=int, default=4000)
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def read_rows(data, train, test):
    """The first `train` rows and the `test` rows after them, standardised on the former."""
    import numpy as np
    import pyarrow.parquet

    columns = pyarrow.parquet.read_table(data / "kin40k.parquet").slice(0, train + test).columns
    table = np.column_stack([np.asarray(column, dtype=float) for column in columns])
    mean, deviation = table[:train].mean(axis=0), table[:train].std(axis=0)
    table = (table - mean) / deviation
    return table[:train, :-1].copy(), table[:train, -1].copy(), table[train:, :-1].copy()


def measure(repeats, warm, work):
    """Medians of wall and processor seconds, and the last result."""
    warm()
    wall, processor = [], []
    for _ in range(repeats):
        began, began_processor = time.perf_counter(), time.process_time()
        result = work()
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - began_processor)
    median = lambda values: sorted(values)[len(values) // 2]
    return {"wall_seconds": median(wall), "cpu_seconds": median(processor), "repeats": repeats}, result


def matrix_product(arguments):
    import numpy as np

    size = 3000
    left, right = np.random.default_rng(0).standard_normal((2, size, size))
    times, _ = measure(arguments.repeats, lambda: left[:200] @ right, lambda: left @ right)
    rate = 2 * size**3 / times["wall_seconds"] / 1e9
    return {"tool": "numpy", "version": np.__version__, "n": size, **times, "gflops": rate}


def sklearn_model(inputs, targets):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(VARIANCE) * RBF(LENGTH_SCALES) + WhiteKernel(NOISE)
    return GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None, copy_X_train=False).fit(inputs, targets)


def sklearn_evidence(arguments):
    import sklearn

    inputs, targets, _ = read_rows(arguments.data, arguments.evidence_rows, 0)

    def evidence_of(rows):
        model = sklearn_model(inputs[:rows], targets[:rows])
        theta = model.kernel_.theta
        return lambda: model.log_marginal_likelihood(theta, eval_gradient=True, clone_kernel=False)

    times, (value, gradient) = measure(arguments.repeats, evidence_of(200), evidence_of(len(targets)))
    check = {"log_evidence": float(value), "gradient": gradient.tolist()}
    return {"tool": "scikit-learn", "version": sklearn.__version__, "n": len(targets), "d": 8, **times, "check": check}


def sklearn_predict(arguments):
    import sklearn

    inputs, targets, queries = read_rows(arguments.data, arguments.predict_rows, arguments.test_rows)
    ask = lambda rows: sklearn_model(inputs[:rows], targets[:rows]).predict(queries[:rows], return_std=True)
    times, (mean, deviation) = measure(arguments.repeats, lambda: ask(200), lambda: ask(len(targets)))
    check = {"mean_square": float((mean**2).mean()), "latent_variance": float((deviation**2).mean() - NOISE)}
    return {"tool": "scikit-learn", "version": sklearn.__version__, "n": len(targets), "d": 8,
            "test_rows": len(queries), **times, "check": check}  # fmt: skip


def gpytorch_predict(arguments):
    import gpytorch
    import torch

    torch.set_num_threads(arguments.threads)
    torch.set_default_dtype(torch.float64)
    inputs, targets, queries = (torch.from_numpy(a) for a in
                                read_rows(arguments.data, arguments.predict_rows, arguments.test_rows))  # fmt: skip

    class Regression(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=8))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def ask(rows):
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        model = Regression(inputs[:rows], targets[:rows], likelihood)
        likelihood.noise = NOISE
        model.covar_module.outputscale = VARIANCE
        model.covar_module.base_kernel.lengthscale = torch.tensor(LENGTH_SCALES)
        model.eval()
        settings = gpytorch.settings
        with torch.no_grad(), settings.max_cholesky_size(10**6), settings.fast_computations(False, False, False):
            belief = model(queries[:rows])
            return belief.mean, belief.variance

    times, (mean, variance) = measure(arguments.repeats, lambda: ask(200), lambda: ask(len(targets)))
    check = {"mean_square": float((mean**2).mean()), "latent_variance": float(variance.mean())}
    return {"tool": "GPyTorch", "version": f"{gpytorch.__version__} (torch {torch.__version__})", "n": len(targets),
            "d": 8, "test_rows": len(queries), **times, "check": check}  # fmt: skip


def main():
    arguments = parse_arguments()
    if arguments.inside:
        (task,) = arguments.task
        result = {"task": task, "threads": arguments.threads, **globals()[task](arguments)}
        result["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(result), flush=True)
        return
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[variable] = str(arguments.threads)
    options = ["--data", str(arguments.data), "--threads", str(arguments.threads), "--repeats", str(arguments.repeats),
               "--evidence-rows", str(arguments.evidence_rows), "--predict-rows", str(arguments.predict_rows),
               "--test-rows", str(arguments.test_rows)]  # fmt: skip
    failed = False
    for task in arguments.task or TASKS:
        command = [sys.executable, os.path.abspath(__file__), "--inside", "--task", task, *options]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode == 0:
            print(done.stdout.strip(), flush=True)
        else:
            failed = True
            reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            print(json.dumps({"task": task, "threads": arguments.threads, "error": reason}), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
