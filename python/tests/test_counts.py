"""Counts through landmarks, held against the process over all rows and against sums written out."""

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from quorate import GPCountRegressor
from quorate._counts import LandmarkCountRegressor
from quorate._predictive_counts import Counted

OPTIONS = {"kernel": "matern32(ard)", "restarts": 0}


def draw(likelihood, rows=400):
    random = np.random.default_rng(8)
    X = random.uniform(-2, 2, (rows, 2))
    exposure = random.uniform(0.5, 2.0, rows)
    rate = exposure * np.exp(1 + np.sin(2 * X[:, 0]) * X[:, 1])
    if likelihood == "negative-binomial":
        rate *= random.gamma(2.0, 0.5, rows)
    return X, random.poisson(rate).astype(float), exposure


@pytest.mark.parametrize("likelihood", ["poisson", "negative-binomial"])
def test_many_landmarks_are_the_process_over_all_rows(likelihood):
    X, y, exposure = draw(likelihood)
    whole = GPCountRegressor(**OPTIONS, likelihood=likelihood).fit(X, y, exposure=exposure)
    model = LandmarkCountRegressor(**OPTIONS, likelihood=likelihood, landmarks=200).fit(X, y, exposure=exposure)
    assert model.likelihood_ == whole.likelihood_ and model.level_ == whole.level_
    new = np.random.default_rng(9).uniform(-1.8, 1.8, (200, 2))
    mean, std = model.predict(new, return_std=True)
    expected, spread = whole.predict(new, return_std=True)
    # Half as many landmarks as rows: what they leave out is a hundredth of the rate.
    assert np.abs(mean / expected - 1).mean() < 0.01 and np.abs(std / spread - 1).mean() < 0.01
    assert np.abs(model.predict_pmf(new, [0, 1, 3]) - whole.predict_pmf(new, [0, 1, 3])).max() < 0.02
    assert np.abs(model.predict_quantiles(new) - whole.predict_quantiles(new)).max() <= 1


def test_the_last_round_is_the_mode():
    """At the end the working targets reproduce what the landmarks say: one more round moves nothing."""
    X, y, exposure = draw("poisson")
    model = LandmarkCountRegressor(**OPTIONS, likelihood="poisson", landmarks=40).fit(X, y, exposure=exposure)
    before = model.latent_.predict(X)
    again = model.absorb({"part-1": model.working_message(X, y, None, exposure, part_name="part-1")})
    assert np.abs(again.latent_.predict(X) - before).max() < 1e-7
    assert model.rounds_ < 20


def test_counts_far_above_their_mean_do_not_throw_it_away():
    random = np.random.default_rng(2)
    X = random.uniform(-2, 2, (1_000, 1))
    y = random.poisson(np.exp(4 * np.sin(2 * X[:, 0]) + 4)).astype(float)
    model = LandmarkCountRegressor("matern32", likelihood="poisson", landmarks=40, restarts=0, sample_rows=300).fit(X, y)
    mean = model.predict(X)
    assert np.abs(np.log(mean) - 4 * np.sin(2 * X[:, 0]) - 4).mean() < 0.25 and model.rounds_ < 25


def test_weights_count_copies():
    X, y, exposure = draw("poisson", 200)
    options = {**OPTIONS, "likelihood": "poisson", "landmarks": 30}
    weight = np.random.default_rng(1).integers(1, 4, 200)
    one = LandmarkCountRegressor(**options).prepare(X, y, weight, exposure=exposure)
    two = LandmarkCountRegressor._of(one.model_, one._told())
    one.settle(lambda: {"a": one.working_message(X, y, weight, exposure, part_name="a")})
    copies = np.repeat(np.arange(200), weight)
    rows = X[copies], y[copies], np.ones(len(copies)), exposure[copies]
    two.settle(lambda: {"a": two.working_message(*rows, part_name="a")})
    assert np.allclose(one.predict(X), two.predict(X), rtol=1e-3)


def test_predictive_counts_are_sums_over_the_rate():
    log_rate, spread = np.array([0.2, 0.8]), np.array([0.1, 0.4])
    draws = np.exp(log_rate[:, None] + spread[:, None] * np.random.default_rng(1).standard_normal(50_000))
    for size, law in ((None, lambda k: poisson.pmf(k, draws)), (2.0, lambda k: nbinom.pmf(k, 2.0, 2.0 / (2.0 + draws)))):
        found = Counted(log_rate, spread, size)
        for count in (0, 3):
            error = law(count).std(axis=1) / np.sqrt(draws.shape[1])
            assert (np.abs(found.probability(count) - law(count).mean(axis=1)) < 5 * error + 1e-9).all()
        all_of_them = np.stack([found.probability(k) for k in range(100)])
        assert np.allclose(all_of_them.sum(axis=0), 1.0, atol=1e-6)
        numbers = np.arange(100)[:, None]
        assert np.allclose((numbers * all_of_them).sum(axis=0), found.mean(), rtol=1e-4)
        second = (numbers**2 * all_of_them).sum(axis=0)
        assert np.allclose(np.sqrt(second - found.mean() ** 2), found.deviation(), rtol=1e-3)
        for level in (0.05, 0.5, 0.95):
            expected = (np.cumsum(all_of_them, axis=0) < level).sum(axis=0)
            assert np.array_equal(found.quantile(level), expected)


def test_files_and_wrong_use(tmp_path):
    X, y, exposure = draw("poisson", 200)
    model = LandmarkCountRegressor(**OPTIONS, likelihood="poisson", landmarks=20).fit(X, y, exposure=exposure)
    model.save(tmp_path / "counts.quorate")
    again = LandmarkCountRegressor.load(tmp_path / "counts.quorate")
    assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="whole numbers"):
        model.working_message(X, y + 0.5, part_name="a")
    with pytest.raises(ValueError, match="exposure is above 0"):
        model.predict(X, exposure=np.zeros(200))
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_quantiles(X, [1.0])
