"""scikit-learn's own checks of its conventions; what is excused says why."""

import pytest
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from quorate import (
    CommitteeClassifier,
    CommitteeCountRegressor,
    CommitteeLifetimeRegressor,
    CommitteeRegressor,
    GPClassifier,
    GPCountRegressor,
    GPLifetimeRegressor,
    GPRegressor,
    MixtureRegressor,
)

ESTIMATORS = [
    # Few starts where they are not the default: none of the checks is about the quality of the search.
    GPRegressor(),
    GPRegressor("matern32", restarts=0),
    GPRegressor("matern32", method="committee", mode="local", restarts=0),
    GPRegressor("se", mode="landmarks", restarts=0),
    MixtureRegressor(2, kernel="se", restarts=0),
    GPClassifier(),
    GPClassifier("matern32", method="committee", mode="local", restarts=0),
    GPClassifier("se", mode="landmarks", restarts=0),
    CommitteeRegressor(["linear", "tree"]),
    CommitteeRegressor([DecisionTreeRegressor(random_state=0), "linear"], maker="all"),
    CommitteeClassifier(["linear", "tree"]),
    CommitteeCountRegressor(["linear", "rbf"], likelihood="poisson"),
    CommitteeLifetimeRegressor("linear"),
    GPCountRegressor("se", restarts=0),
    GPLifetimeRegressor("se", restarts=0),
]

# Some checks repeat rows or weigh them with 0, about which the core has a word to say.
pytestmark = pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions_hold(estimator, check):
    check(estimator)
