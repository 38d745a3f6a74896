"""Arrays, pandas, polars and Arrow tables into the core's own form.

A column is a number, boolean, date or text column by its type, as in the files that the command line reads. None of
the table libraries is imported here: a table that exists has brought its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from quorate import _core

#: Name, kind and cells of a column.
Column = tuple[str, str, Any]


def library(X: Any) -> str | None:
    """Which library a table belongs to: `pandas`, `polars`, `pyarrow`; None for arrays and what becomes one."""
    for kind in type(X).__mro__:
        top = kind.__module__.split(".")[0]
        if top == "pandas" and kind.__name__ == "DataFrame":
            return "pandas"
        if top == "polars" and kind.__name__ == "DataFrame":
            return "polars"
        if top == "pyarrow" and kind.__name__ in ("Table", "RecordBatch"):
            return "pyarrow"
    return None


class Inputs:
    """The inputs of an estimator, checked by scikit-learn's rules and ready for the core."""

    def __init__(self, estimator: Any, X: Any, *, reset: bool, least_rows: int = 1):
        self.kind = library(X)
        if self.kind == "pyarrow" and hasattr(X, "schema") and not hasattr(X, "combine_chunks"):
            # A record batch has names too, but not to scikit-learn.
            import pyarrow

            X = pyarrow.Table.from_batches([X])
        self.origin = X
        self.array: np.ndarray | None = None
        self.columns: list[Column] = []
        if self.kind is None:
            self.array = validate_data(
                estimator,
                X,
                reset=reset,
                dtype=np.float64,
                ensure_all_finite="allow-nan",
                ensure_min_samples=least_rows,
            )
            self.rows = self.array.shape[0]
            self.names = names_of(estimator)
            return
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        self.rows = X.shape[0]
        self.names = names_of(estimator)
        if self.rows < least_rows:
            raise ValueError(
                f"Found array with {self.rows} sample(s) (shape={tuple(X.shape)}) while a minimum of "
                f"{least_rows} is required by {type(estimator).__name__}."
            )
        cells = _READERS[self.kind](X)
        self.columns = [(name, *cell) for name, cell in zip(self.names, cells, strict=True)]

    def deviation(self) -> np.ndarray:
        """Standard deviation of each number column; 1 where there is none."""
        if self.array is not None:
            cells = list(self.array.T)
        else:
            cells = [column for _, kind, column in self.columns if kind != "text"]
        found = [np.nanstd(column) if np.isfinite(column).any() else 0.0 for column in cells]
        return np.array([value if value > 0 else 1.0 for value in found] or [1.0])

    def select(self, rows: np.ndarray) -> None:
        """Keeps the given rows, in that order."""
        self.rows = len(rows)
        if self.array is not None:
            self.array = self.array[rows]
        self.columns = [
            (name, kind, [cells[row] for row in rows] if kind == "text" else cells[rows])
            for name, kind, cells in self.columns
        ]

    def keys(self) -> list[np.ndarray]:
        """One array for each column, equal where cells are: numbers themselves, levels of text as numbers."""
        if self.array is not None:
            return [column + 0.0 for column in self.array.T]
        return [_codes(cells) if kind == "text" else cells + 0.0 for _, kind, cells in self.columns]

    def cells(self) -> list[dict[str, Any]]:
        """The columns as plain lists, None where a cell is missing."""
        columns = self.columns
        if self.array is not None:
            columns = [(name, "number", column) for name, column in zip(self.names, self.array.T, strict=True)]
        return [{"name": name, "type": kind, "cells": [_plain(cell) for cell in cells]} for name, kind, cells in columns]

    def table(self, further: Sequence[Column] = ()) -> _core.Table:
        """The inputs, with further columns behind them."""
        names = self.names if self.array is not None else []
        return _core.Table(self.array, names, [*self.columns, *further])


def names_of(estimator: Any) -> list[str]:
    """The names an estimator's inputs have in its model; `x0`, `x1`, .. where they came without names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{index}" for index in range(estimator.n_features_in_)]
    return [str(name) for name in names]


def as_given(origin: Any, kind: str | None, columns: dict[str, np.ndarray]) -> Any:
    """Columns as a table of the kind the question came in; a pandas index comes along."""
    if kind == "polars":
        import polars

        return polars.DataFrame(columns)
    if kind == "pyarrow":
        import pyarrow

        return pyarrow.table(columns)
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns, index=origin.index)
    return columns


def _codes(cells: list[str | None]) -> np.ndarray:
    levels = {level: code for code, level in enumerate(sorted({cell for cell in cells if cell is not None}))}
    return np.array([np.nan if cell is None else levels[cell] for cell in cells], dtype=np.float64)


def _number(values: Any, kind: str = "number") -> tuple[str, Any]:
    return kind, np.asarray(values, dtype=np.float64)


def _text(values: Any) -> tuple[str, Any]:
    """Text cells; what is missing in any of the usual ways becomes None."""
    return "text", [None if _missing(value) else str(value) for value in values]


def _missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _plain(cell: Any) -> str | float | None:
    if _missing(cell):
        return None
    return cell if isinstance(cell, str) else float(cell)


def _refuse_complex(kind: str) -> None:
    if kind == "c":
        raise ValueError("Complex data not supported")


def _from_pandas(X: Any) -> list[tuple[str, Any]]:
    return [_pandas_column(X.iloc[:, position]) for position in range(X.shape[1])]


def _pandas_column(column: Any) -> tuple[str, Any]:
    kind = getattr(column.dtype, "kind", "O")
    _refuse_complex(kind)
    if kind in "iuf":
        return _number(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "b":
        return _number(column.to_numpy(dtype=np.float64, na_value=np.nan), "boolean")
    if kind == "M":
        moments = column.dt.tz_convert(None) if getattr(column.dt, "tz", None) else column
        return _days(moments.to_numpy())
    return _objects(column.to_list())


def _objects(values: list[Any]) -> tuple[str, Any]:
    """Cells of no particular type: numbers if all of them are, text if any of them is."""
    present = [value for value in values if not _missing(value)]
    if any(isinstance(value, str) for value in present):
        return _text(values)
    if all(isinstance(value, (bool, np.bool_)) for value in present) and present:
        return _number([np.nan if _missing(value) else value for value in values], "boolean")
    if any(isinstance(value, (complex, np.complexfloating)) for value in present):
        _refuse_complex("c")
    # A cell that is neither fails here with the usual words: argument must be a string or a real number.
    return _number([np.nan if _missing(value) else float(value) for value in values])


def _days(moments: np.ndarray) -> tuple[str, Any]:
    """Days since 1970-01-01, with their fractions."""
    moments = moments.astype("datetime64[us]")
    days = moments.astype(np.int64) / 86_400e6
    return _number(np.where(np.isnat(moments), np.nan, days), "date")


def _from_polars(X: Any) -> list[tuple[str, Any]]:
    return [_polars_column(column) for column in X.get_columns()]


def _polars_column(column: Any) -> tuple[str, Any]:
    import polars

    if column.dtype == polars.Boolean:
        return _number(column.cast(polars.Float64).to_numpy(), "boolean")
    if column.dtype.is_numeric():
        return _number(column.cast(polars.Float64).to_numpy())
    if column.dtype == polars.Date or column.dtype == polars.Datetime:
        if getattr(column.dtype, "time_zone", None):
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _days(column.cast(polars.Datetime("us")).to_numpy())
    if column.dtype in (polars.String, polars.Categorical, polars.Enum, polars.Null):
        return _text(column.to_list())
    return _objects(column.to_list())


def _from_arrow(X: Any) -> list[tuple[str, Any]]:
    return [_arrow_column(X.column(position)) for position in range(X.num_columns)]


def _arrow_column(column: Any) -> tuple[str, Any]:
    import pyarrow
    import pyarrow.compute

    kind = pyarrow.types
    if kind.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
        return _text(column.to_pylist())
    if kind.is_boolean(column.type):
        return _number(_arrow_numbers(column.cast(pyarrow.uint8())), "boolean")
    if kind.is_integer(column.type) or kind.is_floating(column.type) or kind.is_decimal(column.type):
        return _number(_arrow_numbers(column))
    if kind.is_date(column.type) or kind.is_timestamp(column.type):
        moments = column.cast(pyarrow.timestamp("us", getattr(column.type, "tz", None)))
        return _days(moments.cast(pyarrow.timestamp("us")).to_numpy())
    return _objects(column.to_pylist())


def _arrow_numbers(column: Any) -> np.ndarray:
    import pyarrow

    column = column.cast(pyarrow.float64())
    if column.null_count:
        column = column.fill_null(np.nan)
    return column.to_numpy()


_READERS = {"pandas": _from_pandas, "polars": _from_polars, "pyarrow": _from_arrow}
