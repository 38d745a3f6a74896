"""scikit-learn's kernels in the core's kernel language."""

from __future__ import annotations

from typing import Any

import numpy as np


def kernel_text(kernel: Any, input_deviation: Any = 1.0, target_variance: float = 1.0) -> str:
    """A scikit-learn kernel as text.

    The core standardises inputs and target, so length scales are divided by `input_deviation` (one for all columns, or
    one for each) and variances by `target_variance`. `WhiteKernel` leaves nothing behind: noise is no part of a kernel
    here, and always learned.

    >>> from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    >>> kernel_text(ConstantKernel(2.0) * RBF(0.5) + WhiteKernel())
    '2.0 * se(length_scale=0.5)'
    """
    deviation = np.atleast_1d(np.asarray(input_deviation, dtype=np.float64))
    terms = _terms(kernel, _Units(deviation, float(target_variance)))
    if not terms:
        raise ValueError("the kernel is nothing but noise: add a kernel for the function")
    return " + ".join(terms)


class _Units:
    """The units the core works in."""

    def __init__(self, deviation: np.ndarray, variance: float):
        self.deviation = deviation
        self.variance = variance


def _terms(kernel: Any, units: _Units) -> list[str]:
    """A sum of products, each with exactly one variance."""
    from sklearn.gaussian_process import kernels as sk

    if isinstance(kernel, sk.Sum):
        return _terms(kernel.k1, units) + _terms(kernel.k2, units)
    factors = _factors(kernel)
    if any(isinstance(factor, sk.WhiteKernel) for factor in factors):
        return []
    variance, free, atoms = 1.0 / units.variance, False, []
    for factor in factors:
        if isinstance(factor, sk.ConstantKernel):
            variance *= factor.constant_value
            free = free or factor.constant_value_bounds != "fixed"
        elif isinstance(factor, sk.DotProduct):
            if len([f for f in factors if not isinstance(f, sk.ConstantKernel)]) > 1:
                raise ValueError("DotProduct inside a product has no counterpart here; write the kernel as text")
            return _dot_product(factor, variance, free, units)
        else:
            atoms.append(_atom(factor, units))
    number = f"{float(variance)!r}" + ("" if free else " fixed")
    return [" * ".join([number, *(atoms or ["constant"])])]


def _factors(kernel: Any) -> list[Any]:
    from sklearn.gaussian_process import kernels as sk

    if isinstance(kernel, sk.Product):
        return _factors(kernel.k1) + _factors(kernel.k2)
    return [kernel]


def _dot_product(kernel: Any, variance: float, free: bool, units: _Units) -> list[str]:
    """x.x' + sigma_0^2: a linear term and a constant."""
    fixed = " fixed" if not free and kernel.sigma_0_bounds == "fixed" else ""
    slope = variance * float(np.mean(units.deviation**2))
    offset = variance * kernel.sigma_0**2
    return [f"{slope!r}{fixed} * linear", f"{float(offset)!r}{fixed} * constant"]


_MATERN = {0.5: "matern12", 1.5: "matern32", 2.5: "matern52", np.inf: "se"}


def _atom(kernel: Any, units: _Units) -> str:
    from sklearn.gaussian_process import kernels as sk

    if isinstance(kernel, sk.Matern):
        if kernel.nu not in _MATERN:
            raise ValueError(f"Matern with nu={kernel.nu} has no counterpart here: use 0.5, 1.5, 2.5 or inf")
        return _radial(_MATERN[kernel.nu], kernel, units)
    if isinstance(kernel, sk.RBF):
        return _radial("se", kernel, units)
    if isinstance(kernel, sk.RationalQuadratic):
        fixed = " fixed" if kernel.alpha_bounds == "fixed" else ""
        return _radial("rq", kernel, units, f", shape={float(kernel.alpha)!r}{fixed}")
    if isinstance(kernel, sk.ExpSineSquared):
        scale = " fixed" if kernel.length_scale_bounds == "fixed" else ""
        period = " fixed" if kernel.periodicity_bounds == "fixed" else ""
        return (
            f"periodic(length_scale={float(kernel.length_scale)!r}{scale}, "
            f"period={float(kernel.periodicity)!r}{period})"
        )
    raise ValueError(f"{type(kernel).__name__} has no counterpart here; write the kernel as text")


def _radial(name: str, kernel: Any, units: _Units, more: str = "") -> str:
    fixed = " fixed" if kernel.length_scale_bounds == "fixed" else ""
    scales = np.atleast_1d(np.asarray(kernel.length_scale, dtype=np.float64))
    if scales.size == 1:
        value = float(scales[0] / np.mean(units.deviation))
        return f"{name}(length_scale={value!r}{fixed}{more})"
    values = ", ".join(repr(float(value)) for value in scales / units.deviation)
    return f"{name}(ard, length_scale=[{values}]{fixed}{more})"
