"""scikit-learn's own tests of its `GaussianProcessRegressor`, as they are installed, run against `GPRegressor`.

Those that cannot hold are named with the reason and must fail: a test that starts to pass has to leave the list.
"""

import pytest
import sklearn.gaussian_process.tests.test_gpr as theirs
from scikit_learn_adapter import GaussianProcessRegressor

theirs.GaussianProcessRegressor = GaussianProcessRegressor
globals().update({name: value for name, value in vars(theirs).items() if name.startswith("test_")})

pytestmark = pytest.mark.filterwarnings("ignore::quorate.QuorateWarning")

NO_PRIOR = "asks an estimator that was not fitted; ours says NotFittedError, as every other estimator does"
ONE_TARGET = "has several targets; ours takes one"
NAMES_OF_ERRORS = "expects the words of another error message"
#: Tests that cannot hold, by the beginning of their name.
NOT_OURS = {
    "test_gpr_interpolation_structured": "needs a kernel on sequences, written in Python; ours are text for the core",
    "test_prior": NO_PRIOR,
    "test_no_fit_default_predict": NO_PRIOR,
    "test_sample_y_shape_with_prior": NO_PRIOR,
    "test_predict_shape_with_prior": NO_PRIOR,
    "test_y_multioutput": ONE_TARGET,
    "test_constant_target": ONE_TARGET,
    "test_predict_shapes[10": ONE_TARGET,
    "test_sample_y_shapes[10": ONE_TARGET,
    "test_n_targets_error": ONE_TARGET,
    "test_custom_optimizer": "hands over an optimiser written in Python; ours is in the core",
    "test_duplicate_input[kernel5]": "compares two searches to 7 digits in a flat direction; ours end 6e-5 apart",
    "test_warning_bounds": "bounds of hyperparameters are theirs; ours come from the priors",
    "test_gpr_correct_error_message": NAMES_OF_ERRORS,
    "test_gpr_fit_error": NAMES_OF_ERRORS,
    "test_gpr_lml_error": "forbids the gradient at the values found; ours gives it",
}


def reason(name):
    """Why a test cannot hold; None where it must."""
    return next((why for start, why in NOT_OURS.items() if name.startswith(start)), None)


def test_most_of_them_hold(request):
    names = [
        item.name
        for item in request.session.items
        if item.path == request.node.path and getattr(theirs, item.originalname, None) is not None
    ]
    # Expected to fail by scikit-learn itself: their numerical gradient is too coarse.
    names = [name for name in names if not name.startswith("test_lml_gradient")]
    if len(names) < 100:
        pytest.skip("only some of the tests were asked for")
    hold = [name for name in names if reason(name) is None]
    print(f"{len(hold)} of {len(names)} tests hold")
    assert len(hold) >= 0.6 * len(names)
    assert all(any(name.startswith(start) for name in names) for start in NOT_OURS)
