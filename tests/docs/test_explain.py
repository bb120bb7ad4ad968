"""The page about explanations says what happens."""

import doctest
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

PAGE = Path(__file__).parents[2] / "docs" / "explain.md"


def test_the_examples_of_the_page_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 15
    assert result.failed == 0
