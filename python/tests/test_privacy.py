"""The ledger against published bounds, and noise that is what it says."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from quorate import GPRegressor
from quorate.privacy import GaussianNoise, Ledger, delta_of, epsilon_of, noise_multiplier


def test_the_exact_delta_is_the_integral_of_the_definition():
    # delta = integral of max(0, p - e^eps q) for N(1, z^2) against N(0, z^2).
    for epsilon, z in [(0.5, 2.0), (1.0, 3.73), (3.0, 0.7)]:
        crossing = epsilon * z * z + 0.5
        tail = quad(
            lambda x: norm.pdf(x, 1, z) - math.exp(epsilon) * norm.pdf(x, 0, z), crossing, crossing + 40 * z, epsabs=1e-14
        )[0]
        assert delta_of(epsilon, z) == pytest.approx(tail, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-8])
def test_exact_noise_is_below_the_classical_bound(epsilon, delta):
    # Dwork and Roth 2014, theorem A.1: z = sqrt(2 ln(1.25 / delta)) / epsilon suffices for epsilon < 1.
    classical = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    exact = noise_multiplier(epsilon, delta)
    assert exact < classical
    # And no less would do.
    assert epsilon_of(delta, 0.999 * exact) > epsilon
    assert epsilon_of(delta, exact) == pytest.approx(epsilon, rel=1e-9)


def test_the_ledger_is_below_renyi_accounting():
    # Mironov 2017, proposition 3 with corollary 3: k releases have epsilon <= k a / (2 z^2) + ln(1 / delta) / (a - 1).
    for z, releases, delta in [(4.0, 1, 1e-5), (8.0, 10, 1e-6), (2.0, 3, 1e-5)]:
        ledger = Ledger(delta)
        for number in range(releases):
            ledger.spend(z, f"release {number}")
        orders = 1 + np.logspace(-3, 4, 4000)
        renyi = (releases * orders / (2 * z * z) + math.log(1 / delta) / (orders - 1)).min()
        assert 0.6 * renyi < ledger.spent.epsilon < renyi


def test_a_ledger_only_grows_and_stops_at_its_limit(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = Ledger.open(path, delta=1e-5, limit=2.0)
    z = noise_multiplier(1.0, 1e-5)
    first = ledger.spend(z, "one").epsilon
    second = Ledger.open(path, delta=1e-5, limit=2.0).spend(z, "two").epsilon
    assert first == pytest.approx(1.0) and 1.4 < second < 2.0
    with pytest.raises(ValueError, match="limit"):
        again = Ledger.open(path, delta=1e-5, limit=2.0)
        for _ in range(4):
            again.spend(z, "more")
    with pytest.raises(ValueError, match="kept at delta"):
        Ledger.open(path, delta=1e-6)


def test_noise_has_the_size_that_was_promised():
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, (300, 1))
    y = np.sin(X).ravel() + random.normal(0, 0.1, 300)
    empty = GPRegressor("se", landmarks=8, restarts=0).prepare(X, y)
    noise = GaussianNoise(epsilon=1.0, delta=1e-5, features=1.0, targets=1.0)
    expected = noise_multiplier(1.0, 1e-5) * math.sqrt(2.0)
    vectors = []
    for number in range(60):
        message, share = noise.message(empty, X, y, part_name=f"n{number}", ledger=Ledger(1e-5))
        assert 0 <= share <= 1
        model = GPRegressor._of_model(empty.model_).absorb([message])
        vectors.append(model.summary().vector)
    spread = np.std(vectors, axis=0, ddof=1).mean()
    # 60 x 8 numbers: the deviation is known to about 3 %.
    assert abs(spread / expected - 1) < 0.12
    # Two releases of the same rows differ, and fingerprints tell nothing about the rows.
    assert not np.array_equal(vectors[0], vectors[1])
