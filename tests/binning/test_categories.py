"""Columns of Python objects, as numbers or as categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost.binning.binner import fit_binner


def test_categories_of_other_types_go_by_their_names():
    X = pd.DataFrame({"c": pd.cut([1.0, 5.0, 9.0], [0, 4, 6, 10])})
    assert fit_binner(X).categories[0] == ("(0, 4]", "(4, 6]", "(6, 10]")


def test_objects_that_are_numbers():
    X = np.array([[1, 2.5, True], [None, np.float32(1), False]], dtype=object)
    binner = fit_binner(X)
    assert not binner.is_categorical.any()
    assert binner.encode(X).tolist() == [[0, 1, 1], [255, 0, 0]]


@pytest.mark.parametrize("value", [{"foo": "bar"}, [1], object()])
@pytest.mark.parametrize("categorical", ["from_dtype", [0]])
def test_objects_that_are_refused(value, categorical):
    X = np.array([[1.0], [2.0]], dtype=object)
    X[0, 0] = value
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        fit_binner(X, categorical_features=categorical)
