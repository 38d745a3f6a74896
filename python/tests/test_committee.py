"""Committees of any members, as a person would use them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from quorate import CommitteeClassifier, CommitteeRegressor, GPRegressor, _core

NUMBERS, RULES, CLASSIFIERS, CLASS_RULES = _core.registry()


@pytest.fixture(scope="module")
def wave():
    random = np.random.default_rng(7)
    X = random.uniform(-2, 2, (160, 2))
    y = 10 + 3 * np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * random.standard_normal(160)
    return X[:100], y[:100], X[100:], y[100:]


@pytest.fixture(scope="module")
def rings():
    random = np.random.default_rng(3)
    X = random.uniform(-2, 2, (260, 2))
    return X, np.array(["in", "mid", "out"])[np.digitize(np.hypot(*X.T), [0.9, 1.6])]


@pytest.mark.parametrize("member", NUMBERS)
def test_every_kind_of_member_sits_in_a_committee(wave, member):
    X, y, Z, t = wave
    model = CommitteeRegressor(member, n_members=3).fit(X, y)
    mean, std = model.predict(Z, return_std=True)
    assert model.members_ == [member] * 3 and model.rule_ == "robust-bcm"
    assert np.sqrt(np.mean((mean - t) ** 2)) < t.std() and (std > 0).all()
    assert model.opinions(Z).shape == (60, 3)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(Z, return_std=True)[1], std)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_fuses(wave, rule):
    X, y, Z, t = wave
    maker = "all" if rule == "model-averaging" else "parts"
    members = "gp" if rule == "nested" else ["linear", "gp"]
    model = CommitteeRegressor(members, rule=rule, maker=maker, n_members=4).fit(X, y)
    mean, std = model.predict(Z, return_std=True)
    assert model.rule_ == rule and np.sqrt(np.mean((mean - t) ** 2)) < t.std() and (std > 0).all()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(Z, return_std=True), (mean, std))


def test_a_committee_of_one_gaussian_process_with_all_rows_is_that_process(wave):
    X, y, Z, _ = wave
    one = CommitteeRegressor("gp", maker="all", rule="bcm").fit(X, y)
    exact = GPRegressor("matern52(ard)", restarts=0).fit(X, y)
    np.testing.assert_allclose(one.predict(Z), exact.predict(Z), rtol=2e-3)


def test_scikit_learn_estimators_sit_beside_our_own(wave):
    X, y, Z, t = wave
    members = ["gp", Ridge(), DecisionTreeRegressor(min_samples_leaf=5), KNeighborsRegressor(3)]
    model = CommitteeRegressor(members, maker="all").fit(X, y)
    assert model.members_ == ["gp", "Ridge-1", "DecisionTreeRegressor-2", "KNeighborsRegressor-3"]
    assert model.weights_.sum() == pytest.approx(1) and model.weights_[0] > 0.5
    # Their means are those of the estimators on standardised inputs and targets.
    scale, centre = X.std(axis=0), X.mean(axis=0)
    alone = Ridge().fit((X - centre) / scale, (y - y.mean()) / y.std()).predict((Z - centre) / scale)
    np.testing.assert_allclose(model.opinions(Z)[:, 1], y.mean() + y.std() * alone, rtol=1e-9)
    mean, std = model.predict(Z, return_std=True)
    assert np.sqrt(np.mean((mean - t) ** 2)) < 0.5
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(Z), mean)
    assert clone(model).members[1] is not members[1]


def test_estimators_of_this_package_may_be_members_and_committees_nest(wave):
    X, y, Z, t = wave
    inner = CommitteeRegressor("linear", n_members=2)
    members = [GPRegressor("se", restarts=0), inner]
    model = CommitteeRegressor(members, maker="bags", n_members=4, n_jobs=2).fit(X, y)
    assert np.sqrt(np.mean((model.predict(Z) - t) ** 2)) < t.std()
    assert 0 < model.out_of_bag_["rmse"] < y.std()


def test_the_mean_gains_what_the_members_differ(wave):
    X, y, Z, t = wave
    model = CommitteeRegressor("tree", maker="bags", n_members=12).fit(X, y)
    found = model.differences(Z, t)
    parts = found["ambiguity"]
    assert parts["committee"] == pytest.approx(parts["members"] - parts["ambiguity"])
    said = model.opinions(Z)
    assert parts["committee"] == pytest.approx(np.mean((said.mean(axis=1) - t) ** 2))
    assert found["members"] == pytest.approx(np.sqrt(np.mean((said - t[:, None]) ** 2, axis=0)))
    noisy = CommitteeRegressor("tree", maker="noise", n_members=4, strength=0.2).fit(X, y)
    assert noisy.opinions(Z).std(axis=1).mean() > 0 and noisy.out_of_bag_ is None


@pytest.mark.parametrize("member", CLASSIFIERS)
def test_every_kind_that_tells_classes_apart_sits_in_a_committee(rings, member):
    X, y = rings
    model = CommitteeClassifier(member, n_members=2).fit(X[:180], y[:180])
    probabilities = model.predict_proba(X[180:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert model.classes_.tolist() == ["in", "mid", "out"]
    # No line tells rings apart: members that draw lines only have to say so in probabilities.
    assert member == "linear" or model.score(X[180:], y[180:]) > 0.75
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X[180:]), probabilities)


@pytest.mark.parametrize("rule", CLASS_RULES)
def test_every_rule_for_classes_fuses(rings, rule):
    X, y = rings
    members = ["gp", "tree", LogisticRegression(), DecisionTreeClassifier(max_depth=4)]
    model = CommitteeClassifier(members, maker="bags", rule=rule, n_members=4).fit(X[:180], y[:180])
    probabilities = model.predict_proba(X[180:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert model.score(X[180:], y[180:]) > 0.7 and model.out_of_bag_["error_rate"] < 0.4
    assert model.opinions(X[180:]).shape == (80, 3, 4)


def test_flipped_labels_and_files(rings, tmp_path):
    X, y = rings
    table = pd.DataFrame(X, columns=["east", "north"])
    model = CommitteeClassifier("tree", maker="flips", n_members=5, strength=0.2).fit(table[:180], y[:180])
    path = tmp_path / "committee.quorate"
    model.save(path)
    again = CommitteeClassifier.load(path)
    assert again.get_params() == {**model.get_params(), "members": ["tree"], "random_state": 0}
    np.testing.assert_array_equal(again.predict_proba(table[180:]), model.predict_proba(table[180:]))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="committee"):
        CommitteeClassifier.load(path)


def test_boosted_committees(wave, rings):
    X, y, Z, t = wave
    model = CommitteeRegressor(DecisionTreeRegressor(max_depth=3), maker="boost", n_members=12).fit(X, y)
    alone = DecisionTreeRegressor(max_depth=3).fit(X, y)
    assert np.mean((model.predict(Z) - t) ** 2) < np.mean((alone.predict(Z) - t) ** 2)
    assert model.rule_ == "median" and len(model.weights_) == len(model.members_)
    X, y = rings
    model = CommitteeClassifier(DecisionTreeClassifier(max_depth=2), maker="boost", n_members=20).fit(X[:180], y[:180])
    alone = DecisionTreeClassifier(max_depth=2).fit(X[:180], y[:180])
    assert model.score(X[180:], y[180:]) > alone.score(X[180:], y[180:])
    three = CommitteeClassifier("tree", maker="filter").fit(X[:180], y[:180])
    assert len(three.members_) == 3 and three.score(X[180:], y[180:]) > 0.6
    again = pickle.loads(pickle.dumps(three))
    np.testing.assert_array_equal(again.predict_proba(X[180:]), three.predict_proba(X[180:]))


def test_wrong_choices_say_what_there_is(wave):
    X, y, *_ = wave
    with pytest.raises(ValueError, match="did you mean `gp`"):
        CommitteeRegressor("gq").fit(X, y)
    with pytest.raises(ValueError, match="robust-bcm"):
        CommitteeRegressor(rule="nothing").fit(X, y)
    with pytest.raises(TypeError, match="a name or an estimator"):
        CommitteeRegressor(3).fit(X, y)
    with pytest.raises(ValueError, match="members of one Gaussian process"):
        CommitteeRegressor("tree", rule="nested").fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        CommitteeRegressor([Ridge(alpha=-1.0)]).fit(X, y)
