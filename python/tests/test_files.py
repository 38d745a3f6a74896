"""One model file for Python and the command line."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import quorate
from quorate import GPRegressor, Summary


def run(*words, ok=True):
    """The command as `pip` installed it."""
    command = shutil.which("quorate", path=Path(sys.executable).parent)
    assert command, "pip installed no command"
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == ok, done.stderr
    return done


def table(path):
    return pd.read_csv(path)


@pytest.fixture
def friedman(tmp_path):
    run("generate", "friedman", "-n", 300, "--seed", 1, "-o", tmp_path / "train.csv")
    run("generate", "friedman", "-n", 1500, "--seed", 2, "-o", tmp_path / "test.csv")
    return tmp_path


FLAGS = {
    "exact": ["--method", "exact"],
    "local": ["--method", "committee", "--mode", "local", "--neighbours", "40"],
    "landmarks": ["--method", "committee", "--mode", "landmarks", "--landmarks", "30"],
    "joint": ["--method", "committee", "--mode", "joint", "--part-size", "100", "--questions", "400"],
}


@pytest.mark.parametrize("way", FLAGS)
def test_a_model_of_the_command_line_predicts_the_same_bits_in_python(friedman, way):
    run("fit", friedman / "train.csv", "-t", "y", "--kernel", "se(ard)", "--restarts", 0, *FLAGS[way], "-o", friedman / "m")
    run("predict", friedman / "m", friedman / "test.csv", "--quantiles", "0.1", "-o", friedman / "out.csv")
    model = quorate.load(friedman / "m")
    X = table(friedman / "test.csv").drop(columns="y")
    ours = model.predict_table(X, quantiles=[0.1])
    pd.testing.assert_frame_equal(ours, table(friedman / "out.csv"), check_exact=True)
    model.save(friedman / "again")
    assert (friedman / "m").read_bytes() == (friedman / "again").read_bytes()


@pytest.mark.parametrize("way", FLAGS)
def test_a_model_of_python_predicts_the_same_bits_on_the_command_line(friedman, way):
    train = table(friedman / "train.csv")
    flags = dict(zip(FLAGS[way][::2], FLAGS[way][1::2], strict=True))
    choices = {name.strip("-").replace("-", "_"): int(value) if value.isdigit() else value for name, value in flags.items()}
    model = GPRegressor("se(ard)", restarts=0, **choices).fit(train.drop(columns="y"), train["y"])
    model.save(friedman / "m")
    run("predict", friedman / "m", friedman / "test.csv", "-o", friedman / "out.csv")
    X = table(friedman / "test.csv").drop(columns="y")
    pd.testing.assert_frame_equal(model.predict_table(X), table(friedman / "out.csv"), check_exact=True)


def test_arrays_have_names_that_the_command_line_understands(tmp_path, wave):
    X, y = wave
    GPRegressor("se").fit(X, y).save(tmp_path / "m")
    pd.DataFrame(X, columns=["x0", "x1"]).to_csv(tmp_path / "new.csv", index=False)
    run("predict", tmp_path / "m", tmp_path / "new.csv")
    assert not hasattr(quorate.load(tmp_path / "m"), "feature_names_in_")


def test_adding_summaries_is_quorate_merge(friedman):
    train = table(friedman / "train.csv")
    X, y = train.drop(columns="y"), train["y"]
    empty = GPRegressor("se(ard)", landmarks=20, restarts=0).prepare(X, y)
    empty.save(friedman / "empty")
    for name, rows in [("a", slice(0, 150)), ("b", slice(150, 300))]:
        train[rows].to_csv(friedman / f"{name}.csv", index=False)
        run("update", friedman / "empty", friedman / f"{name}.csv", "--part-name", name, "-o", friedman / name)
    run("merge", friedman / "b", friedman / "a", "-o", friedman / "sum")
    a = Summary(empty).absorb(X[:150], y[:150], name="a")
    b = Summary(empty).absorb(X[150:], y[150:], name="b")
    assert bytes(a) == (friedman / "a").read_bytes()
    assert bytes(a + b) == bytes(b + a) == (friedman / "sum").read_bytes()
    back = (a + b) - b
    assert back.parts == ["a"]
    np.testing.assert_allclose(back.information, a.information, atol=1e-9 * abs(a.information).max())


def test_damaged_and_missing_files_are_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        quorate.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="not a Quorate model file"):
        quorate.load(tmp_path / "text")


def test_the_command_answers_as_everywhere(tmp_path):
    assert run("--version").stdout.split() == ["quorate", quorate.__version__]
    failed = run("fit", tmp_path / "none.csv", "-t", "y", "-o", tmp_path / "m", ok=False)
    assert failed.returncode == 1 and "no such file" in failed.stderr
    assert run("fitt", ok=False).returncode == 2
