"""Two-class fit and predict at 2,000 rows: ours beside scikit-learn's GaussianProcessClassifier, in one run.

Usage: python benches/laplace_peers.py BINARY, where BINARY is the built example `laplace_speed`. Both learn a variance and
one length scale, then one for each column, from the same start on the same standardised rows, in one ascent. Threads:
OMP_NUM_THREADS and RAYON_NUM_THREADS. Processor seconds are those of all three steps, and hold on a busy machine too.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss

ROWS, TESTS, WIDTH = 2000, 2000, 8


def table():
    draw = np.random.Generator(np.random.PCG64(0))
    x = draw.standard_normal((ROWS + TESTS, WIDTH))
    f = 2 * np.sin(1.5 * x[:, 0]) + x[:, 1] * x[:, 2] + x[:, 3]
    y = (draw.uniform(size=len(f)) < 1 / (1 + np.exp(-2 * f))).astype(float)
    return (x - x[:ROWS].mean(axis=0)) / x[:ROWS].std(axis=0), y


def ours(x, y, kernel):
    with tempfile.TemporaryDirectory() as folder:
        rows = np.column_stack([x, y])
        paths = [os.path.join(folder, "train.csv"), os.path.join(folder, "test.csv")]
        np.savetxt(paths[0], rows[:ROWS], delimiter=",", fmt="%.17g")
        np.savetxt(paths[1], rows[ROWS:], delimiter=",", fmt="%.17g")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.argv[1], *paths, kernel], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"processor seconds {used:.2f}")


def theirs(x, y, lengths):
    kernel = ConstantKernel(1.0, (1e-5, 1e5)) * RBF(lengths, (1e-3, 1e4))
    processor = time.process_time()
    begun = time.perf_counter()
    fixed = GaussianProcessClassifier(kernel, optimizer=None).fit(x[:ROWS], y[:ROWS])
    evidence = fixed.log_marginal_likelihood()
    print(f"fit at fixed hyperparameters {time.perf_counter() - begun:.3f} s, log evidence {evidence:.6f}")
    begun = time.perf_counter()
    model = GaussianProcessClassifier(kernel).fit(x[:ROWS], y[:ROWS])
    evidence = model.log_marginal_likelihood()
    print(f"fit with learning {time.perf_counter() - begun:.3f} s, log evidence {evidence:.6f}, {model.kernel_}")
    begun = time.perf_counter()
    p = model.predict_proba(x[ROWS:])
    print(f"predict {time.perf_counter() - begun:.3f} s for {TESTS} rows\nlog loss {log_loss(y[ROWS:], p):.6f}")
    print(f"processor seconds {time.process_time() - processor:.2f}")


def main():
    x, y = table()
    length = WIDTH**0.5
    each = ", ".join([repr(length)] * WIDTH)
    plans = [(f"1 * se(length_scale={length!r})", length), (f"1 * se(ard, length_scale=[{each}])", [length] * WIDTH)]
    for text, lengths in plans:
        print(f"quorate, {text}", flush=True)
        ours(x, y, text)
        print("scikit-learn", flush=True)
        theirs(x, y, lengths)


if __name__ == "__main__":
    main()
