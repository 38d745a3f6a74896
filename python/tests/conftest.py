"""Shared by all tests: small data, the folder of real data, and skips that are counted."""

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def wave():
    """Sixty noisy values of a smooth function of two inputs."""
    random = np.random.default_rng(1)
    X = random.uniform(-2, 2, (60, 2))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + random.normal(0, 0.1, 60)


@pytest.fixture
def data_folder(request):
    """The folder of real data sets; a test that needs it is skipped without, and that is counted."""
    named = os.environ.get("QUORATE_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    if not folder.is_dir():
        log = os.environ.get("QUORATE_SKIP_LOG")
        if log:
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"python: {request.node.nodeid}\n")
        pytest.skip("needs data")
    return folder


def pytest_collection_modifyitems(items):
    """Tests of scikit-learn that cannot hold must fail, each for the reason given."""
    for item in items:
        why = getattr(item.module, "reason", lambda name: None)(item.name)
        if why is not None:
            item.add_marker(pytest.mark.xfail(reason=why, strict=True))
