"""Every example in the documentation runs and prints what it says."""

import doctest
import importlib
import runpy
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = Path(__file__).parents[1] / "examples"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["quorate", "quorate._regression", "quorate._summary", "quorate._kernels", "quorate._network"]


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("python*.md")))
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=FLAGS)
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    failed, tried = doctest.testmod(importlib.import_module(module), optionflags=FLAGS)
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_notebooks(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / example))
