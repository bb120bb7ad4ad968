"""What every loader returns."""

import numpy as np
import pytest

from costboost.datasets import Dataset, make_card_fraud
from costboost.datasets._dataset import make_dataset


def test_codes_are_positions_of_sorted_categories():
    data = make_card_fraud(500)
    X, categorical = data.to_numpy()
    assert np.flatnonzero(categorical).tolist() == [3, 4]
    np.testing.assert_array_equal(X[:, 3], data.X["merchant"].cat.codes)
    np.testing.assert_array_equal(X[:, 5], data.X["distance_km"])
    assert isinstance(data, Dataset)


def columns_of(n):
    kind = np.array(["b", "a", None] * n, dtype=object)[:n]
    return {"size": np.arange(n, dtype=float), "kind": kind}


def test_a_set_of_many_classes_is_told_in_one_line():
    data = make_dataset("many", columns_of(8), np.arange(8), "numpy", positive=None, costs=None)
    assert repr(data) == (
        "Dataset('many': 8 rows, 2 features (1 categorical), classes 0: 1, 1: 1, 2: 1, 3: 1, "
        "4: 1, 5: 1, ...)"
    )
    seven = make_dataset("seven", columns_of(7), np.arange(7), "numpy", positive=None, costs=None)
    assert repr(seven).endswith("5: 1, ...)")
    six = make_dataset("six", columns_of(6), np.arange(6), "numpy", positive=None, costs=None)
    assert not repr(six).endswith("...)")


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_numbers_alone_are_the_same_whatever_the_table_is(kind):
    data = make_dataset("few", columns_of(4), np.zeros(4), kind, positive=1, costs=None)
    X, categorical = data.to_numpy()
    np.testing.assert_array_equal(X, [[0, 1], [1, 0], [2, np.nan], [3, 1]])
    assert categorical.tolist() == [False, True]
    assert data.feature_names == ("size", "kind")
    assert data.categorical == ("kind",)
    assert (data.amount, data.n_train) == (None, None)
