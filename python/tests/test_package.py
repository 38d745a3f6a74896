"""The package as a whole: what it exports, how fast it starts, how large it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import quorate
from quorate import _core


def seconds(program, before="pass"):
    """Processor seconds that an interpreter takes for a program; the least of three, because others use the machine."""
    timed = f"{before}; import time; start = time.process_time(); {program}; print(time.process_time() - start)"
    runs = [
        subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout
        for _ in range(3)
    ]
    return min(map(float, runs))


def test_import_takes_less_than_a_tenth_of_a_second_beyond_numpy_and_scikit_learn():
    assert seconds("import quorate") < 0.1
    # In one process: the difference of two long times would be mostly noise.
    assert seconds("import quorate; quorate.GPRegressor", before="import numpy, sklearn.base") < 0.1


def test_the_wheel_is_small():
    folder = os.environ.get("QUORATE_WHEELS")
    if folder is None:
        pytest.skip("needs the folder of the wheel in QUORATE_WHEELS")
    wheels = list(Path(folder).glob("quorate-*.whl"))
    assert len(wheels) == 1
    assert "-cp310-abi3-" in wheels[0].name
    assert wheels[0].stat().st_size < 25e6


def test_every_public_name_is_there_and_typed():
    stub = (Path(quorate.__file__).parent / "__init__.pyi").read_text()
    for name in quorate.__all__:
        assert getattr(quorate, name) is not None
        assert f" as {name}\n" in stub
    assert set(quorate.__all__) <= set(dir(quorate))
    with pytest.raises(AttributeError, match="no attribute 'GPClasifier'"):
        quorate.GPClasifier


def test_the_stub_of_the_core_names_what_it_has():
    stub = (Path(quorate.__file__).parent / "_core.pyi").read_text()
    for name in dir(_core):
        if not name.startswith("_"):
            assert f"def {name}(" in stub or f"class {name}:" in stub, name
    for name in dir(_core.Model) + dir(_core.Prediction):
        if not name.startswith("_"):
            assert f"def {name}(" in stub, name
