"""scikit-learn's own checks of its conventions, none of them excused."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from quorate import GPRegressor

ESTIMATORS = [
    # Few starts: the checks fit hundreds of times, and none of them is about the quality of the search.
    GPRegressor(restarts=1),
    GPRegressor("matern32", restarts=0),
    GPRegressor("se", method="committee", mode="landmarks", restarts=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions_hold(estimator, check):
    check(estimator)
