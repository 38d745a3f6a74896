"""Exact posteriors by GPy: kernels and column restrictions that scikit-learn lacks. Writes exact/gpy_<set>.json.

GPy adds 1e-8 to the noise variance before it factors, so it is given that much less. Its answers are judged by 80-bit
arithmetic like the others. Usage: python exact_gpy.py [--output FOLDER] [--available] [SET ...]
"""

import GPy
import numpy as np

import recording
import tables
from kernels import Atom, Sum, Term
from problems import CATEGORY, problem_of

HIDDEN_NOISE = 1e-8
STATIONARY = {"se": GPy.kern.RBF, "matern32": GPy.kern.Matern32, "matern52": GPy.kern.Matern52}
SETS = ["boston", "crabs", "fgl", "quine", "rossi", "pima_mass_train", "concrete", "energy"]


class Design:
    """The columns that GPy sees: the inputs, then the basis functions of atoms that have them, for a linear kernel."""

    def __init__(self, problem):
        self.x, self.x_test = problem.x, problem.x_test

    def add(self, atom, columns, deviations):
        first = self.x.shape[1]
        grow = lambda x: np.hstack([x, basis_functions(atom.settings, x[:, columns], deviations)])
        self.x, self.x_test = grow(self.x), grow(self.x_test)
        added = list(range(first, self.x.shape[1]))
        return {"input_dim": len(added), "active_dims": added}


def basis_functions(settings, x, deviations):
    if settings["functions"] == "polynomial":
        return np.hstack([x[:, :1] ** 0] + [x**k for k in range(1, settings["degree"] + 1)])
    if settings["functions"] == "fourier":
        turn = 2 * np.pi * x * deviations / settings["period"]
        return np.hstack([wave(k * turn) for k in range(1, settings["count"] + 1) for wave in (np.sin, np.cos)])
    return np.hstack([np.exp(-0.5 * ((x - c) / settings["width"]) ** 2) for c in settings["centres"]])


def gpy_atom(atom, variance, problem, design):
    """GPy's kernel, and a function from it to our gradients: one for the variance, then the atom's own.

    The function takes the kernel because GPy copies what it adds or multiplies.
    """
    columns = [problem.inputs.index(c) for c in atom.columns or problem.numbers]
    place = {"input_dim": len(columns), "active_dims": columns}
    values = atom.values
    if atom.name in STATIONARY:
        lengths = values["length_scale"]
        kernel = STATIONARY[atom.name](variance=variance, lengthscale=lengths, ARD=isinstance(lengths, list), **place)
        return kernel, lambda k: (k.variance.gradient, log_gradient(k.lengthscale))
    if atom.name == "rq":
        # GPy writes (1 + r^2 / 2)^-power: its length scales are ours times the root of the shape.
        shape, lengths = values["shape"], np.array(values["length_scale"])
        kernel = GPy.kern.RatQuad(variance=variance, lengthscale=lengths * shape**0.5, power=shape, ARD=True, **place)
        by_length = lambda k: log_gradient(k.lengthscale)
        by_shape = lambda k: log_gradient(k.power) + by_length(k).sum() / 2
        return kernel, lambda k: (k.variance.gradient, np.concatenate([by_shape(k), by_length(k)]))
    if atom.name == "linear" and values:
        kernel = GPy.kern.Linear(variances=np.array(values["length_scale"]) ** -2.0, ARD=True, **place)
        return kernel, lambda k: (None, -2 * log_gradient(k.variances))
    if atom.name == "linear":
        kernel = GPy.kern.Linear(variances=variance, **place)
        return kernel, lambda k: (k.variances.gradient, [])
    if atom.name == "polynomial":
        order = atom.settings["degree"]
        kernel = GPy.kern.Poly(variance=variance, scale=1.0, bias=values["offset"], order=order, **place)
        return kernel, lambda k: (k.variance.gradient, log_gradient(k.bias))
    if atom.name == "network":
        kernel = GPy.kern.MLP(variance=variance, weight_variance=values["weight"], bias_variance=values["bias"], **place)
        inside = lambda k: np.concatenate([log_gradient(k.weight_variance), log_gradient(k.bias_variance)])
        return kernel, lambda k: (k.variance.gradient, inside(k))
    if atom.name == "category" and "length_scale" in values:
        # One when levels agree, rho = exp(-1 / length) when they differ: rho + (1 - rho) I between levels.
        levels, rho = len(problem.categories[atom.columns[0]]), np.exp(-1 / values["length_scale"])
        loadings, kappa = np.full((levels, 1), np.sqrt(variance * rho)), np.full(levels, variance * (1 - rho))
        kernel = GPy.kern.Coregionalize(output_dim=levels, rank=1, W=loadings, kappa=kappa, **place)
        by_rho = lambda k: np.sum(k.W.gradient) * np.sqrt(variance / rho) / 2 - variance * np.sum(k.kappa.gradient)
        by_variance = lambda k: (np.sum(k.W.gradient * loadings) / 2 + np.sum(k.kappa.gradient * kappa)) / variance
        return kernel, lambda k: (by_variance(k), [by_rho(k) * rho / values["length_scale"]])
    if atom.name == "basis":
        kernel = GPy.kern.Linear(variances=variance, **design.add(atom, columns, problem.deviations[columns]))
        return kernel, lambda k: (k.variances.gradient, [])
    if atom.name == "category":
        rank, levels = atom.settings["rank"], len(problem.categories[atom.columns[0]])
        loadings = np.array(values["embedding"]).reshape(levels, rank)
        kappa = np.full(levels, values["kappa"])
        kernel = GPy.kern.Coregionalize(output_dim=levels, rank=rank, W=loadings, kappa=kappa, **place)
        return kernel, lambda k: (None, [*np.ravel(k.W.gradient), log_gradient(k.kappa).sum()])
    raise ValueError(atom.name)


def log_gradient(parameter):
    return np.ravel(parameter.gradient) * np.ravel(parameter.values)


def gpy_kernel(kernel, problem, design):
    """The sum of products, with readers of each atom's gradients; the first atom carries its term's variance."""
    total, readers = None, []
    for term in kernel.terms:
        product = None
        for index, atom in enumerate(term.atoms):
            variance = term.variance if index == 0 and term.variance is not None else 1.0
            factor, reader = gpy_atom(atom, variance, problem, design)
            readers.append((term.variance if index == 0 else None, reader))
            product = factor if product is None else product * factor
        total = product if total is None else total + product
    return total, readers


def leaves(kernel):
    """The atoms of GPy's own copy, in the order of the text."""
    return [leaf for part in kernel.parts for leaf in leaves(part)] if hasattr(kernel, "parts") else [kernel]


def solve_case(kernel, noise, problem):
    design = Design(problem)
    theirs, readers = gpy_kernel(kernel, problem, design)
    likelihood = GPy.likelihoods.Gaussian(variance=noise - HIDDEN_NOISE)
    model = GPy.core.GP(design.x, problem.y[:, None], theirs, likelihood)
    mean, joint = model._raw_predict(design.x_test, full_cov=True)
    _, variance = model._raw_predict(design.x_test, full_cov=False)
    gradient = []
    for leaf, (variance_value, reader) in zip(leaves(model.kern), readers, strict=True):
        by_variance, inside = reader(leaf)
        if variance_value is not None:
            gradient += list(np.ravel(by_variance) * variance_value)
        gradient += list(inside)
    found = {
        "mean": mean[:, 0],
        "std_latent": np.sqrt(variance[:, 0]),
        "covariance": joint,
        "log_evidence": float(model.log_likelihood()),
        "gradient": np.array(gradient + [float(likelihood.variance.gradient[0]) * noise]),
    }
    return recording.record(kernel, noise, problem, found)


def cases(problem, generator):
    draw = lambda low, high: round(float(generator.uniform(low, high)), 3)
    width = len(problem.inputs)
    length = lambda count: round(float(np.sqrt(count)) * draw(0.5, 1.5), 3)
    lengths = lambda columns: [length(len(columns)) for _ in columns]
    half, rest = problem.inputs[: width // 2], problem.inputs[width // 2 :]
    on = lambda name, columns: Atom(name, {"length_scale": lengths(columns)}, columns)
    network = lambda columns=None: Atom("network", {"weight": draw(0.1, 2), "bias": draw(0.1, 2)}, columns)
    yield Sum([Term(draw(0.5, 2), [network()])]), draw(0.05, 0.2)
    yield Sum([Term(draw(0.5, 2), [network(half)]), Term(draw(0.5, 1), [on("se", rest)])]), draw(0.02, 0.2)
    wide = {"length_scale": [round(float(np.sqrt(width)) * draw(0.7, 3), 3) for _ in range(width)]}
    yield Sum([Term(None, [Atom("linear", wide)])]), draw(0.1, 0.4)
    yield Sum([Term(None, [Atom("linear", wide)]), Term(0.6, [on("matern52", rest)])]), draw(0.02, 0.2)
    offset = draw(0.5, 2)
    scale = float(f"{draw(0.5, 1) / (offset + len(half)) ** 2:.3g}")
    yield Sum([Term(scale, [Atom("polynomial", {"offset": offset}, half, {"degree": 2})])]), draw(0.1, 0.4)
    yield Sum([Term(draw(0.5, 2), [Atom("rq", {"shape": draw(0.5, 2), "length_scale": lengths(problem.inputs)})])]), 0.05
    yield Sum([Term(draw(0.5, 2), [on("se", half), on("matern52", rest)])]), 0.01
    yield Sum([Term(draw(0.5, 2), [on("se", half)]), Term(draw(0.2, 1), [on("matern52", rest)]),
               Term(draw(0.1, 0.5), [on("se", half[:1]), on("se", rest[:1])])]), 0.03  # fmt: skip
    period = float(f"{2.5 * problem.deviations[0]:.4g}")
    for columns, settings in (
        (None, {"functions": "polynomial", "degree": 3}),
        (half, {"functions": "gaussian", "centres": [-1.5, -0.5, 0.25, 1.0], "width": 0.8}),
        (half[:1], {"functions": "fourier", "count": 3, "period": period}),
    ):
        basis = Term(draw(0.02, 0.1), [Atom("basis", {}, columns, settings)])
        yield Sum([basis]), draw(0.2, 0.5)
        yield Sum([basis, Term(0.5, [on("se", rest)])]), draw(0.05, 0.2)


def category_cases(problem, generator):
    """Low-rank and exchangeable categories, alone and beside or times a kernel of the numbers."""
    draw = lambda low, high: round(float(generator.uniform(low, high)), 3)
    (column,) = problem.categories
    levels, width = len(problem.categories[column]), len(problem.numbers)
    lengths = lambda: [round(float(np.sqrt(width)) * draw(0.5, 1.5), 3) for _ in range(width)]
    for rank in (1, 2):
        values = {"embedding": [draw(-1, 1) for _ in range(levels * rank)], "kappa": draw(0.1, 0.6)}
        category = Atom("category", values, [column], {"rank": rank})
        yield Sum([Term(None, [category, Atom("se", {"length_scale": lengths()})])]), 0.05
        yield Sum([Term(None, [category]), Term(0.7, [Atom("matern52", {"length_scale": lengths()})])]), 0.1
    alike = lambda: Atom("category", {"length_scale": draw(0.3, 3)}, [column])
    yield Sum([Term(draw(0.5, 2), [Atom("se", {"length_scale": lengths()}), alike()])]), 0.05
    yield Sum([Term(draw(0.5, 2), [alike()]), Term(0.7, [Atom("matern52", {"length_scale": lengths()})])]), 0.1


def write_set(name, output):
    problem = problem_of(name)
    generator = np.random.Generator(np.random.PCG64(problem.seed + 1))
    solved = [solve_case(kernel, noise, problem) for kernel, noise in cases(problem, generator)]
    header = problem.header("GPy", GPy.__version__, "exact_gpy.py")
    tables.write(output / f"gpy_{name}.json", header, solved)
    if name in CATEGORY:
        problem = problem_of(name, category=CATEGORY[name])
        with_levels = [solve_case(kernel, noise, problem) for kernel, noise in category_cases(problem, generator)]
        header = problem.header("GPy", GPy.__version__, "exact_gpy.py")
        tables.write(output / f"gpy_{name}_category.json", header, with_levels)
        solved = solved + with_levels
    return solved


if __name__ == "__main__":
    recording.main(__doc__, SETS, write_set)
