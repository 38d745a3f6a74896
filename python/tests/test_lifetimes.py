"""Lifetimes through landmarks, held against the process over all rows."""

import numpy as np
import pytest

from quorate import GPLifetimeRegressor
from quorate._counts import LandmarkCountRegressor
from quorate._lifetimes import LandmarkLifetimeRegressor

OPTIONS = {"kernel": "matern32(ard)", "restarts": 0}


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(8)
    X = random.uniform(-2, 2, (400, 2))
    full = np.exp(1 + np.sin(2 * X[:, 0]) * X[:, 1]) * random.weibull(1.5, 400)
    limit = random.uniform(1.0, 15.0, 400)
    return X, np.minimum(full, limit), (full <= limit).astype(float)


@pytest.fixture(scope="module")
def model(rows):
    X, y, event = rows
    return LandmarkLifetimeRegressor(**OPTIONS, landmarks=200).fit(X, y, event=event)


def test_many_landmarks_are_the_process_over_all_rows(rows, model):
    X, y, event = rows
    assert 0.5 < event.mean() < 0.95
    whole = GPLifetimeRegressor(**OPTIONS, likelihood="weibull").fit(X, y, event=event)
    assert model.likelihood_ == whole.likelihood_ and model.rounds_ < 25
    new = np.random.default_rng(9).uniform(-1.8, 1.8, (200, 2))
    mean, std = model.predict(new, return_std=True)
    expected, spread = whole.predict(new, return_std=True)
    # Half as many landmarks as rows: what they leave out is a hundredth of the lifetime.
    assert np.abs(mean / expected - 1).mean() < 0.01 and np.abs(std / spread - 1).mean() < 0.01
    assert np.abs(model.predict_median(new) / whole.predict_median(new) - 1).mean() < 0.01
    survival = model.predict_survival(new, [0.5, 2.0, 5.0])
    assert np.abs(survival - whole.predict_survival(new, [0.5, 2.0, 5.0])).max() < 0.02


def test_the_last_round_is_the_mode(rows, model):
    X, y, event = rows
    before = model.latent_.predict(X)
    again = LandmarkLifetimeRegressor._of(model.model_, model._told())
    again.absorb({"part-1": again.working_message(X, y, None, event, part_name="part-1")})
    assert np.abs(again.latent_.predict(X) - before).max() < 1e-7


def test_quantiles_are_where_survival_says(model):
    new = np.random.default_rng(1).uniform(-2, 2, (5, 2))
    found = model.predict_quantiles(new, [0.1, 0.9])
    for row in range(5):
        assert np.allclose(model.predict_survival(new[row : row + 1], found[row]), [[0.9, 0.1]], atol=1e-9)


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
def test_ends_long_before_their_time_do_not_throw_the_scale_away():
    random = np.random.default_rng(3)
    X = random.uniform(-2, 2, (600, 1))
    y = np.exp(4 * np.sin(2 * X[:, 0])) * random.weibull(1.0, 600)
    model = LandmarkLifetimeRegressor("matern32", landmarks=40, restarts=0, sample_rows=200).fit(X, y)
    assert np.abs(np.log(model.predict(X)) - 4 * np.sin(2 * X[:, 0])).mean() < 0.5 and model.rounds_ < 40


def test_files_and_wrong_use(rows, model, tmp_path):
    X, y, event = rows
    model.save(tmp_path / "lives.quorate")
    again = LandmarkLifetimeRegressor.load(tmp_path / "lives.quorate")
    assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="no targets of LandmarkCountRegressor"):
        LandmarkCountRegressor.load(tmp_path / "lives.quorate")
    with pytest.raises(ValueError, match="above 0"):
        model.working_message(X, -y, part_name="a")
    with pytest.raises(ValueError, match="event is 1"):
        model.working_message(X, y, None, event + 1, part_name="a")
    with pytest.raises(ValueError, match="Weibull or exponential"):
        LandmarkLifetimeRegressor(likelihood="gamma").fit(X, y)
    with pytest.raises(TypeError, match="`event` and not exposure"):
        LandmarkLifetimeRegressor().fit(X, y, exposure=event)
