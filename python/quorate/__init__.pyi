from quorate._classification import GPClassifier as GPClassifier
from quorate._core import __version__ as __version__
from quorate._estimator import load as load
from quorate._kernels import kernel_text as kernel_text
from quorate._mixture import MixtureRegressor as MixtureRegressor
from quorate._regression import GPRegressor as GPRegressor
from quorate._summary import Summary as Summary
from quorate._warnings import QuorateWarning as QuorateWarning
