"""Exact posteriors by scikit-learn at fixed hyperparameters: writes exact/sklearn_<set>.json.

Every answer is also computed in 80-bit arithmetic (reference.py); `tool_error` records how far scikit-learn was from it,
which says what a tolerance can mean. Usage: python exact_sklearn.py [--output FOLDER] [--available] [SET ...]
"""

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import recording
import tables
from kernels import Atom, Group, Sum, Term, single
from problems import PERIODIC, SETS, problem_of

NU = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}


def sklearn_atom(atom, deviations):
    values = atom.values
    if atom.name == "constant":
        return None  # its variance is the term's
    if atom.name == "se":
        return sk.RBF(values["length_scale"])
    if atom.name in NU:
        return sk.Matern(values["length_scale"], nu=NU[atom.name])
    if atom.name == "rq":
        return sk.RationalQuadratic(length_scale=values["length_scale"], alpha=values["shape"])
    if atom.name == "periodic":
        return sk.ExpSineSquared(length_scale=values["length_scale"], periodicity=values["period"] / deviations[0])
    if atom.name == "linear":
        return sk.DotProduct(0.0, "fixed")
    if atom.name == "polynomial":
        return sk.Exponentiation(sk.DotProduct(values["offset"] ** 0.5), atom.settings["degree"])
    raise ValueError(atom.name)


def sklearn_kernel(kernel, deviations):
    total = None
    for term in kernel.terms:
        product = None if term.variance is None else sk.ConstantKernel(term.variance)
        for atom in term.atoms:
            grouped = isinstance(atom, Group)
            factor = sklearn_kernel(atom.kernel, deviations) if grouped else sklearn_atom(atom, deviations)
            if factor is not None:
                product = factor if product is None else product * factor
        total = product if total is None else total + product
    return total


def our_gradient(kernel, theirs):
    """scikit-learn's gradient in our order, taken from the iterator `theirs`.

    It sorts an atom's parameters by name, and moves log sigma_0 where we move the log of offset = sigma_0 squared.
    """
    ours = []
    for term in kernel.terms:
        ours += [] if term.variance is None else [next(theirs)]
        for atom in term.atoms:
            if isinstance(atom, Group):
                ours += our_gradient(atom.kernel, theirs)
                continue
            part = [next(theirs) for _ in atom.parameters()]
            if atom.name == "periodic":
                part = part[::-1]
            if atom.name == "polynomial":
                part = [part[0] / 2]
            ours += part
    return ours


def solve_case(kernel, noise, problem):
    theirs = sklearn_kernel(kernel, problem.deviations)
    posterior = GaussianProcessRegressor(theirs, alpha=noise, optimizer=None).fit(problem.x, problem.y)
    mean, joint = posterior.predict(problem.x_test, return_cov=True)
    _, deviation = posterior.predict(problem.x_test, return_std=True)
    noisy = GaussianProcessRegressor(theirs + sk.WhiteKernel(noise), alpha=0.0, optimizer=None)
    noisy.fit(problem.x, problem.y)
    evidence, gradient = noisy.log_marginal_likelihood(noisy.kernel_.theta, eval_gradient=True)
    theirs = iter(gradient)
    found = {
        "mean": mean,
        "std_latent": deviation,
        "covariance": joint,
        "log_evidence": evidence,
        "gradient": our_gradient(kernel, theirs) + list(theirs),  # the noise is left for last
    }
    return recording.record(kernel, noise, problem, found)


def cases(width, generator):
    """Kernel and noise of each case; values are seeded draws around sensible scales, rounded to keep the text short."""
    draw = lambda low, high: round(float(generator.uniform(low, high)), 3)
    length = lambda: round(float(np.sqrt(width)) * draw(0.5, 1.5), 3)
    lengths = lambda: [length() for _ in range(width)]
    for name in ("se", "matern12", "matern32", "matern52"):
        yield single(draw(0.5, 2), name, length_scale=length()), draw(0.01, 0.2)
        yield single(draw(0.5, 2), name, length_scale=lengths()), draw(0.01, 0.2)
    yield single(draw(0.5, 2), "se", length_scale=lengths()), 1e-3
    yield single(1.0, "matern52", length_scale=lengths()), 1e-4
    yield single(draw(0.5, 2), "rq", shape=draw(0.3, 3), length_scale=length()), draw(0.01, 0.2)
    constant = lambda: Term(draw(0.1, 1), [Atom("constant")])
    linear = lambda: Term(round(draw(0.3, 1) / width, 4), [Atom("linear")])
    yield Sum([linear(), constant()]), draw(0.05, 0.3)
    for degree in (2, 3):
        offset = draw(0.5, 2)
        scale = float(f"{draw(0.5, 1) / (offset + width) ** degree:.3g}")
        yield Sum([Term(scale, [Atom("polynomial", {"offset": offset}, settings={"degree": degree})])]), draw(0.05, 0.3)
    yield Sum([Term(draw(0.5, 1), [Atom("matern32", {"length_scale": lengths()})]), linear(), constant()]), 0.05
    yield Sum([Term(0.8, [Atom("se", {"length_scale": length()})]),
               Term(0.3, [Atom("matern12", {"length_scale": lengths()})])]), 0.02
    yield Sum([Term(1.2, [Atom("se", {"length_scale": lengths()}),
                          Atom("rq", {"shape": draw(0.5, 2), "length_scale": length()})])]), 0.05
    yield Sum([Term(round(0.5 / width, 4), [Atom("linear"), Atom("matern52", {"length_scale": length()})]),
               constant()]), 0.1
    inside = Sum([Term(0.7, [Atom("se", {"length_scale": lengths()})]), linear()])
    yield Sum([Term(None, [Group(inside), Atom("matern32", {"length_scale": length()})]), constant()]), 0.05


def periodic_cases(deviation, generator):
    draw = lambda low, high: round(float(generator.uniform(low, high)), 3)
    wave = lambda: Atom("periodic", {"period": float(f"{deviation * draw(1, 3):.4g}"), "length_scale": draw(0.7, 2)})
    yield Sum([Term(draw(0.5, 2), [wave()])]), 0.3
    yield Sum([Term(draw(0.5, 2), [wave(), Atom("se", {"length_scale": draw(0.5, 2)})]),
               Term(0.2, [Atom("linear")]), Term(0.1, [Atom("constant")])]), 0.2


def write_set(name, output):
    problem = problem_of(name)
    generator = np.random.Generator(np.random.PCG64(problem.seed))
    solved = [solve_case(kernel, noise, problem) for kernel, noise in cases(len(problem.inputs), generator)]
    header = problem.header("scikit-learn", sklearn.__version__, "exact_sklearn.py")
    tables.write(output / f"sklearn_{name}.json", header, solved)
    if name in PERIODIC:
        problem = problem_of(name, inputs=[PERIODIC[name]])
        waves = [solve_case(kernel, noise, problem) for kernel, noise in periodic_cases(problem.deviations[0], generator)]
        header = problem.header("scikit-learn", sklearn.__version__, "exact_sklearn.py")
        tables.write(output / f"sklearn_{name}_periodic.json", header, waves)
        solved = solved + waves
    return solved


if __name__ == "__main__":
    recording.main(__doc__, list(SETS), write_set)
