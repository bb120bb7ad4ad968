"""What every loader returns."""

import numpy as np

from costboost.datasets import Dataset, make_card_fraud


def test_codes_are_positions_of_sorted_categories():
    data = make_card_fraud(500)
    X, categorical = data.to_numpy()
    assert np.flatnonzero(categorical).tolist() == [3, 4]
    np.testing.assert_array_equal(X[:, 3], data.X["merchant"].cat.codes)
    np.testing.assert_array_equal(X[:, 5], data.X["distance_km"])
    assert isinstance(data, Dataset)
