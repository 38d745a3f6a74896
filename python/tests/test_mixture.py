"""Mixtures: what they are for, and the same file everywhere."""

import numpy as np
import pytest

from quorate import GPRegressor, MixtureRegressor, load


def loud_wave(rows, seed):
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(-3, 3, rows))
    return x.reshape(-1, 1), np.sin(x) + np.where(x > 0, 0.4, 0.05) * random.standard_normal(rows)


def test_noise_depends_on_the_inputs_and_the_file_is_read_again(tmp_path):
    X, y = loud_wave(80, 0)
    one = MixtureRegressor(1, kernel="se", restarts=0).fit(X, y)
    _, std = one.predict([[-2.0], [2.0]], return_std=True)
    assert std[1] > 3 * std[0]
    plain = GPRegressor("se", restarts=0).fit(X, y)
    assert one.scores_["nlpd"] < plain.scores_["nlpd"] - 0.15
    one.save(tmp_path / "one.quorate")
    again = load(tmp_path / "one.quorate")
    assert isinstance(again, MixtureRegressor) and again.experts == 1
    assert np.array_equal(again.predict(X), one.predict(X))


def test_experts_divide_the_rows_and_errors_are_told():
    X, y = loud_wave(60, 1)
    model = MixtureRegressor(3, kernel="se", restarts=0).fit(X, y)
    assert len(model.shares_) == 3 and sum(model.shares_) == pytest.approx(1)
    with pytest.raises(ValueError, match="experts for 4 rows"):
        MixtureRegressor(9, kernel="se", restarts=0).fit(X[:4], y[:4])
    with pytest.raises(ValueError, match="no one covariance"):
        model.predict(X, return_cov=True)


def test_rows_are_heard_through_landmarks(tmp_path):
    X, y = loud_wave(120, 2)
    model = MixtureRegressor(2, kernel="matern32", restarts=0, landmarks=15).fit(X, y)
    assert "all 120 rows through 15 landmarks" in model.outcome_
    _, std = model.predict([[-2.0], [2.0]], return_std=True)
    assert std[1] > 2 * std[0]
    model.save(tmp_path / "heard.quorate")
    again = load(tmp_path / "heard.quorate")
    assert again.landmarks == 15 and np.array_equal(again.predict(X), model.predict(X))
