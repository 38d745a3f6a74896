"""Exact Gaussian-process regression written literally from the textbook, in 80-bit arithmetic.

Rasmussen and Williams (2006): predictions eq. 2.25-2.26, log evidence eq. 2.30. The gradient is a complex step
(Squire and Trapp 1998): every formula below is analytic, so d/dtheta = Im f(theta + i h) / h with h far below rounding,
and no derivative is ever written down. Slow and obvious on purpose: it judges the other tools and stands in where none
has a kernel. Needs a platform whose long double is wider than a double (x86-64).
"""

import numpy as np

from kernels import Group

REAL, COMPLEX = np.longdouble, np.clongdouble
STEP = REAL("1e-60")
PI = REAL("3.14159265358979323846264338327950288")

assert np.finfo(REAL).eps < 1e-18, "the reference needs an extended long double"


class Reader:
    """Hands out a flat parameter vector in the documented order."""

    def __init__(self, values):
        self.values, self.next = values, 0

    def take(self, shape):
        count = len(shape) if isinstance(shape, list) else 1
        taken = self.values[self.next : self.next + count]
        self.next += count
        return taken


def squared_distance(a, b, lengths):
    difference = a[:, None, :] - b[None, :, :]
    return (difference**2 / lengths**2).sum(axis=2)


def inner(a, b, weights=1):
    return (a[:, None, :] * b[None, :, :] * weights).sum(axis=2)


def atom_covariance(atom, take, a, b, deviations):
    """k(a, b) of one atom at the (complex) parameters that `take` hands out."""
    if atom.name == "constant":
        return np.ones((len(a), len(b)), COMPLEX)
    if atom.name == "linear":
        return inner(a, b, take(atom.values["length_scale"]) ** -2 if atom.values else 1)
    if atom.name == "polynomial":
        return (take(atom.values["offset"]) + inner(a, b)) ** atom.settings["degree"]
    if atom.name == "periodic":
        # The text form gives the period in the column's own units, lengths in standardised ones.
        period, length = take(atom.values["period"]) / deviations[0], take(atom.values["length_scale"])
        distance = np.abs(a[:, None, 0] - b[None, :, 0])
        return np.exp(-2 * np.sin(PI * distance / period) ** 2 / length**2)
    if atom.name == "category" and "rank" in atom.settings:
        # Levels that were seen: W W' + kappa I, as coregionalisation writes it (Bonilla, Chai and Williams 2008).
        loadings = take(atom.values["embedding"]).reshape(-1, atom.settings["rank"])
        between = loadings @ loadings.T + take(atom.values["kappa"]) * np.eye(len(loadings), dtype=REAL)
        return between[np.ix_(a[:, 0].astype(int), b[:, 0].astype(int))]
    if atom.name == "category":
        differs = (a[:, None, :] != b[None, :, :]).astype(REAL)
        return np.exp(-(differs / take(atom.values["length_scale"])).sum(axis=2))
    if atom.name == "basis":
        return basis_functions(atom, a, deviations) @ basis_functions(atom, b, deviations).T
    if atom.name == "network":
        # Williams (1998) as GPy writes it: the factors 2 are absorbed into weight and bias.
        weight, bias = take(atom.values["weight"]), take(atom.values["bias"])
        across = inner(a, b, weight) + bias
        left, right = (a**2 * weight).sum(axis=1) + bias, (b**2 * weight).sum(axis=1) + bias
        return 2 / PI * np.arcsin(across / np.sqrt((1 + left)[:, None] * (1 + right)[None, :]))
    shape = take(atom.values["shape"]) if atom.name == "rq" else None
    squared = squared_distance(a, b, take(atom.values["length_scale"]))
    if atom.name == "se":
        return np.exp(-squared / 2)
    if atom.name == "rq":
        return (1 + squared / (2 * shape)) ** -shape
    distance = np.sqrt(squared)
    if atom.name == "matern12":
        return np.exp(-distance)
    if atom.name == "matern32":
        scaled = np.sqrt(REAL(3)) * distance
        return (1 + scaled) * np.exp(-scaled)
    if atom.name == "matern52":
        scaled = np.sqrt(REAL(5)) * distance
        return (1 + scaled + scaled**2 / 3) * np.exp(-scaled)
    raise ValueError(f"no formula for {atom.name}")


def basis_functions(atom, x, deviations):
    """Features of fixed basis functions, column after column (Tresp 2000, eq. 11, unit prior on the weights)."""
    settings = atom.settings
    if settings["functions"] == "polynomial":
        powers = [x**k for k in range(1, settings["degree"] + 1)]
        return np.hstack([np.ones((len(x), 1), REAL)] + powers)
    if settings["functions"] == "fourier":
        angles = [2 * PI * k * x / (settings["period"] / deviations) for k in range(1, settings["count"] + 1)]
        return np.hstack([wave(angle) for angle in angles for wave in (np.sin, np.cos)])
    return np.hstack([np.exp(-((x - REAL(c)) ** 2) / (2 * REAL(settings["width"]) ** 2)) for c in settings["centres"]])


def sum_covariance(kernel, take, problem, a, b):
    total = 0
    for term in kernel.terms:
        product = 1 if term.variance is None else take(term.variance)
        for atom in term.atoms:
            if isinstance(atom, Group):
                product = product * sum_covariance(atom.kernel, take, problem, a, b)
                continue
            columns = [problem.inputs.index(c) for c in atom.columns or problem.numbers]
            parts = a[:, columns], b[:, columns], problem.deviations[columns]
            product = product * atom_covariance(atom, take, *parts)
        total = total + product
    return total


def covariance(kernel, parameters, problem, a, b):
    return sum_covariance(kernel, Reader(parameters).take, problem, a, b)


def cholesky(matrix):
    """Row by row, with transposes and never conjugates, so that it stays analytic in the entries."""
    factor = np.zeros_like(matrix)
    for j in range(len(matrix)):
        column = matrix[j:, j] - factor[j:, :j] @ factor[j, :j]
        factor[j:, j] = column / np.sqrt(column[0])
    return factor


def solve_lower(factor, right):
    solution = np.array(right, dtype=factor.dtype)
    for j in range(len(factor)):
        solution[j] = (solution[j] - factor[j, :j] @ solution[:j]) / factor[j, j]
    return solution


def signs(kernel, problem):
    return np.array(kernel.is_signed(problem.numbers) + [False])


def log_evidence(kernel, coordinates, problem):
    """Rasmussen and Williams eq. 2.30 at log parameters (signed ones as they are), the log noise variance last."""
    values = np.where(signs(kernel, problem), coordinates, np.exp(coordinates))
    x, y = problem.x.astype(REAL), problem.y.astype(REAL)
    matrix = covariance(kernel, values[:-1], problem, x, x)
    matrix[np.diag_indices(len(y))] += values[-1]
    factor = cholesky(matrix)
    whitened = solve_lower(factor, y)
    return -(whitened**2).sum() / 2 - np.log(np.diag(factor)).sum() - len(y) * np.log(2 * PI) / 2


def answer(kernel, noise, problem):
    """Everything a golden case stores, as long doubles."""
    values = np.array(kernel.parameters() + [noise], dtype=REAL)
    with np.errstate(invalid="ignore"):
        coordinates = np.where(signs(kernel, problem), values, np.log(values)).astype(COMPLEX)
    x, x_test, y = problem.x.astype(REAL), problem.x_test.astype(REAL), problem.y.astype(REAL)
    block = lambda a, b: covariance(kernel, values[:-1], problem, a, b).real
    factor = cholesky(block(x, x) + values[-1] * np.eye(len(y), dtype=REAL))
    whitened_y, whitened_cross = solve_lower(factor, y), solve_lower(factor, block(x, x_test))
    joint = block(x_test, x_test) - whitened_cross.T @ whitened_cross
    gradient = []
    for index in range(len(coordinates)):
        moved = coordinates.copy()
        moved[index] += 1j * STEP
        gradient.append(log_evidence(kernel, moved, problem).imag / STEP)
    return {
        "mean": whitened_cross.T @ whitened_y,
        "std_latent": np.sqrt(np.diag(joint)),
        "covariance": joint,
        "log_evidence": log_evidence(kernel, coordinates, problem).real,
        "gradient": np.array(gradient),
    }


def largest_error(found, exact):
    """Difference relative to the largest entry: the measure of every golden tolerance."""
    found, exact = np.asarray(found, dtype=REAL), np.asarray(exact, dtype=REAL)
    return float(np.abs(found - exact).max() / np.abs(exact).max())
