"""Counts and lifetimes as a person would use them."""

import pickle

import numpy as np
import pandas as pd
import pytest

import quorate
from quorate import GPCountRegressor, GPLifetimeRegressor


@pytest.fixture
def claims():
    """Counts whose rate follows a wave, each row watched for its own time."""
    random = np.random.default_rng(5)
    X = random.uniform(0, 4, (200, 1))
    exposure = random.uniform(0.5, 2, 200)
    rate = np.exp(1 + np.sin(1.5 * X.ravel()))
    return X, random.poisson(rate * exposure), exposure, rate


def test_rates_do_not_depend_on_how_long_rows_were_watched(claims, tmp_path):
    X, y, exposure, rate = claims
    model = GPCountRegressor("se", likelihood="poisson", restarts=0).fit(X, y, exposure=exposure)
    assert np.abs(np.log(model.predict(X) / rate)).mean() < 0.15
    np.testing.assert_allclose(model.predict(X, exposure=exposure), model.predict(X) * exposure)
    pmf = model.predict_pmf(X[:5], np.arange(60))
    np.testing.assert_allclose(pmf.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(pmf @ np.arange(60), model.predict(X[:5]), rtol=1e-6)
    assert model.scores_["poisson_deviance"] < 2 and model.likelihood_["name"] == "poisson"
    model.save(tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), quorate.load(tmp_path / "model")):
        assert isinstance(again, GPCountRegressor)
        assert (again.predict(X, exposure=exposure) == model.predict(X, exposure=exposure)).all()


def test_lifetimes_have_survival_curves_in_the_library_of_the_table():
    random = np.random.default_rng(6)
    table = pd.DataFrame({"dose": random.uniform(0, 1, 200)})
    days = pd.Series(np.exp(1 + table["dose"]) * random.weibull(2, 200), name="days")
    seen = days < 5
    model = GPLifetimeRegressor("se", restarts=0).fit(table, days.clip(upper=5), event=seen)
    survival = model.predict_survival(table.head(4), [1, 3, 5])
    assert (np.diff(survival, axis=1) < 0).all()
    truth = np.exp(-((3 / np.exp(1 + table["dose"])) ** 2))
    assert np.abs(model.predict_survival(table, 3).ravel() - truth).mean() < 0.06
    assert model.predict_table(table.head(3)).columns.tolist() == ["mean", "median", "std", "lower", "upper"]
    assert model.scores_["concordance"] > 0.55
    assert model.likelihood_["shape"] == pytest.approx(2, rel=0.25)


def test_what_cannot_be_is_refused(claims):
    X, y, exposure, _ = claims
    with pytest.raises(ValueError, match="not negative"):
        GPCountRegressor().fit(X, y - 5.0)
    with pytest.raises(ValueError, match="exposure is 0"):
        GPCountRegressor("se").fit(X, y, exposure=np.zeros(200))
    with pytest.raises(ValueError, match="above 0"):
        GPLifetimeRegressor().fit(X, y * 0.0)
    with pytest.raises(ValueError, match="every row is censored"):
        GPLifetimeRegressor("se").fit(X, y + 1.0, event=np.zeros(200))
    model = GPCountRegressor("se", likelihood="poisson", restarts=0).fit(X, y)
    with pytest.raises(ValueError, match="without exposure"):
        model.predict(X, exposure=exposure)
