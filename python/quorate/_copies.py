"""Weight k is k copies of a row, to the last bit and in any order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from quorate._tables import Inputs

#: Beyond this many rows copies are left to the core, which merges them to rounding.
MOST_ROWS = 100_000


def merge_copies(
    inputs: Inputs, y: np.ndarray, weight: np.ndarray | None, *beside: np.ndarray | None
) -> tuple[np.ndarray, Any, Any, Any]:
    """Writes equal rows as one with their total weight, in one canonical order.

    Returns targets, weights, and the columns that stand beside them, such as known noise.

    The core gives copies and weights the same mathematics, but sums them in the order in which they come. A search over
    flat directions of the evidence makes visible differences of those in the last bit. Rows without weights and copies
    stay as they are, in their order.
    """
    if weight is not None and (weight == 1).all():
        weight = None
    if inputs.rows > MOST_ROWS or (weight is not None and ((weight < 0) | ~np.isfinite(weight)).any()):
        return y, weight, *beside
    keys = [*inputs.keys(), y + 0.0, *(column + 0.0 for column in beside if column is not None)]
    order = np.lexsort(keys[::-1])
    if weight is not None:
        order = order[weight[order] > 0]
    if len(order) == 0:
        return y, weight, *beside
    first = np.ones(len(order), dtype=bool)
    first[1:] = False
    for key in keys:
        left, right = key[order[:-1]], key[order[1:]]
        first[1:] |= (left != right) & ~(np.isnan(left) & np.isnan(right))
    if weight is None and first.all():
        return y, None, *beside
    starts = np.flatnonzero(first)
    counts = np.ones(len(order)) if weight is None else weight[order]
    rows = order[starts]
    inputs.select(rows)
    chosen = (None if column is None else column[rows] for column in beside)
    return y[rows], np.add.reduceat(counts, starts), *chosen
