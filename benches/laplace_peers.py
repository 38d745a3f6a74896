"""Two-class fit and predict at 2,000 rows: ours beside scikit-learn's GaussianProcessClassifier, in one run.

Usage: python benches/laplace_peers.py BINARY, where BINARY is the built example `laplace_speed`. Both learn one variance and
one length scale from the same start on the same standardised rows, in one ascent. Threads: OMP_NUM_THREADS and
RAYON_NUM_THREADS. Processor seconds are those of all three steps, and hold on a busy machine too.
"""

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


def main():
    draw = np.random.Generator(np.random.PCG64(0))
    x = draw.standard_normal((ROWS + TESTS, WIDTH))
    f = 2 * np.sin(1.5 * x[:, 0]) + x[:, 1] * x[:, 2] + x[:, 3]
    y = (draw.uniform(size=len(f)) < 1 / (1 + np.exp(-2 * f))).astype(float)
    x = (x - x[:ROWS].mean(axis=0)) / x[:ROWS].std(axis=0)
    with tempfile.TemporaryDirectory() as folder:
        table = np.column_stack([x, y])
        np.savetxt(f"{folder}/train.csv", table[:ROWS], delimiter=",", fmt="%.17g")
        np.savetxt(f"{folder}/test.csv", table[ROWS:], delimiter=",", fmt="%.17g")
        print("quorate")
        sys.stdout.flush()
        subprocess.run([sys.argv[1], f"{folder}/train.csv", f"{folder}/test.csv"], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"processor seconds {used.ru_utime + used.ru_stime:.2f}")
    kernel = ConstantKernel(1.0, (1e-5, 1e5)) * RBF(WIDTH**0.5, (1e-3, 1e4))
    processor = time.process_time()
    begun = time.perf_counter()
    fixed = GaussianProcessClassifier(kernel, optimizer=None).fit(x[:ROWS], y[:ROWS])
    print(f"scikit-learn\nfit at fixed hyperparameters {time.perf_counter() - begun:.3f} s, log evidence {fixed.log_marginal_likelihood():.6f}")
    begun = time.perf_counter()
    model = GaussianProcessClassifier(kernel).fit(x[:ROWS], y[:ROWS])
    print(f"fit with learning {time.perf_counter() - begun:.3f} s, log evidence {model.log_marginal_likelihood():.6f}, {model.kernel_}")
    begun = time.perf_counter()
    p = model.predict_proba(x[ROWS:])
    print(f"predict {time.perf_counter() - begun:.3f} s for {TESTS} rows\nlog loss {log_loss(y[ROWS:], p):.6f}")
    print(f"processor seconds {time.process_time() - processor:.2f}")


if __name__ == "__main__":
    main()
