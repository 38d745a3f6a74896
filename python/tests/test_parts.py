"""Parts that are added, merged and forgotten, and learning from parts where they are stored."""

import pickle

import numpy as np
import pytest

from quorate import GPClassifier, GPRegressor, QuorateWarning, Summary


@pytest.fixture
def rows():
    random = np.random.default_rng(6)
    X = random.uniform(-2, 2, (240, 2))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + random.normal(0, 0.1, 240)


@pytest.fixture
def empty(rows):
    X, y = rows
    return GPRegressor("se(ard)", landmarks=25, part_size=40, restarts=0).prepare(X, y)


def copy(estimator):
    return pickle.loads(pickle.dumps(estimator))


def test_partial_fit_adds_parts(rows):
    X, y = rows
    model = GPRegressor("se(ard)", landmarks=25, restarts=0)
    with pytest.raises(ValueError, match="mode='landmarks'"):
        model.fit(X, y)
    assert not hasattr(model, "partial_fit")
    model.set_params(mode="landmarks")
    # Every row in the first part's range, so that nothing is remarked about the second.
    order = np.argsort(abs(X).max(axis=1))[::-1]
    model.partial_fit(X[order[:120]], y[order[:120]])
    model.partial_fit(X[order[120:]], y[order[120:]], part_name="late")
    assert model.parts_ == ["part-1", "late"]
    assert model.inspect()["rows"] == 240
    assert model.score(X, y) > 0.9


def test_rows_outside_the_range_are_remarked(rows, empty):
    X, y = rows
    with pytest.warns(QuorateWarning, match="outside"):
        empty.partial_fit(X + 10, y)


def test_the_sum_of_sites_is_the_whole(rows, empty):
    X, y = rows
    a = copy(empty).partial_fit(X[:100], y[:100], part_name="a")
    b = copy(empty).partial_fit(X[100:], y[100:], part_name="b")
    both = copy(empty).partial_fit(X[:100], y[:100], part_name="a").partial_fit(X[100:], y[100:], part_name="b")
    merged = copy(a).merge(b)
    np.testing.assert_allclose(merged.predict(X), both.predict(X), atol=1e-9)
    with pytest.raises(ValueError, match="count twice"):
        copy(a).merge(a)
    with pytest.raises(ValueError, match="landmarks"):
        GPRegressor("se").fit(X, y).merge(a)


def test_a_forgotten_part_leaves_no_trace(rows, empty):
    X, y = rows
    a = copy(empty).partial_fit(X[:100], y[:100], part_name="a")
    both = copy(a).partial_fit(X[100:], y[100:], part_name="b")
    with pytest.raises(ValueError, match="was not kept"):
        copy(both).forget("b")
    with pytest.raises(ValueError, match="not the rows of part"):
        copy(both).forget("b", X[:100], y[:100])
    less = copy(both).forget("b", X[100:], y[100:])
    assert less.certificate_["part"] == "b" and less.certificate_["rows_left"] == 100
    np.testing.assert_allclose(less.predict(X), a.predict(X), atol=1e-7)
    keeping = copy(empty).set_params(keep_parts=True)
    keeping.partial_fit(X[:100], y[:100], part_name="a").partial_fit(X[100:], y[100:], part_name="b")
    kept = copy(empty).set_params(keep_parts=True).partial_fit(X[:100], y[:100], part_name="a")
    assert keeping.forget("b").model_.to_bytes() == kept.model_.to_bytes()


def test_models_that_keep_rows_say_what_to_do(rows):
    X, y = rows
    model = GPRegressor("se").fit(X, y)
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(X, y)
    assert "mode='landmarks'" in str(caught.value.__cause__)
    with pytest.raises(ValueError, match="mode='landmarks'"):
        Summary(model)


def test_weights_stay_part_of_the_model(rows):
    X, y = rows
    plain = GPRegressor("se", landmarks=10, restarts=0).prepare(X, y)
    with pytest.raises(ValueError, match="without sample_weight"):
        plain.partial_fit(X, y, sample_weight=np.ones(240))
    weighted = GPRegressor("se", landmarks=10, restarts=0).prepare(X, y, sample_weight=np.ones(240))
    twice = copy(weighted).partial_fit(X, y, sample_weight=np.full(240, 2.0))
    assert twice.summary().rows == 480


def test_summaries_are_numbers_that_add(rows, empty):
    X, y = rows
    parts = [Summary(empty).absorb(X[i::3], y[i::3], name=f"p{i}") for i in range(3)]
    total = sum(parts)
    assert total.rows == 240 and total.parts == ["p0", "p1", "p2"]
    np.testing.assert_allclose(total.information, sum(part.information for part in parts), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total.vector, sum(part.vector for part in parts), rtol=1e-12, atol=1e-12)
    assert bytes(Summary.from_bytes(total.to_bytes())) == bytes(total) == bytes(copy(total))
    assert repr(total) == "Summary(25 landmarks, 3 parts, 240 rows)"
    # The mean at any x is v' B^-1 b: what an engine of one's own would compute from these numbers.
    weights = np.linalg.solve(total.information + np.eye(25), total.vector)
    assert np.isfinite(weights).all()
    with pytest.raises(TypeError):
        total + 1
    with pytest.raises(ValueError, match="not here"):
        parts[0] - parts[1]


def test_objective_and_gradient_of_sites_are_those_of_the_whole(rows, empty):
    X, y = rows
    sites = [(X[i::3], y[i::3]) for i in range(3)]
    start = Summary(empty)

    def objective(theta):
        """Two passes over the sites: summaries, then what each adds to the gradient."""
        at = start.at(theta)
        total = sum(Summary(at.estimator()).absorb(*site, name=str(i)) for i, site in enumerate(sites))
        return total.log_evidence, sum(total.gradient(*site) for site in sites)

    theta = start.theta + 0.1
    _, gradient = objective(theta)
    step = 1e-5
    for index in range(len(theta)):
        nudge = step * (np.arange(len(theta)) == index)
        slope = (objective(theta + nudge)[0] - objective(theta - nudge)[0]) / (2 * step)
        assert gradient[index] == pytest.approx(slope, rel=1e-4, abs=1e-4), start.theta_names[index]


def test_block_evidence_of_parts_is_that_of_exact_models(rows, empty):
    X, y = rows
    start = Summary(empty)
    value, gradient = start.block_evidence(X, y)
    exact = GPRegressor("se(ard)", method="exact", restarts=0).fit(X, y)
    assert exact.theta_names_ == start.theta_names
    expected, slope = exact.log_marginal_likelihood(start.theta, eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="hyperparameters: expected 4, found 2"):
        start.block_evidence(X, y, [0.0, 0.0])


def test_landmarks_can_be_the_rows_of_a_table(rows, tmp_path):
    X, y = rows
    model = GPRegressor("se(ard)", mode="landmarks", landmarks=X[:25]).fit(X, y)
    assert model.inspect()["committee"]["landmarks"] == 25
    # A model read from its file knows them, so that fitting it again gives the same model.
    model.save(tmp_path / "m.quorate")
    again = GPRegressor.load(tmp_path / "m.quorate").fit(X, y)
    np.testing.assert_array_equal(again.predict(X[:9]), model.predict(X[:9]))
    with pytest.raises(ValueError, match="features"):
        GPRegressor("se(ard)", mode="landmarks", landmarks=X[:25, :1]).fit(X, y)


def test_every_choice_of_the_core_is_a_parameter(rows):
    X, y = rows
    spec = GPRegressor("se").fit(X[:30], y[:30]).inspect()["spec"]
    # Roles of columns and the seed have their own ways in, and the estimator is the task.
    elsewhere = {"target", "inputs", "ignore", "weight", "noise", "part_name", "seed", "task"}
    assert set(spec) - elsewhere <= set(GPRegressor._choices) | set(GPClassifier._choices)


def test_messages_are_added_in_the_order_of_names(rows, empty):
    X, y = rows
    messages = {name: empty.part_message(X[at::3], y[at::3], part_name=name) for at, name in enumerate("abc")}
    assert empty.check_part(messages["b"])["rows"] == 80
    forwards = copy(empty).absorb(messages)
    backwards = copy(empty).absorb(list(reversed(messages.values())))
    assert forwards.model_.to_bytes() == backwards.model_.to_bytes()
    fitted = [copy(empty).partial_fit(X[at::3], y[at::3], part_name=name) for at, name in enumerate("abc")]
    assert forwards.model_.to_bytes() == fitted[0].merge(*fitted[1:]).model_.to_bytes()
    assert forwards.parts_ == ["a", "b", "c"]


def test_a_message_that_cannot_be_believed_is_named(rows, empty):
    X, y = rows
    sound = empty.part_message(X, y, part_name="a")
    damaged = sound[:-3] + bytes([sound[-3] ^ 1]) + sound[-2:]
    with pytest.raises(ValueError, match="north: its checksum does not match"):
        copy(empty).absorb({"north": damaged})
    other = GPRegressor("se(ard)", landmarks=24, part_size=40, restarts=0).prepare(X, y)
    with pytest.raises(ValueError, match="north: it was made under other columns"):
        other.absorb({"north": sound})
    with pytest.raises(ValueError, match="not a part"):
        empty.check_part(b"nonsense")
