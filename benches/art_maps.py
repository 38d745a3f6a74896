"""How hard the artificial maps of `quorate reproduce mgp-table-1` are: the error of scikit-learn's process with every hyperparameter learned.

Usage: python benches/art_maps.py [MAPS]. Five normalised bumps with standard normal inputs, centres and heights, 100 rows with noise 0.2, error against the map at 1,000
points; the paper prints 0.0662 for its mixture with 20 inputs and 0.0808 with 5. Widths of bumps are those of the page, and for 20 inputs wider ones too.
"""

import sys
import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

warnings.filterwarnings("ignore")
maps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
for inputs, width in ((5, 0.6), (20, 1.4), (20, 1.5), (20, 1.8)):
    errors, variances = [], []
    for seed in range(maps):
        draw = np.random.default_rng(seed)
        rows, centres, heights, asked = draw.normal(size=(100, inputs)), draw.normal(size=(5, inputs)), draw.normal(size=5), draw.normal(size=(1000, inputs))

        def told(places):
            logarithms = -((places[:, None] - centres) ** 2).sum(axis=2) / (2 * width**2)
            shares = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
            return shares @ heights / shares.sum(axis=1)

        kernel = ConstantKernel() * RBF(inputs**0.5, (0.1, 1e3)) + WhiteKernel(0.04)
        model = GaussianProcessRegressor(kernel).fit(rows, told(rows) + 0.2 * draw.normal(size=100))
        errors.append(np.mean((model.predict(asked) - told(asked)) ** 2))
        variances.append(told(asked).var())
    error = np.std(errors, ddof=1) / maps**0.5
    print(f"{inputs} inputs, width {width}: {np.mean(errors):.4f} +- {error:.4f}, variance of the map {np.mean(variances):.3f}", flush=True)
