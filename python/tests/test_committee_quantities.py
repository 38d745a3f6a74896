"""Committees of generalised linear models: counts with exposure, lifetimes with censoring, files and copies."""

import pickle

import numpy as np
import pytest

import quorate
from quorate import CommitteeCountRegressor, CommitteeLifetimeRegressor

RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, (300, 2))
YEARS = RNG.uniform(0.5, 3.0, 300)
RATE = np.exp(0.7 + 1.2 * X[:, 0])
COUNTS = RNG.poisson(YEARS * RATE).astype(float)


def test_rates_are_found_whatever_the_exposure():
    model = CommitteeCountRegressor(["linear", "quadratic"], n_members=4).fit(X, COUNTS, exposure=YEARS)
    assert model.likelihood_ == {"poisson": {}} or "poisson" in str(model.likelihood_)
    assert model.members_ == ["linear", "quadratic", "linear", "quadratic"] and model.rule_ == "robust-bcm"
    mean, std = model.predict([[0.5, 0.0]], return_std=True)
    twice = model.predict([[0.5, 0.0]], exposure=[2.0])
    assert abs(mean[0] - np.exp(0.7 + 0.6)) < 0.5 and twice[0] == pytest.approx(2 * mean[0], rel=1e-9)
    assert std[0] > np.sqrt(mean[0]) * 0.99
    pmf = model.predict_pmf([[0.0, 0.0]], range(40))
    assert pmf.sum() == pytest.approx(1.0, abs=1e-6)


def test_a_committee_of_one_kind_on_all_rows_is_one_model():
    whole = CommitteeCountRegressor("linear", likelihood="poisson", maker="all").fit(X, COUNTS, exposure=YEARS)
    parts = CommitteeCountRegressor("linear", likelihood="poisson", rule="bcm", n_members=3)
    parts.fit(X, COUNTS, exposure=YEARS)
    asked = [[0.9, 0.1], [-0.8, -0.5]]
    assert np.allclose(whole.predict(asked), parts.predict(asked), rtol=0.1)


def test_files_and_copies_answer_alike(tmp_path):
    model = CommitteeCountRegressor("rbf", likelihood="negative-binomial").fit(X, COUNTS)
    expected = model.predict(X[:5])
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X[:5]), expected)
    model.save(tmp_path / "counts.quorate")
    again = CommitteeCountRegressor.load(tmp_path / "counts.quorate")
    assert again.likelihood == "negative-binomial" and np.array_equal(again.predict(X[:5]), expected)


def test_censored_lifetimes():
    days = RATE * RNG.weibull(1.5, 300)
    model = CommitteeLifetimeRegressor().fit(X, np.minimum(days, 4.0), event=days < 4.0)
    survival = model.predict_survival([[-0.8, 0.0], [0.8, 0.0]], times=[2.0])
    assert survival[0, 0] < 0.4 < 0.6 < survival[1, 0]
    assert model.predict_median([[0.8, 0.0]])[0] > model.predict_median([[-0.8, 0.0]])[0]


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="learns from errors"):
        CommitteeCountRegressor(rule="stacking", likelihood="poisson").fit(X, COUNTS)
    with pytest.raises(ValueError, match="`boost`|makers"):
        CommitteeCountRegressor(maker="boost", likelihood="poisson").fit(X, COUNTS)
    with pytest.raises(ValueError, match="unknown member"):
        CommitteeCountRegressor("gp", likelihood="poisson").fit(X, COUNTS)
    assert quorate.CommitteeCountRegressor is CommitteeCountRegressor
