"""pandas, polars and Arrow tables in, names out, the same numbers from each."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from quorate import GPRegressor

ROWS = 60


def columns(dates=True):
    random = np.random.default_rng(5)
    start = datetime.date(2024, 2, 27)
    found = {
        "load": random.normal(size=ROWS),
        "count": random.integers(0, 9, ROWS),
        "open": random.random(ROWS) < 0.5,
        "site": [["north", "south", None][i] for i in random.integers(0, 3, ROWS)],
    }
    if dates:
        found["day"] = [start + datetime.timedelta(days=int(i)) for i in random.integers(0, 300, ROWS)]
    return found


def target():
    table = columns()
    return np.array(table["load"]) + np.array([site == "north" for site in table["site"]]) + 0.1 * table["count"]


def pandas_table():
    table = pd.DataFrame(columns())
    table["day"] = pd.to_datetime(table["day"])
    return table


TABLES = {
    "pandas": pandas_table,
    "pandas-categories": lambda: pandas_table().astype({"site": "category", "count": "Int64", "open": "boolean"}),
    "polars": lambda: pl.DataFrame(columns()),
    "arrow": lambda: pa.table(columns()),
    "arrow-batch": lambda: pa.RecordBatch.from_pydict(columns()),
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_library_gives_the_same_model(kind):
    table = TABLES[kind]()
    model = GPRegressor(restarts=1).fit(table, target())
    reference = GPRegressor(restarts=1).fit(pandas_table(), target())
    assert model.model_.to_bytes() == reference.model_.to_bytes()
    assert list(model.feature_names_in_) == ["load", "count", "open", "site", "day"]
    kinds = {column["name"]: column["kind"] for column in model.inspect()["inputs"]}
    assert kinds["site"] == "category"
    np.testing.assert_array_equal(model.predict(table), reference.predict(pandas_table()))


def test_predictions_come_in_the_library_of_the_question():
    model = GPRegressor("se * category", restarts=0).fit(pandas_table(), target())
    indexed = pandas_table().set_index(pd.Index(range(100, 100 + ROWS)))
    answer = model.predict_table(indexed)
    assert list(answer.columns) == ["mean", "std", "lower", "upper"]
    assert answer.index[0] == 100
    assert isinstance(model.predict_table(TABLES["polars"]()), pl.DataFrame)
    assert isinstance(model.predict_table(TABLES["arrow"](), quantiles=[0.25]), pa.Table)


def test_missing_cells_are_the_same_in_every_library():
    x = [0.0, 1.0, None, 3.0, 4.0, 5.0, 2.5, None]
    y = np.arange(8.0)
    answers = [
        GPRegressor("se", restarts=0).fit(table, y).predict(table)
        for table in [
            pd.DataFrame({"x": x, "z": y}),
            pl.DataFrame({"x": x, "z": y}),
            pa.table({"x": x, "z": y}),
        ]
    ]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_moments_of_a_day_count_as_fractions_and_in_universal_time():
    moments = pd.date_range("2024-03-01 06:00", periods=20, freq="6h")
    y = np.sin(np.arange(20.0))
    plain = GPRegressor("se", restarts=0).fit(pd.DataFrame({"t": moments}), y)
    zoned = pd.DataFrame({"t": moments.tz_localize("UTC").tz_convert("Asia/Tokyo")})
    np.testing.assert_array_equal(plain.predict(zoned), plain.predict(pd.DataFrame({"t": moments})))
    scale = plain.inspect()["inputs"][0]
    assert scale["mean"] == pytest.approx(19783 + 0.25 + 19 / 8)


def test_names_are_checked_as_everywhere():
    model = GPRegressor("se * category", restarts=0).fit(pandas_table(), pd.Series(target(), name="cost"))
    assert model.inspect()["target"]["name"] == "cost"
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pandas_table().rename(columns={"load": "laod"}))
    with pytest.raises(ValueError, match="in the same order"):
        model.predict(pandas_table()[["count", "load", "open", "site", "day"]])


def test_a_target_may_have_the_name_of_an_input():
    table = pd.DataFrame({"y": np.arange(10.0), "x": np.arange(10.0) ** 2})
    model = GPRegressor("se", restarts=0).fit(table, np.arange(10.0))
    assert model.inspect()["target"]["name"] == "y_"


def test_wrong_cells_are_errors():
    table = pd.DataFrame({"x": np.arange(5.0)})
    with pytest.raises(ValueError, match="Complex data"):
        GPRegressor().fit(table.astype(complex), np.arange(5.0))
    with pytest.raises(TypeError, match="must be a string or a real number"):
        GPRegressor().fit(pd.DataFrame({"x": [1.0, 2.0, {}, 3.0, 4.0]}), np.arange(5.0))
    infinite = table.copy()
    infinite.loc[2, "x"] = np.inf
    with pytest.raises(ValueError, match="X:3:x: the number is infinite"):
        GPRegressor().fit(infinite, np.arange(5.0))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        GPRegressor().fit(table[:1], np.arange(1.0))
