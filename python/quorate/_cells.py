"""Space in cells, each with a local model of its own: for tables whose rows no machine holds together.

A tree halves a sample again and again, each time across the input along which the target changes most. Rows near a cut
belong to both of its sides, so that a question near a border finds its nearest rows on either; it is answered by the
cell it falls into, and by no other.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quorate._regression import GPRegressor
from quorate._warnings import QuorateWarning

#: Share of the rows on either side of a cut that belong to the other side as well.
SPILL = 0.05
#: Rows from which it is learned along which inputs the target changes.
_LOOK = 1_000


@dataclass
class Cut:
    """A cut across one input: questions up to `place` go left; rows up to `high` are left, rows from `low` on are right."""

    column: int
    place: float
    low: float
    high: float
    left: Cut | int
    right: Cut | int


class Cells:
    """The tree of cuts; cells are numbered from left to right."""

    def __init__(self, root: Cut | int, count: int):
        self.root = root
        self.count = count

    @classmethod
    def cut(cls, X: Any, steepness: np.ndarray, count: int) -> Cells:
        """At most so many cells of equal numbers of these rows; `steepness` is the target's change over a unit of each input."""
        values = numbers(X)
        made = 0

        def grown(rows: np.ndarray, wanted: int) -> Cut | int:
            nonlocal made
            if wanted > 1:
                own = values[rows]
                with warnings.catch_warnings():
                    # An input without a number here has no extent.
                    warnings.simplefilter("ignore", RuntimeWarning)
                    extent = np.nan_to_num(np.nanstd(own, axis=0)) * steepness
                column = int(np.argmax(extent))
                left = wanted // 2
                share = left / wanted
                sides = (max(share - SPILL, 0), share, min(share + SPILL, 1))
                low, place, high = np.nanquantile(own[:, column], sides, method="inverted_cdf")
                below = own[:, column] <= place
                # Copies of one value cannot be cut apart.
                if extent[column] > 0 and 0 < below.sum() < len(rows):
                    return Cut(
                        column, float(place), float(low), float(high),
                        grown(rows[below], left), grown(rows[~below], wanted - left),
                    )  # fmt: skip
            made += 1
            return made - 1

        return cls(grown(np.arange(len(values)), count), made)

    def of(self, X: Any) -> np.ndarray:
        """The cell of each question."""
        found = np.zeros(len(X), dtype=np.int64)
        for cell, rows in enumerate(self._descend(numbers(X), spills=False)):
            found[rows] = cell
        return found

    def members(self, X: Any) -> list[np.ndarray]:
        """The rows of each cell, increasing; those near a cut are in several."""
        return self._descend(numbers(X), spills=True)

    def _descend(self, values: np.ndarray, spills: bool) -> list[np.ndarray]:
        found: list[np.ndarray] = [np.empty(0, dtype=np.int64)] * self.count

        def walk(node: Cut | int, rows: np.ndarray) -> None:
            if isinstance(node, int):
                found[node] = rows
                return
            own = values[rows, node.column]
            # What is missing lies on no side of a cut: it goes right.
            left = own <= (node.high if spills else node.place)
            right = ~(own < node.low) if spills else ~left
            walk(node.left, rows[left])
            walk(node.right, rows[right])

        walk(self.root, np.arange(len(values)))
        return found

    def to_dict(self) -> dict[str, Any]:
        """The tree in plain words, for a file."""
        return {"count": self.count, "root": self.root if isinstance(self.root, int) else asdict(self.root)}

    @classmethod
    def from_dict(cls, text: dict[str, Any]) -> Cells:
        def node(own: Any) -> Cut | int:
            return own if isinstance(own, int) else Cut(**{**own, "left": node(own["left"]), "right": node(own["right"])})

        return cls(node(text["root"]), int(text["count"]))


def numbers(X: Any) -> np.ndarray:
    """The columns that can be cut, as numbers: all of an array, those of numbers in a table."""
    if hasattr(X, "select_dtypes"):
        X = X.select_dtypes(include="number")
    return np.asarray(X, dtype=np.float64)


def steepness(X: Any, y: Any) -> np.ndarray:
    """How much the target changes over a unit of each column that can be cut, by a process over some of the rows."""
    chosen = np.sort(np.random.default_rng(0x63656C6C).choice(len(y), min(len(y), _LOOK), replace=False))
    some = X.iloc[chosen] if hasattr(X, "iloc") else X[chosen]
    with warnings.catch_warnings():
        # Columns that only this look does not use.
        warnings.simplefilter("ignore", QuorateWarning)
        look = GPRegressor(kernel="se(ard)", method="exact", restarts=0).fit(some, np.asarray(y)[chosen])
    told = {own["name"]: own for own in json.loads(look.model_.inspect())["inputs"]}
    names = X.select_dtypes(include="number").columns if hasattr(X, "select_dtypes") else look.model_.input_names()
    found = [(told[str(name)]["relevance"] or 0.0) / (told[str(name)]["deviation"] or 1.0) for name in names]
    return np.asarray(found) if any(found) else np.ones(len(found))


class CellRegressor:
    """Local models of the cells of a table, on one machine: what `DaskGPRegressor(mode="local").to_local()` gives."""

    def __init__(self, cells: Cells, models: list[GPRegressor]):
        self.cells = cells
        self.models = models

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected targets, with `return_std` also their standard deviation."""
        told = self._asked(X, 2, lambda model, rows: np.column_stack(model.predict(rows, return_std=True)))
        return (told[:, 0], told[:, 1]) if return_std else told[:, 0]

    def predict_quantiles(self, X: Any, quantiles: Any = (0.025, 0.5, 0.975)) -> np.ndarray:
        """Quantiles of the targets, a row for each question."""
        levels = np.atleast_1d(quantiles)
        return self._asked(X, len(levels), lambda model, rows: model.predict_quantiles(rows, levels))

    def _asked(self, X: Any, width: int, answer: Any) -> np.ndarray:
        """Each question put to the model of its cell."""
        told = np.empty((len(X), width))
        where = self.cells.of(X)
        for cell in np.unique(where):
            rows = np.flatnonzero(where == cell)
            told[rows] = answer(self.models[cell], X.iloc[rows] if hasattr(X, "iloc") else X[rows])
        return told

    def save(self, folder: Any) -> None:
        """Writes a model file for each cell, as the command `quorate` reads them, and `cells.json`, which says where they end."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for cell, model in enumerate(self.models):
            model.save(folder / f"cell-{cell:06d}.quorate")
        (folder / "cells.json").write_text(json.dumps(self.cells.to_dict()))

    @classmethod
    def load(cls, folder: Any) -> CellRegressor:
        """Reads what `save` wrote."""
        folder = Path(folder)
        cells = Cells.from_dict(json.loads((folder / "cells.json").read_text()))
        return cls(cells, [GPRegressor.load(folder / f"cell-{cell:06d}.quorate") for cell in range(cells.count)])
