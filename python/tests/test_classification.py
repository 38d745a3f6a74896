"""`GPClassifier` as a person would use it."""

import pickle

import numpy as np
import pandas as pd
import pytest

import quorate
from quorate import GPClassifier


@pytest.fixture
def rings():
    """Three classes by the distance from the origin."""
    random = np.random.default_rng(3)
    X = random.uniform(-2, 2, (300, 2))
    return X, np.digitize(np.hypot(*X.T), [0.9, 1.6])


@pytest.mark.parametrize("labels", [np.array([3, 5, 9]), np.array(["in", "mid", "out"]), np.array([1.0, 2.0, 3.0])])
def test_labels_keep_their_type(rings, labels):
    X, y = rings
    model = GPClassifier("se", restarts=0).fit(X[:200], labels[y[:200]])
    assert model.classes_.tolist() == sorted(labels.tolist())
    found = model.predict(X[200:])
    assert found.dtype.kind == labels.dtype.kind
    assert (found == labels[y[200:]]).mean() > 0.85
    probabilities = model.predict_proba(X[200:])
    assert probabilities.shape == (100, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.classes_[probabilities.argmax(axis=1)] == found).all()
    assert model.scores_["error_rate"] < 0.15


def test_two_classes_by_booleans_and_a_table_with_names(rings):
    X, y = rings
    table = pd.DataFrame(X, columns=["east", "north"])
    inside = pd.Series(y == 0, name="inside")
    model = GPClassifier("se", restarts=0).fit(table, inside)
    assert model.classes_.tolist() == [False, True]
    columns = model.predict_table(table.head(3))
    assert columns.columns.tolist() == ["label", "p_false", "p_true"]
    assert model.inspect()["target"]["name"] == "inside"


@pytest.mark.parametrize("mode", ["exact", "local", "landmarks"])
def test_pickles_files_and_copies_predict_the_same_bits(rings, mode, tmp_path):
    X, y = rings
    choices = {"method": "exact"} if mode == "exact" else {"method": "committee", "mode": mode}
    model = GPClassifier("matern32", restarts=0, **choices).fit(X[:200], y[:200])
    expected = model.predict_proba(X[200:])
    model.save(tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), quorate.load(tmp_path / "model"), GPClassifier.load(tmp_path / "model")):
        assert isinstance(again, GPClassifier)
        assert (again.predict_proba(X[200:]) == expected).all()
        assert again.classes_.tolist() == [0, 1, 2]


def test_parts_of_classes_add_up(rings):
    X, y = rings
    base = GPClassifier("se", mode="landmarks", landmarks=40, keep_parts=True, restarts=0).prepare(X[:200], y[:200])
    one, two = (pickle.loads(pickle.dumps(base)) for _ in range(2))
    one.partial_fit(X[:120], y[:120], part_name="one")
    two.partial_fit(X[120:240], y[120:240], part_name="two")
    both = one.merge(two)
    assert both.parts_ == ["one", "two"]
    assert (both.predict(X[240:]) == y[240:]).mean() > 0.8


def test_what_is_no_class_is_refused(rings):
    X, y = rings
    with pytest.raises(ValueError, match="class"):
        GPClassifier().fit(X, np.zeros(300))
    with pytest.raises(ValueError):
        GPClassifier().fit(X, np.linspace(0, 1, 300))
    with pytest.raises(ValueError):
        GPClassifier().fit(X, np.where(y == 0, np.nan, y))


@pytest.mark.parametrize("inference", ["fast", "laplace", "ep"])
def test_two_classes_can_be_inferred_in_three_ways(rings, inference):
    X, y = rings
    model = GPClassifier("se", restarts=0, inference=inference).fit(X[:150], y[:150] == 0)
    assert (model.predict(X[150:]) == (y[150:] == 0)).mean() > 0.9
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict_proba(X[150:]), model.predict_proba(X[150:]))
