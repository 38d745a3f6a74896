"""What `GPRegressor` computes, against scikit-learn and against itself."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quorate import GPRegressor, QuorateWarning


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def theirs(model, X, y):
    """scikit-learn's process with the hyperparameters that a model with kernel `se(ard)` found."""
    variance, *scales, noise = np.exp(model.theta_)
    assert model.theta_names_[0].endswith("variance")
    kernel = ConstantKernel(variance) * RBF(scales) + WhiteKernel(noise)
    reference = GaussianProcessRegressor(kernel, alpha=0, optimizer=None, normalize_y=True)
    return reference.fit(standardised(X), y), noise


def test_predictions_are_those_of_scikit_learn_under_the_same_hyperparameters(wave):
    X, y = wave
    model = GPRegressor("se(ard)").fit(X, y)
    reference, noise = theirs(model, X, y)
    new = np.random.default_rng(2).uniform(-2.5, 2.5, (40, 2))
    scaled = (new - X.mean(axis=0)) / X.std(axis=0)
    mean, cov = model.predict(new, return_cov=True)
    mean_theirs, cov_theirs = reference.predict(scaled, return_cov=True)
    np.testing.assert_allclose(mean, mean_theirs, atol=1e-9)
    np.testing.assert_allclose(cov, cov_theirs, atol=1e-9)
    same, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(same, mean, atol=1e-12)
    np.testing.assert_allclose(std, np.sqrt(np.diag(cov)), atol=1e-10)
    _, latent = model.predict(new, return_std=True, latent=True)
    np.testing.assert_allclose(std**2 - latent**2, noise * np.var(y), rtol=1e-9)


def test_evidence_and_gradient_are_those_of_scikit_learn(wave):
    X, y = wave
    model = GPRegressor("se(ard)").fit(X, y)
    reference, _ = theirs(model, X, y)
    assert model.log_marginal_likelihood() == pytest.approx(model.log_marginal_likelihood_value_)
    for shift in [0.0, 0.3, -0.7]:
        theta = model.theta_ + shift * np.array([1, -1, 0.5, 1])
        value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
        value_theirs, gradient_theirs = reference.log_marginal_likelihood(theta, eval_gradient=True)
        assert value == pytest.approx(value_theirs, rel=1e-10)
        np.testing.assert_allclose(gradient, gradient_theirs, rtol=1e-7, atol=1e-7)
        assert model.log_marginal_likelihood(theta) == value


def test_draws_have_the_predicted_moments(wave):
    X, y = wave
    model = GPRegressor("se").fit(X, y)
    for latent in [True, False]:
        mean, cov = model.predict(X[:3], return_cov=True, latent=latent)
        draws = model.sample_y(X[:3], 20_000, random_state=3, latent=latent)
        assert draws.shape == (3, 20_000)
        # Five standard errors of a mean, and of a covariance of Gaussian draws.
        spread = np.sqrt(np.diag(cov))
        assert (abs(draws.mean(axis=1) - mean) < 5 * spread / np.sqrt(20_000)).all()
        error = 5 * np.sqrt(2 / 20_000) * np.outer(spread, spread)
        assert (abs(np.cov(draws) - cov) < error).all()
    np.testing.assert_array_equal(model.sample_y(X[:3], random_state=7), model.sample_y(X[:3], random_state=7))


def test_quantiles_distribution_and_table_agree(wave):
    X, y = wave
    model = GPRegressor("se").fit(X, y)
    distribution = model.predict_dist(X)
    quantiles = model.predict_quantiles(X, [0.1, 0.5, 0.975])
    assert quantiles.shape == (60, 3)
    np.testing.assert_allclose(quantiles, distribution.ppf([[0.1], [0.5], [0.975]]).T, rtol=1e-9)
    table = model.predict_table(X, interval=0.95, quantiles=[0.1])
    assert list(table) == ["mean", "std", "lower", "upper", "q0.1"]
    np.testing.assert_array_equal(table["q0.1"], quantiles[:, 0])
    np.testing.assert_allclose(table["upper"], quantiles[:, 2], rtol=1e-12)
    np.testing.assert_array_equal(table["mean"], model.predict(X))
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_quantiles(X, [0.0])


def test_a_weight_counts_copies_to_the_last_bit_and_in_any_order(wave):
    X, y = wave
    random = np.random.default_rng(4)
    weight = random.integers(0, 3, 60)
    weighted = GPRegressor().fit(X, y, sample_weight=weight)
    copies = random.permutation(np.repeat(np.arange(60), weight))
    copied = GPRegressor().fit(X[copies], y[copies])
    assert weighted.model_.to_bytes() == copied.model_.to_bytes()
    plain = GPRegressor("se").fit(X, y)
    assert plain.model_.to_bytes() == GPRegressor("se").fit(X, y, sample_weight=np.ones(60)).model_.to_bytes()


def test_known_noise_is_believed(wave):
    X, y = wave
    noise = np.where(np.arange(60) < 30, 1e-6, 100.0)
    model = GPRegressor("se").fit(X, y, noise=noise)
    _, latent = model.predict(X, return_std=True, latent=True)
    assert latent[:30].max() < latent[30:].max()


def test_missing_inputs_are_allowed_and_missing_targets_are_not(wave):
    X, y = wave
    X = X.copy()
    X[::7, 0] = np.nan
    model = GPRegressor("se").fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    y = y.copy()
    y[3] = np.nan
    with pytest.raises(ValueError, match="y contains NaN"):
        GPRegressor().fit(X, y)


def test_wrong_input_gets_the_usual_errors(wave):
    X, y = wave
    model = GPRegressor("se").fit(X, y)
    with pytest.raises(NotFittedError):
        GPRegressor().predict(X)
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="3 features, but GPRegressor is expecting 2"):
        model.predict(np.ones((4, 3)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GPRegressor().fit(X, y[:-1])
    with pytest.raises(ValueError, match="could not convert string"):
        GPRegressor().fit([["a"], ["b"], ["c"]], [1, 2, 3])
    with pytest.raises(ValueError, match="Complex data"):
        GPRegressor().fit(X + 1j, y)
    with pytest.raises(TypeError, match="[Ss]parse"):
        GPRegressor().fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="infinity"):
        model.predict([[np.inf, 0.0]])
    with pytest.raises(RuntimeError, match="At most one"):
        model.predict(X, return_std=True, return_cov=True)


def test_wrong_choices_are_explained(wave):
    X, y = wave
    with pytest.raises(ValueError, match=r"kernel: .*\n  matern33"):
        GPRegressor("matern33").fit(X, y)
    with pytest.raises(ValueError, match="sideways"):
        GPRegressor(method="sideways").fit(X, y)
    with pytest.raises(ValueError, match="`landmarks` needs `method='committee'` with `mode='landmarks'`"):
        GPRegressor(landmarks=5).fit(X, y)
    with pytest.raises(TypeError, match="kernel must be text"):
        GPRegressor(3.0).fit(X, y)
    with pytest.raises(ValueError, match="n_jobs"):
        GPRegressor(n_jobs=0).fit(X, y)
    with pytest.raises(ValueError, match="no joint covariance"):
        GPRegressor("se", method="committee", mode="local").fit(X, y).predict(X, return_cov=True)


def test_the_core_remarks_as_warnings(wave):
    X, y = wave
    constant = np.column_stack([X, np.ones(60)])
    with pytest.warns(QuorateWarning, match="`x2` is constant") as caught:
        model = GPRegressor("se").fit(constant, y)
    assert caught[0].filename == __file__
    missing = constant[:4].copy()
    missing[0, 0] = np.nan
    with pytest.warns(QuorateWarning, match="missing"):
        model.predict(missing)


def test_same_numbers_on_any_number_of_threads_and_after_a_pickle(wave):
    X, y = wave
    one = GPRegressor(n_jobs=1).fit(X, y)
    two = GPRegressor(n_jobs=2).fit(X, y)
    assert one.model_.to_bytes() == two.model_.to_bytes()
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(one.predict(X), again.predict(X))
    assert clone(one).get_params() == one.get_params()


def test_it_works_inside_scikit_learn(wave):
    X, y = wave
    search = GridSearchCV(GPRegressor(restarts=0), {"kernel": ["linear", "se"]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernel": "se"}
    pipeline = make_pipeline(StandardScaler(), GPRegressor("se", restarts=0)).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    mean, std = pipeline.predict(X, return_std=True)
    assert mean.shape == std.shape == (60,)
    assert cross_val_predict(GPRegressor("se", restarts=0), X, y, cv=3, n_jobs=2).shape == (60,)


def test_kernels_of_scikit_learn_are_understood(wave):
    X, y = wave
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.0]) + WhiteKernel(0.1)
    given = GPRegressor(kernel).fit(X, y)
    text = GPRegressor("se(ard)").fit(X, y)
    assert given.log_marginal_likelihood() == pytest.approx(text.log_marginal_likelihood(), abs=0.01)


def test_html_shows_the_parameters():
    assert "GPRegressor" in GPRegressor("se")._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(GPRegressor("se")) == "GPRegressor(kernel='se')"


@pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")
def test_predictions_average_over_drawn_hyperparameters(wave):
    X, y, *_ = wave
    X, y = X[:60], y[:60]
    model = GPRegressor("se", learn="nuts", chains=2, draws=60, warmup=80).fit(X, y)
    found = model.inspect()["hyperposterior"]
    assert found["chains"]["chains"] == 2 and len(found["draws"]) == 120
    low, high = model.predict_quantiles(X[:4], [0.1, 0.9]).T
    mean, std = model.predict(X[:4], return_std=True)
    assert (low < mean).all() and (mean < high).all() and (std > 0).all()
    again = GPRegressor("se", learn="nuts", chains=2, draws=60, warmup=80, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(again.predict(X[:4]), mean)
