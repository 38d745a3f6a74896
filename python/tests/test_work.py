"""Long work: progress, Ctrl-C, and an interpreter that stays free."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from tqdm import tqdm

from quorate import GPRegressor


@pytest.fixture
def much():
    random = np.random.default_rng(7)
    X = random.uniform(-2, 2, (1500, 6))
    return X, np.sin(X).sum(axis=1) + random.normal(0, 0.1, 1500)


def test_ctrl_c_ends_a_fit_and_the_interpreter_goes_on(much, wave):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        GPRegressor(method="exact", restarts=50).fit(*much)
    assert time.monotonic() - started < 5
    X, y = wave
    assert GPRegressor("se", restarts=0).fit(X, y).score(X, y) > 0.9


def test_other_threads_run_meanwhile(much):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.01)

    counter = threading.Thread(target=count)
    counter.start()
    started = time.monotonic()
    GPRegressor("se(ard)", restarts=0).fit(*much)
    took = time.monotonic() - started
    done.set()
    counter.join()
    # With the lock held for the whole fit it would be one or two.
    assert counted > 5 and counted > took / 0.01 / 20


def test_a_function_hears_of_progress(wave):
    heard = []
    GPRegressor("se", progress=lambda *news: heard.append(news)).fit(*wave)
    assert heard
    stage, done, total = heard[-1]
    assert isinstance(stage, str) and 0 <= done <= total
    stages = [news[0] for news in heard]
    assert "learning hyperparameters" in stages


def test_tqdm_shows_progress(wave, capsys):
    GPRegressor("se", progress=tqdm).fit(*wave)
    GPRegressor("se", progress=True).fit(*wave)
    assert "learning hyperparameters" in capsys.readouterr().err


def test_an_error_in_the_callback_ends_the_work(wave):
    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        GPRegressor("se", progress=fail).fit(*wave)
    with pytest.raises(TypeError, match="progress must be"):
        GPRegressor("se", progress=3).fit(*wave)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_threads_of_its_own():
    program = """
        import os, numpy as np
        from quorate import GPRegressor
        X = np.linspace(0, 4, 40).reshape(-1, 1)
        model = GPRegressor("se").fit(X, np.sin(X).ravel())
        child = os.fork()
        if child == 0:
            os._exit(0 if abs(model.predict(X)[0]) < 0.1 else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)
